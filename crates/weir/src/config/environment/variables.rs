//! Reads environment variables, each of which sets a key of the configuration.

use crate::config::Config;
use std::fmt::{Debug, Formatter, Result as Written};
use std::sync::Arc;
use std::time::Duration;

/// Sets a key to the value of a variable.
type Setting = Arc<dyn Fn(&mut Config) + Send + Sync>;

/// Settings of the environment, as it was at the start; each overrules the key of the file.
#[derive(Clone, Default)]
pub struct Environment {
    settings: Vec<Setting>,
    /// Notes for the operator's log.
    notes: Vec<String>,
}

impl Debug for Environment {
    /// Writes the number of the settings: some are secrets.
    fn fmt(&self, f: &mut Formatter<'_>) -> Written {
        f.debug_struct("Environment")
            .field("settings", &self.settings.len())
            .field("notes", &self.notes)
            .finish()
    }
}

impl Environment {
    /// Overrules keys of `config`.
    pub fn apply(&self, config: &mut Config) {
        self.settings.iter().for_each(|set| set(config));
        config.notes.extend_from_slice(&self.notes);
    }

    /// True if the environment names a location of metadata.
    pub fn has_metadata(&self) -> bool {
        let mut config = Config::default();
        self.apply(&mut config);
        config.metadata.is_some()
    }
}

/// Variables that are being read, and the settings that they became so far.
pub(super) struct EnvironmentVariables<'v> {
    variable: &'v dyn Fn(&str) -> Option<String>,
    environment: Environment,
    errors: Vec<String>,
}

impl<'v> EnvironmentVariables<'v> {
    pub(super) fn new(variable: &'v dyn Fn(&str) -> Option<String>) -> Self {
        Self { variable, environment: Environment::default(), errors: Vec::new() }
    }

    /// The settings, and the messages of variables that cannot be read.
    pub(super) fn into_environment(self) -> (Environment, Vec<String>) {
        (self.environment, self.errors)
    }

    /// True if there is a variable of exactly this name.
    pub(super) fn is_set(&self, name: &str) -> bool {
        (self.variable)(name).is_some()
    }

    /// Reads the variable `name`, `WEIR_…`, or Hasura's variable for it. What `read` says of a text follows the variable's name.
    pub(super) fn read<T>(&mut self, name: &str, read: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let names = [name.to_owned(), name.replacen("WEIR_", "HASURA_GRAPHQL_", 1)];
        let (name, text) = names.into_iter().find_map(|it| (self.variable)(&it).map(|text| (it, text)))?;
        read(&text).map_err(|wrong| self.errors.push(format!("{name} {wrong}"))).ok()
    }

    /// Reads the variable `name`, and keeps its value for the key that `set` sets.
    pub(super) fn set<T: Send + Sync + 'static>(
        &mut self,
        name: &str,
        read: impl Fn(&str) -> Result<T, String>,
        set: fn(&mut Config, &T),
    ) {
        if let Some(value) = self.read(name, read) {
            self.keep(move |config| set(config, &value));
        }
    }

    /// Keeps a setting.
    pub(super) fn keep(&mut self, set: impl Fn(&mut Config) + Send + Sync + 'static) {
        self.environment.settings.push(Arc::new(set));
    }

    /// Keeps a note for the operator's log.
    pub(super) fn note(&mut self, note: String) {
        self.environment.notes.push(note);
    }
}

#[expect(clippy::unnecessary_wraps, reason = "readers of variables may fail")]
pub(super) fn read_text(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

pub(super) fn read_flag(text: &str) -> Result<bool, String> {
    match &*text.to_ascii_lowercase() {
        "true" | "t" | "yes" | "y" => Ok(true),
        "false" | "f" | "no" | "n" => Ok(false),
        _ => Err("is neither true nor false".into()),
    }
}

pub(super) fn read_number(text: &str) -> Result<u32, String> {
    text.trim().parse().map_err(|_| "is no whole number".into())
}

pub(super) fn read_milliseconds(text: &str) -> Result<Duration, String> {
    read_number(text).map(|it| Duration::from_millis(it.into()))
}

pub(super) fn read_seconds(text: &str) -> Result<Duration, String> {
    read_number(text).map(|it| Duration::from_secs(it.into()))
}

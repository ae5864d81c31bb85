//! Findings for the operator: parts of sources that are not served, with locations.

use super::databases::Unopened;
use crate::config::{Config, Described};
use weir_hasura::model::LOOKUPS;
use weir_metadata::{Inconsistent, Step};
use weir_relational::catalog::{ConfigStep, Warning};

/// Problems of the sources, one line each.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Configuration entries for things that the database lacks, with locations. The rest is served.
    pub mistakes: Vec<String>,
    /// Mistakes in Hasura's metadata, as its inconsistent objects.
    pub inconsistent: Vec<Inconsistent>,
    /// Entries of the metadata that Weir does not support, with locations.
    pub unsupported: Vec<String>,
    /// Parts of the database that the API omits.
    pub warnings: Vec<String>,
    /// Sources that are down and retried.
    pub down: Vec<Down>,
    /// Notes about the databases, one line each.
    pub notes: Vec<String>,
}

/// An entry about operations that does not match the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Misfit {
    /// True if the path belongs to the metadata, false for weir.yaml.
    pub(crate) is_metadata: bool,
    pub(crate) path: Vec<Step>,
    pub(crate) reason: String,
    /// True if the entry is served nevertheless.
    pub(crate) is_served: bool,
}

/// A source that is down.
#[derive(Clone, Debug)]
pub struct Down {
    /// Name of the source.
    pub name: String,
    /// Reason, for the operator.
    pub message: String,
    /// True if the source refuses access, which waiting alone does not fix.
    pub is_closed: bool,
    /// True if it is served from its last known contents, with the current permissions; its fields fail.
    pub is_known: bool,
}

impl Down {
    /// The finding that source `name` is not open.
    pub(super) fn new(name: &str, reason: &Unopened, is_known: bool) -> Self {
        let name = name.to_owned();
        let message = reason.to_string();
        Self { name, message, is_closed: matches!(reason, Unopened::Closed(_)), is_known }
    }
}

impl std::fmt::Display for Down {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "source `{}`: {}", self.name, self.message)
    }
}

impl Findings {
    /// True if a source that was never reached is down.
    pub(crate) fn leaves_out_sources(&self) -> bool {
        self.down.iter().any(|it| !it.is_known)
    }

    /// True if source `name` is down.
    pub(crate) fn is_down(&self, name: &str) -> bool {
        self.down.iter().any(|it| it.name == name)
    }

    /// Logs all findings.
    pub fn log(&self) {
        self.mistakes.iter().for_each(|it| tracing::error!("{it}"));
        self.unsupported.iter().for_each(|it| tracing::error!("{it}"));
        self.warnings.iter().for_each(|it| tracing::warn!("{it}"));
        self.notes.iter().for_each(|it| tracing::info!("{it}"));
        for down in &self.down {
            if down.is_closed {
                tracing::error!("{down}; Weir retries it")
            } else {
                tracing::warn!("{down}; Weir retries it")
            }
        }
    }

    /// Adds an object of the metadata that is not served, once even if several sources find it.
    pub(super) fn leave_out(&mut self, object: Inconsistent) {
        if self.inconsistent.contains(&object) {
            return;
        }
        self.mistakes.push(format!("{}: {}", object.place, object.reason));
        self.inconsistent.push(object);
    }

    /// Adds an entry about operations that does not match.
    pub(crate) fn add_misfit(&mut self, config: &Config, found: Misfit) {
        let Misfit { is_metadata, path, reason, is_served } = found;
        match config.described.as_ref().filter(|_| is_metadata) {
            Some(described) if is_served => {
                self.warnings.push(format!("{}: {reason}", described.loaded.places.describe_place(&path)));
            }
            Some(described) => self.leave_out(described.inconsistent(&path, &reason)),
            None => {
                let step = |it: &Step| match it {
                    Step::Key(key) => ConfigStep::Key(key.to_string()),
                    Step::Item(item) => ConfigStep::Item(*item),
                };
                let path: Vec<ConfigStep> = path.iter().map(step).collect();
                let line = format!("{}: {reason}", config.places.words(&path));
                let list = if is_served { &mut self.warnings } else { &mut self.mistakes };
                if !list.contains(&line) {
                    list.push(line);
                }
            }
        }
    }

    /// Adds an inherited role that is invalid, at `entry`. Roles of weir.yaml come before those of the metadata.
    fn add_misfit_role(&mut self, config: &Config, entry: &[ConfigStep], reason: String) {
        let own = config.inherited_roles.len();
        let step = |it: &ConfigStep| match it {
            ConfigStep::Key(key) => Step::from(key.as_str()),
            ConfigStep::Item(item) => Step::from(*item),
        };
        let mut path: Vec<Step> = entry.iter().map(step).collect();
        let is_metadata = match &mut path[..] {
            [_, Step::Item(at), ..] if *at >= own => {
                *at -= own;
                true
            }
            _ => false,
        };
        self.add_misfit(config, Misfit { is_metadata, path, reason, is_served: false });
    }

    pub(super) fn add(&mut self, config: &Config, source: usize, found: Warning) {
        if found.entry.first() == Some(&"inherited_roles".into()) {
            return self.add_misfit_role(config, &found.entry, found.reason);
        }
        let lookups = &config.sources[source].lookups;
        let of_lookup = match found.entry.as_slice() {
            [ConfigStep::Key(key), ConfigStep::Item(at)] if key == LOOKUPS => lookups.origin(*at),
            _ => None,
        };
        if let Some((described, origin)) = config.described.as_ref().zip(of_lookup) {
            return self.leave_out(described.inconsistent(origin, &found.reason));
        }
        let name = &config.sources[source].name;
        let described = config.described.as_ref().zip(config.sources[source].of_metadata);
        if let (Some((described, at)), false) = (described, found.entry.is_empty()) {
            self.leave_out(described.inconsistent(&Described::path(at, &found.entry), &found.reason));
        } else if found.entry.is_empty() {
            self.warnings.push(format!("source `{name}`: {found}"));
        } else {
            let place = config.sources[source].of_file.unwrap_or(source);
            let mut path = vec!["sources".into(), place.into()];
            path.extend(found.entry.iter().cloned());
            self.mistakes.push(format!("{}: {found}", config.places.words(&path)));
        }
    }
}

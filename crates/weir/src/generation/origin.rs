//! Origin of the configuration of each generation: a file that is read again, or the command line.

use crate::config::{self, Config, PersistedFile};
use crate::metadata;
use std::path::PathBuf;

/// Source of the configuration for each generation.
#[derive(Clone, Debug)]
pub enum Origin {
    /// A file, read at each reload, and the overrides of the command line.
    File(PathBuf, Box<Overrides>),
    /// A configuration from the command line alone.
    Fixed(Box<Config>),
}

/// Settings of the command line and the environment, which override the file.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `--listen`.
    pub listen: Option<config::Listen>,
    /// `--admin-listen`.
    pub admin_listen: Option<config::Listen>,
    /// `--admin-secret`.
    pub admin_secret: Option<config::Secret>,
    /// `--dev`.
    pub dev: bool,
    /// All values of `--cors`.
    pub cors: Vec<String>,
    /// All values of `--persisted`.
    pub persisted: Vec<PathBuf>,
    /// `--persisted-only`.
    pub persisted_only: bool,
    /// `--metadata`.
    pub metadata: Option<PathBuf>,
    /// Settings of the environment.
    pub environment: config::Environment,
}

impl Overrides {
    /// Overrides `config`.
    pub fn apply(&self, config: &mut Config) {
        if let Some(listen) = self.listen {
            config.listen = listen;
        }
        config.admin_listen = self.admin_listen.or(config.admin_listen);
        if let Some(metadata) = &self.metadata {
            config.metadata = Some(metadata.clone());
        }
        self.environment.apply(config);
        if let Some(secret) = &self.admin_secret {
            config.admin_secret = Some(secret.clone());
        }
        if self.dev {
            config.dev = Some(true);
        }
        if !self.cors.is_empty() {
            config.cors.origins = Some(self.cors.clone());
        }
        let files = self.persisted.iter().map(|path| PersistedFile { path: path.clone(), collection: None });
        config.operations.persisted.files.extend(files);
        config.operations.persisted.require_id |= self.persisted_only;
        if config.operations.persisted.require_id && !config.has_secret() {
            let words = "stored documents alone are asked of other callers than the admin: without an admin secret everyone is the admin";
            config.notes.push(words.into());
        }
    }
}

impl Origin {
    /// Reads the current configuration.
    /// # Errors
    /// The file cannot be read or is invalid, with file, line and column.
    pub fn read(&self) -> Result<Config, String> {
        let mut config = self.settings()?;
        metadata::join(&mut config)?;
        Ok(config)
    }

    /// Reads the current configuration without the sources of its metadata.
    /// # Errors
    /// See [`Self::read`].
    pub(crate) fn settings(&self) -> Result<Config, String> {
        match self {
            Self::File(path, overrides) => {
                config::document::load::file(path, |config| overrides.apply(config))
                    .map_err(|error| error.to_string())
            }
            Self::Fixed(config) => Ok(Config::clone(config)),
        }
    }
}

//! Where the configuration of each generation comes from: a file or the command line, and settings that overrule it.

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
    /// `--admin-secret`, `WEIR_ADMIN_SECRET`.
    pub admin_secret: Option<config::Secret>,
    /// Authentication, from the environment.
    pub auth: Box<config::AuthOverrides>,
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
    /// Other settings of the environment.
    pub environment: Box<config::Environment>,
}

impl Overrides {
    /// Overrides `config`.
    pub fn apply(&self, config: &mut Config) {
        if let Some(listen) = self.listen {
            config.listen = listen;
        }
        config.admin_listen = self.admin_listen.or(config.admin_listen);
        self.auth.apply(&mut config.admin_secret, &mut config.auth);
        if let Some(secret) = &self.admin_secret {
            config.admin_secret = Some(secret.clone());
        }
        if self.dev {
            config.dev = Some(true);
        }
        if let Some(metadata) = &self.metadata {
            config.metadata = Some(metadata.clone());
        }
        self.environment.apply(config);
        if !self.cors.is_empty() {
            config.cors.origins = Some(self.cors.clone());
        }
        let files = self.persisted.iter().map(|path| PersistedFile { path: path.clone(), collection: None });
        config.operations.persisted.files.extend(files);
        config.operations.persisted.require_id |= self.persisted_only;
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

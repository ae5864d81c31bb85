//! Findings for the operator: parts of the sources that are not served, each with its place.

use crate::config::{Config, Described};
use crate::databases::Unopened;
use weir_metadata::{Inconsistent, Step};
use weir_relational::catalog::{ConfigStep, Warning};

/// Differences between the sources and the served API, one line each.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Entries of the configuration that ask for what the database does not have, with their places. The rest serves.
    pub mistakes: Vec<String>,
    /// Those of them that are objects of Hasura's metadata.
    pub inconsistent: Vec<Inconsistent>,
    /// Entries of the metadata that Weir does not honour, with their places.
    pub unsupported: Vec<String>,
    /// Parts of the database that the API leaves out.
    pub warnings: Vec<String>,
    /// Sources that cannot be asked now and are tried again.
    pub down: Vec<Down>,
    /// Bounds and promises of the databases, one line each.
    pub notes: Vec<String>,
}

/// An entry about operations that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Misfit {
    /// True if the path is one of the metadata, else of weir.yaml.
    pub(crate) is_metadata: bool,
    pub(crate) path: Vec<Step>,
    pub(crate) reason: String,
    /// True if it is served all the same.
    pub(crate) is_served: bool,
}

/// A source that cannot be asked now.
#[derive(Clone, Debug)]
pub struct Down {
    /// Name of the source.
    pub name: String,
    /// Why, for the operator.
    pub message: String,
    /// It is there and does not let Weir in: waiting alone does not mend that.
    pub is_closed: bool,
    /// It stays in the graph by its last known contents, with the permissions of today; what is asked of it fails.
    pub is_known: bool,
}

impl Down {
    /// The finding that source `name` is not open.
    pub(super) fn new(name: &str, reason: &Unopened, is_known: bool) -> Self {
        let (name, message) = (name.to_owned(), reason.to_string());
        Self { name, message, is_closed: matches!(reason, Unopened::Closed(_)), is_known }
    }
}

impl std::fmt::Display for Down {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "source `{}`: {}", self.name, self.message)
    }
}

impl Findings {
    /// True if a source is down that was never reached.
    pub(crate) fn leaves_out_sources(&self) -> bool {
        self.down.iter().any(|it| !it.is_known)
    }

    /// True if source `name` cannot be asked now.
    pub(crate) fn is_down(&self, name: &str) -> bool {
        self.down.iter().any(|it| it.name == name)
    }

    /// Writes them to the log.
    pub fn log(&self) {
        self.mistakes.iter().for_each(|it| tracing::error!("{it}"));
        self.unsupported.iter().for_each(|it| tracing::error!("{it}"));
        self.warnings.iter().for_each(|it| tracing::warn!("{it}"));
        self.notes.iter().for_each(|it| tracing::info!("{it}"));
        for down in &self.down {
            match down.is_closed {
                true => tracing::error!("{down}; Weir retries it"),
                false => tracing::warn!("{down}; Weir retries it"),
            }
        }
    }

    /// Tells an object of the metadata that is not served; one that several sources find is told once.
    pub(super) fn leave_out(&mut self, object: Inconsistent) {
        if self.inconsistent.contains(&object) {
            return;
        }
        self.mistakes.push(format!("{}: {}", object.place, object.reason));
        self.inconsistent.push(object);
    }

    /// Tells an entry about operations that does not fit.
    pub(crate) fn misfit(&mut self, config: &Config, found: Misfit) {
        let Misfit { is_metadata, path, reason, is_served } = found;
        match config.described.as_ref().filter(|_| is_metadata) {
            Some(described) if is_served => {
                self.warnings.push(format!("{}: {reason}", described.loaded.places.words(&path)));
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

    /// Tells an inherited role that does not fit, at `entry`: those of weir.yaml stand before those of the metadata.
    fn misfit_role(&mut self, config: &Config, entry: &[ConfigStep], reason: String) {
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
        self.misfit(config, Misfit { is_metadata, path, reason, is_served: false });
    }

    pub(super) fn add(&mut self, config: &Config, source: usize, found: Warning) {
        if found.entry.first() == Some(&"inherited_roles".into()) {
            return self.misfit_role(config, &found.entry, found.reason);
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

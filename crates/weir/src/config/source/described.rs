//! Hasura's metadata beside the configuration.

use weir_metadata::{Fault, Inconsistent, Loaded, Step, inconsistent};
use weir_relational::catalog::ConfigStep;

/// Metadata with the parts that are not served.
#[derive(Clone, Debug, Default)]
pub struct Described {
    /// The document, with locations.
    pub loaded: Loaded,
    /// Entries that Weir does not honour.
    pub unsupported: Vec<Fault>,
    /// Entries that are served in another way than Hasura serves them, and keys and files without effect.
    pub different: Vec<Fault>,
    /// Entries that cannot be served as described.
    pub inconsistent: Vec<Inconsistent>,
}

impl Described {
    /// The entry at `path`, left out because of `reason`.
    pub fn inconsistent(&self, path: &[Step], reason: &str) -> Inconsistent {
        inconsistent(&self.loaded.places, path, reason)
    }

    /// The path of an entry of the source at `source`.
    pub fn path(source: usize, below: &[ConfigStep]) -> Vec<Step> {
        let step = |it: &ConfigStep| match it {
            ConfigStep::Key(key) => Step::Key(key.as_str().into()),
            ConfigStep::Item(item) => Step::Item(*item),
        };
        ["sources".into(), source.into()].into_iter().chain(below.iter().map(step)).collect()
    }
}

//! Ways into the tables of a source that relationships of other entries of the metadata need.

use weir_hasura::model::{Entities, LookupEntry};
use weir_metadata::Step;

/// Ways into the tables of a source.
#[derive(Clone, Debug, Default)]
pub struct Lookups {
    /// The tables and columns.
    entries: Vec<LookupEntry>,
    /// By entry: the relationship in the metadata that needs it.
    origins: Vec<Vec<Step>>,
    /// Tables that are entities of a federation.
    entities: Entities,
}

impl Lookups {
    /// Adds `entry` for the relationship at `origin`.
    pub(crate) fn push(&mut self, entry: LookupEntry, origin: Vec<Step>) {
        self.entries.push(entry);
        self.origins.push(origin);
    }

    /// Sets which tables are entities of a federation.
    #[must_use]
    pub(crate) fn with_entities(self, entities: Entities) -> Self {
        Self { entities, ..self }
    }

    /// The tables that are entities of a federation.
    pub(crate) fn entities(&self) -> Entities {
        self.entities
    }

    /// The tables and columns.
    pub fn entries(&self) -> &[LookupEntry] {
        &self.entries
    }

    /// The relationship that needs the entry at `at`.
    pub(crate) fn origin(&self, at: usize) -> Option<&[Step]> {
        self.origins.get(at).map(Vec::as_slice)
    }
}

/// Name of the lookup for the relationship at `path` of the metadata: `sources_0_tables_2_remote_relationships_1`.
pub(crate) fn lookup_name(path: &[Step]) -> String {
    let steps = path.iter().map(|it| match it {
        Step::Key(key) => key.to_string(),
        Step::Item(item) => item.to_string(),
    });
    steps.collect::<Vec<_>>().join("_")
}

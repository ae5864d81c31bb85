//! Tables of which a fetch reads a single row. For live queries: changes of other rows there do not concern it.

use crate::exec::bindings::Bindings;
use crate::frontend::{ApiFrontend, tags};
use weir_engine::source::Tag;
use weir_engine::tag_versions::RowKey;
use weir_relational::passes::row_keys::row_keys;
use weir_relational::plan::{Parameter, Plan};

/// The tables, and where the values of their keys are.
#[derive(Debug, Default)]
pub(crate) struct ConfinedTables(Vec<(Tag, Vec<Parameter>)>);

impl ConfinedTables {
    /// The confined tables of `plan`.
    pub(crate) fn of(frontend: &dyn ApiFrontend, plan: &Plan) -> Self {
        let catalog = &frontend.relations().catalog;
        let confined = row_keys(catalog, plan).into_iter();
        Self(confined.flat_map(|it| Some((tags(catalog, Some(vec![it.table])).pop()?, it.key))).collect())
    }

    /// The rows of a run; a table whose key has no certain text is left out, so any row of it counts.
    pub(crate) fn rows(&self, bindings: &Bindings<'_>) -> Vec<RowKey> {
        let row = |(tag, key): &(Tag, Vec<Parameter>)| {
            let texts: Option<Vec<String>> = key.iter().map(|it| bindings.key_text(it)).collect();
            Some(RowKey::new(tag.clone(), texts?.iter().map(String::as_str)))
        };
        self.0.iter().filter_map(row).collect()
    }
}

//! The rule for relationship names that suits a database.

use super::inflect::is_plural;
use super::naming::without_id;
use super::{Model, ModelOptions, RelationshipNames};
use weir_relational::catalog::{Catalog, ForeignKey, Table};

impl RelationshipNames {
    /// The rule that suits the names of `catalog`: [`Self::Hasura`] for plural tables with columns in `_id`; else the short one, where no
    /// relationship has to be renamed by it; else the long one.
    pub fn propose(catalog: &Catalog) -> Self {
        let keys =
            || catalog.tables.iter().flat_map(|table| table.foreign_keys.iter().map(move |it| (table, it)));
        let all = keys().count();
        let is_by_id = |(table, key): &(&Table, &ForeignKey)| matches!(key.columns[..], [only] if without_id(&table.column(only).name).is_some());
        let is_to_plural = |(_, key): &(&Table, &ForeignKey)| is_plural(&catalog.table(key.target).name);
        let most = |count: usize| 2 * count > all;
        if most(keys().filter(is_by_id).count()) && most(keys().filter(is_to_plural).count()) {
            return Self::Hasura;
        }
        let warnings = |relationship_names| {
            let options = ModelOptions { relationship_names, ..ModelOptions::default() };
            Model::build(catalog.clone(), options, &mut |_| Ok(Vec::new())).1.len()
        };
        // A relationship that has to be renamed causes a warning.
        let is_short = all > 0 && warnings(Self::Short) <= warnings(Self::Long);
        if is_short { Self::Short } else { Self::Long }
    }
}

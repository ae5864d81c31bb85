//! Tables whose rows other subgraphs of a federation refer to: each gets a lookup by its primary key.
//!
//! A table whose key cannot be one of an entity stays an ordinary table; if its entry asked for more, a warning says so.

use super::Lookup;
use crate::model::building::Building;
use weir_engine::source::KeyForm;
use weir_metadata::document::table::TableEntry;
use weir_relational::catalog::{ColumnId, ColumnType, TableId, Warning};
use weir_relational::plan::operators::Comparison;

/// Tables that are entities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Entities {
    /// None: the graph is no subgraph.
    #[default]
    None,
    /// Tables whose entry has an `apollo_federation_config`.
    Listed,
    /// All with a primary key, or, if an entry has an `apollo_federation_config`, those that have one.
    All,
}

/// A table that is an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entity {
    pub(crate) table: TableId,
    /// Name of its lookup.
    pub(crate) lookup: String,
    /// Columns of the key, and their values.
    pub(crate) keys: Vec<(ColumnId, KeyForm)>,
}

/// Finds the entities.
pub(in crate::model) fn build(building: &mut Building<'_>) {
    let tables = building.options.tables;
    let is_any_listed = tables.iter().any(TableEntry::is_entity);
    let takes_all = match building.options.entities {
        Entities::None => return,
        Entities::Listed => false,
        Entities::All => !is_any_listed,
    };
    for at in 0..building.model.tables.len() {
        let table = TableId(at as u32);
        let entry = building.entry(table).map(|it| it.0).filter(|it| tables[*it].is_entity());
        if building.model.tables[at].is_none() || !takes_all && entry.is_none() {
            continue;
        }
        match (keys(building, table), entry) {
            (Ok(keys), _) => {
                let lookup = format!("entity_{at}");
                let columns = keys.iter().map(|it| it.0).collect();
                let is_list = false;
                building.model.lookups.push(Lookup { name: lookup.clone(), table, columns, is_list });
                building.model.entities.push(Entity { table, lookup, keys });
            }
            (Err(reason), Some(entry)) => {
                let place = building.model.relations.catalog.table(table).name.clone();
                let entry = vec!["tables".into(), entry.into(), "apollo_federation_config".into()];
                building.warnings.push(Warning { place, reason, entry });
            }
            (Err(_), None) => {}
        }
    }
}

/// The columns of the primary key, or why they cannot be the key of an entity.
fn keys(building: &Building<'_>, id: TableId) -> Result<Vec<(ColumnId, KeyForm)>, String> {
    let catalog = &building.model.relations.catalog;
    let table = catalog.table(id);
    let none = "it is no entity of a federation: it has no primary key";
    let key = table.primary_key.as_ref().ok_or(none)?;
    let tracked = building.model.tracked_table(id);
    let form = |&column: &ColumnId| {
        let ColumnId(at) = column;
        let of = table.column(column);
        let is_served = tracked.is_some_and(|it| {
            it.columns.get(at as usize).is_some_and(Option::is_some)
                && it.enums.get(at as usize).is_some_and(Option::is_none)
        });
        let form = key_form(&of.ty)
            .filter(|_| is_served && catalog.missing_operator(&of.ty, Comparison::Eq).is_none());
        let form = form.ok_or_else(|| {
            format!("it is no entity of a federation: `{}` is a `{}`", of.name, of.ty.display_name())
        })?;
        Ok((column, form))
    };
    key.columns.iter().map(form).collect()
}

/// The values of a key of type `ty`. Other types have several texts for one value.
fn key_form(ty: &ColumnType) -> Option<KeyForm> {
    match ty {
        ColumnType::SmallInt => Some(KeyForm::Int(16)),
        ColumnType::Int => Some(KeyForm::Int(32)),
        ColumnType::BigInt => Some(KeyForm::Int(64)),
        ColumnType::Numeric => Some(KeyForm::Decimal),
        ColumnType::Boolean => Some(KeyForm::Boolean),
        ColumnType::Text | ColumnType::Char | ColumnType::CiText => Some(KeyForm::Text),
        ColumnType::Uuid => Some(KeyForm::Uuid),
        _ => None,
    }
}

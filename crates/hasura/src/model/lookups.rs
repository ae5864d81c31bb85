//! Ways into tables by columns, for joins of other sources.
//!
//! A [`LookupEntry`] names a table and columns; the API has a field for it that only joins ask
//! ([`Schema::join_roots`](weir_language::schema::Schema::join_roots)). The select permission of the table decides who gets rows.

pub(in crate::model) mod entities;

use super::building::Building;
use super::graphql_names::no_table;
use weir_metadata::document::table::TableName;
use weir_relational::catalog::{ColumnId, TableId, Warning};
use weir_relational::plan::operators::Comparison;

/// A way into a table by columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupEntry {
    /// Name of the field that a join asks. If it is a list, `NAME_aggregate` gives aggregates over the same rows.
    pub name: String,
    pub table: TableName,
    /// Columns of the table; argument `key0`, `key1` … of the field has the value of each.
    pub columns: Vec<String>,
    /// True for a list of rows, false for one row.
    pub is_list: bool,
}

/// A [`LookupEntry`] whose names are resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lookup {
    pub(crate) name: String,
    pub(crate) table: TableId,
    pub(crate) columns: Vec<ColumnId>,
    pub(crate) is_list: bool,
}

/// The first step of the place of a warning about a [`LookupEntry`]; its number follows.
pub const LOOKUPS: &str = "lookups";

/// Resolves the lookups of the options. One that does not fit is left out, with a warning at its number.
pub(super) fn build(building: &mut Building<'_>) {
    for (at, entry) in building.options.lookups.iter().enumerate() {
        match resolve(building, entry) {
            Ok(lookup) => building.model.lookups.push(lookup),
            Err(reason) => {
                let entry_place = vec![LOOKUPS.into(), at.into()];
                let place = entry.table.parts().1.to_owned();
                building.warnings.push(Warning { place, reason, entry: entry_place });
            }
        }
    }
}

fn resolve(building: &Building<'_>, entry: &LookupEntry) -> Result<Lookup, String> {
    let catalog = &building.model.relations.catalog;
    let (schema, name) = entry.table.parts();
    let table = catalog.find(schema, name).ok_or_else(|| no_table(catalog, schema, name))?;
    if building.model.tracked_table(table).is_none() {
        return Err(format!("the table `{name}` is not tracked"));
    }
    let column = |wanted: &String| {
        let columns = &catalog.table(table).columns;
        let found = columns.iter().position(|it| it.name == *wanted);
        let at = found.ok_or_else(|| format!("`{name}` has no column `{wanted}`"))?;
        match catalog.missing_operator(&columns[at].ty, Comparison::Eq) {
            Some(_) => Err(format!("values of `{name}.{wanted}` cannot be compared")),
            None => Ok(ColumnId(at as u32)),
        }
    };
    let columns = entry.columns.iter().map(column).collect::<Result<Vec<_>, String>>()?;
    Ok(Lookup { name: entry.name.clone(), table, columns, is_list: entry.is_list })
}

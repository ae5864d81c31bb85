//! Foreign keys of the database, along which conditions lead from table to table.

use crate::document::table_name::join_parts;
use std::collections::BTreeSet;

/// Schema and name of a table; `public` in a database without schemas.
pub type TableKey = (String, String);

/// A foreign key before the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyBefore {
    /// The table that has it.
    pub table: TableKey,
    /// Columns of the key in that table.
    pub columns: BTreeSet<String>,
    /// The table that it points to.
    pub target: TableKey,
}

/// The table that the keys over `columns` of `table` lead to, by the names that conditions use.
pub(super) fn find_target(keys: &[KeyBefore], table: &str, columns: &[String]) -> Option<String> {
    let is_it = |it: &&KeyBefore| {
        display_table(&it.table) == table && it.columns.iter().eq(columns.iter().collect::<BTreeSet<_>>())
    };
    let mut found = keys.iter().filter(is_it);
    let first = found.next()?;
    // A relationship over keys to several tables is not served.
    found.all(|it| it.target == first.target).then(|| display_table(&first.target))
}

/// A table as conditions name it; see [`display_name`](super::lookup::display_name).
pub(super) fn display_table((schema, name): &TableKey) -> String {
    join_parts(if schema == "public" { "" } else { schema }, name)
}

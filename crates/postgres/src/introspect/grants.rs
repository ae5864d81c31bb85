//! Rights on the tables of a database of the roles that a login may take.

use super::cells::Cells;

/// The statement, whose parameter is the schemas that are served, a `text[]`.
pub const GRANTS: &str = include_str!("grants.sql");

/// The privileges of one role on one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleGrant {
    pub role: String,
    /// The table's schema.
    pub schema: String,
    pub table: String,
    /// Columns that it may read.
    pub select: Vec<String>,
    /// Columns that it may give a value in a new row.
    pub insert: Vec<String>,
    /// Columns that it may change.
    pub update: Vec<String>,
    /// It may delete rows.
    pub delete: bool,
}

/// Reads a row of the answer to [`GRANTS`].
pub fn grant<'r>(row: impl Iterator<Item = Option<&'r [u8]>>) -> RoleGrant {
    let mut cells = Cells(row);
    RoleGrant {
        role: cells.text(),
        schema: cells.text(),
        table: cells.text(),
        select: cells.texts(),
        insert: cells.texts(),
        update: cells.texts(),
        delete: cells.flag(),
    }
}

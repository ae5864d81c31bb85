//! Columns of a table, as far as capture needs them.

use rusqlite::{Connection, OptionalExtension, Result};
use weir_relational::catalog::facts::Cell;
use weir_relational::dialect::sqlite_type::{Integers, column_type};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TableColumn {
    pub(super) name: String,
    /// Form of the values by the declared type.
    pub(super) cell: Cell,
    /// Place in the primary key, from 1; 0 for none.
    pub(super) key_place: u32,
}

/// The columns of `table`; `None` if it is no table that triggers can stand on.
pub(super) fn read_columns(connection: &Connection, table: &str) -> Result<Option<Vec<TableColumn>>> {
    let sql: Option<String> = connection
        .prepare_cached("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE")?
        .query_row([table], |row| row.get(0))
        .optional()?;
    let is_virtual = |sql: &String| sql.get(..14).is_some_and(|it| it.eq_ignore_ascii_case("CREATE VIRTUAL"));
    if sql.is_none_or(|it| is_virtual(&it)) {
        return Ok(None);
    }
    // `hidden` is 1 for columns that no row shows; 2 and 3 are generated ones.
    let mut statement =
        connection.prepare_cached("SELECT name, type, pk FROM pragma_table_xinfo(?1) WHERE hidden <> 1")?;
    let rows = statement.query_map([table], |row| {
        let declared: String = row.get(1)?;
        let cell = column_type(&declared, Integers::Declared).facts().cell;
        Ok(TableColumn { name: row.get(0)?, cell, key_place: row.get(2)? })
    })?;
    rows.collect::<Result<Vec<_>>>().map(Some)
}

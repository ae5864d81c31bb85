//! Indexes whose keys this SQLite cannot compute: an expression or a collation is another program's. Such an index may lack rows, and
//! a statement that reads nothing else would lose them in silence.
//!
//! **Cost:** a statement is prepared, and not run, for each index that is more than a list of columns.

use super::plain_definitions::{PlainDefinitions, is_plain_index};
use rusqlite::{Connection, Result};
use weir_relational::quoting::quote_identifier;

const INDEXES: &str = "SELECT tbl_name, name, sql FROM main.sqlite_schema WHERE type = 'index' \
    AND typeof(tbl_name) = 'text' AND typeof(name) = 'text' ORDER BY name COLLATE BINARY";

/// An index that cannot be used.
pub(crate) struct BrokenIndex {
    pub(crate) table: String,
    pub(crate) name: String,
    /// SQLite's words.
    pub(crate) cause: String,
}

/// Finds all broken indexes: SQLite cannot prepare a statement that would rebuild them.
pub(crate) fn find(connection: &Connection) -> Result<Vec<BrokenIndex>> {
    let mut statement = connection.prepare(INDEXES)?;
    let mut rows = statement.query([])?;
    let mut plain = None;
    let mut broken = Vec::new();
    while let Some(row) = rows.next()? {
        let table: String = row.get(0)?;
        let name: String = row.get(1)?;
        let sql: Option<String> = row.get(2)?;
        let plain = match &plain {
            Some(plain) => plain,
            None => plain.insert(PlainDefinitions::read(connection)?),
        };
        if plain.is_plain(&table) && sql.is_none_or(|it| is_plain_index(&it)) {
            continue;
        }
        if let Err(error) = connection.prepare(&format!("REINDEX main.{}", quote_identifier(&name))) {
            broken.push(BrokenIndex { table, name, cause: error.to_string() });
        }
    }
    Ok(broken)
}

/// True if the view called `view` reads `table` or an index of it, by other views too. One that cannot be read at all does not.
pub(crate) fn reads(connection: &Connection, view: &str, table: &str) -> Result<bool> {
    let mut statement =
        connection.prepare("SELECT rootpage FROM main.sqlite_schema WHERE tbl_name = ?1 AND rootpage > 0")?;
    let pages: Vec<i64> = statement.query_map([table], |row| row.get(0))?.collect::<Result<_>>()?;
    let Ok(mut steps) = connection.prepare(&format!("EXPLAIN SELECT * FROM main.{}", quote_identifier(view)))
    else {
        return Ok(false);
    };
    let mut rows = steps.query([])?;
    while let Some(step) = rows.next()? {
        let opcode: String = step.get(1)?;
        let page: i64 = step.get(3)?;
        if opcode == "OpenRead" && pages.contains(&page) {
            return Ok(true);
        }
    }
    Ok(false)
}

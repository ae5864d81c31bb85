//! The session of a mutation for the triggers of a file: the only row of the table `hdb_session(value)`, where that table is.
//!
//! A trigger of the file cannot read a temporary table, nor call a function that other programs lack, so the row is in the file. It is
//! filled and emptied within the writing transaction: other programs, whose writes wait for it, always find a null.
//!
//! **Cost:** one look at the version of the schema for each transaction; a statement for each mutation where the table is.

use rusqlite::{Connection, Result};

/// The table's name, which no schema shows.
pub const TABLE: &str = "hdb_session";

/// The writer's knowledge of the row.
#[derive(Debug, Default)]
pub struct SessionRow {
    /// Version of the schema at the last look.
    schema_version: Option<i64>,
    is_there: bool,
    is_filled: bool,
}

impl SessionRow {
    /// Looks, at the beginning of a transaction, whether the table is there.
    /// # Errors
    /// SQLite's.
    pub fn begin(&mut self, connection: &Connection) -> Result<()> {
        self.is_filled = false;
        let version = connection.prepare_cached("PRAGMA schema_version")?.query_row([], |row| row.get(0))?;
        if self.schema_version != Some(version) {
            self.is_there = is_there(connection)?;
            self.schema_version = Some(version);
        }
        Ok(())
    }

    /// Puts `session` into the row, for the statements that follow; `None`: they have none.
    /// # Errors
    /// SQLite's.
    pub fn fill(&mut self, connection: &Connection, session: Option<&str>) -> Result<()> {
        if !self.is_there || (session.is_none() && !self.is_filled) {
            return Ok(());
        }
        self.is_filled = session.is_some();
        let changed = connection.prepare_cached("UPDATE hdb_session SET value = ?1")?.execute([session])?;
        if changed == 0 {
            connection.prepare_cached("INSERT INTO hdb_session (value) VALUES (?1)")?.execute([session])?;
        }
        Ok(())
    }

    /// Empties the row behind statements that may have changed the schema, or ended the transaction.
    /// # Errors
    /// SQLite's.
    pub fn empty(&mut self, connection: &Connection) -> Result<()> {
        let is_filled = self.is_filled;
        self.begin(connection)?;
        self.is_filled = is_filled;
        self.fill(connection, None)
    }

    /// True if the table is there.
    pub const fn is_there(&self) -> bool {
        self.is_there
    }
}

/// True if the file has the table with the one column.
fn is_there(connection: &Connection) -> Result<bool> {
    let columns =
        "SELECT count(*) = 1 AND min(lower(name)) = 'value' FROM pragma_table_xinfo('hdb_session', 'main')";
    let is_table =
        "SELECT count(*) FROM main.sqlite_schema WHERE type = 'table' AND lower(name) = 'hdb_session'";
    let has_table: bool = connection.query_row(is_table, [], |row| row.get(0))?;
    Ok(has_table && connection.query_row(columns, [], |row| row.get::<_, Option<bool>>(0))? == Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(sql: &str) -> Connection {
        let connection = Connection::open_in_memory().expect("it opens");
        connection.execute_batch(sql).expect("it is SQL");
        connection
    }

    fn values(connection: &Connection) -> Vec<Option<String>> {
        let mut statement = connection.prepare("SELECT value FROM hdb_session").expect("it is there");
        let rows = statement.query_map([], |row| row.get(0)).expect("it is read");
        rows.collect::<Result<_>>().expect("they are texts")
    }

    #[test]
    fn the_row_is_made_filled_and_emptied() {
        let connection = open("CREATE TABLE hdb_session (value TEXT)");
        let mut row = SessionRow::default();
        row.begin(&connection).expect("it looks");
        row.fill(&connection, None).expect("nothing is to be done");
        assert!(values(&connection).is_empty());
        for session in [Some("{}"), Some("[]"), None] {
            row.fill(&connection, session).expect("it is filled");
            assert_eq!(values(&connection), [session.map(str::to_owned)]);
        }
    }

    #[test]
    fn a_table_that_comes_or_goes_is_seen_by_the_next_transaction() {
        let connection = open("");
        let mut row = SessionRow::default();
        let looks = |row: &mut SessionRow| {
            row.begin(&connection).expect("it looks");
            row.is_there()
        };
        assert!(!looks(&mut row));
        connection.execute_batch("CREATE TABLE HDB_Session (Value)").expect("it is made");
        assert!(looks(&mut row));
        connection.execute_batch("ALTER TABLE hdb_session ADD COLUMN other").expect("it is changed");
        assert!(!looks(&mut row), "a table of another shape is somebody else's");
        connection
            .execute_batch("DROP TABLE hdb_session; CREATE VIEW hdb_session AS SELECT 1 AS value")
            .expect("it is made");
        assert!(!looks(&mut row));
    }
}

//! The session of a mutation for the triggers of a file: the only rows of the tables `hdb_session(value)` and `hdb_trace(value)`, where
//! these tables are.
//!
//! A trigger of the file cannot read a temporary table, nor call a function that other programs lack, so the rows are in the file. They are
//! filled and emptied within the writing transaction: other programs, whose writes wait for it, always find nulls.
//!
//! **Cost:** one look at the version of the schema for each transaction; a statement for each mutation and table that is there.

use rusqlite::{Connection, Result};

/// The table of session variables, which no schema shows.
pub const TABLE: &str = "hdb_session";
/// The table of the request's trace, which no schema shows either.
pub const TRACE_TABLE: &str = "hdb_trace";

/// The session of the statements that follow.
pub trait WriterSession {
    /// Session variables as JSON.
    fn variables(&self) -> &str;
    /// The trace of its request as JSON.
    fn trace(&self) -> Option<String>;
}

/// Session variables without a trace.
impl WriterSession for &str {
    fn variables(&self) -> &str {
        self
    }

    fn trace(&self) -> Option<String> {
        None
    }
}

/// The writer's knowledge of the rows.
#[derive(Debug, Default)]
pub struct SessionRow {
    /// Version of the schema at the last look.
    schema_version: Option<i64>,
    variables: ValueRow,
    trace: ValueRow,
}

/// The row of one of the tables.
#[derive(Clone, Copy, Debug, Default)]
struct ValueRow {
    is_there: bool,
    is_filled: bool,
}

impl SessionRow {
    /// Looks, at the beginning of a transaction, whether the tables are there.
    /// # Errors
    /// SQLite's.
    pub fn begin(&mut self, connection: &Connection) -> Result<()> {
        self.variables.is_filled = false;
        self.trace.is_filled = false;
        self.look(connection)
    }

    fn look(&mut self, connection: &Connection) -> Result<()> {
        let version = connection.prepare_cached("PRAGMA schema_version")?.query_row([], |row| row.get(0))?;
        if self.schema_version != Some(version) {
            self.variables.is_there = is_there(connection, TABLE)?;
            self.trace.is_there = is_there(connection, TRACE_TABLE)?;
            self.schema_version = Some(version);
        }
        Ok(())
    }

    /// Puts `session` into the rows, for the statements that follow; `None`: they have none.
    /// # Errors
    /// SQLite's.
    pub fn fill(&mut self, connection: &Connection, session: Option<&dyn WriterSession>) -> Result<()> {
        self.variables.fill(connection, TABLE, session.map(WriterSession::variables))?;
        let trace = if self.trace.is_there { session.and_then(WriterSession::trace) } else { None };
        self.trace.fill(connection, TRACE_TABLE, trace.as_deref())
    }

    /// Empties the rows behind statements that may have changed the schema, or ended the transaction.
    /// # Errors
    /// SQLite's.
    pub fn empty(&mut self, connection: &Connection) -> Result<()> {
        self.look(connection)?;
        self.fill(connection, None)
    }

    /// True if the table of session variables is there.
    pub const fn is_there(&self) -> bool {
        self.variables.is_there
    }
}

impl ValueRow {
    fn fill(&mut self, connection: &Connection, table: &str, value: Option<&str>) -> Result<()> {
        if !self.is_there || (value.is_none() && !self.is_filled) {
            return Ok(());
        }
        self.is_filled = value.is_some();
        let update = format!("UPDATE {table} SET value = ?1");
        if connection.prepare_cached(&update)?.execute([value])? == 0 {
            let insert = format!("INSERT INTO {table} (value) VALUES (?1)");
            connection.prepare_cached(&insert)?.execute([value])?;
        }
        Ok(())
    }
}

/// True if the file has `table` with the one column.
fn is_there(connection: &Connection, table: &str) -> Result<bool> {
    let columns = "SELECT count(*) = 1 AND min(lower(name)) = 'value' FROM pragma_table_xinfo(?1, 'main')";
    let is_table = "SELECT count(*) FROM main.sqlite_schema WHERE type = 'table' AND lower(name) = ?1";
    let has_table: bool = connection.query_row(is_table, [table], |row| row.get(0))?;
    Ok(has_table
        && connection.query_row(columns, [table], |row| row.get::<_, Option<bool>>(0))? == Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(sql: &str) -> Connection {
        let connection = Connection::open_in_memory().expect("it opens");
        connection.execute_batch(sql).expect("it is SQL");
        connection
    }

    fn values(connection: &Connection, table: &str) -> Vec<Option<String>> {
        let mut statement = connection.prepare(&format!("SELECT value FROM {table}")).expect("it is there");
        let rows = statement.query_map([], |row| row.get(0)).expect("it is read");
        rows.collect::<Result<_>>().expect("they are texts")
    }

    struct Traced(&'static str, Option<&'static str>);

    impl WriterSession for Traced {
        fn variables(&self) -> &str {
            self.0
        }

        fn trace(&self) -> Option<String> {
            self.1.map(str::to_owned)
        }
    }

    #[test]
    fn the_rows_are_made_filled_and_emptied() {
        let connection = open("CREATE TABLE hdb_session (value TEXT); CREATE TABLE hdb_trace (value TEXT)");
        let mut row = SessionRow::default();
        row.begin(&connection).expect("it looks");
        row.fill(&connection, None).expect("nothing is to be done");
        assert!(values(&connection, TABLE).is_empty());
        for session in [Some(Traced("{}", Some("1"))), Some(Traced("[]", None)), None] {
            row.fill(&connection, session.as_ref().map(|it| it as &dyn WriterSession)).expect("it is filled");
            let (variables, trace) = (session.as_ref().map(|it| it.0), session.as_ref().and_then(|it| it.1));
            assert_eq!(values(&connection, TABLE), [variables.map(str::to_owned)]);
            assert_eq!(values(&connection, TRACE_TABLE), [trace.map(str::to_owned)]);
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

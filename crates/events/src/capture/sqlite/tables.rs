//! Tables in a file of SQLite's: the log of events, the log of calls, of cleanups, and the note of the file that they belong to.
//!
//! The columns have the names that Hasura gives them on PostgreSQL; times are texts in UTC, payloads JSON texts.
//!
//! **Invariant:** the log has no constraint that can fail: `INSERT OR IGNORE` of a user would lose the event, `OR REPLACE` an older one.

use rusqlite::{Connection, OptionalExtension, Result, params};

/// The condition of events without an attempt, word for word that of their index: SQLite uses an index for no other spelling.
pub const FIRST: &str = "delivered = 0 AND error = 0 AND archived = 0 AND next_retry_at IS NULL";
/// The condition of events that wait for another attempt, word for word that of their index.
pub const AGAIN: &str = "delivered = 0 AND error = 0 AND archived = 0 AND next_retry_at IS NOT NULL";

/// The tables. `weir_seq` is the order of events, `weir_key` the row of an event whose order counts.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS hdb_event_log (id TEXT, schema_name TEXT, table_name TEXT, trigger_name TEXT, payload TEXT,
  delivered INTEGER DEFAULT 0, error INTEGER DEFAULT 0, tries INTEGER DEFAULT 0, created_at TEXT, locked TEXT, next_retry_at TEXT,
  archived INTEGER DEFAULT 0, weir_key TEXT, weir_seq INTEGER PRIMARY KEY);
CREATE INDEX IF NOT EXISTS hdb_event_log_first ON hdb_event_log (trigger_name, weir_seq)
  WHERE delivered = 0 AND error = 0 AND archived = 0 AND next_retry_at IS NULL;
CREATE INDEX IF NOT EXISTS hdb_event_log_again ON hdb_event_log (trigger_name, next_retry_at)
  WHERE delivered = 0 AND error = 0 AND archived = 0 AND next_retry_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS hdb_event_log_key ON hdb_event_log (trigger_name, weir_key, weir_seq)
  WHERE delivered = 0 AND error = 0 AND archived = 0;
CREATE INDEX IF NOT EXISTS hdb_event_log_id ON hdb_event_log (id);
CREATE TABLE IF NOT EXISTS hdb_event_invocation_logs (id TEXT, trigger_name TEXT, event_id TEXT, status INTEGER, request TEXT,
  response TEXT, created_at TEXT);
CREATE INDEX IF NOT EXISTS hdb_event_invocation_logs_event_id ON hdb_event_invocation_logs (event_id);
CREATE TABLE IF NOT EXISTS hdb_event_log_cleanups (id TEXT, trigger_name TEXT, scheduled_at TEXT, deleted_event_logs INTEGER,
  deleted_event_invocation_logs INTEGER, status TEXT);
CREATE TABLE IF NOT EXISTS hdb_event_source (inode TEXT);
CREATE TABLE IF NOT EXISTS hdb_session (value TEXT);
CREATE TABLE IF NOT EXISTS hdb_trace (value TEXT);
";

/// Makes the tables that are missing.
/// # Errors
/// SQLite's.
pub fn create_tables(connection: &Connection) -> Result<()> {
    connection.execute_batch(TABLES)
}

/// True if the file has the log of events.
/// # Errors
/// SQLite's.
pub fn has_tables(connection: &Connection) -> Result<bool> {
    let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'hdb_event_source'";
    connection.query_row(sql, [], |_| Ok(())).optional().map(|it| it.is_some())
}

/// The file whose events these are; `None` before the first note.
/// # Errors
/// SQLite's.
pub fn noted_inode(connection: &Connection) -> Result<Option<String>> {
    connection.query_row("SELECT inode FROM hdb_event_source LIMIT 1", [], |row| row.get(0)).optional()
}

/// Notes that the events are those of the file `inode`.
/// # Errors
/// SQLite's.
pub fn note_file(connection: &Connection, inode: &str) -> Result<()> {
    connection.execute("DELETE FROM hdb_event_source", [])?;
    connection.execute("INSERT INTO hdb_event_source (inode) VALUES (?1)", params![inode]).map(drop)
}

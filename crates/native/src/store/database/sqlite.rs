//! A store in a file of SQLite's.

use super::{Bulk, BulkCell, BulkSource, BulkTable, Database, QueryRows, Session, Value};
use crate::layout;
use crate::store::Error;
use hashbrown::HashSet;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::functions::FunctionFlags;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, ErrorCode, OpenFlags, ffi, params_from_iter};
use std::path::{Path, PathBuf};
use std::time::Duration;
use weir_engine::write::out::Out;
use weir_relational::quoting::{list, quote_identifier};
use weir_relational::values::word_form;
use weir_sqlite::connection::Tuning;

/// Opens the file at `path`, or makes it.
pub(super) fn open(path: &Path) -> Result<Connection, Error> {
    open_with(path, OpenFlags::SQLITE_OPEN_CREATE)
}

/// Opens the file at `path` for exclusive use; `None` if somebody else uses it.
pub(super) fn exclusive(path: &Path) -> Result<Option<Connection>, Error> {
    let opened =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).and_then(|connection| {
            connection.busy_timeout(Duration::ZERO)?;
            connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
            connection.pragma_update(None, "foreign_keys", true)?;
            Ok(connection)
        });
    match opened {
        Ok(connection) => Ok(Some(connection)),
        Err(cause) if cause.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(None),
        Err(cause) => Err(with_remedy(&format!("{}: {cause}", path.display()), &cause)),
    }
}

impl Session for Connection {
    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, Error> {
        let mut statement = self.prepare_cached(sql).map_err(|error| statement_error(sql, &error))?;
        let changed = statement.execute(params_from_iter(values.iter().map(sqlite_value)));
        changed.map(|it| it as u64).map_err(|error| statement_error(sql, &error))
    }

    fn query(&mut self, sql: &str, values: &[Value], width: usize) -> Result<QueryRows, Error> {
        query_sqlite(self, sql, values, width).map_err(|error| statement_error(sql, &error))
    }

    fn begin(&mut self) -> Result<(), Error> {
        Session::execute(self, "BEGIN IMMEDIATE", &[]).map(drop)
    }

    fn commit(&mut self) -> Result<(), Error> {
        Session::execute(self, "COMMIT", &[]).map(drop)
    }

    /// The database says so itself when there is nothing to take back.
    fn rollback(&mut self) {
        drop(Session::execute(self, "ROLLBACK", &[]));
    }

    fn is_writable(&mut self) -> Result<bool, Error> {
        self.is_readonly("main").map(|it| !it).map_err(|error| with_remedy(&error.to_string(), &error))
    }

    fn data_version(&mut self) -> Result<i64, Error> {
        let rows = Session::query(self, "PRAGMA data_version", &[], 1)?;
        Ok(rows.first().map_or(0, |row| row[0].int()))
    }

    fn file(&self) -> Option<PathBuf> {
        self.path().map(PathBuf::from)
    }

    /// A load locks a file beside the store.
    fn lock_load(&mut self) -> Result<bool, Error> {
        Ok(true)
    }

    fn existing(&mut self, table: &str, column: &str, ids: &[i64]) -> Result<HashSet<i64>, Error> {
        let sql = format!("SELECT 1 FROM {table} WHERE {column} = ?1");
        let mut statement = self.prepare_cached(&sql).map_err(database_error)?;
        let mut found = HashSet::new();
        for &id in ids {
            if statement.exists([id]).map_err(database_error)? {
                found.insert(id);
            }
        }
        Ok(found)
    }

    fn insert(
        &mut self,
        tables: &[BulkTable],
        bulk: Bulk<'_>,
        gone: &mut [bool],
    ) -> Result<Vec<(usize, String)>, Error> {
        let mut statements = Vec::new();
        let mut refused = Vec::new();
        for table in tables {
            let marks = vec!["?"; table.columns.len()].join(", ");
            let names = list(table.columns.iter().map(|it| it.name.as_str()));
            let sql = format!("INSERT INTO {} ({names}) VALUES ({marks})", quote_identifier(&table.name));
            statements.push(self.prepare_cached(&sql).map_err(database_error)?);
        }
        for (row, is_gone) in gone.iter_mut().enumerate().filter(|it| !*it.1) {
            for (at, table) in tables.iter().enumerate() {
                let Err(error) = insert_row(&mut statements[at], table, bulk, row) else { continue };
                let Some(why) = broken_rule(&error) else { return Err(database_error(error)) };
                for before in &tables[..at] {
                    let id = quote_identifier(&before.columns[0].name);
                    let sql = format!("DELETE FROM {} WHERE {id} = ?1", quote_identifier(&before.name));
                    Connection::execute(self, &sql, [bulk.ids[row]]).map_err(database_error)?;
                }
                *is_gone = true;
                refused.push((row, why));
                break;
            }
        }
        Ok(refused)
    }

    fn insert_pairs(&mut self, table: &str, names: &str, pairs: &[(i64, i64)]) -> Result<(), Error> {
        let sql = format!("INSERT OR IGNORE INTO {table} ({names}) VALUES (?1, ?2)");
        let mut statement = self.prepare_cached(&sql).map_err(database_error)?;
        for pair in pairs {
            statement.execute([pair.0, pair.1]).map_err(database_error)?;
        }
        Ok(())
    }
}

fn database_error(error: rusqlite::Error) -> Error {
    Error::Database(error.to_string())
}

/// Opens a file as a store wants it: a log beside it, every commit on the disk.
fn open_with(path: &Path, more: OpenFlags) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
    let opened = Connection::open_with_flags(path, flags).and_then(|connection| {
        connection.busy_timeout(Duration::from_millis(u64::from(Tuning::USUAL.busy_ms)))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "trusted_schema", false)?;
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
        connection.create_scalar_function(c"weir_float_text", 1, flags, |context| {
            Ok(context.get::<Option<f64>>(0)?.map(float_text))
        })?;
        // Words are put into indexes in the form in which they are compared.
        connection.create_scalar_function(c"weir_words", 1, flags, |context| {
            Ok(context.get::<Option<String>>(0)?.map(|text| word_form::fold(&text).into_owned()))
        })?;
        // A file that is no database is reported here, with its name.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(connection)
    });
    opened.map_err(|cause| with_remedy(&format!("{}: {cause}", path.display()), &cause))
}

/// A number as answers have it.
fn float_text(value: f64) -> String {
    let mut digits = Out::default();
    // Minus zero is zero, as in answers.
    digits.float(value + 0.0);
    String::from_utf8_lossy(digits.bytes()).into_owned()
}

fn statement_error(sql: &str, error: &rusqlite::Error) -> Error {
    with_remedy(&format!("{error}, in: {sql}"), error)
}

/// The error with `words`, and how to fix it where SQLite does not say.
fn with_remedy(words: &str, cause: &rusqlite::Error) -> Error {
    let extended = cause.sqlite_error().map(|it| it.extended_code);
    let remedy = match cause.sqlite_error_code() {
        // The memory that connections share is a file too.
        code if code == Some(ErrorCode::DiskFull) || extended == Some(ffi::SQLITE_IOERR_SHMSIZE) => {
            "; the disk is full: make room on it, then try again"
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen) => {
            "; let the user that runs Weir write the file and its folder, where SQLite keeps a log even while it only reads, \
             or name another file by `--store`"
        }
        _ => "",
    };
    Error::Database(format!("{words}{remedy}"))
}

fn sqlite_value(value: &Value) -> rusqlite::types::Value {
    match value {
        Value::Null => rusqlite::types::Value::Null,
        Value::Int(number) => rusqlite::types::Value::Integer(*number),
        Value::Real(number) => rusqlite::types::Value::Real(*number),
        Value::Text(text) => rusqlite::types::Value::Text(text.clone()),
    }
}

fn query_sqlite(
    connection: &Connection,
    sql: &str,
    values: &[Value],
    width: usize,
) -> rusqlite::Result<QueryRows> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params_from_iter(values.iter().map(sqlite_value)))?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let value = |at: usize| {
            Ok(match row.get_ref(at)? {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(number) => Value::Int(number),
                ValueRef::Real(number) => Value::Real(number),
                ValueRef::Text(text) | ValueRef::Blob(text) => {
                    Value::Text(String::from_utf8_lossy(text).into_owned())
                }
            })
        };
        all.push((0..width).map(value).collect::<rusqlite::Result<Vec<Value>>>()?);
    }
    Ok(all)
}

fn insert_row(
    statement: &mut CachedStatement<'_>,
    table: &BulkTable,
    bulk: Bulk<'_>,
    row: usize,
) -> rusqlite::Result<()> {
    let cells = bulk.row(row);
    for (at, from) in table.from.iter().enumerate() {
        let value = match from {
            BulkSource::Number => ToSqlOutput::from(bulk.ids[row]),
            BulkSource::Words(words) => ToSqlOutput::from(words.as_str()),
            BulkSource::Cell(place) => sqlite_cell(bulk, cells[*place]),
        };
        statement.raw_bind_parameter(at + 1, value)?;
    }
    statement.raw_execute().map(drop)
}

fn sqlite_cell(bulk: Bulk<'_>, cell: BulkCell) -> ToSqlOutput<'_> {
    match cell {
        BulkCell::Null => ToSqlOutput::from(rusqlite::types::Null),
        BulkCell::Int(number) => ToSqlOutput::from(number),
        BulkCell::Real(number) => ToSqlOutput::from(number),
        BulkCell::Bool(value) => ToSqlOutput::from(value),
        BulkCell::Text(from, to) => ToSqlOutput::from(bulk.slice(from, to)),
    }
}

/// The violated constraint of an error, in words without SQL.
fn broken_rule(error: &rusqlite::Error) -> Option<String> {
    if error.sqlite_error_code() != Some(ErrorCode::ConstraintViolation) {
        return None;
    }
    let words = error.to_string();
    Some(match words.strip_prefix("UNIQUE constraint failed: ") {
        Some(columns) => format!("`{columns}` is taken already"),
        None => words,
    })
}

/// Copies the store in the file `from` to the file `to`, page by page, and opens the copy.
pub(in crate::store) fn copy(
    from: &Path,
    to: &Path,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Database, Error> {
    let source = open_with(from, OpenFlags::empty())?;
    let words = |cause: rusqlite::Error| Error::Database(format!("{}: {cause}", to.display()));
    // A snapshot: without it every commit of others would restart the copy.
    source.execute_batch("BEGIN; SELECT one FROM weir_store").map_err(words)?;
    let mut target = Connection::open(to).map_err(words)?;
    {
        let backup = Backup::new(&source, &mut target).map_err(words)?;
        loop {
            let step = backup.step(512).map_err(words)?;
            let state = backup.progress();
            let all = u64::try_from(state.pagecount).unwrap_or_default();
            progress(all - u64::try_from(state.remaining).unwrap_or_default().min(all), all);
            if step == StepResult::Done {
                break;
            }
        }
    }
    drop(target);
    let file = std::fs::File::open(to).and_then(|it| it.sync_all());
    file.map_err(|cause| Error::Database(format!("{}: {cause}", to.display())))?;
    let session: Box<dyn Session> = Box::new(open_with(to, OpenFlags::empty())?);
    Ok(Database { kind: layout::Database::Sqlite, session })
}

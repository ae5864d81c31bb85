//! One connection to the database of a store, for work that is not the requests': migrations, bulk loads, exports.
//!
//! SQLite and PostgreSQL look the same from here: a statement with `$1`, `$2`, … in ascending order of first use, values
//! in, values out. It blocks, so it belongs on a thread of its own.
//!
//! **Invariant:** at most one transaction is open; it is gone when the connection is.

use super::Error;
use crate::layout;
use rusqlite::ffi;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, params_from_iter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use weir_engine::write::out::Out;
use weir_postgres::{
    Error as PostgresError, Format, Isolation, Parameters, Pool, Purpose, Session, Settings, Statement,
    Transaction,
};
use weir_sql::sqlite::connection::Tuning;

/// A statement that builds an index of a large table may take so long.
const PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// Address of a store.
#[derive(Clone, Debug)]
pub enum Place {
    /// A file of SQLite's.
    Sqlite(PathBuf),
    /// A database server.
    Postgres(Box<Settings>),
}

impl Place {
    /// The kind of database it is.
    #[must_use]
    pub fn kind(&self) -> layout::Database {
        match self {
            Self::Sqlite(_) => layout::Database::Sqlite,
            Self::Postgres(_) => layout::Database::Postgres,
        }
    }
}

/// A value that is bound, or that came back.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Value {
    Null,
    Int(i64),
    Real(f64),
    /// PostgreSQL gives every value so.
    Text(String),
}

impl Value {
    /// As a whole number; 0 for what is none.
    #[must_use]
    pub fn int(&self) -> i64 {
        match self {
            Self::Int(number) => *number,
            Self::Text(text) => text.parse().unwrap_or_default(),
            Self::Real(number) => *number as i64,
            Self::Null => 0,
        }
    }

    /// As text; empty for null.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Int(number) => number.to_string(),
            Self::Text(text) => text.clone(),
            Self::Real(number) => number.to_string(),
            Self::Null => String::new(),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

/// The rows of a statement.
pub type Rows = Vec<Vec<Value>>;

/// See the module's words.
#[derive(Debug)]
pub enum Database {
    /// In this process.
    Sqlite(Connection),
    /// By the wire.
    Postgres(Box<Postgres>),
}

/// A session of PostgreSQL's and what drives it.
#[derive(Debug)]
pub struct Postgres {
    // Dropped before the runtime, which it needs to say goodbye. `None` after a failure.
    session: Option<Session>,
    pool: Arc<Pool>,
    connect_max: Duration,
    runtime: Runtime,
}

impl Database {
    /// Opens the store at `place`; a file that is not there is made.
    /// # Errors
    /// It cannot be reached or opened.
    pub fn open(place: &Place) -> Result<Self, Error> {
        match place {
            Place::Sqlite(path) => Ok(Self::Sqlite(open_sqlite(path, OpenFlags::SQLITE_OPEN_CREATE)?)),
            Place::Postgres(settings) => Postgres::connect(settings).map(|it| Self::Postgres(Box::new(it))),
        }
    }

    /// Opens the file at `path` so that nobody else can use it; nothing if somebody does.
    /// # Errors
    /// It cannot be opened.
    pub(crate) fn exclusive(path: &Path) -> Result<Option<Self>, Error> {
        let opened =
            Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).and_then(|connection| {
                connection.busy_timeout(Duration::ZERO)?;
                connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
                connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
                connection.pragma_update(None, "foreign_keys", true)?;
                Ok(connection)
            });
        match opened {
            Ok(connection) => Ok(Some(Self::Sqlite(connection))),
            Err(cause) if cause.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(None),
            Err(cause) => Err(refused(&format!("{}: {cause}", path.display()), &cause)),
        }
    }

    /// The kind of database it is.
    #[must_use]
    pub fn kind(&self) -> layout::Database {
        match self {
            Self::Sqlite(_) => layout::Database::Sqlite,
            Self::Postgres(_) => layout::Database::Postgres,
        }
    }

    /// Runs a statement and says how many rows it changed.
    /// # Errors
    /// The database refused it.
    pub fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, Error> {
        match self {
            Self::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(sql).map_err(|error| words(sql, &error))?;
                let changed = statement.execute(params_from_iter(values.iter().map(sqlite_value)));
                changed.map(|it| it as u64).map_err(|error| words(sql, &error))
            }
            Self::Postgres(it) => Ok(it.run(sql, values, 0)?.affected),
        }
    }

    /// The rows of a statement with `width` columns.
    /// # Errors
    /// The database refused it.
    pub fn query(&mut self, sql: &str, values: &[Value], width: usize) -> Result<Rows, Error> {
        match self {
            Self::Sqlite(connection) => {
                query_sqlite(connection, sql, values, width).map_err(|error| words(sql, &error))
            }
            Self::Postgres(it) => {
                let rows = it.run(sql, values, width)?;
                let value = |it: Option<&[u8]>| match it {
                    None => Value::Null,
                    Some(bytes) => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
                };
                Ok(rows.iter().map(|row| row.columns().map(value).collect()).collect())
            }
        }
    }

    /// The first column of the first row; null if there is none.
    /// # Errors
    /// The database refused the statement.
    pub fn one(&mut self, sql: &str, values: &[Value]) -> Result<Value, Error> {
        let mut rows = self.query(sql, values, 1)?;
        Ok(rows.first_mut().and_then(|row| row.pop()).unwrap_or(Value::Null))
    }

    /// Begins a transaction that nobody else's migration runs beside.
    /// # Errors
    /// It cannot be begun.
    pub fn begin(&mut self) -> Result<(), Error> {
        match self {
            Self::Sqlite(_) => self.execute("BEGIN IMMEDIATE", &[]).map(drop),
            Self::Postgres(it) => it.begin(),
        }
    }

    /// Makes the transaction durable.
    /// # Errors
    /// It cannot be; then nothing of it is.
    pub fn commit(&mut self) -> Result<(), Error> {
        match self {
            Self::Sqlite(_) => self.execute("COMMIT", &[]).map(drop),
            Self::Postgres(it) => {
                it.session()?.commit();
                it.flush("COMMIT").map(drop)
            }
        }
    }

    /// Takes the transaction back. One that is gone already is no error.
    pub fn rollback(&mut self) {
        match self {
            // The database says so itself when there is nothing to take back.
            Self::Sqlite(_) => drop(self.execute("ROLLBACK", &[])),
            Self::Postgres(it) => {
                if let Some(session) = it.session.take() {
                    it.runtime.block_on(session.rollback());
                }
            }
        }
    }

    /// True if this connection may change the store.
    /// # Errors
    /// The database cannot be asked.
    pub(crate) fn is_writable(&mut self) -> Result<bool, Error> {
        match self {
            Self::Sqlite(connection) => connection
                .is_readonly("main")
                .map(|it| !it)
                .map_err(|error| refused(&error.to_string(), &error)),
            Self::Postgres(_) => {
                let sql = "SELECT (current_setting('transaction_read_only') = 'off' \
                           AND has_table_privilege('weir_store', 'UPDATE'))::int";
                Ok(self.one(sql, &[])?.int() == 1)
            }
        }
    }

    /// True if the store has a table called `name`.
    /// # Errors
    /// The database cannot be asked.
    pub fn has_table(&mut self, name: &str) -> Result<bool, Error> {
        let sql = match self.kind() {
            layout::Database::Sqlite => "SELECT count(*) FROM sqlite_schema WHERE name = $1",
            layout::Database::Postgres => {
                "SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
                 WHERE n.nspname = current_schema() AND c.relname = $1"
            }
        };
        Ok(self.one(sql, &[name.into()])?.int() > 0)
    }
}

/// Opens a file as a store wants it: a log beside it, every commit on the disk.
pub(crate) fn open_sqlite(path: &Path, more: OpenFlags) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
    let opened = Connection::open_with_flags(path, flags).and_then(|connection| {
        connection.busy_timeout(Duration::from_millis(u64::from(Tuning::USUAL.busy_ms)))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "trusted_schema", false)?;
        connection.create_scalar_function(
            c"weir_float_text",
            1,
            FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC,
            |context| Ok(context.get::<Option<f64>>(0)?.map(float_text)),
        )?;
        // A file that is no database is reported here, with its name.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(connection)
    });
    opened.map_err(|cause| refused(&format!("{}: {cause}", path.display()), &cause))
}

/// A number as answers have it.
fn float_text(value: f64) -> String {
    let mut digits = Out::default();
    // Minus zero is zero, as in answers.
    digits.float(value + 0.0);
    String::from_utf8_lossy(digits.bytes()).into_owned()
}

fn words(sql: &str, error: &rusqlite::Error) -> Error {
    refused(&format!("{error}, in: {sql}"), error)
}

/// `words`, and what to do about it where SQLite only says that it cannot.
fn refused(words: &str, cause: &rusqlite::Error) -> Error {
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
) -> rusqlite::Result<Rows> {
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

impl Postgres {
    fn connect(settings: &Settings) -> Result<Self, Error> {
        let mut settings = settings.clone();
        settings.limits.sessions_max = 1;
        settings.limits.lanes = 1;
        settings.limits.statement_timeout = PATIENCE;
        // Waits for locks are waits for other stores that do the same.
        settings.limits.session_lock_timeout = Duration::ZERO;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|cause| Error::Database(cause.to_string()))?;
        let connect_max = settings.connect_timeout;
        let pool = Pool::new(settings);
        let mut made = Self { session: None, pool, connect_max, runtime };
        made.session()?;
        Ok(made)
    }

    /// The session, or a new one in place of one that failed.
    fn session(&mut self) -> Result<&mut Session, Error> {
        let session = match self.session.take() {
            Some(session) => session,
            None => {
                let opening = self.pool.session(Purpose::Write, Instant::now() + self.connect_max);
                self.runtime.block_on(opening).map_err(|error| match error.remedy() {
                    Some(remedy) => Error::Database(format!("{error}: {remedy}")),
                    None => Error::Unreachable(error.to_string()),
                })?
            }
        };
        Ok(self.session.insert(session))
    }

    fn begin(&mut self) -> Result<(), Error> {
        self.session()?.begin(Transaction::ReadWrite(Isolation::ReadCommitted));
        self.run("SELECT pg_catalog.pg_advisory_xact_lock(1464158546)", &[], 1).map(drop)
    }

    fn run(&mut self, sql: &str, values: &[Value], width: usize) -> Result<weir_postgres::Rows, Error> {
        let mut parameters = Parameters::new();
        for value in values {
            match value {
                Value::Null => parameters.push_null(),
                other => parameters.push(other.text().as_bytes()),
            }
        }
        self.run_with(sql, &parameters, width)
    }

    /// As [`Database::query`], with values that are written already.
    pub(crate) fn run_with(
        &mut self,
        sql: &str,
        parameters: &Parameters,
        width: usize,
    ) -> Result<weir_postgres::Rows, Error> {
        let types = vec![0; parameters.count() as usize];
        let statement = Statement::new(sql, types, vec![Format::Text; width], [], None);
        self.session()?.push(&statement, parameters);
        Ok(self.flush(sql)?.pop().unwrap_or_default())
    }

    fn flush(&mut self, sql: &str) -> Result<Vec<weir_postgres::Rows>, Error> {
        let Some(session) = &mut self.session else {
            return Err(Error::Database("the session is gone".into()));
        };
        let done = self.runtime.block_on(session.flush(Instant::now() + PATIENCE));
        done.map_err(|error| {
            let words = format!("{error}, in: {sql}");
            match error {
                // A value, a constraint, a bound of the database.
                PostgresError::Database { error, .. }
                    if matches!(error.sqlstate, [b'2', b'2' | b'3', ..] | [b'5', b'4', ..]) =>
                {
                    Error::Unfit(words)
                }
                _ => Error::Database(words),
            }
        })
    }
}

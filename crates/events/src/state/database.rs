//! The database of the state: statements in, rows of texts out.

use super::dialect::{Dialect, render};
use crate::own_loop::run_apart;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use weir_postgres::script::{self, Manner, ScriptAnswer};
use weir_postgres::{Format, Isolation, Parameters, Pool, Purpose, Rows, Settings, Statement, Transaction};

/// Timeout of a statement, and of waiting for others that write to a file.
const PATIENCE: Duration = Duration::from_secs(30);
/// Maximum number of connections to a server.
const SESSIONS_MAX: u16 = 3;

/// True on a server that follows another, and where transactions are read only.
const TAKES_NO_WRITES: &str = "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'";

/// True where Hasura's command line and console keep their states.
const HAS_STATES: &str = "SELECT to_regclass('hdb_catalog.hdb_version') IS NOT NULL";
/// These states.
const KEPT_STATES: &str = "SELECT cli_state::text, console_state::text FROM hdb_catalog.hdb_version LIMIT 1";

/// Where the state lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateAddress {
    /// The schema `hdb_catalog` of a PostgreSQL.
    Postgres(Box<Settings>),
    /// A file of SQLite's, which is made if it is missing.
    Sqlite(PathBuf),
}

/// Longest time of a look at a database.
const LOOK_MAX: Duration = Duration::from_secs(3);

impl StateAddress {
    /// True if it is a server that takes no writes: one that follows another, or whose transactions are read only. Blocks the thread;
    /// a server that cannot be asked counts as one that will take them.
    pub fn is_read_only(&self) -> bool {
        self.ask(TAKES_NO_WRITES).is_some_and(|it| is_true(&it))
    }

    /// The states of the command line and the console that a Hasura with this metadata database keeps, as JSON texts; `None` without
    /// such a table. Blocks the thread.
    pub fn read_kept_states(&self) -> Option<[Option<String>; 2]> {
        if !is_true(&self.ask(HAS_STATES)?) {
            return None;
        }
        <[Option<String>; 2]>::try_from(self.ask(KEPT_STATES)?).ok()
    }

    /// The first row of the answer to `sql`; `None` without one, or if the server cannot be asked.
    fn ask(&self, sql: &str) -> Option<Vec<Option<String>>> {
        let Self::Postgres(settings) = self else { return None };
        let deadline = Instant::now() + LOOK_MAX;
        let asked = run_apart(async || script::run(settings, sql, Manner::default(), deadline).await).ok()?;
        match asked.ok()? {
            ScriptAnswer::Rows(_, rows) => rows.into_iter().next(),
            ScriptAnswer::Done => None,
        }
    }
}

/// True for a row that holds a true value.
fn is_true(row: &[Option<String>]) -> bool {
    row.first().is_some_and(|it| it.as_deref() == Some("t"))
}

/// The state cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateError {
    /// Words for operators.
    pub message: String,
    /// True if the database refuses the values, such as a JSON text that it cannot hold.
    pub is_about_values: bool,
}

impl StateError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_about_values: false }
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for StateError {}

impl From<rusqlite::Error> for StateError {
    fn from(error: rusqlite::Error) -> Self {
        Self::new(error.to_string())
    }
}

impl From<weir_postgres::Error> for StateError {
    fn from(error: weir_postgres::Error) -> Self {
        let is_about_values = error.sqlstate().is_some_and(is_about_values);
        Self { message: error.to_string(), is_about_values }
    }
}

/// True for data exceptions and limits of a program, by the class of an SQLSTATE.
fn is_about_values(code: [u8; 5]) -> bool {
    code.starts_with(b"22") || code.starts_with(b"54")
}

/// A statement, with the number of its columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Query {
    pub(super) sql: &'static str,
    pub(super) columns: usize,
}

/// Values of a statement.
pub(super) type Values = Vec<Option<String>>;
/// Rows of a statement.
pub(super) type StateRows = Vec<Vec<Option<String>>>;

/// The database of the state, which all parts of a process share.
pub struct StateDatabase(Driver);

enum Driver {
    Postgres { pool: Arc<Pool>, statements: Mutex<HashMap<&'static str, Arc<Statement>>> },
    Sqlite(Arc<SqliteFile>),
}

struct SqliteFile {
    path: PathBuf,
    connection: Mutex<Option<Connection>>,
}

impl fmt::Debug for StateDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Driver::Postgres { .. } => "StateDatabase(PostgreSQL)",
            Driver::Sqlite(_) => "StateDatabase(SQLite)",
        })
    }
}

impl StateDatabase {
    /// The database at `address`. Opens nothing yet.
    pub fn new(address: StateAddress) -> Self {
        Self(match address {
            StateAddress::Sqlite(path) => {
                Driver::Sqlite(Arc::new(SqliteFile { path, connection: Mutex::default() }))
            }
            StateAddress::Postgres(mut settings) => {
                settings.replicas.clear();
                settings.batch_mutations = false;
                settings.limits.sessions_max = settings.limits.sessions_max.min(SESSIONS_MAX.into());
                Driver::Postgres { pool: Pool::new(*settings), statements: Mutex::default() }
            }
        })
    }

    /// True if servers on several machines may share it.
    pub fn is_shared(&self) -> bool {
        matches!(self.0, Driver::Postgres { .. })
    }

    /// The file, if it is one.
    pub(super) fn file(&self) -> Option<&Path> {
        match &self.0 {
            Driver::Postgres { .. } => None,
            Driver::Sqlite(file) => Some(&file.path),
        }
    }

    pub(super) fn dialect(&self) -> Dialect {
        match self.0 {
            Driver::Postgres { .. } => Dialect::Postgres,
            Driver::Sqlite(_) => Dialect::Sqlite,
        }
    }

    /// Runs one statement.
    pub(super) async fn run(&self, query: Query, values: Values) -> Result<StateRows, StateError> {
        Ok(self.transact(vec![(query, values)]).await?.pop().unwrap_or_default())
    }

    /// Runs statements in one transaction; all of them, or none.
    pub(super) async fn transact(&self, steps: Vec<(Query, Values)>) -> Result<Vec<StateRows>, StateError> {
        match &self.0 {
            Driver::Postgres { pool, statements } => {
                let deadline = Instant::now() + PATIENCE;
                let mut session = pool.session(Purpose::Write, deadline).await?;
                session.begin(Transaction::ReadWrite(Isolation::ReadCommitted));
                for (query, values) in &steps {
                    let mut parameters = Parameters::new();
                    for value in values {
                        match value {
                            Some(text) => parameters.push(text.as_bytes()),
                            None => parameters.push_null(),
                        }
                    }
                    session.push(&statement(statements, *query, values.len()), &parameters);
                }
                session.commit();
                Ok(session.flush(deadline).await?.iter().map(read_rows).collect())
            }
            Driver::Sqlite(file) => {
                let file = Arc::clone(file);
                let done = tokio::task::spawn_blocking(move || file.transact(&steps)).await;
                done.unwrap_or_else(|_| Err(StateError::new("a bug: a statement of the state panicked")))
            }
        }
    }
}

/// The prepared form of `query`, made once.
fn statement(
    known: &Mutex<HashMap<&'static str, Arc<Statement>>>,
    query: Query,
    parameters: usize,
) -> Arc<Statement> {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    let made = known.entry(query.sql).or_insert_with(|| {
        let sql = render(query.sql, Dialect::Postgres);
        Statement::new(sql, vec![0; parameters], vec![Format::Text; query.columns], Vec::new(), None)
    });
    Arc::clone(made)
}

fn read_rows(rows: &Rows) -> StateRows {
    let text = |it: Option<&[u8]>| it.map(|it| String::from_utf8_lossy(it).into_owned());
    rows.iter().map(|row| row.columns().map(text).collect()).collect()
}

impl SqliteFile {
    fn transact(&self, steps: &[(Query, Values)]) -> Result<Vec<StateRows>, StateError> {
        let mut place = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if place.is_none() {
            *place = Some(open(&self.path)?);
        }
        let Some(connection) = place.as_mut() else { return Ok(Vec::new()) };
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let mut all = Vec::with_capacity(steps.len());
        for (query, values) in steps {
            let mut statement = transaction.prepare_cached(&render(query.sql, Dialect::Sqlite))?;
            let columns = statement.column_count();
            let mut rows = statement.query(rusqlite::params_from_iter(values))?;
            let mut read = Vec::new();
            while let Some(row) = rows.next()? {
                read.push(
                    (0..columns).map(|at| Ok(text(row.get_ref(at)?))).collect::<rusqlite::Result<_>>()?,
                );
            }
            all.push(read);
        }
        transaction.commit()?;
        Ok(all)
    }
}

fn text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    }
}

/// Opens the file, which nobody but its owner may read if it is new: it holds session variables and payloads.
fn open(path: &Path) -> Result<Connection, StateError> {
    let cannot =
        |error: std::io::Error| StateError::new(format!("{} cannot be made: {error}", path.display()));
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(cannot)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // A file that is there is left to SQLite: whoever closes it drops the locks that SQLite holds on it in this process.
    match options.open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(cannot(error)),
        Ok(_) | Err(_) => {}
    }
    let connection = Connection::open(path)?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

//! A SQLite database as a source of a graph.

use super::driver::{SqliteDriver, WriteAccess};
use super::errors::{source_error, writer_error};
use super::prepared::SqlitePlan;
use crate::exec::bindings::{Bindings, Refused};
use crate::exec::database_source::DatabaseSource;
use crate::exec::driver::{Driver, PlannedFetch, SourceState, WrittenMember};
use crate::exec::plans::forms::Planning;
use crate::frontend::ApiFrontend;
use crate::frontend::program::{Answers, BoundStatement, Program, Programs};
use rusqlite::{Connection, ErrorCode};
use std::future::ready;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use weir_engine::observer::DatabaseAddress;
use weir_engine::source::{BoxFuture, ChangeFeed, FetchResult, Protocol, SourceError};
use weir_relational::plan::{Judged, Plan};
use weir_relational::sql::assemble::TooWide;
use weir_sqlite::connection::{Database, Tuning, reader};
use weir_sqlite::health::probe;
use weir_sqlite::pool::Pool;
use weir_sqlite::table_checks;
use weir_sqlite::writer::Writer;

/// A SQLite database as a source of a graph.
pub type SqliteSource = DatabaseSource<SqliteDriver>;

impl Driver for SqliteDriver {
    type Prepared = SqlitePlan;

    fn gauges(&self) -> Vec<(&'static str, u64)> {
        let reads = self.pool.counts();
        let mut gauges = vec![
            ("long reads waiting", reads.waiting as u64),
            ("threads of long reads idle", reads.idle as u64),
            ("long reads that wait for their clients", reads.aside as u64),
        ];
        if let WriteAccess::Writer(writer) = &self.access {
            gauges.push(("mutations waiting", writer.jobs_waiting() as u64));
        }
        gauges
    }

    /// Renders `plan` and finds out where it may run.
    fn prepare(
        source: &SourceState<Self>,
        plan: Plan,
        _parent_keys: Option<u32>,
        _streams: bool,
    ) -> Result<SqlitePlan, TooWide> {
        let database = &source.driver.database;
        let reader = reader(database).ok();
        if let Some(reader) = &reader {
            // The run before may have been cancelled.
            reader.watch.set(Some(Instant::now() + database.statement_max()), None);
        }
        Ok(SqlitePlan::new(source.frontend.relations(), plan, reader.as_ref().map(|it| &it.connection)))
    }

    fn judge<'r>(judged: &'r Judged, bindings: &Bindings<'r>) -> Result<(), Refused> {
        super::values::bind::judge(judged, bindings)
    }

    fn plan_aside(&self, job: impl FnOnce() -> Result<(), SourceError> + Send + 'static) -> Planning {
        let (sender, receiver) = oneshot::channel();
        let is_waiting = self.pool.submit(Box::new(move || {
            // Nobody waiting is no failure: the request was cancelled.
            let _ = sender.send(job());
        }));
        Box::pin(async move {
            if is_waiting {
                receiver.await.unwrap_or_else(|_| Err(SourceError::Broken("planning panicked".into())))
            } else {
                Err(SourceError::Busy)
            }
        })
    }

    fn check_writable(&self, protocol: Protocol) -> Result<(), SourceError> {
        self.writer_for(protocol).map(drop)
    }

    fn read(run: PlannedFetch<'_, Self>, shown: Vec<i64>) -> BoxFuture<'_, Result<FetchResult, SourceError>> {
        super::fetch::read(&run, shown)
    }

    fn write(run: PlannedFetch<'_, Self>) -> BoxFuture<'_, Result<FetchResult, SourceError>> {
        match run.fetch.state.driver.writer_for(run.fetch.ask.protocol) {
            Ok(writer) => super::write_fetch::write(writer, &run),
            Err(error) => Box::pin(ready(Err(error))),
        }
    }

    async fn drive(
        run: &PlannedFetch<'_, Self>,
        member: usize,
        program: Box<dyn Program>,
    ) -> Result<WrittenMember, SourceError> {
        let writer = run.fetch.state.driver.writer_for(run.fetch.ask.protocol)?;
        super::program::drive(writer, run, member, program).await
    }

    async fn ask(
        run: &PlannedFetch<'_, Self>,
        asked: &BoundStatement,
        field: u32,
    ) -> Result<Answers, SourceError> {
        let mut answers = Answers::default();
        let asking = reader(&run.fetch.state.driver.database).and_then(|reader| {
            reader.watch.extend(run.input.deadline);
            super::program::ask(&reader.connection, asked, &mut answers)
        });
        asking.map_err(|error| source_error(error, run.fetch.ask.protocol, Some(field)))?;
        Ok(answers)
    }

    fn database(&self) -> DatabaseAddress {
        let name = self.database.path().file_name().unwrap_or_default();
        DatabaseAddress {
            system: "sqlite",
            namespace: name.to_string_lossy().into_owned(),
            host: None,
            port: None,
        }
    }

    fn change_feed(&self) -> Option<&dyn ChangeFeed> {
        Some(self)
    }

    fn health(&self, deadline: Instant) -> BoxFuture<'_, Result<(), SourceError>> {
        Box::pin(async move {
            let probed = probe(&self.database, &self.asking, deadline).await;
            probed.map_err(|error| writer_error(error, Protocol::GraphqlOverHttp))
        })
    }
}

/// The writer of a file, for work beside mutations; it shares their transactions.
#[derive(Clone, Debug)]
pub struct SharedWriter(Arc<SourceState<SqliteDriver>>);

impl SharedWriter {
    /// The thread that writes; `None`: the file cannot be written.
    pub fn writer(&self) -> Option<&Writer> {
        self.0.driver.writer()
    }

    /// The file.
    pub fn database(&self) -> &Arc<Database> {
        &self.0.driver.database
    }
}

/// Why a database cannot be served.
#[derive(Debug)]
pub enum SqliteOpenError {
    /// SQLite cannot open or read it.
    Sqlite(rusqlite::Error),
    /// No thread can be started.
    Thread(std::io::Error),
}

impl std::fmt::Display for SqliteOpenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(error) => write!(f, "cannot open the database: {error}"),
            Self::Thread(error) => write!(f, "cannot start a thread: {error}"),
        }
    }
}

impl std::error::Error for SqliteOpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Sqlite(error) => Some(error),
            Self::Thread(error) => Some(error),
        }
    }
}

impl DatabaseSource<SqliteDriver> {
    /// Serves `frontend`, whose tables the database in the file `path` has, as the source `name`.
    /// # Errors
    /// The file cannot be opened, or threads cannot be started.
    pub fn new(
        name: &str,
        frontend: Arc<dyn ApiFrontend>,
        path: &Path,
        tuning: Tuning,
    ) -> Result<Self, SqliteOpenError> {
        let database = Database::new(path, tuning);
        reader(&database).map_err(SqliteOpenError::Sqlite)?;
        let writer = database.open_writer();
        Self::start(name, frontend, database, writer)
    }

    /// Serves `frontend`, whose tables the database in the file `path` had, as the source `name`. The file cannot be read now: reads and
    /// mutations fail until it can be.
    /// # Errors
    /// No thread can be started.
    pub fn without_connection(
        name: &str,
        frontend: Arc<dyn ApiFrontend>,
        path: &Path,
        tuning: Tuning,
    ) -> Result<Self, SqliteOpenError> {
        Self::serve_with(name, frontend, Database::new(path, tuning), WriteAccess::Unreached)
    }

    /// The writer of the file.
    pub fn shared_writer(&self) -> SharedWriter {
        SharedWriter(Arc::clone(&self.state))
    }

    /// The columns of `Int` that hold integers of more than 32 bits, as `table.column`, as far as they are found in time.
    pub fn find_wide_integers(&self, within: Duration) -> Vec<String> {
        let Ok(reader) = reader(&self.state.driver.database) else { return Vec::new() };
        reader.watch.set(Some(Instant::now() + within), None);
        table_checks::find_wide_integers(&reader.connection, &self.state.frontend.relations().catalog)
    }

    pub(super) fn start(
        name: &str,
        frontend: Arc<dyn ApiFrontend>,
        database: Arc<Database>,
        writer: rusqlite::Result<Connection>,
    ) -> Result<Self, SqliteOpenError> {
        let access = match writer {
            Ok(connection) => {
                // Programs rely on the contents of the tables, not only on their names.
                let kept = frontend.programs().map(Programs::side_indexes);
                let writer = Writer::new(name, connection, database.statement_max(), kept);
                WriteAccess::Writer(writer.map_err(SqliteOpenError::Thread)?)
            }
            // A file or folder that may not be written is still read.
            Err(rusqlite::Error::SqliteFailure(cause, _))
                if matches!(cause.code, ErrorCode::ReadOnly | ErrorCode::CannotOpen) =>
            {
                WriteAccess::ReadOnly
            }
            Err(error) => return Err(SqliteOpenError::Sqlite(error)),
        };
        Self::serve_with(name, frontend, database, access)
    }

    fn serve_with(
        name: &str,
        frontend: Arc<dyn ApiFrontend>,
        database: Arc<Database>,
        access: WriteAccess,
    ) -> Result<Self, SqliteOpenError> {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let pool = Pool::new(&format!("sql-{name}"), cores.clamp(2, 8)).map_err(SqliteOpenError::Thread)?;
        let driver = SqliteDriver { database, pool, access, asking: Arc::default() };
        Ok(Self::serve(name, frontend, driver))
    }
}

//! Connections to one database file: how they are opened, and the one each thread keeps for reading.
//!
//! A reader is opened when a thread first needs it and lives as long as the database. Its statements stay prepared, the
//! least recently used going first. A progress handler interrupts at the deadline or when nobody waits any more.
//!
//! **Invariant:** readers can write nothing (`query_only`), and no connection can attach another file or load code.

use crate::functions;
use crate::functions::steps::IsOver;
use crate::medium;
use crate::pool::{Aside, Turns};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, Error, ErrorCode, MAIN_DB, OpenFlags, Result, ffi};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Choices for all connections of a database.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    /// Bytes of the file that are mapped.
    pub mmap_bytes: u64,
    /// Page cache of each connection, in KiB.
    pub cache_kib: u32,
    /// Statements kept prepared on each connection.
    pub statements_max: usize,
    /// Timeout of a lock held by another process.
    pub busy_ms: u32,
    /// A read may work so long for its first rows, and from one part of a long answer to the next; a mutation for all it does.
    pub statement_max: Duration,
}

impl Tuning {
    /// Good for most.
    pub const USUAL: Self = Self {
        mmap_bytes: 256 << 20,
        cache_kib: 16 << 10,
        statements_max: 256,
        busy_ms: 5000,
        statement_max: Duration::from_secs(20),
    };
}

/// A database file, shared by its readers and its writer.
#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    tuning: Tuning,
    id: u64,
}

impl Database {
    /// The database in the file `path`, which is opened when a connection is needed.
    pub fn new(path: &Path, tuning: Tuning) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Arc::new(Self { path: path.to_owned(), tuning, id: NEXT.fetch_add(1, Ordering::Relaxed) })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Timeout of a statement.
    pub fn statement_max(&self) -> Duration {
        self.tuning.statement_max
    }

    /// A connection that may write; the file has to exist. It changes nothing in the file: `enable_log` does, before the first write.
    pub fn open_writer(&self) -> Result<Connection> {
        let connection = self.open(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        if connection.is_readonly(MAIN_DB)? {
            return Err(Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_READONLY), None));
        }
        connection.pragma_update(None, "synchronous", "FULL")?;
        Ok(connection)
    }

    /// A connection that may only read.
    pub fn open_reader(&self) -> Result<Connection> {
        let connection = self.open(OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    }

    fn open(&self, mode: OpenFlags) -> Result<Connection> {
        let mode = mode | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = if medium::is_immutable(&self.path) {
            let address = medium::immutable_address(&self.path);
            Connection::open_with_flags(address, mode | OpenFlags::SQLITE_OPEN_URI)?
        } else {
            Connection::open_with_flags(&self.path, mode)?
        };
        let tuning = self.tuning;
        connection.busy_timeout(Duration::from_millis(u64::from(tuning.busy_ms)))?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        // Triggers and views of the file may have texts in double quotes. The statements of plans say the table of each column, so
        // that none of them becomes a text.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
        // Without this SQLite prepares a statement again for a new `LIMIT`, or a new value of a column with statistics.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        connection.set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, 4 << 20)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "trusted_schema", false)?;
        // Reads the schema, whose pages are not read again: it comes before the file is mapped, or they stay mapped.
        connection.pragma_update(None, "cache_size", -i64::from(tuning.cache_kib))?;
        connection.pragma_update(None, "mmap_size", tuning.mmap_bytes as i64)?;
        connection.set_prepared_statement_cache_capacity(tuning.statements_max);
        functions::register(&connection)?;
        Ok(connection)
    }
}

/// Longest time of one attempt to enable the log: meanwhile no other read begins.
const LOG_ATTEMPT: Duration = Duration::from_millis(50);
/// Time between two attempts, in which reads begin.
const LOG_PAUSE: Duration = Duration::from_millis(20);

/// Turns the file of `connection` to write-ahead logging, so that it is read while it is written. That waits until nobody reads the
/// file, as long as the connection waits for locks. A file system that has no such log keeps the journal that it has.
/// # Errors
/// SQLite's; of a folder in which no file can be made: that the database is read-only.
pub(crate) fn enable_log(connection: &Connection) -> Result<()> {
    let usual: u32 = connection.query_row("PRAGMA busy_timeout", [], |row| row.get(0))?;
    let usual = Duration::from_millis(u64::from(usual));
    let end = Instant::now() + usual;
    connection.busy_timeout(LOG_ATTEMPT.min(usual))?;
    let enabled = loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && Instant::now() < end =>
            {
                std::thread::sleep(LOG_PAUSE);
            }
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) => {
                break Err(Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_READONLY), None));
            }
            tried => break tried,
        }
    };
    connection.busy_timeout(usual)?;
    enabled
}

/// Says to a running statement when it has to stop.
#[derive(Debug)]
pub struct Watch {
    /// However late the deadline of a request is, a statement works no longer.
    statement_max: Duration,

    /// Nanoseconds after [`epoch`]; zero is never.
    deadline_ns: AtomicU64,
    cancelled: Mutex<Option<Arc<AtomicBool>>>,
    /// Nanoseconds after [`epoch`] from which the run counts as long; zero is never.
    long_ns: AtomicU64,
    course: Mutex<Course>,
}

/// State of a long run: it continues beside the short ones, or stops and restarts.
#[derive(Debug, Default)]
struct Course {
    /// Set if the run is on a pool thread; without it the run is on an event loop.
    turns: Option<Turns>,
    /// True if a part of the answer was sent: the run cannot restart.
    has_begun: bool,
    /// Room beside the others.
    aside: Option<Aside>,
    /// True if the run was stopped, to start again where it may take long.
    is_moved: bool,
}

fn epoch() -> Instant {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    *EPOCH.get_or_init(Instant::now)
}

/// Longest time of a run that keeps its place: a longer one leaves it to others.
const SHORT_MAX: Duration = Duration::from_millis(20);

/// Steps of SQLite's machine between two checks of the clock: some tens of microseconds.
const STEPS_PER_LOOK: i32 = 4000;

impl Watch {
    /// Puts a watch on `connection`, whose statements work no longer than `statement_max`.
    pub fn attach(connection: &mut Connection, statement_max: Duration) -> Result<Arc<Self>> {
        epoch();
        let deadline_ns = AtomicU64::new(0);
        let long_ns = AtomicU64::new(0);
        let cancelled = Mutex::default();
        let course = Mutex::default();
        let watch = Arc::new(Self { statement_max, deadline_ns, cancelled, long_ns, course });
        let seen = Arc::clone(&watch);
        connection.progress_handler(STEPS_PER_LOOK, Some(move || seen.is_over()))?;
        let seen = Arc::clone(&watch);
        let is_over: IsOver = Arc::new(move || seen.is_over());
        functions::register_long(connection, &is_over)?;
        Ok(watch)
    }

    /// Stops statements at `deadline`, at the statement time limit, or when `cancelled` becomes true.
    pub fn set(&self, deadline: Option<Instant>, cancelled: Option<&Arc<AtomicBool>>) {
        match deadline {
            Some(deadline) => self.extend(deadline),
            None => self.deadline_ns.store(0, Ordering::Relaxed),
        }
        *self.cancelled.lock().unwrap_or_else(PoisonError::into_inner) = cancelled.map(Arc::clone);
    }

    /// Moves the deadline of statements to `deadline`, but not beyond the statement time limit from now.
    pub fn extend(&self, deadline: Instant) {
        let deadline = deadline.min(Instant::now() + self.statement_max);
        let after = deadline.saturating_duration_since(epoch()).as_nanos().max(1) as u64;
        self.deadline_ns.store(after, Ordering::Relaxed);
    }

    /// A run began at `start` that leaves its place once it takes long: it goes on beside the other jobs of `turns`, or is stopped
    /// and [`Watch::finish`] says so.
    pub fn begin(&self, start: Instant, turns: Option<&Turns>) {
        if let Some(turns) = turns {
            *self.course() = Course { turns: Some(turns.clone()), ..Course::default() };
        }
        let after = (start + SHORT_MAX).saturating_duration_since(epoch()).as_nanos() as u64;
        self.long_ns.store(after, Ordering::Relaxed);
    }

    /// Notes that a part of the answer was sent: the run cannot restart.
    pub fn keep(&self) {
        self.course().has_begun = true;
    }

    /// Ends the run; true if it was stopped to restart where it may take long.
    pub fn finish(&self) -> bool {
        if self.long_ns.load(Ordering::Relaxed) != 0 {
            self.long_ns.store(0, Ordering::Relaxed);
            return false;
        }
        std::mem::take(&mut *self.course()).is_moved
    }

    fn course(&self) -> MutexGuard<'_, Course> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves the place of short runs; true if the run has to stop and restart.
    fn leave(&self) -> bool {
        self.long_ns.store(0, Ordering::Relaxed);
        let mut course = self.course();
        let turns = course.turns.take();
        course.aside = turns.as_ref().and_then(Turns::go_on);
        if course.has_begun && course.aside.is_none() {
            course.aside = turns.as_ref().and_then(Turns::step_aside);
        }
        course.is_moved = !course.has_begun && course.aside.is_none();
        course.is_moved
    }

    fn is_over(&self) -> bool {
        let now = epoch().elapsed().as_nanos() as u64;
        let is_past = |it: &AtomicU64| (1..=now).contains(&it.load(Ordering::Relaxed));
        if is_past(&self.deadline_ns) || (is_past(&self.long_ns) && self.leave()) {
            return true;
        }
        let cancelled = self.cancelled.lock().unwrap_or_else(PoisonError::into_inner);
        cancelled.as_ref().is_some_and(|it| it.load(Ordering::Relaxed))
    }
}

/// A thread's connection for reading.
#[derive(Debug)]
pub struct Reader {
    pub connection: Connection,
    /// Interrupts its statements.
    pub watch: Arc<Watch>,
}

/// A reader, the database it reads, and that database's number.
type Kept = (Weak<Database>, u64, Rc<Reader>);

thread_local! {
    static READERS: RefCell<Vec<Kept>> = const { RefCell::new(Vec::new()) };
}

/// Number of readers that this thread has opened.
pub fn readers() -> usize {
    READERS.with(|it| it.borrow().len())
}

/// This thread's reader of `database`, opened if it has none yet.
pub fn reader(database: &Arc<Database>) -> Result<Rc<Reader>> {
    READERS.with(|readers| {
        let mut readers = readers.borrow_mut();
        if let Some((_, _, reader)) = readers.iter().find(|it| it.1 == database.id) {
            return Ok(Rc::clone(reader));
        }
        readers.retain(|it| it.0.strong_count() > 0);
        let mut connection = database.open_reader()?;
        let watch = Watch::attach(&mut connection, database.statement_max())?;
        let reader = Rc::new(Reader { connection, watch });
        readers.push((Arc::downgrade(database), database.id, Rc::clone(&reader)));
        Ok(reader)
    })
}

/// Closes this thread's reader of `database`; a later use opens another.
pub fn close_reader(database: &Database) {
    READERS.with(|readers| readers.borrow_mut().retain(|it| it.1 != database.id));
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::StatementStatus;

    #[test]
    fn a_statement_is_not_prepared_anew_for_another_value() {
        let path = std::env::temp_dir().join(format!("weir-sqlite-connection-{}.db", std::process::id()));
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE a (x INTEGER PRIMARY KEY)").unwrap();
        let reader = Database::new(&path, Tuning::USUAL).open_reader().unwrap();
        let mut statement = reader.prepare("SELECT x FROM a LIMIT ?1").unwrap();
        for limit in 1..10 {
            statement.raw_bind_parameter(1, limit).unwrap();
            assert!(statement.raw_query().next().unwrap().is_none());
        }
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
        assert!(reader.execute("INSERT INTO a VALUES (1)", []).is_err());
        assert!(reader.execute("ATTACH ':memory:' AS other", []).is_err());
        std::fs::remove_file(path).unwrap();
    }
}

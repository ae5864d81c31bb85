//! The one thread that writes: waiting mutations share a transaction, and one fsync.
//!
//! A failing job undoes only itself. Failures are rare, so a group first runs without savepoints: when one of its jobs
//! fails, all is taken back and runs once more, each job in a savepoint of its own, and so do the next groups. Answers
//! leave after the commit: what was answered is durable. When SQLite takes the whole transaction back (interrupted, disk
//! full), the job it happened to gets the error and the others run once more.
//!
//! A sync that fails ends all writing: nobody knows what of the last commit is on the disk, and the system may say of the next
//! sync that it succeeded though it wrote nothing of what the first one lost. Reads go on; a restart moves what is left of the
//! log into the file before anything else.
//!
//! A file keeps its journal until the first write, which turns it to write-ahead logging.
//!
//! **Invariant:** at most `JOBS_MAX` jobs wait; jobs run in the order they came. Where the tables have a version, no job runs
//! over another one than it was made for, whoever changed it.
//!
//! **Cost:** no timer; an idle writer commits a single job at once, a busy one up to `GROUP_MAX` together, with those that
//! came while the first of them were done. A savepoint is two statements and a copy of each page its job changes.

use crate::connection::{Watch, enable_log};
use crate::error::{Error, is_sync_failure};
use crate::index_maintenance::IndexMaintenance;
use crate::session_row::{SessionRow, WriterSession};
use rusqlite::Connection;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use weir_relational::dialect::store::SideIndex;

/// Maximum length of the queue.
const JOBS_MAX: usize = 4096;
/// Maximum number of jobs per transaction.
const GROUP_MAX: usize = 256;
/// Number of groups after a failure in which each job has a savepoint from the start.
const CAREFUL_GROUPS: u32 = 32;

/// The handle of the writer's thread, which ends with it.
#[derive(Debug)]
pub struct Writer {
    queue: Arc<Queue>,
    index_maintenance: Arc<IndexMaintenance>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    filled: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Box<dyn Job>>,
    /// Requests for the version of the data.
    looks: Vec<oneshot::Sender<i64>>,
    closed: bool,
    /// The writer sleeps and has not been woken.
    asleep: bool,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Queue")
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// At most `count` jobs that wait.
    fn take_jobs(&self, count: usize) -> Vec<Box<dyn Job>> {
        let mut state = self.lock();
        let count = state.jobs.len().min(count);
        state.jobs.drain(..count).collect()
    }

    /// The next input; `None` when the writer is gone and all is done.
    fn next(&self) -> Option<WriterInput> {
        let mut state = self.lock();
        loop {
            if !state.looks.is_empty() {
                return Some(WriterInput::Looks(std::mem::take(&mut state.looks)));
            }
            if !state.jobs.is_empty() {
                let count = state.jobs.len().min(GROUP_MAX);
                return Some(WriterInput::Group(state.jobs.drain(..count).collect()));
            }
            if state.closed {
                return None;
            }
            state.asleep = true;
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

enum WriterInput {
    /// Requests for the version of the data, answered between transactions.
    Looks(Vec<oneshot::Sender<i64>>),
    /// Jobs, at least one.
    Group(Vec<Box<dyn Job>>),
}

/// Work that waits for its transaction.
trait Job: Send {
    /// Does the work; `false` if it failed and has to be undone.
    fn run(&mut self, connection: &Connection) -> bool;
    /// The session that triggers see while it runs.
    fn session(&self) -> Option<&dyn WriterSession>;
    /// Forgets the result of an earlier run, because it was rolled back.
    fn forget(&mut self);
    /// When it is no longer worth doing.
    fn deadline(&self) -> Instant;
    /// True if a request waits for the answer.
    fn is_awaited(&self) -> bool;
    /// Answers with the result of the work, or with the error why it is not committed.
    fn answer(self: Box<Self>, instead: Option<Error>);
}

struct Work<T, E, S, W, F> {
    session: Option<S>,
    work: W,
    /// The caller's form of a failure.
    failed: F,
    result: Option<Result<T, E>>,
    sender: oneshot::Sender<Result<T, E>>,
    deadline: Instant,
}

impl<T, E, S, W, F> Job for Work<T, E, S, W, F>
where
    T: Send,
    E: Send,
    S: WriterSession + Send,
    W: FnMut(&Connection) -> Result<T, E> + Send,
    F: Fn(Error) -> E + Send,
{
    fn run(&mut self, connection: &Connection) -> bool {
        let work = std::panic::AssertUnwindSafe(|| (self.work)(connection));
        let result = std::panic::catch_unwind(work)
            .unwrap_or_else(|_| Err((self.failed)(Error::Broken("a mutation panicked"))));
        let ok = result.is_ok();
        self.result = Some(result);
        ok
    }

    fn session(&self) -> Option<&dyn WriterSession> {
        self.session.as_ref().map(|it| it as &dyn WriterSession)
    }

    fn forget(&mut self) {
        self.result = None;
    }

    fn deadline(&self) -> Instant {
        self.deadline
    }

    fn is_awaited(&self) -> bool {
        !self.sender.is_closed()
    }

    fn answer(self: Box<Self>, instead: Option<Error>) {
        let result = match (instead, self.result) {
            (None, Some(result)) | (Some(_), Some(result @ Err(_))) => result,
            (Some(error), _) => Err((self.failed)(error)),
            (None, None) => Err((self.failed)(Error::Timeout)),
        };
        // Nobody waiting is no failure: the request was cancelled after its work was done.
        let _ = self.sender.send(result);
    }
}

impl Writer {
    /// Starts the thread that writes through `connection`; with indexes to keep, even none, only while the tables have the
    /// version (SQLite's `user_version`) that they have now. No job works longer than `statement_max`.
    pub fn new(
        name: &str,
        mut connection: Connection,
        statement_max: Duration,
        kept: Option<&[SideIndex]>,
    ) -> std::io::Result<Self> {
        let queue = Arc::new(Queue::default());
        let index_maintenance = IndexMaintenance::new(&mut connection, kept.unwrap_or_default())
            .map_err(std::io::Error::other)?;
        let watch = Watch::attach(&mut connection, statement_max).map_err(std::io::Error::other)?;
        let version = kept.map(|_| version(&connection)).transpose().map_err(std::io::Error::other)?;
        let waiting = Arc::clone(&queue);
        let mut committer = Committer::new(connection, watch, &queue, &index_maintenance, version);
        std::thread::Builder::new().name(format!("sql-{name}-writer")).spawn(move || {
            while let Some(next) = waiting.next() {
                match next {
                    WriterInput::Looks(looks) => committer.look(looks),
                    WriterInput::Group(group) => committer.commit(group),
                }
            }
        })?;
        Ok(Self { queue, index_maintenance })
    }

    /// Jobs that wait for their turn.
    pub fn jobs_waiting(&self) -> usize {
        self.queue.lock().jobs.len()
    }

    pub fn index_maintenance(&self) -> &Arc<IndexMaintenance> {
        &self.index_maintenance
    }

    /// The version of the data, which each commit of another connection changes and none of the writer's own does; `None`: the writer is
    /// gone, or the file cannot be read.
    ///
    /// Source: SQLite, `PRAGMA data_version`.
    pub async fn data_version(&self) -> Option<i64> {
        let (sender, receiver) = oneshot::channel();
        let wakes = {
            let mut state = self.queue.lock();
            state.looks.push(sender);
            std::mem::take(&mut state.asleep)
        };
        if wakes {
            self.queue.filled.notify_one();
        }
        receiver.await.ok()
    }

    /// Does `work` in a transaction and answers when it is durable. `work` may run more than once, never twice to
    /// effect; its error undoes what it did. Triggers see `session` meanwhile, as [`SessionRow`] says. `failed` turns a failure of the writer into the caller's error.
    pub fn submit<T: Send + 'static, E: Send + 'static>(
        &self,
        deadline: Instant,
        session: Option<impl WriterSession + Send + 'static>,
        failed: impl Fn(Error) -> E + Copy + Send + 'static,
        work: impl FnMut(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Pin<Box<dyn Future<Output = Result<T, E>> + Send>> {
        let (sender, receiver) = oneshot::channel();
        let job = Box::new(Work { session, work, failed, result: None, sender, deadline });
        let mut state = self.queue.lock();
        let full = state.jobs.len() >= JOBS_MAX;
        if !full {
            state.jobs.push_back(job);
        }
        // A busy writer looks by itself; waking costs a call into the kernel.
        let wakes = std::mem::take(&mut state.asleep);
        drop(state);
        if wakes {
            self.queue.filled.notify_one();
        }
        Box::pin(async move {
            if full {
                return Err(failed(Error::Busy));
            }
            receiver.await.unwrap_or_else(|_| Err(failed(Error::Broken("the writer is gone"))))
        })
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.lock().closed = true;
        self.queue.filled.notify_all();
    }
}

fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.raw_execute().map(drop)
}

/// Version of the tables (`user_version`), which each change of them sets.
fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("PRAGMA user_version")?.query_row([], |row| row.get(0))
}

/// The data version as seen by `connection` outside of transactions, see [`Writer::data_version`].
/// # Errors
/// SQLite's.
pub fn data_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
}

/// Outcome of a group's transaction.
enum GroupOutcome {
    /// All jobs succeeded or were rolled back to their savepoints: commit.
    Committable,
    /// A job without a savepoint failed: the whole transaction is rolled back.
    JobFailed,
    /// SQLite rolled back the transaction itself, at the job with this index.
    RolledBackAt(usize),
}

/// The writer's thread's own.
struct Committer {
    connection: Connection,
    watch: Arc<Watch>,
    /// Number of further groups with savepoints from the start.
    careful_groups: u32,
    /// A sync failed.
    is_stopped: bool,
    /// The file was turned to write-ahead logging.
    is_logged: bool,
    /// Versions of the data that this took: it is no change by others.
    log_versions: i64,
    /// The version of the tables that the jobs were made for.
    version: Option<i64>,
    queue: Arc<Queue>,
    index_maintenance: Arc<IndexMaintenance>,
    session_row: SessionRow,
}

impl Committer {
    fn new(
        connection: Connection,
        watch: Arc<Watch>,
        queue: &Arc<Queue>,
        index_maintenance: &Arc<IndexMaintenance>,
        version: Option<i64>,
    ) -> Self {
        let queue = Arc::clone(queue);
        let index_maintenance = Arc::clone(index_maintenance);
        Self {
            connection,
            watch,
            careful_groups: 0,
            is_stopped: false,
            is_logged: false,
            log_versions: 0,
            version,
            queue,
            index_maintenance,
            session_row: SessionRow::default(),
        }
    }

    /// Tells the version of the data.
    fn look(&self, looks: Vec<oneshot::Sender<i64>>) {
        if let Ok(version) = data_version(&self.connection) {
            for look in looks {
                // A receiver that was dropped needs no answer.
                let _ = look.send(version - self.log_versions);
            }
        }
    }

    /// Runs `group` in one transaction and answers all; those that lost it to another's failure run once more.
    fn commit(&mut self, mut group: Vec<Box<dyn Job>>) {
        while !group.is_empty() {
            if self.is_stopped {
                return refuse(group, || Error::Stopped);
            }
            self.watch.set(None, None);
            self.index_maintenance.forget();
            if let Err(error) = self.begin() {
                return refuse(group, || commit_error(&error));
            }
            if self.version.is_some_and(|it| version(&self.connection) != Ok(it)) {
                // Nothing was changed; a failure says that it was taken back already.
                let _ = execute(&self.connection, "ROLLBACK");
                return refuse(group, || Error::Changed);
            }
            match self.run_with_more(&mut group) {
                // The transaction is gone with all that was done in it.
                GroupOutcome::RolledBackAt(culprit) => group.remove(culprit).answer(Some(Error::Timeout)),
                GroupOutcome::JobFailed => {
                    if let Err(error) = execute(&self.connection, "ROLLBACK") {
                        return refuse(group, || commit_error(&error));
                    }
                    if group.len() == 1 {
                        return group.into_iter().for_each(|job| job.answer(None));
                    }
                    self.careful_groups = CAREFUL_GROUPS;
                }
                GroupOutcome::Committable => return self.end(group),
            }
        }
    }

    /// Begins a transaction; before the first one the file gets its log.
    fn begin(&mut self) -> rusqlite::Result<()> {
        if !self.is_logged {
            let before = data_version(&self.connection)?;
            enable_log(&self.connection)?;
            self.log_versions = data_version(&self.connection)? - before;
            self.is_logged = true;
        }
        execute(&self.connection, "BEGIN IMMEDIATE")?;
        self.session_row.begin(&self.connection)
    }

    /// Commits the work of `group` and answers.
    fn end(&mut self, group: Vec<Box<dyn Job>>) {
        self.watch.set(None, None);
        self.careful_groups = self.careful_groups.saturating_sub(1);
        let settled = self.index_maintenance.apply_changes(&self.connection);
        let emptied = self.session_row.fill(&self.connection, None);
        match settled.and(emptied).and_then(|()| execute(&self.connection, "COMMIT")) {
            Ok(()) => group.into_iter().for_each(|job| job.answer(None)),
            Err(error) => {
                // A failed commit is rolled back; an error of the rollback means that it has happened already.
                let _ = execute(&self.connection, "ROLLBACK");
                if group.len() > 1 && is_constraint(&error) {
                    // A job left a deferred constraint violated; if each commits alone, only that job fails.
                    return group.into_iter().for_each(|job| self.commit(vec![job]));
                }
                self.is_stopped = is_sync_failure(&error);
                refuse(group, || commit_error(&error));
            }
        }
    }

    /// Runs all jobs, and those that come meanwhile.
    fn run_with_more(&mut self, group: &mut Vec<Box<dyn Job>>) -> GroupOutcome {
        let mut done = 0;
        loop {
            match self.run_all(group, done) {
                GroupOutcome::Committable => {}
                other @ (GroupOutcome::JobFailed | GroupOutcome::RolledBackAt(_)) => return other,
            }
            done = group.len();
            group.extend(self.queue.take_jobs(GROUP_MAX.saturating_sub(done)));
            if group.len() == done {
                return GroupOutcome::Committable;
            }
        }
    }

    /// Runs the jobs behind the first `done`, where failures are about each in a savepoint.
    fn run_all(&mut self, group: &mut [Box<dyn Job>], done: usize) -> GroupOutcome {
        let connection = &self.connection;
        let watch = &self.watch;
        let careful = self.careful_groups > 0 && group.len() > 1;
        for (at, job) in group.iter_mut().enumerate().skip(done) {
            job.forget();
            if !job.is_awaited() || Instant::now() >= job.deadline() {
                continue;
            }
            let filled = self.session_row.fill(connection, job.session());
            if filled.is_err() || careful && execute(connection, "SAVEPOINT job").is_err() {
                let _ = execute(connection, "ROLLBACK");
                return GroupOutcome::RolledBackAt(at);
            }
            if careful {
                self.index_maintenance.mark();
            }
            watch.extend(job.deadline());
            let ok = job.run(connection);
            watch.set(None, None);
            if connection.is_autocommit() {
                return GroupOutcome::RolledBackAt(at);
            }
            if !careful {
                if ok {
                    continue;
                }
                return GroupOutcome::JobFailed;
            }
            if !ok {
                self.careful_groups = CAREFUL_GROUPS;
                self.index_maintenance.undo();
            }
            let undone = ok || execute(connection, "ROLLBACK TO job").is_ok();
            if !undone || execute(connection, "RELEASE job").is_err() {
                let _ = execute(connection, "ROLLBACK");
                return GroupOutcome::RolledBackAt(at);
            }
        }
        GroupOutcome::Committable
    }
}

fn is_constraint(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
}

/// The error of a transaction that was not committed.
fn commit_error(error: &rusqlite::Error) -> Error {
    if is_sync_failure(error) {
        tracing::error!(%error, "the disk did not confirm a commit: nothing more is written until the database is opened anew");
        return Error::Unconfirmed;
    }
    Error::Sqlite(match error {
        rusqlite::Error::SqliteFailure(cause, words) => rusqlite::Error::SqliteFailure(*cause, words.clone()),
        _ => rusqlite::Error::InvalidQuery,
    })
}

fn refuse(group: Vec<Box<dyn Job>>, why: impl Fn() -> Error) {
    group.into_iter().for_each(|job| job.answer(Some(why())));
}

#[cfg(test)]
mod tests;

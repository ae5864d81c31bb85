//! Streams of the changes that a database tells by logical decoding: one connection per database and process, whoever listens.
//!
//! A thread per database runs `session` after session while there are watchers: a session makes publication and slot, and tells commits
//! (`streamed_commits`) when reads see them (`visibility`). What ends a session is told as a state, so that watchers poll until the next one runs.
//!
//! **Invariant:** between two states [`StreamState::Told`] and [`StreamState::Down`] every change of the told tables is told; what came before
//! the first may not have been.
//!
//! **Cost:** nothing without watchers; with them a thread and two connections per database.

mod obstacle;
mod pgoutput;
mod stream_connection;
mod stream_session;
mod streamed_commits;
mod streamed_tables;
mod visibility;

pub use streamed_commits::{Commit, KeyTexts, TableChange};
pub use streamed_tables::ToldTable;

use crate::address::{Limits, Settings};
use crate::connect::dial::Kind;
use crate::error::Error;
use crate::lanes::lane_queue::add_jitter;
use crate::pool::Pool;
use crate::protocol::facts::Facts;
use crate::protocol::rows::Rows;
use crate::protocol::statement::{Format, Parameters, Statement};
use hashbrown::HashMap;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use stream_connection::StreamConnection;
use stream_session::SessionEnd;
use streamed_tables::{HEIRS, RELATIONS, Tables, TextRows};
use tokio::sync::{Notify, broadcast, watch};
use weir_relational::catalog::postgres_types::oid;

/// Maximum number of commits queued for a watcher; beyond it, the watcher learns that anything may have changed.
const COMMITS_MAX: usize = 1024;
/// A stream without watchers goes on for so long: subscribers come again after a reload.
const LINGER: Duration = Duration::from_secs(2);
/// First pause after a session that broke; the next ones double.
const PAUSE: Duration = Duration::from_millis(250);
/// Longest pause, and the one after an obstacle.
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// First pause after a restart of a session; it doubles while sessions end within [`RETOLD_SOON`].
const RETOLD_PAUSE: Duration = Duration::from_millis(100);
/// A session that lasts longer restarts after the first pause.
const RETOLD_SOON: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableName {
    /// Schema of the table.
    pub schema: String,
    /// Name within the schema.
    pub name: String,
}

/// State of a stream of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamState {
    /// The stream may miss changes.
    Down,
    /// The stream reports all changes of these tables.
    Told(Arc<BTreeSet<TableName>>),
}

/// News of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeEvent {
    /// The stream started, ended or restarted: anything may have changed before.
    State(StreamState),
    /// Reads see a commit.
    Commit(Arc<Commit>),
}

/// Streams by the address of their database, and threads that run.
#[derive(Default)]
struct Streams {
    by_address: Mutex<HashMap<String, Arc<SharedStream>>>,
    ended: Condvar,
}

static STREAMS: LazyLock<Streams> = LazyLock::new(Streams::default);

impl Streams {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<SharedStream>>> {
        self.by_address.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream, shared by its thread and its watchers.
#[derive(Debug)]
struct SharedStream {
    database: String,
    watchers: Mutex<Watchers>,
    /// Wakes the thread when the watchers are others.
    changed: Notify,
    state: watch::Sender<StreamState>,
    commits: broadcast::Sender<Arc<Commit>>,
    /// Last messages to operators: about the stream, and about tables that are left out.
    said: Mutex<[Option<String>; 2]>,
    commits_told: AtomicU64,
}

/// The watchers of a stream, with the tables that each wants.
#[derive(Debug)]
struct Watchers {
    /// Settings of the latest watcher: a reload may bring another password.
    settings: Arc<Settings>,
    wanted: Vec<(u64, Arc<BTreeSet<TableName>>)>,
    next: u64,
    /// The process ends.
    is_over: bool,
}

/// Tables and settings of a session.
struct SessionTask {
    settings: Arc<Settings>,
    wanted: BTreeSet<TableName>,
}

/// Why a session is to end.
enum Turn {
    /// Nobody watches.
    Unwanted,
    /// Somebody wants other tables, or brought other settings.
    Retold,
}

/// A watcher of a stream.
#[derive(Debug)]
pub struct Watcher {
    stream: Arc<SharedStream>,
    id: u64,
    state: watch::Receiver<StreamState>,
    commits: broadcast::Receiver<Arc<Commit>>,
}

/// Watches the changes of `tables`. The stream begins with its first watcher.
pub fn watch(settings: &Settings, tables: BTreeSet<TableName>) -> Watcher {
    let address = format!("{:?} {} {}", settings.hosts, settings.user, settings.database);
    let settings = of_stream(settings);
    let mut streams = STREAMS.lock();
    if let Some(stream) = streams.get(&address) {
        stream.take_settings(settings);
        return Watcher::of(stream, tables);
    }
    let stream = Arc::new(SharedStream::new(settings));
    let watcher = Watcher::of(&stream, tables);
    streams.insert(address.clone(), Arc::clone(&stream));
    // The task of a thread that does not start is dropped here, which takes the stream out of the list.
    drop(streams);
    let of_thread = StreamThread { address, stream: Arc::clone(&stream) };
    let thread = std::thread::Builder::new().name("weir-changes".into());
    if let Err(error) = thread.spawn(move || of_thread.run()) {
        stream.note_ended(&format!("no thread can be started: {error}"));
    }
    watcher
}

/// Settings of a stream without those that only requests use, so that sources which differ only there share a stream.
fn of_stream(settings: &Settings) -> Settings {
    Settings {
        limits: Limits::DEFAULT,
        replicas: Vec::new(),
        replica_lag_max: Duration::ZERO,
        stale_reads_max: Duration::ZERO,
        follower_reads: &[],
        batch_mutations: false,
        ..settings.clone()
    }
}

/// Ends all streams of the process, and waits until `deadline` for the database to drop them.
pub fn end_all(deadline: Instant) {
    let mut streams = STREAMS.lock();
    for stream in streams.values() {
        stream.watchers().is_over = true;
        stream.changed.notify_one();
    }
    while !streams.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        streams = STREAMS.ended.wait_timeout(streams, left).unwrap_or_else(PoisonError::into_inner).0;
    }
}

impl Watcher {
    fn of(stream: &Arc<SharedStream>, tables: BTreeSet<TableName>) -> Self {
        let mut state = stream.state.subscribe();
        let commits = stream.commits.subscribe();
        state.mark_changed();
        let mut watchers = stream.watchers();
        let id = watchers.next;
        watchers.next += 1;
        watchers.wanted.push((id, Arc::new(tables)));
        drop(watchers);
        stream.changed.notify_one();
        Self { stream: Arc::clone(stream), id, state, commits }
    }

    /// The next news; first the state of the stream. Cancelled, it loses nothing.
    pub async fn next(&mut self) -> ChangeEvent {
        tokio::select! {
            biased;
            Ok(()) = self.state.changed() => ChangeEvent::State(self.state.borrow_and_update().clone()),
            commit = self.commits.recv() => ChangeEvent::Commit(commit.unwrap_or_else(|_| {
                Arc::new(Commit { changes: Vec::new(), is_unknown: true })
            })),
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.stream.watchers().wanted.retain(|it| it.0 != self.id);
        self.stream.changed.notify_one();
    }
}

impl SharedStream {
    fn new(settings: Settings) -> Self {
        let database = settings.database.clone();
        let watchers = Watchers { settings: Arc::new(settings), wanted: Vec::new(), next: 0, is_over: false };
        Self {
            database,
            watchers: Mutex::new(watchers),
            changed: Notify::new(),
            state: watch::Sender::new(StreamState::Down),
            commits: broadcast::Sender::new(COMMITS_MAX),
            said: Mutex::default(),
            commits_told: AtomicU64::new(0),
        }
    }

    /// Takes the settings of a new watcher for those of the next session, and ends one that has others.
    fn take_settings(&self, settings: Settings) {
        let mut watchers = self.watchers();
        if *watchers.settings != settings {
            watchers.settings = Arc::new(settings);
        }
        drop(watchers);
        self.changed.notify_one();
    }

    fn watchers(&self) -> MutexGuard<'_, Watchers> {
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tables that some watcher wants, with the newest settings.
    fn task(&self) -> SessionTask {
        let watchers = self.watchers();
        let wanted = watchers.wanted.iter().flat_map(|it| it.1.iter().cloned()).collect();
        SessionTask { settings: Arc::clone(&watchers.settings), wanted }
    }

    fn set_state(&self, state: StreamState) {
        if matches!(state, StreamState::Told(_)) {
            self.report_to_operators(0, None);
        }
        self.state.send_replace(state);
    }

    fn send_commit(&self, commit: Arc<Commit>) {
        self.commits_told.fetch_add(1, Ordering::Relaxed);
        // Nobody may listen just now.
        let _ = self.commits.send(commit);
    }

    /// Waits until a session with this task is to end.
    async fn turn(&self, task: &SessionTask) -> Turn {
        loop {
            let (is_over, is_unwatched, is_other) = {
                let watchers = self.watchers();
                let mut wanted = watchers.wanted.iter().flat_map(|it| it.1.iter());
                let is_other = !Arc::ptr_eq(&watchers.settings, &task.settings)
                    || wanted.any(|it| !task.wanted.contains(it));
                (watchers.is_over, watchers.wanted.is_empty(), is_other)
            };
            if is_over {
                return Turn::Unwanted;
            }
            if !is_unwatched && is_other {
                return Turn::Retold;
            }
            let linger = async {
                if is_unwatched { tokio::time::sleep(LINGER).await } else { std::future::pending().await }
            };
            tokio::select! {
                () = self.changed.notified() => {}
                () = linger => return Turn::Unwanted,
            }
        }
    }

    /// Says `words` to operators, unless they were said last; true if they are new.
    fn report_to_operators(&self, place: usize, words: Option<String>) -> bool {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = said[place] != words;
        said[place] = words;
        is_new
    }

    fn note_ended(&self, cause: &str) {
        if self.report_to_operators(0, Some(cause.to_owned())) {
            let database = &self.database;
            tracing::warn!(
                database,
                cause,
                "changes are not told by the database: subscriptions read it at intervals"
            );
        }
    }

    fn note_left_out(&self, tables: Option<String>) {
        let database = &self.database;
        if self.report_to_operators(1, tables.clone()) {
            match tables {
                Some(tables) => {
                    tracing::warn!(database, tables, "subscriptions to some tables read them at intervals");
                }
                None => tracing::info!(database, "all changes are told by the database"),
            }
        }
    }
}

/// Runs in the thread of a stream, and cleans up however that ends.
struct StreamThread {
    address: String,
    stream: Arc<SharedStream>,
}

impl Drop for StreamThread {
    fn drop(&mut self) {
        self.stream.set_state(StreamState::Down);
        if std::thread::panicking() {
            self.stream.note_ended("its thread panicked");
        }
        let mut streams = STREAMS.lock();
        // Another stream may have taken the place.
        if streams.get(&self.address).is_some_and(|it| Arc::ptr_eq(it, &self.stream)) {
            streams.remove(&self.address);
        }
        drop(streams);
        STREAMS.ended.notify_all();
    }
}

impl StreamThread {
    fn run(&self) {
        match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime.block_on(self.sessions()),
            Err(error) => self.stream.note_ended(&error.to_string()),
        }
    }

    /// Runs sessions while there are watchers, and takes the stream out of the list when there are none.
    async fn sessions(&self) {
        let stream = &self.stream;
        let mut retold = Pauses::new(RETOLD_PAUSE, RETOLD_SOON);
        let mut broken = Pauses::new(PAUSE, PAUSE_MAX);
        loop {
            let begun = Instant::now();
            let pause = match stream_session::run(stream).await {
                SessionEnd::Retold => retold.next_after(begun.elapsed()),
                SessionEnd::Unwanted => {
                    let mut streams = STREAMS.lock();
                    let watchers = stream.watchers();
                    if watchers.is_over || watchers.wanted.is_empty() {
                        streams.remove(&self.address);
                        return;
                    }
                    continue;
                }
                SessionEnd::Obstacle(cause) => {
                    stream.note_ended(&cause);
                    PAUSE_MAX
                }
                SessionEnd::Broken(cause) => {
                    stream.note_ended(&cause);
                    broken.next_after(begun.elapsed())
                }
            };
            let task = stream.task();
            tokio::select! {
                () = tokio::time::sleep(add_jitter(pause)) => {}
                // Restart at once: other tables or settings may have no obstacle.
                _ = stream.turn(&task) => {}
            }
        }
    }
}

/// Pauses between sessions: they double while sessions end soon.
struct Pauses {
    first: Duration,
    /// A session that lasted longer did not end soon.
    soon: Duration,
    next: Duration,
}

impl Pauses {
    fn new(first: Duration, soon: Duration) -> Self {
        Self { first, soon, next: first }
    }

    /// The pause after a session that lasted so long.
    fn next_after(&mut self, lasted: Duration) -> Duration {
        let pause = if lasted > self.soon { self.first } else { self.next };
        self.next = (pause * 2).min(PAUSE_MAX);
        pause
    }
}

/// Ability of a server to report changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prospect {
    /// All changes of the tables.
    Everything,
    /// All but those of some tables, with the reasons.
    Except(String),
    /// The server reports nothing, for this reason, with a remedy for operators.
    Nothing(String),
    /// Nothing, whatever an operator does.
    Never(String),
}

/// Finds out which changes of `tables` the server of `pool` can report.
/// # Errors
/// The database cannot be reached, or lacks these catalogs.
pub async fn prospect(
    settings: &Settings,
    pool: &Pool,
    facts: Facts,
    tables: &BTreeSet<TableName>,
    deadline: Instant,
) -> Result<Prospect, Error> {
    if let Some(reason) = obstacle::of_product(facts) {
        return Ok(Prospect::Never(reason));
    }
    if let Some(obstacle) = obstacle::of_server(facts) {
        return Ok(Prospect::Nothing(obstacle));
    }
    let capabilities = texts(&ask(pool, obstacle::CAPABILITIES, 4, deadline).await?);
    if let Some(obstacle) = obstacle::obstacle(settings, facts, &capabilities) {
        return Ok(Prospect::Nothing(obstacle));
    }
    if let Err(error) = try_replication(settings, deadline).await {
        let settings = of_stream(settings);
        let named = tokio::time::timeout_at(deadline.into(), pooler_name(&settings)).await.ok().flatten();
        return Ok(Prospect::Nothing(obstacle::of_refusal(&error, facts, named.as_deref())));
    }
    let relations = texts(&ask(pool, RELATIONS, 5, deadline).await?);
    let heirs = texts(&ask(pool, HEIRS, 2, deadline).await?);
    let tables = Tables::read(&relations, &heirs, tables);
    Ok(match tables.left_out_words() {
        None => Prospect::Everything,
        Some(words) if tables.told.is_empty() => Prospect::Nothing(words),
        Some(words) => Prospect::Except(words),
    })
}

/// Makes a connection for replication, and ends it.
async fn try_replication(settings: &Settings, deadline: Instant) -> Result<(), Error> {
    let tried = async {
        let mut stream = StreamConnection::open(&of_stream(settings), Kind::Replication).await?;
        stream.rows("IDENTIFY_SYSTEM").await.map(drop)
    };
    tokio::time::timeout_at(deadline.into(), tried).await.unwrap_or(Err(Error::Timeout))
}

/// Product of a pooler before the server of `settings`, if it shows.
pub(crate) async fn pooler_name(settings: &Settings) -> Option<String> {
    let pgpool = async {
        let mut side = StreamConnection::open(settings, Kind::Session).await.ok()?;
        let rows = side.rows("SHOW pool_version").await.ok()?;
        Some(format!("Pgpool-II {}", rows.first()?.first()?.as_deref()?))
    };
    if let Some(name) = pgpool.await {
        return Some(name);
    }
    // PgBouncer passes on the startup parameters that it knows alone.
    let settings = Settings { options: Some("-c weir.tried=1".into()), ..settings.clone() };
    let refused = StreamConnection::open(&settings, Kind::Session).await.err()?;
    refused.to_string().contains("unsupported startup parameter").then(|| "PgBouncer".into())
}

async fn ask(pool: &Pool, sql: &str, columns: usize, deadline: Instant) -> Result<Rows, Error> {
    let statement = Statement::new(sql, [], vec![Format::Text; columns], vec![oid::TEXT; columns], None);
    pool.read(&statement, Parameters::new(), deadline).await
}

fn texts(rows: &Rows) -> TextRows {
    let text = |it: Option<&[u8]>| it.map(|it| String::from_utf8_lossy(it).into_owned());
    rows.iter().map(|row| row.columns().map(text).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_that_end_soon_begin_after_growing_pauses() {
        let mut pauses = Pauses::new(RETOLD_PAUSE, RETOLD_SOON);
        let mut after = |seconds| pauses.next_after(Duration::from_secs(seconds)).as_millis();
        assert_eq!([2, 2, 2, 11, 2].map(&mut after), [100, 200, 400, 100, 200]);
        assert_eq!((0..20).map(|_| after(2)).last(), Some(PAUSE_MAX.as_millis()));
    }

    #[test]
    fn a_thread_that_panics_leaves_no_stream_that_seems_to_tell() {
        let settings = Settings::parse("postgres://ada@h/panics", |_| None).unwrap();
        let stream = Arc::new(SharedStream::new(settings));
        stream.set_state(StreamState::Told(Arc::default()));
        STREAMS.lock().insert("panics".into(), Arc::clone(&stream));
        let of_thread = StreamThread { address: "panics".into(), stream: Arc::clone(&stream) };
        let thread = std::thread::spawn(move || {
            let _of_thread = of_thread;
            panic!("as a test");
        });
        assert!(thread.join().is_err());
        assert_eq!(*stream.state.borrow(), StreamState::Down);
        assert!(!STREAMS.lock().contains_key("panics"));
    }
}

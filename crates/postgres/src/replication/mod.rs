//! Streams of the changes that a database tells by logical decoding: one connection per database and process, whoever listens.
//!
//! A thread per database runs [`session`] after session while there are watchers: a session makes publication and slot, and tells commits
//! ([`transaction`]) when reads see them ([`visibility`]). What ends a session is told as a state, so that watchers poll until the next one runs.
//!
//! **Invariant:** between two states [`StreamState::Told`] and [`StreamState::Down`] every change of the told tables is told; what came before
//! the first may not have been.
//!
//! **Cost:** nothing without watchers; with them a thread and two connections per database.

mod connection;
mod obstacle;
mod pgoutput;
mod session;
mod tables;
mod transaction;
mod visibility;

pub use tables::ToldTable;
pub use transaction::{Commit, KeyTexts, TableChange};

use crate::address::Settings;
use crate::connection::Facts;
use crate::error::Error;
use crate::pipelined_connection::jittered;
use crate::pool::Pool;
use crate::rows::Rows;
use crate::statement::{Format, Parameters, Statement};
use hashbrown::HashMap;
use session::SessionEnd;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tables::{HEIRS, RELATIONS, Tables, TextRows};
use tokio::sync::{Notify, broadcast, watch};
use weir_relational::catalog::postgres_types::oid;

/// Commits that wait for a watcher; of more, it is told that anything may have changed.
const COMMITS_MAX: usize = 1024;
/// A stream without watchers goes on for so long: subscribers come again after a reload.
const LINGER: Duration = Duration::from_secs(2);
/// First pause after a session that broke; the next ones double.
const PAUSE: Duration = Duration::from_millis(250);
/// Longest pause, and the one after an obstacle.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// A table by its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableName {
    /// Its schema.
    pub schema: String,
    /// Its name in the schema.
    pub name: String,
}

/// Whether a stream tells changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamState {
    /// It may miss any.
    Down,
    /// It tells all changes of these tables.
    Told(Arc<BTreeSet<TableName>>),
}

/// What a stream tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeEvent {
    /// The stream began, ended, or began anew: anything may have changed before.
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
    settings: Settings,
    watchers: Mutex<Watchers>,
    /// Wakes the thread when the watchers are others.
    changed: Notify,
    state: watch::Sender<StreamState>,
    commits: broadcast::Sender<Arc<Commit>>,
    /// Said to operators last, of the stream and of tables that are left out.
    said: Mutex<[Option<String>; 2]>,
    commits_told: AtomicU64,
}

/// The watchers of a stream, with the tables that each wants.
#[derive(Debug, Default)]
struct Watchers {
    wanted: Vec<(u64, Arc<BTreeSet<TableName>>)>,
    next: u64,
    /// The process ends.
    is_over: bool,
}

/// Why a session is to end.
enum Turn {
    /// Nobody watches.
    Unwanted,
    /// Somebody wants other tables.
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
#[must_use]
pub fn watch(settings: &Settings, tables: BTreeSet<TableName>) -> Watcher {
    let address = format!("{:?} {} {}", settings.hosts, settings.user, settings.database);
    let mut streams = STREAMS.lock();
    if let Some(stream) = streams.get(&address) {
        return Watcher::of(stream, tables);
    }
    let mut settings = settings.clone();
    settings.replicas.clear();
    let stream = Arc::new(SharedStream {
        settings,
        watchers: Mutex::default(),
        changed: Notify::new(),
        state: watch::Sender::new(StreamState::Down),
        commits: broadcast::Sender::new(COMMITS_MAX),
        said: Mutex::default(),
        commits_told: AtomicU64::new(0),
    });
    let watcher = Watcher::of(&stream, tables);
    let of_thread = (address.clone(), Arc::clone(&stream));
    let thread = std::thread::Builder::new().name("weir-changes".into());
    match thread.spawn(move || run(&of_thread.0, &of_thread.1)) {
        Ok(_) => drop(streams.insert(address, stream)),
        Err(error) => stream.note_ended(&format!("no thread can be started: {error}")),
    }
    watcher
}

/// Ends all streams of the process, and waits until `deadline` for the database to be rid of them.
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
        let (mut state, commits) = (stream.state.subscribe(), stream.commits.subscribe());
        state.mark_changed();
        let mut watchers = stream.watchers();
        let id = watchers.next;
        watchers.next += 1;
        watchers.wanted.push((id, Arc::new(tables)));
        drop(watchers);
        stream.changed.notify_one();
        Self { stream: Arc::clone(stream), id, state, commits }
    }

    /// What is told next; first the state of the stream. Cancelled, it loses nothing.
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
    fn watchers(&self) -> MutexGuard<'_, Watchers> {
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tables that some watcher wants.
    fn wanted(&self) -> BTreeSet<TableName> {
        self.watchers().wanted.iter().flat_map(|it| it.1.iter().cloned()).collect()
    }

    fn set_state(&self, state: StreamState) {
        if matches!(state, StreamState::Told(_)) {
            self.say(0, None);
        }
        self.state.send_replace(state);
    }

    fn tell(&self, commit: Arc<Commit>) {
        self.commits_told.fetch_add(1, Ordering::Relaxed);
        // Nobody may listen just now.
        let _ = self.commits.send(commit);
    }

    /// Waits until a session that tells `served` is to end.
    async fn turn(&self, served: &BTreeSet<TableName>) -> Turn {
        loop {
            let (is_over, is_unwatched) = {
                let watchers = self.watchers();
                (watchers.is_over, watchers.wanted.is_empty())
            };
            if is_over {
                return Turn::Unwanted;
            }
            if !is_unwatched && !self.wanted().is_subset(served) {
                return Turn::Retold;
            }
            let linger = async {
                match is_unwatched {
                    true => tokio::time::sleep(LINGER).await,
                    false => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.changed.notified() => {}
                () = linger => return Turn::Unwanted,
            }
        }
    }

    /// Says `words` to operators, unless they were said last; true if they are new.
    fn say(&self, place: usize, words: Option<String>) -> bool {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = said[place] != words;
        said[place] = words;
        is_new
    }

    fn note_ended(&self, cause: &str) {
        if self.say(0, Some(cause.to_owned())) {
            let database = &self.settings.database;
            tracing::warn!(
                database,
                cause,
                "changes are not told by the database: subscriptions read it at intervals"
            );
        }
    }

    fn note_left_out(&self, tables: Option<String>) {
        let database = &self.settings.database;
        if self.say(1, tables.clone()) {
            match tables {
                Some(tables) => {
                    tracing::warn!(database, tables, "subscriptions to some tables read them at intervals");
                }
                None => tracing::info!(database, "all changes are told by the database"),
            }
        }
    }
}

/// The thread of a stream.
fn run(address: &str, stream: &Arc<SharedStream>) {
    match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(sessions(address, stream)),
        Err(error) => {
            stream.note_ended(&error.to_string());
            STREAMS.lock().remove(address);
        }
    }
    STREAMS.ended.notify_all();
}

/// Runs sessions while there are watchers, and takes the stream out of the list when there are none.
async fn sessions(address: &str, stream: &Arc<SharedStream>) {
    let mut pause = PAUSE;
    loop {
        let begun = Instant::now();
        let cause = match session::run(stream).await {
            SessionEnd::Retold => continue,
            SessionEnd::Unwanted => {
                let mut streams = STREAMS.lock();
                let watchers = stream.watchers();
                if watchers.is_over || watchers.wanted.is_empty() {
                    streams.remove(address);
                    return;
                }
                continue;
            }
            SessionEnd::Obstacle(cause) => {
                pause = PAUSE_MAX;
                cause
            }
            SessionEnd::Broken(cause) => {
                pause = if begun.elapsed() > PAUSE_MAX { PAUSE } else { pause };
                cause
            }
        };
        stream.note_ended(&cause);
        let served = stream.wanted();
        tokio::select! {
            () = tokio::time::sleep(jittered(pause)) => pause = (pause * 2).min(PAUSE_MAX),
            // Other tables may have no obstacle; nobody is waited for.
            _ = stream.turn(&served) => {}
        }
    }
}

/// What a server can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prospect {
    /// All changes of the tables.
    Everything,
    /// All but those of some tables, with the reasons.
    Except(String),
    /// Nothing, for this reason, with what an operator can do.
    Nothing(String),
}

/// What the server of `pool` can tell of changes of `tables`.
/// # Errors
/// The database cannot be asked, or has no such catalogs.
pub async fn prospect(
    settings: &Settings,
    (pool, facts): (&Pool, Facts),
    tables: &BTreeSet<TableName>,
    deadline: Instant,
) -> Result<Prospect, Error> {
    if let Some(obstacle) = obstacle::of_server(facts) {
        return Ok(Prospect::Nothing(obstacle));
    }
    let capabilities = texts(&ask(pool, obstacle::CAPABILITIES, 4, deadline).await?);
    if let Some(obstacle) = obstacle::obstacle(settings, facts, &capabilities) {
        return Ok(Prospect::Nothing(obstacle));
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

async fn ask(pool: &Pool, sql: &str, columns: usize, deadline: Instant) -> Result<Rows, Error> {
    let statement = Statement::new(sql, [], vec![Format::Text; columns], vec![oid::TEXT; columns], None);
    pool.read(&statement, Parameters::new(), deadline).await
}

fn texts(rows: &Rows) -> TextRows {
    let text = |it: Option<&[u8]>| it.map(|it| String::from_utf8_lossy(it).into_owned());
    rows.iter().map(|row| row.columns().map(text).collect()).collect()
}

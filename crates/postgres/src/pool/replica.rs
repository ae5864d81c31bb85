//! Replicas that take reads, as long as they are known to be recent.
//!
//! A task asks the primary how far its log goes and each replica how far it has followed. A replica that has followed to
//! where the primary was at some moment knows all that was committed before that moment, and may be read from until the
//! bound on its lag after it: a watch that stops, or a primary that is gone, makes replicas stale by itself.
//!
//! A read that has to see a position of the log goes to a replica that was seen to have replayed it. None is waited for: the primary
//! answers until one has.
//!
//! **Invariant:** no read goes to a replica that may be further behind than the read's bound, or than its position.
//!
//! **Cost:** for a read one look at the clock; nothing where no replicas are named.

use crate::address::{Host, Settings, Target};
use crate::error::Error;
use crate::pool::server::Server;
use crate::protocol::statement::{Format, Parameters, Statement};
use futures_util::future::join_all;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Weak};
use std::time::{Duration, Instant};

/// The ends of the pause between two questions.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(1);

fn position(sql: &str) -> Arc<Statement> {
    Statement::new(sql, [], [Format::Text], [1700], None)
}

/// End of the log, in bytes.
static WRITTEN: LazyLock<Arc<Statement>> =
    LazyLock::new(|| position("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn"));
/// End of the inserted log, in bytes: behind every confirmed commit, also with asynchronous commit.
static INSERTED: LazyLock<Arc<Statement>> =
    LazyLock::new(|| position("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn"));
/// Position of the replay, in bytes; null on a server that follows none.
static REPLAYED: LazyLock<Arc<Statement>> =
    LazyLock::new(|| position("SELECT pg_last_wal_replay_lsn() - '0/0'::pg_lsn"));

/// How recent the server of a read has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadPreference {
    Primary,
    /// A replica within [`crate::address::Settings::replica_lag_max`], else the primary.
    Recent,
    /// A recent replica that has also replayed the primary's log up to here, else the primary.
    Since(u64),
    /// A replica within [`crate::address::Settings::stale_reads_max`], or followers, else the primary.
    Stale,
}

/// The replicas of a primary.
#[derive(Debug)]
pub(crate) struct Replicas {
    primary: Arc<Server>,
    list: Box<[Replica]>,
    lag_max: Duration,
    /// Maximum lag for reads that accept stale rows.
    stale_max: Duration,
    started: Instant,
    /// Index of the next replica, round robin.
    next: AtomicUsize,
    is_watched: AtomicBool,
}

#[derive(Debug)]
struct Replica {
    server: Server,
    /// Milliseconds from `started`: the replica has all commits before then. 0: unknown.
    known_ms: AtomicU64,
    /// Bytes of the log that it was last seen to have replayed.
    replayed: AtomicU64,
}

/// Says, when the watch ends, that there is none.
struct ReplicaPoller(Weak<Replicas>);

impl Drop for ReplicaPoller {
    fn drop(&mut self) {
        if let Some(replicas) = self.0.upgrade() {
            replicas.is_watched.store(false, Ordering::Relaxed);
        }
    }
}

impl Replicas {
    /// `None` if none are named.
    pub(crate) fn new(settings: &Settings, primary: &Arc<Server>) -> Option<Arc<Self>> {
        let replica = |host: &Host| {
            let hosts = vec![host.clone()];
            let settings = Settings { hosts, target: Target::Any, ..settings.clone() };
            Replica {
                server: Server::new(settings),
                known_ms: AtomicU64::new(0),
                replayed: AtomicU64::new(0),
            }
        };
        let list: Box<[Replica]> = settings.replicas.iter().map(replica).collect();
        let lag_max = settings.replica_lag_max;
        let started = Instant::now();
        let stale_max = settings.stale_reads_max.max(lag_max);
        let next = AtomicUsize::new(0);
        let is_watched = AtomicBool::new(false);
        let primary = Arc::clone(primary);
        (!list.is_empty())
            .then(|| Arc::new(Self { primary, list, lag_max, stale_max, started, next, is_watched }))
    }

    /// The next replica that is as recent as `preference` wants it.
    pub(crate) fn pick(self: &Arc<Self>, preference: ReadPreference) -> Option<&Server> {
        let (behind_max, position) = match preference {
            ReadPreference::Primary => return None,
            ReadPreference::Recent => (self.lag_max, 0),
            ReadPreference::Since(position) => (self.lag_max, position),
            ReadPreference::Stale => (self.stale_max, 0),
        };
        if !self.is_watched.swap(true, Ordering::Relaxed) {
            tokio::spawn(ReplicaPoller(Arc::downgrade(self)).run());
        }
        let now = self.millis(Instant::now());
        let behind_max = millis(behind_max);
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        (0..self.list.len())
            .map(|it| &self.list[(first + it) % self.list.len()])
            .find(|it| {
                let known = it.known_ms.load(Ordering::Relaxed);
                known > 0 && now < known + behind_max && position <= it.replayed.load(Ordering::Relaxed)
            })
            .map(|it| &it.server)
    }

    fn millis(&self, at: Instant) -> u64 {
        millis(at.saturating_duration_since(self.started))
    }

    /// Position in the primary's log after all commits so far; `None` if it does not answer.
    pub(crate) async fn position(&self, deadline: Instant) -> Result<Option<u64>, Error> {
        read_position(&self.primary, &INSERTED, deadline).await
    }

    fn pause(&self) -> Duration {
        (self.lag_max / 4).clamp(PAUSE_MIN, PAUSE_MAX)
    }

    /// Asks all once. `written`: where the primary was at moments within the bound.
    async fn look(&self, written: &mut VecDeque<(Instant, u64)>) {
        let now = Instant::now();
        let deadline = now + self.lag_max;
        written.retain(|it| now.duration_since(it.0) < self.stale_max);
        match read_position(&self.primary, &WRITTEN, deadline).await {
            Ok(Some(position)) => written.push_back((now, position)),
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "the primary does not say how far it is"),
        }
        let written = &*written;
        // At once: one that does not answer must not make the others look old.
        let looks = self.list.iter().map(|replica| async move {
            let replayed =
                read_position(&replica.server, &REPLAYED, deadline).await.unwrap_or_else(|error| {
                    tracing::warn!(%error, "a replica does not say how far it is");
                    None
                });
            let known = |it: &&(Instant, u64)| replayed.is_some_and(|replayed| it.1 <= replayed);
            let known = written.iter().rev().find(known).map_or(0, |it| self.millis(it.0).max(1));
            replica.known_ms.store(known, Ordering::Relaxed);
            replica.replayed.store(replayed.unwrap_or(0), Ordering::Relaxed);
        });
        join_all(looks).await;
    }
}

impl ReplicaPoller {
    /// Looks until the pool is gone.
    async fn run(self) {
        let mut written = VecDeque::new();
        while let Some(replicas) = self.0.upgrade() {
            replicas.look(&mut written).await;
            let pause = replicas.pause();
            drop(replicas);
            tokio::time::sleep(pause).await;
        }
    }
}

fn millis(time: Duration) -> u64 {
    // A thousand years: sums of two do not overflow.
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).min(1 << 45)
}

/// A position in the log; `None` for null.
async fn read_position(
    server: &Server,
    question: &Arc<Statement>,
    deadline: Instant,
) -> Result<Option<u64>, Error> {
    let rows = server.read(question, Parameters::new(), deadline).await?;
    let text = rows.iter().next().and_then(|it| it.column(0).flatten());
    Ok(text.and_then(|it| std::str::from_utf8(it).ok()?.parse().ok()))
}

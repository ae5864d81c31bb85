//! The connections of one database: lanes that reads share, sessions for those who need one alone.
//!
//! Nothing is connected before it is needed, so that Weir starts while a database is down.
//!
//! **Invariant:** at most `sessions_max` sessions are open at once; at most `waiting_max` callers wait for one, at most
//! `wait_max` long.
//!
//! **Cost:** a thread keeps to its own lane, so that an answer crosses no thread, unless that lane is stuck.

use super::address::Settings;
use super::connection::Facts;
use super::dial::{Dialer, Kind};
use super::error::Error;
use super::lane::Lane;
use super::replica::Replicas;
use super::rows::Rows;
use super::session::{Purpose, Session, Wire};
use super::statement::{Format, Parameters, Statement};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::Instant;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

static ONE: LazyLock<Arc<Statement>> =
    LazyLock::new(|| Statement::new("SELECT 1", [], [Format::Binary], [23], None));

/// A lane lives in the runtime that asked it first. When that ends, those of others who wait ask again so often.
const RUNTIMES_MAX: usize = 8;

/// A database's connections.
#[derive(Debug)]
pub struct Pool {
    dialer: Arc<Dialer>,
    lanes: Arc<[Lane]>,
    replicas: Option<Arc<Replicas>>,
    sessions: Arc<Sessions>,
}

/// What happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Batches that lanes sent.
    pub batches: u64,
    /// Statements in them, equal and merged ones as one.
    pub statements: u64,
    /// Sessions that wait for use.
    pub sessions_idle: usize,
}

/// The sessions that are not in use.
#[derive(Debug)]
pub(super) struct Sessions {
    pub(super) dialer: Arc<Dialer>,
    idle: Mutex<Vec<(ThreadId, Wire)>>,
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
}

impl Pool {
    /// Connects to nothing yet.
    #[must_use]
    pub fn new(settings: Settings) -> Arc<Self> {
        let dialer = Arc::new(Dialer::new(settings));
        let limits = dialer.settings.limits;
        let lanes = lanes(&dialer);
        let replicas = Replicas::new(&dialer.settings, &lanes);
        let sessions = Arc::new(Sessions {
            dialer: Arc::clone(&dialer),
            idle: Mutex::default(),
            permits: Arc::new(Semaphore::new(limits.sessions_max.max(1))),
            waiting: AtomicUsize::new(0),
        });
        Arc::new(Self { dialer, lanes, replicas, sessions })
    }

    /// Runs one short read together with others, on a replica if there is a recent one.
    ///
    /// # Errors
    /// Of this statement alone: those of its neighbours are theirs.
    pub async fn read(
        &self,
        statement: &Arc<Statement>,
        parameters: Parameters,
        deadline: Instant,
    ) -> Result<Rows, Error> {
        if let Some(recent) = self.replicas.as_ref().and_then(Replicas::recent) {
            match ask(recent, statement, parameters.clone(), deadline).await {
                // It went away, is overrun, or had to end the read to follow the primary.
                Err(Error::Unavailable(_) | Error::Busy) => {}
                Err(error) if error.is_retryable() => {}
                other => return other,
            }
        }
        ask(&self.lanes, statement, parameters, deadline).await
    }

    /// A connection for the caller alone; it comes back when it is dropped.
    ///
    /// # Errors
    /// [`Error::Busy`] if too many wait or it takes too long, [`Error::Unavailable`] if there is no server.
    pub async fn session(&self, purpose: Purpose, deadline: Instant) -> Result<Session, Error> {
        let permit = self.sessions.permit(deadline).await?;
        let wire = match self.sessions.take_idle() {
            Some(wire) => wire,
            None => {
                let settings = &self.dialer.settings;
                let connect = self.dialer.connect(Kind::Session, &settings.hosts, settings.target);
                let connected = tokio::time::timeout_at(deadline.into(), connect).await;
                let (connection, key) = connected.map_err(|_| Error::Timeout)??;
                Wire::new(connection, key)
            }
        };
        Ok(Session::new(wire, Arc::clone(&self.sessions), permit, purpose))
    }

    /// Whether the database answers.
    ///
    /// # Errors
    /// Why not.
    pub async fn ready(&self, deadline: Instant) -> Result<(), Error> {
        self.read(&ONE, Parameters::new(), deadline).await.map(drop)
    }

    /// What the last connection found out; `None` before the first.
    #[must_use]
    pub fn facts(&self) -> Option<Facts> {
        self.dialer.facts()
    }

    /// How it is used.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let sent = self.lanes.iter().map(Lane::sent).fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        Counts { batches: sent.0, statements: sent.1, sessions_idle: self.sessions.idle().len() }
    }
}

/// The connections of one server that reads share.
pub(super) fn lanes(dialer: &Arc<Dialer>) -> Arc<[Lane]> {
    (0..dialer.settings.limits.lanes.max(1)).map(|_| Lane::new(Arc::clone(dialer))).collect()
}

/// Asks by the thread's own lane, or by one that is not stuck.
pub(super) async fn ask(
    lanes: &[Lane],
    statement: &Arc<Statement>,
    parameters: Parameters,
    deadline: Instant,
) -> Result<Rows, Error> {
    let own = &lanes[thread_number() % lanes.len()];
    for _ in 0..RUNTIMES_MAX {
        let lane = match own.is_stuck() {
            true => lanes.iter().find(|it| !it.is_stuck()).unwrap_or(own),
            false => own,
        };
        if let Ok(answer) = lane.submit(statement, parameters.clone(), deadline)?.await {
            return answer;
        }
    }
    Err(Error::unavailable("the runtime of the connection has ended"))
}

impl Sessions {
    fn idle(&self) -> MutexGuard<'_, Vec<(ThreadId, Wire)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn permit(&self, deadline: Instant) -> Result<OwnedSemaphorePermit, Error> {
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return Ok(permit);
        }
        let limits = &self.dialer.settings.limits;
        let _waiting = Waiting::enter(&self.waiting, limits.waiting_max)?;
        let last = deadline.min(Instant::now() + limits.wait_max);
        match tokio::time::timeout_at(last.into(), Arc::clone(&self.permits).acquire_owned()).await {
            Ok(permit) => permit.map_err(Error::unavailable),
            Err(_) if last == deadline => Err(Error::Timeout),
            Err(_) => Err(Error::Busy),
        }
    }

    /// The one of this thread that was used last, else another's; those that broke are dropped.
    fn take_idle(&self) -> Option<Wire> {
        let thread = std::thread::current().id();
        let mut idle = self.idle();
        while !idle.is_empty() {
            let at = idle.iter().rposition(|it| it.0 == thread).unwrap_or(idle.len() - 1);
            let (_, mut wire) = idle.swap_remove(at);
            if wire.connection.is_alive() {
                return Some(wire);
            }
        }
        None
    }

    pub(super) fn put_back(&self, wire: Wire) {
        self.idle().push((std::thread::current().id(), wire));
    }
}

/// One of those who wait, as long as it lives.
struct Waiting<'s>(&'s AtomicUsize);

impl<'s> Waiting<'s> {
    fn enter(count: &'s AtomicUsize, max: usize) -> Result<Self, Error> {
        let waiting = Self(count);
        match count.fetch_add(1, Ordering::Relaxed) < max {
            true => Ok(waiting),
            false => Err(Error::Busy),
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Threads are numbered as they come.
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static NUMBER: usize = NEXT.fetch_add(1, Ordering::Relaxed));
    NUMBER.with(|it| *it)
}

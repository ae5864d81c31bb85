//! The connections of one server: lanes that short reads share, sessions for those who need one alone.
//!
//! **Invariant:** at most `sessions_max` sessions are open at once; at most `waiting_max` callers wait for one, at most
//! `wait_max` long, or for their turn at the same rows.
//!
//! **Cost:** a thread keeps to its own lane, so that an answer crosses no thread, unless that lane is stuck.

use super::address::Settings;
use super::dial::{Dialer, Kind};
use super::error::Error;
use super::lane::Lane;
use super::rows::Rows;
use super::session::{Purpose, Session, Transaction, Wire};
use super::statement::{Parameters, SHORT_MAX, Statement};
use super::turnstile::{Turn, Turnstile};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A lane lives in the runtime that asked it first. When that ends, those of others who wait ask again so often.
const RUNTIMES_MAX: usize = 8;

/// See the module's words.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) lanes: Box<[Lane]>,
    pub(super) sessions: Arc<Sessions>,
    turnstile: Arc<Turnstile>,
}

/// The sessions that are not in use.
#[derive(Debug)]
pub(super) struct Sessions {
    pub(super) dialer: Arc<Dialer>,
    idle: Mutex<Idle>,
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
}

#[derive(Debug, Default)]
struct Idle {
    wires: Vec<Resting>,
    /// A task closes those that rest too long.
    is_watched: bool,
}

/// A session that is not in use.
#[derive(Debug)]
struct Resting {
    since: Instant,
    wire: Wire,
}

impl Server {
    /// Connects to nothing yet.
    pub(super) fn new(settings: Settings) -> Self {
        let dialer = Arc::new(Dialer::new(settings));
        let limits = dialer.settings.limits;
        let lanes = (0..limits.lanes.max(1)).map(|_| Lane::new(Arc::clone(&dialer))).collect();
        let sessions = Arc::new(Sessions {
            dialer,
            idle: Mutex::default(),
            permits: Arc::new(Semaphore::new(limits.sessions_max.max(1))),
            waiting: AtomicUsize::new(0),
        });
        Self { lanes, sessions, turnstile: Turnstile::new() }
    }

    /// Runs a read together with others, by the thread's own lane or by one that is not stuck; alone, if its statement is
    /// slow, which may show while it waits.
    pub(super) async fn read(
        &self,
        statement: &Arc<Statement>,
        parameters: Parameters,
        deadline: Instant,
    ) -> Result<Rows, Error> {
        let own = &self.lanes[thread_number() % self.lanes.len()];
        for _ in 0..RUNTIMES_MAX {
            if statement.is_slow() {
                return Box::pin(self.read_alone(statement, parameters, deadline)).await;
            }
            let lane = match own.is_stuck() {
                true => self.lanes.iter().find(|it| !it.is_stuck()).unwrap_or(own),
                false => own,
            };
            if let Ok(answer) = lane.submit(statement, parameters.clone(), deadline)?.await {
                return answer;
            }
        }
        Err(Error::unavailable("the runtime of the connection has ended"))
    }

    /// Runs a read on a session.
    pub(super) async fn read_alone(
        &self,
        statement: &Arc<Statement>,
        parameters: Parameters,
        deadline: Instant,
    ) -> Result<Rows, Error> {
        let mut session = self.session(Purpose::Read, deadline).await?;
        session.push(statement, &parameters);
        let start = Instant::now();
        let rows = session.flush(deadline).await?.pop().unwrap_or_default();
        statement.ran(start.elapsed() > SHORT_MAX);
        Ok(rows)
    }

    /// Changes something by one statement on a session. `rows` stands for what it touches: of those that have the same, a
    /// few go at a time.
    pub(super) async fn change(
        &self,
        statement: &Arc<Statement>,
        parameters: &Parameters,
        rows: Option<u64>,
        deadline: Instant,
    ) -> Result<Rows, Error> {
        let _turn = match rows {
            Some(rows) => Some(self.turn(rows, deadline).await?),
            None => None,
        };
        let mut session = self.session(Purpose::Write, deadline).await?;
        session.push(statement, parameters);
        Ok(session.flush(deadline).await?.pop().unwrap_or_default())
    }

    async fn turn(&self, rows: u64, deadline: Instant) -> Result<Turn, Error> {
        let comes = match self.turnstile.enter(rows) {
            Ok(turn) => return Ok(turn),
            Err(comes) => comes,
        };
        // As long as it would wait for the row's lock.
        let _waiting =
            Waiting::enter(&self.sessions.waiting, self.sessions.dialer.settings.limits.waiting_max)?;
        match tokio::time::timeout_at(deadline.into(), comes).await {
            Ok(turn) => turn.map_err(Error::unavailable),
            Err(_) => Err(Error::Timeout),
        }
    }

    /// Begins a read on a session, whose rows are taken part by part.
    pub(super) async fn stream(
        &self,
        statement: &Arc<Statement>,
        parameters: &Parameters,
        deadline: Instant,
    ) -> Result<Session, Error> {
        let mut session = self.session(Purpose::Read, deadline).await?;
        session.stream(statement, parameters, deadline).await?;
        Ok(session)
    }

    /// Begins several long reads of one state on a session: what `push` appends, and the answers to it.
    pub(super) async fn snapshot(
        &self,
        push: impl Fn(&mut Session),
        deadline: Instant,
    ) -> Result<(Session, Vec<Rows>), Error> {
        let mut session = self.session(Purpose::Read, deadline).await?;
        session.begin(Transaction::Snapshot);
        session.may_rest();
        push(&mut session);
        let rows = session.flush(deadline).await?;
        Ok((session, rows))
    }

    pub(super) async fn session(&self, purpose: Purpose, deadline: Instant) -> Result<Session, Error> {
        let sessions = &self.sessions;
        let permit = sessions.permit(deadline).await?;
        let wire = match sessions.take_idle() {
            Some(wire) => wire,
            None => {
                let settings = &sessions.dialer.settings;
                let connect =
                    Box::pin(sessions.dialer.connect(Kind::Session, &settings.hosts, settings.target));
                let connected = tokio::time::timeout_at(deadline.into(), connect).await;
                let (connection, key) = connected.map_err(|_| Error::Timeout)??;
                Wire::new(connection, key)
            }
        };
        Ok(Session::new(wire, Arc::clone(sessions), permit, purpose))
    }
}

impl Sessions {
    pub(super) fn idle_count(&self) -> usize {
        self.idle().wires.len()
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
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

    /// The one of this thread that was used last; another's only where no more may be opened, as it ends with that thread's
    /// runtime. Those that broke are dropped.
    fn take_idle(&self) -> Option<Wire> {
        let thread = std::thread::current().id();
        let used = self.dialer.settings.limits.sessions_max.max(1) - self.permits.available_permits();
        let mut idle = self.idle();
        let wires = &mut idle.wires;
        while !wires.is_empty() {
            let own = wires.iter().rposition(|it| it.wire.home == thread);
            let is_full = wires.len() + used > self.dialer.settings.limits.sessions_max;
            let at = own.or_else(|| is_full.then(|| wires.len() - 1))?;
            let mut wire = wires.swap_remove(at).wire;
            if wire.connection.is_alive() {
                return Some(wire);
            }
        }
        None
    }

    pub(super) fn put_back(self: &Arc<Self>, wire: Wire) {
        let resting = Resting { since: Instant::now(), wire };
        let mut idle = self.idle();
        idle.wires.push(resting);
        let (Some(idle_max), false) = (self.dialer.settings.limits.idle_max, idle.is_watched) else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        idle.is_watched = true;
        drop(idle);
        runtime.spawn(Watch { sessions: Arc::downgrade(self), is_over: false }.close_idle(idle_max));
    }

    /// Closes those that rest for `idle_max` or longer; says when to look again, unless none is left.
    fn close_idle(&self, idle_max: Duration) -> Option<Duration> {
        let now = Instant::now();
        let mut idle = self.idle();
        let (over, rest) = idle.wires.drain(..).partition(|it| it.since + idle_max <= now);
        idle.wires = rest;
        let next = idle.wires.iter().map(|it| it.since + idle_max - now).min();
        idle.is_watched = next.is_some();
        drop(idle);
        let _closed: Vec<Resting> = over;
        next
    }
}

/// The task that closes sessions which rest too long; it ends when none is left, or with its runtime.
struct Watch {
    sessions: Weak<Sessions>,
    is_over: bool,
}

impl Watch {
    async fn close_idle(mut self, idle_max: Duration) {
        let mut pause = idle_max;
        loop {
            tokio::time::sleep(pause).await;
            match self.sessions.upgrade().and_then(|it| it.close_idle(idle_max)) {
                Some(next) => pause = next,
                // Another may watch by now.
                None => return self.is_over = true,
            }
        }
    }
}

impl Drop for Watch {
    /// The runtime ended: the next session that comes to rest is watched from elsewhere.
    fn drop(&mut self) {
        if let (Some(sessions), false) = (self.sessions.upgrade(), self.is_over) {
            sessions.idle().is_watched = false;
        }
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

//! The sessions of a server that are not in use, and the leave to have one more.
//!
//! **Invariant:** at most `sessions_max` are open at once; at most `waiting_max` callers wait for one, at most `wait_max` long.

use super::session_wire::Wire;
use crate::address::Limits;
use crate::admission::demand::Demand;
use crate::admission::permit::Permit;
use crate::connect::dial::{Dialer, Kind};
use crate::connect::room;
use crate::error::Error;
use crate::places::{Chance, Places, Rested, Use};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Purposes of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Nothing is changed: a broken connection leaves no doubt.
    Read,
    /// Something may be changed.
    Write,
}

/// The sessions that are not in use.
#[derive(Debug)]
pub struct Sessions {
    pub(crate) dialer: Arc<Dialer>,
    idle: Mutex<Idle>,
    permits: Arc<Semaphore>,
    /// Permits for reads, three quarters of the sessions. The rest is reserved for writes.
    reads: Arc<Semaphore>,
    waiting: AtomicUsize,
    /// Callers that wait for a session.
    pub demand: Demand,
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

impl Sessions {
    /// None is open yet.
    pub(crate) fn new(dialer: Arc<Dialer>) -> Self {
        let sessions_max = dialer.settings.limits.sessions_max;
        Self {
            dialer,
            idle: Mutex::default(),
            permits: Arc::new(Semaphore::new(sessions_max.max(1))),
            reads: Arc::new(Semaphore::new((sessions_max - sessions_max / 4).max(1))),
            waiting: AtomicUsize::new(0),
            demand: Demand::default(),
        }
    }

    /// Limits of the configuration.
    pub fn limits(&self) -> &Limits {
        &self.dialer.settings.limits
    }

    pub(crate) fn idle_count(&self) -> usize {
        self.idle().wires.len()
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) async fn permit(&self, purpose: Purpose, deadline: Instant) -> Result<Permit, Error> {
        let read = match purpose {
            Purpose::Read => Some(self.acquire(&self.reads, deadline).await?),
            Purpose::Write => None,
        };
        Ok(Permit::new(self.acquire(&self.permits, deadline).await?, read))
    }

    async fn acquire(
        &self,
        permits: &Arc<Semaphore>,
        deadline: Instant,
    ) -> Result<OwnedSemaphorePermit, Error> {
        if let Ok(permit) = Arc::clone(permits).try_acquire_owned() {
            return Ok(permit);
        }
        let limits = &self.dialer.settings.limits;
        let _waiting = self.enter_waiting()?;
        let _seeker = self.demand.seek();
        let _recall = self.dialer.helpers.recall();
        let last = deadline.min(Instant::now() + limits.wait_max);
        match tokio::time::timeout_at(last.into(), Arc::clone(permits).acquire_owned()).await {
            Ok(permit) => permit.map_err(Error::unavailable),
            Err(_) if last == deadline => Err(Error::Timeout),
            Err(_) => Err(Error::Busy),
        }
    }

    /// Counts the caller as one who waits, as long as that lives.
    pub(crate) fn enter_waiting(&self) -> Result<Waiting<'_>, Error> {
        Waiting::enter(&self.waiting, self.dialer.settings.limits.waiting_max)
    }

    /// A new connection, or where the server serves no more, a session that comes to rest.
    pub(crate) async fn connect(self: &Arc<Self>, deadline: Instant) -> Result<Wire, Error> {
        loop {
            let seat = match self.dialer.places.enter(Use::Session) {
                Some(seat) => seat,
                None => match self.turn(deadline).await? {
                    Chance::Connect(seat) => seat,
                    Chance::Look(_looking) => match self.take_idle() {
                        Some(wire) => return Ok(wire),
                        None => continue,
                    },
                },
            };
            let connect = room::connect(&self.dialer, Kind::Session, seat);
            let connected = tokio::time::timeout_at(deadline.into(), connect).await;
            if let Some((connection, key)) = connected.map_err(|_| Error::Timeout)?? {
                return Ok(Wire::new(connection, key));
            }
        }
    }

    /// Waits for a place, or for a session that comes to rest.
    async fn turn(self: &Arc<Self>, deadline: Instant) -> Result<Chance, Error> {
        let seeker = self.dialer.places.seek(Use::Session);
        self.probe();
        let _seeker = self.demand.seek();
        let _recall = self.dialer.helpers.recall();
        let last = deadline.min(Instant::now() + self.limits().wait_max);
        match tokio::time::timeout_at(last.into(), seeker.turn()).await {
            Ok(chance) => Ok(chance),
            Err(_) if last == deadline => Err(Error::Timeout),
            Err(_) => Err(Error::Busy),
        }
    }

    /// Tries whether the server serves one connection more by now, from time to time.
    fn probe(self: &Arc<Self>) {
        let places = &self.dialer.places;
        if places.count(Use::Session) >= self.limits().sessions_max {
            return;
        }
        let Some(seat) = places.probe(Use::Session) else { return };
        let sessions = Arc::clone(self);
        tokio::spawn(async move {
            if let Ok(Some((connection, key))) = room::connect(&sessions.dialer, Kind::Session, seat).await {
                sessions.put_back(Wire::new(connection, key));
            }
        });
    }

    /// Leave for a lane to have one of the connections that reads may have. A quarter stays for callers, so that they need not wait
    /// for a lane to be closed.
    pub(crate) fn lend_session(&self) -> Option<Permit> {
        let sessions_max = self.limits().sessions_max;
        let spared = (sessions_max / 4).max(1);
        let is_barred =
            || self.dialer.helpers.is_pausing() || self.dialer.is_single() || self.dialer.places.is_full();
        if self.permits.available_permits() <= spared || self.reads.available_permits() == 0 || is_barred() {
            return None;
        }
        let read = Arc::clone(&self.reads).try_acquire_owned().ok()?;
        let permit = Permit::new(Arc::clone(&self.permits).try_acquire_owned().ok()?, Some(read));
        let used = sessions_max - self.permits.available_permits();
        let mut idle = self.idle();
        // A session that rests gives way.
        let surplus = (idle.wires.len() + used).saturating_sub(sessions_max);
        let _closed: Vec<Resting> = idle.wires.drain(..surplus).collect();
        drop(idle);
        Some(permit)
    }

    /// The one of this thread that was used last; another's only where no more may be opened, as it ends with that thread's
    /// runtime. Those that broke are dropped.
    pub(crate) fn take_idle(&self) -> Option<Wire> {
        let thread = std::thread::current().id();
        let used = self.dialer.settings.limits.sessions_max.max(1) - self.permits.available_permits();
        let mut idle = self.idle();
        let wires = &mut idle.wires;
        while !wires.is_empty() {
            let own = wires.iter().rposition(|it| it.wire.home == thread);
            let is_full =
                wires.len() + used > self.dialer.settings.limits.sessions_max || self.dialer.places.is_full();
            let at = own.or_else(|| is_full.then(|| wires.len() - 1))?;
            let mut wire = wires.swap_remove(at).wire;
            if wire.connection.is_alive() {
                return Some(wire);
            }
        }
        None
    }

    pub(crate) fn put_back(self: &Arc<Self>, wire: Wire) {
        if wire.connection.blocks_connecting() || wire.connection.is_used_up() {
            return;
        }
        let resting = Resting { since: Instant::now(), wire };
        let mut idle = self.idle();
        idle.wires.push(resting);
        drop(idle);
        self.serve_seekers();
        let mut idle = self.idle();
        if idle.is_watched || self.rest_max().is_none() {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        idle.is_watched = true;
        drop(idle);
        let reaper = IdleReaper { sessions: Arc::downgrade(self), is_over: false };
        runtime.spawn(reaper.close_rested(Arc::clone(&self.dialer.places)));
    }

    /// How long a session may rest; `None`: for ever.
    fn rest_max(&self) -> Option<Duration> {
        self.dialer.places.rest_max(self.limits().idle_max)
    }

    /// Closes those that rest too long; says when to look again, unless none is left.
    fn close_rested(&self) -> Option<Duration> {
        let rest_max = self.rest_max()?;
        let now = Instant::now();
        let mut idle = self.idle();
        let (over, rest) = idle.wires.drain(..).partition(|it| it.since + rest_max <= now);
        idle.wires = rest;
        let next = idle.wires.iter().map(|it| it.since + rest_max - now).min();
        idle.is_watched = next.is_some();
        drop(idle);
        let _closed: Vec<Resting> = over;
        next
    }
}

impl Rested for Sessions {
    fn serve_seekers(&self) {
        let rest = self.idle_count();
        if rest > 0 && self.dialer.places.serve(rest) {
            let closed = self.idle().wires.pop();
            drop(closed);
        }
    }
}

/// The task that closes sessions which rest too long; it ends when none is left, or with its runtime.
struct IdleReaper {
    sessions: Weak<Sessions>,
    is_over: bool,
}

impl IdleReaper {
    async fn close_rested(mut self, places: Arc<Places>) {
        loop {
            // Before the pause is known, so that no change of it is missed.
            let called = places.called();
            let Some(pause) = self.sessions.upgrade().and_then(|it| it.close_rested()) else {
                // Another may watch by now.
                return self.is_over = true;
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = called => {}
            }
        }
    }
}

impl Drop for IdleReaper {
    /// The runtime ended: the next session that comes to rest is watched from elsewhere.
    fn drop(&mut self) {
        if let (Some(sessions), false) = (self.sessions.upgrade(), self.is_over) {
            sessions.idle().is_watched = false;
        }
    }
}

/// A waiting request, as long as it lives.
pub(crate) struct Waiting<'s>(&'s AtomicUsize);

impl<'s> Waiting<'s> {
    fn enter(count: &'s AtomicUsize, max: usize) -> Result<Self, Error> {
        let waiting = Self(count);
        if count.fetch_add(1, Ordering::Relaxed) < max { Ok(waiting) } else { Err(Error::Busy) }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

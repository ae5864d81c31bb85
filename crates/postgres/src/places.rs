//! Places at a server: how many connections it serves at a time, once that shows.
//!
//! A pooler may serve fewer connections than a process opens. Those beyond wait in its queue until another is closed, which none of
//! ours is by itself: they rest to be used again. So an attempt that takes longer than a second although others are open counts as
//! one too many, as does one that is refused for that reason. From then on there are no more connections than there were, and whoever needs
//! one takes a session that comes to rest, or the place of a connection that is closed. Later attempts, for which nobody waits, show
//! whether there are more places by now.
//!
//! Other processes may wait for the same places, of which nobody tells. So where places are few, connections that rest are closed soon,
//! and where the others wait in a queue, each connection is given up after a while.
//!
//! **Invariant:** where callers wait for sessions and there is none, a lane gives its place up between two batches; where lanes wait and there is
//! none, a session does when it rests.
//!
//! **Cost:** an uncontended lock when a connection is made or closed, and when a session or a lane comes to rest.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::futures::Notified;
use tokio::sync::{Notify, oneshot};

/// Pause before another attempt beyond the number that is known, after the first that failed.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest of such pauses.
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// A connection to a server that serves few rests no longer: another process may wait for its place.
const REST_MAX: Duration = Duration::from_secs(1);
/// A connection behind a queue is given up after this time, between two uses, so that all processes have their turn.
const TURN_MAX: Duration = Duration::from_secs(5);
/// A sign that places are few is forgotten: the server may have been slow for a while.
const SIGN_MAX: Duration = Duration::from_secs(600);

/// Purposes of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Short reads.
    Lane,
    /// One caller at a time.
    Session,
    /// Something that another connection can do: a group of mutations, a slow read that left its lane.
    Beside,
}

/// The sessions that rest, which those who wait may want.
pub(crate) trait Rested: Debug + Send + Sync {
    /// Looks whether one is wanted ([`Places::serve`]).
    fn serve_seekers(&self);
}

/// The places of one server.
#[derive(Debug, Default)]
pub(crate) struct Places {
    state: Mutex<State>,
    /// Calls resting lanes to give one up.
    call: Notify,
    rested: OnceLock<Weak<dyn Rested>>,
    /// There was a sign that places are few.
    is_scarce: AtomicBool,
}

/// Signs that a server serves no more connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Refused,
    /// The connection was not made for long.
    Waited,
}

#[derive(Debug, Default)]
struct State {
    lanes: usize,
    sessions: usize,
    beside: usize,
    /// Number of all that are connected.
    open: usize,
    /// Maximum number of connections, once it is known.
    max: Option<usize>,
    /// Lanes that wait.
    lane_seekers: VecDeque<oneshot::Sender<Grant>>,
    /// Callers that wait for a session.
    session_seekers: VecDeque<oneshot::Sender<Grant>>,
    /// Callers that were told to take a session that rests, and did not yet.
    looking: usize,
    /// An attempt beyond `max` is under way.
    is_probing: bool,
    /// When there may be another.
    probe_after: Option<Instant>,
    /// Such attempts that failed, since the last that did not.
    failures: u32,
    /// The last sign that places are few.
    sign: Option<(Sign, Instant)>,
}

/// Messages to a waiting task.
#[derive(Clone, Copy, Debug)]
enum Grant {
    Connect,
    Look,
}

/// Outcomes of waiting for a place.
pub(crate) enum Chance {
    Connect(Seat),
    /// Take a session that rests.
    Look(Looking),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// It is to be connected.
    Attempt,
    /// It is to be connected though that may be one too many.
    Probe,
    Open,
}

/// The place of one connection, as long as it lives.
#[derive(Debug)]
pub(crate) struct Seat {
    places: Arc<Places>,
    usage: Use,
    standing: Standing,
    /// When it was connected, or is being so.
    since: Instant,
}

/// One that waits for a place.
pub(crate) struct SeatSeeker {
    places: Arc<Places>,
    usage: Use,
    granted: oneshot::Receiver<Grant>,
}

/// A caller that is about to take a session that rests.
pub(crate) struct Looking(Arc<Places>);

impl State {
    fn is_full(&self) -> bool {
        self.max.is_some_and(|max| self.seats_in_use() >= max)
    }

    const fn seats_in_use(&self) -> usize {
        self.lanes + self.sessions + self.beside
    }

    fn is_probe_due(&self) -> bool {
        !self.is_probing && self.probe_after.is_none_or(|it| it <= Instant::now())
    }

    const fn count(&mut self, usage: Use) -> &mut usize {
        match usage {
            Use::Lane => &mut self.lanes,
            Use::Session => &mut self.sessions,
            Use::Beside => &mut self.beside,
        }
    }

    /// Forgets those who no longer wait; `false` if nobody does.
    fn prune(&mut self) -> bool {
        self.lane_seekers.retain(|it| !it.is_closed());
        self.session_seekers.retain(|it| !it.is_closed());
        !self.lane_seekers.is_empty() || !self.session_seekers.is_empty()
    }

    fn starves_lanes(&self) -> bool {
        self.lanes == 0 && !self.lane_seekers.is_empty()
    }

    fn starves_sessions(&self) -> bool {
        self.sessions == 0 && !self.session_seekers.is_empty()
    }

    /// Gives places that are free to those who wait: first to lanes if there is none, and to lanes beside others last.
    fn grant(&mut self) {
        while self.prune() && !self.is_full() {
            let is_session = !self.starves_lanes() && !self.session_seekers.is_empty();
            let (usage, seeker) = if is_session {
                (Use::Session, self.session_seekers.pop_front())
            } else {
                (Use::Lane, self.lane_seekers.pop_front())
            };
            let is_taken = seeker.is_some_and(|it| it.send(Grant::Connect).is_ok());
            *self.count(usage) += usize::from(is_taken);
        }
    }
}

impl Places {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Names the sessions that rest.
    pub(crate) fn lend_from(&self, rested: Weak<dyn Rested>) {
        // A server has one set of them.
        let _ = self.rested.set(rested);
    }

    fn seat(self: &Arc<Self>, usage: Use, standing: Standing) -> Seat {
        Seat { places: Arc::clone(self), usage, standing, since: Instant::now() }
    }

    /// Leave to connect; `None` if the server is known to serve no more.
    pub(crate) fn enter(self: &Arc<Self>, usage: Use) -> Option<Seat> {
        let mut state = self.state();
        if state.is_full() {
            return None;
        }
        *state.count(usage) += 1;
        drop(state);
        Some(self.seat(usage, Standing::Attempt))
    }

    /// Leave to try one connection more than the server is known to serve, from time to time.
    pub(crate) fn probe(self: &Arc<Self>, usage: Use) -> Option<Seat> {
        let mut state = self.state();
        if state.max.is_none() || !state.is_probe_due() {
            return None;
        }
        state.is_probing = true;
        drop(state);
        Some(self.seat(usage, Standing::Probe))
    }

    /// Waits for a place, or in case of sessions for one that comes to rest.
    pub(crate) fn seek(self: &Arc<Self>, usage: Use) -> SeatSeeker {
        let (grant, granted) = oneshot::channel();
        let mut state = self.state();
        match usage {
            Use::Session => state.session_seekers.push_back(grant),
            Use::Lane | Use::Beside => state.lane_seekers.push_back(grant),
        }
        state.grant();
        drop(state);
        self.call.notify_waiters();
        // One may have come to rest just now.
        self.serve_rested();
        SeatSeeker { places: Arc::clone(self), usage, granted }
    }

    fn serve_rested(&self) {
        if let Some(rested) = self.rested.get().and_then(Weak::upgrade) {
            rested.serve_seekers();
        }
    }

    /// Tells those who wait that so many sessions `rest`; `true` if one of them is to be closed, as a lane needs its place.
    pub(crate) fn serve(&self, rest: usize) -> bool {
        let mut state = self.state();
        if !state.prune() {
            return false;
        }
        if state.starves_lanes() {
            return true;
        }
        while state.looking < rest
            && let Some(seeker) = state.session_seekers.pop_front()
        {
            state.looking += usize::from(seeker.send(Grant::Look).is_ok());
        }
        false
    }

    /// True if a caller that comes now has to wait behind others for a session that rests.
    pub(crate) fn has_line(&self) -> bool {
        let state = self.state();
        state.looking > 0 || !state.session_seekers.is_empty()
    }

    /// True if a lane is connected, or is about to be.
    pub(crate) fn has_lane(&self) -> bool {
        self.state().lanes > 0
    }

    /// True if the server is known to serve some connections, or others are being made.
    pub(crate) fn is_hopeful(&self) -> bool {
        let state = self.state();
        state.max.is_some() || state.seats_in_use() > 1
    }

    /// True if the server serves no more connections than there are.
    pub(crate) fn is_full(&self) -> bool {
        self.state().is_full()
    }

    /// True if a lane that has no connection gets none now.
    pub(crate) fn shuts_out(&self) -> bool {
        let state = self.state();
        state.is_full() && !state.is_probe_due()
    }

    /// Number of connections of this use, with those that are being made.
    pub(crate) fn count(&self, usage: Use) -> usize {
        *self.state().count(usage)
    }

    /// An attempt shows that the server serves no more connections than are open; `false` if none is, which shows nothing.
    pub(crate) fn note_full(&self, sign: Sign) -> bool {
        let mut state = self.state();
        if state.open == 0 {
            return false;
        }
        if state.max != Some(state.open) {
            tracing::info!(connections = state.open, "PostgreSQL, or a pooler before it, serves no more");
        }
        state.max = Some(state.open);
        let next = Instant::now() + PAUSE;
        state.probe_after = Some(state.probe_after.map_or(next, |it| it.max(next)));
        drop(state);
        self.note_sign(sign);
        true
    }

    /// An attempt shows that places are few.
    pub(crate) fn note_sign(&self, sign: Sign) {
        self.state().sign = Some((sign, Instant::now()));
        if !self.is_scarce.swap(true, Ordering::Relaxed) {
            // Lanes that rest are to do so less long.
            self.call.notify_waiters();
        }
    }

    /// The last sign that places are few, unless it is long ago.
    fn recent_sign(&self) -> Option<Sign> {
        if !self.is_scarce.load(Ordering::Relaxed) {
            return None;
        }
        self.state().sign.filter(|it| it.1.elapsed() < SIGN_MAX).map(|it| it.0)
    }

    /// How long a connection may rest, where `idle_max` holds for those of other servers.
    pub(crate) fn rest_max(&self, idle_max: Option<Duration>) -> Option<Duration> {
        let sign = self.recent_sign();
        idle_max.map(|it| if sign.is_some() { it.min(REST_MAX) } else { it })
    }

    /// True if others starve for the place of a connection of this use, which rests.
    pub(crate) fn wants_place_of(&self, usage: Use) -> bool {
        let mut state = self.state();
        state.prune()
            && (usage != Use::Lane && state.starves_lanes()
                || usage != Use::Session && state.starves_sessions())
    }

    /// Comes when [`Self::wants_place_of`] may have become true, a lane was connected, or [`Self::rest_max`] changed.
    pub(crate) fn called(&self) -> Notified<'_> {
        self.call.notified()
    }
}

impl Seat {
    /// The connection is made.
    pub(crate) fn settle(&mut self) {
        let mut state = self.places.state();
        if self.standing == Standing::Probe {
            *state.count(self.usage) += 1;
            (state.is_probing, state.failures, state.probe_after) = (false, 0, None);
        }
        state.open += 1;
        let open = state.open;
        state.max = state.max.map(|it| it.max(open));
        drop(state);
        // Lanes that wait may leave their work to this one.
        self.places.call.notify_waiters();
        self.standing = Standing::Open;
        self.since = Instant::now();
    }

    /// True if the connection is to be given up between two uses: others wait in a queue before the server, if there are any.
    pub(crate) fn is_used_up(&self) -> bool {
        self.places.recent_sign() == Some(Sign::Waited) && self.since.elapsed() >= TURN_MAX
    }

    /// True if nobody may wait for the connection, as it may be one too many.
    pub(crate) fn is_probe(&self) -> bool {
        self.standing == Standing::Probe
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut state = self.places.state();
        if self.standing == Standing::Probe {
            let pause = (PAUSE * 2_u32.saturating_pow(state.failures)).min(PAUSE_MAX);
            state.failures = state.failures.saturating_add(1).min(10);
            (state.is_probing, state.probe_after) = (false, Some(Instant::now() + pause));
            return;
        }
        *state.count(self.usage) -= 1;
        state.open -= usize::from(self.standing == Standing::Open);
        state.grant();
    }
}

impl SeatSeeker {
    /// Waits for its turn, which it loses when it is dropped.
    pub(crate) async fn turn(mut self) -> Chance {
        match (&mut self.granted).await {
            Ok(Grant::Look) => Chance::Look(Looking(Arc::clone(&self.places))),
            Ok(Grant::Connect) => Chance::Connect(self.places.seat(self.usage, Standing::Attempt)),
            // None is forgotten that waits.
            Err(_) => pending().await,
        }
    }
}

impl Drop for SeatSeeker {
    /// News of the last moment is for the next.
    fn drop(&mut self) {
        self.granted.close();
        match self.granted.try_recv() {
            Ok(Grant::Connect) => drop(self.places.seat(self.usage, Standing::Attempt)),
            Ok(Grant::Look) => drop(Looking(Arc::clone(&self.places))),
            Err(_) => {}
        }
    }
}

impl Drop for Looking {
    /// It took one, or leaves it to the next.
    fn drop(&mut self) {
        self.0.state().looking -= 1;
        self.0.serve_rested();
    }
}

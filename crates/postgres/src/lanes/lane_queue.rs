//! The statements that wait for a lane, and what a batch of them is.
//!
//! **Invariant:** at most `waiting_max` statements wait; each is answered, or its asker has gone.

use crate::admission::bulkhead::Bulkhead;
use crate::connect::dial::{Connected, Dialer, Kind};
use crate::error::Error;
use crate::places::Use;
use crate::protocol::local_settings::LocalSettings;
use crate::protocol::rows::Rows;
use crate::protocol::statement::{Parameters, SHORT_MAX, Statement};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::Sleep;

/// Maximum number of slow statements that run beside their lane.
pub(crate) const DETACHED_MAX: usize = 4;
/// Interval at which a waiting lane checks for expired requests and slow statements.
pub(crate) const TICK: Duration = SHORT_MAX;
/// Pause between two slow statements that leave their lane: if all are slow, the server is, and more connections do not help.
const LEAVE_PAUSE: Duration = Duration::from_millis(250);
/// Time that a batch may take beyond the server's own timeout.
pub(crate) const GRACE: Duration = Duration::from_secs(2);

/// One statement that waits for its answer.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) statement: Arc<Statement>,
    pub(crate) parameters: Parameters,
    /// Settings that hold while a mutation runs.
    pub(crate) settings: Option<Arc<LocalSettings>>,
    pub(crate) deadline: Instant,
    pub(crate) since: Instant,
    /// Not to be merged: it was, and something failed.
    pub(crate) is_alone: bool,
    /// It went before, to a server that shut down.
    pub(crate) is_repeated: bool,
    pub(crate) reply: oneshot::Sender<Result<Rows, Error>>,
}

impl Request {
    pub(crate) fn answer(self, result: Result<Rows, Error>) {
        // Nobody waiting is no failure: the asker has gone.
        let _ = self.reply.send(result);
    }
}

/// Requests that are sent together over a pipelined connection.
///
/// **Invariant:** each request is answered once, or put by to go again.
pub(crate) trait Batch: Default + Send + 'static {
    /// Purpose of the connection.
    const KIND: Kind;

    /// True if a request must not share a batch now.
    fn is_diverted(bulkhead: &Bulkhead, statement: &Statement) -> bool;

    /// Current maximum number of requests per batch.
    fn requests_max(&self) -> usize;

    /// Number of requests.
    fn requests(&self) -> usize;

    /// True if a request would share the statement of another.
    fn joins(&self, request: &Request) -> bool;

    fn add(&mut self, request: Request);

    /// Sends all and hands out the answers; `timer` ticks meanwhile.
    fn run(
        self,
        shared: Arc<Shared>,
        connected: Connected,
        timer: Pin<&mut Sleep>,
    ) -> impl Future<Output = Landed<Self>> + Send;
}

/// Result of a batch.
pub(crate) struct Landed<B> {
    /// A connection that can be used again.
    pub connection: Option<Connected>,
    /// Empty; its memory is used again.
    pub(crate) batch: B,
    /// Requests to repeat, in order.
    pub again: Vec<Request>,
}

/// Number of connections that share one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneCount {
    /// At most so many: all while there is work.
    Fixed(usize),
    /// One, and more where they help.
    FollowsLoad,
}

/// State shared by lanes and their tasks.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) dialer: Arc<Dialer>,
    pub(crate) bulkhead: Arc<Bulkhead>,
    pub(crate) count: LaneCount,
    queue: Mutex<Queue>,
    /// The last batch was such that another lane would help.
    would_help: AtomicBool,
    pub(crate) filled: Notify,
    /// One for each statement that may leave.
    detached: Arc<Semaphore>,
    /// Milliseconds from `started` to when a statement may leave.
    leave_after_ms: AtomicU64,
    pub(crate) started: Instant,
    /// Milliseconds from `started` to when the last lane that was free sent its batch, plus one; 0 if one is free.
    pub(crate) busy_since_ms: AtomicU64,
    /// The lane that stays has no connection, as the server served no more when it was tried.
    pub(crate) is_shut_out: AtomicBool,
    pub(crate) batches: AtomicU64,
    pub(crate) statements: AtomicU64,
}

/// Statements that wait, and the lanes that take them.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub(crate) waiting: VecDeque<Request>,
    /// Lanes that there are, with those that are being connected.
    pub(crate) lanes: usize,
    /// Lanes that wait for statements.
    pub(crate) resting: usize,
    /// One of them is the lane that stays.
    pub(crate) has_first: bool,
    /// A helper is being connected.
    pub(crate) is_opening: bool,
    pub(crate) is_closed: bool,
}

impl Shared {
    /// Without lanes yet.
    pub(crate) fn new(dialer: Arc<Dialer>, bulkhead: Arc<Bulkhead>, count: LaneCount) -> Self {
        let lanes = match count {
            LaneCount::Fixed(lanes) => lanes,
            LaneCount::FollowsLoad => 1,
        };
        Self {
            dialer,
            bulkhead,
            count,
            queue: Mutex::default(),
            would_help: AtomicBool::new(false),
            filled: Notify::new(),
            detached: Arc::new(Semaphore::new(lanes * DETACHED_MAX)),
            leave_after_ms: AtomicU64::new(0),
            started: Instant::now(),
            busy_since_ms: AtomicU64::new(0),
            is_shut_out: AtomicBool::new(false),
            batches: AtomicU64::new(0),
            statements: AtomicU64::new(0),
        }
    }

    pub(crate) fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns from a batch whether another lane would help.
    pub(crate) fn note(&self, would_help: Option<bool>) {
        if let Some(would_help) = would_help {
            self.would_help.store(would_help, Ordering::Relaxed);
        }
    }

    /// True if a request that came last is held up, and another lane would help.
    pub(crate) fn wants_lane(&self, queue: &Queue, merges: bool) -> bool {
        // A lane that rests takes one statement, whoever shares it.
        let needed = if merges { 1 } else { queue.waiting.len() };
        let is_held_up = queue.resting < needed;
        is_held_up
            && match self.count {
                LaneCount::Fixed(max) => queue.lanes < max,
                LaneCount::FollowsLoad => !queue.is_opening && self.would_help.load(Ordering::Relaxed),
            }
    }

    /// True if requests wait to be sent.
    pub(crate) fn is_awaited(&self) -> bool {
        !self.queue().waiting.is_empty()
    }

    /// Leave for a statement to go on beside the lane, if not too many did or one just before.
    pub(crate) fn leave(&self) -> Option<OwnedSemaphorePermit> {
        let millis = |it: Duration| u64::try_from(it.as_millis()).unwrap_or(u64::MAX);
        let now = self.started.elapsed();
        if millis(now) < self.leave_after_ms.load(Ordering::Relaxed) {
            return None;
        }
        let leave = Arc::clone(&self.detached).try_acquire_owned().ok()?;
        self.leave_after_ms.store(millis(now + LEAVE_PAUSE), Ordering::Relaxed);
        Some(leave)
    }

    /// The server serves no more connections: lets requests go elsewhere if they can.
    pub(crate) fn shut_out(&self, usage: Use) {
        self.is_shut_out.store(true, Ordering::Relaxed);
        if usage != Use::Lane || self.dialer.places.has_lane() {
            // The askers take another way when nobody answers.
            self.queue().waiting.clear();
        }
    }

    /// Lets these wait before all others, in their order.
    pub(crate) fn put_first(&self, again: Vec<Request>) {
        if again.is_empty() {
            return;
        }
        let mut queue = self.queue();
        again.into_iter().rev().for_each(|request| queue.waiting.push_front(request));
        drop(queue);
        self.filled.notify_last();
    }

    /// Answers expired requests; with `too_long`, those that reached the maximum wait.
    pub(crate) fn expire(&self, too_long: impl Fn() -> Error) {
        let now = Instant::now();
        let wait_max = self.dialer.settings.limits.wait_max;
        let mut expired = Vec::new();
        let mut queue = self.queue();
        let waiting = std::mem::take(&mut queue.waiting);
        for request in waiting {
            match () {
                () if request.reply.is_closed() => {}
                () if request.deadline <= now => expired.push((request, Error::Timeout)),
                () if request.since + wait_max <= now => expired.push((request, too_long())),
                () => queue.waiting.push_back(request),
            }
        }
        drop(queue);
        expired.into_iter().for_each(|(request, error)| request.answer(Err(error)));
    }
}

/// Sets the timer one tick ahead, which is cheap as it only ever moves on.
pub(crate) fn tick(timer: Pin<&mut Sleep>) {
    timer.reset(tokio::time::Instant::now() + TICK);
}

/// A pause between half of `pause` and all of it, so that requests do not return at once.
pub fn add_jitter(pause: Duration) -> Duration {
    use std::hash::BuildHasher;
    let random = std::hash::RandomState::new().hash_one(0_u8);
    pause / 2 + pause.mul_f64(f64::from(u32::try_from(random >> 32).unwrap_or(0)) / f64::from(u32::MAX)) / 2
}

//! A connection that short statements share, in the settings a lane: all waiting statements go in one batch with one sync.
//!
//! No statement is held back to fill a batch: an idle lane sends at once, a busy one gets cheaper for each statement. A
//! `Batch` is either reads that share answers or mutations that share a commit.
//!
//! **Invariant:** what was sent is never joined by another; every statement is answered, or its asker has gone; at most
//! `Batch::requests_max` go together and at most `waiting_max` wait; at most `DETACHED_MAX` statements have left and run.
//!
//! **Cost:** for each statement one allocation, its reply's channel; for a batch one write, and one timer that is moved.

use crate::batch::ReadBatch;
use crate::bulkhead::Bulkhead;
use crate::connection::Connection;
use crate::dial::{CancelKey, Dialer, Kind};
use crate::error::Error;
use crate::rows::Rows;
use crate::statement::{Parameters, SHORT_MAX, Statement};
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};
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
/// After how long a lane that waits for its answers counts as stuck, so that others are asked first.
const STUCK: Duration = Duration::from_millis(20);
/// Time that a batch may take beyond the server's own timeout.
pub(crate) const GRACE: Duration = Duration::from_secs(2);
/// The longest pause between two attempts to connect.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// One statement that waits for its answer.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) statement: Arc<Statement>,
    pub(crate) parameters: Parameters,
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

/// A connection, and how to stop what it is asked.
pub(crate) type Connected = (Connection, CancelKey);

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

    /// Adds a request.
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

/// The handle of a lane; its task runs while requests wait.
#[derive(Debug)]
pub(crate) struct PipelinedConnection<B = ReadBatch> {
    shared: Arc<Shared>,
    carries: PhantomData<fn() -> B>,
}

/// State shared by a lane and its tasks.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) dialer: Arc<Dialer>,
    pub(crate) bulkhead: Arc<Bulkhead>,
    queue: Mutex<Queue>,
    filled: Notify,
    /// One for each statement that may leave.
    detached: Arc<Semaphore>,
    /// Milliseconds from `started` to when a statement may leave.
    leave_after_ms: AtomicU64,
    started: Instant,
    /// Milliseconds from `started` to when the batch was sent that is under way, plus one; 0 if none is.
    busy_since_ms: AtomicU64,
    batches: AtomicU64,
    pub(crate) statements: AtomicU64,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Request>,
    is_running: bool,
    is_closed: bool,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Lets these wait before all others, in their order.
    pub(crate) fn put_first(&self, again: Vec<Request>) {
        if again.is_empty() {
            return;
        }
        let mut queue = self.queue();
        again.into_iter().rev().for_each(|request| queue.waiting.push_front(request));
        drop(queue);
        self.filled.notify_one();
    }

    /// Answers expired requests; with `too_long`, those that reached the maximum wait.
    pub(crate) fn expire(&self, too_long: impl Fn() -> Error) {
        let now = Instant::now();
        let wait_max = self.dialer.settings.limits.wait_max;
        let mut over = Vec::new();
        let mut queue = self.queue();
        let waiting = std::mem::take(&mut queue.waiting);
        for request in waiting {
            match () {
                () if request.reply.is_closed() => {}
                () if request.deadline <= now => over.push((request, Error::Timeout)),
                () if request.since + wait_max <= now => over.push((request, too_long())),
                () => queue.waiting.push_back(request),
            }
        }
        drop(queue);
        over.into_iter().for_each(|(request, error)| request.answer(Err(error)));
    }
}

impl<B: Batch> PipelinedConnection<B> {
    pub(crate) fn new(dialer: Arc<Dialer>, bulkhead: Arc<Bulkhead>) -> Self {
        let shared = Shared {
            dialer,
            bulkhead,
            queue: Mutex::default(),
            filled: Notify::new(),
            detached: Arc::new(Semaphore::new(DETACHED_MAX)),
            leave_after_ms: AtomicU64::new(0),
            started: Instant::now(),
            busy_since_ms: AtomicU64::new(0),
            batches: AtomicU64::new(0),
            statements: AtomicU64::new(0),
        };
        Self { shared: Arc::new(shared), carries: PhantomData }
    }

    /// Queues a statement; its answer comes through the channel.
    ///
    /// # Errors
    /// Too many wait.
    pub(crate) fn submit(
        &self,
        statement: &Arc<Statement>,
        parameters: Parameters,
        deadline: Instant,
    ) -> Result<oneshot::Receiver<Result<Rows, Error>>, Error> {
        let (reply, answer) = oneshot::channel();
        let request = Request {
            statement: Arc::clone(statement),
            parameters,
            deadline,
            since: Instant::now(),
            is_alone: false,
            is_repeated: false,
            reply,
        };
        let mut queue = self.shared.queue();
        if queue.waiting.len() >= self.shared.dialer.settings.limits.waiting_max {
            return Err(Error::Busy);
        }
        queue.waiting.push_back(request);
        let starts = !std::mem::replace(&mut queue.is_running, true);
        drop(queue);
        match starts {
            true => drop(tokio::spawn(Runner::<B>::new(Arc::clone(&self.shared)).run())),
            false => self.shared.filled.notify_one(),
        }
        Ok(answer)
    }

    /// True if the server is slow to answer the current batch.
    pub(crate) fn is_stuck(&self) -> bool {
        match self.shared.busy_since_ms.load(Ordering::Relaxed) {
            0 => false,
            since => self.shared.started.elapsed() > Duration::from_millis(since - 1) + STUCK,
        }
    }

    /// True if a batch is under way, or statements wait for the next.
    pub(crate) fn is_busy(&self) -> bool {
        self.shared.busy_since_ms.load(Ordering::Relaxed) != 0 || self.shared.is_awaited()
    }

    /// Numbers of batches and statements sent.
    pub(crate) fn sent(&self) -> (u64, u64) {
        (self.shared.batches.load(Ordering::Relaxed), self.shared.statements.load(Ordering::Relaxed))
    }
}

impl<B> Drop for PipelinedConnection<B> {
    fn drop(&mut self) {
        self.shared.queue().is_closed = true;
        self.shared.filled.notify_one();
    }
}

/// The task behind a lane.
struct Runner<B> {
    shared: Arc<Shared>,
    connection: Option<Connected>,
    /// The next batch; it reuses the memory of the last one.
    batch: B,
    /// Pause before the next attempt to connect.
    pause: Duration,
}

impl<B> Drop for Runner<B> {
    /// The lane ends, or its runtime does: askers learn it by their channels, and the next statement starts it anew.
    fn drop(&mut self) {
        self.shared.busy_since_ms.store(0, Ordering::Relaxed);
        let mut queue = self.shared.queue();
        queue.is_running = false;
        queue.waiting.clear();
    }
}

impl<B: Batch> Runner<B> {
    fn new(shared: Arc<Shared>) -> Self {
        Self { shared, connection: None, batch: B::default(), pause: Duration::ZERO }
    }

    async fn run(mut self) {
        let mut timer = pin!(tokio::time::sleep(TICK));
        let mut rest = pin!(tokio::time::sleep(Duration::ZERO));
        while self.wait(rest.as_mut()).await {
            let is_alive = self.connection.as_mut().is_some_and(|it| it.0.is_alive());
            if !is_alive && !self.connect(timer.as_mut()).await {
                continue;
            }
            self.take();
            if self.batch.requests() > 0 {
                self.send(timer.as_mut()).await;
            }
        }
    }

    /// Waits for statements, and meanwhile for the connection to break or to rest too long; `false` when the lane is closed.
    async fn wait(&mut self, mut rest: Pin<&mut Sleep>) -> bool {
        let idle_max = self.shared.dialer.settings.limits.idle_max;
        if let Some(idle_max) = idle_max {
            // Cheap, as it only ever moves on.
            rest.as_mut().reset(tokio::time::Instant::now() + idle_max);
        }
        // Sessions wait for it too, who came before what comes next.
        self.connection.take_if(|it| it.0.is_in_the_way());
        loop {
            let (is_closed, is_empty) = {
                let queue = self.shared.queue();
                (queue.is_closed, queue.waiting.is_empty())
            };
            if is_closed || !is_empty {
                return !is_closed;
            }
            let filled = self.shared.filled.notified();
            let Some((connection, _)) = &mut self.connection else {
                filled.await;
                continue;
            };
            tokio::select! {
                biased;
                () = filled => {}
                error = connection.idle() => {
                    tracing::info!(%error, "an idle connection to PostgreSQL ended");
                    self.connection = None;
                }
                () = rest.as_mut(), if idle_max.is_some() => self.connection = None,
            }
        }
    }

    /// Connects, after a pause if the last attempt failed; `false` after another failure, which all waiting requests get.
    async fn connect(&mut self, mut timer: Pin<&mut Sleep>) -> bool {
        let shared = Arc::clone(&self.shared);
        let pause = jittered(self.pause);
        let attempt = async {
            tokio::time::sleep(pause).await;
            let settings = &shared.dialer.settings;
            shared.dialer.connect(B::KIND, &settings.hosts, settings.target).await
        };
        let mut attempt = pin!(attempt);
        tick(timer.as_mut());
        let connected = loop {
            tokio::select! {
                biased;
                connected = &mut attempt => break connected,
                () = &mut timer => {
                    tick(timer.as_mut());
                    shared.expire(|| match shared.dialer.is_single() {
                        true => Error::Busy,
                        false => Error::unavailable("the connection is not made yet"),
                    });
                }
            }
        };
        match connected {
            Ok(connected) => {
                self.connection = Some(connected);
                self.pause = Duration::ZERO;
                true
            }
            Err(error) => {
                tracing::warn!(%error, "PostgreSQL cannot be reached");
                self.pause = (self.pause * 2).clamp(TICK, PAUSE_MAX);
                let waiting = std::mem::take(&mut self.shared.queue().waiting);
                waiting.into_iter().for_each(|it| it.answer(Err(error.again())));
                false
            }
        }
    }

    /// Fills the next batch with the requests that still wait, in order.
    fn take(&mut self) {
        let now = Instant::now();
        let mut over = Vec::new();
        let mut queue = self.shared.queue();
        while self.batch.requests() < self.batch.requests_max() {
            let Some(request) = queue.waiting.pop_front() else { break };
            match () {
                () if request.reply.is_closed() => {}
                () if request.deadline <= now => over.push(request),
                // Its asker takes another way when nobody answers.
                () if B::is_diverted(&self.shared.bulkhead, &request.statement) => {}
                () => self.batch.add(request),
            }
        }
        drop(queue);
        over.into_iter().for_each(|request| request.answer(Err(Error::Timeout)));
    }

    /// Sends the batch and hands out its answers; what has to go again waits first in the queue.
    async fn send(&mut self, timer: Pin<&mut Sleep>) {
        let Some(connected) = self.connection.take() else { return };
        let batch = std::mem::take(&mut self.batch);
        let shared = Arc::clone(&self.shared);
        let sent = Instant::now();
        let since = u64::try_from((sent - shared.started).as_millis()).unwrap_or(u64::MAX - 1) + 1;
        shared.batches.fetch_add(1, Ordering::Relaxed);
        shared.busy_since_ms.store(since, Ordering::Relaxed);
        let Landed { connection, batch, again } = batch.run(Arc::clone(&shared), connected, timer).await;
        shared.busy_since_ms.store(0, Ordering::Relaxed);
        self.connection = connection;
        self.batch = batch;
        shared.put_first(again);
    }
}

/// Sets the timer one tick ahead, which is cheap as it only ever moves on.
pub(crate) fn tick(timer: Pin<&mut Sleep>) {
    timer.reset(tokio::time::Instant::now() + TICK);
}

/// A pause between half of `pause` and all of it, so that requests do not return at once.
#[must_use]
pub fn jittered(pause: Duration) -> Duration {
    use std::hash::BuildHasher;
    let random = std::hash::RandomState::new().hash_one(0_u8);
    pause / 2 + pause.mul_f64(f64::from(u32::try_from(random >> 32).unwrap_or(0)) / f64::from(u32::MAX)) / 2
}

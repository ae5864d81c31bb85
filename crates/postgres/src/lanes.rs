//! Connections that short statements share, in the settings lanes: all waiting statements go in one batch with one sync.
//!
//! No statement is held back to fill a batch: an idle lane sends at once, a busy one gets cheaper for each statement. A
//! `Batch` is either reads that share answers or mutations that share a commit.
//!
//! Statements wait in one queue, from which the lane takes them that is free first. There is one lane at first. Where a statement
//! would wait although another connection would help ([`crate::admission::batch_time`]), a further lane is opened, a helper; where their number is
//! set, whenever all are busy. With several, each takes its share of what waits, and what costs nothing more. The lane that came
//! to rest last works first, so that those which the load does not need rest on, and are closed.
//!
//! **Invariant:** what was sent is never joined by another; every statement is answered, or its asker has gone; at most
//! `Batch::requests_max` go together and at most `waiting_max` wait; at most `DETACHED_MAX` statements of each lane that is set have
//! left and run.
//!
//! **Cost:** for each statement one allocation, its reply's channel; for a batch one write, and one timer that is moved.

pub(crate) mod group;
pub(crate) mod in_flight_batch;
pub(crate) mod lane;
pub(crate) mod lane_queue;
pub(crate) mod read_batch;

use crate::admission::bulkhead::Bulkhead;
use crate::admission::permit::Permit;
use crate::connect::dial::Dialer;
use crate::error::Error;
use crate::lanes::lane::{Lane, LaneKind};
use crate::lanes::lane_queue::{Batch, LaneCount, Request, Shared};
use crate::lanes::read_batch::ReadBatch;
use crate::protocol::local_settings::LocalSettings;
use crate::protocol::rows::Rows;
use crate::protocol::statement::{Parameters, Statement};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// After how long lanes that wait for their answers count as stuck, so that others are asked first.
const STUCK: Duration = Duration::from_millis(20);

/// A statement that waits for its turn.
pub(crate) struct Submitted {
    /// The answer of the statement; none if it was not sent.
    pub(crate) answer: oneshot::Receiver<Result<Rows, Error>>,
    /// It waits for others, and another lane would help.
    pub(crate) is_held_up: bool,
}

/// The handle of the connections that share a queue; a task runs for each while requests wait.
#[derive(Debug)]
pub(crate) struct Lanes<B = ReadBatch> {
    shared: Arc<Shared>,
    carries: PhantomData<fn() -> B>,
}

impl<B: Batch> Lanes<B> {
    pub(crate) fn new(dialer: Arc<Dialer>, bulkhead: Arc<Bulkhead>, count: LaneCount) -> Self {
        Self { shared: Arc::new(Shared::new(dialer, bulkhead, count)), carries: PhantomData }
    }

    /// Queues a statement; its answer comes through the channel. Only a group takes `settings`: reads of one batch share a transaction.
    ///
    /// # Errors
    /// Too many wait.
    pub(crate) fn submit(
        &self,
        statement: &Arc<Statement>,
        parameters: Parameters,
        settings: Option<&Arc<LocalSettings>>,
        deadline: Instant,
    ) -> Result<Submitted, Error> {
        let (reply, answer) = oneshot::channel();
        let request = Request {
            statement: Arc::clone(statement),
            parameters,
            settings: settings.cloned(),
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
        let starts = !std::mem::replace(&mut queue.has_first, true);
        queue.lanes += usize::from(starts);
        let is_held_up = !starts && self.shared.wants_lane(&queue, statement.merged.is_some());
        drop(queue);
        if starts {
            drop(tokio::spawn(Lane::<B>::new(Arc::clone(&self.shared), LaneKind::First).run()));
        } else {
            // The one that came to rest last.
            self.shared.filled.notify_last();
        }
        Ok(Submitted { answer, is_held_up })
    }

    /// Opens another lane, on the account of `permit` if the load asks for it.
    pub(crate) fn add_lane(&self, permit: Option<Permit>) {
        let mut queue = self.shared.queue();
        // Another thread may have been faster.
        if matches!(self.shared.count, LaneCount::Fixed(max) if queue.lanes >= max) {
            return;
        }
        queue.lanes += 1;
        queue.is_opening = true;
        drop(queue);
        let kind = LaneKind::Helper { permit, is_opening: true };
        drop(tokio::spawn(Lane::<B>::new(Arc::clone(&self.shared), kind).run()));
    }

    /// How many lanes there may be.
    pub(crate) fn count(&self) -> LaneCount {
        self.shared.count
    }

    /// True if the server is slow to answer all that is under way.
    pub(crate) fn is_stuck(&self) -> bool {
        match self.shared.busy_since_ms.load(Ordering::Relaxed) {
            0 => false,
            since => self.shared.started.elapsed() > Duration::from_millis(since - 1) + STUCK,
        }
    }

    /// True if they have no connection, and the server serves no more.
    pub(crate) fn is_shut_out(&self) -> bool {
        self.shared.is_shut_out.load(Ordering::Relaxed) && self.shared.dialer.places.shuts_out()
    }

    /// Number of lanes.
    pub(crate) fn lanes_open(&self) -> usize {
        self.shared.queue().lanes
    }

    /// Numbers of batches and statements sent.
    pub(crate) fn sent_counts(&self) -> (u64, u64) {
        (self.shared.batches.load(Ordering::Relaxed), self.shared.statements.load(Ordering::Relaxed))
    }
}

impl<B> Drop for Lanes<B> {
    fn drop(&mut self) {
        self.shared.queue().is_closed = true;
        // Lanes that look now see it; those that rest are told.
        self.shared.filled.notify_waiters();
        self.shared.filled.notify_one();
    }
}

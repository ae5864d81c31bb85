//! A batch under way, until all of it is answered or its slowest statement left it.
//!
//! A statement that takes long holds up those behind it and those that wait. If there are such, the lane makes a second
//! connection, and the statement leaves with the first, on which it is alone from then on: it is answered when it is
//! done, and stopped when nobody waits for it. Those behind it, being reads, go again on the second.
//!
//! **Invariant:** a cancel request goes only to a connection on which no asker of another statement waits.
//!
//! **Cost:** nothing but a look at a flag for each answer, as long as answers come in time: the timer tells what is slow.

use crate::admission::batch_time::BatchTime;
use crate::admission::bulkhead::Bulkhead;
use crate::connect::dial::{CancelKey, Connected, Kind};
use crate::error::Error;
use crate::lanes::lane_queue::{Batch, GRACE, Landed, Request, Shared, TICK, tick};
use crate::lanes::read_batch::{BATCH_MAX, Fate, ReadBatch};
use crate::places::Use;
use crate::protocol::connection::Connection;
use crate::protocol::statement::Statement;
use std::future::pending;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Sleep;

impl Batch for ReadBatch {
    const KIND: Kind = Kind::Lane;

    fn is_diverted(bulkhead: &Bulkhead, statement: &Statement) -> bool {
        bulkhead.diverts(statement).is_some()
    }

    fn requests_max(&self) -> usize {
        BATCH_MAX
    }

    fn requests(&self) -> usize {
        self.request_count()
    }

    fn joins(&self, request: &Request) -> bool {
        self.can_share(request)
    }

    fn add(&mut self, request: Request) {
        self.push(request);
    }

    async fn run(
        mut self,
        shared: Arc<Shared>,
        connected: Connected,
        timer: Pin<&mut Sleep>,
    ) -> Landed<Self> {
        self.merge();
        InFlightBatch::new(shared, connected, self).run(timer).await
    }
}

/// A connection attempt in progress.
type Attempt = Pin<Box<dyn Future<Output = Result<Connected, Error>> + Send>>;

/// A batch that was sent and is not answered yet.
pub(crate) struct InFlightBatch {
    shared: Arc<Shared>,
    connection: Connection,
    key: CancelKey,
    batch: ReadBatch,
    time: BatchTime,
    /// When the server counts as gone.
    last: Instant,
    /// The lane's next connection, and the leave to make it.
    second: Option<(Attempt, OwnedSemaphorePermit)>,
    /// The second connection could not be made.
    is_second_refused: bool,
}

impl InFlightBatch {
    /// Writes the batch, which is sent by [`Self::run`].
    pub(crate) fn new(shared: Arc<Shared>, (mut connection, key): Connected, mut batch: ReadBatch) -> Self {
        batch.write(&mut connection);
        shared.statements.fetch_add(batch.statements() as u64, Ordering::Relaxed);
        let time = BatchTime::start(batch.statements_sent());
        let last = time.start_time() + shared.dialer.settings.limits.statement_timeout + GRACE;
        Self { shared, connection, key, batch, time, last, second: None, is_second_refused: false }
    }

    /// Hands out the answers.
    pub(crate) async fn run(mut self, mut timer: Pin<&mut Sleep>) -> Landed<ReadBatch> {
        let mut fate = Fate::Open;
        tick(timer.as_mut());
        while matches!(fate, Fate::Open) {
            tokio::select! {
                biased;
                end = self.connection.next_end() => fate = self.batch.hand_out(end),
                made = await_attempt(&mut self.second) => {
                    if let Some((connected, leave)) = self.useful(made) {
                        return self.part(connected, leave);
                    }
                }
                () = &mut timer => {
                    tick(timer.as_mut());
                    fate = self.look();
                }
            }
        }
        let again = self.batch.take_rest();
        if matches!(fate, Fate::Ready) {
            self.shared.note(self.time.end());
        }
        let connection = matches!(fate, Fate::Ready).then_some((self.connection, self.key));
        Landed { connection, batch: self.batch, again }
    }

    /// Handles a tick: expired requests, slow statements, a lost server.
    fn look(&mut self) -> Fate {
        self.shared.expire(|| Error::Busy);
        let wait_max = self.shared.dialer.settings.limits.wait_max;
        self.batch.expire(wait_max, &self.shared.bulkhead);
        if Instant::now() > self.last {
            return self.batch.hand_out(Err(Error::unavailable("the server has stopped answering")));
        }
        let is_held_up = !self.connection.blocks_connecting()
            && self.batch.is_slow()
            && (self.batch.statements() > 1 || self.shared.is_awaited());
        if is_held_up && self.second.is_none() && !self.is_second_refused {
            // Without leave the lane waits.
            self.second = self.shared.leave().and_then(|leave| Some((self.attempt()?, leave)));
        }
        Fate::Open
    }

    /// An attempt to connect beside; `None` if the server serves no more.
    fn attempt(&self) -> Option<Attempt> {
        let dialer = Arc::clone(&self.shared.dialer);
        let mut seat = dialer.places.enter(Use::Beside)?;
        Some(Box::pin(async move {
            let settings = &dialer.settings;
            let (mut connection, key) = dialer.connect(Kind::Lane, &settings.hosts, settings.target).await?;
            seat.settle();
            connection.occupy(seat);
            Ok((connection, key))
        }))
    }

    /// The second connection, if it was made while the slow statement is still under way.
    fn useful(&mut self, (made, leave): Made) -> Option<(Connected, OwnedSemaphorePermit)> {
        match made {
            Ok(connected) => self.batch.is_slow().then_some((connected, leave)),
            Err(error) => {
                tracing::warn!(%error, "a slow statement holds up others, and no other connection can be made");
                self.is_second_refused = true;
                None
            }
        }
    }

    /// The slow statement leaves with the first connection.
    fn part(self, mut second: Connected, leave: OwnedSemaphorePermit) -> Landed<ReadBatch> {
        let Self { shared, mut connection, key, mut batch, last, .. } = self;
        connection.swap_seats(&mut second.0);
        let slow = batch.part_first();
        let again = batch.take_rest();
        drop(tokio::spawn(DetachedQuery { shared, connection, key, batch: slow, last, _leave: leave }.run()));
        Landed { connection: Some(second), batch, again }
    }
}

/// Result of the attempt, and its permit.
type Made = (Result<Connected, Error>, OwnedSemaphorePermit);

/// Waits for the attempt, if there is one; dropped, it goes on later.
async fn await_attempt(second: &mut Option<(Attempt, OwnedSemaphorePermit)>) -> Made {
    let Some((attempt, _)) = second else { return pending().await };
    let connected = attempt.await;
    match second.take() {
        Some((_, leave)) => (connected, leave),
        None => pending().await,
    }
}

/// A slow statement that has left its lane: alone on the connection on which it was sent.
struct DetachedQuery {
    shared: Arc<Shared>,
    connection: Connection,
    key: CancelKey,
    batch: ReadBatch,
    last: Instant,
    _leave: OwnedSemaphorePermit,
}

impl DetachedQuery {
    /// Waits for the answer as long as anybody else does. The connection then closes, because its next answers would belong to
    /// statements that were sent behind this one.
    async fn run(mut self) {
        let mut timer = pin!(tokio::time::sleep(TICK));
        loop {
            tokio::select! {
                biased;
                end = self.connection.next_end() => {
                    self.batch.hand_out(end);
                    break;
                }
                () = &mut timer => {
                    tick(timer.as_mut());
                    let wait_max = self.shared.dialer.settings.limits.wait_max;
                    self.batch.expire(wait_max, &self.shared.bulkhead);
                    if self.batch.is_abandoned() {
                        self.stop().await;
                        break;
                    }
                    if Instant::now() > self.last {
                        self.batch.hand_out(Err(Error::unavailable("the server has stopped answering")));
                        break;
                    }
                }
            }
        }
        self.shared.put_first(self.batch.take_rest());
    }

    /// Asks the server not to go on, unless the request could arrive at another's statement.
    async fn stop(&self) {
        if self.connection.facts.is_pooled || self.connection.facts.is_single {
            return;
        }
        if let Err(error) = self.shared.dialer.cancel(&self.key).await {
            tracing::info!(%error, "a read that nobody waits for could not be stopped");
        }
    }
}

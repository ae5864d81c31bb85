//! The task behind a lane: connects, takes what waits, sends it as a batch with one sync, hands the answers out.
//!
//! The first lane of a queue stays, and connects anew when its connection breaks. A helper ([`crate::admission::helper_lanes`]) takes requests
//! when it is connected, and ends with its connection.
//!
//! **Invariant:** a lane that ends has nothing under way, unless its runtime ends.

use crate::admission::helper_lanes::REST_MAX;
use crate::admission::permit::Permit;
use crate::connect::dial::{Connected, Dialer, Kind};
use crate::connect::room;
use crate::error::Error;
use crate::lanes::lane_queue::{Batch, Landed, Queue, Shared, TICK, add_jitter, tick};
use crate::places::{Chance, Seat, Use};
use futures_util::poll;
use std::collections::VecDeque;
use std::future::pending;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::time::Sleep;

/// The longest pause between two attempts to connect.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Why a lane is there.
#[derive(Debug)]
pub(crate) enum LaneKind {
    /// The lane that stays.
    First,
    /// One that comes and goes.
    Helper {
        /// Where the load asked for it, what it lives on.
        permit: Option<Permit>,
        is_opening: bool,
    },
}

/// The task behind a lane.
pub(crate) struct Lane<B> {
    shared: Arc<Shared>,
    kind: LaneKind,
    connection: Option<Connected>,
    /// The next batch; it reuses the memory of the last one.
    batch: B,
    /// Pause before the next attempt to connect.
    pause: Duration,
    is_resting: bool,
}

impl<B> Drop for Lane<B> {
    /// The lane ends, or its runtime does: askers learn it by their channels, and the next statement starts it anew.
    fn drop(&mut self) {
        self.shared.busy_since_ms.store(0, Ordering::Relaxed);
        self.connection = None;
        let mut queue = self.shared.queue();
        queue.lanes -= 1;
        queue.resting -= usize::from(self.is_resting);
        match &mut self.kind {
            LaneKind::First => queue.has_first = false,
            LaneKind::Helper { permit, is_opening } => {
                queue.is_opening &= !*is_opening;
                if permit.take().is_some() {
                    self.shared.dialer.helpers.leave();
                }
            }
        }
        match queue.lanes {
            0 => queue.waiting.clear(),
            _ if queue.waiting.is_empty() => {}
            _ => self.shared.filled.notify_last(),
        }
    }
}

impl<B: Batch> Lane<B> {
    pub(crate) fn new(shared: Arc<Shared>, kind: LaneKind) -> Self {
        Self { shared, kind, connection: None, batch: B::default(), pause: Duration::ZERO, is_resting: false }
    }

    /// Works until the lane is closed.
    pub(crate) async fn run(mut self) {
        let mut timer = pin!(tokio::time::sleep(TICK));
        let mut rest = pin!(tokio::time::sleep(Duration::ZERO));
        if !self.open().await {
            return;
        }
        while self.wait(rest.as_mut()).await {
            let is_alive = self.connection.as_mut().is_some_and(|it| it.0.is_alive());
            if !is_alive && self.is_helper() {
                return;
            }
            if !is_alive && !self.connect(timer.as_mut()).await {
                continue;
            }
            self.take();
            if self.batch.requests() > 0 {
                self.send(timer.as_mut()).await;
            }
        }
    }

    /// Connects a helper; `false` if it cannot be. The first lane connects when it is asked.
    async fn open(&mut self) -> bool {
        let LaneKind::Helper { is_opening, .. } = &mut self.kind else { return true };
        self.connection = Box::pin(room::connect_helper(&self.shared.dialer)).await;
        self.shared.queue().is_opening = false;
        *is_opening = false;
        self.connection.is_some()
    }

    /// How long the connection may have nothing to do.
    fn rest_max(&self) -> Option<Duration> {
        let idle_max = self.shared.dialer.settings.limits.idle_max;
        match self.kind {
            LaneKind::Helper { permit: Some(_), .. } => {
                Some(idle_max.map_or(REST_MAX, |it| it.min(REST_MAX)))
            }
            LaneKind::First | LaneKind::Helper { permit: None, .. } => {
                self.shared.dialer.places.rest_max(idle_max)
            }
        }
    }

    /// Waits for statements, and meanwhile for the connection to break or to rest too long; `false` when the lane is closed.
    async fn wait(&mut self, mut rest: Pin<&mut Sleep>) -> bool {
        let begun = tokio::time::Instant::now();
        // Sessions and other processes wait for it too, who came before what comes next.
        self.connection.take_if(|it| it.0.blocks_connecting() || it.0.is_used_up());
        let is_lent = matches!(self.kind, LaneKind::Helper { permit: Some(_), .. });
        let shared = Arc::clone(&self.shared);
        loop {
            // Before the look at the queue, so that no news of it is missed.
            let filled = shared.filled.notified();
            let called = shared.dialer.places.called();
            if self.yields() && self.is_helper() {
                return false;
            }
            {
                let mut queue = shared.queue();
                if queue.is_closed || (is_lent && shared.dialer.helpers.is_recalled()) {
                    return false;
                }
                let is_resting = queue.waiting.is_empty();
                self.note_rest(&mut queue, is_resting);
                if !is_resting {
                    return true;
                }
            }
            shared.busy_since_ms.store(0, Ordering::Relaxed);
            let rest_max = self.rest_max();
            if let Some(rest_max) = rest_max {
                // Cheap, as it moves on but when places turn out to be few.
                rest.as_mut().reset(begun + rest_max);
            }
            let recall =
                async { if is_lent { shared.dialer.helpers.await_recall().await } else { pending().await } };
            let Some((connection, _)) = &mut self.connection else {
                filled.await;
                continue;
            };
            tokio::select! {
                biased;
                () = filled => {}
                () = called => {}
                error = connection.idle() => {
                    tracing::info!(%error, "an idle connection to PostgreSQL ended");
                    self.connection = None;
                    if self.is_helper() {
                        return false;
                    }
                }
                () = recall => return false,
                () = rest.as_mut(), if rest_max.is_some() => match self.kind {
                    LaneKind::First => self.connection = None,
                    LaneKind::Helper { .. } => {
                        shared.dialer.helpers.forget_refusals();
                        return false;
                    }
                },
            }
        }
    }

    fn is_helper(&self) -> bool {
        matches!(self.kind, LaneKind::Helper { .. })
    }

    /// Gives up the connection if others starve for its place.
    fn yields(&mut self) -> bool {
        let is_wanted =
            self.connection.is_some() && self.shared.dialer.places.wants_place_of(B::KIND.usage());
        self.connection.take_if(|_| is_wanted).is_some()
    }

    /// Notes in the queue whether the lane rests.
    fn note_rest(&mut self, queue: &mut Queue, is_resting: bool) {
        queue.resting = queue.resting + usize::from(is_resting) - usize::from(self.is_resting);
        self.is_resting = is_resting;
    }

    /// Connects, after a pause if the last attempt failed; `false` after another failure, which all waiting requests get.
    async fn connect(&mut self, mut timer: Pin<&mut Sleep>) -> bool {
        let shared = Arc::clone(&self.shared);
        let pause = add_jitter(self.pause);
        let attempt = async {
            tokio::time::sleep(pause).await;
            connect(&shared, B::KIND).await
        };
        let mut attempt = pin!(attempt);
        tick(timer.as_mut());
        let connected = loop {
            tokio::select! {
                biased;
                connected = &mut attempt => break connected,
                () = &mut timer => {
                    tick(timer.as_mut());
                    let is_busy = shared.dialer.is_single() || shared.is_shut_out.load(Ordering::Relaxed);
                    shared.expire(|| if is_busy { Error::Busy } else { Error::unavailable("the connection is not made yet") });
                    if shared.queue().is_closed {
                        return false;
                    }
                }
            }
        };
        match connected {
            Ok(connected) => {
                self.connection = connected;
                self.pause = Duration::ZERO;
                self.connection.is_some()
            }
            Err(error) => {
                tracing::warn!(%error, "PostgreSQL cannot be reached");
                self.pause = (self.pause * 2).clamp(TICK, PAUSE_MAX);
                let mut queue = self.shared.queue();
                // Helpers that are connected serve what waits.
                let is_last = queue.lanes == 1;
                let waiting = if is_last { std::mem::take(&mut queue.waiting) } else { VecDeque::new() };
                drop(queue);
                waiting.into_iter().for_each(|it| it.answer(Err(error.duplicate())));
                false
            }
        }
    }

    /// Fills the next batch with the lane's share of the requests that still wait, in order.
    fn take(&mut self) {
        let now = Instant::now();
        let mut expired = Vec::new();
        let mut left = VecDeque::new();
        let mut queue = self.shared.queue();
        let share = queue.waiting.len().div_ceil(queue.lanes.max(1));
        let takes_all = share == queue.waiting.len();
        let mut statements = 0;
        while self.batch.requests() < self.batch.requests_max() {
            let Some(request) = queue.waiting.pop_front() else { break };
            match () {
                () if request.reply.is_closed() => {}
                () if request.deadline <= now => expired.push(request),
                // The asker takes another way when nobody answers.
                () if B::is_diverted(&self.shared.bulkhead, &request.statement) => {}
                () if takes_all || self.batch.joins(&request) => self.batch.add(request),
                () if statements < share => {
                    statements += 1;
                    self.batch.add(request);
                }
                () => left.push_back(request),
            }
        }
        if !left.is_empty() {
            left.append(&mut queue.waiting);
            queue.waiting = left;
        }
        if !queue.waiting.is_empty() && queue.resting > 0 {
            self.shared.filled.notify_last();
        }
        let busy_since_ms = match queue.resting {
            0 => u64::try_from((now - self.shared.started).as_millis()).unwrap_or(u64::MAX - 1) + 1,
            _ => 0,
        };
        self.shared.busy_since_ms.store(busy_since_ms, Ordering::Relaxed);
        drop(queue);
        expired.into_iter().for_each(|request| request.answer(Err(Error::Timeout)));
    }

    /// Sends the batch and hands out its answers; what has to go again waits first in the queue.
    async fn send(&mut self, timer: Pin<&mut Sleep>) {
        let Some(connected) = self.connection.take() else { return };
        let batch = std::mem::take(&mut self.batch);
        let shared = Arc::clone(&self.shared);
        shared.batches.fetch_add(1, Ordering::Relaxed);
        let Landed { connection, batch, again } = batch.run(Arc::clone(&shared), connected, timer).await;
        shared.busy_since_ms.store(0, Ordering::Relaxed);
        self.connection = connection;
        self.batch = batch;
        shared.put_first(again);
    }
}

/// Connects a lane that stays; `None` if the server serves no more, and nobody waits for this lane.
async fn connect(shared: &Shared, kind: Kind) -> Result<Option<Connected>, Error> {
    let dialer = &shared.dialer;
    let mut seat = dialer.places.enter(kind.usage());
    loop {
        if let Some(seat) = seat.take()
            && let Some(connected) = room::connect(dialer, kind, seat).await?
        {
            shared.is_shut_out.store(false, Ordering::Relaxed);
            return Ok(Some(connected));
        }
        shared.shut_out(kind.usage());
        if kind.usage() != Use::Lane || !shared.is_awaited() {
            return Ok(probe(shared, kind).await);
        }
        seat = await_seat(dialer).await;
    }
}

/// Waits for a place for a lane; `None` if another lane is connected before.
async fn await_seat(dialer: &Dialer) -> Option<Seat> {
    let places = &dialer.places;
    let _recall = dialer.helpers.recall();
    let mut turn = pin!(places.seek(Use::Lane).turn());
    loop {
        let called = places.called();
        if places.has_lane() {
            // It may be this one's.
            return match poll!(&mut turn) {
                Poll::Ready(Chance::Connect(seat)) => Some(seat),
                _ => None,
            };
        }
        tokio::select! {
            biased;
            chance = &mut turn => match chance {
                Chance::Connect(seat) => return Some(seat),
                Chance::Look(_) => return None,
            },
            () = called => {}
        }
    }
}

/// Tries whether the server serves one connection more by now, while nobody waits for this lane.
async fn probe(shared: &Shared, kind: Kind) -> Option<Connected> {
    let seat = shared.dialer.places.probe(kind.usage())?;
    let mut attempt = pin!(room::connect(&shared.dialer, kind, seat));
    let connected = loop {
        tokio::select! {
            biased;
            connected = &mut attempt => break connected.ok().flatten()?,
            () = shared.filled.notified() => if shared.is_awaited() {
                return None;
            }
        }
    };
    shared.is_shut_out.store(false, Ordering::Relaxed);
    Some(connected)
}

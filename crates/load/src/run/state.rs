//! State that the tasks of a generator share: slots and subscribers count into it.

use super::marks::Marks;
use super::pace::{Arrival, Mix};
use super::record::{Recorder, Tick};
use super::slot::Slot;
use crate::plan::{Flow, Load, Plan, Share};
use crate::wire::{Answer, Dialer, Http2};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// State that all tasks of a generator share.
pub(super) struct GeneratorState {
    pub(super) plan: Arc<Plan>,
    pub(super) load: Load,
    pub(super) share: Share,
    pub(super) mix: Mix,
    pub(super) dialer: Dialer,
    pub(super) http2: Vec<Rc<Http2>>,
    pub(super) recorder: RefCell<Recorder>,
    pub(super) live: RefCell<Tick>,
    pub(super) marks: RefCell<Marks>,
    pub(super) queue: RefCell<VecDeque<Arrival>>,
    pub(super) arrived: Notify,
    pub(super) idle: Cell<u32>,
    pub(super) is_ended: Cell<bool>,
    /// Runs of a closed loop that were begun.
    pub(super) begun: Cell<u64>,
    pub(super) start: Instant,
    pub(super) end: Instant,
}

/// The instants of a request.
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub(super) due: Instant,
    pub(super) sent: Instant,
    pub(super) done: Instant,
}

impl GeneratorState {
    /// The time in the measured period; nothing for warm-up.
    pub(super) fn measured_time(&self, at: Instant) -> Option<Duration> {
        (at < self.end).then(|| at.checked_duration_since(self.start)).flatten()
    }

    /// The number of the next run of a closed loop, or of the next subscriber.
    pub(super) fn next_number(&self) -> u64 {
        let turn = self.begun.replace(self.begun.get() + 1);
        turn * u64::from(self.share.of) + u64::from(self.share.index)
    }

    pub(super) fn slot(&self, number: u32) -> Slot<'_> {
        let connections = self.http2.len().max(1);
        Slot::new(&self.plan, self.http2.get(number as usize % connections).cloned())
    }

    pub(super) fn flow(&self, arrival: &Arrival) -> &Flow {
        &self.plan.flows[arrival.flow]
    }

    pub(super) fn count_arrival(&self, arrival: &Arrival, now: Instant) {
        if self.measured_time(arrival.due).is_some() {
            self.recorder.borrow_mut().lag.record(now.saturating_duration_since(arrival.due));
        }
    }

    pub(super) fn count_unsent(&self, arrival: &Arrival) {
        let Some(at) = self.measured_time(arrival.due) else { return };
        let mut recorder = self.recorder.borrow_mut();
        let tally = &mut recorder.operations[self.flow(arrival).steps[0]];
        tally.scheduled += 1;
        tally.fail("unsent", 0, b"no connection was free before the run ended");
        let second = recorder.second(at);
        second.offered += 1;
        second.errors += 1;
    }

    /// Counts a request that has ended.
    pub(super) fn count(
        &self,
        operation: usize,
        times: Times,
        result: Result<(), (&str, u16, &[u8])>,
        answer: &Answer,
    ) {
        let Some(at) = self.measured_time(times.due) else { return };
        let latency = times.done.saturating_duration_since(times.due);
        let is_answered = answer.status != 0;
        let mut recorder = self.recorder.borrow_mut();
        recorder.last_done = recorder.last_done.max(times.done.saturating_duration_since(self.start));
        let tally = &mut recorder.operations[operation];
        tally.scheduled += 1;
        tally.sent += 1;
        tally.completed += u64::from(is_answered);
        tally.bytes += answer.bytes;
        // A refused connection is no fast answer, so it is not recorded; a timeout counts as a slow answer.
        let is_timed = is_answered || matches!(result, Err(("timeout", ..)));
        if is_timed {
            tally.latency.record(latency);
            tally.service.record(times.done.saturating_duration_since(times.sent));
        }
        if let Some(label) = answer.cache.label().filter(|_| is_answered) {
            match tally.cache.get_mut(label) {
                Some(count) => *count += 1,
                None => drop(tally.cache.insert(label.to_owned(), 1)),
            }
        }
        let is_error = result.is_err();
        if let Err((label, status, body)) = result {
            tally.fail(label, status, body);
        }
        let second = recorder.second(at);
        second.offered += 1;
        second.sent += 1;
        second.completed += u64::from(is_answered);
        second.errors += u64::from(is_error);
        if is_timed {
            second.latency.record(latency);
        }
        let mut live = self.live.borrow_mut();
        live.completed += u64::from(is_answered);
        live.errors += u64::from(is_error);
        if is_timed {
            live.latency.record(latency);
        }
    }
}

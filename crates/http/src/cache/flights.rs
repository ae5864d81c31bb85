//! Coalescing of calls: requests for a key wait for the call that is in flight.
//!
//! **Invariant:** a key has at most one flight. A flight's result is cached before the flight ends, and a request without a
//! flight checks the cache again before it starts one, so no call is repeated. A failed flight ends for all who wait for it.
//!
//! **Cost:** only misses come here: a lock on one part of a table, an allocation for the first request.

use super::Failure;
use super::entry::Entry;
use super::level1::Slot;
use hashbrown::HashMap;
use std::hash::BuildHasher;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;
use tokio::sync::Notify;

const PARTS: usize = 32;

/// Result of a flight.
#[derive(Clone, Debug)]
pub(super) enum Landed {
    /// An answer for all waiting requests.
    Entry(Arc<Entry>, Way),
    /// An answer for the request that began the flight; the others have to call by themselves.
    Private(Arc<Entry>),
    /// No answer.
    Failed(Failure),
}

/// Origin of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Upstream,
    Remote,
}

/// Result of a flight in progress; `None` if the flight dies.
#[derive(Debug, Default)]
pub(super) struct Landing {
    brought: OnceLock<Option<Landed>>,
    ended: Notify,
}

/// The end of a flight, for waiting requests.
pub(super) type Arrival = Arc<Landing>;

impl Landing {
    /// Waits for the end.
    pub(super) async fn brought(&self) -> Option<Landed> {
        let mut ended = pin!(self.ended.notified());
        // Heard from now on: what ends after the look is not missed.
        ended.as_mut().enable();
        if self.brought.get().is_none() {
            ended.await;
        }
        self.known()
    }

    /// The result, if it is known already.
    pub(super) fn known(&self) -> Option<Landed> {
        self.brought.get().cloned().flatten()
    }

    fn end(&self, brought: Option<Landed>) {
        if self.brought.set(brought).is_ok() {
            self.ended.notify_waiters();
        }
    }
}

type Table = HashMap<Arc<[u8]>, Waiting, foldhash::fast::RandomState>;

#[derive(Debug)]
struct Waiting {
    arrival: Arrival,
    deadline: Instant,
}

/// All flights of a process.
#[derive(Debug)]
pub(super) struct Flights {
    parts: Box<[Mutex<Table>]>,
    hasher: foldhash::fast::RandomState,
}

/// Role of a request for a key.
pub(super) enum Seat {
    /// Ask the upstream, and land the flight.
    Lead(Flight, Arrival),
    /// Wait for another request's flight, whose deadline is that instant.
    Wait(Arrival, Instant),
    /// Nothing: it came meanwhile.
    Kept(Slot),
}

/// The right and the duty to bring a key's answer.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) key: Arc<[u8]>,
    flights: Arc<Flights>,
    landing: Arrival,
}

impl Flights {
    pub(super) fn new() -> Self {
        Self { parts: (0..PARTS).map(|_| Mutex::default()).collect(), hasher: Default::default() }
    }

    fn part(&self, key: &[u8]) -> MutexGuard<'_, Table> {
        let part = self.hasher.hash_one(key) as usize % PARTS;
        self.parts[part].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds out what is to be done for `key`; `kept` looks whether its answer is there.
    pub(super) fn seat(
        self: &Arc<Self>,
        key: &Arc<[u8]>,
        deadline: Instant,
        kept: impl FnOnce() -> Option<Slot>,
    ) -> Seat {
        let mut part = self.part(key);
        if let Some(waiting) = part.get(key) {
            return Seat::Wait(Arc::clone(&waiting.arrival), waiting.deadline);
        }
        if let Some(slot) = kept() {
            return Seat::Kept(slot);
        }
        let arrival = Arrival::default();
        part.insert(Arc::clone(key), Waiting { arrival: Arc::clone(&arrival), deadline });
        let flight =
            Flight { key: Arc::clone(key), flights: Arc::clone(self), landing: Arc::clone(&arrival) };
        Seat::Lead(flight, arrival)
    }
}

impl Flight {
    /// Ends it. What it brings has to be kept before, if it is to be.
    pub(super) fn land(self, landed: Landed) {
        self.landing.end(Some(landed));
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.flights.part(&self.key).remove(&self.key);
        self.landing.end(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::CallError;
    use futures_util::FutureExt;

    #[test]
    fn a_key_has_one_flight_at_a_time_and_a_dead_one_is_over_for_all() {
        let flights = Arc::new(Flights::new());
        let (key, other): (Arc<[u8]>, Arc<[u8]>) = (b"key".as_slice().into(), b"other".as_slice().into());
        let seat = || flights.seat(&key, Instant::now(), || None);
        let Seat::Lead(flight, _) = seat() else { panic!("the first leads") };
        let Seat::Wait(arrival, _) = seat() else { panic!("the second waits") };
        assert!(matches!(flights.seat(&other, Instant::now(), || None), Seat::Lead(..)));
        drop(flight);
        assert!(arrival.brought().now_or_never().expect("it is over").is_none(), "nothing will come");
        let Seat::Lead(flight, _) = seat() else { panic!("the next leads") };
        let Seat::Wait(after, _) = seat() else { panic!("the one after waits") };
        flight.land(Landed::Failed(CallError::Timeout.into()));
        assert!(matches!(after.known(), Some(Landed::Failed(_))) && arrival.known().is_none());
        let found = flights.seat(&key, Instant::now(), || Some(Slot::Pass { until_ms: 1 }));
        assert!(matches!(found, Seat::Kept(Slot::Pass { until_ms: 1 })));
    }
}

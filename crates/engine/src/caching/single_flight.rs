//! Coalescing of equal work: requests for a key wait for the one that is in flight.
//!
//! **Invariant:** a key has at most one flight. A flight's result is cached before the flight ends, and a request without a
//! flight checks the cache again before it starts one, so no work is repeated. A failed flight ends for all who wait for it.
//!
//! **Cost:** only misses come here: a lock on one part of a table, an allocation for the first request.

use super::keys::{KeyMap, KeyRef, SharedKey, part_of};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;
use tokio::sync::Notify;

/// Tables with locks of their own.
const PARTS: usize = 32;

/// Result of a flight in progress; `None` if the flight dies.
#[derive(Debug)]
pub struct Landing<R> {
    brought: OnceLock<Option<R>>,
    ended: Notify,
}

/// The end of a flight, for waiting requests.
pub type Arrival<R> = Arc<Landing<R>>;

impl<R: Clone> Landing<R> {
    /// Waits for the end; `None` if the flight died.
    pub async fn result(&self) -> Option<R> {
        let mut ended = pin!(self.ended.notified());
        // Register before the check, so that an end right after the check is not missed.
        ended.as_mut().enable();
        if self.brought.get().is_none() {
            ended.await;
        }
        self.known_result()
    }

    /// The result, if it is known already.
    pub fn known_result(&self) -> Option<R> {
        self.brought.get().cloned().flatten()
    }
}

impl<R> Landing<R> {
    fn end(&self, brought: Option<R>) {
        if self.brought.set(brought).is_ok() {
            self.ended.notify_waiters();
        }
    }
}

#[derive(Debug)]
struct InFlight<R> {
    arrival: Arrival<R>,
    deadline: Instant,
}

type InFlightTable<R> = KeyMap<InFlight<R>>;

/// All flights of one kind.
#[derive(Debug)]
pub struct SingleFlight<R> {
    parts: Box<[Mutex<InFlightTable<R>>]>,
}

/// Role of a request for a key.
pub enum FlightRole<R, K> {
    /// Do the work, and land the flight.
    Lead(Flight<R>, Arrival<R>),
    /// Wait for another request's flight, whose deadline is that instant.
    Wait(Arrival<R>, Instant),
    /// Nothing: the result was cached meanwhile.
    Cached(K),
}

/// The right and the duty to bring a key's result. If it is dropped before it lands, the flight dies.
#[derive(Debug)]
pub struct Flight<R> {
    key: SharedKey,
    flights: Arc<SingleFlight<R>>,
    landing: Arrival<R>,
}

impl<R> Default for SingleFlight<R> {
    fn default() -> Self {
        Self { parts: (0..PARTS).map(|_| Mutex::default()).collect() }
    }
}

impl<R> SingleFlight<R> {
    fn part(&self, key: KeyRef<'_>) -> MutexGuard<'_, InFlightTable<R>> {
        self.parts[part_of(key, PARTS)].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decides whether a request for `key` leads or waits; `kept` checks whether the result is cached.
    pub fn join<K>(
        self: &Arc<Self>,
        key: &SharedKey,
        deadline: Instant,
        kept: impl FnOnce() -> Option<K>,
    ) -> FlightRole<R, K> {
        let mut part = self.part(key.as_key_ref());
        if let Some(waiting) = part.get(key.as_key_ref()) {
            return FlightRole::Wait(Arc::clone(&waiting.arrival), waiting.deadline);
        }
        if let Some(kept) = kept() {
            return FlightRole::Cached(kept);
        }
        let arrival = Arc::new(Landing { brought: OnceLock::new(), ended: Notify::new() });
        part.insert_new(key.clone(), InFlight { arrival: Arc::clone(&arrival), deadline });
        let key = key.clone();
        let flights = Arc::clone(self);
        let landing = Arc::clone(&arrival);
        FlightRole::Lead(Flight { key, flights, landing }, arrival)
    }
}

impl<R> Flight<R> {
    /// The key.
    pub fn key(&self) -> &SharedKey {
        &self.key
    }

    /// Ends it. Its result has to be cached before, if it is to be.
    pub fn land(self, landed: R) {
        self.landing.end(Some(landed));
    }
}

impl<R> Drop for Flight<R> {
    fn drop(&mut self) {
        self.flights.part(self.key.as_key_ref()).remove(self.key.as_key_ref());
        self.landing.end(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[test]
    fn a_key_has_one_flight_at_a_time_and_a_dead_one_is_over_for_all() {
        let flights = Arc::new(SingleFlight::<u8>::default());
        let [key, other] = [b"key".as_slice(), b"other"].map(|it| SharedKey::from(KeyRef::of(it)));
        let seat = || flights.join(&key, Instant::now(), || None::<u8>);
        let FlightRole::Lead(flight, _) = seat() else { panic!("the first leads") };
        let FlightRole::Wait(arrival, _) = seat() else { panic!("the second waits") };
        assert!(matches!(flights.join(&other, Instant::now(), || None::<u8>), FlightRole::Lead(..)));
        drop(flight);
        assert!(arrival.result().now_or_never().expect("it is over").is_none(), "nothing will come");
        let FlightRole::Lead(flight, _) = seat() else { panic!("the next leads") };
        let FlightRole::Wait(after, _) = seat() else { panic!("the one after waits") };
        flight.land(7);
        assert!(after.known_result() == Some(7) && arrival.known_result().is_none());
        assert!(matches!(flights.join(&key, Instant::now(), || Some(1)), FlightRole::Cached(1)));
    }
}

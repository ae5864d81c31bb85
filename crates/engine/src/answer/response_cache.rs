//! Whole answers: kept while all their parts are fresh, and made once for equal requests in flight.
//!
//! The key is the plan's number, the bound variables and the values of exactly those headers that the plan's sources read: a public
//! operation has one entry for all callers, however their other headers differ, and a private answer is stored under its caller's
//! headers. Tags list the data of the parts; a mutation of a tag invalidates all answers with it.
//!
//! **Invariant:** an answer that was read before a mutation of its tags is never served after it: the versions of the tags
//! ([`TagVersions`]) are read before the first fetch and compared at each lookup.
//!
//! **Cost:** a hit is one hash of variables and headers, one lock of a shard, one count; the bytes are shared.

use super::response::Capacity;
use crate::caching::CacheFill;
use crate::caching::cache_control::CacheControl;
use crate::caching::keys::{CarriedHash, KeyRef, SharedKey};
use crate::caching::single_flight::{FlightRole, SingleFlight};
use crate::caching::tag_versions::{TagSnapshot, TagVersions};
use bytes::Bytes;
use quick_cache::Weighter;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Number of remembered keys whose answers cannot be shared.
const PASSES_MAX: usize = 4096;
/// Requests for such a key are not coalesced for this time.
const PASS: Duration = Duration::from_secs(10);

/// An answer that others may be given.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Bytes of the answer.
    pub(crate) body: Bytes,
    /// Capacity of the sources when the answer was made.
    pub(crate) capacity: Capacity,
    /// Lifetime at the time the answer was made.
    pub(crate) lifetime: Option<CacheControl>,
    /// When it was made.
    pub(crate) made: Instant,
    /// Ages of its tags before the answer was made.
    pub(crate) ages: TagSnapshot,
}

impl Shared {
    /// Lifetime and stale period that remain at `now`.
    pub(crate) fn remaining_lifetime(&self, now: Instant) -> Option<CacheControl> {
        let lifetime = self.lifetime.clone()?;
        let gone = now.saturating_duration_since(self.made).as_millis();
        let gone_ms = u64::try_from(gone).unwrap_or(u64::MAX);
        let until_ms = lifetime.remaining_ms.saturating_add(lifetime.stale_ms).saturating_sub(gone_ms);
        let remaining_ms = lifetime.remaining_ms.saturating_sub(gone_ms);
        Some(CacheControl { remaining_ms, stale_ms: until_ms - remaining_ms, ..lifetime })
    }
}

/// Bytes of an entry.
#[derive(Clone)]
struct Weight;

impl Weighter<SharedKey, Arc<Shared>> for Weight {
    fn weight(&self, key: &SharedKey, kept: &Arc<Shared>) -> u64 {
        /// Overhead of the cache per entry, in bytes, estimated.
        const ENTRY_BYTES: usize = 256;
        (ENTRY_BYTES + key.bytes().len() + kept.body.len()) as u64
    }
}

type Entries = quick_cache::sync::Cache<SharedKey, Arc<Shared>, Weight, CarriedHash>;
type Passes = quick_cache::sync::Cache<SharedKey, Instant, quick_cache::UnitWeighter, CarriedHash>;

/// Result of a coalesced answer.
#[derive(Clone, Debug)]
pub(crate) enum SharedOutcome {
    /// Here.
    Here(Arc<Shared>),
    /// It cannot be shared, being a stream or for one caller alone: each has to ask.
    Alone,
}

/// The whole answers of one engine.
pub(crate) struct Responses {
    /// `None`: nothing is kept.
    entries: Option<Entries>,
    bytes_max: usize,
    /// Keys whose last answer could not be shared, with the time until which requests for them are not coalesced.
    passes: Passes,
    flights: Arc<SingleFlight<SharedOutcome>>,
    pub(crate) changes: Arc<TagVersions>,
}

impl Responses {
    /// Keeps answers of up to `bytes_max` together, until `changes` has something they show; with none, equal requests in
    /// flight are still one.
    pub(crate) fn new(bytes_max: usize, changes: Arc<TagVersions>) -> Self {
        /// A screen full of an app.
        const BODY_BYTES_TYPICAL: usize = 8192;
        let entries = (bytes_max > 0).then(|| {
            let items = (bytes_max / BODY_BYTES_TYPICAL).max(16);
            Entries::with(items, bytes_max as u64, Weight, CarriedHash, Default::default())
        });
        let weight = quick_cache::UnitWeighter;
        let last = Default::default();
        let passes = Passes::with(PASSES_MAX, PASSES_MAX as u64, weight, CarriedHash, last);
        Self { entries, bytes_max, passes, flights: Arc::default(), changes }
    }

    /// Entries and bytes; `None`: nothing is kept.
    pub(crate) fn fill(&self) -> Option<CacheFill> {
        let entries = self.entries.as_ref()?;
        Some(CacheFill { entries: entries.len(), bytes: entries.weight(), bytes_max: entries.capacity() })
    }

    /// The answer under `key`, if there is one that is fresh.
    pub(crate) fn get(&self, key: KeyRef<'_>, now: Instant) -> Option<Arc<Shared>> {
        let kept = self.entries.as_ref()?.get(&key)?;
        let is_fresh = kept.remaining_lifetime(now).is_some_and(|it| it.remaining_ms > 0);
        (is_fresh && self.changes.are_current(&kept.ages)).then_some(kept)
    }

    /// Keeps an answer.
    pub(crate) fn put(&self, key: SharedKey, kept: Arc<Shared>) {
        /// No single answer takes more than this part of the room.
        const SHARE: usize = 8;
        let fits = kept.body.len() <= self.bytes_max / SHARE;
        if let Some(entries) = self.entries.as_ref().filter(|_| fits && self.changes.are_current(&kept.ages))
        {
            entries.insert(key, kept);
        }
    }

    /// Stops coalescing requests for `key` for a while, as its last answer could not be shared: requests would queue.
    pub(crate) fn bypass(&self, key: KeyRef<'_>, now: Instant) {
        self.passes.insert(key.into(), now + PASS);
    }

    /// True if requests for `key` are not coalesced.
    pub(crate) fn is_bypassed(&self, key: KeyRef<'_>, now: Instant) -> bool {
        self.passes.get(&key).is_some_and(|until| now < until)
    }

    /// Joins or starts the flight of a request for `key` that has time until `deadline`.
    pub(crate) fn join_flight(
        &self,
        key: KeyRef<'_>,
        deadline: Instant,
    ) -> FlightRole<SharedOutcome, Arc<Shared>> {
        self.flights.join(&key.into(), deadline, || self.get(key, Instant::now()))
    }

    /// Number of entries and, roughly, their bytes.
    pub(crate) fn count_and_bytes(&self) -> (usize, u64) {
        self.entries.as_ref().map_or((0, 0), |it| (it.len(), it.weight()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caching::cache_control::CacheScope;
    use crate::caching::tag_versions::Tag;

    fn responses(bytes_max: usize) -> Responses {
        Responses::new(bytes_max, Arc::default())
    }

    fn key(bytes: &[u8]) -> KeyRef<'_> {
        KeyRef::of(bytes)
    }

    fn shared(responses: &Responses, body: &str, fresh_s: u32, tags: &[&str], made: Instant) -> Arc<Shared> {
        let remaining_ms = 1000 * u64::from(fresh_s);
        let scope = CacheScope::Public;
        let lifetime = CacheControl {
            remaining_ms,
            stale_ms: 5000,
            scope,
            by_headers: true,
            is_silent: false,
            must_revalidate: false,
            ages: TagSnapshot::default(),
            set_by: "test".into(),
        };
        let ages = responses.changes.versions(tags.iter().copied());
        let body = Bytes::copy_from_slice(body.as_bytes());
        let lifetime = Some(lifetime);
        Arc::new(Shared { body, capacity: Capacity::Enough, lifetime, made, ages })
    }

    #[test]
    fn an_answer_is_found_until_its_time_is_over() {
        let responses = responses(1 << 20);
        let now = Instant::now();
        responses.put(key(b"k").into(), shared(&responses, "body", 10, &[], now));
        let found = responses.get(key(b"k"), now + Duration::from_secs(9)).expect("it is fresh");
        assert_eq!(&found.body[..], b"body");
        let left = found.remaining_lifetime(now + Duration::from_secs(9)).expect("it has a lifetime");
        assert_eq!((left.remaining_ms, left.stale_ms), (1000, 5000));
        assert!(responses.get(key(b"k"), now + Duration::from_secs(10)).is_none());
        assert!(responses.get(key(b"other"), now).is_none());
    }

    #[test]
    fn a_mutation_of_a_tag_makes_answers_old_even_those_on_their_way() {
        let responses = responses(1 << 20);
        let now = Instant::now();
        responses.put(key(b"a").into(), shared(&responses, "a", 10, &["Album"], now));
        let on_its_way = shared(&responses, "b", 10, &["Album", "Artist"], now);
        responses.put(key(b"c").into(), shared(&responses, "c", 10, &["Genre"], now));
        responses.changes.invalidate(&[Tag("Album".into())]);
        responses.put(key(b"b").into(), on_its_way);
        assert!(responses.get(key(b"a"), now).is_none());
        assert!(responses.get(key(b"b"), now).is_none());
        assert!(responses.get(key(b"c"), now).is_some());
    }

    #[test]
    fn no_answer_takes_all_the_room() {
        let responses = responses(8192);
        let now = Instant::now();
        responses.put(key(b"k").into(), shared(&responses, &"x".repeat(2000), 10, &[], now));
        assert!(responses.get(key(b"k"), now).is_none());
    }

    #[tokio::test]
    async fn those_who_wait_get_the_answer_or_make_it_when_the_first_goes_away() {
        let responses = responses(0);
        let seat = || responses.join_flight(key(b"k"), Instant::now());
        let FlightRole::Lead(flight, _) = seat() else { panic!("the first leads") };
        let FlightRole::Wait(waiting, _) = seat() else { panic!("the second waits") };
        flight.land(SharedOutcome::Here(shared(&responses, "body", 0, &[], Instant::now())));
        assert!(matches!(waiting.result().await, Some(SharedOutcome::Here(it)) if &it.body[..] == b"body"));
        let FlightRole::Lead(gone, _) = seat() else { panic!("the flight is over") };
        let FlightRole::Wait(waiting, _) = seat() else { panic!("there is one") };
        drop(gone);
        assert!(waiting.result().await.is_none());
        assert!(matches!(seat(), FlightRole::Lead(..)));
    }

    #[test]
    fn who_comes_late_finds_the_answer_instead_of_a_flight() {
        let responses = responses(1 << 20);
        responses.put(key(b"k").into(), shared(&responses, "body", 10, &[], Instant::now()));
        let seat = responses.join_flight(key(b"k"), Instant::now());
        assert!(matches!(seat, FlightRole::Cached(kept) if &kept.body[..] == b"body"));
    }
}

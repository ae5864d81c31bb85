//! Whole answers: kept while all their parts are fresh, and made once for equal requests in flight.
//!
//! The key is the plan's number, the bound variables and the values of exactly those headers that the plan's sources read:
//! public operations have one entry for all callers however their other headers differ, and what one caller alone may
//! see stands under that caller's headers. What the parts touch are tags; a mutation that touches one makes all answers with it old.
//!
//! **Invariant:** an answer read before a mutation of its tags was done is never shown after it: the tags' ages
//! ([`TagVersions`]) are taken before the first part is asked and compared with each look.
//!
//! **Cost:** a hit is one hash of variables and headers, one lock of a shard, one count; the bytes are shared.

use crate::engine::Capacity;
use crate::keys::{CarriedHash, KeyRef, SharedKey};
use crate::single_flight::{Seat, SingleFlight};
use crate::source::CacheControl;
use crate::tag_versions::{TagSnapshot, TagVersions};
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
    /// Its bytes.
    pub(crate) body: Bytes,
    /// Capacity of the sources when the answer was made.
    pub(crate) capacity: Capacity,
    /// Its lifetime when it was made.
    pub(crate) lifetime: Option<CacheControl>,
    /// When it was made.
    pub(crate) made: Instant,
    /// Ages of its tags before the answer was made.
    pub(crate) ages: TagSnapshot,
}

impl Shared {
    /// Remaining lifetime.
    pub(crate) fn left(&self, now: Instant) -> Option<CacheControl> {
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
    /// Keys whose last answer could not be shared, and until when nobody waits for another's under them.
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
        let (weight, last) = (quick_cache::UnitWeighter, Default::default());
        let passes = Passes::with(PASSES_MAX, PASSES_MAX as u64, weight, CarriedHash, last);
        Self { entries, bytes_max, passes, flights: Arc::default(), changes }
    }

    /// The answer under `key`, if there is one that is fresh.
    pub(crate) fn get(&self, key: KeyRef<'_>, now: Instant) -> Option<Arc<Shared>> {
        let kept = self.entries.as_ref()?.get(&key)?;
        let is_fresh = kept.left(now).is_some_and(|it| it.remaining_ms > 0);
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

    /// Notes that the answer under `key` could not be shared: for a while each makes its own, or they would queue.
    pub(crate) fn pass(&self, key: KeyRef<'_>, now: Instant) {
        self.passes.insert(key.into(), now + PASS);
    }

    /// True if requests for `key` are not coalesced.
    pub(crate) fn passes(&self, key: KeyRef<'_>, now: Instant) -> bool {
        self.passes.get(&key).is_some_and(|until| now < until)
    }

    /// The role of a request for `key` that has time until `deadline`.
    pub(crate) fn seat(&self, key: KeyRef<'_>, deadline: Instant) -> Seat<SharedOutcome, Arc<Shared>> {
        self.flights.seat(&key.into(), deadline, || self.get(key, Instant::now()))
    }

    /// Entries and the bytes they take, roughly.
    pub(crate) fn filling(&self) -> (usize, u64) {
        self.entries.as_ref().map_or((0, 0), |it| (it.len(), it.weight()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{CacheScope, Tag};

    fn responses(bytes_max: usize) -> Responses {
        Responses::new(bytes_max, Arc::default())
    }

    fn key(bytes: &[u8]) -> KeyRef<'_> {
        KeyRef::of(bytes)
    }

    fn shared(responses: &Responses, body: &str, fresh_s: u32, tags: &[&str], made: Instant) -> Arc<Shared> {
        let (remaining_ms, scope) = (1000 * u64::from(fresh_s), CacheScope::Public);
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
        let ages = responses.changes.ages(tags.iter().copied());
        let (body, lifetime) = (Bytes::copy_from_slice(body.as_bytes()), Some(lifetime));
        Arc::new(Shared { body, capacity: Capacity::Enough, lifetime, made, ages })
    }

    #[test]
    fn an_answer_is_found_until_its_time_is_over() {
        let responses = responses(1 << 20);
        let now = Instant::now();
        responses.put(key(b"k").into(), shared(&responses, "body", 10, &[], now));
        let found = responses.get(key(b"k"), now + Duration::from_secs(9)).expect("it is fresh");
        assert_eq!(&found.body[..], b"body");
        let left = found.left(now + Duration::from_secs(9)).expect("it has a lifetime");
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
        responses.changes.note(&[Tag("Album".into())]);
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
        let seat = || responses.seat(key(b"k"), Instant::now());
        let Seat::Lead(flight, _) = seat() else { panic!("the first leads") };
        let Seat::Wait(waiting, _) = seat() else { panic!("the second waits") };
        flight.land(SharedOutcome::Here(shared(&responses, "body", 0, &[], Instant::now())));
        assert!(matches!(waiting.brought().await, Some(SharedOutcome::Here(it)) if &it.body[..] == b"body"));
        let Seat::Lead(gone, _) = seat() else { panic!("the flight is over") };
        let Seat::Wait(waiting, _) = seat() else { panic!("there is one") };
        drop(gone);
        assert!(waiting.brought().await.is_none());
        assert!(matches!(seat(), Seat::Lead(..)));
    }

    #[test]
    fn who_comes_late_finds_the_answer_instead_of_a_flight() {
        let responses = responses(1 << 20);
        responses.put(key(b"k").into(), shared(&responses, "body", 10, &[], Instant::now()));
        let seat = responses.seat(key(b"k"), Instant::now());
        assert!(matches!(seat, Seat::Kept(kept) if &kept.body[..] == b"body"));
    }
}

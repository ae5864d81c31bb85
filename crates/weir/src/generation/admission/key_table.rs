//! Meters of one rate by key, for a bounded number of keys.
//!
//! A meter that is whole again says nothing, so it may go; the one that is whole longest goes first. While none is whole, keys without a
//! place share meters by their hash: a flood of keys makes the room of new ones small, and frees nobody from a limit. A table has one
//! rate, so no flood under a strict rate refuses the callers of another.
//!
//! **Invariant:** a meter that is not whole is never dropped.
//!
//! **Cost:** a hash and the lock of a shard; a new key allocates where the table has not had so many before.

use super::meter::Meter;
use foldhash::quality::RandomState as KeyHasher;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::hash::RandomState;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Number of shards, each with a lock.
const SHARDS: usize = 16;

/// Meters of a shard for keys without a place.
const COMMON_METERS: usize = 64;

/// Number of requests whose key had no place.
#[derive(Debug, Default)]
pub(super) struct CrowdedCount(AtomicU64);

impl CrowdedCount {
    pub(super) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Meters by key.
pub(super) struct KeyTable<M> {
    /// Hasher of keys, with a seed that nobody knows.
    pub(super) keyed: RandomState,
    shards: Box<[Mutex<Shard<M>>]>,
    /// Keys of one shard.
    keys_max: AtomicUsize,
}

struct Shard<M> {
    meters: HashMap<u64, M, KeyHasher>,
    /// Each key once, by a time before which its meter is not whole.
    order: BinaryHeap<Reverse<(u64, u64)>>,
    common: Box<[M]>,
}

impl<M: Meter> KeyTable<M> {
    /// A table of `keys_max` keys.
    pub(super) fn new(keys_max: u32) -> Self {
        let shard = || {
            Mutex::new(Shard {
                meters: HashMap::default(),
                order: BinaryHeap::new(),
                common: std::iter::repeat_with(M::default).take(COMMON_METERS).collect(),
            })
        };
        let table = Self {
            keyed: RandomState::new(),
            shards: std::iter::repeat_with(shard).take(SHARDS).collect(),
            keys_max: AtomicUsize::default(),
        };
        table.set_keys_max(keys_max);
        table
    }

    /// Changes the number of keys; keys beyond it go when they are whole and others come.
    pub(super) fn set_keys_max(&self, keys_max: u32) {
        let of_shard = (keys_max as usize).div_ceil(SHARDS).max(1);
        self.keys_max.store(of_shard, Ordering::Relaxed);
    }

    /// Lets `act` change all meters, also so that they are whole earlier.
    pub(super) fn update_all(&self, act: impl Fn(&mut M)) {
        for shard in &self.shards {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            let Shard { meters, order, common } = &mut *shard;
            meters.values_mut().chain(common).for_each(&act);
            *order = meters.iter().map(|(key, meter)| Reverse((meter.whole_at_ns(), *key))).collect();
        }
    }

    /// Lets `act` change the meter of `key`; a key without a place counts in `crowded`.
    pub(super) fn update<R>(
        &self,
        key: u64,
        now_ns: u64,
        crowded: &CrowdedCount,
        act: impl FnOnce(&mut M) -> R,
    ) -> R {
        let shard = &self.shards[key as usize % SHARDS];
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        let Shard { meters, order, common } = &mut *shard;
        if let Some(meter) = meters.get_mut(&key) {
            return act(meter);
        }
        let keys_max = self.keys_max.load(Ordering::Relaxed);
        while meters.len() >= keys_max && remove_whole(meters, order, now_ns) {}
        if meters.len() >= keys_max {
            crowded.0.fetch_add(1, Ordering::Relaxed);
            return act(&mut common[key as usize / SHARDS % COMMON_METERS]);
        }
        let mut meter = M::default();
        let result = act(&mut meter);
        order.push(Reverse((meter.whole_at_ns(), key)));
        meters.insert(key, meter);
        result
    }

    /// Number of keys.
    pub(super) fn keys(&self) -> usize {
        let shards = self.shards.iter();
        shards.map(|it| it.lock().unwrap_or_else(PoisonError::into_inner).meters.len()).sum()
    }
}

/// Keys of each of so many `rates` that have `keys_max` together, so that none takes the room of another.
pub(super) fn share_keys(keys_max: u32, rates: usize) -> u32 {
    keys_max / u32::try_from(rates).unwrap_or(u32::MAX).max(1)
}

/// Removes the meter that is whole longest; false if none is.
fn remove_whole<M: Meter>(
    meters: &mut HashMap<u64, M, KeyHasher>,
    order: &mut BinaryHeap<Reverse<(u64, u64)>>,
    now_ns: u64,
) -> bool {
    while let Some(&Reverse((early_ns, key))) = order.peek() {
        if early_ns > now_ns {
            return false;
        }
        order.pop();
        match meters.get(&key).map(M::whole_at_ns) {
            // Each such turn is paid for by a request that used the key since the turn before.
            Some(whole_at_ns) if whole_at_ns > now_ns => order.push(Reverse((whole_at_ns, key))),
            Some(_) | None => {
                meters.remove(&key);
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::meter::{BucketTerms, SECOND_NS, SlidingMinute, TokenBucket};
    use super::*;

    /// One request in ten seconds.
    fn terms() -> BucketTerms {
        BucketTerms::new(1, 10, 1)
    }

    /// A table, with its requests that had no place.
    struct CrowdedTable<M> {
        table: KeyTable<M>,
        crowded: CrowdedCount,
    }

    fn counted<M: Meter>(keys_max: usize) -> CrowdedTable<M> {
        CrowdedTable { table: KeyTable::new(keys_max as u32), crowded: CrowdedCount::default() }
    }

    fn take(counted: &CrowdedTable<TokenBucket>, key: u64, now_s: u64) -> bool {
        let now_ns = now_s * SECOND_NS;
        let take = |it: &mut TokenBucket| it.take(terms(), 1, now_ns).is_allowed;
        counted.table.update(key, now_ns, &counted.crowded, take)
    }

    #[test]
    fn keys_are_counted_apart() {
        let table = counted(1000);
        assert!(take(&table, 1, 0) && take(&table, 2, 0));
        assert!(!take(&table, 1, 9) && !take(&table, 2, 9));
        assert!(take(&table, 1, 10));
        assert_eq!((table.table.keys(), table.crowded.count()), (2, 0));
    }

    #[test]
    fn a_flood_of_keys_frees_nobody() {
        let table = counted(SHARDS);
        assert!(take(&table, 7, 0));
        let served = (1000..5000).filter(|key| take(&table, *key, 1)).count();
        assert!(served <= SHARDS * (COMMON_METERS + 1), "{served}");
        assert_eq!(table.table.keys(), SHARDS);
        assert!(table.crowded.count() > 3000);
        assert!(!take(&table, 7, 9), "its meter is still there");
        assert!(take(&table, 7, 10));
    }

    #[test]
    fn meters_that_are_whole_make_room() {
        let table = counted(SHARDS);
        // All in one shard.
        let key = |number: u64| number * SHARDS as u64;
        for turn in 0..100 {
            assert!(take(&table, key(turn), turn * 10));
        }
        assert_eq!((table.table.keys(), table.crowded.count()), (1, 0));
    }

    #[test]
    fn a_meter_that_was_used_again_stays() {
        let table = counted(2 * SHARDS);
        let key = |number: u64| number * SHARDS as u64;
        assert!(take(&table, key(1), 0) && take(&table, key(2), 1));
        assert!(take(&table, key(1), 10));
        // The meter of 2 is whole, that of 1 is not.
        assert!(take(&table, key(3), 12));
        assert!(!take(&table, key(1), 12) && !take(&table, key(3), 13));
        assert_eq!(table.table.keys(), 2);
    }

    #[test]
    fn other_terms_and_less_room_make_room_as_soon_as_meters_are_whole() {
        let table = counted(2 * SHARDS);
        let key = |number: u64| number * SHARDS as u64;
        for number in [1, 2] {
            let take = |it: &mut TokenBucket| it.take(BucketTerms::new(1, 86_400, 1), 1, 0).is_allowed;
            assert!(table.table.update(key(number), 0, &table.crowded, take));
        }
        table.table.set_keys_max(SHARDS as u32);
        table.table.update_all(|it| it.cap(terms(), 0));
        assert!(take(&table, key(3), 9), "of the common meters");
        assert_eq!((table.table.keys(), table.crowded.count()), (2, 1));
        assert!(take(&table, key(4), 10));
        assert_eq!((table.table.keys(), table.crowded.count()), (1, 1));
    }

    #[test]
    fn minutes_are_kept_as_buckets_are() {
        let CrowdedTable { table, crowded } = counted::<SlidingMinute>(SHARDS);
        let take = |key: u64, now_s: u64| {
            table.update(key, now_s * SECOND_NS, &crowded, |it| it.take(1, now_s * SECOND_NS).is_allowed)
        };
        assert!(take(0, 0) && !take(0, 60));
        assert!(take(SHARDS as u64, 61));
        assert_eq!(table.keys(), 1);
    }
}

//! Cache of this process: bounded in bytes, with an eviction policy that keeps frequently read entries.
//!
//! **Cost:** a look is a lock for reading on one part of the whole, and a count of references.

use super::entry::Entry;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{OptionsBuilder, Weighter};
use std::sync::Arc;
use weir_engine::keys::{CarriedHash, KeyRef, SharedKey};

/// Minimum size of a shard; a small cache has fewer shards.
const PART_BYTES_MIN: u64 = 4 * 1024 * 1024;
const PARTS_MAX: u64 = 32;
/// Overhead of the cache's tables per entry, in bytes, estimated.
const TABLES_BYTES: usize = 96;
/// Typical size of an entry, from which the number of entries follows.
const ENTRY_BYTES: u64 = 1024;

/// Contents of a key.
#[derive(Clone, Debug)]
pub(super) enum CacheSlot {
    /// An answer.
    Entry(Arc<Entry>),
    /// Answers under this key were private: do not coalesce before this time.
    Pass { until_ms: u64 },
}

#[derive(Clone, Debug)]
struct Bytes;

impl Weighter<SharedKey, CacheSlot> for Bytes {
    fn weight(&self, key: &SharedKey, slot: &CacheSlot) -> u64 {
        let held = match slot {
            CacheSlot::Entry(entry) => entry.bytes_held(),
            CacheSlot::Pass { .. } => 0,
        };
        (TABLES_BYTES + key.bytes().len() + held) as u64
    }
}

/// The store.
#[derive(Debug)]
pub(super) struct Level1 {
    slots: Cache<SharedKey, CacheSlot, Bytes, CarriedHash>,
}

impl Level1 {
    pub(super) fn new(bytes_max: u64) -> Self {
        let parts = (bytes_max / PART_BYTES_MIN).clamp(1, PARTS_MAX);
        let options = OptionsBuilder::new()
            .weight_capacity(bytes_max)
            .estimated_items_capacity((bytes_max / ENTRY_BYTES) as usize)
            .shards(parts as usize)
            .build();
        // All required options are set above.
        let options = options.unwrap_or_else(|_| unreachable!("capacities are set"));
        let slots = Cache::with_options(options, Bytes, CarriedHash, DefaultLifecycle::default());
        Self { slots }
    }

    pub(super) fn lookup(&self, key: KeyRef<'_>) -> Option<CacheSlot> {
        self.slots.get(&key)
    }

    pub(super) fn keep(&self, key: &SharedKey, slot: CacheSlot) {
        self.slots.insert(key.clone(), slot);
    }

    pub(super) fn forget(&self, key: KeyRef<'_>) {
        self.slots.remove(&key);
    }

    /// Bytes in use.
    pub(super) fn bytes(&self) -> u64 {
        self.slots.weight()
    }

    /// Number of keys in the cache.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }
}

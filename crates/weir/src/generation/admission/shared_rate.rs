//! Rates that all processes behind one Redis share.
//!
//! **Invariant:** where Redis does not answer in time, the process decides by its own share of the rate, and counts that it did.

use super::meter::MeterReading;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use weir_http::cache::{BucketTake, Cache, SharedBucket};

/// Microseconds of a second.
const SECOND_US: u64 = 1_000_000;

/// Decisions that processes made by themselves.
#[derive(Debug, Default)]
pub(super) struct LocalDecisions(AtomicU64);

impl LocalDecisions {
    pub(super) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Key of a caller under a rate, equal in all processes.
pub(super) struct SharedKey {
    bytes: Vec<u8>,
}

impl SharedKey {
    /// The key of the rate `name` whose parts `write` gives.
    pub(super) fn new(name: &str, write: impl FnOnce(&mut dyn FnMut(&[u8]))) -> Self {
        let mut bytes = name.as_bytes().to_vec();
        bytes.push(0);
        write(&mut |part| bytes.extend_from_slice(part));
        Self { bytes }
    }

    /// Hash of the key for clients.
    pub(super) fn partition(&self) -> u64 {
        let digest: [u8; 32] = Sha256::digest(&self.bytes).into();
        digest.first_chunk().copied().map_or(0, u64::from_be_bytes)
    }
}

/// Terms of `requests` in `window_s` seconds, `burst` of them at once.
pub(super) fn shared_bucket(requests: u32, window_s: u32, burst: u32) -> SharedBucket {
    let interval_us = (u64::from(window_s) * SECOND_US).div_ceil(u64::from(requests.max(1)));
    SharedBucket { interval_us, capacity_us: interval_us.saturating_mul(u64::from(burst)) }
}

/// Buckets in Redis.
pub(super) struct SharedRates {
    cache: Arc<Cache>,
    local: Arc<LocalDecisions>,
}

impl SharedRates {
    /// Buckets behind `cache`; `local` counts decisions without them.
    pub(super) const fn new(cache: Arc<Cache>, local: Arc<LocalDecisions>) -> Self {
        Self { cache, local }
    }

    /// Counts decisions without Redis in `local`.
    pub(super) fn count_in(&mut self, local: &Arc<LocalDecisions>) {
        self.local = Arc::clone(local);
    }

    /// Takes `cost` tokens of the bucket of `key`; `None` if Redis does not answer in time.
    pub(super) async fn take(
        &self,
        key: &SharedKey,
        bucket: SharedBucket,
        cost: u32,
    ) -> Option<MeterReading> {
        let tokens = i32::try_from(cost).unwrap_or(i32::MAX);
        let Some(take) = self.cache.take_tokens(&key.bytes, bucket, tokens).await else {
            self.local.0.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        Some(reading(bucket, take, cost))
    }

    /// Puts `cost` tokens back. A bucket that cannot be reached fills by itself.
    pub(super) async fn give_back(&self, key: &SharedKey, bucket: SharedBucket, cost: u32) {
        let tokens = i32::try_from(cost).unwrap_or(i32::MAX);
        let _ = self.cache.take_tokens(&key.bytes, bucket, -tokens).await;
    }
}

/// Result of `take`, for a client.
fn reading(bucket: SharedBucket, take: BucketTake, cost: u32) -> MeterReading {
    let SharedBucket { interval_us, capacity_us } = bucket;
    let interval_us = interval_us.max(1);
    let spare_us = capacity_us.saturating_sub(take.missing_us);
    let remaining = u32::try_from(spare_us / interval_us).unwrap_or(u32::MAX);
    let wait_us = if take.is_taken {
        interval_us - spare_us % interval_us
    } else {
        interval_us.saturating_mul(u64::from(cost)).saturating_sub(spare_us)
    };
    MeterReading { is_allowed: take.is_taken, remaining, wait_ns: wait_us.saturating_mul(1000) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_bucket_is_read_as_one_of_the_process() {
        let bucket = shared_bucket(3, 6, 3);
        assert_eq!(bucket, SharedBucket { interval_us: 2_000_000, capacity_us: 6_000_000 });
        for (is_taken, missing_us, expected) in [
            (true, 2_000_000, (true, 2, 2_000_000_000)),
            (true, 5_500_000, (true, 0, 1_500_000_000)),
            (false, 5_500_000, (false, 0, 1_500_000_000)),
        ] {
            let found = reading(bucket, BucketTake { is_taken, missing_us }, 1);
            assert_eq!((found.is_allowed, found.remaining, found.wait_ns), expected);
        }
    }

    #[test]
    fn a_key_is_equal_in_all_processes() {
        let key = |name: &str, part: &[u8]| SharedKey::new(name, |take| take(part));
        assert_eq!(key("a", b"1").partition(), key("a", b"1").partition());
        assert_ne!(key("a", b"1").partition(), key("a", b"2").partition());
    }
}

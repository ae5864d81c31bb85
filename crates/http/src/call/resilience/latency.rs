//! Usual latency of a service: slower calls are hedged.
//!
//! Four buckets for each doubling: the percentile is at most a quarter too high, which for a hedge is as good as exact.
//!
//! **Cost:** one addition for an answer, and a walk over the buckets for each 128th.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Four buckets for each of 32 powers of two of a microsecond: more than an hour.
const BUCKETS: usize = 128;

/// Number of answers between updates of the percentile, and before its first value.
const ROUND: u32 = 128;

/// Number of answers after which older ones count half.
const MEMORY: u32 = 2048;

/// A histogram of the latencies of one service.
pub(crate) struct Latency {
    buckets: [AtomicU32; BUCKETS],
    seen: AtomicU32,
    percentile: u8,
    /// The percentile in microseconds; 0 while there are too few answers.
    usual: AtomicU64,
}

impl Latency {
    pub(crate) fn new(percentile: u8) -> Self {
        let buckets = std::array::from_fn(|_| AtomicU32::new(0));
        Self {
            buckets,
            seen: AtomicU32::new(0),
            percentile: percentile.clamp(1, 99),
            usual: AtomicU64::new(0),
        }
    }

    /// The percentile of the latencies; `None` while there are too few.
    pub(crate) fn usual(&self) -> Option<Duration> {
        match self.usual.load(Ordering::Relaxed) {
            0 => None,
            micros => Some(Duration::from_micros(micros)),
        }
    }

    /// Records the latency of an answer.
    pub(crate) fn record(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.buckets[bucket(micros)].fetch_add(1, Ordering::Relaxed);
        if self.seen.fetch_add(1, Ordering::Relaxed) % ROUND == ROUND - 1 {
            self.learn();
        }
    }

    fn learn(&self) {
        let counts = self.buckets.each_ref().map(|it| it.load(Ordering::Relaxed));
        let all: u32 = counts.iter().sum();
        let below = u64::from(all) * u64::from(self.percentile);
        let mut so_far = 0;
        let reaches = |count: &u32| {
            so_far += u64::from(*count);
            so_far * 100 >= below
        };
        let at = counts.iter().position(reaches).unwrap_or(BUCKETS - 1);
        self.usual.store(end_of(at), Ordering::Relaxed);
        if all >= MEMORY {
            for (bucket, count) in self.buckets.iter().zip(counts) {
                bucket.fetch_sub(count / 2, Ordering::Relaxed);
            }
        }
    }
}

/// Bucket of a latency of `micros`.
fn bucket(micros: u64) -> usize {
    let micros = micros.max(4);
    let doubling = micros.ilog2();
    let quarter = (micros >> (doubling - 2)) & 3;
    (doubling as usize * 4 + quarter as usize).min(BUCKETS - 1)
}

/// Upper bound of a bucket, in microseconds.
fn end_of(bucket: usize) -> u64 {
    (5 + bucket as u64 % 4) << (bucket as u64 / 4).saturating_sub(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(percentile: u8, micros: impl Iterator<Item = u64>, expected: Option<u64>) {
        let latency = Latency::new(percentile);
        micros.for_each(|it| latency.record(Duration::from_micros(it)));
        assert_eq!(latency.usual(), expected.map(Duration::from_micros));
    }

    #[test]
    fn a_percentile_is_known_within_a_quarter() {
        check(95, (0..127).map(|_| 1000), None);
        check(95, (0..128).map(|_| 1000), Some(1024));
        check(95, (0..1280).map(|it| if it % 10 == 0 { 100_000 } else { 1000 }), Some(114_688));
        check(50, (0..1280).map(|it| if it % 10 == 0 { 100_000 } else { 1000 }), Some(1024));
        check(95, (1..=100).cycle().take(12_800).map(|it| it * 1000), Some(98_304));
    }

    #[test]
    fn what_was_long_ago_is_forgotten() {
        check(95, (0..4096).map(|_| 500_000).chain((0..40_960).map(|_| 1000)), Some(1024));
    }

    #[test]
    fn every_length_has_a_bucket_that_ends_behind_it() {
        for micros in [0, 1, 3, 4, 5, 7, 8, 1023, 1024, 1_000_000, 3_000_000_000] {
            let at = bucket(micros);
            assert!(end_of(at) > micros && (at == 8 || end_of(at - 1) <= micros), "{micros}");
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }
}

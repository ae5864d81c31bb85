//! Durations in powers of two, counted by many threads at once.
//!
//! **Invariant:** nothing counted is lost; a reader may see a duration before the sum that it belongs to.
//!
//! **Cost:** two additions to words that other threads seldom write; nothing is allocated.

use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Buckets: the one at place `i` holds durations of at most `2^i` microseconds; the last one also those that are longer.
pub const BUCKETS: usize = 28;

/// Stripes of durations that every request counts.
const STRIPES: usize = 16;

/// Durations of something that begins and ends.
pub struct Durations {
    stripes: Box<[Stripe]>,
}

/// Counts of the threads with one number. A cache line and its neighbour, which processors fetch together, are no other's.
#[derive(Debug)]
#[repr(align(128))]
struct Stripe {
    begun: AtomicU64,
    sum_ns: AtomicU64,
    buckets: [AtomicU64; BUCKETS],
}

impl Default for Stripe {
    fn default() -> Self {
        let buckets = std::array::from_fn(|_| AtomicU64::new(0));
        Self { begun: AtomicU64::new(0), sum_ns: AtomicU64::new(0), buckets }
    }
}

thread_local! {
    static STRIPE: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed)
    };
}

/// Counts of [`Durations`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DurationCounts {
    /// Durations that have begun; less than `ended` if the source does not report beginnings.
    pub begun: u64,
    /// Durations that have ended.
    pub count: u64,
    /// Their sum, in nanoseconds.
    pub sum_ns: u64,
    /// Durations that have ended, by bucket.
    pub buckets: [u64; BUCKETS],
}

impl Durations {
    /// For what every request does, on all threads.
    pub fn busy() -> Self {
        Self { stripes: (0..STRIPES).map(|_| Stripe::default()).collect() }
    }

    /// For what happens seldom enough that threads may share one place.
    pub fn small() -> Self {
        Self { stripes: Box::new([Stripe::default()]) }
    }

    fn stripe(&self) -> &Stripe {
        &self.stripes[STRIPE.with(|number| *number) % self.stripes.len()]
    }

    /// Counts a beginning.
    pub fn begin(&self) {
        self.stripe().begun.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an end after `took`.
    pub fn record(&self, took: Duration) {
        let stripe = self.stripe();
        let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        stripe.buckets[bucket(ns)].fetch_add(1, Ordering::Relaxed);
        stripe.sum_ns.fetch_add(ns, Ordering::Relaxed);
    }

    /// The counts up to now.
    pub fn counts(&self) -> DurationCounts {
        let mut sum = DurationCounts::default();
        for stripe in &self.stripes {
            // Ends first, so that nothing ends before it begins.
            for (all, own) in sum.buckets.iter_mut().zip(&stripe.buckets) {
                let ended = own.load(Ordering::Relaxed);
                *all += ended;
                sum.count += ended;
            }
            sum.sum_ns = sum.sum_ns.wrapping_add(stripe.sum_ns.load(Ordering::Relaxed));
            sum.begun += stripe.begun.load(Ordering::Relaxed);
        }
        sum
    }
}

impl DurationCounts {
    /// Durations that have begun and not ended.
    pub fn in_flight(&self) -> u64 {
        self.begun.saturating_sub(self.count)
    }
}

impl fmt::Debug for Durations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.counts().fmt(f)
    }
}

/// Bucket of a duration: the lowest whose bound is not below it.
fn bucket(ns: u64) -> usize {
    let us = ns.div_ceil(1000);
    (us.saturating_sub(1).checked_ilog2().map_or(0, |it| it as usize + 1)).min(BUCKETS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_what_is_at_most_its_bound() {
        for (ns, expected) in [(0, 0), (1, 0), (1000, 0), (1001, 1), (2000, 1), (2001, 2), (4000, 2)] {
            assert_eq!(bucket(ns), expected, "{ns}");
        }
        assert_eq!((bucket(1 << 20), bucket(u64::MAX)), (11, BUCKETS - 1));
    }

    #[test]
    fn counts_of_all_threads_are_summed() {
        for durations in [Durations::busy(), Durations::small()] {
            std::thread::scope(|scope| {
                for _ in 0..20 {
                    scope.spawn(|| {
                        durations.begin();
                        durations.begin();
                        durations.record(Duration::from_micros(3));
                    });
                }
            });
            let counts = durations.counts();
            assert_eq!((counts.begun, counts.count, counts.in_flight()), (40, 20, 20));
            assert_eq!((counts.buckets[2], counts.sum_ns), (20, 60_000));
        }
    }
}

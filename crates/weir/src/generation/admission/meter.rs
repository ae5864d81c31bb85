//! Remaining requests of one caller under one rate: a token bucket, or a sliding minute as Hasura's.
//!
//! **Invariant:** time comes from outside and only counts forward; a meter that is whole again says no more than a new one does.

use std::collections::VecDeque;

/// Nanoseconds of a second.
pub(super) const SECOND_NS: u64 = 1_000_000_000;

/// Answer of a meter to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MeterReading {
    pub(super) is_allowed: bool,
    /// Requests that may come at once from now on.
    pub(super) remaining: u32,
    /// Time until there are more of them or, after a refusal, until the request is allowed.
    pub(super) wait_ns: u64,
}

/// State of one caller under one rate.
pub(super) trait Meter: Default {
    /// Time from which on the meter is like a new one.
    fn whole_at_ns(&self) -> u64;
}

/// Terms of a token bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BucketTerms {
    /// Time in which a token comes back.
    interval_ns: u64,
    /// Time in which an empty bucket fills.
    capacity_ns: u64,
}

impl BucketTerms {
    /// Terms of `requests` in `window_s` seconds, `burst` of them at once.
    pub(super) fn new(requests: u32, window_s: u32, burst: u32) -> Self {
        let window_ns = u64::from(window_s) * SECOND_NS;
        // Rounded up, so that no window has one request too many.
        let interval_ns = window_ns.div_ceil(u64::from(requests.max(1)));
        Self { interval_ns, capacity_ns: interval_ns.saturating_mul(u64::from(burst)) }
    }

    fn tokens(self, time_ns: u64) -> u32 {
        u32::try_from(time_ns / self.interval_ns.max(1)).unwrap_or(u32::MAX)
    }
}

/// A token bucket, as the time at which it is full: the generic cell rate algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TokenBucket {
    full_at_ns: u64,
}

impl Meter for TokenBucket {
    fn whole_at_ns(&self) -> u64 {
        self.full_at_ns
    }
}

impl TokenBucket {
    /// Takes `cost` tokens, if there are so many.
    pub(super) fn take(&mut self, terms: BucketTerms, cost: u32, now_ns: u64) -> MeterReading {
        let BucketTerms { interval_ns, capacity_ns } = terms;
        self.cap(terms, now_ns);
        let full_at_ns = self.full_at_ns.max(now_ns);
        let after_ns = full_at_ns.saturating_add(interval_ns.saturating_mul(u64::from(cost)));
        let latest_ns = now_ns.saturating_add(capacity_ns);
        if after_ns > latest_ns {
            let remaining = terms.tokens(latest_ns.saturating_sub(full_at_ns));
            return MeterReading { is_allowed: false, remaining, wait_ns: after_ns - latest_ns };
        }
        self.full_at_ns = after_ns;
        let spare_ns = latest_ns - after_ns;
        let wait_ns = interval_ns - spare_ns % interval_ns.max(1);
        MeterReading { is_allowed: true, remaining: terms.tokens(spare_ns), wait_ns }
    }

    /// Makes the bucket no emptier than `terms` know: what it lacks by earlier terms would refuse its caller longer than they say.
    pub(super) fn cap(&mut self, terms: BucketTerms, now_ns: u64) {
        self.full_at_ns = self.full_at_ns.min(now_ns.saturating_add(terms.capacity_ns));
    }

    /// Puts `cost` tokens back that were taken for a request which another rate refused.
    pub(super) fn give_back(&mut self, terms: BucketTerms, cost: u32) {
        self.full_at_ns = self.full_at_ns.saturating_sub(terms.interval_ns.saturating_mul(u64::from(cost)));
    }
}

/// Seconds for which a request counts: a minute, and the rest of the second in which it came.
const COUNTED_S: u64 = 61;

/// Requests of the last minute by their seconds, so there are never more than allowed in any minute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SlidingMinute {
    /// Seconds with requests, ascending, and their numbers; at most [`COUNTED_S`].
    seconds: VecDeque<(u32, u32)>,
    count: u32,
}

impl Meter for SlidingMinute {
    fn whole_at_ns(&self) -> u64 {
        self.seconds.back().map_or(0, |it| (u64::from(it.0) + COUNTED_S) * SECOND_NS)
    }
}

impl SlidingMinute {
    /// Counts a request, unless there were `requests_max` already.
    pub(super) fn take(&mut self, requests_max: u32, now_ns: u64) -> MeterReading {
        let now_s = now_ns / SECOND_NS;
        while let Some(&(second, requests)) = self.seconds.front()
            && u64::from(second) + COUNTED_S <= now_s
        {
            self.seconds.pop_front();
            self.count -= requests;
        }
        let is_allowed = self.count < requests_max;
        if is_allowed {
            self.count += 1;
            let second = u32::try_from(now_s).unwrap_or(u32::MAX);
            match self.seconds.back_mut().filter(|it| it.0 >= second) {
                Some(last) => last.1 += 1,
                None => self.seconds.push_back((second, 1)),
            }
        }
        let free_at_ns =
            self.seconds.front().map_or(now_s + COUNTED_S, |it| u64::from(it.0) + COUNTED_S) * SECOND_NS;
        let remaining = requests_max.saturating_sub(self.count);
        MeterReading { is_allowed, remaining, wait_ns: free_at_ns.saturating_sub(now_ns) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = SECOND_NS / 1000;

    /// Takes at these milliseconds; `(allowed, remaining, milliseconds to wait)` of each.
    fn bucket(terms: BucketTerms, at_ms: &[u64]) -> Vec<(bool, u32, u64)> {
        let mut bucket = TokenBucket::default();
        let readings = at_ms.iter().map(|at| bucket.take(terms, 1, at * MS));
        readings.map(|it| (it.is_allowed, it.remaining, it.wait_ns / MS)).collect()
    }

    #[test]
    fn a_bucket_gives_its_tokens_at_once_and_gets_them_back_one_by_one() {
        let terms = BucketTerms::new(3, 6, 3);
        assert_eq!(
            bucket(terms, &[0, 0, 500, 500, 1999, 2000, 2001, 9000]),
            [
                (true, 2, 2000),
                (true, 1, 2000),
                (true, 0, 1500),
                (false, 0, 1500),
                (false, 0, 1),
                (true, 0, 2000),
                (false, 0, 1999),
                (true, 2, 2000)
            ]
        );
    }

    #[test]
    fn a_burst_may_be_smaller_than_the_quota() {
        let terms = BucketTerms::new(60, 60, 2);
        assert_eq!(
            bucket(terms, &[0, 0, 0, 1000, 1000]).iter().map(|it| it.0).collect::<Vec<_>>(),
            [true, true, false, true, false]
        );
    }

    #[test]
    fn no_window_after_a_full_bucket_has_more_than_its_rate() {
        for (requests, window_s) in [(1, 1), (7, 60), (1000, 3), (1_000_000_000, 1)] {
            let terms = BucketTerms::new(requests, window_s, 1);
            let mut bucket = TokenBucket::default();
            let mut now_ns = 0;
            for _ in 0..1000 {
                let reading = bucket.take(terms, 1, now_ns);
                assert!(reading.is_allowed);
                now_ns += reading.wait_ns;
            }
            let rate = u128::from(now_ns) * u128::from(requests);
            assert!(rate >= 1000 * u128::from(window_s) * u128::from(SECOND_NS), "{requests} in {window_s}");
        }
    }

    #[test]
    fn what_costs_more_takes_more_and_what_costs_too_much_is_refused() {
        let terms = BucketTerms::new(10, 10, 10);
        let mut bucket = TokenBucket::default();
        assert_eq!(bucket.take(terms, 7, 0).remaining, 3);
        let refused = bucket.take(terms, 4, 0);
        assert_eq!((refused.is_allowed, refused.remaining, refused.wait_ns), (false, 3, SECOND_NS));
        assert!(bucket.take(terms, 3, 0).is_allowed);
        assert!(!TokenBucket::default().take(terms, 11, 0).is_allowed);
        bucket.give_back(terms, 3);
        assert!(bucket.take(terms, 3, 0).is_allowed);
    }

    #[test]
    fn a_bucket_that_other_terms_emptied_lacks_no_more_than_its_own() {
        let day = BucketTerms::new(1, 86_400, 1);
        let minute = BucketTerms::new(60, 60, 10);
        let mut bucket = TokenBucket::default();
        assert!(bucket.take(day, 1, 0).is_allowed);
        let refused = bucket.take(minute, 1, 0);
        assert_eq!((refused.is_allowed, refused.remaining, refused.wait_ns), (false, 0, SECOND_NS));
        assert!(bucket.take(minute, 1, SECOND_NS).is_allowed);
        assert!(!bucket.take(minute, 1, SECOND_NS).is_allowed);
        assert_eq!(bucket.take(minute, 1, 11 * SECOND_NS).remaining, 9);
    }

    /// Takes at these milliseconds; true for each that is allowed.
    fn minute(requests_max: u32, at_ms: &[u64]) -> Vec<bool> {
        let mut minute = SlidingMinute::default();
        at_ms.iter().map(|at| minute.take(requests_max, at * MS).is_allowed).collect()
    }

    #[test]
    fn a_minute_slides() {
        assert_eq!(
            minute(2, &[0, 30_000, 59_000, 61_000, 62_000, 91_000]),
            [true, true, false, true, false, true]
        );
        assert_eq!(minute(0, &[0]), [false]);
        // One more would be the third within a minute.
        assert_eq!(minute(2, &[900, 900, 60_800]), [true, true, false]);
        let mut minute = SlidingMinute::default();
        let readings = [0, 10_000].map(|at| minute.take(2, at * MS));
        assert_eq!(readings.map(|it| (it.remaining, it.wait_ns / SECOND_NS)), [(1, 61), (0, 51)]);
        let refused = minute.take(2, 20_000 * MS);
        assert_eq!((refused.is_allowed, refused.wait_ns / SECOND_NS), (false, 41));
        assert!(minute.take(2, 20_000 * MS + refused.wait_ns).is_allowed);
    }

    #[test]
    fn a_minute_keeps_no_more_than_its_seconds() {
        let mut minute = SlidingMinute::default();
        for at in 0..100_000 {
            minute.take(u32::MAX, at * 10 * MS);
        }
        assert!(minute.seconds.len() as u64 <= COUNTED_S, "{}", minute.seconds.len());
        assert_eq!(minute.count, minute.seconds.iter().map(|it| it.1).sum::<u32>());
    }
}

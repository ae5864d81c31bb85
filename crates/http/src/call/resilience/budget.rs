//! Retry budget: retries and hedges must not become the load of a failing service.
//!
//! A bucket of tokens: each call puts a share of one in, each further attempt takes one out.
//!
//! **Cost:** a full bucket, the usual case, is only read.

use std::sync::atomic::{AtomicU32, Ordering};

/// A token, in the unit of the bucket.
const TOKEN: u32 = 100;

/// Initial tokens: ten attempts.
const FIRST: u32 = 10 * TOKEN;

/// Maximum number of tokens, which limits a burst of retries.
const MOST: u32 = 100 * TOKEN;

/// The retry budget of one service, in hundredths of a call.
pub(crate) struct Budget {
    hundredths: AtomicU32,
    percent: u32,
}

impl Budget {
    pub(crate) fn new(percent: u32) -> Self {
        let first = if percent == 0 { 0 } else { FIRST };
        Self { hundredths: AtomicU32::new(first), percent: percent.min(MOST) }
    }

    /// Adds the share of one call. Concurrent threads may exceed the maximum slightly.
    pub(crate) fn earn(&self) {
        if self.hundredths.load(Ordering::Relaxed) < MOST {
            self.hundredths.fetch_add(self.percent, Ordering::Relaxed);
        }
    }

    /// Takes a token; false if there is none.
    pub(crate) fn spend(&self) -> bool {
        let taken = |it: u32| it.checked_sub(TOKEN);
        self.hundredths.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(percent: u32, calls: usize, expected: usize) {
        let budget = Budget::new(percent);
        (0..calls).for_each(|_| budget.earn());
        let spent = (0..1000).take_while(|_| budget.spend()).count();
        assert_eq!(spent, expected, "{percent} % of {calls} calls");
    }

    #[test]
    fn further_attempts_are_a_share_of_the_calls_and_a_few() {
        check(20, 0, 10);
        check(20, 50, 20);
        check(20, 100_000, 100);
        check(0, 100_000, 0);
    }
}

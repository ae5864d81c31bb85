//! Counters of one caller of a service: calls, durations, outcomes, attempts.
//!
//! **Cost:** a few additions per call; nothing is allocated.

use super::{Answer, Failure};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use weir_engine::durations::Durations;
use weir_engine::source::CallerCalls;

/// Outcomes: classes of statuses, codes of [`super::CallError`], and dropped calls.
const OUTCOMES: [&str; 13] = [
    "1xx",
    "2xx",
    "3xx",
    "4xx",
    "5xx",
    "SOURCE_TIMEOUT",
    "POOL_TIMEOUT",
    "SOURCE_UNAVAILABLE",
    "SOURCE_TOO_LARGE",
    "SOURCE_ANSWER",
    "SOURCE_REDIRECTED",
    "BAD_USER_INPUT",
    ABANDONED,
];
const ABANDONED: &str = "abandoned";

/// Counters of one caller.
#[derive(Debug)]
pub struct CallCounts {
    caller: Arc<str>,
    took: Durations,
    outcomes: [AtomicU64; OUTCOMES.len()],
    retries: AtomicU64,
    hedges: AtomicU64,
}

impl CallCounts {
    /// Counters of `caller`, all zero.
    pub fn new(caller: Arc<str>) -> Self {
        let outcomes = std::array::from_fn(|_| AtomicU64::new(0));
        let retries = AtomicU64::new(0);
        let hedges = AtomicU64::new(0);
        Self { caller, took: Durations::small(), outcomes, retries, hedges }
    }

    /// Runs and counts `call`; a dropped call counts too.
    /// # Errors
    /// Errors of the call.
    pub async fn count(
        &self,
        call: impl Future<Output = Result<Answer, Failure>>,
    ) -> Result<Answer, Failure> {
        self.took.begin();
        let counted = Counted { counts: self, outcome: ABANDONED, began: Instant::now() };
        let outcome = call.await;
        counted.end(&outcome);
        outcome
    }

    /// Current counters.
    pub fn calls(&self) -> CallerCalls {
        let load = |it: &AtomicU64| it.load(Ordering::Relaxed);
        let outcomes = OUTCOMES.into_iter().zip(self.outcomes.iter().map(load));
        CallerCalls {
            caller: Arc::clone(&self.caller),
            outcomes: outcomes.filter(|it| it.1 > 0).collect(),
            retries: load(&self.retries),
            hedges: load(&self.hedges),
            took: self.took.counts(),
        }
    }
}

/// A call in flight; dropping it counts the call.
struct Counted<'c> {
    counts: &'c CallCounts,
    outcome: &'static str,
    began: Instant,
}

impl Counted<'_> {
    fn end(mut self, outcome: &Result<Answer, Failure>) {
        let (name, went) = match outcome {
            Ok(answer) => {
                let class = usize::from(answer.status.as_u16() / 100).clamp(1, 5);
                (OUTCOMES[class - 1], &answer.went)
            }
            Err(failure) => (failure.error.code(), &failure.went),
        };
        self.outcome = name;
        let retries = went.attempts.saturating_sub(1 + went.hedges);
        self.counts.retries.fetch_add(retries.into(), Ordering::Relaxed);
        self.counts.hedges.fetch_add(went.hedges.into(), Ordering::Relaxed);
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.counts.took.record(self.began.elapsed());
        if let Some(at) = OUTCOMES.iter().position(|it| *it == self.outcome) {
            self.counts.outcomes[at].fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{CallError, Cause, Went};
    use futures_util::FutureExt;

    #[test]
    fn every_call_is_counted_with_its_outcome() {
        let counts = CallCounts::new("Query.a".into());
        let went = Went { attempts: 4, hedges: 1, ..Went::default() };
        let fail = |error| counts.count(std::future::ready(Err(Failure { error, went }))).now_or_never();
        let causes = [
            CallError::Timeout,
            CallError::Busy,
            CallError::Broken,
            CallError::Unavailable(Cause::Name, "".into()),
            CallError::TooLarge { bytes_max: 1 },
            CallError::Coded("br".into()),
            CallError::Packed("".into()),
            CallError::Redirected,
            CallError::Unmade { told: "".into(), why: "".into() },
        ];
        let all = causes.len() as u64;
        causes.into_iter().for_each(|it| assert!(fail(it).expect("it is ready").is_err()));
        assert!(counts.count(std::future::pending()).now_or_never().is_none());
        let calls = counts.calls();
        assert_eq!(calls.outcomes.iter().map(|it| it.1).sum::<u64>(), all + 1, "each code has a place");
        assert!(
            calls.outcomes.contains(&("SOURCE_UNAVAILABLE", 2)) && calls.outcomes.contains(&(ABANDONED, 1))
        );
        assert_eq!((calls.retries, calls.hedges), (2 * all, all));
        assert_eq!((calls.took.count, calls.took.in_flight()), (all + 1, 0));
    }
}

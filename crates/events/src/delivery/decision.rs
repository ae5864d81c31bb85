//! The fate of an event after an attempt.

use std::time::Duration;

/// Further attempts of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Number of attempts after the first.
    pub retries: u32,
    /// Pause before another attempt; it does not grow.
    pub interval: Duration,
}

/// State of an event after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Delivered,
    /// It is tried again after a pause.
    Retry(Duration),
    /// It has failed, and is not tried again.
    Failed,
}

/// Decides after an attempt that failed if it was not `is_success`. `tries` were made before, and the receiver asked for the pause
/// `retry_after`, which it gets even when the tries are used up.
pub fn decide(is_success: bool, retry_after: Option<Duration>, tries: u32, policy: RetryPolicy) -> Decision {
    match retry_after {
        _ if is_success => Decision::Delivered,
        Some(pause) => Decision::Retry(pause),
        None if tries < policy.retries => Decision::Retry(policy.interval),
        None => Decision::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_one_more_than_retries() {
        let policy = RetryPolicy { retries: 2, interval: Duration::from_secs(10) };
        let check = |is_success, retry_after: Option<u64>, tries, expected| {
            let found = decide(is_success, retry_after.map(Duration::from_secs), tries, policy);
            assert_eq!(found, expected);
        };
        let retry = |seconds| Decision::Retry(Duration::from_secs(seconds));
        check(true, None, 0, Decision::Delivered);
        check(true, Some(5), 7, Decision::Delivered);
        check(false, None, 0, retry(10));
        check(false, None, 1, retry(10));
        check(false, None, 2, Decision::Failed);
        check(false, Some(5), 0, retry(5));
        check(false, Some(5), 100, retry(5));
    }
}

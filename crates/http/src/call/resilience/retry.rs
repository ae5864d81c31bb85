//! Decides whether and when a call is retried.

use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use std::time::{Duration, SystemTime};

/// The wait before the first retry; it doubles with each.
const FIRST_WAIT: Duration = Duration::from_millis(25);

/// Longest wait, unless the service asks for a longer one.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// True if `status` reports the state of the service, not a fault of the request.
pub(crate) fn is_failure(status: StatusCode) -> bool {
    status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED
}

/// Wait before a retry after an answer; `None` if a retry is useless.
///
/// 429 asks for fewer calls, so it is retried only if `Retry-After` states a time.
pub(crate) fn wait_after(status: StatusCode, headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let named = || retry_after(headers, now);
    match status {
        StatusCode::TOO_MANY_REQUESTS => named(),
        StatusCode::SERVICE_UNAVAILABLE => Some(named().unwrap_or_default()),
        _ => is_failure(status).then_some(Duration::ZERO),
    }
}

/// Value of `Retry-After`: seconds or a date. Source: RFC 9110, 10.2.3.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    match text.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => Some(httpdate::parse_http_date(text).ok()?.duration_since(now).unwrap_or_default()),
    }
}

/// Wait before a retry after `tried` others. `chance` (0 to 1) selects from the upper half of the interval: jitter keeps failed calls from
/// retrying at the same time.
pub(crate) fn backoff(tried: u32, chance: f64) -> Duration {
    let longest = FIRST_WAIT.saturating_mul(1 << tried.min(16)).min(LONGEST_WAIT);
    longest.mul_f64(0.5 + chance / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(status: u16, retry_after: Option<&str>, expected: Option<u64>) {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let headers = retry_after.map(|it| (RETRY_AFTER, it.parse().unwrap())).into_iter().collect();
        let wait = wait_after(StatusCode::from_u16(status).unwrap(), &headers, now);
        assert_eq!(wait, expected.map(Duration::from_secs), "{status} {retry_after:?}");
    }

    #[test]
    fn what_a_service_asks_for_is_waited() {
        check(503, Some("120"), Some(120));
        check(429, Some(" 3 "), Some(3));
        check(503, Some("Sun, 06 Nov 1994 08:50:37 GMT"), Some(60));
        check(503, Some("Sun, 06 Nov 1994 08:00:00 GMT"), Some(0));
    }

    #[test]
    fn only_what_may_pass_is_asked_again() {
        for (status, expected) in [(500, Some(0)), (502, Some(0)), (503, Some(0)), (504, Some(0))] {
            check(status, None, expected);
        }
        for status in [200, 304, 400, 404, 410, 429, 501] {
            check(status, None, None);
        }
        check(429, Some("soon"), None);
        check(503, Some("soon"), Some(0));
    }

    #[test]
    fn waits_double_up_to_a_second() {
        let check =
            |tried, chance, expected| assert_eq!(backoff(tried, chance), Duration::from_micros(expected));
        check(0, 0.0, 12_500);
        check(0, 1.0, 25_000);
        check(3, 1.0, 200_000);
        check(60, 1.0, 1_000_000);
    }
}

//! The answer of a webhook, read to its end.

use bytes::Bytes;
use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use std::time::Duration;

/// Maximum time that a webhook may ask for by `Retry-After`.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Clone, Debug)]
pub struct WebhookAnswer {
    /// Status of the answer; a redirect is not followed.
    pub status: StatusCode,
    /// Headers of the answer.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
}

impl WebhookAnswer {
    /// True for a status of 200 to 299.
    pub fn is_success(&self) -> bool {
        self.status.is_success()
    }

    /// Time of `Retry-After`, at most [`RETRY_AFTER_MAX`]: a positive whole number of seconds. Dates, signs, lists and 0 count as no
    /// header.
    pub fn retry_after(&self) -> Option<Duration> {
        let text = self.headers.get(RETRY_AFTER)?.to_str().ok()?.trim_matches([' ', '\t']);
        if text.is_empty() || !text.bytes().all(|it| it.is_ascii_digit()) {
            return None;
        }
        let digits = text.trim_start_matches('0');
        if digits.is_empty() {
            return None;
        }
        // More digits than fit are more than may be asked for, too.
        let seconds = digits.parse().unwrap_or(u64::MAX);
        Some(Duration::from_secs(seconds).min(RETRY_AFTER_MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn check(text: &[u8], expected_s: Option<u64>) {
        let value = HeaderValue::from_bytes(text).expect("it is a value");
        let headers = [(RETRY_AFTER, value)].into_iter().collect();
        let answer = WebhookAnswer { status: StatusCode::BAD_GATEWAY, headers, body: Bytes::new() };
        assert_eq!(answer.retry_after().map(|it| it.as_secs()), expected_s, "{text:?}");
    }

    #[test]
    fn retry_after_is_a_positive_whole_number_of_seconds() {
        check(b"5", Some(5));
        check(b" 007\t", Some(7));
        check(b"86401", Some(86_400));
        check(b"99999999999999999999", Some(86_400));
        for text in
            ["", "0", "00", "-1", "+5", "1.5", "5, 10", "Wed, 21 Oct 2026 07:28:00 GMT", "5s", "1e3", "0x5"]
        {
            check(text.as_bytes(), None);
        }
        check("٥".as_bytes(), None);
        check(b"\xff", None);
    }
}

//! The row that the log has of a call, in Hasura's shapes.

use http::{HeaderMap, StatusCode};
use weir_language::json::quote;
use weir_webhook::{WebhookAnswer, WebhookError};

/// Longest body of an answer that a row holds, in bytes.
const BODY_BYTES_MAX: usize = 256 * 1024;

/// `version` of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogVersion {
    /// Rows of scheduled events.
    One,
    /// Rows of event triggers.
    Two,
}

impl LogVersion {
    const fn digit(self) -> char {
        match self {
            Self::One => '1',
            Self::Two => '2',
        }
    }
}

/// A row of the log of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// Status of the answer; `None` without an answer.
    pub status: Option<u16>,
    /// The request as JSON text.
    pub request: String,
    /// The answer, or the failure, as JSON text.
    pub response: String,
}

impl Invocation {
    /// The row of a call that could not be made, with the `body` that it would have had.
    pub fn of_failure(version: LogVersion, body: &str, message: &str) -> Self {
        let response = write_failure(version, message);
        Self { status: None, request: write_request(version, body, "[]"), response }
    }
}

/// `request` of a row: the `body` that was sent, a JSON text, and `headers`, a JSON text of names with values or variables.
pub(super) fn write_request(version: LogVersion, body: &str, headers: &str) -> String {
    format!("{{\"version\":\"{}\",\"payload\":{body},\"headers\":{headers}}}", version.digit())
}

/// `response` of a row of an answer, whose body is `body` after its transform.
pub(super) fn write_answer(version: LogVersion, answer: &WebhookAnswer, body: &[u8]) -> String {
    if !answer.is_success() {
        return write_failure(version, &text(body));
    }
    let mut out = format!(
        "{{\"type\":\"webhook_response\",\"version\":\"{}\",\"data\":{{\"status\":{},\"headers\":",
        version.digit(),
        answer.status.as_u16()
    );
    write_headers(&answer.headers, &mut out);
    out.push_str(",\"body\":");
    quote(&text(body), &mut out);
    out.push_str("}}");
    out
}

/// `response` of a row of a call without an answer.
pub(super) fn write_error(version: LogVersion, error: &WebhookError) -> String {
    write_failure(version, &error.to_json())
}

pub(super) fn write_failure(version: LogVersion, message: &str) -> String {
    let mut out =
        format!("{{\"type\":\"client_error\",\"version\":\"{}\",\"data\":{{\"message\":", version.digit());
    quote(message, &mut out);
    out.push_str("}}");
    out
}

/// The status that a row has of an answer.
pub(super) fn status_of(status: StatusCode) -> Option<u16> {
    Some(status.as_u16())
}

/// The beginning of a body, as text. Zero characters, which databases do not take in texts, are left out.
fn text(body: &[u8]) -> String {
    let cut = &body[..body.len().min(BODY_BYTES_MAX)];
    String::from_utf8_lossy(cut).replace('\0', "")
}

/// Headers of an answer as `[{"name", "value"}]`; cookies are credentials.
fn write_headers(headers: &HeaderMap, out: &mut String) {
    out.push('[');
    for (at, (name, value)) in headers.iter().enumerate() {
        out.push_str(if at == 0 { "{\"name\":" } else { ",{\"name\":" });
        quote(name.as_str(), out);
        out.push_str(",\"value\":");
        let value = if *name == http::header::SET_COOKIE {
            "<REDACTED>".into()
        } else {
            String::from_utf8_lossy(value.as_bytes())
        };
        quote(&value, out);
        out.push('}');
    }
    out.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use http::HeaderValue;

    #[test]
    fn rows_have_hasura_s_shapes() {
        let request = write_request(LogVersion::Two, "{\"a\":1}", "[]");
        assert_eq!(request, r#"{"version":"2","payload":{"a":1},"headers":[]}"#);
        let headers = [(http::header::SERVER, HeaderValue::from_static("shop"))].into_iter().collect();
        let mut answer = WebhookAnswer { status: StatusCode::OK, headers, body: Bytes::new() };
        let expected = r#"{"type":"webhook_response","version":"2","data":{"status":200,"headers":[{"name":"server","value":"shop"}],"body":"a\"b"}}"#;
        assert_eq!(write_answer(LogVersion::Two, &answer, b"a\"\0b"), expected);
        answer.status = StatusCode::FOUND;
        let expected = r#"{"type":"client_error","version":"1","data":{"message":"moved"}}"#;
        assert_eq!(write_answer(LogVersion::One, &answer, b"moved"), expected);
        let expected = r#"{"type":"client_error","version":"2","data":{"message":"{\"type\":\"http_exception\",\"message\":\"Response timeout\"}"}}"#;
        assert_eq!(write_error(LogVersion::Two, &WebhookError::Timeout), expected);
    }
}

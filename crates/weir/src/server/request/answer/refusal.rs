//! Refusals of the HTTP layer: their statuses, codes and bodies.

use super::Answer;
use super::response_body::{ResponseBody, json};
use crate::config::Limits;
use crate::server::connection::head_error::HeadError;
use crate::server::request::negotiate::Media;
use crate::server::telemetry::metrics::{Endpoint, Verdict};
use crate::session::auth_error::AuthError;
use hyper::StatusCode;
use hyper::header::{ALLOW, CONNECTION, HeaderValue, RETRY_AFTER};
use std::borrow::Cow;
pub(crate) use weir_engine::errors::error_text::{error_body, string};
use weir_transport::parameters::Malformed;

/// `Retry-After` of refusals and answers for lack of capacity, in seconds.
pub(crate) const RETRY_S: HeaderValue = HeaderValue::from_static("1");

/// Code of requests that an overloaded worker refuses.
const LIMIT_QUEUE: &str = "LIMIT_QUEUE";
/// The code at Hasura's addresses.
const HASURA_QUEUE: &str = "queue-limit-exceeded";

/// A request that the HTTP layer refuses.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// Stable code in `extensions.code`.
    pub(crate) code: &'static str,
    /// The cause and how to fix it.
    pub(crate) message: Cow<'static, str>,
    /// Value of `Allow`, for 405.
    pub(crate) allow: Option<&'static str>,
    /// True if the connection must be closed.
    pub(crate) close: bool,
}

impl Refusal {
    /// A page of another origin may not change data.
    pub(crate) fn of_another_origin() -> Self {
        let message = "a web page of another origin may not send by GET what can change data; `cors.origins` names those that may";
        Self::new(StatusCode::FORBIDDEN, "ACCESS_DENIED", message)
    }

    /// No source is available yet.
    pub(crate) fn no_sources() -> Self {
        let message = "the sources of this graph cannot be reached: try again";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "SOURCE_UNAVAILABLE", message)
    }

    /// Too many answers wait for clients to read them.
    pub(crate) fn unread_limit() -> Self {
        let message = "too many answers wait for their clients to read them: read yours, or try again";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "LIMIT_UNREAD", message)
    }

    /// The worker is overloaded.
    pub(crate) fn overload() -> Self {
        let message = "the server is overloaded: try again a little later";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, LIMIT_QUEUE, message)
    }

    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, code, message: message.into(), allow: None, close: false }
    }
    pub(crate) fn bad_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", message)
    }
    pub(crate) fn from_auth_error(denied: AuthError) -> Self {
        let status = StatusCode::from_u16(denied.status()).unwrap_or(StatusCode::FORBIDDEN);
        Self::new(status, denied.code(), denied.message)
    }
    pub(crate) fn method(allow: &'static str) -> Self {
        let message = "this address does not answer this method";
        Self {
            allow: Some(allow),
            ..Self::new(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED", message)
        }
    }
    pub(crate) fn long_url(limits: &Limits) -> Self {
        let message = format!("the URL is longer than {} bytes", limits.url_bytes_max);
        Self::new(StatusCode::URI_TOO_LONG, "LIMIT_URL", message)
    }
    pub(crate) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "NOT_FOUND", "there is nothing at this address")
    }
    /// Closes the connection after the answer.
    pub(crate) fn with_close(self) -> Self {
        Self { close: true, ..self }
    }

    /// The JSON of the refusal.
    pub(crate) fn body(&self) -> Vec<u8> {
        error_body(&self.message, self.code, None)
    }

    /// The code at Hasura's addresses.
    pub(crate) fn hasura_code(&self) -> &'static str {
        if self.code == LIMIT_QUEUE { HASURA_QUEUE } else { self.code }
    }

    /// The JSON of the refusal at `endpoint`.
    pub(crate) fn body_at(&self, endpoint: Endpoint) -> Vec<u8> {
        if endpoint == Endpoint::Hasura && self.code == LIMIT_QUEUE {
            error_body(&self.message, HASURA_QUEUE, Some("$"))
        } else {
            self.body()
        }
    }

    /// True if the same request may be answered a little later.
    pub(crate) fn may_come_again(&self) -> bool {
        self.status == StatusCode::SERVICE_UNAVAILABLE
    }

    /// The answer.
    pub(crate) fn answer(self, endpoint: Endpoint) -> Answer {
        let mut response = json(self.status, Media::Json, ResponseBody::whole(self.body_at(endpoint)));
        if self.may_come_again() {
            response.headers_mut().insert(RETRY_AFTER, RETRY_S);
        }
        if let Some(allow) = self.allow {
            response.headers_mut().insert(ALLOW, HeaderValue::from_static(allow));
        }
        if self.close {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let denied = matches!(self.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        let verdict = if denied { Verdict::Denied } else { Verdict::Rejected };
        Answer { response, endpoint, verdict, execution: None }
    }
}

impl From<Malformed> for Refusal {
    fn from(malformed: Malformed) -> Self {
        Self::bad_request(malformed.0)
    }
}

impl From<weir_transport::refusal::Refusal> for Refusal {
    fn from(refusal: weir_transport::refusal::Refusal) -> Self {
        let weir_transport::refusal::Refusal { status, code, message, allow } = refusal;
        Self { status, code, message, allow, close: false }
    }
}

impl HeadError {
    /// The answer.
    pub(crate) fn refusal(self, limits: &Limits) -> Refusal {
        let too_large =
            |message| Refusal::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "LIMIT_HEAD", message);
        let refusal = match self {
            Self::Long => too_large(format!("the head is longer than {} bytes", limits.head_bytes_max)),
            Self::Lines => too_large(format!("the head has more than {} header lines", limits.headers_max)),
            Self::LongUrl => Refusal::long_url(limits),
            Self::Syntax(error) => Refusal::bad_request(format!("the head cannot be read: {error}")),
            Self::Target => Refusal::bad_request("the head cannot be read: its target is no URL"),
            Self::BareLf => Refusal::bad_request("the lines of a head have to end in CR LF"),
            Self::TwoLengths => Refusal::bad_request("the body's length is given twice"),
            Self::Length => Refusal::bad_request("the body's length is no number"),
            Self::Coding => {
                Refusal::bad_request("the only transfer coding that is read is `chunked`, in HTTP/1.1")
            }
            Self::Host => Refusal::bad_request("exactly one `host` header is needed"),
            Self::OtherHost => Refusal::bad_request("the `host` header and the URL name different hosts"),
        };
        refusal.with_close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &[u8], expected: &str) {
        assert_eq!(std::str::from_utf8(body), Ok(expected));
    }

    #[test]
    fn a_refusal_is_a_graphql_error() {
        let expected = r#"{"errors":[{"message":"a \"b\"","extensions":{"code":"BAD_REQUEST"}}]}"#;
        check(&Refusal::bad_request("a \"b\"").body(), expected);
    }

    #[test]
    fn hasura_s_form_has_a_path() {
        let expected = r#"{"errors":[{"message":"m","extensions":{"path":"$","code":"access-denied"}}]}"#;
        check(&error_body("m", "access-denied", Some("$")), expected);
    }
}

//! Errors at Hasura's addresses that are no GraphQL: `{"error", "path", "code"}` with the status of the error.

use super::answer::Answer;
use super::answer::refusal::{RETRY_S, Refusal, string};
use super::answer::response_body::{ResponseBody, json};
use super::negotiate::Media;
use crate::server::telemetry::metrics::{Endpoint, Verdict};
use crate::session::auth_error::AuthError;
use hyper::StatusCode;
use hyper::header::{ALLOW, CONNECTION, HeaderValue, RETRY_AFTER};
use weir_engine::answer_notes::HandlerRefusal;

/// Path prefixes of endpoints with this error format.
const ADDRESSES: [&str; 8] = [
    "/api/",
    "/v1/metadata",
    "/v1/query",
    "/v2/query",
    "/v1alpha1/config",
    "/v1alpha1/pg_dump",
    "/v1/graphql/explain",
    "/v1beta1/",
];

/// True if errors of `path` have this format.
pub(crate) fn is_at(path: &str) -> bool {
    ADDRESSES.iter().any(|it| path.starts_with(it))
}

/// An error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HasuraError {
    pub(crate) status: StatusCode,
    pub(crate) code: String,
    pub(crate) message: String,
    /// Path in the request, such as `$.args`.
    pub(crate) path: String,
    /// JSON with details.
    pub(crate) internal: Option<String>,
    /// JSON that the handler of an action gave.
    pub(crate) extensions: Option<Box<str>>,
}

impl HasuraError {
    /// An error of the request, with status 400.
    pub(crate) fn new(code: &str, path: &str, message: impl Into<String>) -> Self {
        let code = code.to_owned();
        let path = path.to_owned();
        let message = message.into();
        Self { status: StatusCode::BAD_REQUEST, code, message, path, internal: None, extensions: None }
    }
    /// Replaces the status.
    pub(crate) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }
    /// Adds details as JSON.
    pub(crate) fn with_internal(self, json: String) -> Self {
        Self { internal: Some(json), ..self }
    }

    /// Takes status, code and extensions over from the handler that refused.
    pub(crate) fn of_handler(self, refusal: HandlerRefusal) -> Self {
        let HandlerRefusal { status, code, extensions, .. } = refusal;
        Self {
            status: StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST),
            code: code.map_or_else(|| "unexpected".to_owned(), Into::into),
            path: "$".into(),
            extensions,
            ..self
        }
    }

    /// The JSON.
    pub(crate) fn body(&self) -> Vec<u8> {
        let mut out = b"{\"error\":".to_vec();
        string(&mut out, &self.message);
        out.extend_from_slice(b",\"path\":");
        string(&mut out, &self.path);
        out.extend_from_slice(b",\"code\":");
        string(&mut out, &self.code);
        if let Some(internal) = &self.internal {
            out.extend_from_slice(b",\"internal\":");
            out.extend_from_slice(internal.as_bytes());
        }
        if let Some(extensions) = &self.extensions {
            out.extend_from_slice(b",\"extensions\":");
            out.extend_from_slice(extensions.as_bytes());
        }
        out.push(b'}');
        out
    }

    /// The answer.
    pub(crate) fn answer(&self, endpoint: Endpoint) -> Answer {
        let response = json(self.status, Media::Json, ResponseBody::whole(self.body()));
        let verdict = match self.code.as_str() {
            "access-denied" => Verdict::Denied,
            _ if self.status.is_server_error() => Verdict::Failed,
            _ => Verdict::Rejected,
        };
        Answer { response, endpoint, verdict, execution: None }
    }
}

impl From<AuthError> for HasuraError {
    fn from(error: AuthError) -> Self {
        let status = StatusCode::from_u16(error.hasura_status()).unwrap_or(StatusCode::BAD_REQUEST);
        Self::new(error.hasura_code(), "$", error.message).with_status(status)
    }
}

/// Refusal of callers that are not admin.
pub(crate) const RESTRICTED: &str = "restricted access : admin only";

/// Converts a refusal at `address` to this format.
pub(crate) fn refusal_answer(refusal: Refusal, address: &str) -> Answer {
    let may_come_again = refusal.may_come_again();
    let refusal = Refusal { code: refusal.hasura_code(), ..refusal };
    let is_hasura_s = refusal.code.bytes().all(|it| it.is_ascii_lowercase() || it == b'-');
    let code = match refusal.status {
        _ if is_hasura_s => refusal.code,
        StatusCode::NOT_FOUND => "not-found",
        StatusCode::METHOD_NOT_ALLOWED => "method-not-allowed",
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "access-denied",
        status if status.is_server_error() => "unexpected",
        _ => "bad-request",
    };
    let (message, path) = match address {
        _ if refusal.message != RESTRICTED => (&*refusal.message, "$"),
        "/v1alpha1/config" => ("You have to be an admin to access this endpoint", "$"),
        "/v1/metadata" | "/v2/query" | "/v1/query" => (RESTRICTED, "$.args"),
        _ => (RESTRICTED, "$"),
    };
    let error = HasuraError::new(code, path, message).with_status(refusal.status);
    let mut answer = error.answer(Endpoint::Other);
    let headers = answer.response.headers_mut();
    if may_come_again {
        headers.insert(RETRY_AFTER, RETRY_S);
    }
    if let Some(allow) = refusal.allow {
        headers.insert(ALLOW, HeaderValue::from_static(allow));
    }
    if refusal.close {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_three_members_and_details() {
        let error = HasuraError::new("not-exists", "$.args", "a \"b\"");
        let text = |it: &HasuraError| String::from_utf8(it.body()).expect("JSON is UTF-8");
        assert_eq!(text(&error), r#"{"error":"a \"b\"","path":"$.args","code":"not-exists"}"#);
        let error = error.with_internal("[1]".into());
        assert_eq!(text(&error), r#"{"error":"a \"b\"","path":"$.args","code":"not-exists","internal":[1]}"#);
    }
}

//! A request that is refused before it reaches a schema.

use crate::parameters::Malformed;
use http::StatusCode;
use std::borrow::Cow;
use weir_engine::errors::error_text::error_body;

/// A refusal: status, code and words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The status.
    pub status: StatusCode,
    /// Stable, in `extensions.code`.
    pub code: &'static str,
    /// The cause and how to mend it.
    pub message: Cow<'static, str>,
    /// The methods that are allowed, for 405.
    pub allow: Option<&'static str>,
}

impl Refusal {
    /// A refusal with this status.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, code, message: message.into(), allow: None }
    }
    /// A body or URL that breaks GraphQL over HTTP.
    pub fn bad_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", message)
    }
    /// A body in a media type that is not read.
    pub fn media_type() -> Self {
        let message = "a POST needs `content-type: application/json`";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", message)
    }
    /// A client that takes no media type of answers.
    pub fn not_acceptable() -> Self {
        let message = "answers are application/graphql-response+json or application/json";
        Self::new(StatusCode::NOT_ACCEPTABLE, "NOT_ACCEPTABLE", message)
    }
    /// A method that is not allowed.
    pub fn method(allow: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        let refusal = Self::new(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED", message);
        Self { allow: Some(allow), ..refusal }
    }
    /// A body that is too long.
    pub fn too_long(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "LIMIT_BODY", message)
    }
    /// A list of more requests than are allowed.
    pub fn long_list(count: usize, batch_max: usize) -> Self {
        let message = format!("{count} requests in one list; {batch_max} are allowed");
        Self::new(StatusCode::BAD_REQUEST, "LIMIT_BATCH", message)
    }

    /// The JSON of the refusal.
    pub fn body(&self) -> Vec<u8> {
        error_body(&self.message, self.code, None)
    }
}

impl From<Malformed> for Refusal {
    fn from(malformed: Malformed) -> Self {
        Self::bad_request(malformed.0)
    }
}

//! Converts a method's answer for the cache: the message as JSON, or the HTTP status that corresponds to the gRPC status.
//!
//! **Invariant:** what is no good answer has a status or a body under which nobody keeps it, but for "not found" where
//! `negative` of `@cache` says so.

use super::frame;
use super::frame::Framed;
use super::{message, status};
use crate::cache::{Body, Entry};
use crate::call::{Answer, Coding, unpack};
use crate::passthrough::client_error;
use bytes::Bytes;
use http::StatusCode;
use prost_reflect::{DynamicMessage, MessageDescriptor};
use std::borrow::Cow;
use weir_engine::source::FieldError;
use weir_language::json::{Json, JsonRef};

/// Compression of a message, as named in `grpc-encoding`.
const GZIP: &str = "gzip";

/// Converts `answer` for the cache. Its message has the type `output` and at most `bytes_max`.
pub(super) fn read(answer: Answer, output: MessageDescriptor, bytes_max: usize) -> Answer {
    let (code, body) = match status::of(&answer) {
        Some(0) if output.fields().len() == 0 => (StatusCode::OK, Bytes::from_static(b"true")),
        Some(0) => match read_message(&answer, output, bytes_max) {
            Ok(json) => (StatusCode::OK, Bytes::from(json)),
            // A JSON string, while a gRPC status is stored as a JSON number.
            Err(reason) => {
                (StatusCode::BAD_GATEWAY, Bytes::from(serde_json::Value::from(reason).to_string()))
            }
        },
        Some(status) => (status::as_http(Some(status)), Bytes::from(status.to_string())),
        None => (status::as_http(None), Bytes::new()),
    };
    Answer { status: code, body, ..answer }
}

/// The message as JSON, or the reason why it cannot be decoded.
fn read_message(answer: &Answer, output: MessageDescriptor, bytes_max: usize) -> Result<String, String> {
    let bytes = match frame::unwrap(&answer.body).ok_or("the body is no single message")? {
        Framed::Plain(bytes) => Cow::Borrowed(bytes),
        Framed::Packed(packed) => {
            let coding =
                answer.headers.get("grpc-encoding").and_then(|it| it.to_str().ok()).unwrap_or_default();
            if coding != GZIP {
                return Err(format!("the message is compressed as `{coding}`, and `{GZIP}` is read"));
            }
            Cow::Owned(unpack(Coding::Gzip, packed, bytes_max).map_err(|it| it.to_string())?)
        }
    };
    let message = DynamicMessage::decode(output, &*bytes).map_err(|it| format!("the message: {it}"))?;
    let mut json = String::with_capacity(bytes.len() * 2);
    message::write(&message, &mut json);
    Ok(json)
}

/// The reason why a cached answer's message could not be decoded, if that happened.
pub(super) fn reason(entry: &Entry) -> Option<String> {
    entry.json()?.root().as_str().filter(|_| entry.status == BAD_MESSAGE).map(Cow::into_owned)
}

/// HTTP status that stands for an undecodable message.
const BAD_MESSAGE: u16 = 502;

/// The message of an answer as JSON, or its error.
pub(super) fn json(entry: &Entry) -> Result<Json<'_>, FieldError> {
    match (&entry.body, entry.status == StatusCode::OK.as_u16()) {
        (Body::Json(tape), true) => Ok(tape.json()),
        (Body::Absent | Body::Unreadable(_), true) => {
            Err(client_error("SOURCE_ANSWER", "The source's answer cannot be read."))
        }
        (_, false) => {
            if reason(entry).is_some() {
                return Err(client_error("SOURCE_ANSWER", "The source's answer cannot be read."));
            }
            let said = entry.json();
            let said =
                said.as_ref().map(Json::root).and_then(JsonRef::as_number).and_then(|it| it.parse().ok());
            // A coalesced failure has no body; only its kind is known.
            Err(status::error(said.or((entry.status == 429).then_some(8))))
        }
    }
}

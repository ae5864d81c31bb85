//! A method's answer in the cache: its message as JSON, or the HTTP status that corresponds to the server's.
//!
//! **Invariant:** what is no good answer has a status or a body under which nobody keeps it, but for "not found" where
//! `negative` of `@cache` says so.

use super::{frame, status};
use crate::cache::{Body, Entry};
use crate::call::Answer;
use crate::passthrough::failed;
use bytes::Bytes;
use http::StatusCode;
use prost_reflect::{DynamicMessage, MessageDescriptor, SerializeOptions};
use weir_engine::source::FieldError;
use weir_language::json::{Json, JsonRef};

/// JSON format of messages: with default values, 64-bit integers as numbers.
const AS_JSON: SerializeOptions =
    SerializeOptions::new().skip_default_fields(false).stringify_64_bit_integers(false);

/// Under which a body that is no message stands for what is none: it is no JSON.
const UNREADABLE: &[u8] = b"no message";

/// Converts `answer`, whose message is one of `output`, for the cache.
pub(super) fn read(answer: Answer, output: MessageDescriptor) -> Answer {
    let status = status::of(&answer);
    let body = match status {
        Some(0) if output.fields().len() == 0 => Bytes::from_static(b"true"),
        Some(0) => message(&answer.body, output).map_or(Bytes::from_static(UNREADABLE), Bytes::from),
        Some(status) => Bytes::from(status.to_string()),
        None => Bytes::new(),
    };
    Answer { status: status::as_http(status), body, ..answer }
}

fn message(body: &[u8], output: MessageDescriptor) -> Option<Vec<u8>> {
    let message = DynamicMessage::decode(output, frame::unwrap(body)?).ok()?;
    let mut json = serde_json::Serializer::new(Vec::new());
    message.serialize_with_options(&mut json, &AS_JSON).ok()?;
    Some(json.into_inner())
}

/// The message of an answer, or what went wrong.
pub(super) fn json(entry: &Entry) -> Result<Json<'_>, FieldError> {
    match (&entry.body, entry.status == StatusCode::OK.as_u16()) {
        (Body::Json(tape), true) => Ok(tape.json()),
        (Body::Absent | Body::Unreadable(_), true) => {
            Err(failed("SOURCE_ANSWER", "The source's answer cannot be read."))
        }
        (_, false) => {
            let said = entry.json();
            let said =
                said.as_ref().map(Json::root).and_then(JsonRef::as_number).and_then(|it| it.parse().ok());
            // Of another's failure no more is known than its kind.
            Err(status::error(said.or((entry.status == 429).then_some(8))))
        }
    }
}

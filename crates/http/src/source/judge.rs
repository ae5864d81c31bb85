//! Whether an answer is one: by its status, or by what the text says of it.

use crate::cache::{Body, Entry};
use crate::inputs::{Inputs, Response};
use crate::sdl::Connector;
use crate::selection::Selection;
use crate::selection::eval::eval;
use crate::selection::value::Value;
use weir_engine::source::{FieldError, NoHeaders};
use weir_language::json::Json;

/// What an answer comes to.
pub(super) enum Verdict {
    /// Its JSON is what was asked for.
    Found,
    /// There is no such thing.
    Nothing,
    /// The service failed or refused.
    Failed(FieldError),
}

/// The answer of `entry` as a template or selection sees it.
pub(super) fn response(entry: &Entry) -> Response<'static> {
    Response { status: entry.status, headers: &NoHeaders }
}

/// Where there was no answer.
pub(super) const NO_RESPONSE: Response<'static> = Response { status: 0, headers: &NoHeaders };

/// Judges `entry`, the answer to a call of `connector`; `json` is its body.
pub(super) fn judge(
    connector: &Connector,
    entry: &Entry,
    json: Option<&Json<'_>>,
    inputs: &Inputs<'_>,
    may_be_missing: bool,
) -> Verdict {
    let inputs = Inputs { response: Some(response(entry)), ..*inputs };
    let body = json.map_or(Value::Missing, |it| Value::of(it.root()));
    let is_success = match &connector.success {
        None => (200..300).contains(&entry.status),
        Some(success) => matches!(whole(success, &body, &inputs), Some(Value::Bool(true))),
    };
    match (&entry.body, is_success) {
        (Body::Json(_), true) => Verdict::Found,
        (Body::Absent, true) => Verdict::Nothing,
        (Body::Unreadable(_), true) => {
            Verdict::Failed(failed("SOURCE_ANSWER", "The source's answer cannot be read."))
        }
        (_, false) if entry.is_negative() && may_be_missing => Verdict::Nothing,
        (_, false) => Verdict::Failed(refused(connector, entry, &body, &inputs)),
    }
}

fn refused(connector: &Connector, entry: &Entry, body: &Value<'_>, inputs: &Inputs<'_>) -> FieldError {
    let usual = match entry.status {
        500.. => failed("SOURCE_UNAVAILABLE", "The source is unavailable."),
        429 => failed("POOL_TIMEOUT", "The source has no capacity left."),
        _ => failed("SOURCE_REFUSED", "The source refused the request."),
    };
    match connector.error_message.as_ref().and_then(|it| whole(it, body, inputs)) {
        Some(Value::Text(message)) => FieldError { message: message.into(), ..usual },
        Some(_) | None => usual,
    }
}

fn whole<'v>(selection: &Selection, body: &Value<'v>, inputs: &Inputs<'v>) -> Option<Value<'v>> {
    eval(selection, selection.root(), usize::MAX, body, inputs).ok()
}

/// An error in words for clients.
pub(super) fn failed(code: &'static str, message: &str) -> FieldError {
    FieldError { code, message: message.into(), hasura_path: None }
}

//! Decides whether an answer is a success, by its status or by `isSuccess`.

use crate::cache::{AnswerHeaders, Body, Entry};
use crate::call::Answer;
use crate::sdl::Connector;
use crate::selection::Selection;
use crate::selection::eval::eval;
use crate::selection::inputs::{Inputs, Response};
use crate::selection::value::Value;
use std::borrow::Cow;
use weir_engine::source::{Extensions, FieldError, NoHeaders};
use weir_language::json::{Json, JsonRef};

/// Maximum size of a service's error extensions that are forwarded, in bytes.
const EXTENSIONS_BYTES_MAX: usize = 16 * 1024;

/// Verdict on an answer.
pub(super) enum ResponseVerdict {
    /// A success with data.
    Found,
    /// A success without a body.
    Empty,
    /// The object does not exist.
    Nothing,
    /// The service failed or refused the request.
    Failed(FieldError),
}

/// The answer of `entry` as a template or selection sees it.
pub(super) fn response(entry: &Entry) -> Response<'_> {
    Response { status: entry.status, headers: &entry.headers }
}

/// Placeholder for a missing response.
pub(super) const NO_RESPONSE: Response<'static> = Response { status: 0, headers: &NoHeaders };

/// Judges `entry`, the answer to a call of `connector`; `json` is its body.
pub(super) fn check_response(
    connector: &Connector,
    entry: &Entry,
    json: Option<&Json<'_>>,
    inputs: &Inputs<'_>,
    may_be_missing: bool,
) -> ResponseVerdict {
    let inputs = Inputs { response: Some(response(entry)), ..*inputs };
    let body = json.map_or(Value::Missing, |it| Value::of(it.root()));
    let is_success = match (&connector.success, &connector.graphql) {
        // For a batch the verdict was made when its answer arrived.
        _ if connector.batch_max.is_some() => (200..300).contains(&entry.status),
        (_, Some(field)) => has_data(json, field),
        (Some(success), None) => is_true(success, &body, &inputs),
        (None, None) => (200..300).contains(&entry.status),
    };
    // A missing GraphQL server says nothing about the requested data.
    let may_be_missing = may_be_missing && (connector.graphql.is_none() || connector.batch_max.is_some());
    match (&entry.body, is_success) {
        (Body::Json(_), true) => ResponseVerdict::Found,
        (Body::Absent, true) => ResponseVerdict::Empty,
        (Body::Unreadable(_), true) => {
            ResponseVerdict::Failed(client_error("SOURCE_ANSWER", "The source's answer cannot be read."))
        }
        (_, false) if entry.is_negative() && may_be_missing => ResponseVerdict::Nothing,
        (_, false) => ResponseVerdict::Failed(refusal_error(connector, entry, &body, &inputs)),
    }
}

fn refusal_error(connector: &Connector, entry: &Entry, body: &Value<'_>, inputs: &Inputs<'_>) -> FieldError {
    let usual = match entry.status {
        500.. => client_error("SOURCE_UNAVAILABLE", "The source is unavailable."),
        429 => client_error("POOL_TIMEOUT", "The source has no capacity left."),
        _ => client_error("SOURCE_REFUSED", "The source refused the request."),
    };
    let message = match connector.error_message.as_ref().and_then(|it| eval_on_body(it, body, inputs)) {
        Some(Value::Text(message)) => message.into(),
        Some(_) | None => usual.message,
    };
    let said = connector.error_extensions.iter().filter_map(|it| eval_on_body(it, body, inputs)?.members());
    let mut members: Vec<(Cow<'_, str>, Value<'_>)> = Vec::new();
    for (name, value) in said.flatten() {
        match members.iter_mut().find(|it| it.0 == name) {
            Some(known) => known.1 = value,
            None => members.push((name, value)),
        }
    }
    FieldError { message, extensions: extensions(&Value::Object(members)), ..usual }
}

/// Error extensions of the service, if they are a non-empty object.
fn extensions(said: &Value<'_>) -> Option<Box<Extensions>> {
    if said.bytes() > EXTENSIONS_BYTES_MAX {
        return None;
    }
    let has_code = !matches!(said.get("code"), Value::Missing);
    let mut text = Vec::new();
    said.write(&mut text);
    let text = String::from_utf8(text).ok()?;
    let members = text.strip_prefix('{')?.strip_suffix('}')?.trim();
    (!members.is_empty()).then(|| Box::new(Extensions { members: members.into(), has_code, is_whole: false }))
}

/// True if the answer of a GraphQL server has `data` with `field`, and no errors.
fn has_data(json: Option<&Json<'_>>, field: &str) -> bool {
    let Some(root) = json.map(Json::root) else { return false };
    let is_any = |it: JsonRef<'_>| !(it.is_null() || it.is_array() && it.items().next().is_none());
    let has_errors = root.get("errors").is_some_and(is_any);
    !has_errors && root.get("data").is_some_and(|it| it.get(field).is_some())
}

/// True if the answer to a batch of `connector` is a success, by `isSuccess` or its status.
pub(super) fn is_batch(
    connector: &Connector,
    answer: &Answer,
    body: Option<&Json<'_>>,
    inputs: &Inputs<'_>,
) -> bool {
    if let Some(field) = &connector.graphql {
        return has_data(body, field);
    }
    let Some(success) = &connector.success else { return answer.status.is_success() };
    let headers: AnswerHeaders =
        answer.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let response = Response { status: answer.status.as_u16(), headers: &headers };
    let body = body.map_or(Value::Missing, |it| Value::of(it.root()));
    is_true(success, &body, &Inputs { response: Some(response), ..*inputs })
}

fn is_true(success: &Selection, body: &Value<'_>, inputs: &Inputs<'_>) -> bool {
    matches!(eval_on_body(success, body, inputs), Some(Value::Bool(true)))
}

fn eval_on_body<'v>(selection: &Selection, body: &Value<'v>, inputs: &Inputs<'v>) -> Option<Value<'v>> {
    eval(selection, selection.root(), usize::MAX, body, inputs).ok()
}

pub(super) fn client_error(code: &'static str, message: &str) -> FieldError {
    FieldError { code, message: message.into(), hasura_path: None, extensions: None }
}

//! Selects the response of an operation and its type.

use super::document::{Document, JSON, TEXT, essence, has_text, json_content};
use super::types::{TypeShape, Types, Way};
use serde_json::{Map, Value};

/// Media types of answers without an end, or of several documents.
const STREAMS: [&str; 5] = [
    "text/event-stream",
    "application/jsonl",
    "application/x-ndjson",
    "application/json-seq",
    "multipart/mixed",
];

/// Response of a successful operation, and how it is asked for.
pub(super) struct DescribedAnswer {
    pub(super) kind: AnswerKind,
    /// Value of `Accept`, if it is not the usual `application/json`.
    pub(super) accept: Option<String>,
}

/// Kinds of responses.
pub(super) enum AnswerKind {
    /// No readable body: the field only reports success.
    Done,
    /// A JSON body.
    Json(TypeShape),
    /// A plain text body.
    Text,
}

/// Selects the response of `operation`, whose field is called `name`.
///
/// # Errors
/// The reason why the operation cannot be called.
pub(super) fn read<'d>(
    document: &'d Document,
    operation: &'d Value,
    name: &str,
    types: &mut Types<'d>,
) -> Result<DescribedAnswer, String> {
    let usual = |kind| DescribedAnswer { kind, accept: None };
    // Source: OpenAPI 3.1, Operation Object: `responses` is optional.
    let responses = operation.get("responses").and_then(Value::as_object);
    let good = responses.map(|it| successful(document, it)).transpose()?.flatten();
    let Some(good) = good else {
        types.notes.push(format!("the answer of `{name}` is not described; it is JSON"));
        return Ok(usual(AnswerKind::Json(types.json())));
    };
    let Some(content) = content_of(good) else { return Ok(usual(AnswerKind::Done)) };
    if let Some((media_type, media)) = json_content(content) {
        let kind = AnswerKind::Json(match document.media(media).get("schema") {
            Some(schema) => types.shape(schema, Way::Out, &format!("{name} answer"), 0),
            None => types.json(),
        });
        let accept = (media_type != JSON && is_sendable(&media_type)).then_some(media_type);
        return Ok(DescribedAnswer { kind, accept });
    }
    if has_text(content) {
        return Ok(DescribedAnswer { kind: AnswerKind::Text, accept: Some(TEXT.to_owned()) });
    }
    let shown = content.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    let media_types: Vec<String> = content.keys().map(|it| essence(it)).collect();
    if media_types.iter().all(|it| STREAMS.contains(&&**it)) {
        return Err(format!("it answers {shown}, which has no end"));
    }
    types.notes.push(format!("the answer of `{name}` is {shown}, of which nothing is read"));
    let accept = Some(media_types.join(", ")).filter(|_| media_types.iter().all(|it| is_sendable(it)));
    Ok(DescribedAnswer { kind: AnswerKind::Done, accept })
}

/// True if a media type can stand in a header as it is, without wildcards.
fn is_sendable(media_type: &str) -> bool {
    media_type.bytes().all(|it| it.is_ascii_alphanumeric() || b"!#$&^_.+-/".contains(&it))
}

fn content_of(response: &Value) -> Option<&Map<String, Value>> {
    response.get("content").and_then(Value::as_object).filter(|it| !it.is_empty())
}

/// The response of a success: the first with JSON, else the first, else `default`.
fn successful<'d>(
    document: &'d Document,
    responses: &'d Map<String, Value>,
) -> Result<Option<&'d Value>, String> {
    let mut well: Vec<(&String, &Value)> = responses.iter().filter(|it| it.0.starts_with('2')).collect();
    well.sort_by_key(|it| it.0);
    if let (true, Some(default)) = (well.is_empty(), responses.get_key_value("default")) {
        well.push(default);
    }
    let mut all = Vec::new();
    for (_, response) in well {
        all.push(document.resolve(response).ok_or("its answer's reference cannot be followed")?.value);
    }
    let has_json = |it: &&Value| content_of(it).is_some_and(|it| json_content(it).is_some());
    Ok(all.iter().copied().find(has_json).or_else(|| all.first().copied()))
}

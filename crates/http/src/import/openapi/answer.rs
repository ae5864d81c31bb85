//! Selects the response of an operation and its type.

use super::document::{Document, has_text, json_content};
use super::types::{TypeShape, Types, Way};
use serde_json::{Map, Value};

/// Response of a successful operation.
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
    is_reading: bool,
    types: &mut Types<'d>,
) -> Result<AnswerKind, String> {
    // Source: OpenAPI 3.1, Operation Object: `responses` is optional.
    let responses = operation.get("responses").and_then(Value::as_object);
    let good = responses.map(|it| successful(document, it)).transpose()?.flatten();
    let Some(good) = good else {
        types.notes.push(format!("the answer of `{name}` is not described; it is JSON"));
        return Ok(AnswerKind::Json(types.json()));
    };
    let Some(content) = content_of(good) else { return Ok(AnswerKind::Done) };
    if let Some((_, media)) = json_content(content) {
        return Ok(AnswerKind::Json(match document.media(media).get("schema") {
            Some(schema) => types.shape(schema, Way::Out, &format!("{name} answer"), 0),
            None => types.json(),
        }));
    }
    if has_text(content) {
        return Ok(AnswerKind::Text);
    }
    let kinds: Vec<&str> = content.keys().map(String::as_str).collect();
    if is_reading {
        return Err(format!("it answers {}, not JSON", kinds.join(", ")));
    }
    types.notes.push(format!("the answer of `{name}` is {}, which is not read", kinds.join(", ")));
    Ok(AnswerKind::Done)
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

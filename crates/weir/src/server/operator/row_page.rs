//! `/v1/explain/row`: whether a role sees one row, and which conditions of its permission decide.
//!
//! **Invariant:** the answer holds truths of conditions, never a value of the row; claims are named, not repeated.

use super::pages::{check_json, read_text};
use crate::server::request::answer::Answer;
use crate::server::request::answer::refusal::Refusal;
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::context::RequestContext;
use crate::server::request::negotiate::Media;
use crate::server::request::receive;
use crate::session;
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use serde_json::{Value, json as value};
use std::time::Duration;
use weir_engine::source::{JudgedCondition, NoJudgement, RowJudgement, RowQuestion, SourceError};
use weir_language::json::JsonRef;

/// Members of a key, and bytes of a value.
const KEY_MAX: usize = 32;
const VALUE_BYTES_MAX: usize = 8 << 10;

/// Judges `{"source", "table", "key": {…}, "role", "claims": {…}}`; with `filter`, by this condition instead of the one served.
pub(crate) async fn answer(
    context: &RequestContext,
    head: &Parts,
    body: Incoming,
) -> Result<Answer, Refusal> {
    check_json(head)?;
    let limits = &context.generation.config.limits;
    let bytes = receive::body(context, &head.headers, body).await?;
    let tape = receive::json(context.worker.json_buffer.take(), &bytes, limits)?;
    let asked = tape.root();
    let source = read_text(asked, "source")?;
    let table = read_text(asked, "table")?;
    let key = read_key(asked).map_err(Refusal::bad_request)?;
    let role = read_text(asked, "role")?;
    let filter = asked.get("filter").filter(|it| !it.is_null()).map(|it| it.raw());
    let identity =
        session::assume_identity(Some(&role), asked.get("claims")).map_err(Refusal::bad_request)?;
    let identity = context.generation.native_auth.with_values(identity);
    let engine = &context.generation.engine;
    let caller = engine.caller(&identity);
    let client = context.client(&head.headers)?;
    let sources = engine.graph().sources();
    let found = sources.iter().find(|it| it.0.name() == source);
    let found = found.ok_or_else(|| Refusal::bad_request(format!("there is no source `{source}`")))?;
    let question = RowQuestion {
        table: &table,
        key: &key,
        filter,
        identity: &identity,
        caller: &caller,
        headers: &client,
        deadline: context.started + Duration::from_secs(u64::from(limits.request_s)),
    };
    let judging = found.0.judge_row(question);
    let judging = judging.ok_or_else(|| Refusal::bad_request(format!("`{source}` has no tables")))?;
    let judged = judging.await.map_err(refusal)?;
    let body = ResponseBody::whole(write_judgement(&judged).to_string().into_bytes());
    Ok(Answer::page(json(StatusCode::OK, Media::Json, body)))
}

/// The members of `key`, values as texts.
fn read_key(asked: JsonRef<'_>) -> Result<Vec<(String, String)>, String> {
    let words = || format!("`key` has to be an object of 1 to {KEY_MAX} texts, numbers or booleans");
    let sent = asked.get("key").filter(|it| it.is_object()).ok_or_else(words)?;
    let mut key = Vec::new();
    for (name, value) in sent.members() {
        let is_plain = !value.is_null() && !value.is_object() && !value.is_array();
        let text = value.as_str().map_or_else(|| value.raw().to_owned(), std::borrow::Cow::into_owned);
        if !is_plain || text.len() > VALUE_BYTES_MAX || key.len() == KEY_MAX {
            return Err(words());
        }
        key.push((name.into_owned(), text));
    }
    if key.is_empty() { Err(words()) } else { Ok(key) }
}

fn refusal(error: NoJudgement) -> Refusal {
    match error {
        NoJudgement::Question(words) => Refusal::bad_request(words.into_string()),
        NoJudgement::Source(error) => {
            let told = error.for_client();
            let status = match error {
                SourceError::Rejected { .. } | SourceError::Undone(_) | SourceError::Passed(_) => {
                    StatusCode::BAD_REQUEST
                }
                SourceError::Timeout
                | SourceError::Busy
                | SourceError::Unavailable(_)
                | SourceError::Broken(_) => StatusCode::SERVICE_UNAVAILABLE,
            };
            Refusal::new(status, told.code, told.message.into_string())
        }
    }
}

fn write_judgement(judged: &RowJudgement) -> Value {
    let columns = judged.columns.iter().map(|it| {
        value!({
            "name": it.name,
            "granted": it.is_granted,
            "shownIf": it.shown_if.as_ref().map(write_condition),
        })
    });
    value!({
        "exists": judged.exists,
        "visible": judged.is_visible,
        "granted": judged.is_granted,
        "missing": judged.missing,
        "condition": write_condition(&judged.condition),
        "cut": judged.is_cut,
        "columns": columns.collect::<Vec<_>>(),
        "limit": judged.limit,
    })
}

/// Recursion is as deep as the condition of a permission, which is bounded.
fn write_condition(it: &JudgedCondition) -> Value {
    value!({
        "kind": it.kind,
        "text": it.text,
        "role": it.role,
        "truth": it.truth.name(),
        "missing": it.missing,
        "parts": it.parts.iter().map(write_condition).collect::<Vec<_>>(),
    })
}

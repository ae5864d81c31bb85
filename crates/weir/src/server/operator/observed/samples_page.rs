//! `/admin/operations/samples`: the text of one operation without its values, its slowest execution, and its kinds of errors.

use crate::observer::observer;
use crate::server::operator::pages::{check_json, read_text};
use crate::server::request::answer::Answer;
use crate::server::request::answer::refusal::Refusal;
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::context::RequestContext;
use crate::server::request::negotiate::Media;
use crate::server::request::receive;
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use serde_json::{Value, json as value};
use std::time::{SystemTime, UNIX_EPOCH};
use weir_engine::operation_samples::{ErrorSample, OperationSamples, SlowExecution};

/// Tells the samples of the operation that `{"hash": "…", "name": "…"}` names.
pub(crate) async fn answer(
    context: &RequestContext,
    head: &Parts,
    body: Incoming,
) -> Result<Answer, Refusal> {
    check_json(head)?;
    let limits = &context.generation.config.limits;
    let bytes = receive::body(context, &head.headers, body).await?;
    let tape = receive::json(context.worker.json_buffer.take(), &bytes, limits)?;
    let hash = read_text(tape.root(), "hash")?;
    let name = tape.root().get("name").and_then(|it| it.as_str()).unwrap_or_default();
    let samples = observer().operations.samples(&name, &hash);
    let samples = samples.ok_or_else(|| {
        let message = "no operation with this name and hash is counted by itself: `/admin/operations` lists those that are";
        Refusal::new(StatusCode::NOT_FOUND, "NOT_FOUND", message)
    })?;
    let body = ResponseBody::whole(samples_json(&samples).to_string().into_bytes());
    Ok(Answer::page(json(StatusCode::OK, Media::Json, body)))
}

fn samples_json(samples: &OperationSamples) -> Value {
    let OperationSamples { text, errors, slowest } = samples;
    value!({
        "text": text.as_deref(),
        "errors": errors.iter().map(error_json).collect::<Vec<_>>(),
        "slowest": slowest.as_ref().map(slow_json),
    })
}

/// Milliseconds since 1970.
fn milliseconds(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).map_or(0, |it| it.as_millis() as u64)
}

fn error_json(error: &ErrorSample) -> Value {
    let ErrorSample { code, path, count, at } = error;
    value!({ "code": &**code, "path": path.as_deref(), "count": count, "at_ms": milliseconds(*at) })
}

fn slow_json(slow: &SlowExecution) -> Value {
    let SlowExecution { total_us, timing, at, role, steps } = slow;
    let us = |it: std::time::Duration| it.as_micros() as u64;
    let steps = steps.iter().map(|(source, text)| value!({ "source": &**source, "text": &**text }));
    value!({
        "total_us": total_us,
        "at_ms": milliseconds(*at),
        "role": &**role,
        "planned": !timing.plan_hit,
        "stages": {
            "parse": us(timing.parse), "validate": us(timing.validate), "plan": us(timing.plan),
            "bind": us(timing.bind), "execute": us(timing.execute),
        },
        "fetches": timing.fetches,
        "steps": steps.collect::<Vec<_>>(),
    })
}

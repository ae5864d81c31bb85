//! `/v1/reload`: reloads the configuration.

use crate::generation::Turn;
use crate::server::request::answer::Answer;
use crate::server::request::answer::refusal::Refusal;
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::context::RequestContext;
use crate::server::request::negotiate::Media;
use crate::server::telemetry::metrics::Metrics;
use hyper::StatusCode;
use std::sync::Arc;

/// Reloads configuration and sources; the answer names the generation in service.
pub(crate) async fn answer(context: &RequestContext) -> Result<Answer, Refusal> {
    let live = Arc::clone(&context.worker.live);
    let metrics = Arc::clone(&context.worker.metrics);
    let made = tokio::task::spawn_blocking(move || reload_and_log(&live.turn(), &metrics)).await;
    let made = made.unwrap_or_else(|_| Err("a bug: the reload panicked".into()));
    let number =
        made.map_err(|message| Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "RELOAD_FAILED", message))?;
    let body = format!("{{\"generation\":{number}}}").into_bytes();
    Ok(Answer::page(json(StatusCode::OK, Media::Json, ResponseBody::whole(body))))
}

/// Reloads, logs and counts it.
pub(crate) fn reload_and_log(turn: &Turn<'_>, metrics: &Metrics) -> Result<u64, String> {
    let made = turn.reload();
    match &made {
        Ok(number) => {
            metrics.reloads.inc();
            turn.current().findings.log();
            tracing::info!(generation = number, "the configuration was taken over");
        }
        Err(message) => {
            metrics.reload_failures.inc();
            tracing::error!("the configuration was not taken over, the one before serves on: {message}");
        }
    }
    made
}

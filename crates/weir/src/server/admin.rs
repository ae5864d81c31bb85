//! Pages for operators: version, metrics, explain, reload, invalidate.

use super::body::Reply;
use super::exchange::{Answer, Exchange, Refusal, json, string};
use super::graphql::engine_request;
use super::negotiate::{self, Media};
use super::receive;
use crate::services;
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use std::sync::Arc;
use weir_engine::engine::Explanation;
use weir_engine::source::{Accent, Caller, Tag};
use weir_language::json::JsonRef;

/// The content type of the metrics page. Source: OpenMetrics 1.0.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Limits of one call: number of tags, and bytes of a tag.
const TAGS_MAX: usize = 1000;
const TAG_BYTES_MAX: usize = 1024;

/// A page of plain text.
pub(crate) fn page(status: StatusCode, text: impl Into<String>) -> Answer {
    let mut response = Response::new(Reply::whole(text.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Answer::page(response)
}

/// The version of Weir.
pub(crate) fn version() -> Answer {
    let text = concat!("{\"version\":\"", env!("CARGO_PKG_VERSION"), "\",\"server_type\":\"weir\"}");
    Answer::page(json(StatusCode::OK, Media::Json, Reply::whole(text.as_bytes().to_vec())))
}

/// All counters.
pub(crate) fn metrics(exchange: &Exchange) -> Answer {
    let mut answer = page(StatusCode::OK, exchange.worker.metrics.page());
    answer.response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(OPENMETRICS));
    answer
}

/// Reads the configuration and inspects the sources again, and says which generation serves then.
pub(crate) async fn reload(exchange: &Exchange) -> Result<Answer, Refusal> {
    let (live, metrics) = (Arc::clone(&exchange.worker.live), Arc::clone(&exchange.worker.metrics));
    let made = tokio::task::spawn_blocking(move || super::reload(&live.turn(), &metrics)).await;
    let made = made.unwrap_or_else(|_| Err("a bug: the reload panicked".into()));
    let number =
        made.map_err(|message| Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "RELOAD_FAILED", message))?;
    let body = format!("{{\"generation\":{number}}}").into_bytes();
    Ok(Answer::page(json(StatusCode::OK, Media::Json, Reply::whole(body))))
}

/// Makes everything old that is kept and has one of the tags that are sent, here and in all processes that share the cache.
pub(crate) async fn invalidate(exchange: &Exchange, head: &Parts, body: Incoming) -> Result<Answer, Refusal> {
    check_json(head)?;
    let bytes = receive::body(exchange, &head.headers, body).await?;
    let limits = &exchange.generation.config.limits;
    let tape = receive::json(exchange.worker.json_buffer.take(), &bytes, limits)?;
    let tags = tags(tape.root()).ok_or_else(|| {
        Refusal::bad_request(format!(
            "write `{{\"tags\": [\"name\"]}}`, with 1 to {TAGS_MAX} names of 1 to {TAG_BYTES_MAX} bytes"
        ))
    })?;
    services::changes().note(&tags);
    let body = format!("{{\"invalidated\":{}}}", tags.len()).into_bytes();
    Ok(Answer::page(json(StatusCode::OK, Media::Json, Reply::whole(body))))
}

/// The names in `{"tags": […]}`.
fn tags(sent: JsonRef<'_>) -> Option<Vec<Tag>> {
    let list = sent.get("tags").filter(|it| it.is_array())?;
    let fits = |it: &str| (1..=TAG_BYTES_MAX).contains(&it.len());
    let one = |it: JsonRef<'_>| it.as_str().filter(|it| fits(it)).map(|it| Tag(it.into()));
    let tags: Vec<Tag> = list.items().map(one).collect::<Option<_>>()?;
    (1..=TAGS_MAX).contains(&tags.len()).then_some(tags)
}

fn check_json(head: &Parts) -> Result<(), Refusal> {
    let message = "a POST needs `content-type: application/json`";
    match negotiate::is_json(&head.headers) {
        true => Ok(()),
        false => Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", message)),
    }
}

/// The plan of an operation and what it asks its sources, without running it.
pub(crate) async fn explain(exchange: &Exchange, head: &Parts, body: Incoming) -> Result<Answer, Refusal> {
    check_json(head)?;
    let limits = &exchange.generation.config.limits;
    let bytes = receive::body(exchange, &head.headers, body).await?;
    let tape = receive::json(exchange.worker.json_buffer.take(), &bytes, limits)?;
    let params = receive::params(tape.root()).map_err(|it| Refusal::bad_request(it.message()))?;
    let client = exchange.client(&head.headers);
    let request = engine_request(exchange, &params, &client, Accent::Spec, false);
    let (status, body) = match exchange.generation.engine.explain(request, &Caller::Admin) {
        Ok(explanation) => (StatusCode::OK, explained(&explanation)),
        Err(errors) => (StatusCode::BAD_REQUEST, errors),
    };
    Ok(Answer::page(json(status, Media::Json, Reply::whole(body))))
}

/// `{"plan": …, "pieces": [{"source": …, "text": …}]}`.
fn explained(explanation: &Explanation) -> Vec<u8> {
    let mut out = b"{\"plan\":".to_vec();
    string(&mut out, &explanation.plan);
    out.extend_from_slice(b",\"pieces\":[");
    for (place, (source, text)) in explanation.pieces.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        out.extend_from_slice(b"{\"source\":");
        string(&mut out, source);
        out.extend_from_slice(b",\"text\":");
        string(&mut out, text);
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pieces: &[(&str, &str)], expected: &str) {
        let pieces = pieces.iter().map(|(source, text)| ((*source).into(), (*text).into())).collect();
        let found = explained(&Explanation { plan: "fetch\n".into(), pieces });
        assert_eq!(std::str::from_utf8(&found), Ok(expected));
    }

    #[test]
    fn an_explanation_lists_its_pieces() {
        check(&[], r#"{"plan":"fetch\n","pieces":[]}"#);
        check(
            &[("a", "SELECT \"x\""), ("b", "")],
            r#"{"plan":"fetch\n","pieces":[{"source":"a","text":"SELECT \"x\""},{"source":"b","text":""}]}"#,
        );
    }
}

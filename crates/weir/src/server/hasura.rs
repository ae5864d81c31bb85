//! `/v1/graphql`: as Hasura v2 answers. Status 200 for every request that is understood as one, errors with
//! `extensions.path` and `code`, and lists of requests. A body is JSON whatever its content type says.
//!
//! **Invariant:** the requests of a list run one after another, each on its own; their answers leave in the same order.

use super::auth::{self, Denied};
use super::body::Reply;
use super::client::Client;
use super::exchange::{Answer, Exchange, Refusal, error_body, json, no_events};
use super::graphql::{engine_request, respond};
use super::metrics::{Door, Verdict};
use super::negotiate::{self, Media};
use super::receive::{self, Params, Unusable};
use bytes::Bytes;
use futures_util::FutureExt;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, StatusCode};
use std::panic::AssertUnwindSafe;
use weir_engine::engine::{Aborted, Body, Outcome};
use weir_engine::source::{Accent, Caller};
use weir_engine::unread;
use weir_language::json::{Json, JsonBuffer, JsonRef};

/// Answers of a list are sent when so many bytes have gathered.
const BATCH_CHUNK_BYTES: usize = 64 * 1024;

/// Answer to a GET, in Hasura's words, with the address that answers a GET.
const NOT_FOUND: &str = "{\"path\":\"$\",\"error\":\"resource does not exist\",\"code\":\"not-found\",\"errors\":[{\"message\":\
\"a GET is answered at /graphql: send a POST here\",\"extensions\":{\"path\":\"$\",\"code\":\"not-found\"}}]}";

/// Answers a POST, and what comes instead.
pub(crate) async fn answer(exchange: &Exchange, head: &Parts, body: Incoming) -> Result<Answer, Refusal> {
    let headers = &head.headers;
    if negotiate::wants_events(headers) {
        return Ok(no_events("not-supported", Some("$"), Door::Hasura));
    }
    if head.method == Method::GET {
        let response = json(StatusCode::NOT_FOUND, Media::Json, Reply::whole(NOT_FOUND));
        return Ok(Answer { response, door: Door::Hasura, verdict: Verdict::Rejected, timing: None });
    }
    let caller = match auth::caller(exchange, headers) {
        Ok(caller) => caller,
        Err(denied @ Denied::TooOften) => return Err(Refusal::denied(denied)),
        Err(denied) => return Ok(refused(denied.message(), "access-denied", Verdict::Denied)),
    };
    if exchange.generation.is_waiting {
        return Ok(refused(&Refusal::waiting().message, "unexpected", Verdict::Failed));
    }
    exchange.has_room(1)?;
    // Browsers send other types for any page and ask nobody.
    if !negotiate::is_json(headers) && !exchange.generation.cors.may_call(head) {
        let message = "a web page of another origin has to send `content-type: application/json`";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", message));
    }
    let limits = &exchange.generation.config.limits;
    let bytes = receive::body(exchange, headers, body).await?;
    let tape = match receive::json(exchange.worker.json_buffer.take(), &bytes, limits) {
        Ok(tape) => tape,
        Err(refusal) => return Ok(refused(&refusal.message, "invalid-json", Verdict::Rejected)),
    };
    if tape.root().is_array() {
        let count = tape.root().items().count();
        drop(tape);
        return batch(exchange, headers, bytes, count, caller);
    }
    let answer = match params(tape.root()) {
        Err(message) => refused(message, "parse-failed", Verdict::Rejected),
        Ok(params) => {
            let client = exchange.client(headers);
            let request = engine_request(exchange, &params, &client, Accent::Hasura, false);
            let made = exchange.generation.engine.execute(request, &caller).await;
            let (verdict, timing) = (verdict(made.outcome), made.timing);
            let response = respond(exchange, made, StatusCode::OK, Media::Json, headers);
            Answer { response, door: Door::Hasura, verdict, timing: Some(timing) }
        }
    };
    exchange.worker.json_buffer.replace(tape.into_buffer());
    Ok(answer)
}

fn params(body: JsonRef<'_>) -> Result<Params<'_>, &'static str> {
    receive::params(body).map_err(|unusable| match unusable {
        Unusable::NoQuery => "key \"query\" not found",
        Unusable::PersistedOnly | Unusable::OtherHash | Unusable::Wrong(_) | Unusable::NoObject => {
            unusable.message()
        }
    })
}

const fn verdict(outcome: Outcome) -> Verdict {
    match outcome {
        Outcome::Executed => Verdict::Executed,
        Outcome::Refused | Outcome::MethodNotAllowed(_) => Verdict::Refused,
    }
}

fn refused(message: &str, code: &str, verdict: Verdict) -> Answer {
    let body = Reply::whole(error_body(message, code, Some("$")));
    Answer { response: json(StatusCode::OK, Media::Json, body), door: Door::Hasura, verdict, timing: None }
}

/// Answers a list of requests, as a stream.
fn batch(
    exchange: &Exchange,
    headers: &HeaderMap,
    text: Bytes,
    count: usize,
    caller: Caller,
) -> Result<Answer, Refusal> {
    let batch_max = usize::from(exchange.generation.config.limits.batch_max);
    if count > batch_max {
        let message = format!("{count} requests in one list; {batch_max} are allowed");
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "LIMIT_BATCH", message));
    }
    let (send, rest) = unread::channel(2);
    let (exchange, headers) = (exchange.again(), headers.clone());
    tokio::task::spawn_local(async move {
        let client = exchange.client(&headers);
        let work = run_batch(&exchange, &text, (&caller, &client), &send);
        let work = AssertUnwindSafe(work).catch_unwind();
        // The client must not take a part for the whole.
        if work.await.is_err() {
            exchange.worker.metrics.panics.inc();
            let _ = send.send(Err(Aborted)).await;
        }
    });
    let response = json(StatusCode::OK, Media::Json, Reply::stream(Vec::new(), rest, None));
    Ok(Answer { response, door: Door::Hasura, verdict: Verdict::Executed, timing: None })
}

type Sender = unread::Sender<Result<Vec<u8>, Aborted>>;

/// Runs the requests in turn until the last, or until nobody reads.
async fn run_batch(exchange: &Exchange, text: &[u8], who: (&Caller, &Client<'_>), send: &Sender) {
    let nesting_max = exchange.generation.config.limits.nesting_max;
    // The text was read once already, to count its requests.
    let Ok(tape) = Json::parse_in(JsonBuffer::default(), text, nesting_max) else { return };
    let mut out = vec![b'['];
    for (place, item) in tape.root().items().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        if run_one(exchange, item, who, &mut out, send).await.is_none() {
            return;
        }
        if out.len() >= BATCH_CHUNK_BYTES && send.send(Ok(std::mem::take(&mut out))).await.is_err() {
            return;
        }
    }
    out.push(b']');
    let _ = send.send(Ok(out)).await;
}

/// Appends the answer of one request; `None` when the stream is over.
async fn run_one(
    exchange: &Exchange,
    item: JsonRef<'_>,
    (caller, client): (&Caller, &Client<'_>),
    out: &mut Vec<u8>,
    send: &Sender,
) -> Option<()> {
    let params = match params(item) {
        Ok(params) => params,
        Err(message) => {
            out.extend_from_slice(&error_body(message, "parse-failed", Some("$")));
            return Some(());
        }
    };
    let request = engine_request(exchange, &params, client, Accent::Hasura, false);
    let made = exchange.generation.engine.execute(request, caller).await;
    exchange.worker.metrics.timing(&made.timing, exchange.started.elapsed());
    match made.body {
        Body::Whole(bytes) => out.extend_from_slice(&bytes),
        Body::Shared(bytes) => out.extend_from_slice(&bytes),
        Body::Stream { head, mut rest } => {
            out.extend_from_slice(&head);
            send.send(Ok(std::mem::take(out))).await.ok()?;
            while let Some(chunk) = rest.recv().await {
                let whole = chunk.is_ok();
                send.send(chunk).await.ok().filter(|()| whole)?;
            }
        }
    }
    Some(())
}

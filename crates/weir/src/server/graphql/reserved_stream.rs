//! Single-connection mode of graphql-sse: a client reserves one event stream that carries the results of all its operations.
//!
//! **Invariant:** the stream and its operations end together: when its client goes, when the server drains, or 30 s after the reservation if
//! nobody opened it.
//!
//! Source: the protocol of the npm package graphql-sse, single connection mode.

use super::event_stream::{self, Executed, LIFE};
use super::live_operation;
use super::live_operation::{LiveClient, LiveSession, LiveStart, WholeAnswer};
use crate::server::request::answer::Answer;
use crate::server::request::answer::refusal::Refusal;
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::auth;
use crate::server::request::client_headers::{copy_headers, rare};
use crate::server::request::context::{RequestContext, ServerPhase};
use crate::server::request::negotiate::{Media, StreamForm};
use crate::server::request::receive::{self, Unusable};
use crate::server::request::reserved_streams::ReservedStream;
use crate::server::telemetry::metrics::{Endpoint, Verdict};
use crate::session::Session;
use futures_util::future::{AbortHandle, Abortable};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Response, StatusCode};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use weir_engine::consistency::Positions;
use weir_engine::engine::Outcome;
use weir_language::json::JsonBuffer;
use weir_transport::events::Framing;

const TOKEN: HeaderName = HeaderName::from_static("x-graphql-event-stream-token");
/// Timeout of opening a reserved stream.
const OPEN_WITHIN: Duration = Duration::from_secs(30);

/// Token of a request, from a header or the URL.
fn token(head: &Parts) -> Result<Option<String>, Refusal> {
    match head.headers.get(TOKEN).and_then(|it| it.to_str().ok()) {
        Some(token) => Ok(Some(token.to_owned())),
        None => Ok(receive::url_param(head.uri.query(), "token")?),
    }
}

/// True if a request concerns a reserved stream.
pub(super) fn is_meant(head: &Parts) -> bool {
    matches!(head.method, Method::PUT | Method::DELETE)
        || rare(&head.headers, &TOKEN).is_some()
        || (head.method == Method::GET && head.uri.query().is_some_and(|it| it.contains("token=")))
}

fn not_found() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "NOT_FOUND", "no stream of yours has this token; reserve one by PUT")
}

fn plain(status: StatusCode, body: impl Into<bytes::Bytes>) -> Answer {
    let mut response = Response::new(ResponseBody::whole(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    Answer { response, endpoint: Endpoint::Graphql, verdict: Verdict::Executed, execution: None }
}

/// Answers a request about a reserved stream; `None` if it names no existing stream but asks for one of its own.
pub(super) async fn answer(
    context: &RequestContext,
    head: &Parts,
    takes_events: bool,
) -> Result<Option<Answer>, Refusal> {
    let session = auth::session(context, &head.headers, None).await.map_err(Refusal::from_auth_error)?;
    let streams = &context.worker.reserved_streams;
    let token = token(head)?;
    let found = token.as_deref().and_then(|it| streams.find(it, &session.identity));
    match (&head.method, found, token) {
        (&Method::PUT, None, _) => reserve(context, session).map(Some),
        (&Method::PUT, Some(_), _) => {
            let message = "the stream of this token is reserved already";
            Err(Refusal::new(StatusCode::CONFLICT, "CONFLICT", message))
        }
        (&Method::DELETE, Some(stream), _) => {
            let id = receive::url_param(head.uri.query(), "operationId")?
                .ok_or_else(|| Refusal::bad_request("`operationId` is missing"))?;
            stream.stop(&id);
            Ok(Some(plain(StatusCode::OK, "")))
        }
        (&Method::DELETE, None, _) => Err(not_found()),
        (_, Some(stream), Some(token)) if takes_events => open(context, &stream, token).map(Some),
        (_, Some(_), _) => Err(Refusal::bad_request("an operation for a reserved stream comes by POST")),
        (_, None, _) if takes_events => Ok(None),
        (_, None, _) => Err(not_found()),
    }
}

/// Reserves a stream for the caller of `session`.
fn reserve(context: &RequestContext, session: Session) -> Result<Answer, Refusal> {
    let streams = Arc::clone(&context.worker.reserved_streams);
    let token = streams.reserve(session.identity)?;
    let answer = plain(StatusCode::CREATED, token.to_string());
    tokio::task::spawn_local(async move {
        tokio::time::sleep(OPEN_WITHIN).await;
        streams.end_unopened(&token);
    });
    Ok(answer)
}

/// Opens the stream of `token`.
fn open(context: &RequestContext, stream: &ReservedStream, token: String) -> Result<Answer, Refusal> {
    let receiver = stream.open().ok_or_else(|| {
        Refusal::new(StatusCode::CONFLICT, "CONFLICT", "the stream of this token is open already")
    })?;
    let sender = Arc::clone(&stream.sender);
    let streams = Arc::clone(&context.worker.reserved_streams);
    let mut phase = context.worker.phase.clone();
    tokio::task::spawn_local(async move {
        loop {
            tokio::select! {
                () = sender.wait_until_closed() => break,
                _ = phase.wait_for(|it: &ServerPhase| it.is_over()) => break,
                () = tokio::time::sleep(LIFE) => drop(sender.send(Ok(StreamForm::Events.life())).await),
            }
        }
        streams.end(&token);
    });
    let body = ResponseBody::stream(StreamForm::Events.life(), receiver, None);
    Ok(event_stream::stream_answer(
        body,
        StreamForm::Events,
        Endpoint::Graphql,
        Executed { verdict: Verdict::Executed, execution: None },
    ))
}

/// Runs the operation in `payload`; results go to the stream of the token in `head`.
pub(super) async fn operate(
    context: &RequestContext,
    head: &Parts,
    payload: &[u8],
    media: Media,
) -> Result<Answer, Refusal> {
    let session =
        auth::session(context, &head.headers, Some(payload)).await.map_err(Refusal::from_auth_error)?;
    let streams = &context.worker.reserved_streams;
    let stream = token(head)?.and_then(|it| streams.find(&it, &session.identity)).ok_or_else(not_found)?;
    let id = operation_id(context, payload)?;
    let operations_max = usize::from(context.generation.config.limits.socket_operations_max);
    let (abort, registration) = AbortHandle::new_pair();
    stream.begin(&id, abort, operations_max)?;
    let started = live_operation::start(
        context,
        client(context, &head.headers),
        LiveSession { identity: session.identity, expires_ms: session.expires_ms },
        String::from_utf8_lossy(payload).into_owned(),
    )
    .await;
    let framing = Framing::of_operation(&id);
    let accepted = |verdict, execution| Answer { verdict, execution, ..plain(StatusCode::ACCEPTED, "") };
    match started {
        LiveStart::Answered(WholeAnswer { outcome: Outcome::Executed, verdict, execution, body, .. }) => {
            let results = async move {
                if stream.sender.send(Ok(framing.result(&body))).await.is_ok() {
                    let _ = stream.sender.send(Ok(framing.end())).await;
                }
                stream.stop(&id);
            };
            tokio::task::spawn_local(Abortable::new(results, registration));
            Ok(accepted(verdict, execution))
        }
        LiveStart::Answered(WholeAnswer { verdict, execution, body, .. }) => {
            stream.stop(&id);
            let response = json(StatusCode::BAD_REQUEST, media, ResponseBody::whole(body));
            Ok(Answer { response, endpoint: Endpoint::Graphql, verdict, execution })
        }
        LiveStart::Live(operation) => {
            let results = async move {
                event_stream::pump(operation, &stream.sender, &framing).await;
                stream.stop(&id);
            };
            tokio::task::spawn_local(Abortable::new(results, registration));
            Ok(accepted(Verdict::Executed, None))
        }
    }
}

fn client(context: &RequestContext, headers: &HeaderMap) -> LiveClient {
    LiveClient {
        worker: Rc::clone(&context.worker),
        watched: Rc::clone(&context.watched),
        peer: context.peer,
        endpoint: Endpoint::Graphql,
        is_relay: context.is_relay(),
        headers: Rc::new(copy_headers(headers)),
        positions: Arc::new(Positions::default()),
        is_get: false,
        increments: None,
    }
}

/// `extensions.operationId` of a request.
fn operation_id(context: &RequestContext, payload: &[u8]) -> Result<Box<str>, Refusal> {
    let tape = receive::json(JsonBuffer::default(), payload, &context.generation.config.limits)?;
    if !tape.root().is_object() {
        return Err(Refusal::bad_request(Unusable::NoObject.message()));
    }
    let id = tape.root().get("extensions").and_then(|it| it.get("operationId")).and_then(|it| it.as_str());
    id.filter(|it| !it.is_empty())
        .map(|it| it.as_ref().into())
        .ok_or_else(|| Refusal::bad_request("`extensions.operationId` is missing, a text"))
}

//! `/graphql`: GraphQL over HTTP to the letter.
//!
//! Sources: GraphQL over HTTP, sections 4 to 6; statuses by `docs/limits.md`.

use super::auth;
use super::body::Reply;
use super::client::Client;
use super::encode::{Coding, Encoder};
use super::exchange::{Answer, Exchange, Refusal, error_body, json, no_events};
use super::lifetime;
use super::metrics::{Door, Verdict};
use super::negotiate::{self, Media};
use super::receive::{self, Params, Unusable, UrlParams};
use super::unread::STREAM_BYTES;
use hyper::body::Incoming;
use hyper::header::{CONTENT_ENCODING, HeaderValue, RETRY_AFTER};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Response, StatusCode};
use std::borrow::Cow;
use std::time::Duration;
use weir_engine::engine::{self, Body, Capacity, Outcome};
use weir_engine::source::{Accent, Caller};
use weir_language::ast::OperationKind;
use weir_language::json::{Json, JsonBuffer};

/// After how many seconds a client that asks too fast should come again.
const RETRY_S: HeaderValue = HeaderValue::from_static("1");

/// Answers a GET or POST.
pub(crate) async fn answer(exchange: &Exchange, head: &Parts, body: Incoming) -> Result<Answer, Refusal> {
    let headers = &head.headers;
    let caller = auth::caller(exchange, headers).map_err(Refusal::denied)?;
    if exchange.generation.is_waiting {
        return Err(Refusal::waiting());
    }
    exchange.has_room(1)?;
    let Some(media) = negotiate::media(headers) else {
        if negotiate::wants_events(headers) {
            return Ok(no_events("SUBSCRIPTIONS_UNSUPPORTED", None, Door::Graphql));
        }
        let message = "answers are application/graphql-response+json or application/json";
        return Err(Refusal::new(StatusCode::NOT_ACCEPTABLE, "NOT_ACCEPTABLE", message));
    };
    if head.method == Method::GET {
        return Box::pin(by_get(exchange, head, media, &caller)).await;
    }
    if !negotiate::is_json(headers) {
        if negotiate::is_graphql(headers) {
            return Box::pin(by_text(exchange, head, body, media, &caller)).await;
        }
        let message = "a POST needs `content-type: application/json`; /v1/graphql takes a body without it";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", message));
    }
    let limits = &exchange.generation.config.limits;
    let bytes = receive::body(exchange, headers, body).await?;
    let buffer = exchange.worker.json_buffer.take();
    let tape = receive::json(buffer, &bytes, limits)?;
    let answer = match receive::params(tape.root()) {
        Ok(params) => {
            let client = exchange.client(headers);
            let request = engine_request(exchange, &params, &client, Accent::Spec, false);
            let made = exchange.generation.engine.execute(request, &caller).await;
            answer_with(exchange, made, media, headers)
        }
        Err(Unusable::NoObject) if tape.root().is_array() => {
            Err(Refusal::bad_request("a list of requests is answered at /v1/graphql, here one request alone"))
        }
        Err(unusable) => unusable_answer(&unusable, media),
    };
    exchange.worker.json_buffer.replace(tape.into_buffer());
    answer
}

/// Answers a POST whose body is the operation itself.
async fn by_text(
    exchange: &Exchange,
    head: &Parts,
    body: Incoming,
    media: Media,
    caller: &Caller,
) -> Result<Answer, Refusal> {
    let bytes = receive::body(exchange, &head.headers, body).await?;
    let Ok(query) = std::str::from_utf8(&bytes) else {
        return Err(Refusal::bad_request("the operation is not in UTF-8"));
    };
    let params = Params { query: Cow::Borrowed(query), operation_name: None, variables: None };
    let client = exchange.client(&head.headers);
    let request = engine_request(exchange, &params, &client, Accent::Spec, false);
    let made = exchange.generation.engine.execute(request, caller).await;
    answer_with(exchange, made, media, &head.headers)
}

async fn by_get(exchange: &Exchange, head: &Parts, media: Media, caller: &Caller) -> Result<Answer, Refusal> {
    let sent = receive::url_params(head.uri.query().unwrap_or_default())?;
    let (variables, extensions) = url_json(exchange, &sent)?;
    let root = |it: &Option<Json<'_>>| it.as_ref().is_some_and(|it| !it.root().is_null());
    let object =
        |it: &Option<Json<'_>>| it.as_ref().is_none_or(|it| it.root().is_null() || it.root().is_object());
    if !object(&variables) || !object(&extensions) {
        let message = "`variables` and `extensions` must be JSON objects";
        return unusable_answer(&Unusable::Wrong(message), media);
    }
    let Some(query) = sent.query.as_deref() else {
        let persisted = extensions.as_ref().is_some_and(|it| it.root().get("persistedQuery").is_some());
        return unusable_answer(&if persisted { Unusable::PersistedOnly } else { Unusable::NoQuery }, media);
    };
    if let Err(unusable) = receive::check_hash(query, extensions.as_ref().map(Json::root)) {
        return unusable_answer(&unusable, media);
    }
    let params = Params {
        query: Cow::Borrowed(query),
        operation_name: sent.operation_name.as_deref().map(Cow::Borrowed),
        variables: if root(&variables) { variables.as_ref().map(Json::root) } else { None },
    };
    let client = exchange.client(&head.headers);
    let request = engine_request(exchange, &params, &client, Accent::Spec, true);
    let made = exchange.generation.engine.execute(request, caller).await;
    let tag = lifetime::tag(&made);
    let mut answer = answer_with(exchange, made, media, &head.headers)?;
    if let Some(tag) = tag {
        lifetime::mark(&tag, &head.headers, &mut answer.response);
    }
    // Only what came by GET is ever kept by a cache between us and the client.
    let is_coded = exchange.generation.config.compression.enabled;
    let read = if is_coded { "accept, accept-encoding" } else { "accept" };
    lifetime::differs_by(answer.response.headers_mut(), read);
    Ok(answer)
}

/// The JSON in `variables` and `extensions` of a URL.
fn url_json<'t>(
    exchange: &Exchange,
    sent: &'t UrlParams,
) -> Result<(Option<Json<'t>>, Option<Json<'t>>), Refusal> {
    let limits = &exchange.generation.config.limits;
    let read = |text: &'t Option<String>| match text.as_deref() {
        None | Some("") => Ok(None),
        Some(text) => receive::json(JsonBuffer::default(), text.as_bytes(), limits).map(Some),
    };
    Ok((read(&sent.variables)?, read(&sent.extensions)?))
}

/// A well-formed body without a usable request in it.
fn unusable_answer(unusable: &Unusable, media: Media) -> Result<Answer, Refusal> {
    let code = match unusable {
        // Clients look for exactly its words, then send the whole text.
        Unusable::PersistedOnly => "PERSISTED_QUERY_NOT_SUPPORTED",
        Unusable::OtherHash => "PERSISTED_QUERY_MISMATCH",
        Unusable::NoQuery | Unusable::Wrong(_) | Unusable::NoObject => {
            return Err(Refusal::bad_request(unusable.message()));
        }
    };
    let body = error_body(unusable.message(), code, None);
    let response = json(refused_status(media), media, Reply::whole(body));
    Ok(Answer { response, door: Door::Graphql, verdict: Verdict::Refused, timing: None })
}

const fn refused_status(media: Media) -> StatusCode {
    match media {
        Media::Json => StatusCode::OK,
        Media::GraphqlResponse => StatusCode::BAD_REQUEST,
    }
}

/// Gives what the engine made its status.
fn answer_with(
    exchange: &Exchange,
    made: engine::Response,
    media: Media,
    headers: &HeaderMap,
) -> Result<Answer, Refusal> {
    let (status, verdict) = match made.outcome {
        Outcome::Executed => (StatusCode::OK, Verdict::Executed),
        Outcome::Refused => (refused_status(media), Verdict::Refused),
        Outcome::MethodNotAllowed(kind) => {
            let message = match kind {
                OperationKind::Subscription => {
                    "a subscription by GET needs `accept: text/event-stream`, and subscriptions are not supported yet"
                }
                OperationKind::Query | OperationKind::Mutation => {
                    "a GET can only run queries; send a mutation by POST"
                }
            };
            return Err(Refusal { message: message.into(), ..Refusal::method("POST") });
        }
    };
    let timing = made.timing;
    let response = respond(exchange, made, status, media, headers);
    Ok(Answer { response, door: Door::Graphql, verdict, timing: Some(timing) })
}

/// The request as the engine wants it.
pub(crate) fn engine_request<'r>(
    exchange: &Exchange,
    params: &'r Params<'_>,
    client: &'r Client<'_>,
    accent: Accent,
    queries_only: bool,
) -> engine::Request<'r> {
    let patience = Duration::from_secs(u64::from(exchange.generation.config.limits.request_s));
    engine::Request {
        query: &params.query,
        // Clients that always send the key mean by an empty name that there is none.
        operation_name: params.operation_name.as_deref().filter(|it| !it.is_empty()),
        variables: params.variables,
        accent,
        queries_only,
        headers: client,
        deadline: exchange.started + patience,
    }
}

/// Puts the engine's bytes into a response, compressed if the client asks for it.
pub(crate) fn respond(
    exchange: &Exchange,
    made: engine::Response,
    status: StatusCode,
    media: Media,
    headers: &HeaderMap,
) -> Response<Reply> {
    let compression = &exchange.generation.config.compression;
    let coding = || if compression.enabled { negotiate::coding(headers) } else { None };
    let (reply, coding) = match made.body {
        Body::Whole(bytes) => {
            if made.outcome == Outcome::Refused {
                exchange.worker.metrics.limits_in(&bytes);
            }
            match (bytes.len() >= compression.bytes_min).then(coding).flatten() {
                None => (Reply::whole(bytes), None),
                Some(coding) => (Reply::whole(Encoder::whole(coding, &bytes)), Some(coding)),
            }
        }
        Body::Shared(bytes) => match (bytes.len() >= compression.bytes_min).then(coding).flatten() {
            None => (Reply::whole(bytes), None),
            Some(coding) => (Reply::whole(Encoder::whole(coding, &bytes)), Some(coding)),
        },
        Body::Stream { head, rest } => {
            if let Err(refusal) = exchange.has_room(STREAM_BYTES) {
                let mut response = json(refusal.status, media, Reply::whole(refusal.body()));
                response.headers_mut().insert(RETRY_AFTER, RETRY_S);
                return response;
            }
            let coding = coding();
            (Reply::stream(head, rest, coding.map(Encoder::new)), coding)
        }
    };
    let mut response = json(status, media, reply);
    mark_coding(&mut response, coding);
    if let Some(told) = &made.lifetime {
        exchange.worker.metrics.kept(told.kept);
        let (has_secret, dev) = (exchange.generation.secret().is_some(), exchange.generation.dev);
        lifetime::tell(response.headers_mut(), told, headers, lifetime::Place { has_secret, dev });
    }
    match made.capacity {
        Capacity::Enough => {}
        Capacity::Exhausted => {
            exchange.worker.metrics.pool_timeouts.inc();
            response.headers_mut().insert(RETRY_AFTER, RETRY_S);
        }
    }
    response
}

/// Says how the body is coded.
pub(crate) fn mark_coding(response: &mut Response<Reply>, coding: Option<Coding>) {
    if let Some(coding) = coding {
        let headers = response.headers_mut();
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
        lifetime::differs_by(headers, "accept-encoding");
    }
}

//! `/graphql`: GraphQL over HTTP to the letter.
//!
//! PUT and DELETE are those of graphql-sse alone.
//!
//! Sources: GraphQL over HTTP, sections 4 to 6; statuses by `docs/limits.md`.

use super::engine_response::respond;
use super::event_stream::{self, Executed, StreamRequest};
use super::execute::{check_origin, execute};
use super::request_list;
use super::request_list::{BatchForm, RequestList};
use super::reserved_stream;
use super::resolve_document::{id_members, resolve, resolve_body};
use super::role_hint;
use crate::server::connection::unread::STREAM_BYTES;
use crate::server::request::answer::Answer;
use crate::server::request::answer::cache_headers;
use crate::server::request::answer::refusal::{Refusal, error_body};
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::auth;
use crate::server::request::context::RequestContext;
use crate::server::request::engine_request::engine_request;
use crate::server::request::negotiate::{self, Media, StreamForm};
use crate::server::request::receive::{self, NamedRequest, Unusable, UrlJson, UrlParams};
use crate::server::telemetry::metrics::{Endpoint, Verdict};
use crate::session;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CACHE_CONTROL, COOKIE, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, StatusCode};
use std::borrow::Cow;
use weir_engine::engine::{self, Body, Outcome};
use weir_engine::source::{CacheScope, Caller, Protocol};
use weir_language::ast::OperationKind;
use weir_language::json::JsonBuffer;
use weir_transport::document_id::DocumentText;

/// `Cache-Control` of a refusal about an identifier, which may be known a moment later. Source: Apollo Server 5.
const UNCACHED: &str = "private, no-cache, must-revalidate";

/// Answers a request.
pub(crate) async fn answer(
    context: &RequestContext,
    head: &Parts,
    body: Incoming,
) -> Result<Answer, Refusal> {
    let headers = &head.headers;
    let caller = auth::caller_before_body(context, headers).await.map_err(Refusal::from_auth_error)?;
    if context.generation.is_waiting {
        return Err(Refusal::no_sources());
    }
    context.has_room(1)?;
    if reserved_stream::is_meant(head) {
        return Box::pin(answer_reserved(context, head, body)).await;
    }
    let Some(media) = negotiate::media(headers) else {
        if negotiate::wants_events(headers) {
            return Box::pin(by_stream(context, head, body, StreamForm::Events)).await;
        }
        let message = "answers are application/graphql-response+json or application/json";
        return Err(Refusal::new(StatusCode::NOT_ACCEPTABLE, "NOT_ACCEPTABLE", message));
    };
    if head.method == Method::GET {
        let caller = resolve_caller(context, headers, caller, None).await?;
        return Box::pin(by_get(context, head, media, &caller)).await;
    }
    if !negotiate::is_json(headers) {
        if negotiate::is_graphql(headers) {
            let caller = resolve_caller(context, headers, caller, None).await?;
            return Box::pin(by_text(context, head, body, media, &caller)).await;
        }
        let message = "a POST needs `content-type: application/json`; /v1/graphql takes a body without it";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", message));
    }
    let bytes = receive::body(context, headers, body).await?;
    let limits = &context.generation.config.limits;
    let tape = receive::json(context.worker.json_buffer.take(), &bytes, limits)?;
    let caller = resolve_caller(context, headers, caller, Some(&bytes)).await?;
    if tape.root().is_array() {
        let list = RequestList { count: tape.root().items().count(), text: bytes.clone() };
        return request_list::batch(context, headers, list, caller, BatchForm::of_graphql(media));
    }
    let body = StreamPayload::Body(&bytes);
    let answer = match resolve_body(context, &caller, Protocol::GraphqlOverHttp, tape.root()).await {
        Ok(params) => {
            let client = context.client(headers)?;
            let request = engine_request(context, &params, &client, Protocol::GraphqlOverHttp, false);
            let request = in_parts(request, headers);
            let made = role_hint::execute_with_hint(context, headers, request, &caller).await;
            let is_subscription = made.outcome == Outcome::Subscription;
            match is_subscription.then(|| negotiate::stream(headers)).flatten() {
                None => answer_with(context, made, media, headers),
                Some(form) => Box::pin(answer_stream(context, headers, body, form)).await,
            }
        }
        Err(unusable) => unusable_answer(&unusable, media),
    };
    context.worker.json_buffer.replace(tape.into_buffer());
    answer
}

/// Answers a request about a reserved event stream.
async fn answer_reserved(context: &RequestContext, head: &Parts, body: Incoming) -> Result<Answer, Refusal> {
    let takes_events = negotiate::wants_events(&head.headers);
    if takes_events || head.method != Method::POST {
        return match reserved_stream::answer(context, head, takes_events).await? {
            Some(answer) => Ok(answer),
            None => by_stream(context, head, body, StreamForm::Events).await,
        };
    }
    if !negotiate::is_json(&head.headers) {
        let message = "a POST needs `content-type: application/json`";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", message));
    }
    let bytes = receive::body(context, &head.headers, body).await?;
    let media = negotiate::media(&head.headers).unwrap_or(Media::Json);
    reserved_stream::operate(context, head, &bytes, media).await
}

/// Answers a request of a client that accepts only event streams.
async fn by_stream(
    context: &RequestContext,
    head: &Parts,
    body: Incoming,
    form: StreamForm,
) -> Result<Answer, Refusal> {
    let headers = &head.headers;
    if head.method == Method::GET {
        if !context.generation.cors.may_call(head) {
            return Err(Refusal::of_another_origin());
        }
        let payload = url_payload(context, head)?;
        return answer_stream(context, headers, StreamPayload::Url(&payload), form).await;
    }
    if !negotiate::is_json(headers) {
        let message = "a POST needs `content-type: application/json`";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", message));
    }
    let bytes = receive::body(context, headers, body).await?;
    answer_stream(context, headers, StreamPayload::Body(&bytes), form).await
}

/// Members of a request, as JSON.
#[derive(Clone, Copy)]
enum StreamPayload<'p> {
    /// Body of a POST.
    Body(&'p [u8]),
    /// Parameters of the URL of a GET.
    Url(&'p str),
}

/// Answers the request in `payload` with a stream.
async fn answer_stream(
    context: &RequestContext,
    headers: &HeaderMap,
    payload: StreamPayload<'_>,
    form: StreamForm,
) -> Result<Answer, Refusal> {
    let is_get = matches!(payload, StreamPayload::Url(_));
    let payload = match payload {
        StreamPayload::Body(body) => body,
        StreamPayload::Url(parameters) => parameters.as_bytes(),
    };
    let session = auth::session(context, headers, Some(payload)).await.map_err(Refusal::from_auth_error)?;
    let payload = String::from_utf8_lossy(payload).into_owned();
    let endpoint = Endpoint::Graphql;
    let request = StreamRequest { headers, payload, is_get, endpoint, session };
    Ok(event_stream::answer(context, request, form).await)
}

/// URL parameters as the body of an equivalent POST.
fn url_payload(context: &RequestContext, head: &Parts) -> Result<String, Refusal> {
    let sent = receive::url_params(head.uri.query().unwrap_or_default(), id_members(context))?;
    url_json(context, &sent)?;
    Ok(sent.body())
}

/// The caller. `request` is the body, needed if headers alone do not identify the caller.
async fn resolve_caller(
    context: &RequestContext,
    headers: &HeaderMap,
    caller: Option<Caller>,
    request: Option<&[u8]>,
) -> Result<Caller, Refusal> {
    match caller {
        Some(caller) => Ok(caller),
        None => Box::pin(auth::caller(context, headers, request)).await.map_err(Refusal::from_auth_error),
    }
}

/// Answers a POST whose body is the document itself.
async fn by_text(
    context: &RequestContext,
    head: &Parts,
    body: Incoming,
    media: Media,
    caller: &Caller,
) -> Result<Answer, Refusal> {
    let bytes = receive::body(context, &head.headers, body).await?;
    let Ok(query) = std::str::from_utf8(&bytes) else {
        return Err(Refusal::bad_request("the operation is not in UTF-8"));
    };
    let text = Some(Cow::Borrowed(query));
    let request = NamedRequest { text, id: None, operation_name: None, variables: None };
    let params = match resolve(context, caller, Protocol::GraphqlOverHttp, request).await {
        Ok(params) => params,
        Err(unusable) => return unusable_answer(&unusable, media),
    };
    let client = context.client(&head.headers)?;
    let request = engine_request(context, &params, &client, Protocol::GraphqlOverHttp, false);
    let request = in_parts(request, &head.headers);
    let made = execute(context, request, caller).await;
    answer_with(context, made, media, &head.headers)
}

async fn by_get(
    context: &RequestContext,
    head: &Parts,
    media: Media,
    caller: &Caller,
) -> Result<Answer, Refusal> {
    let sent = receive::url_params(head.uri.query().unwrap_or_default(), id_members(context))?;
    let url_json = url_json(context, &sent)?;
    let resolved = match sent.request(&url_json) {
        Ok(request) => resolve(context, caller, Protocol::GraphqlOverHttp, request).await,
        Err(unusable) => Err(unusable),
    };
    let params = match resolved {
        Ok(params) => params,
        Err(unusable) => return unusable_answer(&unusable, media),
    };
    let client = context.client(&head.headers)?;
    let request = engine_request(context, &params, &client, Protocol::GraphqlOverHttp, true);
    let request = in_parts(request, &head.headers);
    Box::pin(check_origin(context, head, request, caller)).await?;
    let made = execute(context, request, caller).await;
    let is_subscription = made.outcome == Outcome::MethodNotAllowed(OperationKind::Subscription);
    if let Some(form) = is_subscription.then(|| negotiate::stream(&head.headers)).flatten() {
        let payload = url_payload(context, head)?;
        return Box::pin(answer_stream(context, &head.headers, StreamPayload::Url(&payload), form)).await;
    }
    let tag = cache_headers::tag(&made);
    let is_public = is_for_shared_caches(context, &made, &head.headers);
    let mut answer = answer_with(context, made, media, &head.headers)?;
    if let DocumentText::Stored(_) = params.query {
        cache_headers::settle_by_id(answer.response.headers_mut(), is_public);
    }
    if let Some(tag) = tag {
        cache_headers::mark(&tag, &head.headers, &mut answer.response);
    }
    // Caches between server and client store only answers to GET.
    let is_coded = context.generation.config.compression.enabled;
    let read = if is_coded { "accept, accept-encoding" } else { "accept" };
    cache_headers::differs_by(answer.response.headers_mut(), read);
    Ok(answer)
}

/// True if caches between server and client may give `made` to whoever sends no credentials, like its caller.
fn is_for_shared_caches(context: &RequestContext, made: &engine::Response, headers: &HeaderMap) -> bool {
    context.generation.config.operations.persisted.shared_caches
        && !session::has_credentials(headers)
        && !headers.contains_key(AUTHORIZATION)
        && !headers.contains_key(COOKIE)
        && made.lifetime.as_ref().is_some_and(|it| it.cache_control.scope == CacheScope::Public)
}

/// The JSON in `variables` and `extensions` of a URL.
fn url_json<'t>(context: &RequestContext, sent: &'t UrlParams) -> Result<UrlJson<'t>, Refusal> {
    let limits = &context.generation.config.limits;
    sent.json(|text| receive::json(JsonBuffer::default(), text, limits))
}

/// The request with the format of incremental parts that its client accepts.
fn in_parts<'r>(request: engine::Request<'r>, headers: &HeaderMap) -> engine::Request<'r> {
    engine::Request { increments: negotiate::increments(headers).map(|it| it.0), ..request }
}

/// Answer to a well-formed body without a valid request.
fn unusable_answer(unusable: &Unusable, media: Media) -> Result<Answer, Refusal> {
    let Some(code) = unusable.persisted_code() else {
        return Err(Refusal::bad_request(unusable.message()));
    };
    let body = error_body(unusable.message(), code, None);
    // A client that sends the text next has met no error.
    let status = if *unusable == Unusable::UnknownId { StatusCode::OK } else { media.refused_status() };
    let mut response = json(status, media, ResponseBody::whole(body));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static(UNCACHED));
    Ok(Answer { response, endpoint: Endpoint::Graphql, verdict: Verdict::Refused, execution: None })
}

/// Converts the engine's response to an answer with a status.
fn answer_with(
    context: &RequestContext,
    made: engine::Response,
    media: Media,
    headers: &HeaderMap,
) -> Result<Answer, Refusal> {
    let (status, verdict) = match made.outcome {
        Outcome::Executed => (StatusCode::OK, Verdict::Executed),
        Outcome::Refused | Outcome::Subscription => (media.refused_status(), Verdict::Refused),
        Outcome::MethodNotAllowed(kind) => {
            let message = match kind {
                OperationKind::Subscription => "a subscription by GET needs `accept: text/event-stream`",
                OperationKind::Query | OperationKind::Mutation => {
                    "a GET can only run queries; send a mutation by POST"
                }
            };
            return Err(Refusal { message: message.into(), ..Refusal::method("POST") });
        }
    };
    let execution = Some(made.execution());
    if let Body::Increments { first, rest } = made.body {
        let form = negotiate::increments(headers).map_or(StreamForm::Events, |it| it.1);
        context.has_room(STREAM_BYTES)?;
        let body = event_stream::parts(form, &first, rest);
        return Ok(event_stream::stream_answer(
            body,
            form,
            Endpoint::Graphql,
            Executed { verdict, execution },
        ));
    }
    let response = respond(context, made, status, media, headers);
    Ok(Answer { response, endpoint: Endpoint::Graphql, verdict, execution })
}

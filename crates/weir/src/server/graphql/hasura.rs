//! `/v1/graphql`: as Hasura v2 answers. Status 200 for every request that is understood as one, errors with
//! `extensions.path` and `code`, and lists of requests. A body is JSON whatever its content type says.
//!
//! **Invariant:** the requests of a list run one after another, each on its own; their answers leave in the same order.

use super::engine_response::respond;
use super::event_stream::{self, StreamRequest};
use super::execute::execute;
use super::hasura_request::{hasura_verdict, hasura_words};
use super::request_list;
use super::request_list::{BatchForm, RequestList};
use super::resolve_document::resolve_body;
use super::rest;
use crate::server::request::answer::Answer;
use crate::server::request::answer::refusal::{Refusal, error_body};
use crate::server::request::answer::response_body::{ResponseBody, json};
use crate::server::request::auth;
use crate::server::request::context::RequestContext;
use crate::server::request::engine_request::engine_request;
use crate::server::request::negotiate::{self, Media, StreamForm};
use crate::server::request::receive::{self, Params};
use crate::server::telemetry::metrics::{Endpoint, Verdict};
use crate::session::auth_error::{AuthError, AuthFault};
use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, StatusCode};
use weir_engine::engine::{self, Outcome};
use weir_engine::source::{Caller, Protocol};

/// Body for a GET, as Hasura sends it, with the address that accepts GET.
const NOT_FOUND: &str = "{\"path\":\"$\",\"error\":\"resource does not exist\",\"code\":\"not-found\",\"errors\":[{\"message\":\
\"a GET is answered at /graphql: send a POST here\",\"extensions\":{\"path\":\"$\",\"code\":\"not-found\"}}]}";

/// Statuses of answers with errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Statuses {
    /// Always 200, as at `/v1/graphql`.
    Ok,
    /// The status of the error, as at `/v1alpha1/graphql`.
    True,
}

impl Statuses {
    /// Status of an answer whose error has `status`.
    fn choose(self, status: StatusCode) -> StatusCode {
        match self {
            Self::Ok => StatusCode::OK,
            Self::True => status,
        }
    }

    /// Status of the answer to an unreadable request.
    fn of_unreadable(self) -> AnswerKind {
        AnswerKind { status: self.choose(StatusCode::BAD_REQUEST), verdict: Verdict::Rejected }
    }
}

/// Status of an answer, and how it is counted.
#[derive(Clone, Copy)]
struct AnswerKind {
    status: StatusCode,
    verdict: Verdict,
}

/// Answers a POST; other methods get 404.
pub(crate) async fn answer(
    context: &RequestContext,
    head: &Parts,
    body: Incoming,
    statuses: Statuses,
) -> Result<Answer, Refusal> {
    let headers = &head.headers;
    if head.method == Method::GET {
        return Ok(not_found());
    }
    let caller = match auth::caller_before_body(context, headers).await {
        Ok(caller) => caller,
        Err(error) => return denial_answer(error, statuses),
    };
    if context.generation.is_waiting {
        let status = statuses.choose(StatusCode::SERVICE_UNAVAILABLE);
        let kind = AnswerKind { status, verdict: Verdict::Failed };
        return Ok(error_answer(&Refusal::no_sources().message, "unexpected", kind));
    }
    context.has_room(1)?;
    // Other content types need no preflight, so any page could send them.
    if !negotiate::is_json(headers) && !context.generation.cors.may_call(head) {
        let message = "a web page of another origin has to send `content-type: application/json`";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", message));
    }
    let limits = &context.generation.config.limits;
    let bytes = receive::body(context, headers, body).await?;
    let tape = match receive::json(context.worker.json_buffer.take(), &bytes, limits) {
        Ok(tape) => tape,
        Err(refusal) => {
            return Ok(error_answer(&refusal.message, "invalid-json", statuses.of_unreadable()));
        }
    };
    let caller = match caller {
        Some(caller) => caller,
        None => match Box::pin(auth::caller(context, headers, Some(&bytes))).await {
            Ok(caller) => caller,
            Err(error) => return denial_answer(error, statuses),
        },
    };
    if tape.root().is_array() {
        let count = tape.root().items().count();
        drop(tape);
        let list = RequestList { text: bytes, count };
        return request_list::batch(context, headers, list, caller, BatchForm::HASURA);
    }
    let answer = match resolve_body(context, &caller, Protocol::Hasura, tape.root()).await {
        Ok(params) => answer_params(context, headers, &bytes, &params, &caller, statuses).await?,
        Err(unusable) => {
            let (message, code) = hasura_words(&unusable);
            error_answer(message, code, statuses.of_unreadable())
        }
    };
    context.worker.json_buffer.replace(tape.into_buffer());
    Ok(answer)
}

/// Answers the request `params`, which `body` holds.
async fn answer_params(
    context: &RequestContext,
    headers: &HeaderMap,
    body: &[u8],
    params: &Params<'_>,
    caller: &Caller,
    statuses: Statuses,
) -> Result<Answer, Refusal> {
    if negotiate::wants_events(headers) {
        return Box::pin(answer_stream(context, headers, body, StreamForm::Events, statuses)).await;
    }
    let client = context.client(headers)?;
    let request = engine_request(context, params, &client, Protocol::Hasura, false);
    let response = execute(context, request, caller).await;
    match negotiate::stream(headers).filter(|_| response.outcome == Outcome::Subscription) {
        None => Ok(to_answer(context, response, headers, statuses)),
        Some(form) => Box::pin(answer_stream(context, headers, body, form, statuses)).await,
    }
}

/// Answers the request in `body` with a stream.
async fn answer_stream(
    context: &RequestContext,
    headers: &HeaderMap,
    body: &[u8],
    form: StreamForm,
    statuses: Statuses,
) -> Result<Answer, Refusal> {
    let session = match auth::session(context, headers, Some(body)).await {
        Ok(session) => session,
        Err(error) => return denial_answer(error, statuses),
    };
    let payload = String::from_utf8_lossy(body).into_owned();
    let is_get = false;
    let endpoint = Endpoint::Hasura;
    let request = StreamRequest { headers, payload, is_get, endpoint, session };
    Ok(event_stream::answer(context, request, form).await)
}

/// Response to a GET.
fn not_found() -> Answer {
    Answer {
        response: json(StatusCode::NOT_FOUND, Media::Json, ResponseBody::whole(NOT_FOUND)),
        endpoint: Endpoint::Hasura,
        verdict: Verdict::Rejected,
        execution: None,
    }
}

/// Converts the engine's response to an answer.
fn to_answer(
    context: &RequestContext,
    made: engine::Response,
    headers: &HeaderMap,
    statuses: Statuses,
) -> Answer {
    let verdict = hasura_verdict(made.outcome);
    let execution = Some(made.execution());
    let status = match verdict {
        Verdict::Executed if statuses == Statuses::True => {
            rest::failure(rest::first_bytes(&made.body)).map_or(StatusCode::OK, |it| it.status)
        }
        Verdict::Executed => StatusCode::OK,
        _ => statuses.choose(StatusCode::BAD_REQUEST),
    };
    let response = respond(context, made, status, Media::Json, headers);
    Answer { response, endpoint: Endpoint::Hasura, verdict, execution }
}

/// Answer to a caller who is not authenticated.
pub(crate) fn denial_answer(error: AuthError, statuses: Statuses) -> Result<Answer, Refusal> {
    if error.fault == AuthFault::TooOften {
        return Err(Refusal::from_auth_error(error));
    }
    let status = StatusCode::from_u16(error.hasura_status()).unwrap_or(StatusCode::BAD_REQUEST);
    let kind = AnswerKind { status: statuses.choose(status), verdict: Verdict::Denied };
    Ok(error_answer(&error.message, error.hasura_code(), kind))
}

fn error_answer(message: &str, code: &str, kind: AnswerKind) -> Answer {
    let AnswerKind { status, verdict } = kind;
    let body = ResponseBody::whole(error_body(message, code, Some("$")));
    Answer { response: json(status, Media::Json, body), endpoint: Endpoint::Hasura, verdict, execution: None }
}

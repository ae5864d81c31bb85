//! `/v1/graphql`: as Hasura v2 answers. Status 200 for every request that is understood as one, errors with
//! `extensions.path` and `code`, and lists of requests. A body is JSON whatever its content type says.
//!
//! **Invariant:** the requests of a list run one after another, each on its own; their answers leave in the same order.

use super::batch;
use super::engine_response::respond;
use super::event_stream::no_events;
use crate::server::request::auth::{self, AuthError};
use crate::server::request::context::{Answer, RequestContext};
use crate::server::request::engine_request::engine_request;
use crate::server::request::negotiate::{self, Media};
use crate::server::request::receive::{self, Params, Unusable};
use crate::server::request::refusal::{Refusal, error_body};
use crate::server::request::response_body::{ResponseBody, json};
use crate::server::telemetry::metrics::{Endpoint, Verdict};
use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use weir_engine::engine::Outcome;
use weir_engine::source::Protocol;
use weir_language::json::JsonRef;

/// Answer to a GET, in Hasura's words, with the address that answers a GET.
const NOT_FOUND: &str = "{\"path\":\"$\",\"error\":\"resource does not exist\",\"code\":\"not-found\",\"errors\":[{\"message\":\
\"a GET is answered at /graphql: send a POST here\",\"extensions\":{\"path\":\"$\",\"code\":\"not-found\"}}]}";

/// Answers a POST, and what comes instead.
pub(crate) async fn answer(
    context: &RequestContext,
    head: &Parts,
    body: Incoming,
) -> Result<Answer, Refusal> {
    let headers = &head.headers;
    if negotiate::wants_events(headers) {
        return Ok(no_events("not-supported", Some("$"), Endpoint::Hasura));
    }
    if head.method == Method::GET {
        let response = json(StatusCode::NOT_FOUND, Media::Json, ResponseBody::whole(NOT_FOUND));
        return Ok(Answer { response, endpoint: Endpoint::Hasura, verdict: Verdict::Rejected, timing: None });
    }
    let caller = match auth::caller(context, headers) {
        Ok(caller) => caller,
        Err(denied @ AuthError::TooOften) => return Err(Refusal::denied(denied)),
        Err(denied) => return Ok(refused(denied.message(), "access-denied", Verdict::Denied)),
    };
    if context.generation.is_waiting {
        return Ok(refused(&Refusal::waiting().message, "unexpected", Verdict::Failed));
    }
    context.has_room(1)?;
    // Browsers send other types for any page and ask nobody.
    if !negotiate::is_json(headers) && !context.generation.cors.may_call(head) {
        let message = "a web page of another origin has to send `content-type: application/json`";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", message));
    }
    let limits = &context.generation.config.limits;
    let bytes = receive::body(context, headers, body).await?;
    let tape = match receive::json(context.worker.json_buffer.take(), &bytes, limits) {
        Ok(tape) => tape,
        Err(refusal) => return Ok(refused(&refusal.message, "invalid-json", Verdict::Rejected)),
    };
    if tape.root().is_array() {
        let count = tape.root().items().count();
        drop(tape);
        return batch::batch(context, headers, bytes, count, caller);
    }
    let answer = match params(tape.root()) {
        Err(message) => refused(message, "parse-failed", Verdict::Rejected),
        Ok(params) => {
            let client = context.client(headers);
            let request = engine_request(context, &params, &client, Protocol::Hasura, false);
            let made = context.generation.engine.execute(request, &caller).await;
            let (verdict, timing) = (verdict(made.outcome), made.timing);
            let response = respond(context, made, StatusCode::OK, Media::Json, headers);
            Answer { response, endpoint: Endpoint::Hasura, verdict, timing: Some(timing) }
        }
    };
    context.worker.json_buffer.replace(tape.into_buffer());
    Ok(answer)
}

pub(super) fn params(body: JsonRef<'_>) -> Result<Params<'_>, &'static str> {
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
    let body = ResponseBody::whole(error_body(message, code, Some("$")));
    Answer {
        response: json(StatusCode::OK, Media::Json, body),
        endpoint: Endpoint::Hasura,
        verdict,
        timing: None,
    }
}

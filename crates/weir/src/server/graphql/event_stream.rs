//! Server-sent events, which subscriptions will use: today one event that holds an error.

use crate::server::request::context::Answer;
use crate::server::request::refusal::error_body;
use crate::server::request::response_body::ResponseBody;
use crate::server::telemetry::metrics::{Endpoint, Verdict};
use hyper::Response;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};

/// The answer to a client that reads events alone, of which there are none yet: one that holds the error, and the end.
/// Source: the protocol of the npm package graphql-sse, distinct connections.
pub(crate) fn no_events(code: &str, hasura_path: Option<&str>, endpoint: Endpoint) -> Answer {
    let message =
        "subscriptions are not supported yet: send queries and mutations with `accept: application/json`";
    let mut body = b"event: next\ndata: ".to_vec();
    body.extend_from_slice(&error_body(message, code, hasura_path));
    body.extend_from_slice(b"\n\nevent: complete\ndata:\n\n");
    let mut response = Response::new(ResponseBody::whole(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Answer { response, endpoint, verdict: Verdict::Refused, execution: None }
}

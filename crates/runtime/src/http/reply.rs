//! Responses: a whole answer, a stream of events or parts, or a refusal.

use super::accept::{Accepted, PartsForm};
use crate::request::{self, IncrementalResponse};
use bytes::Bytes;
use futures_util::stream::{self, BoxStream, Stream, StreamExt};
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, StreamBody};
use std::borrow::Cow;
use std::convert::Infallible;
use std::time::Duration;
use weir_engine::engine::Outcome;
use weir_language::json::quote;

/// Time without an event until a sign of life is sent, as by the server of Weir: less than half of the shortest idle limit of usual
/// proxies.
const LIFE: Duration = Duration::from_secs(10);

/// A sign of life: a comment, which clients skip.
const COMMENT: &[u8] = b":\n\n";

/// Body of a response.
pub type HttpBody = UnsyncBoxBody<Bytes, Infallible>;

/// A request that does not reach the schema.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    code: &'static str,
    message: Cow<'static, str>,
    /// Methods that are allowed.
    allow: Option<&'static str>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, code, message: message.into(), allow: None }
    }
    /// A body or URL that breaks GraphQL over HTTP.
    pub(super) fn bad(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", message)
    }
    /// A method that is not allowed.
    pub(super) fn method(allow: &'static str, message: &'static str) -> Self {
        let refusal = Self::new(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED", message);
        Self { allow: Some(allow), ..refusal }
    }
    /// A body that is too long.
    pub(super) fn too_long(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "LIMIT_BODY", message)
    }
    /// A body that cannot be read to its end.
    pub(super) fn unread(error: &(dyn std::error::Error + Send + Sync + 'static)) -> Self {
        match error.is::<LengthLimitError>() {
            true => Self::too_long("the body is too long"),
            false => Self::bad("the body was cut off"),
        }
    }

    pub(super) fn response(self) -> Response<HttpBody> {
        let mut body = String::from("{\"errors\":[{\"message\":");
        quote(&self.message, &mut body);
        body.push_str(",\"extensions\":{\"code\":");
        quote(self.code, &mut body);
        body.push_str("}}]}");
        let mut response = whole(self.status, Accepted::GraphqlResponse, body.into_bytes());
        if let Some(allow) = self.allow {
            response.headers_mut().insert(ALLOW, HeaderValue::from_static(allow));
        }
        response
    }
}

fn whole(status: StatusCode, form: Accepted, body: Vec<u8>) -> Response<HttpBody> {
    answered(status, form.content_type(), Full::new(Bytes::from(body)).boxed_unsync())
}

fn answered(status: StatusCode, content_type: &'static str, body: HttpBody) -> Response<HttpBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// An answer with the status of its outcome.
pub(super) fn whole_answer(
    response: request::Response,
    form: Accepted,
) -> Result<Response<HttpBody>, Refusal> {
    let status = match (response.outcome, form) {
        (Outcome::MethodNotAllowed(_), _) => {
            return Err(Refusal::method("POST", "a GET can only run queries; send other operations by POST"));
        }
        (Outcome::Executed, _) | (Outcome::Refused | Outcome::Subscription, Accepted::Json) => StatusCode::OK,
        (Outcome::Refused | Outcome::Subscription, Accepted::GraphqlResponse | Accepted::Events) => {
            StatusCode::BAD_REQUEST
        }
    };
    Ok(whole(status, form, response.body))
}

/// An event `next` per result, at the end `complete`, and signs of life where none comes.
pub(super) fn events(results: BoxStream<'static, request::Response>) -> Response<HttpBody> {
    let next = results.map(|it| event(&it.body));
    let complete = stream::iter([Bytes::from_static(b"event: complete\ndata:\n\n")]);
    streamed(Accepted::Events.content_type(), alive(next.chain(complete)))
}

/// `events`, and a comment whenever none came for [`LIFE`].
fn alive(events: impl Stream<Item = Bytes> + Send + 'static) -> impl Stream<Item = Bytes> + Send + 'static {
    stream::unfold(events.boxed(), |mut events| async move {
        match tokio::time::timeout(LIFE, events.next()).await {
            Ok(event) => Some((event?, events)),
            Err(_) => Some((Bytes::from_static(COMMENT), events)),
        }
    })
}

/// The parts of an answer, each with the delimiter that ends it: a reader would give it out one late otherwise.
pub(super) fn parts(answer: IncrementalResponse, form: PartsForm) -> Response<HttpBody> {
    let part = |json: Vec<u8>| {
        let mut part = b"\r\ncontent-type: application/json\r\n\r\n".to_vec();
        part.extend_from_slice(&json);
        part.extend_from_slice(b"\r\n---");
        Bytes::from(part)
    };
    let bytes = |it: &'static [u8]| stream::iter([Bytes::from_static(it)]);
    let first = stream::iter([part(answer.first.body)]);
    let all = bytes(b"\r\n---").chain(first).chain(answer.rest.map(part)).chain(bytes(b"--\r\n"));
    streamed(form.content_type, all)
}

fn streamed(
    content_type: &'static str,
    chunks: impl Stream<Item = Bytes> + Send + 'static,
) -> Response<HttpBody> {
    let frames = chunks.map(|it| Ok::<_, Infallible>(Frame::data(it)));
    let body = BodyExt::boxed_unsync(StreamBody::new(frames));
    let mut response = answered(StatusCode::OK, content_type, body);
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // nginx would hold the chunks back.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// One result as an event; a line break in it begins another line of data.
fn event(result: &[u8]) -> Bytes {
    let mut event = Vec::with_capacity(result.len() + 32);
    event.extend_from_slice(b"event: next\n");
    for line in result.split(|it| *it == b'\n') {
        event.extend_from_slice(b"data: ");
        event.extend_from_slice(line);
        event.push(b'\n');
    }
    event.push(b'\n');
    event.into()
}

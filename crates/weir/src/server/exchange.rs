//! State of every handler: the worker, the generation, the request's id; and the form of refusals.

use super::auth::Denied;
use super::body::Reply;
use super::client::Client;
use super::clock::Watched;
use super::finish::RequestId;
use super::metrics::{Door, Verdict};
use super::negotiate::Media;
use super::worker::Worker;
use crate::config::Limits;
use crate::generation::Generation;
use hyper::header::{ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Response, StatusCode};
use std::borrow::Cow;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use weir_engine::engine::Timing;

/// One request on its way.
pub(crate) struct Exchange {
    /// The worker that serves the request.
    pub(crate) worker: Rc<Worker>,
    /// The generation that serves the request, the same from the first to the last byte, also across reloads.
    pub(crate) generation: Arc<Generation>,
    /// When its head was complete.
    pub(crate) started: Instant,
    /// The clock of its connection.
    pub(crate) watched: Rc<Watched>,
    /// Address of the peer: the caller, or a proxy before it.
    pub(crate) peer: IpAddr,
    /// Its name in logs, and in the head of its answer.
    pub(crate) id: RequestId,
}

impl Exchange {
    /// Makes sure that an answer of `bytes` can wait for its client to read it.
    /// # Errors
    /// Too much waits already, of this connection or of all on the thread.
    pub(crate) fn has_room(&self, bytes: u64) -> Result<(), Refusal> {
        if self.watched.has_room(bytes) { Ok(()) } else { Err(Refusal::unread()) }
    }

    /// The same exchange, for a task of its own.
    pub(crate) fn again(&self) -> Self {
        Self {
            worker: Rc::clone(&self.worker),
            generation: Arc::clone(&self.generation),
            started: self.started,
            watched: Rc::clone(&self.watched),
            peer: self.peer,
            id: self.id.clone(),
        }
    }

    /// Its `headers`, as sources see them.
    pub(crate) fn client<'r>(&'r self, headers: &'r HeaderMap) -> Client<'r> {
        Client { headers, request_id: self.id.text() }
    }
}

/// An answer on its way out, with what metrics and logs want to know.
pub(crate) struct Answer {
    pub(crate) response: Response<Reply>,
    pub(crate) door: Door,
    pub(crate) verdict: Verdict,
    pub(crate) timing: Option<Timing>,
}

impl Answer {
    /// An answer of some page that is no GraphQL.
    pub(crate) fn page(response: Response<Reply>) -> Self {
        Self { response, door: Door::Other, verdict: Verdict::Executed, timing: None }
    }
}

/// A request that the HTTP layer refuses.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// Stable, in `extensions.code`.
    pub(crate) code: &'static str,
    /// The cause and how to fix it.
    pub(crate) message: Cow<'static, str>,
    /// For 405.
    pub(crate) allow: Option<&'static str>,
    /// True if the connection has to be closed.
    pub(crate) close: bool,
}

impl Refusal {
    /// No source is there yet.
    pub(crate) fn waiting() -> Self {
        let message = "the sources of this graph cannot be reached: try again";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "SOURCE_UNAVAILABLE", message)
    }

    /// Clients do not read what was answered.
    pub(crate) fn unread() -> Self {
        let message = "too many answers wait for their clients to read them: read yours, or try again";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "LIMIT_UNREAD", message)
    }

    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, code, message: message.into(), allow: None, close: false }
    }
    pub(crate) fn bad_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", message)
    }
    pub(crate) fn denied(denied: Denied) -> Self {
        let status = StatusCode::from_u16(denied.status()).unwrap_or(StatusCode::FORBIDDEN);
        Self::new(status, denied.code(), denied.message())
    }
    pub(crate) fn method(allow: &'static str) -> Self {
        let message = "this address does not answer this method";
        Self {
            allow: Some(allow),
            ..Self::new(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED", message)
        }
    }
    pub(crate) fn long_url(limits: &Limits) -> Self {
        let message = format!("the URL is longer than {} bytes", limits.url_bytes_max);
        Self::new(StatusCode::URI_TOO_LONG, "LIMIT_URL", message)
    }
    pub(crate) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "NOT_FOUND", "there is nothing at this address")
    }
    /// Ends the connection after the answer.
    pub(crate) fn closing(self) -> Self {
        Self { close: true, ..self }
    }

    /// The JSON of the refusal.
    pub(crate) fn body(&self) -> Vec<u8> {
        error_body(&self.message, self.code, None)
    }

    /// The answer.
    pub(crate) fn answer(self, door: Door) -> Answer {
        let mut response = json(self.status, Media::Json, Reply::whole(self.body()));
        if let Some(allow) = self.allow {
            response.headers_mut().insert(ALLOW, HeaderValue::from_static(allow));
        }
        if self.close {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let denied = matches!(self.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        let verdict = if denied { Verdict::Denied } else { Verdict::Rejected };
        Answer { response, door, verdict, timing: None }
    }
}

/// `{"errors":[{"message":…,"extensions":{…}}]}`; with `hasura_path` in the member order of Hasura.
pub(crate) fn error_body(message: &str, code: &str, hasura_path: Option<&str>) -> Vec<u8> {
    let mut out = Vec::with_capacity(96 + message.len());
    out.extend_from_slice(b"{\"errors\":[");
    error_object(&mut out, message, code, hasura_path);
    out.extend_from_slice(b"]}");
    out
}

/// Appends one error, as [`error_body`] has it.
pub(crate) fn error_object(out: &mut Vec<u8>, message: &str, code: &str, hasura_path: Option<&str>) {
    out.extend_from_slice(b"{\"message\":");
    string(out, message);
    out.extend_from_slice(b",\"extensions\":{");
    if let Some(path) = hasura_path {
        out.extend_from_slice(b"\"path\":");
        string(out, path);
        out.push(b',');
    }
    out.extend_from_slice(b"\"code\":");
    string(out, code);
    out.extend_from_slice(b"}}");
}

/// The answer to a client that reads events alone, of which there are none yet: one that holds the error, and the end.
/// Source: the protocol of the npm package graphql-sse, distinct connections.
pub(crate) fn no_events(code: &str, hasura_path: Option<&str>, door: Door) -> Answer {
    let message =
        "subscriptions are not supported yet: send queries and mutations with `accept: application/json`";
    let mut body = b"event: next\ndata: ".to_vec();
    body.extend_from_slice(&error_body(message, code, hasura_path));
    body.extend_from_slice(b"\n\nevent: complete\ndata:\n\n");
    let mut response = Response::new(Reply::whole(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Answer { response, door, verdict: Verdict::Refused, timing: None }
}

/// Appends `text` as a JSON string. For errors and small pages only.
pub(crate) fn string(out: &mut Vec<u8>, text: &str) {
    // A string always has a JSON form, and memory takes it.
    let _ = serde_json::to_writer(out, text);
}

/// An answer in JSON.
pub(crate) fn json(status: StatusCode, media: Media, body: Reply) -> Response<Reply> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media.content_type()));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &[u8], expected: &str) {
        assert_eq!(std::str::from_utf8(body), Ok(expected));
    }

    #[test]
    fn a_refusal_is_a_graphql_error() {
        let expected = r#"{"errors":[{"message":"a \"b\"","extensions":{"code":"BAD_REQUEST"}}]}"#;
        check(&Refusal::bad_request("a \"b\"").body(), expected);
    }

    #[test]
    fn hasura_s_form_has_a_path() {
        let expected = r#"{"errors":[{"message":"m","extensions":{"path":"$","code":"access-denied"}}]}"#;
        check(&error_body("m", "access-denied", Some("$")), expected);
    }
}

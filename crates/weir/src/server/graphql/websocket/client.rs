//! The client of a socket: who it is by the handshake and `connection_init`, and the answers to its operations.
//!
//! **Invariant:** nothing is executed for a client that is not logged in; after a reload the login is held against the new settings
//! before the next operation.

use super::protocol::{Operation, Outcome, Talk};
use crate::server::connection::timeouts::ConnectionState;
use crate::server::connection::websocket_terms::WebSocketTerms;
use crate::server::graphql::execute::execute;
use crate::server::graphql::hasura;
use crate::server::request::auth;
use crate::server::request::client_headers::POSITION;
use crate::server::request::context::{RequestContext, WorkerContext};
use crate::server::request::engine_request::engine_request;
use crate::server::request::receive;
use crate::server::request::refusal::{Refusal, error_body};
use crate::server::request::response::count;
use crate::server::request::span;
use crate::server::telemetry::metrics::{Endpoint, Verdict};
use crate::session::Session;
use crate::session::error::AuthError;
use futures_util::FutureExt;
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use weir_engine::caller::Identity;
use weir_engine::consistency::Positions;
use weir_engine::engine::{self, Body};
use weir_engine::source::Protocol;
use weir_language::json::{Json, JsonBuffer, JsonRef};

/// Headers of a connection, which a login cannot set.
const OF_THE_CONNECTION: [&str; 8] = [
    "connection",
    "content-length",
    "content-type",
    "host",
    "keep-alive",
    "origin",
    "transfer-encoding",
    "upgrade",
];

/// Reason for a login that fails.
pub(super) enum LoginError {
    /// The payload has something else than texts.
    Payload,
    /// The caller is turned away.
    Denied(AuthError),
}

/// One client.
pub(super) struct SocketClient {
    worker: Rc<WorkerContext>,
    watched: Rc<ConnectionState>,
    peer: IpAddr,
    talk: Talk,
    /// Those of the handshake, under those of the login.
    headers: Rc<HeaderMap>,
    /// Log positions of its changes, and of its handshake.
    positions: Arc<Positions>,
    /// The session, and the generation under which it was made.
    session: Option<(u64, Session)>,
}

impl SocketClient {
    pub(super) fn new(
        worker: &Rc<WorkerContext>,
        watched: &Rc<ConnectionState>,
        peer: IpAddr,
        terms: WebSocketTerms,
    ) -> Self {
        Self {
            worker: Rc::clone(worker),
            watched: Rc::clone(watched),
            peer,
            talk: Talk { subprotocol: terms.subprotocol, endpoint: terms.endpoint },
            positions: Arc::new(positions(&terms.headers)),
            headers: Rc::new(terms.headers),
            session: None,
        }
    }

    fn context(&self) -> RequestContext {
        RequestContext::over_socket(&self.worker, &self.watched, self.peer)
    }

    /// Takes the login: the headers in `payload`, a JSON object.
    pub(super) async fn log_in(&mut self, payload: Option<&str>) -> Result<(), LoginError> {
        let mut headers = HeaderMap::clone(&self.headers);
        if let Some(payload) = payload {
            let limits = &self.worker.live.current().config.limits;
            let tape =
                Json::parse(payload.as_bytes(), limits.nesting_max).map_err(|_| LoginError::Payload)?;
            add_headers(&mut headers, tape.root()).ok_or(LoginError::Payload)?;
        }
        self.positions = Arc::new(positions(&headers));
        self.headers = Rc::new(headers);
        self.authenticate().await.map_err(LoginError::Denied)
    }

    /// Holds the login against the settings that serve now, if they are others than before.
    pub(super) async fn renew(&mut self) -> Result<(), AuthError> {
        let serving = self.worker.live.current().number;
        match &self.session {
            Some((number, _)) if *number == serving => Ok(()),
            _ => self.authenticate().await,
        }
    }

    async fn authenticate(&mut self) -> Result<(), AuthError> {
        self.session = None;
        let context = self.context();
        let session = Box::pin(auth::session(&context, &self.headers, None)).await?;
        self.session = Some((context.generation.number, session));
        Ok(())
    }

    /// Waits for the end of the session.
    pub(super) async fn expired(&self) {
        let Some(expires_ms) = self.session.as_ref().and_then(|it| it.1.expires_ms) else {
            return std::future::pending().await;
        };
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        tokio::time::sleep(Duration::from_millis(expires_ms).saturating_sub(since)).await;
    }

    /// The messages that answer `operation`.
    pub(super) fn answer(&self, operation: Operation) -> impl Future<Output = Vec<String>> + 'static {
        let (context, headers, talk) = (self.context(), Rc::clone(&self.headers), self.talk);
        let identity = self.session.as_ref().map(|it| it.1.identity.clone());
        let positions = Arc::clone(&self.positions);
        async move {
            let mut in_flight = context.watched.begin(false);
            let Operation { id, payload } = operation;
            let work =
                AssertUnwindSafe(made(&context, talk.endpoint, (&headers, &positions), identity, &payload));
            let answered = match work.catch_unwind().await {
                Ok(answered) => answered,
                Err(_) => {
                    context.worker.metrics.panics.inc();
                    tracing::error!(request_id = context.id.text(), "a bug: the request panicked");
                    let message = "something went wrong in the server; the request id finds it in the log";
                    Answered::refused(talk.endpoint, message, "INTERNAL", Verdict::Failed)
                }
            };
            let execution = answered.execution.as_ref();
            let total = count(&context, talk.endpoint, answered.verdict, execution);
            if let Some(span) = context.span.filter(|it| it.own.is_sampled) {
                span::record(&context, span, None, execution, total);
            }
            in_flight.answered(answered.body.len() as u64);
            talk.answer(&id, answered.outcome, &answered.body)
        }
    }
}

/// The answer to one operation.
struct Answered {
    outcome: Outcome,
    verdict: Verdict,
    execution: Option<engine::Execution>,
    body: Vec<u8>,
}

impl Answered {
    /// An error before anything was executed.
    fn refused(endpoint: Endpoint, message: &str, code: &str, verdict: Verdict) -> Self {
        let path = (endpoint == Endpoint::Hasura).then_some("$");
        Self { outcome: Outcome::Refused, verdict, execution: None, body: error_body(message, code, path) }
    }
}

/// The log positions that a socket begins with. A text that is none is refused with each operation.
fn positions(headers: &HeaderMap) -> Positions {
    headers.get(POSITION).and_then(|it| Positions::read(it.as_bytes())).unwrap_or_default()
}

/// Adds the login's headers: the texts in its member `headers`, or else its own texts. Nothing if one of `headers` is no text.
fn add_headers(headers: &mut HeaderMap, payload: JsonRef<'_>) -> Option<()> {
    let inner = payload.get("headers").filter(|it| !it.is_null());
    for (name, value) in inner.unwrap_or(payload).members() {
        let Some(text) = value.as_str() else {
            if inner.is_some() {
                return None;
            }
            continue;
        };
        let name = name.to_ascii_lowercase();
        if OF_THE_CONNECTION.contains(&&*name) || name.starts_with("sec-") {
            continue;
        }
        // Other texts are the client's own business.
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::from_str(&text)) {
            headers.try_insert(name, value).ok()?;
        }
    }
    Some(())
}

/// Executes the operation in `payload`.
async fn made(
    context: &RequestContext,
    endpoint: Endpoint,
    (headers, positions): (&HeaderMap, &Arc<Positions>),
    identity: Option<Identity>,
    payload: &str,
) -> Answered {
    let refused = |message: &str, code| Answered::refused(endpoint, message, code, Verdict::Rejected);
    let Some(identity) = identity else { return refused("the socket is not logged in", "FORBIDDEN") };
    if context.generation.is_waiting {
        let Refusal { message, code, .. } = Refusal::waiting();
        return Answered::refused(endpoint, &message, code, Verdict::Failed);
    }
    let is_relay = endpoint == Endpoint::Graphql && context.generation.config.relay.graphql;
    if is_relay && let Err(refusal) = context.take_connections().await {
        return Answered::refused(endpoint, &refusal.message, refusal.code, Verdict::Failed);
    }
    let limits = &context.generation.config.limits;
    let tape = match receive::json(JsonBuffer::default(), payload.as_bytes(), limits) {
        Ok(tape) => tape,
        Err(refusal) => return refused(&refusal.message, refusal.code),
    };
    let (params, protocol) = match endpoint {
        Endpoint::Hasura => (hasura::params(tape.root()), Protocol::Hasura),
        Endpoint::Graphql | Endpoint::Other => {
            (receive::params(tape.root()).map_err(|it| it.message()), Protocol::GraphqlOverHttp)
        }
    };
    let params = match (params, endpoint) {
        (Ok(params), _) => params,
        (Err(message), Endpoint::Hasura) => return refused(message, "parse-failed"),
        (Err(message), Endpoint::Graphql | Endpoint::Other) => return refused(message, "BAD_REQUEST"),
    };
    let client = match context.client(headers) {
        Ok(client) => client.sharing(positions),
        Err(refusal) => return refused(&refusal.message, refusal.code),
    };
    let caller = context.engine().caller(&identity);
    let response =
        execute(context, engine_request(context, &params, &client, protocol, false), &caller).await;
    let (outcome, verdict) = (response.outcome, hasura::verdict(response.outcome));
    let execution = Some(response.execution());
    match whole(response.body, limits.unread_connection_bytes_max).await {
        Ok(body) => Answered {
            outcome: if outcome == engine::Outcome::Executed { Outcome::Executed } else { Outcome::Refused },
            verdict,
            execution,
            body,
        },
        Err(message) => Answered::refused(endpoint, &message, "LIMIT_UNREAD", Verdict::Failed),
    }
}

/// The whole answer, of `bytes_max` at most: a message cannot be sent in parts.
async fn whole(body: Body, bytes_max: u64) -> Result<Vec<u8>, String> {
    let too_long =
        || format!("the answer is longer than unread_connection_bytes_max, {bytes_max} bytes: ask by POST");
    let (mut out, mut rest) = match body {
        Body::Whole(bytes) => return Ok(bytes),
        Body::Shared(bytes) => return Ok(bytes.to_vec()),
        Body::Stream { head, rest } => (head, rest),
    };
    while let Some(part) = rest.recv().await {
        out.extend_from_slice(
            &part.map_err(|_| "the source broke off in the middle of the answer".to_owned())?,
        );
        if out.len() as u64 > bytes_max {
            return Err(too_long());
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(payload: &str, expected: Option<&[(&str, &str)]>) {
        let mut headers = HeaderMap::new();
        headers.insert("cookie", HeaderValue::from_static("a=1"));
        headers.insert("host", HeaderValue::from_static("localhost"));
        let tape = Json::parse(payload.as_bytes(), 10).expect("it is JSON");
        let found = add_headers(&mut headers, tape.root()).map(|()| headers);
        let found = found.as_ref().map(|it| {
            let mut all: Vec<(&str, &str)> =
                it.iter().map(|(name, value)| (name.as_str(), value.to_str().expect("it is text"))).collect();
            all.sort_unstable();
            all
        });
        let expected = expected.map(|own| {
            let mut all = own.to_vec();
            all.push(("host", "localhost"));
            if !own.iter().any(|it| it.0 == "cookie") {
                all.push(("cookie", "a=1"));
            }
            all.sort_unstable();
            all
        });
        assert_eq!(found, expected, "{payload}");
    }

    #[test]
    fn a_login_has_headers() {
        check(r#"{"headers": {"X-Hasura-Role": "user"}}"#, Some(&[("x-hasura-role", "user")]));
        check(r#"{"Authorization": "Bearer a", "n": 1}"#, Some(&[("authorization", "Bearer a")]));
        check(r#"{"headers": {"cookie": "b=2"}, "x-a": "not read"}"#, Some(&[("cookie", "b=2")]));
        check(r#"{"headers": null}"#, Some(&[]));
        check(r#"{"headers": {"a": 1}}"#, None);
    }

    #[test]
    fn a_login_sets_no_header_of_the_connection() {
        check(
            r#"{"headers": {"Host": "evil", "origin": "x", "Sec-WebSocket-Key": "y", "upgrade": "z"}}"#,
            Some(&[]),
        );
        check(r#"{"headers": {"a b": "x", "c": "line\nbreak"}}"#, Some(&[]));
    }
}

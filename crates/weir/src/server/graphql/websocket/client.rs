//! Client of a WebSocket: authenticated by the handshake and `connection_init`, with the answers to its operations.
//!
//! **Invariant:** nothing is executed for a client that is not logged in; after a reload the login is held against the new settings
//! before the next operation.

use super::operations::OperationStep;
use super::result_frame::ResultFrame;
use crate::server::connection::timeouts::{ConnectionState, InFlight};
use crate::server::connection::websocket_terms::WebSocketTerms;
use crate::server::graphql::live_operation;
use crate::server::graphql::live_operation::{
    LaterParts, LiveClient, LiveOperation, LiveSession, LiveStart, LiveStep, WholeAnswer,
};
use crate::server::request::auth;
use crate::server::request::client_headers::POSITION;
use crate::server::request::context::{RequestContext, WorkerContext};
use crate::server::request::negotiate;
use crate::server::request::response::{Counted, count};
use crate::server::request::span;
use crate::server::telemetry::metrics::{Endpoint, Verdict};
use crate::server::telemetry::noted::LoggedTrace;
use crate::session::Session;
use crate::session::auth_error::AuthError;
use futures_util::stream::{self, LocalBoxStream, Stream};
use futures_util::{FutureExt, StreamExt};
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use std::future::ready;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use weir_engine::consistency::Positions;
use weir_engine::engine::{Aborted, IncrementForm};
use weir_language::json::{Json, JsonRef};
use weir_transport::socket::{Close, Dialect, LoginError, Operation, Outcome, Subprotocol, Talk};

/// Headers of the connection, which a login cannot override.
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

/// One client.
pub(super) struct SocketClient {
    worker: Rc<WorkerContext>,
    watched: Rc<ConnectionState>,
    peer: IpAddr,
    talk: Talk,
    is_relay: bool,
    /// Headers of the handshake, overridden by those of the login.
    headers: Rc<HeaderMap>,
    /// Log positions of its changes and of its handshake.
    positions: Arc<Positions>,
    /// Session, with the generation that authenticated it.
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
            talk: Talk { subprotocol: terms.subprotocol, dialect: terms.endpoint.dialect() },
            is_relay: terms.is_relay,
            positions: Arc::new(positions(&terms.headers)),
            headers: Rc::new(terms.headers),
            session: None,
        }
    }

    fn context(&self) -> RequestContext {
        RequestContext::over_socket(&self.worker, &self.watched, self.peer)
    }

    /// Authenticates with the headers in `payload`, a JSON object.
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
        self.authenticate().await.map_err(|it| LoginError::Denied(it.message))
    }

    /// Authenticates again if the settings changed.
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

    /// Waits for the expiry of the session.
    pub(super) async fn await_expiry(&self) {
        let Some(expires_ms) = self.session.as_ref().and_then(|it| it.1.expires_ms) else {
            return std::future::pending().await;
        };
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        tokio::time::sleep(Duration::from_millis(expires_ms).saturating_sub(since)).await;
    }

    /// Format of incremental parts, if the client's `accept` has one. The older subprotocol has none.
    fn increments(&self) -> Option<IncrementForm> {
        let takes_parts =
            self.talk.subprotocol == Subprotocol::Transport && self.talk.dialect == Dialect::Standard;
        negotiate::increments(&self.headers).map(|it| it.0).filter(|_| takes_parts)
    }

    /// Messages that answer `operation`.
    pub(super) fn answer(&self, operation: Operation) -> LocalBoxStream<'static, OperationStep> {
        let client = LiveClient {
            worker: Rc::clone(&self.worker),
            watched: Rc::clone(&self.watched),
            peer: self.peer,
            endpoint: Endpoint::of_socket(self.talk.dialect),
            is_relay: self.is_relay,
            headers: Rc::clone(&self.headers),
            positions: Arc::clone(&self.positions),
            is_get: false,
            increments: self.increments(),
        };
        let session = self.session.as_ref().map(|it| LiveSession::of(&it.1));
        let talk = self.talk;
        let Operation { id, payload } = operation;
        let begun = async move { begin(client, session, talk, id, payload).await };
        begun.into_stream().flatten().boxed_local()
    }
}

/// Starts an operation; returns its messages.
async fn begin(
    client: LiveClient,
    session: Option<LiveSession>,
    talk: Talk,
    id: String,
    payload: String,
) -> LocalBoxStream<'static, OperationStep> {
    let context = client.context();
    let endpoint = Endpoint::of_socket(talk.dialect);
    let mut in_flight = context.watched.begin(false);
    let Some(session) = session else {
        let message = "the socket is not logged in";
        let answer = WholeAnswer::new_error(endpoint, message, "FORBIDDEN", Verdict::Rejected);
        return last(talk.answer(&id, Outcome::Refused, &answer.body));
    };
    if let Err(refusal) = context.check_queue(false) {
        context.worker.metrics.limit(refusal.code);
        count(&context, None, Counted { endpoint, verdict: Verdict::Rejected }, None);
        return last(talk.answer(&id, Outcome::Refused, &refusal.body_at(endpoint)));
    }
    // A boxed future: the stream would otherwise keep its memory until the end.
    let started = Box::pin(live_operation::start(&context, client, session, payload));
    let work = AssertUnwindSafe(started).catch_unwind();
    let started = work.await.unwrap_or_else(|_| {
        context.worker.metrics.panics.inc();
        let trace_id = context.trace(None).map(LoggedTrace::trace_id);
        tracing::error!(request_id = context.id.text(), trace_id, "a bug: the request panicked");
        let message = "something went wrong in the server; the request id finds it in the log";
        LiveStart::Answered(WholeAnswer::new_error(endpoint, message, "INTERNAL", Verdict::Failed))
    });
    match started {
        LiveStart::Answered(WholeAnswer { outcome, verdict, execution, body, later }) => {
            let total = count(&context, None, Counted { endpoint, verdict }, execution.as_ref());
            if let Some(span) = context.span.filter(|it| it.own.is_sampled) {
                span::record(&context, span, None, execution.as_ref(), total);
            }
            let Some(rest) = later else {
                in_flight.begin_answer(body.len() as u64);
                return last(talk.answer(&id, Outcome::of(outcome), &body));
            };
            in_flight.answers_in_parts([rest.unread_count().clone()].into());
            // The next part waits for its source, not for the client.
            in_flight.await_reader(false);
            parts(&body, *rest, OperationTalk { talk, id }, in_flight).boxed_local()
        }
        LiveStart::Live(operation) => {
            count(&context, None, Counted { endpoint, verdict: Verdict::Executed }, None);
            results(operation, talk, id).boxed_local()
        }
    }
}

/// An operation whose messages are complete.
fn last(texts: Vec<String>) -> LocalBoxStream<'static, OperationStep> {
    stream::once(ready(OperationStep::Say(texts))).boxed_local()
}

/// An operation by its id, and how its messages are written.
struct OperationTalk {
    talk: Talk,
    id: String,
}

/// Messages of an incremental answer.
fn parts(
    first: &[u8],
    rest: LaterParts,
    operation: OperationTalk,
    in_flight: InFlight,
) -> impl Stream<Item = OperationStep> + use<> {
    let OperationTalk { talk, id } = operation;
    let head = OperationStep::Say(vec![talk.part(&id, first)]);
    let later = stream::unfold(Some((rest, id, in_flight)), move |state| async move {
        let (mut rest, id, in_flight) = state?;
        Some(match rest.recv().await {
            Some(Ok(part)) => (OperationStep::Say(vec![talk.part(&id, &part)]), Some((rest, id, in_flight))),
            Some(Err(Aborted)) => {
                let message = "the answer broke off";
                let answer = WholeAnswer::new_error(
                    Endpoint::of_socket(talk.dialect),
                    message,
                    "INTERNAL",
                    Verdict::Failed,
                );
                (OperationStep::Say(talk.answer(&id, Outcome::Refused, &answer.body)), None)
            }
            None => (OperationStep::Say(vec![Talk::end(&id)]), None),
        })
    });
    stream::once(ready(head)).chain(later)
}

/// Messages of a subscription.
fn results(operation: Box<LiveOperation>, talk: Talk, id: String) -> impl Stream<Item = OperationStep> {
    stream::unfold(Some((operation, id)), move |state| async move {
        let (mut operation, id) = state?;
        Some(match operation.next().await {
            LiveStep::Result(result) => {
                let (kind, body) = talk.next(result.body, result.has_errors);
                (OperationStep::Result(ResultFrame::new(kind, &id, body)), Some((operation, id)))
            }
            LiveStep::Refused(body) => (OperationStep::Say(talk.answer(&id, Outcome::Refused, &body)), None),
            LiveStep::Denied(_) => (OperationStep::Close(Close::FORBIDDEN), None),
            LiveStep::Expired => (OperationStep::Close(Close::EXPIRED), None),
            LiveStep::Ended => (OperationStep::Say(vec![Talk::end(&id)]), None),
        })
    })
}

/// Log positions at the start of a socket or stream. An invalid header is reported by each operation.
pub(super) fn positions(headers: &HeaderMap) -> Positions {
    headers.get(POSITION).and_then(|it| Positions::read(it.as_bytes())).unwrap_or_default()
}

/// Adds the login's headers: strings in its member `headers`, else its own strings. `None` if a member of `headers` is not a string.
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
        // Other strings are for the client's own use.
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::from_str(&text)) {
            headers.try_insert(name, value).ok()?;
        }
    }
    Some(())
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

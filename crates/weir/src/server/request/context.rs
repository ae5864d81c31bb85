//! State of every handler: the worker, the generation, the request's id; and what a handler answers.

use super::auth_throttle::AuthThrottle;
use super::client_headers::{ClientHeaders, TRACEPARENT, rare};
use super::known_callers::KnownCallers;
use super::refusal::Refusal;
use super::reserved_streams::ReservedStreams;
use super::response::{RequestId, RequestIds};
use super::response_body::ResponseBody;
use crate::generation::{Generation, Live};
use crate::log_throttle::LogThrottle;
use crate::server::connection::timeouts::{ConnectionState, TimeoutClock};
use crate::server::telemetry::log::{LoggedTrace, Noted};
use crate::server::telemetry::metrics::{Endpoint, Metrics, Verdict};
use crate::trace::{self, RequestSpan};
use hyper::header::HeaderValue;
use hyper::{HeaderMap, Response};
use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::watch;
use weir_engine::engine::{Engine, Execution};
use weir_engine::live::LiveQueries;
use weir_engine::source::Caller;
use weir_engine::span::SpanContext;
use weir_language::json::JsonBuffer;

/// Lifecycle of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerPhase {
    Serving,
    /// All is answered, and probes are told to send nothing more.
    Leaving,
    /// No new connections; what is in flight is answered.
    Draining,
}

impl ServerPhase {
    /// True once what goes on without end has to end.
    pub(crate) const fn is_over(self) -> bool {
        matches!(self, Self::Draining)
    }
}

/// The state of one thread that its requests share.
pub(crate) struct WorkerContext {
    pub(crate) live: Arc<Live>,
    pub(crate) metrics: Arc<Metrics>,
    /// Wrong secrets, in the whole process.
    pub(crate) auth_throttle: Arc<AuthThrottle>,
    /// Streams of events that clients reserved, in the whole process.
    pub(crate) reserved_streams: Arc<ReservedStreams>,
    /// Time of the last log line on session headers that did not count, in the whole process.
    pub(crate) ignored_headers: Arc<LogThrottle>,
    /// The admin of the generation with that number. Each thread has one of its own: a count of references that threads share costs
    /// more than the rest of authentication.
    pub(crate) admin: RefCell<Option<(u64, Caller)>>,
    /// Callers by the head bytes that decided who they are.
    pub(crate) callers: RefCell<KnownCallers<Caller>>,
    /// Memory of the last request's JSON.
    pub(crate) json_buffer: Cell<JsonBuffer>,
    /// Numbers requests.
    pub(crate) ids: RequestIds,
    pub(crate) phase: watch::Receiver<ServerPhase>,
    /// True once the server drains: connections of HTTP/1.1 end with their next answer. A copy of the thread's own, as each answer
    /// reads it.
    pub(crate) ends_connections: Cell<bool>,
    /// Timeouts of the thread's connections.
    pub(crate) clock: TimeoutClock,
}

impl WorkerContext {
    /// True if the server drains.
    pub(crate) fn is_leaving(&self) -> bool {
        matches!(*self.phase.borrow(), ServerPhase::Leaving | ServerPhase::Draining)
    }
}

/// Forms of the API.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ApiForm {
    /// Lists of rows.
    #[default]
    Lists,
    /// Relay's connections, whose engine is made.
    Connections,
}

/// One request on its way.
pub(crate) struct RequestContext {
    /// The worker that serves the request.
    pub(crate) worker: Rc<WorkerContext>,
    /// The generation that serves the request, the same from the first to the last byte, also across reloads.
    pub(crate) generation: Arc<Generation>,
    /// When its head was complete.
    pub(crate) started: Instant,
    /// The clock of its connection.
    pub(crate) watched: Rc<ConnectionState>,
    /// Address of the peer: the caller, or a proxy before it.
    pub(crate) peer: IpAddr,
    /// Its name in logs, and in the head of its answer.
    pub(crate) id: RequestId,
    /// Form of the API that answers.
    pub(crate) form: Cell<ApiForm>,
    /// Values of `Set-Cookie` that authentication has for the client.
    pub(crate) cookies: RefCell<Vec<HeaderValue>>,
    /// Its span, where traces are recorded.
    pub(crate) span: Option<RequestSpan>,
    /// Notes on its last operation, for logs.
    pub(crate) noted: RefCell<Noted>,
}

impl RequestContext {
    /// The context of an operation over the socket of `watched`.
    pub(crate) fn over_socket(
        worker: &Rc<WorkerContext>,
        watched: &Rc<ConnectionState>,
        peer: IpAddr,
    ) -> Self {
        Self {
            worker: Rc::clone(worker),
            generation: worker.live.current(),
            started: Instant::now(),
            watched: Rc::clone(watched),
            peer,
            id: RequestId::made(&worker.ids),
            form: Cell::default(),
            cookies: RefCell::default(),
            span: trace::request(|| None),
            noted: RefCell::default(),
        }
    }

    /// Makes sure that an answer of `bytes` can wait for its client to read it.
    /// # Errors
    /// Too much waits already, of this connection or of all on the thread.
    pub(crate) fn has_room(&self, bytes: u64) -> Result<(), Refusal> {
        if self.watched.has_room(bytes) { Ok(()) } else { Err(Refusal::unread()) }
    }

    /// The engine that answers.
    pub(crate) fn engine(&self) -> &Engine {
        match (self.form.get(), self.generation.relay.made()) {
            (ApiForm::Connections, Some(Ok(engine))) => engine,
            (ApiForm::Connections | ApiForm::Lists, _) => &self.generation.engine,
        }
    }

    /// Subscriptions to that engine.
    pub(crate) fn live(&self) -> &LiveQueries {
        match (self.form.get(), self.generation.relay.live()) {
            (ApiForm::Connections, Some(live)) => live,
            (ApiForm::Connections | ApiForm::Lists, _) => &self.generation.live,
        }
    }

    /// True if the request is answered in Relay's form.
    pub(crate) fn is_relay(&self) -> bool {
        self.form.get() == ApiForm::Connections
    }

    /// Has the request answered in Relay's form, whose engine is made away from the event loop.
    /// # Errors
    /// There is no such form.
    pub(crate) async fn take_connections(&self) -> Result<(), Refusal> {
        let generation = &self.generation;
        if generation.is_waiting {
            return Ok(());
        }
        if generation.relay.is_absent() {
            return Err(Refusal::not_found());
        }
        if generation.relay.made().is_none() {
            let generation = Arc::clone(generation);
            let making = tokio::task::spawn_blocking(move || generation.relay.engine().is_ok());
            // An error is kept in place of the engine.
            let _ = making.await;
        }
        match generation.relay.made() {
            Some(Ok(_)) => {
                self.form.set(ApiForm::Connections);
                Ok(())
            }
            Some(Err(message)) => {
                tracing::error!("Relay's form is not served: {message}");
                Err(Refusal::not_found())
            }
            None => Err(Refusal::waiting()),
        }
    }

    /// Its trace for logs: the recorded one, or the one that `headers` name.
    pub(crate) fn trace(&self, headers: Option<&HeaderMap>) -> Option<LoggedTrace> {
        match self.span {
            Some(RequestSpan { own, .. }) => Some(LoggedTrace { trace: own.trace, span: Some(own.span) }),
            None => {
                let named = rare(headers?, &TRACEPARENT)?;
                SpanContext::read(named.as_bytes()).map(|it| LoggedTrace { trace: it.trace, span: None })
            }
        }
    }

    /// The same context, for a task of its own.
    pub(crate) fn again(&self) -> Self {
        Self {
            worker: Rc::clone(&self.worker),
            generation: Arc::clone(&self.generation),
            started: self.started,
            watched: Rc::clone(&self.watched),
            peer: self.peer,
            id: self.id.clone(),
            form: self.form.clone(),
            cookies: RefCell::default(),
            span: self.span,
            noted: RefCell::default(),
        }
    }

    /// Its `headers`, as sources see them.
    pub(crate) fn client<'r>(&'r self, headers: &'r HeaderMap) -> Result<ClientHeaders<'r>, Refusal> {
        ClientHeaders::new(headers, self.id.text(), self.span.map(|it| it.own))
    }
}

/// An answer on its way out, with what metrics and logs want to know.
pub(crate) struct Answer {
    pub(crate) response: Response<ResponseBody>,
    pub(crate) endpoint: Endpoint,
    pub(crate) verdict: Verdict,
    /// The operation, if one was executed.
    pub(crate) execution: Option<Execution>,
}

impl Answer {
    /// An answer of some page that is no GraphQL.
    pub(crate) fn page(response: Response<ResponseBody>) -> Self {
        Self { response, endpoint: Endpoint::Other, verdict: Verdict::Executed, execution: None }
    }
}

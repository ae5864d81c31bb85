//! State of handlers: worker, generation, request id.

use super::answer::refusal::Refusal;
use super::auth_throttle::AuthThrottle;
use super::client_headers::{ClientHeaders, TRACEPARENT, rare};
use super::known_callers::KnownCallers;
use super::rate_fields::RateRecord;
use super::request_id::{RequestId, RequestIds};
use super::reserved_streams::ReservedStreams;
use crate::generation::{Generation, Live};
use crate::log_throttle::LogThrottle;
use crate::server::connection::run_queue::RunQueue;
use crate::server::connection::timeouts::{ConnectionState, TimeoutClock};
use crate::server::telemetry::metrics::Metrics;
use crate::server::telemetry::noted::{LoggedTrace, Noted};
use crate::trace::{self, RequestSpan};
use hyper::HeaderMap;
use hyper::header::HeaderValue;
use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use weir_engine::answer_notes::AnswerNotes;
use weir_engine::engine::Engine;
use weir_engine::live::LiveQueries;
use weir_engine::source::Caller;
use weir_engine::span::SpanContext;
use weir_language::json::JsonBuffer;

/// Throttle of log lines about refused requests, for the process.
static OVERLOADS: LazyLock<LogThrottle> = LazyLock::new(LogThrottle::every_second);

/// Lifecycle of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerPhase {
    Serving,
    /// Requests are answered, but `/readyz` is 503.
    Leaving,
    /// No new connections; requests in flight are finished.
    Draining,
}

impl ServerPhase {
    /// True if endless work, such as subscriptions, must end.
    pub(crate) const fn is_over(self) -> bool {
        matches!(self, Self::Draining)
    }
}

/// State that requests of one thread share.
pub(crate) struct WorkerContext {
    pub(crate) live: Arc<Live>,
    pub(crate) metrics: Arc<Metrics>,
    /// Wrong secrets in the process.
    pub(crate) auth_throttle: Arc<AuthThrottle>,
    /// Event streams that clients reserved, for the process.
    pub(crate) reserved_streams: Arc<ReservedStreams>,
    /// Throttle of log lines about ignored session headers, for the process.
    pub(crate) ignored_headers: Arc<LogThrottle>,
    /// The admin of the generation with this number. Each thread has its own copy: a shared reference count costs more than the rest of
    /// authentication.
    pub(crate) admin: RefCell<Option<(u64, Caller)>>,
    /// Callers by the header bytes that identify them.
    pub(crate) callers: RefCell<KnownCallers<Caller>>,
    /// Parse buffer of the last request.
    pub(crate) json_buffer: Cell<JsonBuffer>,
    /// Generator of request ids.
    pub(crate) ids: RequestIds,
    pub(crate) phase: watch::Receiver<ServerPhase>,
    /// True while the server drains: HTTP/1.1 connections end after their next answer. A copy per thread, because every answer reads it.
    pub(crate) ends_connections: Cell<bool>,
    /// Timeouts of the thread's connections.
    pub(crate) clock: TimeoutClock,
    /// Requests that wait for the thread.
    pub(crate) queue: Rc<RunQueue>,
}

impl WorkerContext {
    /// True if the server is shutting down.
    pub(crate) fn is_leaving(&self) -> bool {
        matches!(*self.phase.borrow(), ServerPhase::Leaving | ServerPhase::Draining)
    }
}

/// APIs of a database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ApiForm {
    /// Hasura's API.
    #[default]
    Lists,
    /// Relay's API, whose engine exists.
    Connections,
}

/// One request in progress.
pub(crate) struct RequestContext {
    /// The worker that serves the request.
    pub(crate) worker: Rc<WorkerContext>,
    /// The generation for the whole request, also across reloads.
    pub(crate) generation: Arc<Generation>,
    /// Time when the head was complete.
    pub(crate) started: Instant,
    /// Timeouts of its connection.
    pub(crate) watched: Rc<ConnectionState>,
    /// Address of the caller, as far as trusted proxies tell it.
    pub(crate) peer: IpAddr,
    /// Id in logs and in the response's head.
    pub(crate) id: RequestId,
    /// API that answers.
    pub(crate) form: Cell<ApiForm>,
    /// `Set-Cookie` values from authentication.
    pub(crate) cookies: RefCell<Vec<HeaderValue>>,
    /// Notes of sources about the answer.
    pub(crate) notes: AnswerNotes,
    /// Span of the request, if traces are recorded.
    pub(crate) span: Option<RequestSpan>,
    /// Result of counting the operation by its rates.
    pub(crate) rates: RefCell<RateRecord>,
    /// Data about its last operation, for logs.
    pub(crate) noted: RefCell<Noted>,
}

impl RequestContext {
    /// Context of an operation over the socket of `watched`.
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
            id: RequestId::new_id(&worker.ids),
            form: Cell::default(),
            cookies: RefCell::default(),
            notes: AnswerNotes::default(),
            span: trace::request(|| None),
            rates: RefCell::default(),
            noted: RefCell::default(),
        }
    }

    /// Checks that an answer of `bytes` may wait for its client.
    /// # Errors
    /// The limit of unread bytes of the connection or thread is reached.
    pub(crate) fn has_room(&self, bytes: u64) -> Result<(), Refusal> {
        if self.watched.has_room(bytes) { Ok(()) } else { Err(Refusal::unread_limit()) }
    }

    /// Checks that the worker is not overloaded. A request over HTTP/2, which `has_own_turn`, waits once more after its connection.
    /// # Errors
    /// The worker is overloaded: requests wait longer than `limits.queue_ms` allows.
    pub(crate) fn check_queue(&self, has_own_turn: bool) -> Result<(), Refusal> {
        let bound_ms = self.generation.config.limits.queue_ms;
        if bound_ms == 0 {
            return Ok(());
        }
        let bound = Duration::from_millis(u64::from(bound_ms));
        let now = if has_own_turn { Instant::now() } else { self.started };
        let queue = &self.worker.queue;
        let wait = queue.measure(now, bound) + (now - self.started);
        if !queue.refuses(wait, now, bound) {
            return Ok(());
        }
        if let Some(count) = OVERLOADS.note() {
            let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            tracing::warn!(count, wait_ms, bound_ms, "the server is overloaded: requests were refused");
        }
        Err(Refusal::overload())
    }

    /// The engine for this request.
    pub(crate) fn engine(&self) -> &Engine {
        match (self.form.get(), self.generation.relay.existing_engine()) {
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

    /// True for Relay's API.
    pub(crate) fn is_relay(&self) -> bool {
        self.form.get() == ApiForm::Connections
    }

    /// Switches the request to Relay's API, whose engine is created outside of the event loop.
    /// # Errors
    /// This API is off.
    pub(crate) async fn take_connections(&self) -> Result<(), Refusal> {
        let generation = &self.generation;
        if generation.is_waiting {
            return Ok(());
        }
        if generation.relay.is_absent() {
            return Err(Refusal::not_found());
        }
        if generation.relay.existing_engine().is_none() {
            let generation = Arc::clone(generation);
            let making = tokio::task::spawn_blocking(move || generation.relay.engine().is_ok());
            // An error is stored in place of the engine.
            let _ = making.await;
        }
        match generation.relay.existing_engine() {
            Some(Ok(_)) => {
                self.form.set(ApiForm::Connections);
                Ok(())
            }
            Some(Err(message)) => {
                tracing::error!("Relay's form is not served: {message}");
                Err(Refusal::not_found())
            }
            None => Err(Refusal::no_sources()),
        }
    }

    /// Trace for logs: the recorded one, or the one in `headers`.
    pub(crate) fn trace(&self, headers: Option<&HeaderMap>) -> Option<LoggedTrace> {
        match self.span {
            Some(RequestSpan { own, .. }) => Some(LoggedTrace { trace: own.trace, span: Some(own.span) }),
            None => {
                let named = rare(headers?, &TRACEPARENT)?;
                SpanContext::read(named.as_bytes()).map(|it| LoggedTrace { trace: it.trace, span: None })
            }
        }
    }

    /// A copy of the context for another task.
    pub(crate) fn clone_for_task(&self) -> Self {
        Self {
            worker: Rc::clone(&self.worker),
            generation: Arc::clone(&self.generation),
            started: self.started,
            watched: Rc::clone(&self.watched),
            peer: self.peer,
            id: self.id.clone(),
            form: self.form.clone(),
            cookies: RefCell::default(),
            notes: AnswerNotes::default(),
            span: self.span,
            rates: RefCell::default(),
            noted: RefCell::default(),
        }
    }

    /// Client headers of the request, as sources see them.
    pub(crate) fn client<'r>(&'r self, headers: &'r HeaderMap) -> Result<ClientHeaders<'r>, Refusal> {
        let client = ClientHeaders::new(headers, self.id.text(), self.span.map(|it| it.own), &self.notes)?;
        match &self.generation.config.limits.deadline_header {
            Some(name) => client.read_patience(name),
            None => Ok(client),
        }
    }
}

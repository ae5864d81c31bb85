//! One worker thread: event loop, listening sockets and clock of its own.
//!
//! Nothing on the way of a request crosses threads; what workers share are counters and the current generation.
//!
//! **Invariant:** once draining has begun, every accepted request is still answered, within the drain time.

use super::connection::client_address::client_address;
use super::connection::descriptors;
use super::connection::guarded_io::{GuardedIo, LentIo, ReadBuffer, read_buffer};
use super::connection::head_guard::HeadGuard;
use super::connection::http2_guard;
use super::connection::listener::{ListenerRole, prepare};
use super::connection::run_queue::RunQueue;
use super::connection::timeouts::{ConnectionCommand, ConnectionState, TimeoutClock, Timeouts};
use super::connection::unread::{LocalExecutor, UnreadLimits};
use super::graphql::websocket::{self, SocketConnection};
use super::request::answer::Answer;
use super::request::answer::refusal::error_body;
use super::request::answer::response_body::{ResponseBody, json};
use super::request::auth_throttle::AuthThrottle;
use super::request::client_headers::{TRACEPARENT, rare};
use super::request::context::{RequestContext, ServerPhase, WorkerContext};
use super::request::negotiate::Media;
use super::request::request_id::{RequestId, RequestIds};
use super::request::reserved_streams::ReservedStreams;
use super::request::response;
use super::router;
use super::telemetry::access;
use super::telemetry::metrics::{Endpoint, Metrics, Verdict};
use super::telemetry::noted::LoggedTrace;
use crate::generation::Live;
use crate::log_throttle::LogThrottle;
use crate::trace;
use futures_util::FutureExt;
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Version};
use hyper_util::server::conn::auto;
use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::future::Future;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio_rustls::TlsAcceptor;
use weir_engine::answer_notes::AnswerNotes;

/// Default limit of header lines in hyper.
const HYPER_HEADERS_MAX: u16 = 100;

/// Start parameters of a thread.
pub(crate) struct WorkerSeed {
    pub(crate) live: Arc<Live>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) auth_throttle: Arc<AuthThrottle>,
    pub(crate) reserved_streams: Arc<ReservedStreams>,
    pub(crate) phase: watch::Receiver<ServerPhase>,
    pub(crate) listeners: Vec<(std::net::TcpListener, ListenerRole)>,
    pub(crate) accept_failures: Arc<LogThrottle>,
    pub(crate) ignored_headers: Arc<LogThrottle>,
    pub(crate) connections_max: usize,
    pub(crate) number: usize,
    /// Number of worker threads, at least 1.
    pub(crate) threads: usize,
}

/// The state of one thread.
struct Worker {
    /// State that requests see.
    context: Rc<WorkerContext>,
    read_buffer: ReadBuffer,
    /// Throttle of log lines about failed accepts, for the process.
    accept_failures: Arc<LogThrottle>,
    connections_max: usize,
    /// Number of worker threads, at least 1.
    threads: u64,
    open: Cell<usize>,
    all_closed: Notify,
    http: auto::Builder<LocalExecutor>,
}

/// Serves until the phase changes and all requests are answered.
pub(crate) fn run(seed: WorkerSeed) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let tasks = tokio::task::LocalSet::new();
    tasks.block_on(&runtime, async move {
        let mut listeners = Vec::with_capacity(seed.listeners.len());
        for (listener, place) in seed.listeners {
            listeners.push((TcpListener::from_std(listener)?, place));
        }
        let worker = Rc::new(Worker {
            http: http(&seed.live),
            context: Rc::new(WorkerContext {
                live: seed.live,
                metrics: seed.metrics,
                auth_throttle: seed.auth_throttle,
                reserved_streams: seed.reserved_streams,
                ignored_headers: seed.ignored_headers,
                admin: RefCell::default(),
                callers: RefCell::default(),
                json_buffer: Cell::default(),
                ids: RequestIds::new(seed.number),
                phase: seed.phase,
                ends_connections: Cell::new(false),
                clock: TimeoutClock::new(),
                queue: Rc::new(RunQueue::new()),
            }),
            read_buffer: read_buffer(),
            accept_failures: seed.accept_failures,
            connections_max: seed.connections_max,
            threads: seed.threads as u64,
            open: Cell::new(0),
            all_closed: Notify::new(),
        });
        serve(&worker, listeners).await;
        access::flush();
        Ok(())
    })
}

/// Protocol settings from the limits of the first generation.
fn http(live: &Live) -> auto::Builder<LocalExecutor> {
    let limits = live.current().config.limits.clone();
    let mut http = auto::Builder::new(LocalExecutor);
    let head_bytes_max = (limits.head_bytes_max as usize).max(8 * 1024);
    http.http1().max_buf_size(head_bytes_max).header_read_timeout(None).half_close(false);
    // Lower limits are enforced before hyper parses. Hyper allocates memory if it is given a lower limit.
    if limits.headers_max > HYPER_HEADERS_MAX {
        http.http1().max_headers(usize::from(limits.headers_max));
    }
    http.http2()
        .enable_connect_protocol()
        .max_concurrent_streams(limits.streams_max)
        .max_header_list_size(http2_guard::list_bytes_max(&limits))
        .initial_stream_window_size(64 * 1024)
        // WebSocket streams may keep their windows full, so the connection window leaves room for the other half of the streams.
        .initial_connection_window_size(64 * 1024 * limits.streams_max.max(32) / 2);
    http
}

async fn serve(worker: &Rc<Worker>, listeners: Vec<(TcpListener, ListenerRole)>) {
    for (listener, place) in listeners {
        let worker = Rc::clone(worker);
        tokio::task::spawn_local(async move { worker.accept_all(listener, place).await });
    }
    let context = Rc::clone(&worker.context);
    let mut leaving = worker.context.phase.clone();
    tokio::task::spawn_local(async move {
        let has_left = leaving.wait_for(|it| *it != ServerPhase::Serving).await.is_ok();
        context.ends_connections.set(has_left);
    });
    let mut phase = worker.context.phase.clone();
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    loop {
        tokio::select! {
            _ = ticks.tick() => {
                worker.context.clock.tick();
                access::flush();
            }
            _ = phase.wait_for(|it| *it == ServerPhase::Draining) => break,
        }
    }
    let drain = Duration::from_secs(u64::from(worker.context.live.current().config.limits.drain_s));
    let drained = async {
        loop {
            worker.context.clock.tell_all(ConnectionCommand::Drain);
            let closed = worker.all_closed.notified();
            if worker.open.get() == 0 {
                break;
            }
            // A connection that was just accepted must get the command too.
            let _ = tokio::time::timeout(Duration::from_millis(100), closed).await;
            worker.context.clock.tick();
        }
    };
    if tokio::time::timeout(drain, drained).await.is_err() {
        tracing::warn!(connections = worker.open.get(), "the drain time is over; open connections are cut");
    }
}

/// Counts a connection until it is dropped.
struct Open(Rc<Worker>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.set(self.0.open.get() - 1);
        self.0.context.metrics.connections.dec();
        if self.0.open.get() == 0 {
            self.0.all_closed.notify_waiters();
        }
    }
}

/// Origin of a connection.
#[derive(Clone, Copy)]
struct ConnectionOrigin {
    peer: IpAddr,
    place: ListenerRole,
}

impl Worker {
    /// Accepts connections until draining starts, including those that wait in the backlog then.
    async fn accept_all(self: Rc<Self>, listener: TcpListener, place: ListenerRole) {
        let mut phase = self.context.phase.clone();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = phase.wait_for(|it| *it == ServerPhase::Draining) => break,
            };
            match accepted {
                Ok((socket, peer)) => self.take(socket, peer.ip(), place),
                Err(cause) => self.make_room(&cause).await,
            }
        }
        while let Some(Ok((socket, peer))) = listener.accept().now_or_never() {
            self.take(socket, peer.ip(), place);
        }
    }

    /// Makes room after a failed accept: connections in use stay, new ones wait in the backlog.
    async fn make_room(&self, cause: &std::io::Error) {
        if let Some(times) = self.accept_failures.note() {
            tracing::error!(%cause, times, "connections could not be accepted");
        }
        let is_closed = descriptors::are_used_up(cause) && self.context.clock.close_longest_idle();
        if is_closed {
            self.context.metrics.evicted.inc();
        }
        // A closed connection frees its descriptor after a turn of the event loop.
        tokio::time::sleep(Duration::from_millis(if is_closed { 5 } else { 250 })).await;
    }

    fn take(self: &Rc<Self>, socket: TcpStream, peer: IpAddr, place: ListenerRole) {
        if self.open.get() >= self.connections_max {
            self.context.metrics.evicted.inc();
            if !self.context.clock.close_longest_idle() {
                return;
            }
        }
        prepare(&socket, Duration::from_secs(u64::from(self.patience().write_s)));
        self.open.set(self.open.get() + 1);
        self.context.metrics.connections.inc();
        let open = Open(Rc::clone(self));
        let watched = self.context.clock.watch(self.patience());
        let worker = Rc::clone(self);
        let origin = ConnectionOrigin { peer, place };
        tokio::task::spawn_local(async move {
            let _open = open;
            let tls = worker.context.live.current().tls.clone();
            match tls {
                None => worker.connection(socket, watched, origin).await,
                // A boxed future, or every connection without TLS would reserve room for one with TLS.
                Some(acceptor) => {
                    Box::pin(worker.secure_connection(socket, &acceptor, watched, origin)).await;
                }
            }
        });
    }

    /// Serves one connection over TLS.
    async fn secure_connection(
        self: &Rc<Self>,
        socket: TcpStream,
        acceptor: &TlsAcceptor,
        watched: Rc<ConnectionState>,
        origin: ConnectionOrigin,
    ) {
        watched.note_received();
        let socket = {
            let mut handshake = pin!(acceptor.accept(socket));
            std::future::poll_fn(|cx| match watched.command(cx) {
                ConnectionCommand::Close => Poll::Ready(None),
                ConnectionCommand::Serve | ConnectionCommand::Drain => {
                    handshake.as_mut().poll(cx).map(Result::ok)
                }
            })
            .await
        };
        if let Some(socket) = socket {
            self.connection(socket, watched, origin).await;
        }
    }

    fn patience(&self) -> Timeouts {
        let limits = &self.context.live.current().config.limits;
        Timeouts {
            head_s: u32::from(limits.head_s),
            body_s: u32::from(limits.body_s),
            idle_s: u32::from(limits.idle_s),
            write_s: u32::from(limits.write_s),
            unread: UnreadLimits {
                connection: limits.unread_connection_bytes_max,
                process: limits.unread_bytes_max,
                threads: self.threads,
            },
        }
    }

    /// Serves one connection until it ends or is commanded to.
    async fn connection<S>(self: &Rc<Self>, socket: S, watched: Rc<ConnectionState>, origin: ConnectionOrigin)
    where
        S: AsyncRead + AsyncWrite + Unpin + 'static,
    {
        let heads = HeadGuard::new(&self.context.live.current().config.limits);
        let socket = GuardedIo::new(socket, Rc::clone(&watched), heads, Rc::clone(&self.read_buffer));
        let socket = Rc::new(RefCell::new(socket));
        self.serve_requests(LentIo(Rc::clone(&socket)), &watched, origin).await;
        if socket.borrow().is_flooded() {
            self.context.metrics.limit("LIMIT_FRAMES");
        }
        if let (Some(terms), Some(socket)) = (watched.take_terms(), Rc::into_inner(socket)) {
            let (socket, held) = socket.into_inner().into_held();
            let connection = SocketConnection { worker: &self.context, watched: &watched, peer: origin.peer };
            websocket::serve(socket, held, terms, connection).await;
        }
    }

    /// Answers requests over one connection until there are no more, or it is commanded to end.
    async fn serve_requests<S>(
        self: &Rc<Self>,
        socket: LentIo<S>,
        watched: &Rc<ConnectionState>,
        origin: ConnectionOrigin,
    ) where
        S: AsyncRead + AsyncWrite + Unpin + 'static,
    {
        let worker = Rc::clone(self);
        let clock = Rc::clone(watched);
        let service =
            service_fn(move |request| Rc::clone(&worker).request(Rc::clone(&clock), origin, request));
        let mut connection = pin!(self.http.serve_connection(socket, service));
        let mut draining = false;
        let ended = std::future::poll_fn(|cx| {
            match watched.command(cx) {
                ConnectionCommand::Close => return Poll::Ready(false),
                ConnectionCommand::Drain if !draining => {
                    draining = true;
                    connection.as_mut().graceful_shutdown();
                }
                ConnectionCommand::Serve | ConnectionCommand::Drain => {}
            }
            // Errors here are the client's: a protocol violation or a broken connection.
            connection.as_mut().poll(cx).map(|it| it.is_ok())
        });
        if !ended.await {
            watched.take_terms();
        }
    }

    /// Answers one request. A panic fails only that request.
    ///
    /// An answer known at once is not part of the future, which is moved before it runs.
    fn request(
        self: Rc<Self>,
        watched: Rc<ConnectionState>,
        origin: ConnectionOrigin,
        request: Request<Incoming>,
    ) -> impl Future<Output = Result<Response<ResponseBody>, Infallible>> {
        let guard = watched.begin(request.version() == Version::HTTP_2);
        let (head, body) = request.into_parts();
        let generation = self.context.live.current();
        let trusted_hops = generation.config.limits.trusted_hops;
        let id = RequestId::of(&self.context.ids, &head);
        let context = RequestContext {
            worker: Rc::clone(&self.context),
            generation,
            started: Instant::now(),
            watched,
            peer: client_address(origin.peer, &head.headers, trusted_hops),
            id,
            form: Cell::default(),
            cookies: RefCell::default(),
            notes: AnswerNotes::default(),
            span: trace::request(|| rare(&head.headers, &TRACEPARENT).map(HeaderValue::as_bytes)),
            rates: RefCell::default(),
            noted: RefCell::default(),
        };
        async move {
            let work = pin!(router::answer(&context, origin.place, &head, body));
            let answer = AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| {
                context.worker.metrics.panics.inc();
                let trace_id = context.trace(Some(&head.headers)).map(LoggedTrace::trace_id);
                tracing::error!(request_id = context.id.text(), trace_id, "a bug: the request panicked");
                internal_error_answer()
            });
            let response = response::finish(&context, &head, answer);
            Ok(response.map(|it| it.with_guard(guard)))
        }
    }
}

/// Answer to an internal error.
fn internal_error_answer() -> Answer {
    let message = "something went wrong in the server; the request id finds it in the log";
    let mut body = error_body(message, "INTERNAL", None);
    body.pop();
    body.extend_from_slice(b",\"data\":null}");
    let response = json(StatusCode::OK, Media::Json, ResponseBody::whole(body));
    Answer { response, endpoint: Endpoint::Other, verdict: Verdict::Failed, execution: None }
}

//! When a connection has waited long enough: one coarse clock per worker instead of timers per request.
//!
//! Each connection is in one phase and has a deadline in whole seconds; once a second the worker looks at all of them. A
//! request thereby sets no timer: it writes one number.
//!
//! **Invariant:** a connection without a request in flight has a deadline.

use super::head_guard::HeadError;
use super::unread::{Http2Stream, StreamTask, StreamedAnswer, UnreadBytes, UnreadLimits};
use super::websocket_terms::WebSocketTerms;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Waker};
use std::time::Instant;
use weir_engine::unread::Waiting;

/// Timeout of each phase, in seconds, and the limit of unread bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    pub(crate) head_s: u32,
    pub(crate) body_s: u32,
    pub(crate) idle_s: u32,
    pub(crate) write_s: u32,
    pub(crate) unread: UnreadLimits,
}

/// Timeout for the rest of a request that is answered already, in seconds.
const LINGER_S: u32 = 2;

/// ConnectionPhase of a connection: the event it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionPhase {
    /// The first byte of a request.
    Idle,
    /// The rest of a head.
    Head,
    /// The engine, or the client's reading.
    InFlight,
}

/// ConnectionCommand to the connection's task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionCommand {
    /// Go on.
    Serve,
    /// Finish what is in flight, take nothing new.
    Drain,
    /// End now.
    Close,
}

/// One connection, shared by its socket, its requests and the clock.
#[derive(Debug)]
pub(crate) struct ConnectionState {
    phase: Cell<ConnectionPhase>,
    in_flight: Cell<u32>,
    /// HTTP/2.
    multiplexed: Cell<bool>,
    /// The connection whose stream this is, if it is a WebSocket over HTTP/2.
    connection: Option<Rc<ConnectionState>>,
    /// WebSockets among the requests in flight.
    sockets: Cell<u32>,
    since_s: Cell<u32>,
    /// Seconds of the clock; `u32::MAX` for never.
    deadline_s: Cell<u32>,
    body_deadline_s: Cell<u32>,
    write_deadline_s: Cell<u32>,
    command: Cell<ConnectionCommand>,
    /// The error of the head that hyper sees [`super::head_guard::STAND_IN`] for.
    flaw: Cell<Option<HeadError>>,
    /// Set once a WebSocket was granted.
    terms: RefCell<Option<WebSocketTerms>>,
    waker: RefCell<Option<Waker>>,
    now_s: Rc<Cell<u32>>,
    patience: Timeouts,
    /// Bytes of answers that the client has not read; those of a stream are its connection's.
    held: Rc<UnreadBytes>,
    /// Streams of HTTP/2 with an answer on its way.
    streams: RefCell<Vec<Rc<Http2Stream>>>,
}

/// A request that is not answered to its last byte. Dropping it ends that state.
#[derive(Debug)]
pub(crate) struct InFlight {
    watched: Rc<ConnectionState>,
    /// Bytes of the answer that wait in the server, if it is whole.
    held: u64,
    /// The counter of its unread bytes, if the answer is streamed.
    parts: Option<Rc<StreamedAnswer>>,
    /// Over HTTP/2.
    stream: Option<Rc<Http2Stream>>,
}

/// A WebSocket over HTTP/2. Dropping it ends that state.
#[derive(Debug)]
pub(crate) struct SocketInFlight {
    watched: Rc<ConnectionState>,
    _request: InFlight,
}

impl Drop for SocketInFlight {
    fn drop(&mut self) {
        self.watched.sockets.set(self.watched.sockets.get().saturating_sub(1));
    }
}

impl InFlight {
    /// The answer is made, and holds `bytes` until they are written or dropped.
    pub(crate) fn answered(&mut self, bytes: u64) {
        self.held = bytes;
        self.watched.held.add(bytes);
        self.begin();
    }
    /// The answer leaves in parts, counted by `counts` until they are dropped.
    pub(crate) fn answers_in_parts(&mut self, counts: Box<[Waiting]>) {
        self.parts = Some(self.watched.held.add_parts(counts));
        self.begin();
    }
    fn begin(&mut self) {
        if self.watched.multiplexed.get() {
            self.stream = StreamTask::current().map(Http2Stream::new);
            self.watched.streams.borrow_mut().extend(self.stream.clone());
        }
        self.await_reader(true);
    }
    /// `bytes` of the answer have left it.
    pub(crate) fn written(&mut self, bytes: u64) {
        let bytes = bytes.min(self.held);
        self.held -= bytes;
        self.watched.held.free(bytes);
    }
    /// The client has to take the next bytes of the stream, or the answer waits for its source.
    pub(crate) fn await_reader(&self, waiting: bool) {
        if let Some(stream) = &self.stream {
            stream.await_reader(if waiting { self.watched.until_written_s() } else { u32::MAX });
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.written(self.held);
        if let Some(parts) = &self.parts {
            self.watched.held.free_parts(parts);
        }
        if let Some(stream) = &self.stream {
            self.watched.streams.borrow_mut().retain(|it| !Rc::ptr_eq(it, stream));
        }
        let left = self.watched.in_flight.get().saturating_sub(1);
        self.watched.in_flight.set(left);
        if left == 0 {
            self.watched.enter(ConnectionPhase::Idle, self.watched.patience.idle_s);
            self.watched.body_deadline_s.set(u32::MAX);
        }
    }
}

impl ConnectionState {
    fn enter(&self, phase: ConnectionPhase, patience_s: u32) {
        self.phase.set(phase);
        self.since_s.set(self.now_s.get());
        self.deadline_s.set(self.now_s.get().saturating_add(patience_s));
    }
    /// Bytes arrived. Only the first ones of a head matter: more of them do not prolong it. An HTTP/2 connection that
    /// has served hears of pings and windows too, which begin nothing.
    pub(crate) fn heard(&self) {
        if self.phase.get() == ConnectionPhase::Idle && !self.multiplexed.get() {
            self.enter(ConnectionPhase::Head, self.patience.head_s);
        }
    }
    /// A head is complete.
    pub(crate) fn begin(self: &Rc<Self>, multiplexed: bool) -> InFlight {
        self.in_flight.set(self.in_flight.get() + 1);
        self.multiplexed.set(multiplexed);
        self.enter(ConnectionPhase::InFlight, 0);
        self.deadline_s.set(u32::MAX);
        InFlight { watched: Rc::clone(self), held: 0, parts: None, stream: None }
    }
    /// A body is awaited, or has arrived.
    pub(crate) fn await_body(&self, waiting: bool) {
        let until_s = if waiting { self.now_s.get().saturating_add(self.patience.body_s) } else { u32::MAX };
        self.body_deadline_s.set(until_s);
    }
    /// The client reads, or does not.
    pub(crate) fn await_reader(&self, waiting: bool) {
        if !waiting {
            self.write_deadline_s.set(u32::MAX);
        } else if self.write_deadline_s.get() == u32::MAX {
            self.write_deadline_s.set(self.until_written_s());
        }
    }
    /// When a client that reads nothing from now on is cut off.
    fn until_written_s(&self) -> u32 {
        self.now_s.get().saturating_add(self.patience.write_s)
    }
    /// Says whether an answer of `bytes` may wait for the client to read it.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        self.held.has_room(bytes, self.patience.unread)
    }
    /// The last answer was written; the client has a moment to read it.
    pub(crate) fn linger(&self) {
        self.enter(ConnectionPhase::Idle, LINGER_S);
    }
    /// A head came that must not pass.
    pub(crate) fn refuse(&self, flaw: HeadError) {
        self.flaw.set(Some(flaw));
    }
    /// The error of the connection's last head.
    pub(crate) fn flaw(&self) -> Option<HeadError> {
        self.flaw.get()
    }
    /// The connection is a WebSocket once the answer has left.
    pub(crate) fn agree(&self, terms: WebSocketTerms) {
        self.terms.replace(Some(terms));
    }
    /// Takes the terms of the WebSocket that was granted.
    pub(crate) fn agreed(&self) -> Option<WebSocketTerms> {
        self.terms.take()
    }
    /// A WebSocket's client shows that it is there.
    pub(crate) fn alive(&self) {
        self.enter(ConnectionPhase::Idle, self.patience.idle_s);
        if let Some(connection) = &self.connection {
            connection.since_s.set(self.now_s.get());
        }
    }
    /// A stream of HTTP/2 is a WebSocket as long as the returned guard lives.
    pub(crate) fn begin_socket(self: &Rc<Self>) -> SocketInFlight {
        self.sockets.set(self.sockets.get() + 1);
        SocketInFlight { _request: self.begin(true), watched: Rc::clone(self) }
    }
    /// The WebSocket of a stream is over: `task` has the time of an unread answer to send the rest, and none if the clock closed it.
    pub(crate) fn leave_stream(&self, task: Rc<StreamTask>) {
        if self.command.get() == ConnectionCommand::Close {
            return task.end();
        }
        let stream = Http2Stream::new(task);
        stream.await_reader(self.until_written_s());
        if let Some(connection) = &self.connection {
            connection.streams.borrow_mut().push(stream);
        }
    }
    /// Timeout of a silent client, in seconds.
    pub(crate) fn idle_s(&self) -> u32 {
        self.patience.idle_s
    }
    /// The second of the worker's clock.
    pub(crate) fn now_s(&self) -> u32 {
        self.now_s.get()
    }
    /// The current command; the task is woken when it changes.
    pub(crate) fn command(&self, cx: &Context<'_>) -> ConnectionCommand {
        let mut waker = self.waker.borrow_mut();
        if !waker.as_ref().is_some_and(|it| it.will_wake(cx.waker())) {
            *waker = Some(cx.waker().clone());
        }
        self.command.get()
    }
    /// Tells the task what to do; closing is final.
    pub(crate) fn tell(&self, command: ConnectionCommand) {
        if self.command.get() != ConnectionCommand::Close {
            self.command.set(command);
        }
        let waker = self.waker.borrow_mut().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
    fn is_over(&self, now_s: u32) -> bool {
        let earliest = self.deadline_s.get().min(self.body_deadline_s.get()).min(self.write_deadline_s.get());
        earliest <= now_s
    }
}

/// All connections of one worker.
#[derive(Debug)]
pub(crate) struct TimeoutClock {
    now_s: Rc<Cell<u32>>,
    started: Instant,
    watched: RefCell<Vec<Rc<ConnectionState>>>,
    /// Bytes of answers that clients have not read.
    held: Rc<Cell<u64>>,
}

impl TimeoutClock {
    /// A clock at zero without connections.
    pub(crate) fn new() -> Self {
        Self {
            now_s: Rc::new(Cell::new(0)),
            started: Instant::now(),
            watched: RefCell::new(Vec::new()),
            held: Rc::new(Cell::new(0)),
        }
    }
    /// Watches a new connection.
    pub(crate) fn watch(&self, patience: Timeouts) -> Rc<ConnectionState> {
        self.watch_as(patience, None)
    }
    /// Watches a stream of HTTP/2 over `connection` that is a WebSocket, with the same patience.
    pub(crate) fn watch_stream(&self, connection: &Rc<ConnectionState>) -> Rc<ConnectionState> {
        self.watch_as(connection.patience, Some(Rc::clone(connection)))
    }
    fn watch_as(&self, patience: Timeouts, connection: Option<Rc<ConnectionState>>) -> Rc<ConnectionState> {
        let own = || Rc::new(UnreadBytes::beside(&self.held));
        let held = connection.as_ref().map_or_else(own, |it| Rc::clone(&it.held));
        let watched = Rc::new(ConnectionState {
            phase: Cell::new(ConnectionPhase::Idle),
            in_flight: Cell::new(0),
            multiplexed: Cell::new(false),
            connection,
            sockets: Cell::new(0),
            since_s: Cell::new(self.now_s.get()),
            deadline_s: Cell::new(self.now_s.get().saturating_add(patience.idle_s)),
            body_deadline_s: Cell::new(u32::MAX),
            write_deadline_s: Cell::new(u32::MAX),
            command: Cell::new(ConnectionCommand::Serve),
            flaw: Cell::new(None),
            terms: RefCell::default(),
            waker: RefCell::new(None),
            now_s: Rc::clone(&self.now_s),
            patience,
            held,
            streams: RefCell::new(Vec::new()),
        });
        self.watched.borrow_mut().push(Rc::clone(&watched));
        watched
    }
    /// Forgets connections that ended, closes those whose time is over. To be called about once a second.
    pub(crate) fn tick(&self) {
        self.tick_at(u32::try_from(self.started.elapsed().as_secs()).unwrap_or(u32::MAX - 1));
    }
    fn tick_at(&self, now_s: u32) {
        self.now_s.set(now_s);
        let mut watched = self.watched.borrow_mut();
        watched.retain(|it| Rc::strong_count(it) > 1);
        for it in watched.iter() {
            if it.is_over(now_s) {
                it.tell(ConnectionCommand::Close);
            }
            it.streams.borrow_mut().retain(|stream| stream.goes_on());
            it.streams.borrow().iter().for_each(|stream| stream.tick(now_s));
        }
    }
    /// Tells all connections.
    pub(crate) fn tell_all(&self, command: ConnectionCommand) {
        for it in self.watched.borrow().iter() {
            it.tell(command);
        }
    }
    /// Makes room for a new connection. Says whether there is any.
    pub(crate) fn close_longest_idle(&self) -> bool {
        let mut watched = self.watched.borrow_mut();
        watched.retain(|it| Rc::strong_count(it) > 1);
        let is_idle =
            |it: &ConnectionState| it.in_flight.get() == it.sockets.get() && it.connection.is_none();
        let idle = watched.iter().enumerate().filter(|(_, it)| is_idle(it));
        let Some(place) = idle.min_by_key(|(_, it)| it.since_s.get()).map(|it| it.0) else { return false };
        watched.swap_remove(place).tell(ConnectionCommand::Close);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNREAD: UnreadLimits = UnreadLimits { connection: 100, process: 1000, threads: 1 };
    const PATIENCE: Timeouts = Timeouts { head_s: 10, body_s: 30, idle_s: 60, write_s: 30, unread: UNREAD };

    /// Runs `steps`, then looks whether the connection is closed at second `at`.
    fn check(steps: impl FnOnce(&TimeoutClock, &Rc<ConnectionState>), at: u32, closed: bool) {
        let clock = TimeoutClock::new();
        let watched = clock.watch(PATIENCE);
        steps(&clock, &watched);
        clock.tick_at(at);
        assert_eq!(watched.command.get() == ConnectionCommand::Close, closed, "at second {at}");
    }

    #[test]
    fn a_silent_connection_is_closed_after_the_idle_time() {
        check(|_, _| {}, 59, false);
        check(|_, _| {}, 60, true);
    }

    #[test]
    fn a_dripped_head_is_closed_after_the_head_time() {
        let drip = |clock: &TimeoutClock, it: &Rc<ConnectionState>| {
            it.heard();
            clock.tick_at(5);
            it.heard();
        };
        check(drip, 9, false);
        check(drip, 10, true);
    }

    #[test]
    fn a_request_in_flight_has_no_deadline_and_idles_afterwards() {
        check(|_, it| std::mem::forget(it.begin(false)), 500, false);
        let served = |clock: &TimeoutClock, it: &Rc<ConnectionState>| {
            let request = it.begin(false);
            clock.tick_at(100);
            drop(request);
        };
        check(served, 159, false);
        check(served, 160, true);
    }

    #[test]
    fn a_websocket_s_client_that_shows_that_it_is_there_stays() {
        let lively = |clock: &TimeoutClock, it: &Rc<ConnectionState>| {
            drop(it.begin(false));
            clock.tick_at(50);
            it.alive();
        };
        check(lively, 109, false);
        check(lively, 110, true);
    }

    #[test]
    fn pings_neither_prolong_nor_shorten_an_idle_connection() {
        let pinged = |clock: &TimeoutClock, it: &Rc<ConnectionState>| {
            drop(it.begin(true));
            clock.tick_at(50);
            it.heard();
        };
        check(pinged, 59, false);
        check(pinged, 60, true);
    }

    #[test]
    fn a_dripped_body_and_a_stalled_reader_are_cut_off() {
        let body = |_: &TimeoutClock, it: &Rc<ConnectionState>| {
            std::mem::forget(it.begin(false));
            it.await_body(true);
        };
        check(body, 29, false);
        check(body, 30, true);
        let reader = |clock: &TimeoutClock, it: &Rc<ConnectionState>| {
            std::mem::forget(it.begin(false));
            it.await_reader(true);
            clock.tick_at(20);
            it.await_reader(true);
        };
        check(reader, 30, true);
    }

    #[test]
    fn the_longest_idle_connection_makes_room() {
        let clock = TimeoutClock::new();
        let (old, busy) = (clock.watch(PATIENCE), clock.watch(PATIENCE));
        let _request = busy.begin(false);
        clock.tick_at(1);
        let young = clock.watch(PATIENCE);
        assert!(clock.close_longest_idle());
        assert_eq!(
            (old.command.get(), young.command.get()),
            (ConnectionCommand::Close, ConnectionCommand::Serve)
        );
        assert!(clock.close_longest_idle() && !clock.close_longest_idle());
    }

    #[test]
    fn a_stream_is_closed_for_its_own_silence_and_makes_no_room_for_connections() {
        let clock = TimeoutClock::new();
        let connection = clock.watch(PATIENCE);
        let _request = connection.begin(true);
        let stream = clock.watch_stream(&connection);
        stream.alive();
        assert!(!clock.close_longest_idle());
        clock.tick_at(60);
        assert_eq!(
            (stream.command.get(), connection.command.get()),
            (ConnectionCommand::Close, ConnectionCommand::Serve)
        );
    }
}

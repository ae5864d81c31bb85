//! Connection timeouts by one coarse clock per worker, without timers per request.
//!
//! Each connection is in one phase and has a deadline in whole seconds; once a second the worker looks at all of them. A
//! request thereby sets no timer: it writes one number.
//!
//! **Invariant:** a connection without a request in flight has a deadline.

use super::head_error::HeadError;
use super::unread::{Http2Stream, StreamTask, StreamedAnswer, UnreadBytes, UnreadLimits};
use super::websocket_terms::WebSocketTerms;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Waker};
use std::time::Instant;
use weir_engine::unread::UnreadCount;

/// Timeouts of all phases, in seconds, and limits of unread bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    pub(crate) head_s: u32,
    pub(crate) body_s: u32,
    pub(crate) idle_s: u32,
    pub(crate) write_s: u32,
    pub(crate) unread: UnreadLimits,
}

/// Timeout for the rest of a request that was answered early, in seconds.
const LINGER_S: u32 = 2;

/// Phase of a connection: the event it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionPhase {
    /// First byte of a request.
    Idle,
    /// Rest of a head.
    Head,
    /// The engine, or the client reading an answer.
    InFlight,
}

/// Command to the connection's task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionCommand {
    /// Continue.
    Serve,
    /// Finish requests in flight, accept no new ones.
    Drain,
    /// Close now.
    Close,
}

/// One connection, shared by its socket, its requests and the clock.
#[derive(Debug)]
pub(crate) struct ConnectionState {
    phase: Cell<ConnectionPhase>,
    in_flight: Cell<u32>,
    /// True for HTTP/2.
    multiplexed: Cell<bool>,
    /// For a WebSocket over HTTP/2: the connection of its stream.
    connection: Option<Rc<ConnectionState>>,
    /// Number of WebSockets among the requests in flight.
    sockets: Cell<u32>,
    since_s: Cell<u32>,
    /// Deadline in seconds of the clock; `u32::MAX` for none.
    deadline_s: Cell<u32>,
    body_deadline_s: Cell<u32>,
    write_deadline_s: Cell<u32>,
    command: Cell<ConnectionCommand>,
    /// Error of the head that was replaced by [`super::head_guard::STAND_IN`].
    flaw: Cell<Option<HeadError>>,
    /// Terms of the WebSocket that was granted, until the task takes them.
    terms: RefCell<Option<WebSocketTerms>>,
    waker: RefCell<Option<Waker>>,
    now_s: Rc<Cell<u32>>,
    patience: Timeouts,
    /// Unread bytes; streams share the counter of their connection.
    held: Rc<UnreadBytes>,
    /// HTTP/2 streams with an answer in flight.
    streams: RefCell<Vec<Rc<Http2Stream>>>,
}

/// A request without a complete answer. Dropping it ends the phase.
#[derive(Debug)]
pub(crate) struct InFlight {
    watched: Rc<ConnectionState>,
    /// Bytes of a whole answer that wait in the server.
    held: u64,
    /// Counter of a streamed answer's unread bytes.
    parts: Option<Rc<StreamedAnswer>>,
    /// Stream of the answer over HTTP/2.
    stream: Option<Rc<Http2Stream>>,
}

/// A WebSocket over HTTP/2. Dropping it ends the phase.
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
    /// Starts an answer that holds `bytes` until they are written or dropped.
    pub(crate) fn begin_answer(&mut self, bytes: u64) {
        self.held = bytes;
        self.watched.held.add(bytes);
        self.begin();
    }
    /// Starts a streamed answer, whose unread bytes `counts` holds until it is dropped.
    pub(crate) fn answers_in_parts(&mut self, counts: Box<[UnreadCount]>) {
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
    /// Records that `bytes` of the answer left the server.
    pub(crate) fn note_written(&mut self, bytes: u64) {
        let bytes = bytes.min(self.held);
        self.held -= bytes;
        self.watched.held.free(bytes);
    }
    /// Sets whether the stream waits for the client to read, or for its source.
    pub(crate) fn await_reader(&self, waiting: bool) {
        if let Some(stream) = &self.stream {
            stream.await_reader(if waiting { self.watched.until_written_s() } else { u32::MAX });
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.note_written(self.held);
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
    /// Records received bytes. Only the first ones start the phase of a head, so slow bytes do not extend it. On HTTP/2, pings and window
    /// updates start nothing.
    pub(crate) fn note_received(&self) {
        if self.phase.get() == ConnectionPhase::Idle && !self.multiplexed.get() {
            self.enter(ConnectionPhase::Head, self.patience.head_s);
        }
    }
    /// Starts a request after a complete head.
    pub(crate) fn begin(self: &Rc<Self>, multiplexed: bool) -> InFlight {
        self.in_flight.set(self.in_flight.get() + 1);
        self.multiplexed.set(multiplexed);
        self.enter(ConnectionPhase::InFlight, 0);
        self.deadline_s.set(u32::MAX);
        InFlight { watched: Rc::clone(self), held: 0, parts: None, stream: None }
    }
    /// Sets whether a body is awaited.
    pub(crate) fn await_body(&self, waiting: bool) {
        let until_s = if waiting { self.now_s.get().saturating_add(self.patience.body_s) } else { u32::MAX };
        self.body_deadline_s.set(until_s);
    }
    /// Sets whether the connection waits for the client to read.
    pub(crate) fn await_reader(&self, waiting: bool) {
        if !waiting {
            self.write_deadline_s.set(u32::MAX);
        } else if self.write_deadline_s.get() == u32::MAX {
            self.write_deadline_s.set(self.until_written_s());
        }
    }
    /// Deadline of a client that reads nothing from now on.
    fn until_written_s(&self) -> u32 {
        self.now_s.get().saturating_add(self.patience.write_s)
    }
    /// True if an answer of `bytes` may wait for the client to read it.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        self.held.has_room(bytes, self.patience.unread)
    }
    /// Waits briefly for the client to read the last answer.
    pub(crate) fn linger(&self) {
        self.enter(ConnectionPhase::Idle, LINGER_S);
    }
    /// Records a head that must be refused.
    pub(crate) fn refuse(&self, flaw: HeadError) {
        self.flaw.set(Some(flaw));
    }
    /// Error of the last head.
    pub(crate) fn head_error(&self) -> Option<HeadError> {
        self.flaw.get()
    }
    /// Sets the terms of a WebSocket that starts after the current answer.
    pub(crate) fn agree(&self, terms: WebSocketTerms) {
        self.terms.replace(Some(terms));
    }
    /// Takes the terms of the granted WebSocket.
    pub(crate) fn take_terms(&self) -> Option<WebSocketTerms> {
        self.terms.take()
    }
    /// Records a sign of life of a WebSocket's client.
    pub(crate) fn alive(&self) {
        self.enter(ConnectionPhase::Idle, self.patience.idle_s);
        if let Some(connection) = &self.connection {
            connection.since_s.set(self.now_s.get());
        }
    }
    /// Marks an HTTP/2 stream as a WebSocket until the returned guard is dropped.
    pub(crate) fn begin_socket(self: &Rc<Self>) -> SocketInFlight {
        self.sockets.set(self.sockets.get() + 1);
        SocketInFlight { _request: self.begin(true), watched: Rc::clone(self) }
    }
    /// Ends the WebSocket of a stream. `task` gets the write timeout to send the rest, unless the clock closed the socket.
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
    /// Idle timeout, in seconds.
    pub(crate) fn idle_s(&self) -> u32 {
        self.patience.idle_s
    }
    /// Current second of the worker's clock.
    pub(crate) fn now_s(&self) -> u32 {
        self.now_s.get()
    }
    /// Returns the current command, and wakes the task when it changes.
    pub(crate) fn command(&self, cx: &Context<'_>) -> ConnectionCommand {
        let mut waker = self.waker.borrow_mut();
        if !waker.as_ref().is_some_and(|it| it.will_wake(cx.waker())) {
            *waker = Some(cx.waker().clone());
        }
        self.command.get()
    }
    /// Sets a command and wakes the task. Closing is final.
    pub(crate) fn set_command(&self, command: ConnectionCommand) {
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
    /// Unread bytes of all connections.
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
    /// Adds a connection.
    pub(crate) fn watch(&self, patience: Timeouts) -> Rc<ConnectionState> {
        self.watch_as(patience, None)
    }
    /// Adds a WebSocket in an HTTP/2 stream of `connection`, with the same timeouts.
    pub(crate) fn watch_stream(&self, connection: &Rc<ConnectionState>) -> Rc<ConnectionState> {
        self.watch_as(connection.patience, Some(Rc::clone(connection)))
    }
    fn watch_as(&self, patience: Timeouts, connection: Option<Rc<ConnectionState>>) -> Rc<ConnectionState> {
        let own = || Rc::new(UnreadBytes::for_connection(&self.held));
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
    /// Removes ended connections and closes those past their deadline. Called about once a second.
    pub(crate) fn tick(&self) {
        self.tick_at(u32::try_from(self.started.elapsed().as_secs()).unwrap_or(u32::MAX - 1));
    }
    fn tick_at(&self, now_s: u32) {
        self.now_s.set(now_s);
        let mut watched = self.watched.borrow_mut();
        watched.retain(|it| Rc::strong_count(it) > 1);
        for it in watched.iter() {
            if it.is_over(now_s) {
                it.set_command(ConnectionCommand::Close);
            }
            it.streams.borrow_mut().retain(|stream| stream.is_running());
            it.streams.borrow().iter().for_each(|stream| stream.tick(now_s));
        }
    }
    /// Sends a command to all connections.
    pub(crate) fn tell_all(&self, command: ConnectionCommand) {
        for it in self.watched.borrow().iter() {
            it.set_command(command);
        }
    }
    /// Closes the longest idle connection to make room; false if none is idle.
    pub(crate) fn close_longest_idle(&self) -> bool {
        let mut watched = self.watched.borrow_mut();
        watched.retain(|it| Rc::strong_count(it) > 1);
        let is_idle =
            |it: &ConnectionState| it.in_flight.get() == it.sockets.get() && it.connection.is_none();
        let idle = watched.iter().enumerate().filter(|(_, it)| is_idle(it));
        let Some(place) = idle.min_by_key(|(_, it)| it.since_s.get()).map(|it| it.0) else { return false };
        watched.swap_remove(place).set_command(ConnectionCommand::Close);
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
            it.note_received();
            clock.tick_at(5);
            it.note_received();
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
            it.note_received();
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
        let old = clock.watch(PATIENCE);
        let busy = clock.watch(PATIENCE);
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

//! Bytes of answers that clients have not read, and deadlines of HTTP/2 streams.
//!
//! Over HTTP/1.1 an unread answer blocks the socket, which the clock sees. Over HTTP/2 a client may give one stream no window while the
//! connection goes on: hyper then asks the answer for nothing. So each stream is a task that the clock can end, which resets the stream.
//!
//! **Invariant:** a stream whose client takes nothing for `write_s` is reset, and what its answer held is freed.
//! **Cost:** two additions to counters of the thread for each answer; over HTTP/2 one small allocation.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Poll, Waker};
use weir_engine::unread::{self, UnreadCount};

/// Minimum number of bytes that a streamed answer counts for: its buffered parts once the client stops reading.
pub(crate) const STREAM_BYTES: u64 = 768 * 1024;

/// Number of streamed answers in flight in this process.
static IN_PARTS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Task being polled by [`LocalExecutor`], if any.
    static CURRENT: RefCell<Option<Rc<StreamTask>>> = const { RefCell::new(None) };
}

/// Spawns hyper's helper tasks, one per HTTP/2 stream, on the local thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalExecutor;

impl<F: Future + 'static> hyper::rt::Executor<F> for LocalExecutor {
    fn execute(&self, task: F) {
        let own = Rc::new(StreamTask::default());
        CURRENT.with_borrow(|parent| {
            if let Some(parent) = parent {
                parent.child.replace(Some(Rc::clone(&own)));
            }
        });
        tokio::task::spawn_local(async move {
            let mut task = pin!(task);
            poll_fn(|cx| {
                if own.is_over.get() {
                    return Poll::Ready(());
                }
                own.waker.borrow_mut().get_or_insert_with(|| cx.waker().clone()).clone_from(cx.waker());
                let outer = CURRENT.replace(Some(Rc::clone(&own)));
                let polled = task.as_mut().poll(cx).map(|_| ());
                CURRENT.set(outer);
                polled
            })
            .await;
        });
    }
}

/// A task of [`LocalExecutor`]. Ending it drops its stream, which resets it for the client.
#[derive(Debug, Default)]
pub(crate) struct StreamTask {
    is_over: Cell<bool>,
    waker: RefCell<Option<Waker>>,
    /// The last task that it spawned: the writer of a WebSocket.
    child: RefCell<Option<Rc<StreamTask>>>,
}

impl StreamTask {
    /// The task being polled.
    pub(crate) fn current() -> Option<Rc<Self>> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Takes the task that it spawned.
    pub(crate) fn take_child(&self) -> Option<Rc<Self>> {
        self.child.take()
    }

    /// Ends the task, if it is still running.
    pub(crate) fn end(&self) {
        self.is_over.set(true);
        if let Some(waker) = self.waker.borrow_mut().take() {
            waker.wake();
        }
    }
}

/// An HTTP/2 stream with an answer in flight.
#[derive(Debug)]
pub(crate) struct Http2Stream {
    task: Rc<StreamTask>,
    /// Deadline in seconds of the clock; `u32::MAX` while the answer waits for its source.
    deadline_s: Cell<u32>,
}

impl Http2Stream {
    /// State of the stream served by `task`.
    pub(crate) fn new(task: Rc<StreamTask>) -> Rc<Self> {
        Rc::new(Self { task, deadline_s: Cell::new(u32::MAX) })
    }

    /// Sets the deadline for the client to read the next bytes.
    pub(crate) fn await_reader(&self, deadline_s: u32) {
        self.deadline_s.set(deadline_s);
    }

    /// True while its task is running.
    pub(crate) fn is_running(&self) -> bool {
        Rc::strong_count(&self.task) > 1
    }

    /// Ends the stream after its deadline.
    pub(crate) fn tick(&self, now_s: u32) {
        if self.deadline_s.get() <= now_s {
            self.task.end();
        }
    }
}

/// Parts of a streamed answer that wait in the server.
#[derive(Debug)]
pub(crate) struct StreamedAnswer(Box<[UnreadCount]>);

impl StreamedAnswer {
    fn bytes(&self) -> u64 {
        self.0.iter().map(UnreadCount::bytes).sum()
    }
}

impl Drop for StreamedAnswer {
    fn drop(&mut self) {
        IN_PARTS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Unread bytes of answers: of one connection, and of all connections of this thread.
#[derive(Debug, Default)]
pub(crate) struct UnreadBytes {
    /// Unread bytes of this connection's whole answers.
    own: Cell<u64>,
    /// Unread bytes of whole answers of all connections on this thread.
    of_thread: Rc<Cell<u64>>,
    parts: RefCell<Vec<Rc<StreamedAnswer>>>,
}

impl UnreadBytes {
    /// Counter for one more connection of the thread.
    pub(crate) fn for_connection(of_thread: &Rc<Cell<u64>>) -> Self {
        Self { of_thread: Rc::clone(of_thread), ..Self::default() }
    }

    /// Adds `bytes`.
    pub(crate) fn add(&self, bytes: u64) {
        self.own.set(self.own.get() + bytes);
        self.of_thread.set(self.of_thread.get() + bytes);
    }

    /// Subtracts `bytes`.
    pub(crate) fn free(&self, bytes: u64) {
        self.own.set(self.own.get().saturating_sub(bytes));
        self.of_thread.set(self.of_thread.get().saturating_sub(bytes));
    }

    /// Adds a streamed answer, whose buffered bytes `counts` holds, until [`Self::free_parts`].
    pub(crate) fn add_parts(&self, counts: Box<[UnreadCount]>) -> Rc<StreamedAnswer> {
        IN_PARTS.fetch_add(1, Ordering::Relaxed);
        let parts = Rc::new(StreamedAnswer(counts));
        self.parts.borrow_mut().push(Rc::clone(&parts));
        parts
    }

    /// Removes a streamed answer.
    pub(crate) fn free_parts(&self, parts: &Rc<StreamedAnswer>) {
        self.parts.borrow_mut().retain(|it| !Rc::ptr_eq(it, parts));
    }

    /// True if `bytes` more stay within the limits of the connection and of the process.
    pub(crate) fn has_room(&self, bytes: u64, bounds: UnreadLimits) -> bool {
        let parts = self.parts.borrow();
        let own = in_parts(parts.iter().map(|it| it.bytes()).sum(), parts.len() as u64);
        let all = in_parts(unread::in_process(), IN_PARTS.load(Ordering::Relaxed));
        self.fits(bytes, StreamedBytes { own, all }, bounds)
    }

    fn fits(&self, bytes: u64, streamed: StreamedBytes, bounds: UnreadLimits) -> bool {
        let StreamedBytes { own, all } = streamed;
        let whole = self.of_thread.get().saturating_mul(bounds.threads);
        self.own.get() + own + bytes <= bounds.connection
            && whole.saturating_add(all + bytes) <= bounds.process
    }
}

/// Unread bytes of streamed answers.
#[derive(Clone, Copy)]
struct StreamedBytes {
    /// On the connection.
    own: u64,
    /// In the process.
    all: u64,
}

/// Bytes that `answers` streamed answers count for while `bytes` of them wait.
fn in_parts(bytes: u64, answers: u64) -> u64 {
    bytes.max(answers * STREAM_BYTES)
}

/// Limits on bytes of unread answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnreadLimits {
    pub(crate) connection: u64,
    pub(crate) process: u64,
    /// Number of threads. Each is assumed to hold as many bytes of whole answers as the current one.
    pub(crate) threads: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(own: u64, others: u64, (parts, all): (u64, u64), bytes: u64, expected: bool) {
        let of_thread = Rc::new(Cell::new(others));
        let held = UnreadBytes::for_connection(&of_thread);
        held.add(own);
        let bounds = UnreadLimits { connection: 100, process: 1000, threads: 2 };
        assert_eq!(held.fits(bytes, StreamedBytes { own: parts, all }, bounds), expected);
        held.free(own);
        assert_eq!(of_thread.get(), others);
    }

    #[test]
    fn a_connection_and_the_process_have_bounds_of_their_own() {
        check(0, 0, (0, 0), 100, true);
        check(60, 0, (0, 0), 41, false);
        check(60, 420, (0, 0), 40, true);
        check(60, 421, (0, 0), 40, false);
        check(20, 0, (40, 40), 40, true);
        check(20, 0, (40, 40), 41, false);
        check(0, 100, (0, 760), 40, true);
        check(0, 100, (0, 761), 40, false);
    }

    #[test]
    fn an_answer_in_parts_counts_by_what_waits_of_it_and_not_less_than_is_usual() {
        let held = UnreadBytes::default();
        let bounds = UnreadLimits { connection: 4 * STREAM_BYTES, process: u64::MAX, threads: 1 };
        let count = UnreadCount::default();
        let parts = held.add_parts([count.clone()].into());
        assert!(held.has_room(3 * STREAM_BYTES, bounds) && !held.has_room(3 * STREAM_BYTES + 1, bounds));
        count.add(2 * STREAM_BYTES as usize);
        assert!(held.has_room(2 * STREAM_BYTES, bounds) && !held.has_room(2 * STREAM_BYTES + 1, bounds));
        held.free_parts(&parts);
        assert!(held.has_room(4 * STREAM_BYTES, bounds));
    }
}

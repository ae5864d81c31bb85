//! Answers that clients have not read: how many bytes wait in the server, and for how long a stream of HTTP/2 may wait.
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
use weir_engine::unread::{self, Waiting};

/// Minimum bytes that a streamed answer counts as: its parts that wait once the client stops reading.
pub(crate) const STREAM_BYTES: u64 = 768 * 1024;

/// Answers in parts on their way, in the process.
static IN_PARTS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The task that is being polled, if it is one of [`LocalExecutor`].
    static CURRENT: RefCell<Option<Rc<StreamTask>>> = const { RefCell::new(None) };
}

/// Runs hyper's helper tasks, which are the streams of HTTP/2, beside the connection.
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

/// A task of [`LocalExecutor`]. Ending it drops the stream it serves, which tells the client.
#[derive(Debug, Default)]
pub(crate) struct StreamTask {
    is_over: Cell<bool>,
    waker: RefCell<Option<Waker>>,
    /// The last task that it had run beside itself: the one that sends what a WebSocket says.
    child: RefCell<Option<Rc<StreamTask>>>,
}

impl StreamTask {
    /// The task that is being polled.
    pub(crate) fn current() -> Option<Rc<Self>> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Takes the task that it had run beside itself.
    pub(crate) fn take_child(&self) -> Option<Rc<Self>> {
        self.child.take()
    }

    /// Ends the task, if it goes on.
    pub(crate) fn end(&self) {
        self.is_over.set(true);
        if let Some(waker) = self.waker.borrow_mut().take() {
            waker.wake();
        }
    }
}

/// A stream of HTTP/2 whose answer is on its way.
#[derive(Debug)]
pub(crate) struct Http2Stream {
    task: Rc<StreamTask>,
    /// Seconds of the clock; `u32::MAX` while the answer waits for its source.
    deadline_s: Cell<u32>,
}

impl Http2Stream {
    /// The stream that `task` serves.
    pub(crate) fn new(task: Rc<StreamTask>) -> Rc<Self> {
        Rc::new(Self { task, deadline_s: Cell::new(u32::MAX) })
    }

    /// The client has until `deadline_s` to take the next bytes.
    pub(crate) fn await_reader(&self, deadline_s: u32) {
        self.deadline_s.set(deadline_s);
    }

    /// True while its task goes on.
    pub(crate) fn goes_on(&self) -> bool {
        Rc::strong_count(&self.task) > 1
    }

    /// Ends the stream if its time is over.
    pub(crate) fn tick(&self, now_s: u32) {
        if self.deadline_s.get() <= now_s {
            self.task.end();
        }
    }
}

/// The parts of an answer that wait in the server.
#[derive(Debug)]
pub(crate) struct StreamedAnswer(Box<[Waiting]>);

impl StreamedAnswer {
    fn bytes(&self) -> u64 {
        self.0.iter().map(Waiting::bytes).sum()
    }
}

impl Drop for StreamedAnswer {
    fn drop(&mut self) {
        IN_PARTS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Bytes of answers that wait in the server: of one connection, and of all on this thread.
#[derive(Debug, Default)]
pub(crate) struct UnreadBytes {
    /// Of answers that are whole.
    own: Cell<u64>,
    /// The same.
    of_thread: Rc<Cell<u64>>,
    parts: RefCell<Vec<Rc<StreamedAnswer>>>,
}

impl UnreadBytes {
    /// Counts for one more connection of the thread.
    pub(crate) fn beside(of_thread: &Rc<Cell<u64>>) -> Self {
        Self { of_thread: Rc::clone(of_thread), ..Self::default() }
    }

    /// Adds `bytes`.
    pub(crate) fn add(&self, bytes: u64) {
        self.own.set(self.own.get() + bytes);
        self.of_thread.set(self.of_thread.get() + bytes);
    }

    /// Takes `bytes` off again.
    pub(crate) fn free(&self, bytes: u64) {
        self.own.set(self.own.get().saturating_sub(bytes));
        self.of_thread.set(self.of_thread.get().saturating_sub(bytes));
    }

    /// Adds an answer whose parts are counted by `counts`, as long as it is not taken off.
    pub(crate) fn add_parts(&self, counts: Box<[Waiting]>) -> Rc<StreamedAnswer> {
        IN_PARTS.fetch_add(1, Ordering::Relaxed);
        let parts = Rc::new(StreamedAnswer(counts));
        self.parts.borrow_mut().push(Rc::clone(&parts));
        parts
    }

    /// Takes an answer in parts off again.
    pub(crate) fn free_parts(&self, parts: &Rc<StreamedAnswer>) {
        self.parts.borrow_mut().retain(|it| !Rc::ptr_eq(it, parts));
    }

    /// Says whether `bytes` more stay within the bounds of the connection and of the process.
    pub(crate) fn has_room(&self, bytes: u64, bounds: UnreadLimits) -> bool {
        let parts = self.parts.borrow();
        let own = in_parts(parts.iter().map(|it| it.bytes()).sum(), parts.len() as u64);
        let all = in_parts(unread::in_process(), IN_PARTS.load(Ordering::Relaxed));
        self.fits(bytes, (own, all), bounds)
    }

    fn fits(&self, bytes: u64, (own, all): (u64, u64), bounds: UnreadLimits) -> bool {
        let whole = self.of_thread.get().saturating_mul(bounds.threads);
        self.own.get() + own + bytes <= bounds.connection
            && whole.saturating_add(all + bytes) <= bounds.process
    }
}

/// Bytes that `answers` streamed answers count as while `bytes` of them wait.
fn in_parts(bytes: u64, answers: u64) -> u64 {
    bytes.max(answers * STREAM_BYTES)
}

/// Limits on bytes of unread answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnreadLimits {
    pub(crate) connection: u64,
    pub(crate) process: u64,
    /// Each thread is taken for holding as many answers that are whole as the one that asks.
    pub(crate) threads: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(own: u64, others: u64, (parts, all): (u64, u64), bytes: u64, expected: bool) {
        let of_thread = Rc::new(Cell::new(others));
        let held = UnreadBytes::beside(&of_thread);
        held.add(own);
        let bounds = UnreadLimits { connection: 100, process: 1000, threads: 2 };
        assert_eq!(held.fits(bytes, (parts, all), bounds), expected);
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
        let count = Waiting::default();
        let parts = held.add_parts([count.clone()].into());
        assert!(held.has_room(3 * STREAM_BYTES, bounds) && !held.has_room(3 * STREAM_BYTES + 1, bounds));
        count.add(2 * STREAM_BYTES as usize);
        assert!(held.has_room(2 * STREAM_BYTES, bounds) && !held.has_room(2 * STREAM_BYTES + 1, bounds));
        held.free_parts(&parts);
        assert!(held.has_room(4 * STREAM_BYTES, bounds));
    }
}

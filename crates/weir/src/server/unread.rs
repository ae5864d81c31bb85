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
use std::task::{Poll, Waker};

/// Bytes that an answer which leaves in parts may hold while its client does not read: what the channels on its way take.
pub(crate) const STREAM_BYTES: u64 = 4 * 1024 * 1024;

thread_local! {
    /// The task that is being polled, if it is one of [`OnThisThread`].
    static CURRENT: RefCell<Option<Rc<Task>>> = const { RefCell::new(None) };
}

/// Runs hyper's helper tasks, which are the streams of HTTP/2, beside the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnThisThread;

impl<F: Future + 'static> hyper::rt::Executor<F> for OnThisThread {
    fn execute(&self, task: F) {
        let own = Rc::new(Task::default());
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

/// A task of [`OnThisThread`]. Ending it drops the stream it serves, which tells the client.
#[derive(Debug, Default)]
pub(crate) struct Task {
    is_over: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Task {
    /// The task that is being polled.
    pub(crate) fn current() -> Option<Rc<Self>> {
        CURRENT.with_borrow(Clone::clone)
    }

    fn end(&self) {
        self.is_over.set(true);
        if let Some(waker) = self.waker.borrow_mut().take() {
            waker.wake();
        }
    }
}

/// A stream of HTTP/2 whose answer is on its way.
#[derive(Debug)]
pub(crate) struct Stream {
    task: Rc<Task>,
    /// Seconds of the clock; `u32::MAX` while the answer waits for its source.
    deadline_s: Cell<u32>,
}

impl Stream {
    /// The stream that `task` serves.
    pub(crate) fn new(task: Rc<Task>) -> Rc<Self> {
        Rc::new(Self { task, deadline_s: Cell::new(u32::MAX) })
    }

    /// The client has until `deadline_s` to take the next bytes.
    pub(crate) fn await_reader(&self, deadline_s: u32) {
        self.deadline_s.set(deadline_s);
    }

    /// Ends the stream if its time is over.
    pub(crate) fn tick(&self, now_s: u32) {
        if self.deadline_s.get() <= now_s {
            self.task.end();
        }
    }
}

/// Bytes of answers that wait in the server: of one connection, and of all on this thread.
#[derive(Debug, Default)]
pub(crate) struct Held {
    own: Cell<u64>,
    of_thread: Rc<Cell<u64>>,
}

impl Held {
    /// Counts for one more connection of the thread.
    pub(crate) fn beside(of_thread: &Rc<Cell<u64>>) -> Self {
        Self { own: Cell::new(0), of_thread: Rc::clone(of_thread) }
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

    /// Says whether `bytes` more stay within the bounds of the connection and of the thread.
    pub(crate) fn has_room(&self, bytes: u64, bounds: Bounds) -> bool {
        self.own.get() + bytes <= bounds.connection && self.of_thread.get() + bytes <= bounds.thread
    }
}

/// Bounds on bytes of unread answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) connection: u64,
    pub(crate) thread: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(own: u64, others: u64, bytes: u64, expected: bool) {
        let of_thread = Rc::new(Cell::new(others));
        let held = Held::beside(&of_thread);
        held.add(own);
        assert_eq!(held.has_room(bytes, Bounds { connection: 100, thread: 1000 }), expected);
        held.free(own);
        assert_eq!(of_thread.get(), others);
    }

    #[test]
    fn a_connection_and_the_thread_have_bounds_of_their_own() {
        check(0, 0, 100, true);
        check(60, 0, 41, false);
        check(60, 900, 40, true);
        check(60, 901, 40, false);
    }
}

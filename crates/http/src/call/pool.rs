//! Connections that wait for their next question.
//!
//! They lie on shelves, one per thread as far as those go, so that threads do not wait for each other's locks. Each is taken
//! only by the runtime that opened it: bytes come through that runtime's poller, and when it ends the connection is dead.
//!
//! **Invariant:** a shelf is locked for a push or a search, never while anything is awaited.
//!
//! **Cost:** the youngest connection of a shelf is taken first, which nearly always is the right one.

use super::connection::{Http1, Http2};
use std::cell::Cell;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::{Handle, Id};
use tokio::time::Instant;

/// Number of shelves; more threads share them.
const SHELVES: usize = 32;

/// Maximum idle time of a connection. Shorter than servers commonly allow, so that few are found closed.
const WAITING_TIME_MAX: Duration = Duration::from_secs(15);

/// The connections to one service that have nothing to do.
pub(super) struct Pool {
    shelves: [Mutex<Shelf>; SHELVES],
    /// Maximum number of idle connections per shelf: the limit of calls in flight. With fewer, each wave of calls would open
    /// new ones.
    waiting_max: usize,
}

#[derive(Default)]
struct Shelf {
    /// The oldest first.
    waiting: VecDeque<Waiting>,
    /// At most one per runtime and address.
    shared: Vec<(Id, Http2)>,
}

struct Waiting {
    runtime: Id,
    since: Instant,
    connection: Http1,
}

impl Pool {
    pub(super) fn new(waiting_max: usize) -> Self {
        Self { shelves: std::array::from_fn(|_| Mutex::default()), waiting_max }
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        thread_local!(static OWN: Cell<usize> = Cell::new(NEXT.fetch_add(1, Ordering::Relaxed) % SHELVES));
        self.shelves[OWN.get()].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection of this runtime's to `address` that was not seen to be closed and is not too old.
    pub(super) fn take(&self, address: SocketAddr) -> Option<Http1> {
        let (runtime, now) = (Handle::current().id(), Instant::now());
        let mut shelf = self.shelf();
        let fits = |it: &Waiting| it.runtime == runtime && it.connection.opened.address() == address;
        while let Some(at) = shelf.waiting.iter().rposition(fits) {
            let found = shelf.waiting.remove(at).map(|it| it.connection);
            if found.as_ref().is_none_or(|it| !it.opened.is_over(now)) {
                return found;
            }
        }
        None
    }

    /// Keeps `connection` for this runtime's next question.
    pub(super) fn put(&self, connection: Http1) {
        let since = Instant::now();
        if connection.opened.is_over(since) {
            return;
        }
        let mut shelf = self.shelf();
        shelf.waiting.push_back(Waiting { runtime: Handle::current().id(), since, connection });
        let is_over = |it: &Waiting| since.duration_since(it.since) > WAITING_TIME_MAX;
        while shelf.waiting.len() > self.waiting_max || shelf.waiting.front().is_some_and(is_over) {
            shelf.waiting.pop_front();
        }
    }

    /// The connection to `address` that this runtime's questions share.
    pub(super) fn shared(&self, address: SocketAddr) -> Option<Http2> {
        let (runtime, now) = (Handle::current().id(), Instant::now());
        let mut shelf = self.shelf();
        // One that is too old brings what it has begun to its end.
        shelf.shared.retain(|(_, it)| it.is_open() && !it.opened.is_over(now));
        let found = shelf.shared.iter().find(|it| it.0 == runtime && it.1.opened.address() == address);
        found.map(|it| it.1.clone())
    }

    /// Lets this runtime's next questions share `connection`, and no other to its address.
    pub(super) fn share(&self, connection: Http2) {
        let runtime = Handle::current().id();
        let mut shelf = self.shelf();
        let address = connection.opened.address();
        shelf.shared.retain(|it| it.0 != runtime || it.1.opened.address() != address);
        if !connection.opened.is_over(Instant::now()) {
            shelf.shared.push((runtime, connection));
        }
    }

    /// Lets nobody share this runtime's connection to `address` any more: it may lead nowhere.
    pub(super) fn retire(&self, address: SocketAddr) {
        let runtime = Handle::current().id();
        self.shelf().shared.retain(|it| it.0 != runtime || it.1.opened.address() != address);
    }
}

//! Pool of idle and shared connections.
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

/// Number of shelves; threads beyond it share them.
const SHELVES: usize = 32;

/// Maximum idle time of a connection. It is shorter than usual server timeouts, so few connections are found closed.
const WAITING_TIME_MAX: Duration = Duration::from_secs(15);

/// Idle connections to one service.
pub(super) struct Pool {
    shelves: [Mutex<Shelf>; SHELVES],
    /// Maximum number of idle connections per shelf. It equals the limit of calls in flight; with fewer, each burst of calls would open
    /// new connections.
    waiting_max: usize,
}

#[derive(Default)]
struct Shelf {
    /// Idle connections, oldest first.
    waiting: VecDeque<Waiting>,
    /// HTTP/2 connections, at most one per runtime and address.
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

    /// Takes an idle connection of this runtime to `address` that is neither closed nor too old.
    pub(super) fn take(&self, address: SocketAddr) -> Option<Http1> {
        let runtime = Handle::current().id();
        let now = Instant::now();
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

    /// Returns `connection` to the pool for this runtime.
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

    /// The HTTP/2 connection to `address` that this runtime shares.
    pub(super) fn shared_http2(&self, address: SocketAddr) -> Option<Http2> {
        let runtime = Handle::current().id();
        let now = Instant::now();
        let mut shelf = self.shelf();
        // A connection beyond its age finishes the requests it has, but gets no new ones.
        shelf.shared.retain(|(_, it)| it.is_open() && !it.opened.is_over(now));
        let found = shelf.shared.iter().find(|it| it.0 == runtime && it.1.opened.address() == address);
        found.map(|it| it.1.clone())
    }

    /// Shares `connection` with later requests of this runtime, in place of any other to its address.
    pub(super) fn share(&self, connection: Http2) {
        let runtime = Handle::current().id();
        let mut shelf = self.shelf();
        let address = connection.opened.address();
        shelf.shared.retain(|it| it.0 != runtime || it.1.opened.address() != address);
        if !connection.opened.is_over(Instant::now()) {
            shelf.shared.push((runtime, connection));
        }
    }

    /// Stops sharing this runtime's connection to `address`, which may be dead.
    pub(super) fn retire(&self, address: SocketAddr) {
        let runtime = Handle::current().id();
        self.shelf().shared.retain(|it| it.0 != runtime || it.1.opened.address() != address);
    }
}

//! A subscriber's end of a live query: the newest result it was not given yet.
//!
//! **Invariant:** a slow subscriber finds the newest result, never a queue, and no result twice in a row.

use super::LiveShared;
use super::registry::MemberId;
use bytes::Bytes;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Reason why an operation was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Its first subscriber came.
    First,
    /// Data that it depends on was changed in this process, or a feed told so.
    Change,
    /// The interval of a source that does not tell was over.
    Poll,
    /// The lifetime of the last result was over.
    Expiry,
}

/// A result of a live query.
#[derive(Debug)]
pub struct LiveResult {
    /// The JSON of the response.
    pub body: Bytes,
    /// True if it has errors.
    pub has_errors: bool,
    /// Reason of the read.
    pub cause: Cause,
    /// When the reason arose.
    pub due: Instant,
    /// Time from then to the result.
    pub took: Duration,
}

/// The newest result of a member; `None` before the first.
pub(super) type Newest = Option<Arc<LiveResult>>;

/// One subscription; dropped, it ends.
pub struct Subscription {
    id: MemberId,
    newest: watch::Receiver<Newest>,
    /// The result that was given last.
    last: Newest,
    shared: Arc<LiveShared>,
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Subscription {
    pub(super) fn new(id: MemberId, newest: watch::Receiver<Newest>, shared: Arc<LiveShared>) -> Self {
        Self { id, newest, last: None, shared }
    }

    /// This subscription in place of `before`: it does not repeat the result that `before` gave last.
    #[must_use]
    pub fn after(mut self, before: &Self) -> Self {
        self.last.clone_from(&before.last);
        self
    }

    /// The next result that differs from the last one; `None` once the engine is gone. Cancelled, it loses nothing.
    pub async fn next(&mut self) -> Option<Arc<LiveResult>> {
        loop {
            let newest = self.newest.borrow_and_update().clone();
            if let Some(newest) = newest
                && self.last.as_ref().is_none_or(|last| last.body != newest.body)
            {
                self.last = Some(Arc::clone(&newest));
                return Some(newest);
            }
            self.newest.changed().await.ok()?;
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.shared.registry().leave(self.id);
    }
}

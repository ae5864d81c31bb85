//! A subscriber's end of a live query or a stream: the newest result it was not given yet.
//!
//! **Invariant:** a slow subscriber of a live query finds the newest result, never a queue, and no result twice in a row. That of a stream
//! finds each batch: the next one is read when it asks for more. Of databases no subscriber is given a result that was read before it came.

use super::LiveShared;
use super::event_subscription::EventSubscription;
use super::live_result::{JoinedMember, LiveResult, MemberId, Newest};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::watch;

/// One subscription; dropped, it ends.
pub struct Subscription(SubscriptionKind);

enum SubscriptionKind {
    /// A live query: the operation is read when its data changes.
    Reads(ReadSubscription),
    /// An event subscription: the operation runs once per event of its source.
    Events(EventSubscription),
}

impl Subscription {
    /// A subscription whose operation is read; `before`: the one in whose place it stands.
    pub(super) fn of_reads(
        joined: JoinedMember,
        is_stream: bool,
        before: Option<&Self>,
        shared: Arc<LiveShared>,
    ) -> Self {
        let before = before.and_then(Self::reads);
        Self(SubscriptionKind::Reads(ReadSubscription::new(joined, is_stream, before, shared)))
    }

    /// A subscription to events.
    pub(super) fn of_events(events: EventSubscription) -> Self {
        Self(SubscriptionKind::Events(events))
    }

    fn reads(&self) -> Option<&ReadSubscription> {
        match &self.0 {
            SubscriptionKind::Reads(reads) => Some(reads),
            SubscriptionKind::Events(_) => None,
        }
    }

    /// The position of a stream behind the rows that were given.
    pub(super) fn position(&self) -> Option<Arc<str>> {
        self.reads().and_then(ReadSubscription::position)
    }

    /// The next result: of a live query one that differs from the last, of a stream the next batch, of events that of the next. `None`
    /// once the engine is gone, or the events have ended. Cancelled, it loses nothing.
    pub async fn next(&mut self) -> Option<Arc<LiveResult>> {
        match &mut self.0 {
            SubscriptionKind::Reads(reads) => reads.next().await,
            SubscriptionKind::Events(events) => events.next().await,
        }
    }

    /// True once its events have ended, or its last result was given: there is no other one.
    pub fn has_ended(&self) -> bool {
        match &self.0 {
            SubscriptionKind::Reads(reads) => reads.has_ended,
            SubscriptionKind::Events(events) => events.has_ended(),
        }
    }
}

/// A subscription to the results of reads.
struct ReadSubscription {
    id: MemberId,
    newest: watch::Receiver<Newest>,
    /// The first read whose result it is given.
    first_read: u64,
    /// The result that was given last.
    last: Option<Arc<LiveResult>>,
    /// The position of a stream behind the rows that were given.
    position: Option<Arc<str>>,
    is_stream: bool,
    /// True if a batch was delivered and the subscriber has not requested the next.
    is_given: bool,
    /// True if the subscriber asked for more than the last result.
    has_ended: bool,
    shared: Arc<LiveShared>,
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").field("id", &self.reads().map(|it| it.id)).finish_non_exhaustive()
    }
}

impl ReadSubscription {
    /// A subscription; `before`: the one in whose place it stands.
    fn new(
        JoinedMember { id, newest, first_read }: JoinedMember,
        is_stream: bool,
        before: Option<&Self>,
        shared: Arc<LiveShared>,
    ) -> Self {
        let last = before.filter(|_| !is_stream).and_then(|it| it.last.clone());
        let position = before.and_then(Self::position);
        Self { id, newest, first_read, last, position, is_stream, is_given: false, has_ended: false, shared }
    }

    /// The position of a stream behind the rows that were given.
    fn position(&self) -> Option<Arc<str>> {
        self.position.clone()
    }

    /// The next result; `None` once the engine is gone, or there is no other one. Cancelled, it loses nothing.
    async fn next(&mut self) -> Option<Arc<LiveResult>> {
        if std::mem::take(&mut self.is_given)
            && self.shared.registry().request_next_batch(self.id, Instant::now())
        {
            self.shared.wake.notify_one();
        }
        loop {
            let newest = {
                let newest = self.newest.borrow_and_update();
                (newest.read >= self.first_read).then(|| newest.result.clone()).flatten()
            };
            if newest.as_ref().is_some_and(|it| it.is_last && !self.is_news(it)) {
                self.has_ended = true;
                return None;
            }
            if let Some(newest) = newest.filter(|it| self.is_news(it)) {
                self.last = Some(Arc::clone(&newest));
                self.is_given = self.is_stream;
                if newest.position.is_some() {
                    self.position.clone_from(&newest.position);
                }
                return Some(newest);
            }
            self.newest.changed().await.ok()?;
        }
    }

    /// Two batches may be equal, and both are wanted.
    fn is_news(&self, newest: &Arc<LiveResult>) -> bool {
        self.last.as_ref().is_none_or(|last| {
            if self.is_stream { !Arc::ptr_eq(last, newest) } else { last.body != newest.body }
        })
    }
}

impl Drop for ReadSubscription {
    fn drop(&mut self) {
        self.shared.registry().leave(self.id);
    }
}

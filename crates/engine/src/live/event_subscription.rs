//! Subscriptions to events of a source: the operation runs once per event, with the event as its data.
//!
//! **Invariant:** each event has one result, in order; an event that arrives while the previous one is answered waits in the
//! stream. Dropping the future of `next` loses nothing.

use super::LiveShared;
use super::live_result::{Cause, LiveResult};
use super::runner::{LiveRun, execute_operation};
use crate::engine::bound_operation::BoundOperation;
use crate::execute::LiveParts;
use crate::request::request_headers::EnrichedHeaders;
use crate::source::EventStream;
use futures_util::StreamExt;
use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// A result on its way.
type Running = Pin<Box<dyn Future<Output = LiveResult> + Send>>;

/// The events of one subscription.
pub(super) struct EventSubscription {
    events: EventStream,
    operation: BoundOperation,
    running: Option<Running>,
    /// True once the stream has ended.
    has_ended: bool,
    shared: Arc<LiveShared>,
}

impl EventSubscription {
    pub(super) fn new(events: EventStream, operation: BoundOperation, shared: Arc<LiveShared>) -> Self {
        shared.event_streams.fetch_add(1, Ordering::Relaxed);
        Self { events, operation, running: None, has_ended: false, shared }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The result of the next event; `None` once the stream has ended.
    pub(super) async fn next(&mut self) -> Option<Arc<LiveResult>> {
        if self.running.is_none() && !self.has_ended {
            match self.events.next().await {
                Some(data) => {
                    let shared = Arc::clone(&self.shared);
                    let operation = self.operation.clone();
                    self.running = Some(Box::pin(run(shared, operation, data)));
                }
                None => self.has_ended = true,
            }
        }
        let result = self.running.as_mut()?.await;
        self.running = None;
        Some(Arc::new(result))
    }
}

impl Drop for EventSubscription {
    fn drop(&mut self) {
        self.shared.event_streams.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The result of one event.
async fn run(
    shared: Arc<LiveShared>,
    operation: BoundOperation,
    data: Arc<dyn Any + Send + Sync>,
) -> LiveResult {
    let due = Instant::now();
    let headers = EnrichedHeaders::with_data(&operation.headers, data);
    let run = LiveRun { operation: &operation, headers: &headers, stream: None, may_join: false };
    let (body, has_errors) = execute_operation(&shared, run, &mut LiveParts::default()).await;
    let cause = Cause::Event;
    let took = due.elapsed();
    LiveResult { body, has_errors, cause, due, took, position: None, is_last: false }
}

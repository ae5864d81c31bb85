//! Lists whose later items are read while earlier ones are being sent.
//!
//! A batch that arrived waits until the previous one was sent, so a slow client slows its source down.
//!
//! **Invariant:** at most one batch per list waits here, beside the one that is being sent.

use super::ledger::{Ledger, Queue};
use crate::answer::chunk::{Chunk, ItemBatch};
use crate::answer::field_error::SourceError;
use crate::answer::output_plan::PlanNodeId;
use crate::answer::unread::UnreadCount;
use crate::plan::deferral::Deferral;
use crate::source::Chunks;
use std::future::poll_fn;
use std::task::Poll;
use std::time::{Duration, Instant};

/// Longest silence of a source, also after the request's deadline.
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// A list whose later items arrive in batches.
pub(super) struct Flow {
    stream: u8,
    /// The node that has the list as its last member.
    node: PlanNodeId,
    chunks: Chunks,
    /// The batch or the end that is to be sent next.
    arrived: Option<Arrived>,
    /// True if nothing more arrives.
    is_over: bool,
}

/// The next batch of a source, or the end of its list.
enum Arrived {
    Items(ItemBatch),
    /// The list has no more items, or none that can be read.
    End(Option<SourceError>),
}

impl Arrived {
    fn of(chunk: Option<Chunk>) -> Self {
        match chunk {
            Some(Chunk::Items(batch)) if batch.is_last && batch.len == 0 => Self::End(None),
            Some(Chunk::Items(batch)) => Self::Items(batch),
            Some(Chunk::Failed(error)) => Self::end_with_error(error),
            Some(Chunk::Bytes(_) | Chunk::End(_)) => Self::end_with_error(SourceError::Broken(
                "something else than items follows the first items".into(),
            )),
            None => Self::end_with_error(SourceError::Unavailable("a list ended in the middle".into())),
        }
    }

    fn end_with_error(error: SourceError) -> Self {
        error.tell_operator();
        Self::End(Some(error))
    }
}

impl Flow {
    /// The lists that flow from nodes of the root.
    pub(super) fn of(deferral: &Deferral, later_items: Vec<(PlanNodeId, Chunks)>) -> Vec<Self> {
        let flows = later_items.into_iter().filter_map(|(node, chunks)| {
            let stream = deferral.flowing_stream(node.0 as usize)?;
            Some(Self { stream, node, chunks, arrived: None, is_over: false })
        });
        flows.collect()
    }

    /// The streams of `flows`: bits.
    pub(super) fn streams(flows: &[Self]) -> u64 {
        flows.iter().fold(0, |all, it| all | 1 << it.stream)
    }

    /// Counter of the bytes that the source has sent and nobody has read yet.
    pub(super) fn unread_count(&self) -> UnreadCount {
        self.chunks.receiver.unread_count().clone()
    }

    /// True if the items of `queue` arrive here.
    pub(super) fn feeds(&self, queue: &Queue) -> bool {
        queue.world == 0 && queue.stream == self.stream
    }

    /// True if something is to arrive before anything can be sent.
    pub(super) fn is_awaited(&self) -> bool {
        self.arrived.is_none() && !self.is_over
    }

    /// Takes out the items that arrived, with their node.
    pub(super) fn take_items(&mut self) -> Option<(PlanNodeId, ItemBatch)> {
        match self.arrived.take() {
            Some(Arrived::Items(batch)) => Some((self.node, batch)),
            other => {
                self.arrived = other;
                None
            }
        }
    }

    /// Takes the end of the list, with the error that cut it short, once all earlier items were sent: its queue is not taken.
    pub(super) fn take_end(&mut self, ledger: &Ledger) -> Option<(u8, Option<SourceError>)> {
        let is_next = ledger.queues.iter().any(|it| self.feeds(it) && !it.is_taken);
        match self.arrived.take_if(|it| is_next && matches!(it, Arrived::End(_)))? {
            Arrived::End(error) => Some((self.stream, error)),
            Arrived::Items(_) => None,
        }
    }

    fn accept(&mut self, arrived: Arrived) {
        self.is_over = match &arrived {
            Arrived::Items(batch) => batch.is_last,
            Arrived::End(_) => true,
        };
        self.arrived = Some(arrived);
    }
}

/// Deadline for the next batch of a source: the request's `deadline`, or later.
pub(super) fn silence_deadline(deadline: Instant) -> Instant {
    deadline.max(Instant::now() + SILENCE_MAX)
}

/// Waits until something arrives for one of `flows`. If nothing does before `until`, all that are awaited have failed.
pub(super) async fn arrival(flows: &mut [Flow], until: Instant) {
    let arrival = poll_fn(|context| {
        let mut has_any = false;
        for flow in flows.iter_mut().filter(|it| it.is_awaited()) {
            if let Poll::Ready(chunk) = flow.chunks.receiver.poll_recv(context) {
                flow.accept(Arrived::of(chunk));
                has_any = true;
            }
        }
        if has_any { Poll::Ready(()) } else { Poll::Pending }
    });
    if tokio::time::timeout_at(until.into(), arrival).await.is_err() {
        let silent = flows.iter_mut().filter(|it| it.is_awaited());
        silent.for_each(|it| it.accept(Arrived::end_with_error(SourceError::Timeout)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::rows::Column;
    use crate::answer::unread::{Sender, channel};

    fn flow() -> (Sender<Chunk>, Flow) {
        let (sender, receiver) = channel(1);
        let chunks = Chunks { receiver };
        (sender, Flow { stream: 3, node: PlanNodeId(0), chunks, arrived: None, is_over: false })
    }

    #[tokio::test]
    async fn a_source_that_says_nothing_has_failed_in_the_end() {
        let (_silent, silent) = flow();
        let (speaker, speaking) = flow();
        let batch = ItemBatch { items: Column::default(), len: 1, bytes: 0, is_last: true };
        assert!(speaker.send(Chunk::Items(batch)).await.is_ok());
        let mut flows = [silent, speaking];
        arrival(&mut flows, Instant::now()).await;
        assert!(flows[0].is_awaited() && flows[1].take_items().is_some() && !flows[1].is_awaited());
        arrival(&mut flows, Instant::now()).await;
        assert!(matches!(flows[0].arrived, Some(Arrived::End(Some(SourceError::Timeout)))));
        assert!(!flows[0].is_awaited() && flows[1].arrived.is_none());
    }

    #[tokio::test]
    async fn what_is_no_batch_ends_the_list_with_an_error() {
        for (chunk, code) in [
            (None, "SOURCE_UNAVAILABLE"),
            (Some(Chunk::End(Vec::new())), "INTERNAL"),
            (Some(Chunk::Failed(SourceError::Busy)), "POOL_TIMEOUT"),
        ] {
            let (sender, flow) = flow();
            if let Some(chunk) = chunk {
                assert!(sender.send(chunk).await.is_ok());
            }
            drop(sender);
            let mut flows = [flow];
            arrival(&mut flows, Instant::now()).await;
            let Some(Arrived::End(Some(error))) = &flows[0].arrived else { panic!("{code}") };
            assert_eq!(error.code(), code);
        }
    }
}

//! Finished spans that wait for the collector, in batches of one export each.
//!
//! **Invariant:** never more than the queue's number of spans and [`BYTES_MAX`] wait, with those being sent; a batch has at most the spans of one export, or is a single span.
//!
//! **Cost:** a lock and a copy of the span's bytes; the exporting thread is woken once a batch.

use super::span_writer::{push_varint, varint_bytes};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The field of spans in `ScopeSpans`.
const SPAN: u8 = 0x12;
/// Most bytes that wait.
const BYTES_MAX: usize = 64 << 20;
/// Most bytes of one export; collectors refuse long ones.
const BATCH_BYTES_MAX: usize = 1 << 20;

/// Limits of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QueueLimits {
    /// Spans that may wait.
    pub(super) queue_max: usize,
    /// Spans of one export.
    pub(super) batch_max: usize,
    /// Pause between two exports.
    pub(super) delay: Duration,
}

/// Spans of one export: the fields `spans` of a `ScopeSpans`.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) bytes: Vec<u8>,
    pub(super) spans: usize,
}

#[derive(Debug, Default)]
struct State {
    batches: VecDeque<Batch>,
    spans: usize,
    bytes: usize,
    is_ended: bool,
}

/// The queue between the threads of requests and the exporting one.
#[derive(Debug)]
pub(super) struct SpanQueue {
    state: Mutex<State>,
    wake: Condvar,
    limits: QueueLimits,
}

impl SpanQueue {
    pub(super) fn new(limits: QueueLimits) -> Self {
        Self { state: Mutex::default(), wake: Condvar::new(), limits }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a span; `false` if there is no room.
    pub(super) fn push(&self, span: &[u8]) -> bool {
        let bytes = 1 + varint_bytes(span.len() as u64) + span.len();
        let mut state = self.state();
        if state.spans >= self.limits.queue_max || state.bytes + bytes > BYTES_MAX || state.is_ended {
            return false;
        }
        let is_open = state.batches.back().is_some_and(|it| self.has_room(it, bytes));
        if !is_open {
            state.batches.push_back(Batch::default());
        }
        state.spans += 1;
        state.bytes += bytes;
        let Some(batch) = state.batches.back_mut() else { return false };
        batch.bytes.push(SPAN);
        push_varint(&mut batch.bytes, span.len() as u64);
        batch.bytes.extend_from_slice(span);
        batch.spans += 1;
        if batch.spans == self.limits.batch_max || !is_open && state.batches.len() > 1 {
            self.wake.notify_one();
        }
        true
    }

    fn has_room(&self, batch: &Batch, bytes: usize) -> bool {
        batch.spans < self.limits.batch_max && batch.bytes.len() + bytes <= BATCH_BYTES_MAX
    }

    /// Waits for spans: for a full batch, or the next export's moment; `None` once the queue has ended and is empty.
    pub(super) fn take(&self, due: Instant) -> Option<Batch> {
        let mut state = self.state();
        loop {
            let is_full = state.batches.len() > 1
                || state.batches.front().is_some_and(|it| it.spans >= self.limits.batch_max);
            let rest = due.saturating_duration_since(Instant::now());
            if is_full || state.is_ended || rest.is_zero() && !state.batches.is_empty() {
                return state.batches.pop_front();
            }
            // An idle queue is looked at when the next span's time comes.
            let rest = if rest.is_zero() { self.limits.delay } else { rest };
            state = self.wake.wait_timeout(state, rest).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Frees the room of a batch that was sent, or given up.
    pub(super) fn release(&self, batch: &Batch) {
        let mut state = self.state();
        state.spans -= batch.spans;
        state.bytes -= batch.bytes.len();
    }

    /// Takes no more spans.
    pub(super) fn end(&self) {
        self.state().is_ended = true;
        self.wake.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(queue_max: usize, batch_max: usize) -> SpanQueue {
        SpanQueue::new(QueueLimits { queue_max, batch_max, delay: Duration::from_secs(3600) })
    }

    #[test]
    fn spans_leave_in_batches_and_in_order() {
        let queue = queue(5, 2);
        assert_eq!([0_u8, 1, 2, 3, 4, 5].map(|it| queue.push(&[it])), [true, true, true, true, true, false]);
        let far = Instant::now() + Duration::from_secs(3600);
        let first = queue.take(far).expect("it is full");
        assert_eq!((first.spans, first.bytes.as_slice()), (2, &[SPAN, 1, 0, SPAN, 1, 1][..]));
        assert!(!queue.push(&[6]), "what is being sent has its room");
        queue.release(&first);
        assert!(queue.push(&[6]), "there is room again");
        queue.end();
        assert!(!queue.push(&[7]));
        let rest: Vec<_> = std::iter::from_fn(|| queue.take(far)).map(|it| it.bytes).collect();
        assert_eq!(rest, [vec![SPAN, 1, 2, SPAN, 1, 3], vec![SPAN, 1, 4, SPAN, 1, 6]]);
    }

    #[test]
    fn a_batch_that_is_not_full_leaves_when_it_is_due() {
        let queue = queue(10, 5);
        assert!(queue.push(&[1]));
        assert_eq!(queue.take(Instant::now()).map(|it| it.spans), Some(1));
    }

    #[test]
    fn long_spans_fill_batches_by_their_bytes() {
        let queue = queue(1000, 512);
        let span = vec![0; BATCH_BYTES_MAX * 2 / 3];
        let taken = (0..1000).filter(|_| queue.push(&span)).count();
        assert_eq!(taken, BYTES_MAX / (span.len() + 4));
        queue.end();
        while let Some(batch) = queue.take(Instant::now()) {
            assert_eq!(batch.spans, 1);
        }
    }
}

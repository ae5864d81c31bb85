//! Passes on what sources have not finished: what is ready at once, the rest as it comes.
//!
//! **Invariant:** a source that goes away in the middle aborts the connection; the answer never ends as if whole.
//!
//! **Cost:** chunks are moved, never copied. The last one that came is held back, because the comma at the very
//! end has to become a brace.

use super::ExecutionContext;
use super::metering::StreamMeter;
use crate::answer::chunk::Chunk;
use crate::answer::response::Body;
use crate::answer::unread::{Aborted, Receiver, Sender, channel};
use crate::answer::write::out::Out;
use crate::errors::{self, Failure};
use crate::plan::Plan;
use crate::request::protocol::Protocol;
use std::sync::Arc;

/// Chunks on their way to a slow client.
const CHUNKS_MAX: usize = 2;

/// A part of the answer.
pub(super) enum Segment {
    /// Ready.
    Bytes(Vec<u8>),
    /// Still coming: members of the root, or of the namespace at this place of the output.
    Rest(Receiver<Chunk>, Option<u32>),
}

/// Data for the errors, which are written after the data of the answer.
pub(super) struct Late {
    plan: Arc<Plan>,
    protocol: Protocol,
    text: String,
    failures: Vec<Failure>,
    meter: Option<StreamMeter>,
}

impl Late {
    pub(super) fn new(run: &ExecutionContext<'_>, failures: Vec<Failure>) -> Self {
        let meter = run.metering.and_then(|it| it.of_stream(run.plan, run.variables));
        Self { plan: Arc::clone(run.plan), protocol: run.protocol, text: run.text.into(), failures, meter }
    }
}

/// Sends what is ready and the rest from a task of its own.
pub(super) fn start(segments: Vec<Segment>, mut late: Late) -> Body {
    let mut segments = segments.into_iter();
    let mut head = match segments.next() {
        Some(Segment::Bytes(bytes)) => bytes,
        Some(Segment::Rest(..)) | None => Vec::new(),
    };
    let held: Vec<u8> = head.pop().into_iter().collect();
    if let Some(meter) = &mut late.meter {
        meter.read(&head);
    }
    let (sender, mut rest) = channel(CHUNKS_MAX);
    sender.unread_count().add(held.len());
    let segments: Vec<Segment> = segments.collect();
    for segment in &segments {
        match segment {
            Segment::Bytes(bytes) => sender.unread_count().add(bytes.len()),
            Segment::Rest(receiver, _) => rest.fed_by([receiver.unread_count().clone()]),
        }
    }
    tokio::spawn(async move {
        if forward(segments, held, late, &sender).await.is_err() {
            // The client is gone, or gets to know that the answer is not whole.
            let _ = sender.send(Err(Aborted)).await;
        }
    });
    Body::Stream { head, rest }
}

async fn forward(
    segments: Vec<Segment>,
    mut held: Vec<u8>,
    mut late: Late,
    sender: &Sender<Result<Vec<u8>, Aborted>>,
) -> Result<(), Aborted> {
    for segment in segments {
        match segment {
            Segment::Bytes(bytes) => {
                sender.unread_count().take(bytes.len());
                // The end of a namespace whose last member was a stream.
                if bytes.first() == Some(&b'}') && held.last() == Some(&b',') {
                    held.pop();
                    sender.unread_count().take(1);
                }
                pass(&mut held, bytes, &mut late.meter, sender).await?;
            }
            Segment::Rest(mut receiver, namespace) => loop {
                match receiver.recv().await {
                    Some(Chunk::Bytes(bytes)) => pass(&mut held, bytes, &mut late.meter, sender).await?,
                    Some(Chunk::End(errors)) => {
                        let output = &late.plan.output;
                        let errors = errors.into_iter().map(|it| Failure::field(output, namespace, it));
                        late.failures.extend(errors);
                        break;
                    }
                    Some(Chunk::Failed(error)) => {
                        error.tell_operator();
                        return Err(Aborted);
                    }
                    Some(Chunk::Items(_)) | None => return Err(Aborted),
                }
            },
        }
    }
    sender.unread_count().take(held.len());
    let mut out = Out::new(held);
    out.close(b'}');
    if !late.failures.is_empty() {
        out.comma();
        errors::append(&mut out, late.protocol, &late.text, &late.failures);
    }
    out.close(b'}');
    let mut last = out.into_bytes();
    if let Some(meter) = late.meter {
        meter.finish(&mut last);
    }
    sender.send(Ok(last)).await.map_err(|_| Aborted)
}

/// Holds `next` back and sends what was held.
async fn pass(
    held: &mut Vec<u8>,
    next: Vec<u8>,
    meter: &mut Option<StreamMeter>,
    sender: &Sender<Result<Vec<u8>, Aborted>>,
) -> Result<(), Aborted> {
    if next.is_empty() {
        return Ok(());
    }
    sender.unread_count().add(next.len());
    let ready = std::mem::replace(held, next);
    sender.unread_count().take(ready.len());
    if let Some(meter) = meter {
        meter.read(&ready);
    }
    if ready.is_empty() { Ok(()) } else { sender.send(Ok(ready)).await.map_err(|_| Aborted) }
}

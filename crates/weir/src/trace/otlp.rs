//! Export of spans by OTLP over HTTP: batches from a bounded queue, sent on a thread of its own.

use super::client::OtlpClient;
use super::otlp_settings::OtlpSettings;
use super::span_queue::{Batch, SpanQueue};
use super::span_writer::SpanWriter;
use super::{COUNTS, SpanHead};
use crate::config;
use crate::log_throttle::LogThrottle;
use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// Timeout of sending the last spans at shutdown.
const STOP_MAX: Duration = Duration::from_secs(3);
/// A thread keeps a buffer of at most so many bytes.
const BUFFER_BYTES_MAX: usize = 64 << 10;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The queue with its thread.
pub(super) struct Exporter {
    queue: Arc<SpanQueue>,
    /// Closed when the thread has sent the last spans.
    ended: Mutex<mpsc::Receiver<()>>,
}

impl Exporter {
    /// Starts the thread. The collector may be unreachable.
    /// # Errors
    /// A setting is invalid.
    pub(super) fn start(config: &config::Tracing) -> Result<Self, String> {
        let variable = |name: &str| std::env::var(name).ok().filter(|it| !it.trim().is_empty());
        let settings = OtlpSettings::read(config, variable)?;
        let limits = settings.limits;
        let client = OtlpClient::new(settings)?;
        let queue = Arc::new(SpanQueue::new(limits));
        let (alive, ended) = mpsc::channel();
        let taken_from = Arc::clone(&queue);
        let run = move || {
            export(&taken_from, &client, limits.delay);
            drop(alive);
        };
        let thread = std::thread::Builder::new().name("weir-traces".into()).spawn(run);
        thread.map_err(|cause| format!("`tracing`: no thread: {cause}"))?;
        Ok(Self { queue, ended: Mutex::new(ended) })
    }

    /// Queues a span; false if the queue is full.
    pub(super) fn record(&self, head: &SpanHead<'_>, write: impl FnOnce(&mut SpanWriter<'_>)) -> bool {
        // A span within a span's writing, of which there is none, would have a buffer of its own.
        let mut bytes = BUFFER.take();
        bytes.clear();
        write(&mut SpanWriter::begin(&mut bytes, head));
        let is_queued = self.queue.push(&bytes);
        if bytes.capacity() <= BUFFER_BYTES_MAX {
            BUFFER.set(bytes);
        }
        is_queued
    }

    /// Sends queued spans.
    pub(super) fn stop(&self) {
        self.queue.end();
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        // Nothing is sent on the channel; spans that the collector does not accept in time are lost.
        let _ = ended.recv_timeout(STOP_MAX);
    }
}

/// Sends what waits, until the queue ends.
fn export(queue: &SpanQueue, client: &OtlpClient, delay: Duration) {
    let refused = LogThrottle::every_minute();
    let mut due = Instant::now() + delay;
    while let Some(batch) = queue.take(due) {
        if due <= Instant::now() {
            due = Instant::now() + delay;
        }
        send(client, &batch, &refused);
        queue.release(&batch);
    }
}

fn send(client: &OtlpClient, batch: &Batch, refused: &LogThrottle) {
    let sent = client.send(batch);
    let counter = if sent.is_ok() { &COUNTS.exported } else { &COUNTS.failed };
    counter.fetch_add(batch.spans as u64, Ordering::Relaxed);
    if let Err(reason) = sent
        && let Some(times) = refused.note()
    {
        tracing::warn!(%reason, times, "the collector of traces does not take spans");
    }
}

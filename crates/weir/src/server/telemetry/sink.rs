//! The thread that writes log lines: a queue of lines, and summaries of lines that were held back.
//!
//! **Invariant:** a sink that blocks costs lines, which are counted, never requests.

use super::floods::Floods;
use super::metrics::Metrics;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use tracing_subscriber::fmt::MakeWriter;

/// Target of summaries of suppressed lines.
const FLOOD: &str = "weir::flood";
/// Interval of checks for summaries.
const FLOOD_PAUSE: Duration = Duration::from_millis(250);
/// Capacity of the queue to the sink, in lines or batches of the access log.
const LINES_WAITING_MAX: usize = 4096;
/// Time that a process waits at its end for queued lines.
const DRAIN_MAX: Duration = Duration::from_secs(2);

/// A message to the writing thread.
enum Order {
    Write(Vec<u8>),
    /// Replies when everything before it is written.
    Tell(SyncSender<()>),
}

/// Sender of lines to the writing thread.
#[derive(Clone)]
pub(super) struct Sink {
    lines: SyncSender<Order>,
    metrics: Arc<Metrics>,
}

impl Sink {
    pub(super) fn start<W: Write + 'static>(
        open: fn() -> W,
        metrics: Arc<Metrics>,
        floods: Floods,
    ) -> io::Result<Self> {
        let (lines, waiting) = sync_channel::<Order>(LINES_WAITING_MAX);
        std::thread::Builder::new().name("weir-log".into()).spawn(move || {
            let mut out = open();
            let mut looked = Instant::now();
            loop {
                match waiting.recv_timeout(FLOOD_PAUSE) {
                    // If the log cannot be written, there is nowhere to report that.
                    Ok(Order::Write(lines)) => drop(out.write_all(&lines)),
                    Ok(Order::Tell(told)) => drop(told.send(())),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                if looked.elapsed() >= FLOOD_PAUSE {
                    looked = Instant::now();
                    floods.take().iter().for_each(|it| {
                        tracing::warn!(target: FLOOD, times = it.lines, of = it.words, "equal lines were left out");
                    });
                }
            }
        })?;
        Ok(Self { lines, metrics })
    }

    /// Queues `count` lines. If the queue is full they are lost and counted.
    pub(super) fn send(&self, lines: Vec<u8>, count: u64) {
        if self.lines.try_send(Order::Write(lines)).is_err() {
            self.metrics.log_drops.inc_by(count);
        }
    }

    /// Waits a bounded time until queued lines are written.
    pub(super) fn drain(&self) {
        let (told, written) = sync_channel(1);
        if self.lines.try_send(Order::Tell(told)).is_ok() {
            // A blocked sink must not delay the end.
            let _ = written.recv_timeout(DRAIN_MAX);
        }
    }
}

impl<'a> MakeWriter<'a> for Sink {
    type Writer = Pending<'a>;
    fn make_writer(&'a self) -> Pending<'a> {
        Pending { sink: self, line: Vec::new() }
    }
}

/// A line being formatted; dropping it sends it.
pub(super) struct Pending<'s> {
    sink: &'s Sink,
    line: Vec<u8>,
}

impl Write for Pending<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.sink.send(std::mem::take(&mut self.line), 1);
    }
}

//! Logs: lines of text or JSON on standard error, written by a thread of their own.
//!
//! **Invariant:** no value of a request is ever logged: no variables, no documents, no query strings.
//! A sink that blocks costs lines, which are counted, never requests.

use super::metrics::Metrics;
use crate::config::{Log, LogFormat};
use crate::usage::{self, KEPT, OperationName};
use hyper::http::request::Parts;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use weir_engine::engine::Execution;

/// Lines that may wait for the sink.
const LINES_WAITING_MAX: usize = 8192;
/// Pauses between lines that would be many.
const SECOND_MS: u64 = 1000;
const MINUTE_MS: u64 = 60_000;

/// Starts logging for the process.
/// # Errors
/// A level that is none, by its text.
pub(crate) fn start(log: &Log, metrics: &Arc<Metrics>) -> Result<(), String> {
    let filter =
        EnvFilter::try_new(&log.level).map_err(|cause| format!("log.level: `{}`: {cause}", log.level))?;
    let sink = Sink::start(io::stderr, Arc::clone(metrics)).map_err(|cause| format!("logging: {cause}"))?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(sink).with_ansi(false);
    let set = match log.format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    // Set already: an embedding program or an earlier server of the process logs in its own way.
    drop(set);
    Ok(())
}

/// Lets one line a second or a minute through, whichever thread has it, and counts those it holds back.
#[derive(Debug)]
pub(crate) struct LogThrottle {
    started: Instant,
    due_ms: AtomicU64,
    held: AtomicU64,
    pause_ms: u64,
}

impl LogThrottle {
    /// Nothing was said yet.
    pub(crate) fn every_second() -> Self {
        Self::with_pause(SECOND_MS)
    }

    /// As [`Self::every_second`], with a pause of a minute.
    pub(crate) fn every_minute() -> Self {
        Self::with_pause(MINUTE_MS)
    }

    fn with_pause(pause_ms: u64) -> Self {
        Self { started: Instant::now(), due_ms: AtomicU64::new(0), held: AtomicU64::new(0), pause_ms }
    }

    /// Counts an event. Returns the events since the last log line, this one included, or `None` within the pause after that line.
    pub(crate) fn note(&self) -> Option<u64> {
        self.note_at(u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX - MINUTE_MS))
    }

    fn note_at(&self, now_ms: u64) -> Option<u64> {
        self.held.fetch_add(1, Ordering::Relaxed);
        let due_ms = self.due_ms.load(Ordering::Relaxed);
        if now_ms < due_ms {
            return None;
        }
        let next_ms = now_ms + self.pause_ms;
        self.due_ms.compare_exchange(due_ms, next_ms, Ordering::Relaxed, Ordering::Relaxed).ok()?;
        Some(self.held.swap(0, Ordering::Relaxed))
    }
}

/// Hands lines to the writing thread.
#[derive(Clone)]
struct Sink {
    lines: SyncSender<Vec<u8>>,
    metrics: Arc<Metrics>,
}

impl Sink {
    fn start<W: Write + 'static>(open: fn() -> W, metrics: Arc<Metrics>) -> io::Result<Self> {
        let (lines, waiting) = sync_channel::<Vec<u8>>(LINES_WAITING_MAX);
        std::thread::Builder::new().name("weir-log".into()).spawn(move || {
            let mut out = open();
            while let Ok(line) = waiting.recv() {
                // Nobody is left to be told that the log cannot be written.
                let _ = out.write_all(&line);
            }
        })?;
        Ok(Self { lines, metrics })
    }
}

impl<'a> MakeWriter<'a> for Sink {
    type Writer = Pending<'a>;
    fn make_writer(&'a self) -> Pending<'a> {
        Pending { sink: self, line: Vec::new() }
    }
}

/// One line while it is formatted; sent when it is dropped.
struct Pending<'s> {
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
        if self.sink.lines.try_send(std::mem::take(&mut self.line)).is_err() {
            self.sink.metrics.log_drops.inc();
        }
    }
}

/// The name of the executed operation.
fn operation(execution: &Execution) -> Option<OperationName> {
    usage::table().name(execution.operation?)
}

/// Writes the line of the access log.
pub(crate) fn access(
    request_id: &str,
    head: &Parts,
    (status, bytes): (u16, Option<u64>),
    execution: Option<&Execution>,
    total: Duration,
) {
    let operation = execution.and_then(operation);
    let kept = execution.and_then(|it| it.kept).map(|it| KEPT[it as usize].1);
    tracing::info!(
        target: "weir::access",
        request_id,
        method = %head.method,
        path = %head.uri.path(),
        status,
        bytes,
        operation = operation.as_ref().map(|it| &*it.name),
        hash = operation.as_ref().map(|it| &*it.hash),
        has_errors = execution.map(|it| it.has_errors),
        cache = kept,
        execute_us = execution.map(|it| it.timing.execute.as_micros() as u64),
        total_us = total.as_micros() as u64,
        "request"
    );
}

/// Reports an operation that took long.
pub(crate) fn slow(request_id: &str, execution: &Execution, total: Duration) {
    let us = |duration: Duration| duration.as_micros() as u64;
    let (timing, operation) = (&execution.timing, operation(execution));
    tracing::warn!(
        target: "weir::slow",
        request_id,
        operation = operation.as_ref().map(|it| &*it.name),
        hash = operation.as_ref().map(|it| &*it.hash),
        plan_hit = timing.plan_hit,
        parse_us = us(timing.parse),
        validate_us = us(timing.validate),
        plan_us = us(timing.plan),
        bind_us = us(timing.bind),
        execute_us = us(timing.execute),
        total_us = us(total),
        "slow operation"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_of_a_second_are_one_line_with_their_number() {
        let seldom = LogThrottle::every_second();
        let lines: Vec<_> = (0..50).filter_map(|it| seldom.note_at(it * 50)).collect();
        assert_eq!(lines, [1, 20, 20]);
    }
}

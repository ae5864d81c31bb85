//! Logs: text or JSON lines on standard error, written by a separate thread.
//!
//! **Invariant:** no value of a request is ever logged: no variables, no documents, no query strings.
//! A sink that blocks costs lines, which are counted, never requests.

use super::access;
use super::floods::Floods;
use super::metrics::Metrics;
use crate::config::{Log, LogFormat};
use crate::observer::observer;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use weir_engine::caller::Caller;
use weir_engine::engine::Execution;
use weir_engine::usage::OperationName;

/// Target of the access log.
pub(super) const ACCESS: &str = "weir::access";
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

/// Waits until queued lines are written, at the end of the process.
pub(crate) fn drain() {
    access::drain();
}

/// Starts logging for the process.
/// # Errors
/// The log level is invalid.
pub(crate) fn start(log: &Log, metrics: &Arc<Metrics>) -> Result<(), String> {
    let filter =
        EnvFilter::try_new(&log.level).map_err(|cause| format!("log.level: `{}`: {cause}", log.level))?;
    let floods = Floods::new();
    let sink = Sink::start(io::stderr, Arc::clone(metrics), floods.clone())
        .map_err(|cause| format!("logging: {cause}"))?;
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(sink.clone()).with_ansi(false);
    let set = match log.format {
        LogFormat::Text => builder.finish().with(floods).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).finish().with(floods).try_init(),
    };
    // A logger exists if an embedding program or an earlier server set one.
    if set.is_ok() {
        access::write_by(sink, log.format);
    }
    Ok(())
}

/// Sender of lines to the writing thread.
#[derive(Clone)]
pub(super) struct Sink {
    lines: SyncSender<Order>,
    metrics: Arc<Metrics>,
}

impl Sink {
    fn start<W: Write + 'static>(open: fn() -> W, metrics: Arc<Metrics>, floods: Floods) -> io::Result<Self> {
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

/// Data about an operation for logs, beyond its execution.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    pub(crate) caller: Option<Caller>,
    /// Statements and call templates of a slow operation.
    pub(crate) plan: Option<String>,
}

impl Noted {
    /// Role of the caller.
    pub(crate) fn role(&self) -> Option<&str> {
        self.caller.as_ref().map(Caller::role)
    }
}

/// Name of the executed operation.
fn operation(execution: &Execution) -> Option<OperationName> {
    observer().operations.name(execution.operation?)
}

/// Trace of a request in log lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoggedTrace {
    pub(crate) trace: u128,
    /// Span of the request; `None` if traces are not recorded.
    pub(crate) span: Option<u64>,
}

impl LoggedTrace {
    /// Trace id in hexadecimal.
    pub(crate) fn trace_id(self) -> String {
        format!("{:032x}", self.trace)
    }

    /// Span id in hexadecimal.
    pub(crate) fn span_id(self) -> Option<String> {
        self.span.map(|it| format!("{it:016x}"))
    }
}

/// Logs a slow operation.
pub(crate) fn slow(
    request_id: &str,
    trace: Option<LoggedTrace>,
    execution: &Execution,
    noted: &Noted,
    total: Duration,
) {
    let us = |duration: Duration| duration.as_micros() as u64;
    let timing = &execution.timing;
    let operation = operation(execution);
    tracing::warn!(
        target: "weir::slow",
        request_id,
        trace_id = trace.map(LoggedTrace::trace_id),
        span_id = trace.and_then(LoggedTrace::span_id),
        operation = operation.as_ref().map(|it| &*it.name).filter(|it| !it.is_empty()),
        hash = operation.as_ref().map(|it| &*it.hash),
        plan_hit = timing.plan_hit,
        parse_us = us(timing.parse),
        validate_us = us(timing.validate),
        plan_us = us(timing.plan),
        bind_us = us(timing.bind),
        execute_us = us(timing.execute),
        cpu_us = us(timing.busy),
        total_us = us(total),
        fetches = timing.fetches,
        role = noted.role(),
        code = execution.code.as_deref(),
        plan = noted.plan.as_deref(),
        "slow operation"
    );
}

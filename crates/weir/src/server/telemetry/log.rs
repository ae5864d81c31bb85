//! Logs: text or JSON lines on standard error, written by a separate thread.
//!
//! **Invariant:** no value of a request is ever logged: no variables, no documents, no query strings.

use super::access;
use super::floods::Floods;
use super::metrics::Metrics;
use super::noted::{LoggedTrace, Noted};
use super::sink::Sink;
use crate::config::{Log, LogFormat};
use crate::observer::observer;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use weir_engine::engine::Execution;
use weir_engine::usage::OperationName;

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

/// Name of the executed operation.
fn operation(execution: &Execution) -> Option<OperationName> {
    observer().operations.name(execution.operation?)
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

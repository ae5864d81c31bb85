//! Traces: decides which requests are traced, and passes their spans to an OpenTelemetry collector.
//!
//! **Invariant:** nothing waits for the collector: spans that find no room are dropped and counted. No value of a request and no document
//! is in a span.
//!
//! **Cost:** without a collector one look at an option per request. A request that is not traced has two random numbers.

#[cfg(not(feature = "otlp"))]
mod absent;
#[cfg(feature = "otlp")]
mod client;
#[cfg(feature = "otlp")]
mod otlp;
#[cfg(feature = "otlp")]
mod otlp_settings;
#[cfg(feature = "otlp")]
mod span_queue;
mod span_writer;

#[cfg(not(feature = "otlp"))]
use absent::Exporter;
use arc_swap::ArcSwapOption;
#[cfg(feature = "otlp")]
use otlp::Exporter;
pub(crate) use span_writer::SpanWriter;

use crate::config;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use weir_engine::span::SpanContext;

/// Default share of traced requests.
const RATIO: f64 = 0.01;

/// Span counters since the start of the process.
#[derive(Debug, Default)]
pub(crate) struct SpanCounts {
    /// Spans that the collector accepted.
    pub(crate) exported: AtomicU64,
    /// Spans dropped because the queue was full.
    pub(crate) dropped: AtomicU64,
    /// Spans lost because the collector refused them.
    pub(crate) failed: AtomicU64,
}

/// Counters of the process.
pub(crate) static COUNTS: SpanCounts =
    SpanCounts { exported: AtomicU64::new(0), dropped: AtomicU64::new(0), failed: AtomicU64::new(0) };

static TRACER: ArcSwapOption<Tracer> = ArcSwapOption::const_empty();

/// Traces of a process.
struct Tracer {
    exporter: Exporter,
    /// Traces whose number is below this one are sampled.
    below: u64,
}

/// Kind of a span, with its number in OTLP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Internal work.
    Internal = 1,
    /// The request.
    Server = 2,
    /// A call to another server.
    Client = 3,
}

/// Place, kind and times of a finished span.
pub(crate) struct SpanHead<'s> {
    pub(crate) context: SpanContext,
    pub(crate) parent: Option<SpanContext>,
    /// `tracestate` of the client.
    pub(crate) trace_state: Option<&'s str>,
    pub(crate) kind: Kind,
    pub(crate) began: Instant,
    pub(crate) took: Duration,
}

/// Span of a request, with its client's span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestSpan {
    pub(crate) own: SpanContext,
    pub(crate) parent: Option<SpanContext>,
}

/// Starts the export if the configuration or the environment names a collector.
/// # Errors
/// A setting is invalid.
pub(crate) fn start(config: &config::Tracing, is_dev: bool) -> Result<(), String> {
    let variable = |name: &str| std::env::var(name).ok().filter(|it| !it.trim().is_empty());
    let named = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
    let is_off = variable("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"));
    if is_off || config.endpoint.is_none() && named.iter().all(|it| variable(it).is_none()) {
        TRACER.store(None);
        return Ok(());
    }
    let told = variable("OTEL_TRACES_SAMPLER_ARG").and_then(|it| it.trim().parse().ok());
    let usual = if is_dev { 1.0 } else { RATIO };
    let ratio =
        match variable("OTEL_TRACES_SAMPLER").as_deref().map(|it| it.trim_start_matches("parentbased_")) {
            Some("always_on") if config.ratio.is_none() => 1.0,
            Some("always_off") if config.ratio.is_none() => 0.0,
            Some(_) | None => config.ratio.or(told).unwrap_or(usual),
        };
    let exporter = Exporter::start(config)?;
    TRACER.store(Some(Arc::new(Tracer { exporter, below: sampling_bound(ratio) })));
    Ok(())
}

/// Sends queued spans and ends the export.
pub(crate) fn stop() {
    if let Some(tracer) = TRACER.swap(None) {
        tracer.exporter.stop();
    }
}

/// Span of a new request with the header `traceparent` `parent`; `None` without a collector.
pub(crate) fn request<'h>(parent: impl FnOnce() -> Option<&'h [u8]>) -> Option<RequestSpan> {
    let tracer = TRACER.load();
    let tracer = tracer.as_ref()?;
    let parent = parent().and_then(SpanContext::read);
    let own = parent.map_or_else(|| root(tracer.below), child);
    Some(RequestSpan { own, parent })
}

/// A span within `parent`.
pub(crate) fn child(parent: SpanContext) -> SpanContext {
    SpanContext { span: fastrand::u64(1..), ..parent }
}

/// Root span of a new trace.
fn root(below: u64) -> SpanContext {
    let trace = fastrand::u128(1..);
    let is_sampled = (trace as u64 >> 1) < below;
    SpanContext { trace, span: fastrand::u64(1..), is_sampled, is_continued: false }
}

/// Threshold for the lower 63 bits of a trace id that yields this share of traces.
fn sampling_bound(ratio: f64) -> u64 {
    (ratio.clamp(0.0, 1.0) * (1_u64 << 63) as f64) as u64
}

/// Queues a span for the collector, if there is one; `write` adds its name and its attributes.
pub(crate) fn record(head: &SpanHead<'_>, write: impl FnOnce(&mut SpanWriter<'_>)) {
    if let Some(tracer) = &*TRACER.load()
        && !tracer.exporter.record(head, write)
    {
        COUNTS.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_traces_is_sampled() {
        let sampled = |ratio: f64| (0..4000).filter(|_| root(sampling_bound(ratio)).is_sampled).count();
        assert_eq!((sampled(0.0), sampled(1.0)), (0, 4000));
        // Beyond seven standard deviations.
        assert!((750..1250).contains(&sampled(0.25)), "about a quarter");
    }

    #[test]
    fn a_child_is_another_span_of_the_same_trace() {
        let parent = root(u64::MAX);
        let own = child(parent);
        assert_ne!(own.span, parent.span);
        assert_eq!(SpanContext { span: parent.span, ..own }, parent);
    }
}

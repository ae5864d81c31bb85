//! Export with the OpenTelemetry SDK: batches from a bounded queue, sent on a thread of its own.

use super::client::OtlpClient;
use super::{COUNTS, Kind, SpanRecord, Value};
use crate::config;
use crate::log_throttle::LogThrottle;
use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, SpanData, SpanEvents, SpanExporter as Export, SpanLinks,
    SpanProcessor,
};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};
use weir_engine::span;

/// Path of traces below a collector's address. Source: OTLP, section "OTLP/HTTP Request".
const PATH: &str = "v1/traces";
/// Timeout of sending the last spans at shutdown.
const STOP_MAX: Duration = Duration::from_secs(3);
/// Default capacity of the queue, in spans.
const QUEUE_MAX: usize = 2048;

/// The queue with its thread.
pub(super) struct Exporter {
    processor: BatchSpanProcessor,
    scope: InstrumentationScope,
    queued: Arc<AtomicUsize>,
    queue_max: usize,
}

impl Exporter {
    /// Starts the thread. The collector may be unreachable.
    /// # Errors
    /// A setting is invalid.
    pub(super) fn start(config: &config::Tracing) -> Result<Self, String> {
        check_protocol(|name| std::env::var(name).ok())?;
        let mut builder = SpanExporter::builder().with_http().with_http_client(OtlpClient::new()?);
        if let Some(endpoint) = &config.endpoint {
            builder = builder.with_endpoint(traces_at(endpoint));
        }
        let exporter = builder.build().map_err(|cause| format!("`tracing`: {cause}"))?;
        let queue_max = std::env::var("OTEL_BSP_MAX_QUEUE_SIZE").ok().and_then(|it| it.trim().parse().ok());
        let queue_max = queue_max.filter(|it| *it > 0).unwrap_or(QUEUE_MAX);
        let queued = Arc::new(AtomicUsize::new(0));
        let refused = LogThrottle::every_minute();
        let counting = Counting { exporter, queued: Arc::clone(&queued), refused };
        let batches = BatchConfigBuilder::default().with_max_queue_size(queue_max).build();
        let mut processor = BatchSpanProcessor::new(counting, batches);
        processor.set_resource(&resource(config));
        let scope = InstrumentationScope::builder("weir").with_version(env!("CARGO_PKG_VERSION")).build();
        Ok(Self { processor, scope, queued, queue_max })
    }

    /// Queues a span; false if the queue is full.
    pub(super) fn record(&self, span: impl FnOnce() -> SpanRecord) -> bool {
        if self.queued.fetch_add(1, Ordering::Relaxed) >= self.queue_max {
            self.queued.fetch_sub(1, Ordering::Relaxed);
            return false;
        }
        self.processor.on_end(data(span(), &self.scope));
        true
    }

    /// Sends queued spans.
    pub(super) fn stop(&self) {
        // Spans that the collector does not accept in time are lost.
        let _ = self.processor.shutdown_with_timeout(STOP_MAX);
    }
}

/// Refuses unsupported protocols.
fn check_protocol(variable: impl Fn(&str) -> Option<String>) -> Result<(), String> {
    for name in ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"] {
        if let Some(protocol) = variable(name).filter(|it| !it.is_empty()) {
            return match protocol.as_str() {
                "http/protobuf" => Ok(()),
                _ => Err(format!(
                    "{name} is `{protocol}`: traces are sent by `http/protobuf`, which a collector takes at port 4318"
                )),
            };
        }
    }
    Ok(())
}

/// URL for traces of a collector at `endpoint`.
fn traces_at(endpoint: &str) -> String {
    let base = endpoint.trim_end_matches('/');
    if base.ends_with(PATH) { base.to_owned() } else { format!("{base}/{PATH}") }
}

/// Resource attributes, equal for all spans.
fn resource(config: &config::Tracing) -> Resource {
    let is_named = |name: &str| std::env::var(name).is_ok_and(|it| it.contains("service.name"));
    let has_name = std::env::var("OTEL_SERVICE_NAME").is_ok() || is_named("OTEL_RESOURCE_ATTRIBUTES");
    let name = config.service_name.as_deref().or((!has_name).then_some("weir"));
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let builder = Resource::builder().with_attribute(version);
    match name {
        Some(name) => builder.with_service_name(name.to_owned()).build(),
        None => builder.build(),
    }
}

fn context(of: span::SpanContext, state: TraceState) -> SpanContext {
    let flags = if of.is_sampled { TraceFlags::SAMPLED } else { TraceFlags::default() };
    let trace = TraceId::from_bytes(of.trace.to_be_bytes());
    let own = SpanId::from_bytes(of.span.to_be_bytes());
    SpanContext::new(trace, own, flags, false, state)
}

fn data(span: SpanRecord, scope: &InstrumentationScope) -> SpanData {
    let since = span.began.elapsed();
    let start_time = SystemTime::now().checked_sub(since).unwrap_or(SystemTime::UNIX_EPOCH);
    let attribute = |(name, value)| match value {
        Value::Text(text) => KeyValue::new(name, text),
        Value::Number(number) => KeyValue::new(name, number),
    };
    let mut attributes: Vec<KeyValue> = span.attributes.into_iter().map(attribute).collect();
    let status = match span.error {
        Some(code) => {
            attributes.push(KeyValue::new("error.type", code.into_owned()));
            Status::error("")
        }
        None => Status::Unset,
    };
    // An invalid state is dropped.
    let state = span.trace_state.and_then(|it| TraceState::from_str(&it).ok()).unwrap_or_default();
    SpanData {
        span_context: context(span.context, state),
        parent_span_id: span.parent.map_or(SpanId::INVALID, |it| SpanId::from_bytes(it.span.to_be_bytes())),
        parent_span_is_remote: span.kind == Kind::Server && span.parent.is_some(),
        span_kind: match span.kind {
            Kind::Server => SpanKind::Server,
            Kind::Client => SpanKind::Client,
            Kind::Internal => SpanKind::Internal,
        },
        name: span.name,
        start_time,
        end_time: start_time.checked_add(span.took).unwrap_or(start_time),
        attributes,
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status,
        instrumentation_scope: scope.clone(),
    }
}

/// Counts accepted spans.
#[derive(Debug)]
struct Counting {
    exporter: SpanExporter,
    queued: Arc<AtomicUsize>,
    refused: LogThrottle,
}

impl Export for Counting {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        let exported = self.exporter.export(batch).await;
        self.queued.fetch_sub(spans, Ordering::Relaxed);
        let counter = if exported.is_ok() { &COUNTS.exported } else { &COUNTS.failed };
        counter.fetch_add(spans as u64, Ordering::Relaxed);
        if let Err(reason) = &exported
            && let Some(times) = self.refused.note()
        {
            tracing::warn!(%reason, times, "the collector of traces does not take spans");
        }
        exported
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_collectors_or_that_of_its_traces() {
        assert_eq!(traces_at("http://127.0.0.1:4318"), "http://127.0.0.1:4318/v1/traces");
        assert_eq!(traces_at("https://c.example/otlp/"), "https://c.example/otlp/v1/traces");
        assert_eq!(traces_at("http://c:4318/v1/traces"), "http://c:4318/v1/traces");
    }

    #[test]
    fn a_protocol_that_is_not_spoken_is_refused_with_the_way_out() {
        let check = |value: &str| check_protocol(|name| (name.len() < 30).then(|| value.to_owned()));
        assert_eq!((check("http/protobuf"), check("")), (Ok(()), Ok(())));
        assert!(check("grpc").unwrap_err().contains("port 4318"));
    }
}

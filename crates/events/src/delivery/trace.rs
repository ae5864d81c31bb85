//! Traces of deliveries: each continues the trace of the change that it tells, or begins one.
//!
//! **Cost:** an event without a trace is not parsed for it.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;
use weir_engine::call_span::FetchSpan;
use weir_engine::observer::Observer;
use weir_engine::span::SpanContext;
use weir_language::json::{Json, JsonRef};
use weir_webhook::WebhookRequest;

/// Maximum depth of a payload that is searched for its trace.
const DEPTH_MAX: u32 = 512;

/// Makes spans of deliveries and records them.
pub trait DeliveryTracer: Send + Sync + fmt::Debug {
    /// The span of a delivery within `parent`, or of a new trace; `None`: nothing is traced.
    fn begin(&self, parent: Option<SpanContext>) -> Option<SpanContext>;
    /// A delivery has ended.
    fn end(&self, delivery: &TracedDelivery<'_>);
    /// The observer of calls within deliveries.
    fn observer(&self) -> Arc<dyn Observer>;
}

/// A delivery that has ended.
#[derive(Clone, Copy, Debug)]
pub struct TracedDelivery<'d> {
    /// Name of the trigger.
    pub name: &'d str,
    pub span: SpanContext,
    /// The span of the change that is told.
    pub parent: Option<SpanContext>,
    /// When it began.
    pub began: Instant,
    /// True if the event is delivered.
    pub is_success: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct CallTrace<'t> {
    /// Makes its span.
    pub tracer: &'t dyn DeliveryTracer,
    /// The span of the change that is told.
    pub parent: Option<SpanContext>,
    /// Name of the trigger.
    pub name: &'t str,
}

/// A delivery in work.
pub(super) struct BegunDelivery {
    span: SpanContext,
    began: Instant,
}

impl CallTrace<'_> {
    /// Begins a delivery, if it is traced.
    pub(super) fn begin(&self) -> Option<BegunDelivery> {
        let span = self.tracer.begin(self.parent)?;
        Some(BegunDelivery { span, began: Instant::now() })
    }

    /// Adds the headers of the trace to `request`, whose address is `template`.
    pub(super) fn push_headers(
        &self,
        delivery: &BegunDelivery,
        request: &mut WebhookRequest,
        template: &str,
    ) {
        let observer = self.tracer.observer();
        let span = FetchSpan { context: delivery.span, observer: &observer, trace_state: None };
        request.trace(&span, || template.to_owned());
    }

    /// Notes the end of a delivery.
    pub(super) fn end(&self, delivery: &BegunDelivery, is_success: bool) {
        let &BegunDelivery { span, began } = delivery;
        self.tracer.end(&TracedDelivery { name: self.name, span, parent: self.parent, began, is_success });
    }
}

/// The trace of the change in `payload`: `{"trace_context": {"trace_id", "span_id", "sampling_state"}}`, numbers in hexadecimal digits.
pub fn read_trace(payload: &str) -> Option<SpanContext> {
    if !payload.contains("\"trace_id\"") {
        return None;
    }
    let json = Json::parse(payload.as_bytes(), DEPTH_MAX).ok()?;
    let context = json.root().get("trace_context")?;
    let text = |key: &str| context.get(key).and_then(JsonRef::as_str);
    let is_hex = |it: &str| it.bytes().all(|it| it.is_ascii_hexdigit());
    let (trace, span) = (text("trace_id")?, text("span_id")?);
    if !is_hex(&trace) || !is_hex(&span) {
        return None;
    }
    let read = SpanContext {
        trace: u128::from_str_radix(&trace, 16).ok()?,
        span: u64::from_str_radix(&span, 16).ok()?,
        is_sampled: text("sampling_state").is_some_and(|it| it == "1"),
        is_continued: false,
    };
    (read.trace != 0 && read.span != 0).then_some(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trace_of_a_change_is_read() {
        let check = |context: &str, expected: Option<(u128, u64, bool)>| {
            let read = read_trace(&format!("{{\"op\": \"INSERT\", \"trace_context\": {context}}}"));
            assert_eq!(read.map(|it| (it.trace, it.span, it.is_sampled)), expected, "{context}");
        };
        check("null", None);
        check(r#"{"trace_id": "0a", "span_id": "b", "sampling_state": "1"}"#, Some((10, 11, true)));
        check(r#"{"trace_id": "0a", "span_id": "b"}"#, Some((10, 11, false)));
        check(r#"{"trace_id": "+a", "span_id": "b"}"#, None);
        check(r#"{"trace_id": "0", "span_id": "b"}"#, None);
        check(r#"{"trace_id": 1, "span_id": "b"}"#, None);
        check(r#"{"trace_id": "a"}"#, None);
    }
}

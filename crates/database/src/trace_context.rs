//! The trace of a request as triggers of databases see it, in Hasura's form.

use weir_engine::source::FetchInput;
use weir_engine::span::SpanContext;

/// The trace of the fetch with `input`: its span, or where none is recorded the one that the client names.
pub(crate) fn find_trace(input: &FetchInput<'_>) -> Option<SpanContext> {
    let recorded = input.span.map(|it| it.context).or_else(|| input.headers.span());
    recorded.or_else(|| input.headers.get("traceparent").and_then(SpanContext::read))
}

/// `{"trace_id", "span_id", "sampling_state"}`, numbers in hexadecimal digits.
pub(crate) fn write_trace(context: SpanContext) -> String {
    let SpanContext { trace, span, is_sampled, .. } = context;
    let sampled = u8::from(is_sampled);
    format!("{{\"trace_id\":\"{trace:032x}\",\"span_id\":\"{span:016x}\",\"sampling_state\":\"{sampled}\"}}")
}

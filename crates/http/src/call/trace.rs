//! The trace of a request, told to the services that are called for it.
//!
//! Source: W3C Trace Context, sections 3.2 and 3.3.

use http::{HeaderName, HeaderValue};
use weir_engine::source::Headers;
use weir_engine::span::SpanContext;

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
pub(crate) const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// Puts `span` among the headers of a call, in place of what the mapping passes on; `client` has the headers of the request.
pub(crate) fn push(
    span: Option<SpanContext>,
    client: &dyn Headers,
    sent: &mut Vec<(HeaderName, HeaderValue)>,
) {
    let Some(span) = span else { return };
    sent.retain(|it| it.0 != TRACEPARENT && it.0 != TRACESTATE);
    let parent = HeaderValue::from_str(&span.traceparent());
    sent.extend(parent.ok().map(|it| (TRACEPARENT, it)));
    if span.is_continued {
        client.each(TRACESTATE.as_str(), &mut |state| {
            sent.extend(HeaderValue::from_bytes(state).ok().map(|it| (TRACESTATE, it)));
        });
    }
}

//! Request id and trace context of calls: sent to services, and reported to the observer.
//!
//! **Invariant:** a call that began is told once, also if it is given up.
//!
//! Source: W3C Trace Context, sections 3.2 and 3.3; W3C Baggage, section 3.

use super::{Answer, Ask, Failure};
use http::{HeaderName, HeaderValue};
use std::time::Instant;
use weir_engine::call_span::{CallEnd, CallSpan, FetchSpan};
use weir_engine::source::Headers;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static(weir_engine::span::TRACE_STATE);
const BAGGAGE: HeaderName = HeaderName::from_static(weir_engine::span::BAGGAGE);

/// Adds the id of the request to the headers of a call, unless the mapping sets one, and the span of the call by `template`, replacing trace
/// headers of the mapping. `client` has the headers of the request; its baggage is forwarded unless the mapping sets another. Returns the
/// span if the trace is recorded.
pub fn push(
    span: Option<&FetchSpan<'_>>,
    client: &dyn Headers,
    sent: &mut Vec<(HeaderName, HeaderValue)>,
    template: impl FnOnce() -> String,
) -> Option<CallSpan> {
    let id = client.request_id();
    if !id.is_empty() && sent.iter().all(|it| it.0 != REQUEST_ID) {
        sent.extend(HeaderValue::from_str(id).ok().map(|it| (REQUEST_ID, it)));
    }
    let fetch = span?;
    let call = fetch.call(template);
    let own = call.as_ref().map_or(fetch.context, |it| it.context);
    sent.retain(|it| it.0 != TRACEPARENT && it.0 != TRACESTATE);
    sent.extend(HeaderValue::from_str(&own.traceparent()).ok().map(|it| (TRACEPARENT, it)));
    let has_baggage = sent.iter().any(|it| it.0 == BAGGAGE);
    let states = own.is_continued.then_some(TRACESTATE);
    for name in states.into_iter().chain((!has_baggage).then_some(BAGGAGE)) {
        client.each(name.as_str(), &mut |value| {
            sent.extend(HeaderValue::from_bytes(value).ok().map(|it| (name.clone(), it)));
        });
    }
    call
}

/// A call in flight; dropping it reports its end.
pub(super) struct CallGuard<'c> {
    ask: &'c Ask,
    /// Scheme, host and port.
    service: (&'c str, &'c str, u16),
    began: Instant,
    status: Option<u16>,
    error: Option<&'static str>,
    attempts: u32,
}

impl<'c> CallGuard<'c> {
    pub(super) fn new(ask: &'c Ask, service: (&'c str, &'c str, u16)) -> Self {
        Self { ask, service, began: Instant::now(), status: None, error: None, attempts: 0 }
    }

    /// Reports the outcome.
    pub(super) fn end(mut self, outcome: &Result<Answer, Failure>) {
        match outcome {
            Ok(answer) => (self.status, self.attempts) = (Some(answer.status.as_u16()), answer.went.attempts),
            Err(failure) => (self.error, self.attempts) = (Some(failure.error.code()), failure.went.attempts),
        }
    }
}

impl Drop for CallGuard<'_> {
    fn drop(&mut self) {
        let Self { ask, service, began, status, error, attempts } = *self;
        if let Some(span) = &ask.span {
            span.end(&CallEnd { began, method: ask.method.as_str(), service, status, error, attempts });
        }
    }
}

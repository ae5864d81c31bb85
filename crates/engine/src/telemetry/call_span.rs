//! Spans of fetches and of the calls that sources make for them, as far as an engine hands them down.
//!
//! **Cost:** a call of a fetch that is not sampled allocates nothing.

use super::observer::{ObservedCall, Observer};
use super::span::SpanContext;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// Span of a fetch, within which its source calls others.
#[derive(Clone, Copy, Debug)]
pub struct FetchSpan<'r> {
    /// The span.
    pub context: SpanContext,
    /// The observer that hears of calls.
    pub observer: &'r Arc<dyn Observer>,
    /// The client's `tracestate`, if its trace is sampled.
    pub trace_state: Option<&'r Arc<str>>,
}

impl FetchSpan<'_> {
    /// Starts a call by `template`; `None` if the observer does not record calls.
    pub fn call(&self, template: impl FnOnce() -> String) -> Option<CallSpan> {
        let context = self.observer.call_begins(Some(self.context).filter(|it| it.is_sampled)?)?;
        Some(CallSpan {
            fetch: self.context,
            context,
            observer: Arc::clone(self.observer),
            trace_state: self.trace_state.cloned(),
            template: template().into(),
        })
    }
}

/// Span of a call, which may outlive its fetch.
#[derive(Clone)]
pub struct CallSpan {
    fetch: SpanContext,
    /// The span of the call, which the called service continues.
    pub context: SpanContext,
    observer: Arc<dyn Observer>,
    trace_state: Option<Arc<str>>,
    template: Arc<str>,
}

/// End of a call.
#[derive(Clone, Copy, Debug)]
pub struct CallEnd<'c> {
    /// When it began.
    pub began: Instant,
    /// Method of HTTP.
    pub method: &'c str,
    /// Scheme, host and port of the service.
    pub service: (&'c str, &'c str, u16),
    /// HTTP status, see [`ObservedCall::status`].
    pub status: Option<u16>,
    /// Error code, see [`ObservedCall::error`].
    pub error: Option<&'static str>,
    /// Number of attempts, see [`ObservedCall::attempts`].
    pub attempts: u32,
}

impl CallSpan {
    /// Reports the end of the call to the observer.
    pub fn end(&self, end: &CallEnd<'_>) {
        let CallEnd { began, method, service: (scheme, host, port), status, error, attempts } = *end;
        self.observer.call_ended(&ObservedCall {
            fetch: self.fetch,
            span: self.context,
            trace_state: self.trace_state.as_deref(),
            began,
            took: began.elapsed(),
            method,
            scheme,
            host,
            port,
            template: &self.template,
            status,
            error,
            attempts,
        });
    }
}

impl fmt::Debug for CallSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallSpan")
            .field("context", &self.context)
            .field("template", &self.template)
            .finish_non_exhaustive()
    }
}

//! Reports each fetch of one request to the observer, at its begin and its end.
//!
//! **Invariant:** a fetch that began is reported exactly once, also if it is dropped.
//!
//! **Cost:** two readings of the clock and two calls for each fetch; nothing is allocated.

use crate::answer::field_error::SourceError;
use crate::answer::output_plan::OutputPlan;
use crate::plan::PreparedNode;
use crate::request::request_headers::Headers;
use crate::source::{ExplainInput, FetchResult};
use crate::telemetry::call_span::FetchSpan;
use crate::telemetry::observer::{FetchOutcome, ObservedFetch, ObservedStage, Observer, Stage};
use crate::telemetry::span::{SpanContext, TRACE_STATE};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use weir_language::value::Variables;

/// Observer and its context within one request.
pub(crate) struct Observation<'r> {
    pub(crate) observer: &'r Arc<dyn Observer>,
    /// Numbers of the graph's sources.
    pub(crate) sources: &'r [u32],
    pub(crate) request: Option<SpanContext>,
    /// The client's `tracestate`, of a sampled trace that it began.
    pub(crate) trace_state: Option<Arc<str>>,
    /// Fetches so far.
    pub(crate) fetches: AtomicU32,
}

impl<'r> Observation<'r> {
    /// Observes a request with these headers, or a read without one; `None`: nobody listens.
    pub(crate) fn of(
        observer: Option<&'r Arc<dyn Observer>>,
        sources: &'r [u32],
        headers: &dyn Headers,
    ) -> Option<Self> {
        Self::after(observer, sources, headers.span(), headers)
    }

    /// Observes work that goes on after its request, which had `headers` and the span `request`.
    pub(crate) fn after(
        observer: Option<&'r Arc<dyn Observer>>,
        sources: &'r [u32],
        request: Option<SpanContext>,
        headers: &dyn Headers,
    ) -> Option<Self> {
        let trace_state = request.and_then(|it| trace_state(it, headers));
        Some(Self { observer: observer?, sources, request, trace_state, fetches: AtomicU32::new(0) })
    }

    /// Reports a finished stage.
    pub(crate) fn stage(&self, stage: Stage, began: Instant, took: Duration) {
        let request = self.request;
        let trace_state = self.trace_state.as_deref();
        self.observer.stage(&ObservedStage { stage, began, took, request, trace_state });
    }

    /// Reports the start of a fetch of `node`; introspection is not a fetch.
    pub(crate) fn begin(
        &'r self,
        node: &'r PreparedNode,
        output: &'r Arc<OutputPlan>,
        variables: &'r Arc<Variables>,
    ) -> Option<FetchGuard<'r>> {
        let source = self.sources[usize::from(node.source?)];
        self.fetches.fetch_add(1, Ordering::Relaxed);
        let context = self.observer.fetch_begins(source, self.request);
        let trace_state = self.trace_state.as_ref();
        let span = context.map(|context| FetchSpan { context, observer: self.observer, trace_state });
        let input = ExplainInput { output, variables };
        let outcome = FetchOutcome::Abandoned;
        Some(FetchGuard { observation: self, source, span, node, input, outcome, began: Instant::now() })
    }
}

/// The client's `tracestate` among `headers`, if it belongs to the trace of `span` and the trace is sampled. Lines are joined by commas.
fn trace_state(span: SpanContext, headers: &dyn Headers) -> Option<Arc<str>> {
    if !span.is_sampled || !span.is_continued {
        return None;
    }
    let mut joined = String::new();
    headers.each(TRACE_STATE, &mut |line| {
        let Ok(line) = std::str::from_utf8(line) else { return };
        joined.push_str(if joined.is_empty() { "" } else { "," });
        joined.push_str(line);
    });
    (!joined.is_empty()).then(|| joined.into())
}

/// A fetch in progress. Dropping it reports the end.
pub(crate) struct FetchGuard<'r> {
    observation: &'r Observation<'r>,
    source: u32,
    pub(crate) span: Option<FetchSpan<'r>>,
    node: &'r PreparedNode,
    input: ExplainInput<'r>,
    outcome: FetchOutcome,
    began: Instant,
}

impl FetchGuard<'_> {
    /// Notes the outcome.
    pub(crate) fn end(mut self, reply: &Result<FetchResult, SourceError>) {
        self.outcome = match reply {
            Ok(_) => FetchOutcome::Answered,
            Err(error) => FetchOutcome::Failed(error.code()),
        };
    }
}

impl Drop for FetchGuard<'_> {
    fn drop(&mut self) {
        let calls = || {
            let mut text = String::new();
            self.node.fetch.explain(self.input, &mut text);
            text
        };
        self.observation.observer.fetch_ended(&ObservedFetch {
            source: self.source,
            began: self.began,
            took: self.began.elapsed(),
            outcome: self.outcome,
            spans: self.observation.request.zip(self.span.map(|it| it.context)),
            trace_state: self.observation.trace_state.as_deref(),
            calls: &calls,
        });
    }
}

//! Tells the observer each fetch of one request, as it begins and ends.
//!
//! **Invariant:** a fetch that began is told once, also if it is given up.
//!
//! **Cost:** two readings of the clock and two calls for each fetch; nothing is allocated.

use crate::observer::{FetchOutcome, ObservedFetch, Observer};
use crate::plan::PreparedNode;
use crate::plan::output_plan::OutputPlan;
use crate::source::{ExplainInput, FetchResult, SourceError};
use crate::span::SpanContext;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;
use weir_language::value::Variables;

/// The listener, and what it has to know of one request.
pub(crate) struct Observation<'r> {
    pub(crate) observer: &'r dyn Observer,
    /// Numbers of the graph's sources.
    pub(crate) sources: &'r [u32],
    pub(crate) request: Option<SpanContext>,
    /// Fetches so far.
    pub(crate) fetches: AtomicU32,
}

impl<'r> Observation<'r> {
    /// Of a request within the span `request`, or of a read without one; `None`: nobody listens.
    pub(crate) fn of(
        observer: Option<&'r dyn Observer>,
        sources: &'r [u32],
        request: Option<SpanContext>,
    ) -> Option<Self> {
        observer.map(|observer| Self { observer, sources, request, fetches: AtomicU32::new(0) })
    }

    /// Tells the beginning of a fetch of `node`; introspection is none.
    pub(crate) fn begin(
        &'r self,
        node: &'r PreparedNode,
        output: &'r Arc<OutputPlan>,
        variables: &'r Arc<Variables>,
    ) -> Option<FetchGuard<'r>> {
        let source = self.sources[usize::from(node.source?)];
        self.fetches.fetch_add(1, Ordering::Relaxed);
        let span = self.observer.fetch_begins(source, self.request);
        let (input, outcome) = (ExplainInput { output, variables }, FetchOutcome::Abandoned);
        Some(FetchGuard { of: self, source, span, node, input, outcome, began: Instant::now() })
    }
}

/// A fetch under way. Its end is told when this is dropped.
pub(crate) struct FetchGuard<'r> {
    of: &'r Observation<'r>,
    source: u32,
    pub(crate) span: Option<SpanContext>,
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
        self.of.observer.fetch_ended(&ObservedFetch {
            source: self.source,
            began: self.began,
            took: self.began.elapsed(),
            outcome: self.outcome,
            spans: self.of.request.zip(self.span),
            calls: &calls,
        });
    }
}

//! The listener to an engine: it knows operations and sources by numbers, and is told each stage of a request and each fetch.
//!
//! **Invariant:** a fetch that began is told once, also if it is given up; nobody is told a value of a request.
//!
//! **Cost:** without a listener a test of an option for each stage and fetch. With one a call and a reading of the clock; nothing is
//! allocated by the engine. Calls of a fetch are only written down where the listener asks for them.

use crate::plan::PreparedNode;
use crate::plan::output_plan::OutputPlan;
use crate::source::{ExplainInput, FetchResult, SourceError};
use crate::span::SpanContext;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use weir_language::ast::OperationKind;
use weir_language::value::Variables;

/// An operation for which a plan is made.
#[derive(Clone, Copy, Debug)]
pub struct ObservedOperation<'o> {
    /// The document.
    pub text: &'o str,
    /// The name in the document.
    pub name: Option<&'o str>,
    /// Query or mutation.
    pub kind: OperationKind,
    /// Coordinates of the fields and arguments it asks for, each once: `Query.album`, `Query.album(id:)`. An argument that has a
    /// default counts as given.
    pub coordinates: &'o BTreeSet<String>,
}

/// Stages of a request in the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Lexing and parsing.
    Parse,
    /// Validation.
    Validate,
    /// Planning and preparing nodes.
    Plan,
    /// Coercing variables.
    Bind,
    /// Waiting for and writing of the sources' answers.
    Execute,
}

/// A stage that has ended.
#[derive(Clone, Copy, Debug)]
pub struct ObservedStage {
    /// Which.
    pub stage: Stage,
    /// When it began.
    pub began: Instant,
    /// Its duration.
    pub took: Duration,
    /// Span of the request.
    pub request: Option<SpanContext>,
}

/// Outcome of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchOutcome {
    /// The source answered; single fields may have failed.
    Answered,
    /// It did not, or refused: the code of the error.
    Failed(&'static str),
    /// Nobody waits for it any more.
    Abandoned,
}

/// A fetch that has ended.
pub struct ObservedFetch<'f> {
    /// Number that [`Observer::source`] gave its source.
    pub source: u32,
    /// When it began.
    pub began: Instant,
    /// Its duration.
    pub took: Duration,
    /// Its outcome.
    pub outcome: FetchOutcome,
    /// Span of the request, and the fetch's own.
    pub spans: Option<(SpanContext, SpanContext)>,
    node: &'f PreparedNode,
    input: ExplainInput<'f>,
}

impl ObservedFetch<'_> {
    /// The statements or call templates of the fetch, without values.
    #[must_use]
    pub fn calls(&self) -> String {
        let mut text = String::new();
        self.node.fetch.explain(self.input, &mut text);
        text
    }
}

/// Listens to an engine. What it is told on the way of a request it must not wait for.
pub trait Observer: Send + Sync + fmt::Debug {
    /// The number of `operation`. Plans of one operation differ in callers, protocols and the state of `@skip` and `@include`.
    fn operation(&self, operation: &ObservedOperation<'_>) -> u64;
    /// The number of the source `name`.
    fn source(&self, name: &str) -> u32;
    /// A stage has ended.
    fn stage(&self, stage: &ObservedStage);
    /// A fetch from the source begins, within the span `request`. The result is its own span.
    fn fetch_begins(&self, source: u32, request: Option<SpanContext>) -> Option<SpanContext>;
    /// A fetch has ended.
    fn fetch_ended(&self, fetch: &ObservedFetch<'_>);
}

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
        self.of.observer.fetch_ended(&ObservedFetch {
            source: self.source,
            began: self.began,
            took: self.began.elapsed(),
            outcome: self.outcome,
            spans: self.of.request.zip(self.span),
            node: self.node,
            input: self.input,
        });
    }
}

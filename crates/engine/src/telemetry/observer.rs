//! Observer of an engine: it numbers operations and sources, and receives each stage of a request and each fetch.
//!
//! **Invariant:** a fetch that began is reported exactly once, also if it is dropped; no value of a request is reported.
//!
//! **Cost:** without an observer, a test of an option per stage and fetch. With one, a call and a reading of the clock; the engine
//! allocates nothing. Calls of a fetch are rendered only if the observer asks for them, or if the span is sampled.

use super::operation_cost::OperationCost;
use super::span::SpanContext;
use std::collections::BTreeSet;
use std::fmt;
use std::time::{Duration, Instant};
use weir_language::ast::OperationKind;

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
    /// Lexer and parser.
    Parse,
    /// Validation.
    Validate,
    /// Planner, with the preparation of nodes.
    Plan,
    /// Coercion of variables.
    Bind,
    /// Execution: fetches and writing of the answer.
    Execute,
}

/// A stage that has ended.
#[derive(Clone, Copy, Debug)]
pub struct ObservedStage<'s> {
    /// Which.
    pub stage: Stage,
    /// When it began.
    pub began: Instant,
    /// Duration of the stage.
    pub took: Duration,
    /// Span of the request.
    pub request: Option<SpanContext>,
    /// The client's `tracestate`, if its trace is sampled.
    pub trace_state: Option<&'s str>,
}

/// A database as those who trace know it. Source: semantic conventions of OpenTelemetry for database client spans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseAddress {
    /// `db.system.name`: `postgresql`, `sqlite`.
    pub system: &'static str,
    /// `db.namespace`: name of the database.
    pub namespace: String,
    /// Host, or folder of a socket; `None`: the database is a file.
    pub host: Option<String>,
    /// Port, where there is one.
    pub port: Option<u16>,
}

/// Outcome of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchOutcome {
    /// The source answered; single fields may have failed.
    Answered,
    /// It did not, or refused: the code of the error.
    Failed(&'static str),
    /// The fetch was dropped before its end.
    Abandoned,
}

/// A fetch that has ended.
pub struct ObservedFetch<'f> {
    /// Number that [`Observer::source`] gave its source.
    pub source: u32,
    /// When it began.
    pub began: Instant,
    /// Duration of the fetch.
    pub took: Duration,
    /// Outcome of the fetch.
    pub outcome: FetchOutcome,
    /// Span of the request, and the fetch's own.
    pub spans: Option<(SpanContext, SpanContext)>,
    /// Client's `tracestate`, see [`ObservedStage::trace_state`].
    pub trace_state: Option<&'f str>,
    /// Renders the statements or call templates of the fetch, without values; call it only if needed.
    pub calls: &'f dyn Fn() -> String,
}

/// A call that a source made for a fetch whose span is sampled, retries and hedges included.
#[derive(Clone, Copy, Debug)]
pub struct ObservedCall<'c> {
    /// Span of the fetch.
    pub fetch: SpanContext,
    /// The span of the call itself.
    pub span: SpanContext,
    /// Client's `tracestate`, see [`ObservedStage::trace_state`].
    pub trace_state: Option<&'c str>,
    /// When it began.
    pub began: Instant,
    /// Duration of the call.
    pub took: Duration,
    /// Method of HTTP.
    pub method: &'c str,
    /// Scheme of the service's URL.
    pub scheme: &'c str,
    /// Host of the service.
    pub host: &'c str,
    /// Port of the service.
    pub port: u16,
    /// The path with placeholders for values.
    pub template: &'c str,
    /// Status of the answer, if there is one.
    pub status: Option<u16>,
    /// Code of a call without an answer; `None` also if the call was dropped.
    pub error: Option<&'static str>,
    /// Number of attempts.
    pub attempts: u32,
}

/// Observes an engine. Methods run within requests and must not block.
pub trait Observer: Send + Sync + fmt::Debug {
    /// The number of `operation`. Plans of one operation differ in callers, protocols and the state of `@skip` and `@include`.
    fn operation(&self, operation: &ObservedOperation<'_>) -> u64;
    /// The number of the source `name`.
    fn source(&self, name: &str) -> u32;
    /// Reports the database address of the source with this number. Default: ignored.
    fn database(&self, source: u32, database: &DatabaseAddress) {
        let _ = (source, database);
    }
    /// A stage has ended.
    fn stage(&self, stage: &ObservedStage<'_>);
    /// A fetch from the source begins, within the span `request`. The result is its own span.
    fn fetch_begins(&self, source: u32, request: Option<SpanContext>) -> Option<SpanContext>;
    /// A fetch has ended.
    fn fetch_ended(&self, fetch: &ObservedFetch<'_>);
    /// An operation was refused for its cost, has run, or begins if its answer comes in several parts. The operation has this number,
    /// if it has run. Default: ignored.
    fn cost(&self, operation: Option<u64>, cost: &OperationCost) {
        let _ = (operation, cost);
    }
    /// A call begins within the span of a sampled fetch. Returns the call's span. Default: calls are not recorded.
    fn call_begins(&self, fetch: SpanContext) -> Option<SpanContext> {
        let _ = fetch;
        None
    }
    /// A call has ended. It may outlive its fetch.
    fn call_ended(&self, call: &ObservedCall<'_>) {
        let _ = call;
    }
}

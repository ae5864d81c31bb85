//! Interceptors of plan steps: each step of a plan is one call of one source, and is bound to its interceptors when the plan is made.
//!
//! **Invariant:** `after` is called once for each `before` that agreed, also if the call is given up. An answer that interceptors may
//! refuse is not shared between requests.
//!
//! **Cost:** without an interceptor of a step none. With one a reading of the clock and two dynamic calls per step, nothing per row.

use super::{BoxFuture, EventStream, ExplainInput, FetchInput, FetchResult, PlanNode, PreparedFetch};
use crate::answer::field_error::{FieldError, SourceError};
use crate::answer::output_plan::OutputPlan;
use crate::answer::rows::Column;
use crate::caching::tag_versions::{RowKey, Tag};
use crate::caller::Caller;
use crate::request::request_headers::Headers;
use crate::telemetry::observer::FetchOutcome;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_language::ast::OperationKind;

/// A step for which a plan is made.
#[derive(Clone, Copy)]
pub struct PlannedStep<'s> {
    /// Name of the source that it calls.
    pub source: &'s str,
    /// Kind of the operation.
    pub kind: OperationKind,
    /// True if it stands at the root: it has no parents.
    pub is_root: bool,
    fields: &'s [u32],
    node: &'s PlanNode<'s>,
}

impl PlannedStep<'_> {
    /// Coordinates of the fields that the step answers: `Query.users`.
    pub fn coordinates(&self) -> impl Iterator<Item = String> {
        let output: &OutputPlan = self.node.output;
        let schema = self.node.schema;
        self.fields.iter().map(move |it| {
            let field = output.fields[*it as usize].field;
            format!("{}.{}", schema.type_name(schema.field(field).parent), schema.field_name(field))
        })
    }
}

/// Chooses the interceptor of each step.
pub trait Interceptor: Send + Sync {
    /// The interceptor of `step`; `None`: the step has none. Called when a plan is made.
    fn bind(&self, step: &PlannedStep<'_>) -> Option<Box<dyn StepInterceptor>>;
}

/// One run of a step.
#[derive(Clone, Copy)]
pub struct StepCall<'c> {
    /// The caller.
    pub caller: &'c Caller,
    /// The client's headers, and the data of the embedding program.
    pub headers: &'c dyn Headers,
    /// Number of parents whose keys differ; 1 at the root.
    pub parents: usize,
    /// When the answer has to be there.
    pub deadline: Instant,
}

/// Sees a step before and after its call.
pub trait StepInterceptor: Send + Sync {
    /// Before the call.
    /// # Errors
    /// The step is refused: the source is not called, and this stands for its fields.
    fn before(&self, call: &StepCall<'_>) -> Result<(), FieldError> {
        let _ = call;
        Ok(())
    }
    /// After the call.
    fn after(&self, call: &StepCall<'_>, outcome: FetchOutcome, took: Duration) {
        let _ = (call, outcome, took);
    }
}

/// Wraps the fetch of `node` from `source` in the interceptors of its step.
pub(crate) fn intercept_fetch(
    interceptors: &[Arc<dyn Interceptor>],
    source: &str,
    node: &PlanNode<'_>,
    fetch: Box<dyn PreparedFetch>,
) -> Box<dyn PreparedFetch> {
    if interceptors.is_empty() {
        return fetch;
    }
    let is_root = node.parent_keys.is_none();
    let step = PlannedStep { source, kind: node.kind, is_root, fields: node.fields, node };
    let steps: Vec<_> = interceptors.iter().filter_map(|it| it.bind(&step)).collect();
    if steps.is_empty() { fetch } else { Box::new(InterceptedFetch { fetch, steps }) }
}

struct InterceptedFetch {
    fetch: Box<dyn PreparedFetch>,
    /// The first is the outermost.
    steps: Vec<Box<dyn StepInterceptor>>,
}

/// A call in progress. Dropping it calls `after` on its interceptors.
struct UnderWay<'u> {
    call: StepCall<'u>,
    /// Interceptors whose `before` succeeded.
    steps: &'u [Box<dyn StepInterceptor>],
    began: Instant,
    outcome: FetchOutcome,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let took = self.began.elapsed();
        self.steps.iter().rev().for_each(|it| it.after(&self.call, self.outcome, took));
    }
}

impl PreparedFetch for InterceptedFetch {
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        Box::pin(async move {
            let parents = input.parent_keys.and_then(<[Column]>::first).map_or(1, Column::len);
            let FetchInput { caller, headers, deadline, .. } = input;
            let call = StepCall { caller, headers, parents, deadline };
            let began = Instant::now();
            let outcome = FetchOutcome::Abandoned;
            let mut under_way = UnderWay { call, steps: &[], began, outcome };
            for (at, step) in self.steps.iter().enumerate() {
                if let Err(error) = step.before(&call) {
                    under_way.outcome = FetchOutcome::Failed(error.code);
                    return Err(SourceError::Rejected { error, field: None });
                }
                under_way.steps = &self.steps[..=at];
            }
            let reply = self.fetch.run(input).await;
            under_way.outcome = match &reply {
                Ok(_) => FetchOutcome::Answered,
                Err(error) => FetchOutcome::Failed(error.code()),
            };
            reply
        })
    }
    fn touches(&self) -> &[Tag] {
        self.fetch.touches()
    }
    fn refusal(&self, input: FetchInput<'_>) -> Option<FieldError> {
        self.fetch.refusal(input)
    }
    fn rows(&self, input: FetchInput<'_>) -> Vec<RowKey> {
        self.fetch.rows(input)
    }
    fn reads_untagged(&self) -> bool {
        self.fetch.reads_untagged()
    }
    fn may_change_data(&self) -> bool {
        self.fetch.may_change_data()
    }
    fn is_stream(&self) -> bool {
        self.fetch.is_stream()
    }
    fn reads_headers(&self) -> &[Box<str>] {
        self.fetch.reads_headers()
    }

    fn reads_all_headers(&self) -> bool {
        self.fetch.reads_all_headers()
    }
    fn reads_claims(&self) -> &[Box<str>] {
        self.fetch.reads_claims()
    }
    fn is_personal(&self, _: &dyn Headers) -> bool {
        // An interceptor may distinguish callers by anything.
        true
    }
    fn asks(&self) -> &[u32] {
        self.fetch.asks()
    }
    fn has_objects(&self) -> bool {
        self.fetch.has_objects()
    }
    fn has_lifetime(&self) -> bool {
        false
    }
    fn events(&self, input: FetchInput<'_>) -> Option<Result<EventStream, FieldError>> {
        self.fetch.events(input)
    }
    fn explain(&self, input: ExplainInput<'_>, out: &mut String) {
        self.fetch.explain(input, out);
    }
    fn describe(&self, input: ExplainInput<'_>, out: &mut String) {
        self.fetch.describe(input, out);
    }
}

//! Runs a bound plan: fetches from the sources, gathers keys for child nodes, and assembles the answer.
//!
//! Root nodes of a query run concurrently, those of a mutation one after the other. Child nodes are fetched level by level, one
//! round trip per node for all parents ([`gather_keys`]). Members of a refused root node are retried separately (`isolate_failures`).
//! `assemble_answer` writes the bytes, [`answer_stream`] forwards what a source has not finished yet. If one node covers the whole answer and
//! returns finished bytes, they are the answer.
//!
//! **Invariant:** a source cannot take the engine down: its panic is an error, its silence ends at the deadline.
//!
//! **Cost:** one dynamic call per round trip; the timer is touched only if the source does not answer at once.

mod answer_meter;
mod answer_stream;
pub(crate) mod assemble_answer;
pub(crate) mod committed;
pub(crate) mod gather_keys;
mod isolate_failures;
mod key_set;
mod live_parts;
pub(crate) mod metering;
mod observe;
mod shared;

pub(crate) use live_parts::{LiveParts, PartLifetime};
pub(crate) use observe::Observation;
pub(crate) use shared::run_shared;

use crate::answer::field_error::{PathError, SourceError};
use crate::answer::output_plan::PlanNodeId;
use crate::answer::response::{Body, Capacity};
use crate::answer::rows::{Column, Data, Rows};
use crate::caching::cache_control::CacheControl;
use crate::caching::lifetime::CachePolicy;
use crate::caching::tag_versions::{ChangeRecord, InvalidateOnDrop, TagVersions};
use crate::caller::Caller;
use crate::compose::Graph;
use crate::plan::{Plan, PreparedNode};
use crate::request::protocol::Protocol;
use crate::request::request_headers::Headers;
use crate::source::{
    BatchBarrier, Chunks, FetchBody, FetchInput, FetchResult, Finished, NodeObjects, RequestCaches,
    RequestObjects, RequestScope, StreamRead,
};
use futures_util::FutureExt;
use futures_util::future::join_all;
use gather_keys::Gather;
use metering::Metering;
use std::any::Any;
use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_language::ast::OperationKind;
use weir_language::value::Variables;

/// Time beyond the deadline in which a source may find out the outcome of a mutation.
const SETTLE_MAX: Duration = Duration::from_secs(5);

/// A bound plan and all it is run with.
#[derive(Clone, Copy)]
pub(crate) struct ExecutionContext<'r> {
    pub(crate) graph: &'r Graph,
    pub(crate) plan: &'r Arc<Plan>,
    pub(crate) variables: &'r Arc<Variables>,
    /// Registry of the changes of mutations.
    pub(crate) changes: &'r TagVersions,
    pub(crate) caller: &'r Caller,
    pub(crate) headers: &'r dyn Headers,
    pub(crate) protocol: Protocol,
    /// The document, for the locations of errors.
    pub(crate) text: &'r str,
    pub(crate) deadline: Instant,
    pub(crate) hold_back_bytes: usize,
    /// Parts that one condition may have.
    pub(crate) conditions_max: u32,
    /// Observation of the request, which gets each fetch.
    pub(crate) observation: Option<&'r Observation<'r>>,
    /// See [`FetchInput::may_join`].
    pub(crate) may_join: bool,
    /// Batch of a stream that is being read.
    pub(crate) stream: Option<&'r Arc<StreamRead>>,
    /// Measures the cost of the answer.
    pub(crate) metering: Option<Metering<'r>>,
}

/// Result of one node.
pub(crate) enum FetchState {
    /// Bytes.
    Finished(Finished, Vec<PathError>),
    /// Rows are in the table of all rows; these fields failed.
    Rows(Vec<PathError>),
    /// Nothing.
    Failed(SourceError),
    /// A node before it failed, or it stands below the root.
    Waiting,
}

/// The answers of all nodes.
pub(crate) struct FetchResults {
    /// By [`PlanNodeId`].
    pub(crate) asked: Vec<FetchState>,
    /// By [`PlanNodeId`].
    pub(crate) rows: Vec<Option<Rows>>,
    /// Lifetimes that sources gave for their nodes; empty when none did.
    cache_control: Vec<(PlanNodeId, CacheControl)>,
    /// Later items of lists at the root; empty when all came at once.
    pub(crate) later_items: Vec<(PlanNodeId, Chunks)>,
}

/// Context of a fetch.
#[derive(Clone, Copy, Default)]
pub(crate) struct BatchContext<'r> {
    pub(crate) caches: Option<&'r RequestCaches>,
    pub(crate) level: Option<&'r BatchBarrier>,
    pub(crate) objects: Option<&'r RequestObjects>,
    /// See [`FetchInput::first_items`].
    pub(crate) first_items: Option<u32>,
}

/// An answer and what is known of it.
pub(crate) struct ExecutionResult {
    pub(crate) body: Body,
    pub(crate) capacity: Capacity,
    /// Lifetime of the answer, if known.
    pub(crate) cache_control: Option<CacheControl>,
}

/// Runs the plan and writes the answer.
pub(crate) fn run(run: ExecutionContext<'_>) -> impl Future<Output = ExecutionResult> {
    run_noting(run, None)
}

/// Runs like [`run`], and records lifetimes and tags of the parts in `parts`.
pub(crate) async fn run_noting(run: ExecutionContext<'_>, parts: Option<&mut LiveParts>) -> ExecutionResult {
    let plan = run.plan;
    let mut results = if plan.whole {
        let caches = run.caches();
        let mut reply = run
            .ask_root(&plan.nodes[0], BatchContext { caches: caches.as_ref(), ..BatchContext::default() })
            .await;
        if let Ok(FetchResult { body: FetchBody::Finished(finished), errors, cache_control: None }) =
            &mut reply
            && errors.is_empty()
            && !finished.failed
            && finished.rest.is_none()
        {
            let body = Body::Whole(wrap(std::mem::take(&mut finished.bytes)));
            if let Some(parts) = parts {
                parts.note(plan, &[], |_| true);
            }
            let cache_control = run.policy(&[], |_| true).resolve();
            return ExecutionResult { body, capacity: Capacity::Enough, cache_control };
        }
        let mut results = FetchResults::none(plan);
        results.put(PlanNodeId(0), reply);
        results
    } else {
        let mut results = FetchResults::none(plan);
        if !plan.nodes.is_empty() {
            // Apart, so that requests of one node do not carry room for many: a future is moved before it first runs.
            Box::pin(run.ask_all(&mut results)).await;
        }
        results
    };
    let said = std::mem::take(&mut results.cache_control);
    let was_asked = |it: usize| !matches!(results.asked[it], FetchState::Waiting);
    let mut policy = run.policy(&said, was_asked);
    if let Some(parts) = parts {
        parts.note(plan, &said, was_asked);
    }
    let (body, capacity) = assemble_answer::write(run, results);
    if !body.is_sound() {
        policy.fail();
    }
    ExecutionResult { body, capacity, cache_control: policy.resolve() }
}

/// `{"data":{…}}` around members that each end with a comma.
fn wrap(mut members: Vec<u8>) -> Vec<u8> {
    const HEAD: &[u8] = b"{\"data\":{";
    if members.last() == Some(&b',') {
        members.pop();
    }
    let len = members.len();
    members.reserve_exact(HEAD.len() + 2);
    members.extend_from_slice(HEAD);
    members.copy_within(0..len, HEAD.len());
    members[..HEAD.len()].copy_from_slice(HEAD);
    members.extend_from_slice(b"}}");
    members
}

impl FetchResults {
    pub(crate) fn none(plan: &Plan) -> Self {
        let nodes = plan.nodes.len();
        Self {
            asked: std::iter::repeat_with(|| FetchState::Waiting).take(nodes).collect(),
            rows: vec![None; nodes],
            cache_control: Vec::new(),
            later_items: Vec::new(),
        }
    }

    pub(crate) fn put(&mut self, node: PlanNodeId, reply: Result<FetchResult, SourceError>) {
        let at = node.0 as usize;
        self.asked[at] = match reply {
            Ok(FetchResult { body, errors, cache_control }) => {
                self.cache_control.extend(cache_control.map(|it| (node, it)));
                match body {
                    FetchBody::Finished(finished) => FetchState::Finished(finished, errors),
                    FetchBody::Rows(rows) => {
                        self.rows[at] = Some(rows);
                        FetchState::Rows(errors)
                    }
                    FetchBody::FirstItems(rows, chunks) => {
                        self.later_items.push((node, chunks));
                        self.rows[at] = Some(rows);
                        FetchState::Rows(errors)
                    }
                }
            }
            Err(error) => {
                error.tell_operator();
                FetchState::Failed(error)
            }
        };
    }
}

impl<'r> ExecutionContext<'r> {
    /// Cache policy of the whole answer: from sources, hints and the operation, for the nodes that were fetched.
    fn policy(&self, said: &[(PlanNodeId, CacheControl)], was_asked: impl Fn(usize) -> bool) -> CachePolicy {
        // A shared answer always gets a policy, even if all its parts fail.
        let mut policy = CachePolicy::new(self.plan.sharing.is_some());
        let cache_directive =
            self.plan.operation.cache_directive.filter(|_| self.plan.kind == OperationKind::Query);
        if said.is_empty() && self.plan.sharing.is_none() && !self.graph.has_hints() {
            return policy;
        }
        let directive_s = cache_directive.map(|it| it.seconds(self.variables));
        for (at, node) in self.plan.nodes.iter().enumerate() {
            if node.source.is_some() && was_asked(at) {
                let cache_control = said.iter().find(|it| it.0.0 as usize == at).map(|it| &it.1);
                policy.add(cache_control, &node.hints, directive_s);
            }
        }
        policy
    }

    /// Memories of the nodes' answers, if nodes may repeat a call.
    pub(crate) fn caches(&self) -> Option<RequestCaches> {
        self.plan.repeats.then(|| RequestCaches::new(self.graph.sources().len()))
    }

    /// Objects of `node` and of its parents.
    fn objects_of<'o>(objects: &'o RequestObjects, node: &PreparedNode) -> NodeObjects<'o> {
        objects.node_objects(node.id.0, node.parent.as_ref().map(|it| it.node.0))
    }

    /// Objects of the nodes, if any keep some.
    pub(crate) fn objects(&self) -> Option<RequestObjects> {
        self.plan.has_objects.then(|| RequestObjects::new(self.plan.nodes.len()))
    }

    /// All nodes.
    async fn ask_all(&self, results: &mut FetchResults) {
        match self.plan.kind {
            OperationKind::Query | OperationKind::Subscription => self.ask_together(results).await,
            OperationKind::Mutation => self.ask_in_turn(results, self.objects().as_ref(), None).await,
        }
    }

    /// Runs the root nodes of a query concurrently, each with its child nodes.
    async fn ask_together(&self, results: &mut FetchResults) {
        let root = &self.plan.nodes[..self.plan.root_nodes as usize];
        let caches = self.caches();
        let objects = self.objects();
        let batch =
            BatchContext { caches: caches.as_ref(), objects: objects.as_ref(), ..BatchContext::default() };
        let replies = match root {
            [] => Vec::new(),
            [only] => vec![self.ask_root(only, batch).await],
            several => join_all(several.iter().map(|node| self.ask_root(node, batch))).await,
        };
        for (at, reply) in replies.into_iter().enumerate() {
            results.put(PlanNodeId(at as u32), reply);
        }
        let level = (0..root.len()).map(|at| PlanNodeId(at as u32)).collect();
        gather_keys::ask_below(self, results, level, batch, None).await;
    }

    /// The runs of a mutation. What was done before a run fails stays done; over Hasura's protocol, whose answer then has no data,
    /// nothing more is done.
    pub(crate) async fn ask_in_turn(
        &self,
        results: &mut FetchResults,
        objects: Option<&RequestObjects>,
        mut held: Option<&mut Vec<Gather>>,
    ) {
        for at in 0..self.plan.root_nodes {
            let node = PlanNodeId(at);
            let alone = BatchContext { objects, ..BatchContext::default() };
            let reply = self.ask(self.plan.node(node), None, alone).await;
            let failed =
                reply.as_ref().map_or(true, |it| self.protocol == Protocol::Hasura && it.has_failed_fields());
            results.put(node, reply);
            if failed && (self.protocol == Protocol::Hasura || self.is_fatal(node)) {
                break;
            }
            // Answers from before a change are not reused after it.
            let caches = self.caches();
            let batch = BatchContext { caches: caches.as_ref(), ..alone };
            gather_keys::ask_below(self, results, vec![node], batch, held.as_deref_mut()).await;
        }
    }

    /// True if the failure of `node` makes `data` null.
    fn is_fatal(&self, node: PlanNodeId) -> bool {
        let fields = &self.plan.node(node).fields;
        fields.iter().any(|&field| self.plan.output.fields[field as usize].ty.is_non_null())
    }

    /// Deadline of a source. A mutation at its deadline has an unknown outcome, so its source gets some more time to roll back or to
    /// report.
    fn source_deadline(&self) -> Instant {
        match self.plan.kind {
            OperationKind::Query | OperationKind::Subscription => self.deadline,
            OperationKind::Mutation => self.deadline + SETTLE_MAX,
        }
    }

    /// A node at the root of a query: once, or member by member when what one of them asks is refused.
    pub(crate) async fn ask_root(
        &self,
        node: &PreparedNode,
        batch: BatchContext<'_>,
    ) -> Result<FetchResult, SourceError> {
        match self.ask(node, None, batch).await {
            // Rare, so its state is not part of every request's.
            Err(error) if isolate_failures::may_succeed_alone(self, node, &error) => {
                Ok(Box::pin(isolate_failures::ask_each(self, node)).await)
            }
            reply => reply,
        }
    }

    /// The invalidation of what a change touches.
    fn invalidation<'c>(&'c self, node: &'c PreparedNode, input: FetchInput<'_>) -> InvalidateOnDrop<'c> {
        let rows = if self.changes.has_listeners() { node.fetch.rows(input) } else { Vec::new() };
        let tags = Cow::Borrowed(node.fetch.touches());
        InvalidateOnDrop { changes: self.changes, tags, rows, is_done: false }
    }

    /// One round trip: the only dynamic call on the way.
    pub(crate) async fn ask(
        &self,
        node: &PreparedNode,
        keys: Option<&[Column]>,
        batch: BatchContext<'_>,
    ) -> Result<FetchResult, SourceError> {
        let level = batch.level.filter(|_| node.repeats);
        let cache = batch
            .caches
            .filter(|_| node.repeats)
            .zip(node.source)
            .map(|(caches, source)| caches.cache_of(source));
        let observed = self.observation.and_then(|it| it.begin(node, &self.plan.output, self.variables));
        let span = observed.as_ref().and_then(|it| it.span);
        let is_change = keys.is_none() && self.plan.kind == OperationKind::Mutation;
        // State of changes alone stands elsewhere: the future of every fetch would be larger by it.
        let record = is_change.then(Box::<ChangeRecord>::default);
        let input = FetchInput {
            changes: record.as_deref(),
            span: span.as_ref(),
            output: &self.plan.output,
            variables: self.variables,
            caller: self.caller,
            parent_keys: keys,
            headers: self.headers,
            deadline: self.deadline,
            hold_back_bytes: self.hold_back_bytes,
            objects: batch.objects.map(|it| Self::objects_of(it, node)),
            request_scope: cache.map(|cache| RequestScope { cache, barrier: level }),
            may_join: self.may_join,
            stream: self.stream.filter(|_| node.fetch.is_stream()),
            first_items: batch.first_items,
        };
        let mut noting = is_change.then(|| Box::new(self.invalidation(node, input)));
        // The call itself is inside, so that a panic before the first await is caught too.
        let asked = AssertUnwindSafe(async { node.fetch.run(input).await }).catch_unwind();
        let mut asked = std::pin::pin!(asked);
        let first = futures_util::poll!(asked.as_mut());
        level.into_iter().for_each(BatchBarrier::arrive);
        let reply = match first {
            std::task::Poll::Ready(reply) => reply,
            std::task::Poll::Pending => {
                match tokio::time::timeout_at(self.source_deadline().into(), asked).await {
                    Ok(reply) => reply,
                    Err(_) => Ok(Err(SourceError::Timeout)),
                }
            }
        };
        if let Some((noting, record)) = noting.as_mut().zip(record.as_deref())
            && !matches!(reply, Ok(Err(SourceError::Timeout)))
        {
            noting.apply_record(record);
        }
        let reply = reply.unwrap_or_else(panic_error).and_then(|it| with_first_items(it, batch.first_items));
        if let Some(observed) = observed {
            observed.end(&reply);
        }
        reply
    }
}

/// The error of a source that panicked.
fn panic_error(panic: Box<dyn Any + Send>) -> Result<FetchResult, SourceError> {
    let words = panic.downcast_ref::<&str>().copied();
    let words = words.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    Err(SourceError::Broken(format!("panicked: {}", words.unwrap_or("no words")).into()))
}

/// Checks that later items exist only where they are allowed, and that the reply has as many first items as requested.
fn with_first_items(reply: FetchResult, first_items: Option<u32>) -> Result<FetchResult, SourceError> {
    let FetchBody::FirstItems(rows, _) = &reply.body else { return Ok(reply) };
    let ends = rows.columns.last().and_then(|it| match &it.data {
        Data::List { offsets, .. } => Some(&**offsets),
        _ => None,
    });
    match first_items.zip(ends) {
        Some((first, [0, end])) if *end == first => Ok(reply),
        Some(_) | None => Err(SourceError::Broken("not as many first items as were asked for".into())),
    }
}

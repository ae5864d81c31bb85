//! Compiles a checked operation to an immutable [`Plan`].
//!
//! The file list is the order of the passes: `conditions` finds the variables of `@skip` and `@include`, `collect`
//! merges fields and expands fragments per concrete type into a [`OutputPlan`], `dedupe_fields` finds equal work,
//! `deferral` finds the fragments that come later, `const_fold` renders what only depends on the schema, `refused` knows the members that fail anyway, `assign_sources` gives each
//! member to the source that answers it (`attach_joins` puts a node below a set), `sharing` says how long answers live and who
//! shares them, and `build_plan` runs them and has every source prepare its nodes. `plan_cache` keeps the plans, `print_plan` shows them.
//!
//! **Invariant:** a plan never changes once built and belongs to one graph and one text.

mod assign_sources;
pub(crate) mod build_plan;
mod collect;
mod conditions;
mod const_fold;
mod dedupe_fields;
pub(crate) mod deferral;
mod field_arguments;
pub(crate) mod plan_cache;
pub(crate) mod plan_context;
pub(crate) mod plan_cost;
mod print_plan;
pub(crate) mod refused;
mod sharing;

pub use crate::answer::output_plan;

use crate::answer::output_plan::{OutputPlan, PlanNodeId, SelectionSetId};
use crate::answer::size_hint::SizeHint;
use crate::caching::lifetime::NodeHints;
use crate::caller::Caller;
use crate::request::request_headers::Headers;
use crate::source::{ExplainInput, PlanVariable, PreparedFetch};
use deferral::Deferral;
use plan_cost::PlanCost;
use sharing::cache_directive::CacheDirective;
use std::sync::Arc;
use weir_language::ast::OperationKind;
use weir_language::coerce::VariableTypes;

pub(crate) use conditions::ConditionVariables;
pub use field_arguments::NeverNull;
pub(crate) use sharing::response_sharing::ResponseSharing;

/// All that is done for an operation before its variables are known.
pub struct Plan {
    /// Query or mutation.
    pub kind: OperationKind,
    /// Form of the answer.
    pub output: Arc<OutputPlan>,
    /// The set of the root.
    pub root: SelectionSetId,
    /// The round trips; those at the root first, in response order.
    pub nodes: Vec<PreparedNode>,
    /// Number of `nodes` at the root.
    pub root_nodes: u32,
    /// One node answers every member of the root in order: its bytes are the answer.
    pub whole: bool,
    /// By [`SelectionSetId`]: whether foreign members stand in the set or below it.
    pub foreign_below: Vec<bool>,
    /// Types and defaults of the variables.
    pub operation: Arc<PlannedOperation>,
    /// The members of the root in their order; those of a namespace follow it.
    pub root_members: Vec<RootMember>,
    /// Places that take no null though their variables may be null.
    pub never_null: Vec<NeverNull>,
    /// The steering variables that decided something: bits of the state the plan was made for.
    pub asked: u64,
    /// True if one of its nodes repeats another.
    pub repeats: bool,
    /// True if one of its nodes keeps objects for those below it.
    pub has_objects: bool,
    /// Rules for sharing its answers, if they may be shared.
    pub(crate) sharing: Option<ResponseSharing>,
    /// The parts of its answer that come later, if there are any.
    pub(crate) deferral: Option<Box<Deferral>>,
    /// Size of its answers without constants, if they are put together from those of nodes.
    pub(crate) size: SizeHint,
    /// Cost of the operation, if the engine estimates costs.
    pub(crate) cost: Option<Box<PlanCost>>,
    /// Bytes this plan takes, roughly: its weight in the cache.
    pub weight_bytes: usize,
    /// Number of its operation, if an observer gave one.
    pub number: Option<u64>,
}

/// A member of the root, or of a namespace in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootMember {
    /// Index in [`OutputPlan::fields`].
    pub field: u32,
    /// Node that answers it, or that answers the earlier equal member; `u32::MAX` if no node does.
    pub node: u32,
    /// Index in [`PreparedNode::fields`] of that node.
    pub place: u32,
    /// Set of its members, if it is a namespace.
    pub namespace: Option<SelectionSetId>,
}

impl RootMember {
    /// One that no node answers.
    pub(crate) const NONE: Self = Self { field: u32::MAX, node: u32::MAX, place: u32::MAX, namespace: None };
}

impl Plan {
    /// True if a run may change data: a mutation, or a query that calls what changes some.
    pub(crate) fn may_change_data(&self) -> bool {
        self.kind == OperationKind::Mutation || self.nodes.iter().any(|it| it.fetch.may_change_data())
    }

    /// True if its answer to `caller` depends on a credential, so that it is private to the client.
    pub(crate) fn is_private(&self, caller: &Caller, headers: &dyn Headers) -> bool {
        let claims = self.nodes.iter().flat_map(|it| it.fetch.reads_claims()).map(|it| &**it);
        !caller.is_public(claims) || self.nodes.iter().any(|it| it.fetch.is_personal(headers))
    }
}

/// Types and defaults of an operation's variables, for binding: shared by all plans of one text that differ in the state of
/// their `@skip`/`@include` variables.
#[derive(Debug)]
pub struct PlannedOperation {
    /// The variables, in order, then the JSON literals with variables inside.
    pub variables: Vec<PlanVariable>,
    /// Types and coerced defaults of the variables.
    pub(crate) types: Arc<VariableTypes>,
    /// The variables that steer `@skip` and `@include`.
    pub(crate) steering: ConditionVariables,
    /// Lifetime of its answer, if the operation sets one.
    pub(crate) cache_directive: Option<CacheDirective>,
}

/// One round trip of a plan.
pub struct PreparedNode {
    /// Index in [`Plan::nodes`].
    pub id: PlanNodeId,
    /// Place of the source in [`crate::compose::Graph::sources`]; `None` for what the engine answers: introspection and
    /// members that fail.
    pub source: Option<u16>,
    /// The set its members belong to.
    pub set: SelectionSetId,
    /// Indexes of its members in [`OutputPlan::fields`]. Root members that equal an earlier one are left out.
    pub fields: Vec<u32>,
    /// Below the root: which node gives the parents and where their keys are.
    pub parent: Option<ParentKeys>,
    /// True if the source must return rows instead of bytes, because nodes hang below.
    pub must_be_rows: bool,
    /// True if one of its calls may repeat a call of another node or its own.
    pub repeats: bool,
    /// Cache hints of the schema.
    pub hints: NodeHints,
    /// The prepared fetch.
    pub fetch: Box<dyn PreparedFetch>,
}

/// Origin of the keys of a node below the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParentKeys {
    /// The node whose rows are the parents.
    pub node: PlanNodeId,
    /// The set the foreign member stands in.
    pub set: SelectionSetId,
    /// By `Node::Parent` number: the place in [`output_plan::SelectionSet::hidden`].
    pub hidden: Vec<u32>,
    /// Number of leading keys that must not be null, else the parent is not fetched; later keys may be null.
    pub required: usize,
}

impl PlannedOperation {
    /// Bytes it takes, roughly.
    pub(crate) fn weight_bytes(&self) -> usize {
        let names: usize = self.variables.iter().map(|it| it.name.len()).sum();
        size_of::<Self>() + names + self.variables.len() * 2 * size_of::<PlanVariable>()
    }
}

impl Plan {
    /// The plan as an indented tree; `graph` is the one it was made for.
    pub fn print(&self, graph: &crate::compose::Graph, input: ExplainInput<'_>) -> String {
        print_plan::print(graph, self, input)
    }

    /// The member of the root that holds the members of a root node, if that is a namespace.
    pub(crate) fn namespace_of(&self, node: &PreparedNode) -> Option<u32> {
        let namespaces = || self.root_members.iter().find(|it| it.namespace == Some(node.set));
        if node.set == self.root { None } else { namespaces().map(|it| it.field) }
    }

    /// One node.
    pub fn node(&self, id: PlanNodeId) -> &PreparedNode {
        &self.nodes[id.0 as usize]
    }
}

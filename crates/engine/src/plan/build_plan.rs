//! Runs the passes: a planner context in, a plan out.

use super::assign_sources::assigned_node::AssignedNode;
use super::assign_sources::{assign_sources, namespace};
use super::collect::{Collected, collect};
use super::conditions::ConditionState;
use super::const_fold::const_fold;
use super::deferral::Deferral;
use super::plan_context::PlanContext;
use super::plan_cost::PlanCost;
use super::refused::{RefusedFetch, refuse_null_arguments};
use super::sharing::node_hints::hint;
use super::sharing::response_sharing::sharing_rules;
use super::{Plan, PlannedOperation, PreparedNode, RootMember, dedupe_fields};
use crate::answer::output_plan::{OutputKind, OutputPlan, PlanNodeId, SelectionSetId};
use crate::answer::size_hint::SizeHint;
use crate::caching::lifetime::NodeHints;
use crate::compose::{Graph, Owner};
use crate::errors::Failure;
use crate::introspect;
use crate::source::{PlanNode, PreparedFetch, RequestCaches};
use std::cell::Cell;
use std::sync::Arc;
use weir_language::ast::OperationKind;
use weir_language::error::{Code, Error};
use weir_language::span::Span;
use weir_language::value::Variables;

/// The set of the root.
const ROOT: SelectionSetId = SelectionSetId::ROOT;

/// Plans the operation for one state of its condition variables. With `variables` the plan is for these values only: members with a
/// null in a non-null position fail.
/// # Errors
/// Errors of the operation: arguments of the wrong type, members that a source refuses, too large an answer.
pub(crate) fn build(
    context: &PlanContext<'_>,
    operation: &Arc<PlannedOperation>,
    state: u64,
    variables: Option<&Variables>,
) -> Result<Plan, Vec<Failure>> {
    let kind = context.operation.kind;
    let guards = ConditionState { steering: &operation.steering, state, asked: Cell::new(0) };
    let Collected { mut output, never_null, asked, fragments } = collect(context, guards)?;
    if !context.introspection {
        refuse_introspection(context.graph, &output, ROOT)?;
    }
    let cost = context.weights.map(|it| Box::new(PlanCost::new(context, it, &output)));
    let kept = complete_sets(context.graph, &output, ROOT, kind);
    dedupe_fields::mark(&mut output, ROOT, &kept);
    const_fold(context, &mut output, ROOT);
    let refused = variables
        .map(|it| refuse_null_arguments(context.graph.schema(), &never_null, it))
        .unwrap_or_default();
    let (mut cuts, root_nodes) = assign_sources(context, &mut output, ROOT, &refused);
    let deferral = Deferral::of(fragments, &mut output, &mut cuts, kind).map(Box::new);
    let output = Arc::new(output);
    let mut nodes = prepare(context, operation, &output, cuts)?;
    hint(context.graph, &output, &mut nodes);
    mark_repeats(&mut nodes);
    let repeats = nodes.iter().any(|it| it.repeats);
    let has_objects = nodes.iter().any(|it| it.fetch.has_objects());
    let sharing = match deferral {
        None => sharing_rules(kind, operation.cache_directive, context.profile, &nodes),
        Some(_) => None,
    };
    let root_members = root_members(context.graph, &output, ROOT, &nodes[..root_nodes]);
    let whole = match nodes.as_slice() {
        [only] => only.set == ROOT && only.fields.len() == output.set(ROOT).len as usize,
        _ => false,
    };
    let foreign_below = foreign_below(&output, ROOT, &nodes);
    let weight_bytes = weight_bytes(&output, &nodes, cost.as_deref()) + operation.weight_bytes();
    Ok(Plan {
        kind,
        output,
        root: ROOT,
        nodes,
        root_nodes: root_nodes as u32,
        whole,
        foreign_below,
        operation: Arc::clone(operation),
        root_members,
        never_null,
        asked,
        repeats,
        has_objects,
        sharing,
        deferral,
        size: SizeHint::default(),
        cost,
        weight_bytes,
        number: None,
    })
}

/// Refuses `__schema` and `__type`, with the message of graphql-js.
fn refuse_introspection(
    graph: &Graph,
    output: &OutputPlan,
    root: SelectionSetId,
) -> Result<(), Vec<Failure>> {
    let members = output.members(root).iter();
    let asked = members.filter(|it| graph.owner(it.field) == Owner::Introspection);
    let failures = asked.filter(|it| !matches!(it.member, OutputKind::Constant { .. })).map(|member| {
        let name = graph.schema().field_name(member.field);
        let message = format!(
            "GraphQL introspection has been disabled, but the requested query contained the field \"{name}\"."
        );
        let span = Span::new(member.offset, member.offset);
        Failure::text(Error::new(Code::IntrospectionDisabled, span, message))
    });
    let failures: Vec<Failure> = failures.collect();
    if failures.is_empty() { Ok(()) } else { Err(failures) }
}

/// Prepares the nodes with their sources.
fn prepare(
    context: &PlanContext<'_>,
    operation: &PlannedOperation,
    output: &Arc<OutputPlan>,
    cuts: Vec<AssignedNode>,
) -> Result<Vec<PreparedNode>, Vec<Failure>> {
    let schema = context.graph.schema();
    let caches = RequestCaches::new(context.graph.sources().len());
    let prepared = cuts.into_iter().enumerate().map(|(at, assign_sources)| {
        let id = PlanNodeId(at as u32);
        let AssignedNode { source, set, fields, parent, part, answer, refused } = assign_sources;
        let fetch: Result<Box<dyn PreparedFetch>, _> = match (source, refused) {
            (_, Some(error)) => Ok(Box::new(RefusedFetch(error))),
            (None, None) => {
                Ok(introspect::prepare(schema, context.profile, output, (&fields, answer), context.protocol))
            }
            (Some(at), None) => {
                let ids = &context.graph.sources()[usize::from(at)].1;
                let node = PlanNode {
                    schema,
                    ids,
                    output,
                    set,
                    fields: &fields,
                    kind: context.operation.kind,
                    parent_keys: parent.as_ref().map(|it| it.hidden.len() as u32),
                    part,
                    answer,
                    facts: context.profile.facts(at),
                    protocol: context.protocol,
                    text: context.document.text,
                    conditions_max: context.conditions_max,
                    variables: &operation.variables,
                    cache: caches.cache_of(at),
                };
                context.graph.prepare(at, &node)
            }
        };
        let fetch = fetch.map_err(|error| {
            let holds = |it: &usize| namespace(context.graph, output, *it) == Some(set);
            let holder = output.set(ROOT).range().find(holds).map(|it| it as u32);
            vec![Failure::plan(output, error).pass_namespace(output, holder)]
        })?;
        let must_be_rows = answer.is_rows();
        let hints = NodeHints::default();
        let repeats = false;
        Ok(PreparedNode { id, source, set, fields, parent, must_be_rows, repeats, hints, fetch })
    });
    prepared.collect()
}

/// Marks the nodes whose sources may make the same call more than once.
fn mark_repeats(nodes: &mut [PreparedNode]) {
    let asks = |it: &PreparedNode| -> Vec<(Option<u16>, u32)> {
        it.fetch.asks().iter().map(|&number| (it.source, number)).collect()
    };
    let mut all: Vec<_> = nodes.iter().flat_map(asks).collect();
    all.sort_unstable();
    let repeated: Vec<_> = all.windows(2).filter(|it| it[0] == it[1]).map(|it| it[0]).collect();
    for node in nodes {
        node.repeats = asks(node).iter().any(|it| repeated.binary_search(it).is_ok());
    }
}

/// Sets whose members are all executed even if they repeat each other: the root and namespaces of a mutation, and a root with
/// namespaces, whose members are nodes of their own.
fn complete_sets(
    graph: &Graph,
    output: &OutputPlan,
    root: SelectionSetId,
    kind: OperationKind,
) -> Vec<SelectionSetId> {
    let namespaces: Vec<_> = output.set(root).range().filter_map(|at| namespace(graph, output, at)).collect();
    match kind {
        OperationKind::Mutation => std::iter::once(root).chain(namespaces).collect(),
        OperationKind::Query | OperationKind::Subscription => {
            namespaces.first().map(|_| root).into_iter().collect()
        }
    }
}

/// Computes [`Plan::root_members`].
fn root_members(
    graph: &Graph,
    output: &OutputPlan,
    root: SelectionSetId,
    nodes: &[PreparedNode],
) -> Vec<RootMember> {
    let mut members = Vec::with_capacity(output.set(root).len as usize);
    for at in output.set(root).range() {
        let inside = namespace(graph, output, at);
        members.push(RootMember { field: at as u32, namespace: inside, ..RootMember::NONE });
        let below = inside.into_iter().flat_map(|set| output.set(set).range());
        members.extend(below.map(|at| RootMember { field: at as u32, ..RootMember::NONE }));
    }
    let mut places = vec![(u32::MAX, u32::MAX); output.fields.len()];
    for (node, planned) in nodes.iter().enumerate() {
        for (place, &field) in planned.fields.iter().enumerate() {
            places[field as usize] = (node as u32, place as u32);
        }
    }
    for member in &mut members {
        let field = output.fields[member.field as usize].same_as.unwrap_or(member.field);
        (member.node, member.place) = places[field as usize];
    }
    members
}

/// By set: whether a foreign member stands in it or below it, within its node.
fn foreign_below(output: &OutputPlan, root: SelectionSetId, nodes: &[PreparedNode]) -> Vec<bool> {
    let mut foreign = vec![false; output.sets.len()];
    if nodes.iter().all(|it| it.parent.is_none()) {
        return foreign;
    }
    let starts = nodes.iter().map(|it| it.set).chain([root]);
    for start in starts.filter(|&it| it == root || output.set(it).len > 0) {
        for set in dedupe_fields::upwards(output, start) {
            foreign[set.0 as usize] = output.members(set).iter().any(|member| match member.member {
                OutputKind::Foreign { .. } => true,
                OutputKind::Object(below) => foreign[below.0 as usize],
                OutputKind::Abstract(choice) => {
                    output.type_switches[choice.0 as usize].sets.iter().any(|it| foreign[it.1.0 as usize])
                }
                OutputKind::Leaf | OutputKind::Constant { .. } => false,
            });
        }
    }
    foreign
}

/// Bytes of the tables and, as a guess, of what sources keep: as much again for each node's members.
fn weight_bytes(output: &OutputPlan, nodes: &[PreparedNode], cost: Option<&PlanCost>) -> usize {
    const PREPARED_BYTES: usize = 1024;
    let OutputPlan { sets, fields, type_switches, arguments, literals, constants, memberships, own_kinds } =
        output;
    let type_switches: usize =
        type_switches.iter().map(|it| size_of_val(it) + size_of_val(it.sets.as_slice())).sum();
    let own = size_of_val(sets.as_slice())
        + size_of_val(fields.as_slice())
        + size_of_val(arguments.as_slice())
        + size_of_val(literals.nodes.as_slice())
        + literals.text.len()
        + constants.len()
        + size_of_val(own_kinds.as_slice())
        + size_of_val(memberships.as_slice())
        + type_switches;
    2 * own + nodes.len() * PREPARED_BYTES + cost.map_or(0, PlanCost::weight_bytes)
}

impl Plan {
    /// The nodes that wait for the rows of `parent`.
    pub(crate) fn nodes_below(&self, parent: PlanNodeId) -> impl Iterator<Item = PlanNodeId> + '_ {
        let places = (self.root_nodes..self.nodes.len() as u32).map(PlanNodeId);
        places.filter(move |&it| self.node(it).parent.as_ref().is_some_and(|keys| keys.node == parent))
    }
}

//! Gives each member to the source that answers it: nodes at the root, nodes below foreign members.
//!
//! At a query's root, and in a namespace, all members of one source are one node, in a mutation each maximal run of them is; below,
//! each foreign member is one, and so are the members of one part of a type. A member that is refused is one wherever it stands. What those need of their parents becomes hidden fields of the set.
//!
//! **Invariant:** a node below the root comes after the node that has its parents.

pub(super) mod assigned_node;
mod attach_entities;
mod attach_joins;

use super::plan_context::PlanContext;
use super::refused::Refused;
use crate::answer::field_error::FieldError;
use crate::answer::output_plan::{OutputKind, OutputPlan, PlanNodeId, SelectionSetId};
use crate::compose::{Graph, Joined, Owner};
use crate::source::{
    AnswerForm, FieldResolution, FieldResolver, Ids, NodeId, OBJECT_KEY, SeparateFetch, SeparateFetchId,
};
use assigned_node::AssignedNode;
use attach_entities::{KeyedSet, attach_entities};
use attach_joins::{Attachment, SeparateCall, attach_join, attach_separate, refuse};
use smallvec::SmallVec;
use weir_language::ast::OperationKind;
use weir_language::schema::{FieldId, Schema, SchemaView, TypeId};

/// Cuts `output` into nodes and says how many of them stand at the root. `refused` are in the order of their places.
pub(crate) fn assign_sources(
    context: &PlanContext<'_>,
    output: &mut OutputPlan,
    root: SelectionSetId,
    refused: &[Refused],
) -> (Vec<AssignedNode>, usize) {
    let PlanContext { graph, view, operation, .. } = *context;
    let kind = operation.kind;
    let mut plan_nodes = cut_root(graph, output, root, kind, refused);
    let root_nodes = plan_nodes.len();
    let mut at = 0;
    let hangs = graph.has_dependent_nodes() || !refused.is_empty();
    while hangs && at < plan_nodes.len() {
        cut_below((graph, view), output, PlanNodeId(at as u32), refused, &mut plan_nodes);
        at += 1;
    }
    for plan_node in &mut plan_nodes[root_nodes..] {
        plan_node.answer = AnswerForm::Rows;
    }
    (plan_nodes, root_nodes)
}

/// Error of the member at `at`, if it is refused.
fn failure_at(refused: &[Refused], at: usize) -> Option<&FieldError> {
    let found = refused.binary_search_by_key(&(at as u32), |it| it.field);
    found.ok().map(|found| &refused[found].error)
}

fn cut_root(
    graph: &Graph,
    output: &OutputPlan,
    root: SelectionSetId,
    kind: OperationKind,
    refused: &[Refused],
) -> Vec<AssignedNode> {
    let mut plan_nodes: Vec<AssignedNode> = Vec::new();
    for at in output.set(root).range() {
        match namespace(graph, output, at) {
            Some(set) => output.set(set).range().for_each(|at| {
                cut_root_member(graph, output, set, at, kind, refused, &mut plan_nodes);
            }),
            None => cut_root_member(graph, output, root, at, kind, refused, &mut plan_nodes),
        }
    }
    for plan_node in &mut plan_nodes {
        // A repeated member copies the bytes of the first one, which a stream may have sent already.
        let is_copied = output.members(plan_node.set).iter().filter_map(|it| it.same_as).any(|first| {
            let first = output.fields[first as usize].member;
            !matches!(first, OutputKind::Constant { .. })
        });
        let contiguous = !is_copied && plan_node.fields.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        plan_node.answer = AnswerForm::Any { contiguous };
    }
    plan_nodes
}

/// The members of the root member at `at`, if it is a namespace.
pub(crate) fn namespace(graph: &Graph, output: &OutputPlan, at: usize) -> Option<SelectionSetId> {
    let member = &output.fields[at];
    match member.member {
        OutputKind::Object(set) if graph.is_namespace(member.field) => Some(set),
        _ => None,
    }
}

/// Gives the member at `at` of `set`, the root's or that of a namespace, to a node.
fn cut_root_member(
    graph: &Graph,
    output: &OutputPlan,
    set: SelectionSetId,
    at: usize,
    kind: OperationKind,
    refused: &[Refused],
    plan_nodes: &mut Vec<AssignedNode>,
) {
    let member = &output.fields[at];
    let source = match (member.member, graph.owner(member.field)) {
        (OutputKind::Constant { .. }, _) => return,
        _ if member.same_as.is_some() => return,
        (_, Owner::Source(source)) => Some(source),
        (_, Owner::Introspection) => None,
        (_, Owner::Join(_) | Owner::Namespace) => {
            unreachable!("joins and namespaces do not hang on root types")
        }
    };
    let why = failure_at(refused, at);
    let source = if why.is_some() { None } else { source };
    let open = match kind {
        _ if why.is_some() => None,
        OperationKind::Query | OperationKind::Subscription => plan_nodes.iter_mut().find(|it| {
            // Members of a deferred fragment do not make the others wait.
            let first = output.membership(&output.fields[it.fields[0] as usize]);
            let is_as_late = first.is_as_late_as(output.membership(member));
            it.source == source && it.set == set && it.refused.is_none() && is_as_late
        }),
        OperationKind::Mutation
            if source.is_some_and(|it| graph.sources()[usize::from(it)].0.separates_mutations()) =>
        {
            None
        }
        OperationKind::Mutation => plan_nodes.last_mut().filter(|it| it.source == source && it.set == set),
    };
    match open {
        Some(plan_node) => plan_node.fields.push(at as u32),
        None => plan_nodes.push(AssignedNode {
            source,
            set,
            fields: vec![at as u32],
            parent: None,
            part: None,
            answer: AnswerForm::Any { contiguous: true },
            refused: why.cloned(),
        }),
    }
}

/// A source as the walk down from its nodes sees it.
#[derive(Clone, Copy)]
struct SourceResolver<'g> {
    source: u16,
    ids: &'g Ids,
    /// `None`: all that it answers comes at once.
    fields: Option<&'g dyn FieldResolver>,
}

impl<'g> SourceResolver<'g> {
    fn of(graph: &'g Graph, source: u16) -> Self {
        let (found, ids) = &graph.sources()[usize::from(source)];
        Self { source, ids, fields: found.field_resolver() }
    }

    /// Resolution of `field` on objects at `node`.
    fn resolution(self, node: NodeId, field: FieldId) -> FieldResolution {
        self.fields
            .map_or(FieldResolution::Inline(NodeId::ROOT), |it| it.resolution(node, self.ids.field(field)))
    }
}

/// Fields of a type.
type Keys = SmallVec<[FieldId; 4]>;

/// Fields below a set that are no members of its node.
enum Hung<'g> {
    Join(&'g Joined),
    Separate { source: u16, id: SeparateFetchId, part: SeparateFetch<'g>, keys: Keys },
    Refused(FieldError),
}

/// Members that come with one part.
struct Together {
    source: u16,
    id: SeparateFetchId,
    keys: Keys,
    required: usize,
    members: Vec<u32>,
}

/// One walk down from a node.
struct SourceWalk<'g> {
    graph: &'g Graph,
    refused: &'g [Refused],
    plan_node: PlanNodeId,
    /// The source of the node; `None`: the engine.
    resolver: Option<SourceResolver<'g>>,
    /// Sets that are still to be looked at, and where their objects stand.
    stack: Vec<(SelectionSetId, NodeId)>,
}

/// Finds the members in what `plan_node` answers that it does not answer itself, and appends their nodes.
fn cut_below(
    (graph, view): (&Graph, SchemaView<'_>),
    output: &mut OutputPlan,
    plan_node: PlanNodeId,
    refused: &[Refused],
    plan_nodes: &mut Vec<AssignedNode>,
) {
    let before = plan_nodes.len();
    let assign_sources = &plan_nodes[plan_node.0 as usize];
    if assign_sources.refused.is_some() {
        return;
    }
    let resolver = assign_sources.source.map(|it| SourceResolver::of(graph, it));
    let mut walk = SourceWalk { graph, refused, plan_node, resolver, stack: Vec::new() };
    let mut keyed = Vec::new();
    if assign_sources.parent.is_some() {
        let parts = resolver.and_then(|it| it.fields);
        let node = parts
            .zip(assign_sources.part)
            .map_or(NodeId::ROOT, |(parts, part)| parts.separate_fetch(part).node);
        walk.stack.push((assign_sources.set, node));
    } else {
        for field in assign_sources.fields.clone() {
            if graph.is_entities(output.fields[field as usize].field) {
                keyed.extend(attach_entities((graph, view), output, field as usize, plan_node, plan_nodes));
            } else {
                walk.descend(output, field as usize, NodeId::ROOT);
            }
        }
    }
    walk.walk_down(output, plan_nodes);
    for KeyedSet { set, source, node } in keyed {
        let resolver = Some(SourceResolver::of(graph, source));
        let mut walk = SourceWalk { graph, refused, plan_node, resolver, stack: vec![(set, node)] };
        walk.walk_down(output, plan_nodes);
    }
    if plan_nodes.len() > before {
        plan_nodes[plan_node.0 as usize].answer = AnswerForm::Rows;
    }
}

impl<'g> SourceWalk<'g> {
    /// Walks the sets on the stack and those below them.
    fn walk_down(&mut self, output: &mut OutputPlan, plan_nodes: &mut Vec<AssignedNode>) {
        let mut seen = vec![false; output.sets.len()];
        while let Some((set, node)) = self.stack.pop() {
            if !std::mem::replace(&mut seen[set.0 as usize], true) {
                self.set(output, set, node, plan_nodes);
            }
        }
    }

    /// Attaches nodes for the fields that need them, and walks down into the others.
    fn set(
        &mut self,
        output: &mut OutputPlan,
        set: SelectionSetId,
        node: NodeId,
        plan_nodes: &mut Vec<AssignedNode>,
    ) {
        let mut together: Vec<Together> = Vec::new();
        for at in output.set(set).range() {
            let member = &output.fields[at];
            if member.same_as.is_some() || matches!(member.member, OutputKind::Constant { .. }) {
                continue;
            }
            let Some(hung) = self.find_attachment(output, set, at, node) else {
                self.descend(output, at, node);
                continue;
            };
            let hanging =
                Attachment { set, parent: self.plan_node, node: PlanNodeId(plan_nodes.len() as u32) };
            match self.resolve_key_carrier(output, set, node, hung, plan_nodes) {
                Hung::Join(join) => plan_nodes.push(attach_join(join, output, at, hanging)),
                Hung::Refused(error) => plan_nodes.push(refuse(error, output, at, hanging)),
                Hung::Separate { source, id, part, keys } => {
                    let known =
                        together.iter_mut().find(|it| part.is_together && it.source == source && it.id == id);
                    match known {
                        Some(known) => known.members.push(at as u32),
                        None => {
                            let required = part.required;
                            let members = vec![at as u32];
                            together.push(Together { source, id, keys, required, members });
                        }
                    }
                }
            }
        }
        for Together { source, id, keys, required, members } in together {
            let hanging =
                Attachment { set, parent: self.plan_node, node: PlanNodeId(plan_nodes.len() as u32) };
            let call = SeparateCall { source, part: id, keys: &keys, required };
            plan_nodes.push(attach_separate(&call, output, &members, hanging));
        }
        for at in output.set(set).range() {
            if let Some(earlier) = output.fields[at].same_as {
                output.fields[at].member = output.fields[earlier as usize].member;
            }
        }
    }

    /// The member at `at` of `set`, if it is not given with objects at `node`.
    fn find_attachment(
        &self,
        output: &OutputPlan,
        set: SelectionSetId,
        at: usize,
        node: NodeId,
    ) -> Option<Hung<'g>> {
        if let Some(error) = failure_at(self.refused, at) {
            return Some(Hung::Refused(error.clone()));
        }
        let field = output.fields[at].field;
        let source = match self.graph.owner(field) {
            Owner::Join(join) => return Some(Hung::Join(self.graph.join(join))),
            Owner::Introspection | Owner::Namespace => return None,
            Owner::Source(source) => source,
        };
        let own = self.resolver.filter(|it| it.source == source);
        // Fields that another source adds to a type are at the root of that source.
        let (resolver, node) =
            own.map_or_else(|| (SourceResolver::of(self.graph, source), NodeId::ROOT), |it| (it, node));
        match resolver.resolution(node, field) {
            FieldResolution::Inline(_) => None,
            FieldResolution::Separate(id) => Some(self.part(resolver, id, output.set(set).on)),
        }
    }

    /// A part and its keys, which are fields of `on`.
    fn part(&self, resolver: SourceResolver<'g>, id: SeparateFetchId, on: TypeId) -> Hung<'g> {
        let schema: &Schema = self.graph.schema();
        let part = resolver.fields.map(|it| it.separate_fetch(id));
        let key = |name: &str| match name {
            OBJECT_KEY => Some(schema.meta.typename),
            _ => schema.field_by_name(on, name),
        };
        let keys = |part: &SeparateFetch<'g>| part.keys.iter().map(|it| key(it)).collect::<Option<Keys>>();
        match part.and_then(|part| Some((part, keys(&part)?))) {
            Some((part, keys)) => Hung::Separate { source: resolver.source, id, part, keys },
            None => Hung::Refused(unreachable_key()),
        }
    }

    /// Walks up from `hung` to the outermost separate fetch that returns its keys, for objects at `node`.
    fn resolve_key_carrier(
        &self,
        output: &OutputPlan,
        set: SelectionSetId,
        node: NodeId,
        hung: Hung<'g>,
        plan_nodes: &[AssignedNode],
    ) -> Hung<'g> {
        let Some(resolver) = self.resolver else { return hung };
        let mut hung = hung;
        let mut passed: SmallVec<[SeparateFetchId; 4]> = SmallVec::new();
        loop {
            let keys: &[FieldId] = match &hung {
                Hung::Join(join) => &join.keys,
                Hung::Separate { keys, .. } => keys,
                Hung::Refused(_) => &[],
            };
            let carrier = keys.iter().find_map(|&key| match resolver.resolution(node, key) {
                FieldResolution::Inline(_) => None,
                FieldResolution::Separate(part) => Some(part),
            });
            let Some(carrier) = carrier else { return hung };
            if passed.contains(&carrier)
                || is_below(plan_nodes, self.plan_node, set, resolver.source, carrier)
            {
                return Hung::Refused(unreachable_key());
            }
            passed.push(carrier);
            hung = self.part(resolver, carrier, output.set(set).on);
        }
    }

    /// Goes on below the member at `at` of objects at `node`.
    fn descend(&mut self, output: &OutputPlan, at: usize, node: NodeId) {
        let child = match self.resolver.map(|it| it.resolution(node, output.fields[at].field)) {
            Some(FieldResolution::Inline(child)) => child,
            Some(FieldResolution::Separate(_)) | None => NodeId::ROOT,
        };
        match output.fields[at].member {
            OutputKind::Object(set) => self.stack.push((set, child)),
            OutputKind::Abstract(choice) => {
                self.stack
                    .extend(output.type_switches[choice.0 as usize].sets.iter().map(|it| (it.1, child)));
            }
            OutputKind::Leaf | OutputKind::Constant { .. } | OutputKind::Foreign { .. } => {}
        }
    }
}

/// True if `set` of `plan_node` exists only to carry the keys of `part` of `source`.
fn is_below(
    plan_nodes: &[AssignedNode],
    mut plan_node: PlanNodeId,
    mut set: SelectionSetId,
    source: u16,
    part: SeparateFetchId,
) -> bool {
    loop {
        let assign_sources = &plan_nodes[plan_node.0 as usize];
        match &assign_sources.parent {
            Some(parent) if assign_sources.set == set => {
                if assign_sources.source == Some(source) && assign_sources.part == Some(part) {
                    return true;
                }
                (plan_node, set) = (parent.node, parent.set);
            }
            Some(_) | None => return false,
        }
    }
}

/// Error of a field whose keys no fetch can return: a bug in the source's division.
fn unreachable_key() -> FieldError {
    FieldError { code: "INTERNAL", message: "Internal error.".into(), hasura_path: None, extensions: None }
}

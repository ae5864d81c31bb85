//! Puts lookups below the field `_entities`: one node for each type and key.
//!
//! The set of a type is replaced by one whose members are the ways to its objects ([`SelectionSet::is_entity`]); what was asked of the
//! type is asked of each of them. Of types without any field in the operation nothing is asked: a gateway names the type that it
//! needs, and the union may have a hundred.
//!
//! **Invariant:** no two nodes share a set, as nodes below them are attached to sets.

use super::assigned_node::AssignedNode;
use super::attach_joins::{Attachment, attach_join, own_set};
use crate::answer::output_plan::{
    OutputField, OutputKind, OutputPlan, PlanNodeId, SelectionSet, SelectionSetId, TypeSwitch, TypeSwitchId,
};
use crate::compose::{Graph, Joined, ResolvedLookup};
use crate::source::NodeId;
use smallvec::SmallVec;
use weir_language::schema::{SchemaView, TypeId, TypeRef};

/// A set whose fields come by separate fetches of a source, and the position of its objects there.
pub(super) struct KeyedSet {
    pub(super) set: SelectionSetId,
    pub(super) source: u16,
    pub(super) node: NodeId,
}

/// Attaches the lookups for the member at `at`, which is `_entities` and stands in the node `parent`. Returns the sets whose members are
/// still to be attached.
pub(super) fn attach_entities(
    (graph, view): (&Graph, SchemaView<'_>),
    output: &mut OutputPlan,
    at: usize,
    parent: PlanNodeId,
    plan_nodes: &mut Vec<AssignedNode>,
) -> Vec<KeyedSet> {
    let mut keyed = Vec::new();
    let OutputKind::Abstract(choice) = output.fields[at].member else { return keyed };
    let sets = output.type_switches[choice.0 as usize].sets.clone();
    let has_fields = |output: &OutputPlan, set: SelectionSetId| {
        output.members(set).iter().any(|it| !matches!(it.member, OutputKind::Constant { .. }))
    };
    // If nothing but names of types is asked, the question is which objects are there.
    let is_bare = !sets.iter().any(|it| has_fields(output, it.1));
    for (place, (ty, set)) in sets.into_iter().enumerate() {
        if !is_bare && !has_fields(output, set) {
            continue;
        }
        let mut fields: SmallVec<[&Joined; 2]> = SmallVec::new();
        let mut separate = None;
        for lookup in graph.lookups_of(ty, view) {
            match lookup {
                ResolvedLookup::Field(joined) => fields.push(joined),
                ResolvedLookup::Separate { source, node, keys } => separate = Some((*source, *node, keys)),
            }
        }
        if let Some((source, node, keys)) = separate {
            let set = if output.set(set).on == ty { set } else { copy_set(output, set, Some(ty)) };
            output.sets[set.0 as usize].hidden.clone_from(keys);
            output.type_switches[choice.0 as usize].sets[place].1 = set;
            keyed.push(KeyedSet { set, source, node });
        } else if !fields.is_empty() {
            let own = attach_fields(graph, output, (at, ty, set), (parent, &fields), plan_nodes);
            output.type_switches[choice.0 as usize].sets[place].1 = own;
        }
    }
    keyed
}

/// Attaches a node for each of `lookups` of type `ty`, of which `set` is asked in the member at `at`. Returns the set of the ways.
fn attach_fields(
    graph: &Graph,
    output: &mut OutputPlan,
    (at, ty, set): (usize, TypeId, SelectionSetId),
    (parent, lookups): (PlanNodeId, &[&Joined]),
    plan_nodes: &mut Vec<AssignedNode>,
) -> SelectionSetId {
    // The first lookup takes the set itself, after the others have copied it.
    let is_own = output.set(set).on == ty;
    let below = (0..lookups.len())
        .map(|number| if number == 0 && is_own { set } else { copy_set(output, set, Some(ty)) });
    let below: SmallVec<[SelectionSetId; 2]> = below.collect();
    let first = output.fields.len();
    for (lookup, below) in lookups.iter().zip(below) {
        let target = graph.schema().field(lookup.target).ty;
        let asked = output.fields[at].clone();
        output.fields.push(OutputField {
            field: lookup.target,
            ty: TypeRef { wraps: target.wraps.nullable(), ..target },
            arguments_start: 0,
            arguments_len: 0,
            member: OutputKind::Object(below),
            same_as: None,
            ..asked
        });
    }
    let own = own_set(output, ty, lookups.len() as u32);
    output.sets[own.0 as usize].is_entity = true;
    for (number, lookup) in lookups.iter().enumerate() {
        let node = PlanNodeId(plan_nodes.len() as u32);
        let attachment = Attachment { set: own, parent, node };
        plan_nodes.push(attach_join(lookup, output, first + number, attachment));
    }
    own
}

/// A copy of `set` and all below it, on objects of type `on` if it is given: types share sets that are empty.
fn copy_set(output: &mut OutputPlan, set: SelectionSetId, on: Option<TypeId>) -> SelectionSetId {
    let SelectionSet { start, len, hidden, is_entity, on: own } = output.set(set).clone();
    let mut fields: Vec<OutputField> = output.members(set).to_vec();
    for field in &mut fields {
        field.member = match field.member {
            OutputKind::Object(below) => OutputKind::Object(copy_set(output, below, None)),
            OutputKind::Abstract(choice) => OutputKind::Abstract(copy_switch(output, choice)),
            leaf @ (OutputKind::Leaf | OutputKind::Constant { .. } | OutputKind::Foreign { .. }) => leaf,
        };
    }
    let new_start = output.fields.len() as u32;
    for field in &mut fields {
        field.same_as = field.same_as.map(|it| it - start + new_start);
    }
    output.fields.extend(fields);
    output.sets.push(SelectionSet { on: on.unwrap_or(own), start: new_start, len, hidden, is_entity });
    SelectionSetId(output.sets.len() as u32 - 1)
}

fn copy_switch(output: &mut OutputPlan, choice: TypeSwitchId) -> TypeSwitchId {
    let TypeSwitch { on, sets } = output.type_switches[choice.0 as usize].clone();
    let sets = sets.into_iter().map(|(ty, set)| (ty, copy_set(output, set, None))).collect();
    output.type_switches.push(TypeSwitch { on, sets });
    TypeSwitchId(output.type_switches.len() as u32 - 1)
}

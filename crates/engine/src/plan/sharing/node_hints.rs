//! Cache hints of the schema, collected for each node of a plan: `@cacheControl` on types and fields.
//!
//! The members of a node live as long as the node; hints on its members shorten that lifetime. A hint on a member that
//! another node answers applies to that node.
//!
//! Source: `docs/caching.md`.

use crate::answer::output_plan::{OutputKind, OutputPlan, SelectionSetId};
use crate::caching::cache_control::Hint;
use crate::caching::lifetime::NodeHints;
use crate::compose::Graph;
use crate::plan::PreparedNode;
use std::sync::Arc;
use weir_language::schema::FieldId;

/// Fills in the hints of all `nodes`; those above stand before those below.
pub(in crate::plan) fn hint(graph: &Graph, output: &OutputPlan, nodes: &mut [PreparedNode]) {
    if !graph.has_hints() {
        return;
    }
    let mut all = vec![NodeHints::default(); nodes.len()];
    for at in 0..nodes.len() {
        let members = nodes[at].fields.iter().map(|&it| it as usize);
        let own =
            members.clone().all(|it| graph.hint(output.fields[it].field).is_some_and(sets_whole_lifetime));
        all[at].covers |= own && !nodes[at].fields.is_empty();
        let mut seen = vec![false; output.sets.len()];
        let mut stack = Vec::new();
        members.for_each(|it| member(graph, output, it, at, &mut all, &mut stack));
        while let Some(set) = stack.pop() {
            if !std::mem::replace(&mut seen[set.0 as usize], true) {
                output.set(set).range().for_each(|it| member(graph, output, it, at, &mut all, &mut stack));
            }
        }
    }
    for (node, hints) in nodes.iter_mut().zip(all) {
        node.hints = hints;
    }
}

fn sets_whole_lifetime(hint: Hint) -> bool {
    hint.max_age_s.is_some() || hint.inherits
}

fn member(
    graph: &Graph,
    output: &OutputPlan,
    at: usize,
    node: usize,
    all: &mut [NodeHints],
    stack: &mut Vec<SelectionSetId>,
) {
    let field = &output.fields[at];
    let node = match field.member {
        OutputKind::Foreign { node, .. } => {
            all[node.0 as usize].covers |= graph.hint(field.field).is_some_and(sets_whole_lifetime);
            node.0 as usize
        }
        OutputKind::Object(set) => {
            stack.push(set);
            node
        }
        OutputKind::Abstract(choice) => {
            stack.extend(output.type_switches[choice.0 as usize].sets.iter().map(|it| it.1));
            node
        }
        OutputKind::Leaf | OutputKind::Constant { .. } => node,
    };
    if let Some(hint) = graph.hint(field.field) {
        add(graph, field.field, hint, &mut all[node]);
    }
}

fn add(graph: &Graph, field: FieldId, hint: Hint, to: &mut NodeHints) {
    to.scope = to.scope.max(hint.scope);
    let Some(seconds) = hint.max_age_s else { return };
    if to.least.as_ref().is_none_or(|it| seconds < it.0) {
        let schema = graph.schema();
        let on = schema.type_name(schema.field(field).parent);
        to.least = Some((seconds, Arc::from(format!("@cacheControl of {on}.{}", schema.field_name(field)))));
    }
}

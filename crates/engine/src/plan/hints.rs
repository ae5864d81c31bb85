//! Cache hints of the schema, collected for each piece of a plan: `@cacheControl` on types and fields.
//!
//! The members of a piece live as long as the piece; hints on its members shorten that lifetime. A hint on a member that
//! another piece answers applies to that piece.
//!
//! Source: `docs/caching.md`.

use super::PreparedNode;
use super::output_plan::{OutputKind, OutputPlan, SelectionSetId};
use crate::compose::Graph;
use crate::lifetime::{Hint, NodeHints};
use std::sync::Arc;
use weir_language::schema::FieldId;

/// Fills in the hints of all `pieces`; those above stand before those below.
pub(super) fn hint(graph: &Graph, shape: &OutputPlan, pieces: &mut [PreparedNode]) {
    if !graph.has_hints() {
        return;
    }
    let mut all = vec![NodeHints::default(); pieces.len()];
    for at in 0..pieces.len() {
        let members = pieces[at].fields.iter().map(|&it| it as usize);
        let own = members.clone().all(|it| graph.hint(shape.fields[it].field).is_some_and(covers));
        all[at].covers |= own && !pieces[at].fields.is_empty();
        let mut seen = vec![false; shape.sets.len()];
        let mut stack = Vec::new();
        members.for_each(|it| member(graph, shape, it, at, &mut all, &mut stack));
        while let Some(set) = stack.pop() {
            if !std::mem::replace(&mut seen[set.0 as usize], true) {
                shape.set(set).range().for_each(|it| member(graph, shape, it, at, &mut all, &mut stack));
            }
        }
    }
    for (piece, hints) in pieces.iter_mut().zip(all) {
        piece.hints = hints;
    }
}

fn covers(hint: Hint) -> bool {
    hint.max_age_s.is_some() || hint.inherits
}

fn member(
    graph: &Graph,
    shape: &OutputPlan,
    at: usize,
    piece: usize,
    all: &mut [NodeHints],
    stack: &mut Vec<SelectionSetId>,
) {
    let field = &shape.fields[at];
    let piece = match field.member {
        OutputKind::Foreign { piece, .. } => {
            all[piece.0 as usize].covers |= graph.hint(field.field).is_some_and(covers);
            piece.0 as usize
        }
        OutputKind::Object(set) => {
            stack.push(set);
            piece
        }
        OutputKind::Abstract(choice) => {
            stack.extend(shape.type_switches[choice.0 as usize].sets.iter().map(|it| it.1));
            piece
        }
        OutputKind::Leaf | OutputKind::Constant { .. } => piece,
    };
    if let Some(hint) = graph.hint(field.field) {
        add(graph, field.field, hint, &mut all[piece]);
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

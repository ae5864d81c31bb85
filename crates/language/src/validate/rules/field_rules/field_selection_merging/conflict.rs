//! Reports conflicts like graphql-js: as a path from the outermost merged fields down to the ones that differ.
//!
//! **Cost:** per reported conflict its depth.

use super::Part;
use crate::span::Span;
use crate::syntax::ast::Selection;
use crate::validate::rule_context::Context;
use crate::validate::shown_literal::Quoted;
use crate::validate::valid::NONE;

/// Two fields that cannot be merged: selection and place in the parts, and why.
pub(super) struct Conflict {
    pub(super) a: (u32, u32),
    pub(super) b: (u32, u32),
    pub(super) reason: String,
}

/// The pairs of fields above a conflict, innermost first.
type Way = Vec<(u32, u32)>;

/// Reports `conflicts`; those below the same two fields together.
pub(super) fn report(cx: &mut Context<'_>, parts: &[Part], conflicts: Vec<Conflict>) {
    let mut told: Vec<(Way, Vec<Conflict>)> = Vec::new();
    for conflict in conflicts {
        let way = conflict_path(parts, &conflict);
        match told.iter_mut().find(|(known, _)| !known.is_empty() && *known == way) {
            Some((_, together)) => together.push(conflict),
            None => told.push((way, vec![conflict])),
        }
    }
    for (way, together) in told {
        one(cx, &way, &together);
    }
}

/// The way to a conflict, up to the first pair that is one and the same field.
fn conflict_path(parts: &[Part], conflict: &Conflict) -> Way {
    let mut way = Vec::new();
    let mut a = conflict.a.1;
    let mut b = conflict.b.1;
    while a != NONE && b != NONE {
        let above_a = parts[a as usize];
        let above_b = parts[b as usize];
        if above_a.owner == above_b.owner {
            break;
        }
        way.push((above_a.owner, above_b.owner));
        (a, b) = (above_a.from, above_b.from);
    }
    way
}

/// Response key and place of a field.
fn key<'a>(cx: &Context<'a>, selection: u32) -> (Quoted<'a>, Span) {
    match &cx.document.selections[selection as usize] {
        Selection::Field(field) => (cx.quoted_text(field.key()), field.span),
        Selection::Spread(spread) => (cx.quoted_text(spread.name), spread.span),
        Selection::Inline(inline) => (cx.quoted_text(inline.on), inline.span),
    }
}

fn one(cx: &mut Context<'_>, way: &[(u32, u32)], together: &[Conflict]) {
    let mut reason = String::new();
    let mut left: Vec<Span> = Vec::new();
    let mut right: Vec<Span> = Vec::new();
    for &(a, b) in way.iter().rev() {
        left.push(key(cx, a).1);
        right.push(key(cx, b).1);
    }
    for conflict in together {
        let (name, span) = key(cx, conflict.a.0);
        if way.is_empty() {
            reason = format!("Fields \"{name}\" conflict because {}", conflict.reason);
        } else {
            let and = if reason.is_empty() { "" } else { " and " };
            reason.push_str(&format!("{and}subfields \"{name}\" conflict because {}", conflict.reason));
        }
        left.push(span);
        right.push(key(cx, conflict.b.0).1);
    }
    for (depth, &(a, _)) in way.iter().enumerate() {
        let what = if depth + 1 == way.len() { "Fields" } else { "subfields" };
        reason = format!("{what} \"{}\" conflict because {reason}", key(cx, a).0);
    }
    left.truncate(10);
    left.extend(right.into_iter().take(10));
    let message =
        format!("{reason}. Use different aliases on the fields to fetch both if this was intentional.");
    cx.report(&left, message);
}

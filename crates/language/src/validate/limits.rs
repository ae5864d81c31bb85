//! The bounds that need types or fragments: expanded fields, depth, root fields, introspection.
//! The parser keeps the others.
//!
//! Totals of a fragment are counted once from its own fields and the totals of those it spreads; nothing is
//! expanded, and sums saturate.
//!
//! **Cost:** one visit per fragment and per spread.

use super::context::{Context, Scope};
use crate::ast;
use crate::error::Code;

/// What a definition amounts to with its fragments followed.
#[derive(Clone, Copy, Default)]
pub(super) struct Totals {
    fields: u32,
    roots: u32,
    depth: u32,
    introspection: u32,
}

/// Adds the totals of the fragments that `scope` spreads to its own counts.
pub(super) fn total(cx: &Context<'_>, scope: &Scope, totals: &[Totals]) -> Totals {
    let Scope { fields, roots, depth, introspection, .. } = *scope;
    let mut sum = Totals { fields, roots, depth, introspection };
    for edge in &cx.edges[scope.edges.range()] {
        let below = totals[edge.fragment as usize];
        sum.fields = sum.fields.saturating_add(below.fields);
        if edge.depth == 0 {
            sum.roots = sum.roots.saturating_add(below.roots);
        }
        sum.depth = sum.depth.max(edge.depth.saturating_add(below.depth));
        // A fragment that introspects nothing adds nothing to the way that leads to it.
        if below.introspection > 0 {
            sum.introspection = sum.introspection.max(edge.introspection.saturating_add(below.introspection));
        }
    }
    sum
}

/// Holds the totals of an operation against the limits.
pub(super) fn operation(cx: &mut Context<'_>, operation: &ast::Operation, totals: Totals) {
    let limits = cx.options.limits;
    let bounds = [
        (Code::LimitExpanded, totals.fields, limits.expanded_max, "fields once its fragments are expanded"),
        (Code::LimitRootFields, totals.roots, limits.root_fields_max, "root fields"),
        (Code::LimitDepth, totals.depth, limits.depth_max, "levels of fields"),
        (
            Code::LimitIntrospection,
            totals.introspection,
            limits.introspection_depth_max,
            "levels of introspection",
        ),
    ];
    for (code, count, max, what) in bounds {
        if count > max {
            cx.report_as(code, &[operation.span], format!("The operation has more than {max} {what}."));
        }
    }
}

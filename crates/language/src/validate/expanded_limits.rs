//! The bounds that need types or fragments: expanded fields, depth, root fields, introspection.
//! The parser keeps the others.
//!
//! Totals of a fragment are counted once from its own fields and the totals of those it spreads; nothing is
//! expanded, and sums saturate.
//!
//! **Cost:** one visit per fragment and per spread.

use crate::error::Code;
use crate::syntax::ast;
use crate::validate::rule_context::{Context, Scope};

/// Totals of a definition, with its fragments expanded.
#[derive(Clone, Copy, Default)]
pub(super) struct Totals {
    fields: u32,
    depth: u32,
    introspection: u32,
}

/// Adds the totals of the fragments that `scope` spreads to its own counts.
pub(super) fn total(cx: &Context<'_>, scope: &Scope, totals: &[Totals]) -> Totals {
    let Scope { fields, depth, introspection, .. } = *scope;
    let mut sum = Totals { fields, depth, introspection };
    for edge in &cx.edges[scope.edges.range()] {
        let below = totals[edge.fragment as usize];
        sum.fields = sum.fields.saturating_add(below.fields);
        sum.depth = sum.depth.max(edge.depth.saturating_add(below.depth));
        // A fragment that introspects nothing adds nothing to the way that leads to it.
        if below.introspection > 0 {
            sum.introspection = sum.introspection.max(edge.introspection.saturating_add(below.introspection));
        }
    }
    sum
}

/// Holds the totals of an operation against the limits. `expanded` counts the fields of the operations so far.
pub(super) fn operation(
    cx: &mut Context<'_>,
    operation: &ast::Operation,
    totals: Totals,
    expanded: &mut u32,
) {
    let limits = cx.options.limits;
    let before = *expanded;
    *expanded = expanded.saturating_add(totals.fields);
    if *expanded > limits.expanded_max && before <= limits.expanded_max {
        let message =
            format!("Document selects more than {} fields once fragments are expanded.", limits.expanded_max);
        cx.report_as(Code::LimitExpanded, &[operation.span], message);
    }
    if totals.depth > limits.depth_max {
        let message = format!("Document nests fields deeper than {}.", limits.depth_max);
        cx.report_as(Code::LimitDepth, &[operation.span], message);
    }
    if totals.introspection > limits.introspection_depth_max {
        let message = format!("Document nests introspection deeper than {}.", limits.introspection_depth_max);
        cx.report_as(Code::LimitIntrospection, &[operation.span], message);
    }
}

/// Holds the response keys at the root of operation `at` against the limit: equal ones are one field.
pub(super) fn root_fields(cx: &mut Context<'_>, at: usize, count: usize) {
    let max = cx.options.limits.root_fields_max;
    if count > max as usize {
        let operation = cx.tables.operations[at].ast;
        let message = format!("Document selects more than {max} root fields in one operation.");
        cx.report_as(Code::LimitRootFields, &[operation.span], message);
    }
}

/// Reports that merging the fields of operation `at` would cost more than what its expanded fields account for.
pub(super) fn report_merge_limit(cx: &mut Context<'_>, at: usize) {
    let operation = cx.tables.operations[at].ast;
    let message = "Document selects fields that overlap in too many ways to be merged.".to_owned();
    cx.report_as(Code::LimitExpanded, &[operation.span], message);
}

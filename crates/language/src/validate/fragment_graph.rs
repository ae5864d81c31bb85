//! The rules that concern an operation with all its fragments: cycles, use, variables, limits, merging.
//!
//! Fragments are nodes, spreads are edges; the walk noted both. Depth-first searches keep their path in the heap.
//!
//! **Cost:** one visit per edge for cycles and totals, and one per edge and operation for variables.

use super::expanded_limits::{self, Totals};
use super::fragment_reach::Reach;
use super::rules;
use crate::coerce::Reading;
use crate::span::Span;
use crate::validate::rule_context::Context;

/// Asks all rules that follow fragments.
pub(super) fn check(cx: &mut Context<'_>) {
    let order = rules::fragment_rules::fragment_spreads_must_not_form_cycles::document(cx);
    let mut reach = Reach::new(cx);
    for at in 0..cx.operation_scopes.len() {
        operation(cx, at, &mut reach);
        if cx.is_full() {
            return;
        }
    }
    rules::fragment_rules::fragments_must_be_used::document(cx, &reach);
    rules::directive_rules::incremental_delivery::labels(cx);
    // A cycle has no totals and no end of merging; it was reported.
    let Some(order) = order else { return };
    let mut totals = vec![Totals::default(); cx.fragment_scopes.len()];
    for fragment in order {
        totals[fragment as usize] =
            expanded_limits::total(cx, &cx.fragment_scopes[fragment as usize], &totals);
    }
    let before = cx.errors.len();
    let mut expanded = 0;
    for at in 0..cx.operation_scopes.len() {
        let sum = expanded_limits::total(cx, &cx.operation_scopes[at], &totals);
        let ast = cx.tables.operations[at].ast;
        expanded_limits::operation(cx, &ast, sum, &mut expanded);
    }
    if cx.errors.len() == before {
        rules::field_rules::field_selection_merging::document(cx);
    }
}

fn operation(cx: &mut Context<'_>, at: usize, reach: &mut Reach) {
    let scope = cx.operation_scopes[at];
    reach.find_reached(cx, scope.edges);
    let operation = cx.tables.operations[at];
    let ast = operation.ast;
    if !ast.variables.is_empty() || !cx.uses.is_empty() {
        let uses = reach.uses(cx, scope.uses);
        let numbers = rules::variable_rules::all_variable_uses_defined::operation(cx, &ast, &uses);
        if cx.reading == Reading::Strict {
            rules::variable_rules::all_variables_used::operation(cx, &ast, &uses);
        }
        rules::variable_rules::all_variable_usages_are_allowed::operation(cx, &ast, &uses, &numbers);
    }
    if ast.kind == crate::syntax::ast::OperationKind::Subscription {
        rules::operation_rules::single_root_field::operation(cx, &operation);
        let reached: Vec<Span> =
            reach.reached.iter().map(|&it| cx.tables.fragments[it as usize].ast.span).collect();
        rules::directive_rules::incremental_delivery::subscription(cx, ast.span, &reached);
    }
}

//! The rules that concern an operation with all its fragments: cycles, use, variables, limits, merging.
//!
//! Fragments are nodes, spreads are edges; the walk noted both. Depth-first searches keep their path in the heap.
//!
//! **Cost:** one visit per edge for cycles and totals, and one per edge and operation for variables.

use super::context::{Context, Use};
use super::limits::{self, Totals};
use super::rules;
use crate::coerce::Reading;
use crate::schema::Run;
use crate::span::Span;

/// Asks all rules that follow fragments.
pub(super) fn check(cx: &mut Context<'_>) {
    let order = rules::fragment_spreads_must_not_form_cycles::document(cx);
    let mut reach = Reach::new(cx);
    for at in 0..cx.operation_scopes.len() {
        operation(cx, at, &mut reach);
        if cx.is_full() {
            return;
        }
    }
    rules::fragments_must_be_used::document(cx, &reach);
    rules::incremental_delivery::labels(cx);
    // A cycle has no totals and no end of merging; it was reported.
    let Some(order) = order else { return };
    let mut totals = vec![Totals::default(); cx.fragment_scopes.len()];
    for fragment in order {
        totals[fragment as usize] = limits::total(cx, &cx.fragment_scopes[fragment as usize], &totals);
    }
    let before = cx.errors.len();
    let mut expanded = 0;
    for at in 0..cx.operation_scopes.len() {
        let sum = limits::total(cx, &cx.operation_scopes[at], &totals);
        let ast = cx.tables.operations[at].ast;
        limits::operation(cx, &ast, sum, &mut expanded);
    }
    if cx.errors.len() == before {
        rules::field_selection_merging::document(cx);
    }
}

fn operation(cx: &mut Context<'_>, at: usize, reach: &mut Reach) {
    let scope = cx.operation_scopes[at];
    reach.from(cx, scope.edges);
    let operation = cx.tables.operations[at];
    let ast = operation.ast;
    if !ast.variables.is_empty() || !cx.uses.is_empty() {
        let uses = reach.uses(cx, scope.uses);
        let numbers = rules::all_variable_uses_defined::operation(cx, &ast, &uses);
        if cx.reading == Reading::Strict {
            rules::all_variables_used::operation(cx, &ast, &uses);
        }
        rules::all_variable_usages_are_allowed::operation(cx, &ast, &uses, &numbers);
    }
    if ast.kind == crate::ast::OperationKind::Subscription {
        rules::single_root_field::operation(cx, &operation);
        let reached: Vec<Span> =
            reach.reached.iter().map(|&it| cx.tables.fragments[it as usize].ast.span).collect();
        rules::incremental_delivery::subscription(cx, ast.span, &reached);
    }
}

/// Fragments that an operation reaches; the buffer is reused between operations.
pub(super) struct Reach {
    /// By fragment: the round in which it was last reached, 0 for never.
    rounds: Vec<u32>,
    round: u32,
    /// The fragments of this round, nearest first.
    reached: Vec<u32>,
}

impl Reach {
    fn new(cx: &Context<'_>) -> Self {
        Self { rounds: vec![0; cx.fragment_scopes.len()], round: 0, reached: Vec::new() }
    }

    /// Finds what is reached by `edges`.
    fn from(&mut self, cx: &Context<'_>, edges: Run) {
        self.round += 1;
        self.reached.clear();
        self.follow(cx, edges);
        let mut next = 0;
        while let Some(&fragment) = self.reached.get(next) {
            self.follow(cx, cx.fragment_scopes[fragment as usize].edges);
            next += 1;
        }
    }

    fn follow(&mut self, cx: &Context<'_>, edges: Run) {
        for edge in &cx.edges[edges.range()] {
            let round = &mut self.rounds[edge.fragment as usize];
            if *round != self.round {
                *round = self.round;
                self.reached.push(edge.fragment);
            }
        }
    }

    /// The uses of variables in the operation (`own`) and in all fragments of this round.
    fn uses(&self, cx: &Context<'_>, own: Run) -> Vec<Use> {
        let mut uses = cx.uses[own.range()].to_vec();
        for &fragment in &self.reached {
            uses.extend_from_slice(&cx.uses[cx.fragment_scopes[fragment as usize].uses.range()]);
        }
        uses
    }

    /// True if any operation so far reached `fragment`.
    pub(super) fn was_reached(&self, fragment: usize) -> bool {
        self.rounds[fragment] != 0
    }
}

//! Every variable an operation defines is used by it or its fragments.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-All-Variables-Used>

use crate::ast::{Operation, VariableDefinition};
use crate::validate::context::{Context, Use};

/// Reports definitions without a use.
pub(in crate::validate) fn operation(cx: &mut Context<'_>, operation: &Operation, uses: &[Use]) {
    let mut is_used = vec![false; cx.variables.len()];
    for used in uses {
        is_used[used.name as usize] = true;
    }
    for (place, definition) in operation.variables.range().zip(cx.document.list(operation.variables)) {
        if !is_used[cx.tables.variables[place].name as usize] {
            unused(cx, operation, definition);
        }
        if cx.is_full() {
            return;
        }
    }
}

#[cold]
fn unused(cx: &mut Context<'_>, operation: &Operation, definition: &VariableDefinition) {
    let name = cx.quoted(definition.name);
    let message = if operation.name.is_empty() {
        format!("Variable \"${name}\" is never used.")
    } else {
        format!("Variable \"${name}\" is never used in operation \"{}\".", cx.quoted(operation.name))
    };
    cx.report(&[definition.span], message);
}

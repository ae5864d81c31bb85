//! An operation without a name is the only one.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Lone-Anonymous-Operation>

use crate::validate::context::Context;

/// Reports anonymous operations that have company.
pub(in crate::validate) fn document(cx: &mut Context<'_>) {
    if cx.tables.operations.len() < 2 {
        return;
    }
    for at in 0..cx.tables.operations.len() {
        let operation = cx.tables.operations[at].ast;
        if operation.name.is_empty() {
            let message = "This anonymous operation must be the only defined operation.";
            cx.report(&[operation.span], message.to_owned());
        }
    }
}

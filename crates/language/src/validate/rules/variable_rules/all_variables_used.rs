//! Every variable an operation defines is used by it or its fragments.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-All-Variables-Used>

use crate::syntax::ast::{Operation, VariableDefinition};
use crate::validate::rule_context::{Context, Use};

/// Reports definitions without a use.
pub(in crate::validate) fn operation(cx: &mut Context<'_>, operation: &Operation, uses: &[Use]) {
    let mut is_used = vec![false; cx.variables.len()];
    for used in uses {
        is_used[used.name as usize] = true;
    }
    for (place, definition) in operation.variables.range().zip(cx.document.list(operation.variables)) {
        if !is_used[cx.tables.variables[place].name as usize] {
            report_unused(cx, operation, definition);
        }
        if cx.is_full() {
            return;
        }
    }
}

#[cold]
fn report_unused(cx: &mut Context<'_>, operation: &Operation, definition: &VariableDefinition) {
    let name = cx.quoted_text(definition.name);
    let message = if operation.name.is_empty() {
        format!("Variable \"${name}\" is never used.")
    } else {
        format!("Variable \"${name}\" is never used in operation \"{}\".", cx.quoted_text(operation.name))
    };
    cx.report(&[definition.span], message);
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn uses_in_fragments_count() {
        check("query ($a: Int) { int }", &["1:8 Variable \"$a\" is never used."]);
        check(
            "query A($a: Int) { int }\nfragment F on Query { int(x: $a) }",
            &["1:9 Variable \"$a\" is never used in operation \"A\".", "2:1 Fragment \"F\" is never used."],
        );
        check(
            "query A($a: Int) { int }\nquery B($a: Int) { int(x: $a) }",
            &["1:9 Variable \"$a\" is never used in operation \"A\"."],
        );
        check(
            "query ($a: Int) { ...F }\nfragment F on Query { ...G }\nfragment G on Query { int(x: $a) }",
            &[],
        );
    }
}

//! Every variable an operation or its fragments use is defined by the operation.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-All-Variable-Uses-Defined>

use crate::syntax::ast::Operation;
use crate::validate::rule_context::{Context, Use};
use crate::validate::valid::NONE;

/// Reports uses without a definition. Gives, by number of name, the place of the definition in the arena.
pub(in crate::validate) fn operation(cx: &mut Context<'_>, operation: &Operation, uses: &[Use]) -> Vec<u32> {
    let mut places = vec![NONE; cx.variables.len()];
    for place in operation.variables.range() {
        let name = cx.tables.variables[place].name as usize;
        // The last of several definitions counts, as in graphql-js; another rule reports duplicates.
        places[name] = place as u32;
    }
    for used in uses {
        if places[used.name as usize] == NONE {
            report_undefined(cx, operation, used);
            if cx.is_full() {
                break;
            }
        }
    }
    places
}

#[cold]
fn report_undefined(cx: &mut Context<'_>, operation: &Operation, used: &Use) {
    let span = cx.document.value(used.value).span;
    // The value's text is the name with its `$`.
    let name = cx.quoted_text(span);
    let message = if operation.name.is_empty() {
        format!("Variable \"{name}\" is not defined.")
    } else {
        format!("Variable \"{name}\" is not defined by operation \"{}\".", cx.quoted_text(operation.name))
    };
    cx.report(&[span, operation.span], message);
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn uses_in_fragments_count_for_every_operation_that_reaches_them() {
        check(
            "query A($a: Int) { ...F }\nquery B { ...F }\nfragment F on Query { int(x: $a) }",
            &["3:30 2:1 Variable \"$a\" is not defined by operation \"B\"."],
        );
        check("{ int(x: $a) }", &["1:10 1:1 Variable \"$a\" is not defined."]);
        check("{ any(x: { a: $a }) }", &["1:15 1:1 Variable \"$a\" is not defined."]);
        check(
            "query A($a: Int) { ...F }\nquery B($a: Int) { ...F }\nfragment F on Query { int(x: $a) }",
            &[],
        );
    }
}

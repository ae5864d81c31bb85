//! Variables of one operation have different names.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Variable-Uniqueness>

use crate::syntax::ast::Operation;
use crate::validate::rule_context::Context;
use crate::validate::rules::for_each_repeat;

/// Reports each variable that is defined again.
pub(in crate::validate) fn operation(cx: &mut Context<'_>, operation: &Operation) {
    let document = cx.document;
    for_each_repeat(
        document,
        document.list(operation.variables),
        |known| known.name,
        |group| {
            let message = format!("There can be only one variable named \"${}\".", cx.quoted_text(group[0]));
            cx.report(group, message);
        },
    );
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn all_places_of_a_repeated_variable_are_named() {
        check(
            "query ($a: Int, $a: Int) { int(x: $a) }",
            &["1:9 1:18 There can be only one variable named \"$a\"."],
        );
        check("query A($a: Int) { int(x: $a) }\nquery B($a: String) { text(x: $a) }", &[]);
    }
}

//! An argument is given once.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Argument-Uniqueness>

use crate::syntax::ast::{Argument, List};
use crate::validate::rule_context::Context;
use crate::validate::rules::for_each_repeat;

/// Reports each argument of `list` that is given again.
pub(in crate::validate) fn arguments(cx: &mut Context<'_>, list: List<Argument>) {
    if list.len() < 2 {
        return;
    }
    let document = cx.document;
    for_each_repeat(
        document,
        document.list(list),
        |argument| argument.name,
        |group| {
            let message = format!("There can be only one argument named \"{}\".", cx.quoted_text(group[0]));
            cx.report(group, message);
        },
    );
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn all_places_of_a_repeated_argument_are_named() {
        check("{ int(x: 1, x: 2, x: 3) }", &["1:7 1:13 1:19 There can be only one argument named \"x\"."]);
        check(
            "{ two(a: 1, b: 2, a: 1, b: 2) }",
            &[
                "1:7 1:19 There can be only one argument named \"a\".",
                "1:13 1:25 There can be only one argument named \"b\".",
            ],
        );
        check(
            "{ nothing(x: 1, x: 2) }",
            &[
                "1:3 Cannot query field \"nothing\" on type \"Query\".",
                "1:11 1:17 There can be only one argument named \"x\".",
            ],
        );
    }
}

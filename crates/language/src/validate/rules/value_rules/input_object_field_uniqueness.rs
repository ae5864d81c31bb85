//! A field of an object literal is given once.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Input-Object-Field-Uniqueness>

use crate::syntax::ast::{List, ObjectField};
use crate::validate::rule_context::Context;
use crate::validate::rules::for_each_repeat;

/// Reports each field of `fields` that is given again.
pub(in crate::validate) fn object(cx: &mut Context<'_>, fields: List<ObjectField>) {
    if fields.len() < 2 {
        return;
    }
    let document = cx.document;
    for_each_repeat(
        document,
        document.list(fields),
        |field| field.name,
        |group| {
            for &again in &group[1..] {
                let message =
                    format!("There can be only one input field named \"{}\".", cx.quoted_text(again));
                cx.report(&[group[0], again], message);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn a_field_is_given_once_in_any_object() {
        check(
            "{ filter(x: { not: { length: { from: 1, from: 2 } } }) }",
            &["1:32 1:41 There can be only one input field named \"from\"."],
        );
        check("{ any(x: { a: 1, a: 2 }) }", &["1:12 1:18 There can be only one input field named \"a\"."]);
        check(
            "{ filter(x: { name: \"a\", genres: [ROCK], length: { from: 1, to: 2, step: 3 }, lengths: [{ from: 1 }], and: [], not: {}, extra: 1, required: true }) }",
            &[],
        );
    }
}

//! Operations of one document have different names.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Operation-Name-Uniqueness>

use crate::span::Span;
use crate::validate::rule_context::Context;
use crate::validate::rules::for_each_repeat;

/// Reports each name that is used again.
pub(in crate::validate) fn document(cx: &mut Context<'_>) {
    let operations = &cx.tables.operations;
    if operations.len() < 2 {
        return;
    }
    let names: Vec<Span> =
        operations.iter().map(|known| known.ast.name).filter(|name| !name.is_empty()).collect();
    for_each_repeat(
        cx.document,
        &names,
        |&name| name,
        |group| {
            for &again in &group[1..] {
                let message = format!("There can be only one operation named \"{}\".", cx.quoted_text(again));
                cx.report(&[group[0], again], message);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn each_name_that_is_used_again_is_reported() {
        check("query A { int }\nquery A { text }", &["1:7 2:7 There can be only one operation named \"A\"."]);
        check(
            "query A { int }\nquery A { int }\nquery A { int }",
            &[
                "1:7 2:7 There can be only one operation named \"A\".",
                "1:7 3:7 There can be only one operation named \"A\".",
            ],
        );
        check("query A { int }\nquery B { int }", &[]);
    }
}

//! A directive stands once in a place, unless it is repeatable.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Directives-Are-Unique-per-Location>

use crate::ids::DirectiveId;
use crate::span::Span;
use crate::syntax::ast::{Directive, List};
use crate::validate::rule_context::Context;
use crate::validate::rules::for_each_repeat;
use crate::validate::valid::NONE;

/// Reports directives of one place that are repeated and may not be.
pub(in crate::validate) fn directives(cx: &mut Context<'_>, list: List<Directive>) {
    if list.len() < 2 {
        return;
    }
    let document = cx.document;
    let is_unique = |at: &usize| match cx.tables.directives[*at] {
        NONE => false,
        id => !cx.schema.directive(DirectiveId(id)).repeatable,
    };
    let names: Vec<Span> = list.range().filter(is_unique).map(|at| document.directives[at].name).collect();
    for_each_repeat(
        document,
        &names,
        |&name| name,
        |group| {
            // The place of a directive begins at its `@`.
            let whole = |name: Span| Span::new(place(document.text, name.start), name.end);
            for &again in &group[1..] {
                let name = cx.quoted_text(again);
                let message = format!("The directive \"@{name}\" can only be used once at this location.");
                cx.report(&[whole(group[0]), whole(again)], message);
            }
        },
    );
}

/// Offset of the `@` before the name at `start`; ignored characters may stand between.
fn place(text: &str, start: u32) -> u32 {
    text[..start as usize].rfind('@').map_or(start, |at| at as u32)
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn a_directive_stands_once_in_a_place_unless_it_may_be_repeated() {
        check(
            "{ int @once @tag(name: \"a\") @once @tag(name: \"a\") @once }",
            &[
                "1:7 1:29 The directive \"@once\" can only be used once at this location.",
                "1:7 1:51 The directive \"@once\" can only be used once at this location.",
            ],
        );
        check("query @tag(name: \"a\") @tag(name: \"b\") { int }", &[]);
        check("{ a: int @once b: int @once }", &[]);
    }
}

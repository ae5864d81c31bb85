//! Only objects, interfaces and unions can be what a fragment is on.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Fragments-on-Object-Interface-or-Union-Types>

use crate::syntax::ast::{Fragment, Inline};
use crate::validate::rule_context::Context;

/// Reports a fragment definition on a leaf or input type.
#[cold]
pub(in crate::validate) fn fragment(cx: &mut Context<'_>, fragment: &Fragment) {
    let message = format!(
        "Fragment \"{}\" cannot condition on non composite type \"{}\".",
        cx.quoted_text(fragment.name),
        cx.quoted_text(fragment.on)
    );
    cx.report(&[fragment.on], message);
}

/// Reports an inline fragment on a leaf or input type.
#[cold]
pub(in crate::validate) fn inline(cx: &mut Context<'_>, inline: &Inline) {
    let message =
        format!("Fragment cannot condition on non composite type \"{}\".", cx.quoted_text(inline.on));
    cx.report(&[inline.on], message);
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn fragments_are_on_objects_interfaces_and_unions() {
        check(
            "{ artist(id: 1) { ...F } }\nfragment F on String { length }",
            &["2:15 Fragment \"F\" cannot condition on non composite type \"String\"."],
        );
        check(
            "{ artist(id: 1) { ... on Range { from } } }",
            &["1:26 Fragment cannot condition on non composite type \"Range\"."],
        );
        check("{ find(by: { id: 1 }) { ...F } }\nfragment F on Found { ... on Artist { name } }", &[]);
    }
}

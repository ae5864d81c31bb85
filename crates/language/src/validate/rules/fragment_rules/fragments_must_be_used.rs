//! Every fragment is reached by some operation.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Fragments-Must-Be-Used>

use crate::validate::fragment_reach::Reach;
use crate::validate::rule_context::Context;

/// Reports the fragments no operation reaches.
pub(in crate::validate) fn document(cx: &mut Context<'_>, reach: &Reach) {
    for at in 0..cx.tables.fragments.len() {
        let fragment = cx.tables.fragments[at].ast;
        if !reach.was_reached(first_of_its_name(cx, at)) {
            let message = format!("Fragment \"{}\" is never used.", cx.quoted_text(fragment.name));
            cx.report(&[fragment.span], message);
        }
        if cx.is_full() {
            return;
        }
    }
}

/// Spreads mean the first fragment of a name; a second one is another rule's affair.
fn first_of_its_name(cx: &Context<'_>, at: usize) -> usize {
    let name = cx.fragment_names.find(cx.document.str(cx.tables.fragments[at].ast.name));
    name.map_or(at, |name| cx.fragment_by_name[name as usize] as usize)
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn a_fragment_that_only_unused_ones_use_is_unused() {
        check(
            "{ int }\nfragment F on Artist { ...G }\nfragment G on Artist { name }",
            &["2:1 Fragment \"F\" is never used.", "3:1 Fragment \"G\" is never used."],
        );
        check("query A { int }\nquery B { artist(id: 1) { ...F } }\nfragment F on Artist { name }", &[]);
    }
}

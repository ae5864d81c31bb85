//! A spread names a fragment of the document.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Fragment-Spread-Target-Defined>

use crate::syntax::ast::Spread;
use crate::validate::rule_context::Context;

/// Reports a spread of nothing.
#[cold]
pub(in crate::validate) fn report_unknown(cx: &mut Context<'_>, spread: &Spread) {
    cx.report(&[spread.name], format!("Unknown fragment \"{}\".", cx.quoted_text(spread.name)));
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn spreads_name_fragments_of_the_document() {
        check("{ artist(id: 1) { ...F } }\nfragment F on Artist { ...G }", &["2:27 Unknown fragment \"G\"."]);
        check(
            "{ artist(id: 1) { ...F } }\nfragment F on Artist { ...G }\nfragment G on Artist { name }",
            &[],
        );
    }
}

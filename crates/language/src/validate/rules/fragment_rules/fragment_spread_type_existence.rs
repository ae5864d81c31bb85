//! Types that fragments and variables name exist.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Fragment-Spread-Type-Existence>

use crate::syntax::ast::Name;
use crate::validate::rule_context::Context;

/// Reports the type `name`, which the schema does not have.
#[cold]
pub(in crate::validate) fn report_unknown(cx: &mut Context<'_>, name: Name) {
    let known = cx.schema.types().map(|it| cx.schema.type_name(it));
    let suggestion = cx.suggestion(name, known);
    let message = format!("Unknown type \"{}\".{suggestion}", cx.quoted_text(name));
    cx.report(&[name], message);
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn types_named_by_fragments_and_variables_exist() {
        check(
            "{ artist(id: 1) { ...F } }\nfragment F on Singer { name }",
            &["2:15 Unknown type \"Singer\". Did you mean \"Filter\", \"Owner\", or \"Range\"?"],
        );
        check(
            "{ artist(id: 1) { ... on Singer { name } } }",
            &["1:26 Unknown type \"Singer\". Did you mean \"Filter\", \"Owner\", or \"Range\"?"],
        );
        check(
            "query ($a: [[Singer!]!]) { any(x: $a) }",
            &["1:14 Unknown type \"Singer\". Did you mean \"Filter\", \"Owner\", or \"Range\"?"],
        );
    }
}

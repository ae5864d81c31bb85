//! A directive exists.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Directives-Are-Defined>

use crate::syntax::ast::Directive;
use crate::type_system::Wording;
use crate::validate::rule_context::Context;

/// Reports a directive the schema does not have.
#[cold]
pub(in crate::validate) fn report_unknown(cx: &mut Context<'_>, directive: &Directive) {
    let at = if cx.schema.wording() == Wording::Dgraph { "" } else { "@" };
    cx.report(&[directive.span], format!("Unknown directive \"{at}{}\".", cx.quoted_text(directive.name)));
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn directives_exist() {
        check(
            "{ int @nothing @nothing }",
            &["1:7 Unknown directive \"@nothing\".", "1:16 Unknown directive \"@nothing\"."],
        );
        check("{ int @once @onField }", &[]);
    }
}

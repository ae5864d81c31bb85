//! A directive stands where its definition allows it.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Directives-Are-in-Valid-Locations>

use crate::ids::DirectiveId;
use crate::syntax::ast::Directive;
use crate::type_system::{Place, Wording};
use crate::validate::rule_context::Context;

/// Holds the place of a directive against its definition.
pub(in crate::validate) fn directive(
    cx: &mut Context<'_>,
    directive: &Directive,
    id: DirectiveId,
    place: Place,
) {
    if cx.schema.directive(id).places & place.bit() == 0 {
        let name = cx.quoted_text(directive.name);
        let at = if cx.schema.wording() == Wording::Dgraph { "" } else { "@" };
        let message = format!("Directive \"{at}{name}\" may not be used on {}.", place.name());
        cx.report(&[directive.span], message);
    }
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn every_place_is_told_apart() {
        check("{ int @onQuery }", &["1:7 Directive \"@onQuery\" may not be used on FIELD."]);
        check(
            "query ($a: Int @onField) { int(x: $a) }",
            &["1:16 Directive \"@onField\" may not be used on VARIABLE_DEFINITION."],
        );
        check(
            "{ ... @onFragmentSpread { int } }",
            &["1:7 Directive \"@onFragmentSpread\" may not be used on INLINE_FRAGMENT."],
        );
        check("{ ...F }\nfragment F on Query @onFragmentDefinition { int }", &[]);
        check("{ int @deprecated }", &["1:7 Directive \"@deprecated\" may not be used on FIELD."]);
    }
}

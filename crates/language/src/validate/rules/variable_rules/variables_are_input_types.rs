//! A variable's type is a scalar, an enum or an input object, or lists of them.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Variables-Are-Input-Types>

use crate::syntax::ast::VariableDefinition;
use crate::type_system::{TypeKind, TypeRef};
use crate::validate::rule_context::Context;

/// True if a variable may have the type `ty`; reports an error otherwise.
pub(in crate::validate) fn variable(
    cx: &mut Context<'_>,
    definition: &VariableDefinition,
    ty: TypeRef,
) -> bool {
    match cx.schema.ty(ty.base).kind {
        TypeKind::Scalar(_) | TypeKind::Enum | TypeKind::Input { .. } => true,
        TypeKind::Object | TypeKind::Interface | TypeKind::Union => {
            let name = cx.quoted_text(definition.name);
            let ty = cx.schema.type_text(ty);
            let message = format!("Variable \"${name}\" cannot be non-input type \"{ty}\".");
            cx.report(&[definition.ty.span], message);
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn variables_take_scalars_enums_and_input_objects() {
        check(
            "query ($a: Node!) { any(x: $a) }",
            &[
                "1:8 1:28 Variable \"$a\" of type \"Node!\" used in position expecting type \"Any\".",
                "1:12 Variable \"$a\" cannot be non-input type \"Node!\".",
            ],
        );
        check(
            "query ($a: [Found]) { any(x: $a) }",
            &[
                "1:8 1:30 Variable \"$a\" of type \"[Found]\" used in position expecting type \"Any\".",
                "1:12 Variable \"$a\" cannot be non-input type \"[Found]\".",
            ],
        );
        check("query ($a: [Range!]!) { ranges(x: $a) }", &[]);
    }
}

//! Objects need a selection of subfields, leaves cannot have one.
//!
//! With the September 2026 edition an object's selection may be empty.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Leaf-Field-Selections>

use crate::syntax::ast::Field;
use crate::type_system::TypeRef;
use crate::validate::rule_context::Context;

/// Holds the selection set of `field` against its type.
pub(in crate::validate) fn field(cx: &mut Context<'_>, field: &Field, ty: TypeRef, composite: bool) {
    match (composite, field.braces) {
        (true, true) if field.selections.is_empty() && !cx.options.edition_2026 => {
            let message = format!(
                "Field \"{}\" of type \"{}\" must have at least one field selected.",
                cx.quoted_text(field.name),
                cx.schema.type_text(ty)
            );
            cx.report(&[field.span], message);
        }
        (true, true) | (false, false) => {}
        (true, false) => report_missing_selection(cx, field, ty),
        (false, true) => superfluous(cx, field, ty),
    }
}

#[cold]
fn report_missing_selection(cx: &mut Context<'_>, field: &Field, ty: TypeRef) {
    let name = cx.quoted_text(field.name);
    let ty = cx.schema.type_text(ty);
    let mut message = format!("Field \"{name}\" of type \"{ty}\" must have a selection of subfields.");
    if cx.options.suggestions {
        message.push_str(&format!(" Did you mean \"{name} {{ ... }}\"?"));
    }
    cx.report(&[field.span], message);
}

#[cold]
fn superfluous(cx: &mut Context<'_>, field: &Field, ty: TypeRef) {
    let arguments = cx.document.list(field.arguments);
    let directives = cx.document.list(field.directives);
    let place = cx.brace(field.name.end, arguments, directives);
    let message = format!(
        "Field \"{}\" must not have a selection since type \"{}\" has no subfields.",
        cx.quoted_text(field.name),
        cx.schema.type_text(ty)
    );
    cx.report(&[place], message);
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn leaves_have_no_selection() {
        check(
            "{ int { value } }",
            &["1:7 Field \"int\" must not have a selection since type \"Int\" has no subfields."],
        );
        check(
            "{ int(x: 1) { value } }",
            &["1:13 Field \"int\" must not have a selection since type \"Int\" has no subfields."],
        );
        check(
            "{ int @onField { value } }",
            &["1:16 Field \"int\" must not have a selection since type \"Int\" has no subfields."],
        );
    }

    #[test]
    fn objects_have_one() {
        check(
            "{ artist(id: 1) }",
            &[
                "1:3 Field \"artist\" of type \"Artist\" must have a selection of subfields. Did you mean \"artist { ... }\"?",
            ],
        );
        check(
            "{ artists }",
            &[
                "1:3 Field \"artists\" of type \"[Artist!]!\" must have a selection of subfields. Did you mean \"artists { ... }\"?",
            ],
        );
        check("{ artist(id: 1) { name } }", &[]);
    }
}

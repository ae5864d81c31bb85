//! Fields of input objects that are non-null and have no default are given.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Input-Object-Required-Fields>

use crate::ids::{InputId, TypeId};
use crate::syntax::ast::{List, ObjectField, ValueId};
use crate::type_system::Wording;
use crate::validate::rule_context::Context;
use crate::validate::shown_literal;
use crate::validate::valid::NONE;

/// Reports the required fields of input type `base` that the literal `object` lacks.
pub(in crate::validate) fn object(
    cx: &mut Context<'_>,
    object: ValueId,
    fields: List<ObjectField>,
    base: TypeId,
) {
    for id in cx.schema.inputs(cx.schema.ty(base).members) {
        let input = cx.schema.input(id);
        let is_required = input.ty.is_non_null() && input.default.is_none();
        if is_required && find_written_field(cx, fields, id).is_none() {
            report_missing_field(cx, object, base, id);
        }
    }
}

#[cold]
fn report_missing_field(cx: &mut Context<'_>, object: ValueId, base: TypeId, id: InputId) {
    let owner = cx.schema.type_name(base);
    let name = cx.schema.input_name(id);
    let message = match cx.schema.wording() {
        Wording::GraphqlJs => format!(
            "Expected value of type \"{owner}\" to include required field \"{name}\", found: {}.",
            shown_literal::value(cx.document, object)
        ),
        Wording::Dgraph => {
            let ty = cx.schema.type_text(cx.schema.input(id).ty);
            format!("Field {owner}.{name} of required type {ty} was not provided.")
        }
    };
    cx.report(&[cx.document.value(object).span], message);
}

/// The field of `fields` that was resolved to `id`.
fn find_written_field(cx: &Context<'_>, fields: List<ObjectField>, id: InputId) -> Option<ObjectField> {
    let at = cx.tables.object_fields[fields.range()].iter().position(|&known| known == id.0)?;
    debug_assert_ne!(id.0, NONE);
    Some(cx.document.list(fields)[at])
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn what_is_non_null_without_a_default_is_given() {
        check(
            "{ range(x: { to: 2 }) }",
            &["1:12 Expected value of type \"Range\" to include required field \"from\", found: {…}."],
        );
        check("{ range(x: { from: 1 }) }", &[]);
        check(
            "{ by(x: { range: { to: 1 } }) }",
            &["1:18 Expected value of type \"Range\" to include required field \"from\", found: {…}."],
        );
    }
}

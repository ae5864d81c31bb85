//! A field of an input object literal exists on the type.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Input-Object-Field-Names>

use crate::coerce::dgraph;
use crate::ids::TypeId;
use crate::syntax::ast::{ObjectField, ValueId};
use crate::type_system::Wording;
use crate::validate::rule_context::Context;
use crate::validate::shown_literal;

/// Reports `field` of `object`, which input type `base` does not have.
#[cold]
pub(in crate::validate) fn report_unknown(
    cx: &mut Context<'_>,
    field: &ObjectField,
    base: TypeId,
    object: ValueId,
) {
    let known = cx.schema.inputs(cx.schema.ty(base).members);
    let suggestion = cx.suggestion(field.name, known.map(|it| cx.schema.input_name(it)));
    if cx.schema.wording() == Wording::Dgraph {
        let name = cx.quoted_text(field.name);
        let ty = cx.schema.type_name(base);
        let message =
            format!("Field \"{name}\" is not defined by type {ty}.{}", dgraph::strip_quotes(&suggestion));
        return cx.report(&[field.span], message);
    }
    let found = if suggestion.is_empty() { ", found".to_owned() } else { format!(".{suggestion} Found") };
    let message = format!(
        "Expected value of type \"{}\" not to include unknown field \"{}\"{found}: {}.",
        cx.schema.type_name(base),
        cx.quoted_text(field.name),
        shown_literal::value(cx.document, object)
    );
    cx.report(&[field.span], message);
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn fields_of_objects_exist() {
        check(
            "{ range(x: { from: 1, till: 2 }) }",
            &["1:23 Expected value of type \"Range\" not to include unknown field \"till\", found: {…}."],
        );
        check(
            "{ range(x: { from: 1, __proto__: 2 }) }",
            &[
                "1:23 Expected value of type \"Range\" not to include unknown field \"__proto__\", found: {…}.",
            ],
        );
        check(
            "{ filter(x: { and: [{ not: { and: [{ nome: \"a\" }] } }] }) }",
            &[
                "1:38 Expected value of type \"Filter\" not to include unknown field \"nome\". Did you mean \"name\" or \"not\"? Found: {…}.",
            ],
        );
    }
}

//! A OneOf input object has exactly one field, and its value is not null.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Input-Objects.Input-Coercion>

use crate::ids::TypeId;
use crate::syntax::ast::{List, ObjectField, ValueId, ValueKind};
use crate::validate::rule_context::Context;
use crate::validate::valid::NONE;

/// Holds the fields of a literal of type `base` against the rule.
pub(in crate::validate) fn object(
    cx: &mut Context<'_>,
    object: ValueId,
    fields: List<ObjectField>,
    base: TypeId,
) {
    let mut known = fields
        .range()
        .filter(|&at| cx.tables.object_fields[at] != NONE)
        .map(|at| cx.document.object_fields[at]);
    let is_one = match (known.next(), known.next()) {
        (Some(only), None) => !matches!(cx.document.value(only.value).kind, ValueKind::Null),
        (Some(_), Some(_)) | (None, _) => false,
    };
    if !is_one {
        let message = format!(
            "Within OneOf Input Object type \"{}\", exactly one field must be specified, and the value for that field \
             must be non-null.",
            cx.schema.type_name(base)
        );
        cx.report(&[cx.document.value(object).span], message);
    }
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn exactly_one_field_is_given_and_not_null() {
        check(
            "{ by(x: {}) }",
            &[
                "1:9 Within OneOf Input Object type \"By\", exactly one field must be specified, and the value for that field must be non-null.",
            ],
        );
        check(
            "{ by(x: { id: 1, name: \"a\" }) }",
            &[
                "1:9 Within OneOf Input Object type \"By\", exactly one field must be specified, and the value for that field must be non-null.",
            ],
        );
        check(
            "{ by(x: { id: null }) }",
            &[
                "1:9 Within OneOf Input Object type \"By\", exactly one field must be specified, and the value for that field must be non-null.",
            ],
        );
        check(
            "query ($a: By = { id: 1, name: \"a\" }) { by(x: $a) }",
            &[
                "1:17 Within OneOf Input Object type \"By\", exactly one field must be specified, and the value for that field must be non-null.",
            ],
        );
        check("{ by(x: { range: { from: 1 } }) }", &[]);
    }
}

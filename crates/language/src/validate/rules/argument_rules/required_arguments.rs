//! Arguments that are non-null and have no default are given.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Required-Arguments>

use crate::ids::InputId;
use crate::syntax::ast::{Argument, List};
use crate::type_system::{Run, Wording};
use crate::validate::rule_context::Context;
use crate::validate::rules::{FieldOrDirective, coordinate};

/// Reports the required ones of `run` that `list` lacks.
pub(in crate::validate) fn arguments(
    cx: &mut Context<'_>,
    list: List<Argument>,
    run: Run,
    owner: FieldOrDirective<'_>,
) {
    for id in cx.schema.inputs(run) {
        let input = cx.schema.input(id);
        let is_required = input.ty.is_non_null() && input.default.is_none();
        if is_required && !cx.tables.arguments[list.range()].contains(&id.0) {
            report_missing_argument(cx, id, owner);
        }
    }
}

#[cold]
fn report_missing_argument(cx: &mut Context<'_>, id: InputId, owner: FieldOrDirective<'_>) {
    let name = cx.schema.input_name(id);
    let (coordinate, span) = match owner {
        FieldOrDirective::Field(field, owner) => (format!("{}({name}:)", coordinate(cx, owner)), field.span),
        FieldOrDirective::Directive(directive) => {
            (format!("@{}({name}:)", cx.document.str(directive.name)), directive.span)
        }
    };
    let ty = cx.schema.type_text(cx.schema.input(id).ty);
    let message = match (cx.schema.wording(), owner) {
        (Wording::Dgraph, FieldOrDirective::Field(_, owner)) => {
            let field = cx.schema.field_name(owner);
            format!("Field \"{field}\" argument \"{name}\" of type \"{ty}\" is required but not provided.")
        }
        (Wording::Dgraph, FieldOrDirective::Directive(directive)) => {
            let directive = cx.document.str(directive.name);
            format!(
                "Directive \"@{directive}\" argument \"{name}\" of type \"{ty}\" is required but not provided."
            )
        }
        (Wording::GraphqlJs, _) => {
            format!("Argument \"{coordinate}\" of type \"{ty}\" is required, but it was not provided.")
        }
    };
    cx.report(&[span], message);
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn what_is_non_null_without_a_default_is_given() {
        check(
            "{ two }",
            &[
                "1:3 Argument \"Query.two(a:)\" of type \"Int!\" is required, but it was not provided.",
                "1:3 Argument \"Query.two(b:)\" of type \"Int!\" is required, but it was not provided.",
            ],
        );
        check(
            "{ int @skip }",
            &["1:7 Argument \"@skip(if:)\" of type \"Boolean!\" is required, but it was not provided."],
        );
        check("{ intDefault }", &[]);
    }
}

//! An argument exists on the field or directive it is given to.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Argument-Names>

use crate::syntax::ast::Argument;
use crate::type_system::{Run, Wording};
use crate::validate::rule_context::Context;
use crate::validate::rules::{FieldOrDirective, coordinate};

/// Reports `argument`, which is not among `run`.
#[cold]
pub(in crate::validate) fn report_unknown(
    cx: &mut Context<'_>,
    argument: &Argument,
    run: Run,
    owner: FieldOrDirective<'_>,
) {
    let known = cx.schema.inputs(run).map(|it| cx.schema.input_name(it));
    let suggestion = cx.suggestion(argument.name, known);
    let owner = match owner {
        FieldOrDirective::Field(_, id) if cx.schema.wording() == Wording::Dgraph => {
            let parent = cx.schema.type_name(cx.schema.field(id).parent);
            format!("field \"{}\" of type \"{parent}\"", cx.schema.field_name(id))
        }
        FieldOrDirective::Field(_, id) => format!("field \"{}\"", coordinate(cx, id)),
        FieldOrDirective::Directive(directive) => {
            format!("directive \"@{}\"", cx.quoted_text(directive.name))
        }
    };
    let message = format!("Unknown argument \"{}\" on {owner}.{suggestion}", cx.quoted_text(argument.name));
    cx.report(&[argument.span], message);
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn arguments_of_fields_and_directives_exist() {
        check(
            "{ int(x: 1, y: 1) }",
            &["1:13 Unknown argument \"y\" on field \"Query.int\". Did you mean \"x\"?"],
        );
        check(
            "{ int @skip(unless: true, if: true) }",
            &["1:13 Unknown argument \"unless\" on directive \"@skip\"."],
        );
        check("{ __typename(x: 1) }", &["1:14 Unknown argument \"x\" on field \"<meta>.__typename\"."]);
        check("{ two(a: 1, b: 2) }", &[]);
    }
}

//! An operation needs a root type in the schema.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Operation-Type-Existence>

use crate::syntax::ast::{Operation, OperationKind};
use crate::validate::rule_context::Context;

/// Reports an operation whose kind the schema lacks.
pub(in crate::validate) fn report_missing_root(cx: &mut Context<'_>, operation: &Operation) {
    let kind = match operation.kind {
        OperationKind::Query => "query",
        OperationKind::Mutation => "mutation",
        OperationKind::Subscription => "subscription",
    };
    cx.report(&[operation.span], format!("The {kind} operation is not supported by the schema."));
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check_against;

    #[test]
    fn an_operation_needs_a_root_type() {
        let schema = "type Query { a: Int }";
        check_against(
            schema,
            "mutation { a }",
            &["1:1 The mutation operation is not supported by the schema."],
        );
        check_against(
            schema,
            "subscription { a }",
            &["1:1 The subscription operation is not supported by the schema."],
        );
        check_against(schema, "{ a }", &[]);
    }
}

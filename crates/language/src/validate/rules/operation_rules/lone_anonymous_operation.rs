//! An operation without a name is the only one.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Lone-Anonymous-Operation>

use crate::validate::rule_context::Context;

/// Reports anonymous operations that have company.
pub(in crate::validate) fn document(cx: &mut Context<'_>) {
    if cx.tables.operations.len() < 2 {
        return;
    }
    for at in 0..cx.tables.operations.len() {
        let operation = cx.tables.operations[at].ast;
        if operation.name.is_empty() {
            let message = "This anonymous operation must be the only defined operation.";
            cx.report(&[operation.span], message.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn anonymous_operations_stand_alone() {
        check(
            "{ int }\n{ text }",
            &[
                "1:1 This anonymous operation must be the only defined operation.",
                "2:1 This anonymous operation must be the only defined operation.",
            ],
        );
        check("{ artist(id: 1) { ...F } }\nfragment F on Artist { name }", &[]);
    }
}

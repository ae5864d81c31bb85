//! Only operations and fragments can be executed.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Executable-Definitions>

use crate::syntax::ast::Definition;
use crate::validate::rule_context::Context;

/// Reports a definition that is neither.
pub(in crate::validate) fn definition(cx: &mut Context<'_>, definition: &Definition) {
    let (name, span) = match definition {
        Definition::Operation(_) | Definition::Fragment(_) => return,
        Definition::Schema(schema) => ("schema".to_owned(), schema.span),
        Definition::Type(ty) => (format!("\"{}\"", cx.quoted_text(ty.name)), ty.span),
        Definition::Directive(directive) => {
            (format!("\"{}\"", cx.quoted_text(directive.name)), directive.span)
        }
    };
    cx.report(&[span], format!("The {name} definition is not executable."));
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn only_operations_and_fragments_are_executable() {
        check("{ int }\ntype Extra { a: Int }", &["2:1 The \"Extra\" definition is not executable."]);
        check("{ int }\nschema { query: Query }", &["2:1 The schema definition is not executable."]);
        check("{ int }\ndirective @more on FIELD", &["2:1 The \"more\" definition is not executable."]);
        check("{ artist(id: 1) { ...F } }\nfragment F on Artist { name }", &[]);
    }
}

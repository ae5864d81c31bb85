//! Only operations and fragments can be executed.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Executable-Definitions>

use crate::ast::Definition;
use crate::validate::context::Context;

/// Reports a definition that is neither.
pub(in crate::validate) fn definition(cx: &mut Context<'_>, definition: &Definition) {
    let (name, span) = match definition {
        Definition::Operation(_) | Definition::Fragment(_) => return,
        Definition::Schema(schema) => ("schema".to_owned(), schema.span),
        Definition::Type(ty) => (format!("\"{}\"", cx.quoted(ty.name)), ty.span),
        Definition::Directive(directive) => (format!("\"{}\"", cx.quoted(directive.name)), directive.span),
    };
    cx.report(&[span], format!("The {name} definition is not executable."));
}

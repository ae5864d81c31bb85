//! An operation needs a root type in the schema.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Operation-Type-Existence>

use crate::ast::{Operation, OperationKind};
use crate::validate::context::Context;

/// Reports an operation whose kind the schema lacks.
pub(in crate::validate) fn missing(cx: &mut Context<'_>, operation: &Operation) {
    let kind = match operation.kind {
        OperationKind::Query => "query",
        OperationKind::Mutation => "mutation",
        OperationKind::Subscription => "subscription",
    };
    cx.report(&[operation.span], format!("The {kind} operation is not supported by the schema."));
}

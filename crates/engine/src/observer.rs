//! Listeners to the operations of an engine: they know an operation by its document and give it a number, and each answer has the number of
//! its operation.
//!
//! **Cost:** one call when a plan is made; a request copies a number.

use std::collections::BTreeSet;
use std::fmt;
use weir_language::ast::OperationKind;

/// An operation for which a plan is made.
#[derive(Clone, Copy, Debug)]
pub struct ObservedOperation<'o> {
    /// The document.
    pub text: &'o str,
    /// The name in the document.
    pub name: Option<&'o str>,
    /// Query or mutation.
    pub kind: OperationKind,
    /// Coordinates of the fields and arguments it asks for, each once: `Query.album`, `Query.album(id:)`. An argument that has a
    /// default counts as given.
    pub coordinates: &'o BTreeSet<String>,
}

/// Knows operations.
pub trait Observer: Send + Sync + fmt::Debug {
    /// The number of `operation`. Plans of one operation differ in callers, protocols and the state of `@skip` and `@include`.
    fn number(&self, operation: &ObservedOperation<'_>) -> u64;
}

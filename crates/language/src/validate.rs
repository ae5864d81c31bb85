//! Turns a parsed document into a [`Valid`] one: every name resolved, every rule of section 5 kept.
//!
//! One walk over each definition resolves names into side tables and asks the rules that concern one place;
//! then the graph of fragments is walked for those that concern an operation as a whole: cycles, variables,
//! limits, merging of fields. Each rule is a file below `rules/`, called as a plain function.
//!
//! **Invariant:** nothing recurses, no fragment is expanded where counting is enough, and once `errors_max`
//! violations are found the work stops.
//!
//! **Cost:** one pass over the document and one over the expanded fields, which a limit bounds.
//! Source: GraphQL specification, September 2025, section 5.

mod document_walk;
mod expanded_limits;
mod fragment_graph;
mod fragment_reach;
mod name_numbers;
mod rule_context;
mod rules;
mod shown_literal;
mod valid;
mod value_walk;

use crate::coerce::Reading;
use crate::error::Error;
use crate::limits::Limits;
use crate::syntax::ast::{Definition, Document};
use crate::syntax::parser::{self, Edition};
use crate::type_system::{Schema, SchemaView};
use rule_context::Context;
pub use valid::{FragmentId, Selected, Valid, ValidFragment, ValidOperation};

/// Options of validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Bounds on the document.
    pub limits: Limits,
    /// True if messages may suggest existing names: "Did you mean …?".
    pub suggestions: bool,
    /// True for the September 2026 edition, in which selection sets may be empty.
    pub edition_2026: bool,
    /// True if a document may hold subscriptions though the schema has none; the caller refuses to run them.
    pub subscriptions_beside: bool,
}

/// Checks `document` against `schema`.
///
/// # Errors
/// The violations in document order, at most `options.limits.errors_max`. Fields that cannot be merged are only looked
/// for in operations, and only where fragments form no cycle and the limits hold.
pub fn validate<'d>(
    schema: impl Into<SchemaView<'d>>,
    document: &'d Document<'d>,
    options: &Options,
) -> Result<Valid<'d>, Vec<Error>> {
    validate_for(schema, document, options, Reading::Strict)
}

/// Checks `document` as far as `reading` asks for it. Lenient: literals of arguments and defaults of variables are left
/// to [`crate::coerce`], which reads strings for numbers, and variables may be unused.
///
/// # Errors
/// See [`validate`].
pub fn validate_for<'d>(
    schema: impl Into<SchemaView<'d>>,
    document: &'d Document<'d>,
    options: &Options,
    reading: Reading,
) -> Result<Valid<'d>, Vec<Error>> {
    let mut cx = Context::new(schema.into(), document, options, reading);
    document_walk::names(&mut cx);
    for definition in &document.definitions {
        if cx.is_full() {
            break;
        }
        match definition {
            Definition::Operation(operation) => document_walk::operation(&mut cx, operation),
            Definition::Fragment(fragment) => document_walk::fragment(&mut cx, fragment),
            Definition::Schema(_) | Definition::Type(_) | Definition::Directive(_) => {
                rules::operation_rules::executable_definitions::definition(&mut cx, definition);
            }
        }
    }
    if !cx.is_full() {
        fragment_graph::check(&mut cx);
    }
    if cx.errors.is_empty() {
        cx.tables.keys_len = cx.keys.len() as u32;
        cx.tables.variable_names_len = cx.variables.len() as u32;
        return Ok(Valid::new(document, cx.tables));
    }
    // The sort is stable, so errors at one place stay in the order of the rules.
    cx.errors.sort_by_key(|error| error.spans.first().map_or(0, |span| span.start));
    Err(cx.errors)
}

/// Checks a text by the newest edition and the bounds that a server starts with. Messages may suggest names.
///
/// # Errors
/// The first error of syntax, or the violations.
pub fn check_text(schema: &Schema, text: &str) -> Result<(), Vec<Error>> {
    let parsed = parser::parse_edition(text, &Limits::STANDARD, Edition::September2026);
    let document = parsed.map_err(|error| vec![error])?;
    let options = Options {
        limits: Limits::STANDARD,
        suggestions: true,
        edition_2026: true,
        subscriptions_beside: false,
    };
    validate(schema, &document, &options).map(drop)
}

#[cfg(test)]
mod tests;

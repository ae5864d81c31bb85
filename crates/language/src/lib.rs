//! GraphQL the language: text in, checked document out.
//!
//! The file list is the pipeline: [`parser`] turns text into a [`ast::Document`] (flat
//! arenas, spans into the text), [`schema`] holds the type system (flat tables addressed by ids),
//! [`validate`] turns a document into a [`validate::Valid`] one, [`coerce`] turns literals and JSON into
//! [`value::Values`].
//!
//! **Invariant:** nothing here recurses on the stack over input, and every pass is linear in its input.
//!
//! Sources: GraphQL specification, September 2025 edition.

pub mod coerce;
pub mod error;
mod ids;
pub mod json;
pub mod limits;
pub mod report;
mod schema_builder;
pub mod span;
pub mod string_value;
pub mod suggest;
mod syntax;
mod type_system;
pub mod validate;
pub mod value;

pub use syntax::{ast, chosen_operation, normal_form, parser, wraps};

/// The type system: a schema, the views of it, and how it is built, printed and compared.
pub mod schema {
    pub use crate::schema_builder::{build, sdl};
    pub use crate::type_system::*;
}

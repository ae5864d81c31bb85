//! GraphQL the language: text in, checked document out.
//!
//! The file list is the pipeline: `lexer` and [`parser`] turn text into a [`ast::Document`] (flat
//! arenas, spans into the text), [`schema`] holds the type system (flat tables addressed by ids),
//! [`validate`] turns a document into a [`validate::Valid`] one, [`coerce`] turns literals and JSON into
//! [`value::Values`].
//!
//! **Invariant:** nothing here recurses on the stack over input, and every pass is linear in its input.
//!
//! Sources: GraphQL specification, September 2025 edition.

pub mod ast;
pub mod chosen;
pub mod coerce;
pub mod error;
pub mod json;
mod lexer;
pub mod limits;
pub mod normal_form;
pub mod parser;
pub mod printer;
pub mod report;
pub mod schema;
pub mod span;
pub mod string_value;
pub mod suggest;
pub mod validate;
pub mod value;
pub mod wraps;

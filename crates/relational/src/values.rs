//! Values and what is asked of them: instants, shapes, patterns, and the words of texts. Each means one thing in every database.
//!
//! A module here knows no plan and no dialect. Front ends read values with it, dialects write its expressions, and SQLite's
//! functions run it.

pub mod geometry;
pub mod hex;
pub mod instant;
pub mod plain_pattern;
pub mod regular_expression;
pub mod text_search;
pub mod trigram;
pub mod word_form;

//! The language crate as others use it: parsing, coercion, validation, schemas.

#[path = "../support/mod.rs"]
mod support;

mod coercion;
mod editions;
mod graphql_js;
mod hostile;
mod hostile_documents;
mod oracle;
mod properties;
mod sdl_errors;
mod sdl_oracle;
mod templates;
mod verdicts;

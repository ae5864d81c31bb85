//! The language crate as others use it: parsing, coercion, validation, schemas.

#[path = "../support/mod.rs"]
mod support;
#[path = "../verdict_kit/mod.rs"]
mod verdict_kit;

mod coercion;
mod corpus;
mod editions;
mod graphql_js;
mod hostile;
mod hostile_documents;
mod properties;
mod random_documents;
mod sdl_corpus;
mod sdl_errors;
mod templates;

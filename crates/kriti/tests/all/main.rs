//! Kriti: values of templates, errors with their places, limits, and random templates.

#[path = "../support/mod.rs"]
mod support;

mod errors;
mod functions;
mod grammar;
mod limits;
mod random;
mod values;

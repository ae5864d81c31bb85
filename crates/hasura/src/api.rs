//! The generated API: a schema with Hasura v2's names, and what each of its members means.
//!
//! `generate` makes both at once, table by table, so that they cannot drift apart. Names are written into reused
//! buffers and types are looked up once per table.
//!
//! A model has two APIs: lists, as at `/v1/graphql`, and Relay's connections (`connections`), which are generated when first used.
//! Both share filters, orders, aggregates and mutations.
//!
//! **Cost:** some fifty types per table; 300 tables take about ten milliseconds.

mod comparison_operators;
mod connections;
mod core;
mod filters;
mod functions;
mod generate;
pub mod meaning;
mod predicates;
mod roots;
mod rows;
mod scalars;
mod shapes;
mod streams;
mod tables;
mod writes;

pub(crate) use connections::IDENTIFIER;
pub use generate::{generate, generate_relay};
pub use scalars::scalar_name;

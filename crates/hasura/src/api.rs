//! The generated API: a schema with Hasura v2's names, and what each of its members means.
//!
//! `generate` makes both at once, table by table, so that they cannot drift apart. Names are written into reused
//! buffers and types are looked up once per table.
//!
//! A model has two APIs: lists, as at `/v1/graphql`, and Relay's connections (`connections`), which are generated when first used.
//! Both share filters, orders, aggregates and mutations.
//!
//! **Cost:** some fifty types per table; 300 tables take about ten milliseconds.

mod conditions;
mod connections;
mod function_fields;
mod generate;
pub mod meaning;
mod predicates;
mod root_fields;
mod row_types;
mod scalars;
mod schema_core;
mod shape_operators;
mod streams;
mod table_types;
mod write_inputs;

pub(crate) use connections::IDENTIFIER;
pub use generate::{generate, generate_relay};
pub use scalars::scalar_name;

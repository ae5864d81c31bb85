//! Relational sources: catalog, API, relational plan, dialects, drivers.
//!
//! The pipeline: [`catalog`] says what the database has, [`model`] what of it is tracked and under which names,
//! [`api`] generates the schema and remembers what each field, input and enum value means ([`api::meaning`]).
//!
//! **Invariant:** nothing a client sends is ever part of a statement's text; it is bound.

mod answer;
pub mod api;
mod bind;
pub mod catalog;
mod columns;
mod coordinates;
mod forms;
mod full;
pub mod geometry;
pub mod grams;
pub mod instant;
mod json_path;
pub mod model;
mod patterns;
pub mod postgres;
pub mod relational;
pub mod render;
pub mod sqlite;
pub mod value;
pub mod words;

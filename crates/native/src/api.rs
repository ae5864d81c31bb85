//! The generated API: a schema with Dgraph's names, and what each of its members means.
//!
//! [`generate()`] makes both at once, type by type, so that they cannot drift apart. What would be an empty input or enum is
//! not made, nor what would need it (`present`).
//!
//! **Cost:** some ten types per type of the model; a hundred types take a few milliseconds.

mod core;
mod entities;
mod filters;
mod generate;
mod inputs;
pub mod meaning;
pub mod member_names;
mod needed;
mod objects;
mod present;
mod roots;
mod scalars;

pub use generate::generate;

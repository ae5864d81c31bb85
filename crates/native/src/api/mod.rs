//! The generated API: a schema with Dgraph's names, and what each of its members means.

pub mod meaning;
pub mod names;

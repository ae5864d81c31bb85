//! The generated API: a schema with Hasura v2's names, and what each of its members means.

pub mod meaning;

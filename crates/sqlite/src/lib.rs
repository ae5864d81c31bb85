//! SQLite, embedded: connections and what is registered on them, the side pool, the writer with group commit, health, the catalog.
//!
//! A [`Database`](connection::Database) is one file. Each thread keeps one connection for reading ([`connection::reader`]); one thread
//! writes ([`writer::Writer`]).
//!
//! **Invariant:** nothing here knows GraphQL; a statement's text comes from the relational plan.

#![expect(
    missing_docs,
    reason = "the crate is not published: an item has a doc where it says more than the name"
)]

pub mod connection;
pub mod error;
mod functions;
pub mod health;
pub mod index_maintenance;
pub mod introspect;
pub mod medium;
pub mod pool;
pub mod session_row;
pub mod table_checks;
pub mod writer;

pub use functions::{binary_json, pattern, stored_forms};

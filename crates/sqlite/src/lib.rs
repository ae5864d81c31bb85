//! SQLite, embedded: connections and what is registered on them, the side pool, the writer with group commit, health, the catalog.
//!
//! A [`Database`](connection::Database) is one file. Each thread keeps one connection for reading ([`connection::reader`]); one thread
//! writes ([`writer::Writer`]).
//!
//! **Invariant:** nothing here knows GraphQL; a statement's text comes from the relational plan.

mod arbiters;
pub mod binary_json;
mod broken_indexes;
mod checks;
pub mod connection;
pub mod error;
mod functions;
pub mod health;
pub mod index_maintenance;
pub mod introspect;
mod json_canonical;
mod json_contains;
mod json_edit;
mod json_text;
mod like;
pub mod medium;
mod names;
pub mod pattern;
pub mod pool;
mod statistics;
mod steps;
pub mod stored_forms;
pub mod table_checks;
pub mod writer;

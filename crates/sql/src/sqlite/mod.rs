//! SQLite, embedded: reads are stepped in process, statement by statement, and written while stepping.

mod bind;
pub mod connection;
pub mod error;
mod fetch;
mod functions;
mod health;
mod index_maintenance;
pub mod introspect;
mod json_canonical;
mod json_contains;
mod json_edit;
mod json_path;
mod pattern;
mod pool;
mod prepared;
mod program;
mod row_source;
mod run;
mod sink;
pub mod source;
mod statistics;
mod value;
mod write;
mod write_fetch;
mod writer;

pub use source::{OpenError, Options, SqliteSource};

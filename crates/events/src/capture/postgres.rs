//! Capture in PostgreSQL: tables in the schema `hdb_catalog`, and functions that triggers of the tables run.
//!
//! `catalog_sql` makes the tables, `describe` reads tables of users, `function_text` writes a function, `reconcile` finds those to
//! make and to drop, `function_script` does it. All runs as scripts, because definitions take no parameters; names are quoted.

mod catalog_sql;
mod describe;
mod function_script;
mod function_text;
mod reconcile;
mod sql_literal;

pub use function_text::WideNumbers;
pub use reconcile::{CatalogOwner, PostgresCapture, look, plan, reconcile, take_over};

//! Capture in SQLite: tables in the file itself, and triggers that run in the program that writes, with its library.
//!
//! `columns` reads a table, `json_text` writes the expression of a value's JSON, `trigger_text` a trigger, `reconcile` makes and drops
//! them.

mod columns;
mod json_text;
mod reconcile;
mod tables;
mod trigger_text;

pub use reconcile::{plan, reconcile};
pub use tables::{AGAIN, FIRST, create_tables, has_tables, note_file, noted_inode};

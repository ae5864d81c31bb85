//! Dialects of databases that Weir makes tables in: what a store needs beyond queries and changes of rows.
//!
//! **Invariant:** texts depend on names and definitions alone; what a client sends is bound.

mod postgres;
mod sqlite;

use super::Dialect;
use crate::plan::ddl::{IndexKind, Numbers};

/// A statement that reserves new numbers. The rows of all such statements of a database, in their order, are the numbers;
/// one row alone is the first of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reserve {
    /// The text.
    pub sql: String,
    /// Number of columns of its rows.
    pub width: usize,
    /// True if it binds how many numbers are reserved.
    pub binds_count: bool,
}

/// One database's way of keeping a store.
pub trait StoreDialect: Dialect {
    /// The statements that reserve new numbers.
    fn reserve(&self, numbers: &Numbers) -> Vec<Reserve>;
    /// True if an index is a separate table that has to be filled.
    fn index_is_table(&self, kind: IndexKind) -> bool;
}

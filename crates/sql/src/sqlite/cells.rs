//! Values of the current row: of a statement being stepped, or kept from one that changed rows.

use super::write::Written;
use rusqlite::Row;
use rusqlite::types::{Value, ValueRef};

/// The row at hand.
#[derive(Clone, Copy)]
pub(super) enum Cells<'a> {
    /// Of a statement.
    Row(&'a Row<'a>),
    /// Kept.
    Kept(&'a [Value]),
    /// No row, but what a field of a mutation did.
    Done(&'a Written),
}

impl<'a> Cells<'a> {
    /// The value of an output column.
    #[inline]
    pub(super) fn get(self, column: usize) -> ValueRef<'a> {
        match self {
            Self::Row(row) => row.get_ref_unwrap(column),
            Self::Kept(values) => ValueRef::from(&values[column]),
            Self::Done(_) => ValueRef::Null,
        }
    }
}

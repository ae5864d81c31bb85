//! A row that is read column by column, mostly forwards.
//!
//! **Cost:** a step forwards is one length; a step back, or the same column again, begins anew.

use crate::protocol::rows::{Columns, Row};
use std::cell::Cell;

/// A row and the position behind the last column read.
pub struct Cursor<'r> {
    columns: Columns<'r>,
    /// The next column, and its distance from the first in bytes.
    at: Cell<(usize, usize)>,
    /// The row's place, from zero, among those below which was asked apart.
    pub number: usize,
}

impl<'r> Cursor<'r> {
    /// At the first column of `row`.
    #[inline]
    pub fn new(row: Row<'r>) -> Self {
        Self::with_number(row, 0)
    }

    /// A cursor at the first column of `row`, which has `number` in its answer.
    #[inline]
    pub fn with_number(row: Row<'r>, number: usize) -> Self {
        Self { columns: row.columns(), at: Cell::new((0, 0)), number }
    }

    /// The bytes of column `wanted`; `None` is null.
    #[inline]
    pub fn column(&self, wanted: usize) -> Option<&'r [u8]> {
        let (mut column, mut from) = self.at.get();
        if column > wanted {
            (column, from) = (0, 0);
        }
        let mut rest = self.columns.skip_bytes(from);
        while column < wanted {
            rest.next()?;
            column += 1;
        }
        let value = rest.next()?;
        self.at.set((column + 1, self.columns.bytes_len() - rest.bytes_len()));
        value
    }
}

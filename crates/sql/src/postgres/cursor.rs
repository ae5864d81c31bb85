//! A row that is read column by column, mostly forwards.
//!
//! **Cost:** a step forwards is one length; a step back begins anew.

use super::rows::{Columns, Row};
use std::cell::Cell;

/// See the module's words.
pub(super) struct Cursor<'r> {
    first: Columns<'r>,
    /// A column, and it and those after it.
    at: Cell<(usize, Columns<'r>)>,
    /// The row's place, from zero, among those below which was asked apart.
    pub(super) number: usize,
}

impl<'r> Cursor<'r> {
    pub(super) fn new(row: Row<'r>) -> Self {
        Self::numbered(row, 0)
    }

    pub(super) fn numbered(row: Row<'r>, number: usize) -> Self {
        let first = row.columns();
        Self { first, at: Cell::new((0, first)), number }
    }

    /// The bytes of column `wanted`; `None` is null.
    #[inline]
    pub(super) fn column(&self, wanted: usize) -> Option<&'r [u8]> {
        let (mut column, mut rest) = self.at.get();
        if column > wanted {
            (column, rest) = (0, self.first);
        }
        while column < wanted {
            rest.next()?;
            column += 1;
        }
        self.at.set((column, rest));
        rest.next()?
    }
}

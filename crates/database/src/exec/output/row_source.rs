//! The rows of a driver, as the response writer and the row collector walk them.
//!
//! A driver says where a cell is, which rows are below a row and what a work of a mutation returned. Members, lists, nulls, types and
//! errors are the same for all drivers.
//!
//! **Invariant:** a row and its cells are borrowed from the driver's buffer, until the visit of the row ends.
//!
//! **Cost:** monomorphised: no dynamic call and no allocation for a row or a cell.

use super::answer::{Answer, TooLong};
use super::item_batches::RowsPart;
use crate::exec::cell_value::{CellValue, Fault};
use weir_engine::source::PathError;
use weir_relational::catalog::facts::Cell;
use weir_relational::plan::{Member, MemberKind};

/// The position below which members are written.
pub(crate) enum RowContext<'a, S: RowSource> {
    /// The root of the plan node.
    Root,
    /// The result of a work of a mutation's root field.
    Work(&'a WorkResult<S::Returned>),
    Row(S::Row<'a>),
}

impl<S: RowSource> Clone for RowContext<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: RowSource> Copy for RowContext<'_, S> {}

/// The result of one work of a mutation's root field.
#[derive(Debug, Default)]
pub(crate) struct WorkResult<R> {
    /// Number of changed rows of all tables together, or the number a program counted.
    pub(crate) affected: i64,
    /// The message of a program.
    pub(crate) message: Option<&'static str>,
    /// The returned rows of the field's own table.
    pub(crate) rows: R,
}

/// Tells a walk whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walk {
    /// Go on to the next row.
    On,
    /// End the walk here.
    Stop,
}

/// A row in the driver's buffer.
pub(crate) trait SourceRow<'a>: Copy {
    fn is_null(self, column: u16) -> bool;

    /// The bytes of a text; `None` for null.
    fn text(self, column: u16) -> Option<&'a [u8]>;
}

/// The rows of one answer, whatever the driver: the writer and the collector walk them.
pub(crate) trait RowSource: Sized {
    /// A row during a visit.
    type Row<'a>: SourceRow<'a>;
    /// The rows that a work returned.
    type Returned: 'static;
    type Error: From<TooLong>;

    /// Visits the rows of `level` below `above`, in order. `holder` has the source and may walk other levels during a visit.
    fn each<H: AsMut<Self>>(
        holder: &mut H,
        level: u32,
        above: RowContext<'_, Self>,
        visit: impl FnMut(&mut H, Self::Row<'_>) -> Result<Walk, Self::Error>,
    ) -> Result<(), Self::Error>;

    /// Selects the parent key `parent`, to which the levels of the root then belong, if the plan node is below another source.
    fn set_parent(&mut self, parent: usize);

    /// Reads a cell.
    fn read<'v, 'a: 'v>(
        &'v mut self,
        row: Self::Row<'a>,
        column: u16,
        cell: Cell,
    ) -> Result<CellValue<'v>, Fault>;

    /// Writes a member that is a cell; `false` if its null propagates.
    #[inline]
    fn write_leaf(
        &mut self,
        answer: &mut Answer<'_>,
        member: &Member,
        row: Self::Row<'_>,
        column: u16,
        cell: Cell,
    ) -> bool {
        let value = self.read(row, column, cell);
        answer.leaf(member, cell, value)
    }

    /// Writes the cells at the front of `members`; their number, or `None` if the null of one propagates.
    #[inline]
    fn write_leaves(
        &mut self,
        answer: &mut Answer<'_>,
        members: &[Member],
        row: Self::Row<'_>,
    ) -> Option<usize> {
        for (at, member) in members.iter().enumerate() {
            let MemberKind::Leaf { column, cell } = member.kind else { return Some(at) };
            if !self.write_leaf(answer, member, row, column, cell) {
                return None;
            }
        }
        Some(members.len())
    }

    /// The integer that alone decides the row of `level` below `row`: the writer copies the bytes of an earlier row with the same
    /// one. `None`: the level is walked.
    #[inline]
    fn only_key(&self, _level: u32, _row: Self::Row<'_>) -> Option<i64> {
        None
    }

    /// The result of work `work` of the plan's write `write`, which a driver may run only now.
    fn run_work(&mut self, write: u32, work: usize) -> Result<WorkResult<Self::Returned>, Self::Error>;

    /// Visits the rows that a work returned.
    fn each_returned<H: AsMut<Self>>(
        holder: &mut H,
        rows: &Self::Returned,
        visit: impl FnMut(&mut H, Self::Row<'_>) -> Result<Walk, Self::Error>,
    ) -> Result<(), Self::Error>;

    /// Number of bytes from which on whole items of a root list are sent before the answer is complete.
    #[inline]
    fn hold_back_bytes(&self) -> usize {
        usize::MAX
    }

    /// Checks that no part of the answer was sent: it could not be taken back.
    #[inline]
    fn check_unsent(&self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Sends a part of the answer; `errors` are those before it if it is the first.
    fn send(&mut self, _bytes: Vec<u8>, _errors: Vec<PathError>) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Sends a part of the rows that are collected.
    fn send_rows(&mut self, _part: RowsPart) -> Result<(), Self::Error> {
        Ok(())
    }
}

//! Rows of SQLite, stepped through while they are written: nothing is kept.
//!
//! **Cost:** no allocation per row; a related row is one more run of its level's statement.

use super::run_failure::RunFailure;
use super::statements::Statements;
use crate::exec::cell_value::{CellValue, Fault};
use crate::exec::output::answer::{Answer, CHUNK_BYTES};
use crate::exec::output::item_batches::RowsPart;
use crate::exec::output::row_source::{RowContext, RowSource, SourceRow, Walk, WorkResult};
use crate::sqlite::values::stored_value::{infinity, read};
use rusqlite::Row;
use rusqlite::types::{Value as Owned, ValueRef};
use weir_engine::source::{PathError, Protocol};
use weir_relational::catalog::facts::Cell;
use weir_relational::plan::{Member, MemberKind};

/// A row during a visit.
#[derive(Clone, Copy)]
pub(crate) enum Cells<'a> {
    /// Row of a statement that is being stepped.
    Stepped(&'a Row<'a>),
    /// Row that a changing statement returned.
    Kept(&'a [Owned]),
}

impl<'a> Cells<'a> {
    /// The value of an output column.
    #[inline]
    pub(crate) fn get(self, column: u16) -> ValueRef<'a> {
        let column = usize::from(column);
        match self {
            Self::Stepped(row) => row.get_ref_unwrap(column),
            Self::Kept(values) => ValueRef::from(&values[column]),
        }
    }
}

impl<'a> SourceRow<'a> for Cells<'a> {
    #[inline]
    fn is_null(self, column: u16) -> bool {
        self.get(column) == ValueRef::Null
    }

    #[inline]
    fn text(self, column: u16) -> Option<&'a [u8]> {
        match self.get(column) {
            ValueRef::Text(text) => Some(text),
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => None,
        }
    }
}

impl RowSource for Statements<'_, '_> {
    type Row<'a> = Cells<'a>;
    type Returned = Vec<Vec<Owned>>;
    type Error = RunFailure;

    #[inline]
    fn each<H: AsMut<Self>>(
        holder: &mut H,
        level: u32,
        above: RowContext<'_, Self>,
        mut visit: impl FnMut(&mut H, Cells<'_>) -> Result<Walk, RunFailure>,
    ) -> Result<(), RunFailure> {
        let Some(mut statement) = holder.as_mut().open(level, above)? else { return Ok(()) };
        let mut rows = statement.raw_query();
        loop {
            match rows.next() {
                Ok(Some(row)) => match visit(holder, Cells::Stepped(row))? {
                    Walk::On => {}
                    Walk::Stop => break,
                },
                Ok(None) => break,
                Err(error) => return Err(holder.as_mut().failure(error, level)),
            }
        }
        drop(rows);
        holder.as_mut().close(level, statement);
        Ok(())
    }

    fn set_parent(&mut self, parent: usize) {
        self.answer(parent);
    }

    #[inline]
    fn read<'v, 'a: 'v>(
        &'v mut self,
        row: Cells<'a>,
        column: u16,
        cell: Cell,
    ) -> Result<CellValue<'v>, Fault> {
        read(cell, row.get(column))
    }

    #[inline]
    fn write_leaves(&mut self, answer: &mut Answer<'_>, members: &[Member], row: Cells<'_>) -> Option<usize> {
        let protocol = self.bindings.protocol;
        match row {
            Cells::Stepped(row) => {
                write_cells(answer, members, |column| row.get_ref_unwrap(usize::from(column)), protocol)
            }
            Cells::Kept(values) => {
                write_cells(answer, members, |column| ValueRef::from(&values[usize::from(column)]), protocol)
            }
        }
    }

    /// In most schemas one integer decides the row.
    #[inline]
    fn only_key(&self, level: u32, row: Cells<'_>) -> Option<i64> {
        match self.prepared.statements[level as usize].keys[..] {
            [(_, column)] => match row.get(column) {
                ValueRef::Integer(key) => Some(key),
                ValueRef::Null | ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_) => None,
            },
            _ => None,
        }
    }

    /// Runs the work, unless a program has run already. The checks of a root field are judged when the last of its works is done.
    fn run_work(&mut self, write: u32, work: usize) -> Result<WorkResult<Self::Returned>, RunFailure> {
        if let Some(done) = self.done.take() {
            return Ok(done);
        }
        let written = self.run(write, work)?;
        self.unjudged.extend(written.unjudged);
        if work + 1 == self.prepared.plan.writes[write as usize].works.len() {
            let unjudged = std::mem::take(&mut self.unjudged);
            self.judge(write, &unjudged)?;
        }
        Ok(written.result)
    }

    fn each_returned<H: AsMut<Self>>(
        holder: &mut H,
        rows: &Self::Returned,
        mut visit: impl FnMut(&mut H, Cells<'_>) -> Result<Walk, RunFailure>,
    ) -> Result<(), RunFailure> {
        for row in rows {
            if visit(holder, Cells::Kept(row))? == Walk::Stop {
                break;
            }
        }
        Ok(())
    }

    #[inline]
    fn hold_back_bytes(&self) -> usize {
        match &self.sink {
            Some(sink) if sink.has_flushed() => CHUNK_BYTES,
            Some(sink) => sink.hold_back_bytes,
            None => usize::MAX,
        }
    }

    #[inline]
    fn check_unsent(&self) -> Result<(), RunFailure> {
        match &self.sink {
            Some(sink) if sink.has_flushed() => Err(RunFailure::Late),
            Some(_) | None => Ok(()),
        }
    }

    fn send(&mut self, bytes: Vec<u8>, errors: Vec<PathError>) -> Result<(), RunFailure> {
        match &mut self.sink {
            Some(sink) if sink.has_flushed() => sink.send(bytes),
            Some(sink) => sink.begin(bytes, errors),
            None => Ok(()),
        }
    }

    fn send_rows(&mut self, part: RowsPart) -> Result<(), RunFailure> {
        match &mut self.sink {
            Some(sink) => sink.send_rows(part),
            None => Ok(()),
        }
    }
}

/// Writes the cells at the front of `members`, of values that `get` gives; their number, or `None` if the null of one propagates.
#[inline(always)]
fn write_cells<'v>(
    answer: &mut Answer<'_>,
    members: &[Member],
    get: impl Fn(u16) -> ValueRef<'v>,
    protocol: Protocol,
) -> Option<usize> {
    for (at, member) in members.iter().enumerate() {
        let MemberKind::Leaf { column, cell } = member.kind else { return Some(at) };
        if !write_cell(answer, member, get(column), cell, protocol) {
            return None;
        }
    }
    Some(members.len())
}

/// Writes the most common kinds of cells directly; [`unusual`] writes the others.
#[inline(always)]
fn write_cell(
    answer: &mut Answer<'_>,
    member: &Member,
    value: ValueRef<'_>,
    cell: Cell,
    protocol: Protocol,
) -> bool {
    let key = &answer.of(member).key;
    let is_written = match (cell, value) {
        (Cell::Text | Cell::Uuid, ValueRef::Text(text)) => answer.out.member_unchecked(key, text),
        (Cell::Int, ValueRef::Integer(value)) if i32::try_from(value).is_ok() => {
            answer.out.member_int(key, value);
            true
        }
        (Cell::BigInt | Cell::Numeric | Cell::Float, ValueRef::Integer(value)) => {
            answer.out.member_int(key, value);
            true
        }
        (Cell::Float | Cell::Numeric, ValueRef::Real(value)) => answer.out.member_float(key, value),
        (Cell::Boolean, ValueRef::Integer(value @ (0 | 1))) => {
            answer.out.member_bool(key, value == 1);
            true
        }
        (_, ValueRef::Null) if member.nullable => {
            answer.out.member_null(key);
            true
        }
        _ => false,
    };
    is_written || unusual(answer, member, value, cell, protocol)
}

#[inline(never)]
fn unusual(
    answer: &mut Answer<'_>,
    member: &Member,
    value: ValueRef<'_>,
    cell: Cell,
    protocol: Protocol,
) -> bool {
    if protocol == Protocol::Hasura
        && let Some(text) = infinity(cell, value)
    {
        return answer.leaf(member, cell, Ok(text));
    }
    answer.leaf(member, cell, read(cell, value))
}

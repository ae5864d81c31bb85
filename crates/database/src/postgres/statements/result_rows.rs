//! Rows of PostgreSQL, read before the answer is written: nothing is asked while writing.
//!
//! **Cost:** no allocation per row.

use super::prepared::Prepared;
use super::result_set::{Key, ResultSet, RowsOf};
use super::written_rows::Done;
use crate::exec::cell_value::{CellValue, Fault};
use crate::exec::output::answer::{Answer, TooLong};
use crate::exec::output::row_source::{RowContext, RowSource, SourceRow, Walk, WorkResult};
use crate::frontend::program::Shown;
use crate::postgres::values::decode::{CommonValue, Decoder};
use std::borrow::Cow;
use weir_postgres::cursor::Cursor;
use weir_relational::catalog::facts::Cell;
use weir_relational::plan::Member;

/// All rows of an answer.
pub(crate) struct ResultRows<'r> {
    prepared: &'r Prepared,
    /// The rows of the levels of the root.
    root: Option<&'r ResultSet<'r>>,
    /// The parent that is answered, below rows of another source.
    parent: Option<usize>,
    writes: Writes<'r>,
    scratch: Vec<u8>,
}

/// The results of a mutation.
#[derive(Clone, Copy)]
enum Writes<'r> {
    None,
    /// Results by write, with the levels below the rows that came back.
    Done(&'r [Done<'r>], &'r [Option<ResultSet<'r>>]),
    /// A program's.
    Shown(&'r Shown),
}

/// A row during a visit.
#[derive(Clone, Copy)]
pub(crate) struct ResultRow<'a> {
    cursor: &'a Cursor<'a>,
    /// The column of the row of each output column; where there are none, the output columns are the row's.
    columns: &'a [u16],
    decoders: &'a [Decoder],
    of: RowOf<'a>,
}

/// A cell as the server sent it.
#[derive(Clone, Copy)]
struct RawCell<'a> {
    /// `None`: null.
    bytes: Option<&'a [u8]>,
    decoder: &'a Decoder,
}

#[derive(Clone, Copy)]
enum RowOf<'a> {
    /// An arm of a reading statement.
    Arm(&'a ResultSet<'a>, usize),
    /// A changing statement: the levels below the rows that came back.
    Change(Option<&'a ResultSet<'a>>),
}

impl<'r> ResultRows<'r> {
    /// Rows of a query; `root` has the levels of its root.
    pub(crate) fn of_query(prepared: &'r Prepared, root: Option<&'r ResultSet<'r>>) -> Self {
        Self { prepared, root, parent: None, writes: Writes::None, scratch: Vec::new() }
    }

    /// Rows of a mutation, with the levels below the rows that it returned.
    pub(crate) fn of_mutation(
        prepared: &'r Prepared,
        done: &'r [Done<'r>],
        below: &'r [Option<ResultSet<'r>>],
    ) -> Self {
        Self { writes: Writes::Done(done, below), ..Self::of_query(prepared, None) }
    }

    /// Rows read for the objects that a program shows.
    pub(crate) fn of_program(
        prepared: &'r Prepared,
        shown: &'r Shown,
        read: Option<&'r ResultSet<'r>>,
    ) -> Self {
        Self { writes: Writes::Shown(shown), ..Self::of_query(prepared, read) }
    }

    /// The rows of `level` at the root, with their result set and arm.
    fn at_root(&self, level: u32) -> Option<(&'r ResultSet<'r>, usize, RowsOf<'r>)> {
        let (set, arm) = self.root?.place(level)?;
        let rows = match self.parent {
            Some(parent) => set.of_parent(arm, parent),
            None => set.all(arm),
        };
        Some((set, arm, rows))
    }
}

impl<'a> ResultRow<'a> {
    /// A row of arm `arm` of `set`.
    #[inline]
    pub(crate) fn new(cursor: &'a Cursor<'a>, set: &'a ResultSet<'a>, arm: usize) -> Self {
        let columns = &*set.asked.arms[arm].columns;
        let decoders = &*set.asked.decoders;
        Self { cursor, columns, decoders, of: RowOf::Arm(set, arm) }
    }

    /// The cell of an output column.
    #[inline]
    fn cell(self, column: u16) -> RawCell<'a> {
        let column = usize::from(self.columns.get(usize::from(column)).copied().unwrap_or(column));
        RawCell { bytes: self.cursor.column(column), decoder: &self.decoders[column] }
    }

    /// The rows of `level` below this one, with their result set and arm.
    fn rows_below(self, prepared: &Prepared, level: u32) -> Option<(&'a ResultSet<'a>, usize, RowsOf<'a>)> {
        let (own, parent) = match self.of {
            RowOf::Arm(set, arm) => (set, arm),
            RowOf::Change(below) => {
                let (set, arm) = below?.place(level)?;
                return Some((set, arm, set.of_parent(arm, self.cursor.number)));
            }
        };
        let (set, arm) = own.place(level)?;
        let rows = match own.asked.arm(level) {
            None => set.of_parent(arm, self.cursor.number),
            Some(_) => {
                let columns = &own.asked.arms[parent].columns;
                let nest = &prepared.plan.levels[level as usize].query.nest;
                let key = nest
                    .iter()
                    .map(|&(_, column)| self.cursor.column(usize::from(columns[usize::from(column)])));
                set.rows_with_key(arm, &key.collect::<Key<'_>>())
            }
        };
        Some((set, arm, rows))
    }
}

impl<'a> SourceRow<'a> for ResultRow<'a> {
    #[inline]
    fn is_null(self, column: u16) -> bool {
        self.cell(column).bytes.is_none()
    }

    #[inline]
    fn text(self, column: u16) -> Option<&'a [u8]> {
        self.cell(column).bytes
    }
}

impl RowSource for ResultRows<'_> {
    type Row<'a> = ResultRow<'a>;
    /// The write and the work.
    type Returned = Option<(usize, usize)>;
    type Error = TooLong;

    #[inline]
    fn each<H: AsMut<Self>>(
        holder: &mut H,
        level: u32,
        above: RowContext<'_, Self>,
        mut visit: impl FnMut(&mut H, ResultRow<'_>) -> Result<Walk, Self::Error>,
    ) -> Result<(), Self::Error> {
        let source = holder.as_mut();
        let rows = match above {
            RowContext::Row(row) => row.rows_below(source.prepared, level),
            RowContext::Root | RowContext::Work(_) => source.at_root(level),
        };
        let Some((set, arm, rows)) = rows else { return Ok(()) };
        for row in rows {
            if visit(holder, ResultRow::new(&Cursor::new(row), set, arm))? == Walk::Stop {
                break;
            }
        }
        Ok(())
    }

    fn set_parent(&mut self, parent: usize) {
        self.parent = Some(parent);
    }

    #[inline]
    fn read<'v, 'a: 'v>(
        &'v mut self,
        row: ResultRow<'a>,
        column: u16,
        cell: Cell,
    ) -> Result<CellValue<'v>, Fault> {
        read(row.cell(column), cell, &mut self.scratch)
    }

    /// Writes the most common kinds of cells directly; [`unusual`] writes the others.
    #[inline(always)]
    fn write_leaf(
        &mut self,
        answer: &mut Answer<'_>,
        member: &Member,
        row: ResultRow<'_>,
        column: u16,
        cell: Cell,
    ) -> bool {
        let raw = row.cell(column);
        match (raw.bytes.and_then(|it| raw.decoder.common(it)), cell) {
            (Some(CommonValue::Text(text)), Cell::Text) => {
                answer.out.member_text(&answer.of(member).key, text)
            }
            (Some(CommonValue::Int(value)), Cell::Int) => {
                answer.out.member_int(&answer.of(member).key, value.into());
            }
            _ => return unusual(answer, member, raw, cell, &mut self.scratch),
        }
        true
    }

    /// The result of a work, which was done before.
    fn run_work(&mut self, write: u32, work: usize) -> Result<WorkResult<Self::Returned>, Self::Error> {
        let write = write as usize;
        Ok(match self.writes {
            Writes::None => WorkResult::default(),
            Writes::Done(done, _) => {
                let affected = done[write].works[work].affected;
                WorkResult { affected, message: None, rows: Some((write, work)) }
            }
            Writes::Shown(shown) => {
                WorkResult { affected: shown.affected, message: shown.message, rows: None }
            }
        })
    }

    fn each_returned<H: AsMut<Self>>(
        holder: &mut H,
        rows: &Self::Returned,
        mut visit: impl FnMut(&mut H, ResultRow<'_>) -> Result<Walk, Self::Error>,
    ) -> Result<(), Self::Error> {
        let (&Some((write, work)), Writes::Done(done, below)) = (rows, holder.as_mut().writes) else {
            return Ok(());
        };
        let work = &done[write].works[work];
        let below = below[write].as_ref();
        for (index, (row, decoders)) in work.rows().enumerate() {
            let cursor = Cursor::with_number(row, work.first + index);
            let row = ResultRow { cursor: &cursor, columns: &[], decoders, of: RowOf::Change(below) };
            if visit(holder, row)? == Walk::Stop {
                break;
            }
        }
        Ok(())
    }
}

#[inline]
fn read<'v>(raw: RawCell<'v>, cell: Cell, scratch: &'v mut Vec<u8>) -> Result<CellValue<'v>, Fault> {
    let Some(bytes) = raw.bytes else { return Ok(CellValue::Null) };
    match raw.decoder.read(bytes, scratch) {
        Ok(CellValue::Int(value)) if cell == Cell::Int && i32::try_from(value).is_err() => {
            Err(Fault::beyond_32_bits(value))
        }
        Ok(CellValue::Text(text)) if cell == Cell::Capitals => {
            Ok(CellValue::Text(Cow::Owned(text.to_ascii_uppercase())))
        }
        value => value,
    }
}

/// Writes a cell of any kind.
#[inline(never)]
fn unusual(
    answer: &mut Answer<'_>,
    member: &Member,
    raw: RawCell<'_>,
    cell: Cell,
    scratch: &mut Vec<u8>,
) -> bool {
    let value = read(raw, cell, scratch);
    answer.leaf(member, cell, value)
}

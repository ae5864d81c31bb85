//! Runs the works of a mutation step by step, and keeps the returned rows.
//!
//! The answer of a field is written after all its changes, so that rows include those nested in them and related rows of
//! the same statement.
//!
//! **Cost:** one prepared statement per set of columns; a row costs its bindings and one step.

use super::run_failure::RunFailure;
use super::statements::{Raw, Statements, UnjudgedRow};
use crate::exec::bindings::{Bindings, SlotRow};
use crate::exec::errors::{check_failed_at, missing_needed_row, not_found};
use crate::exec::output::answer::{PART_BYTES_MAX, TooLong};
use crate::exec::output::row_source::WorkResult;
use crate::sqlite::values::bind::{self, SqliteValue, may_be_bytes};
use rusqlite::types::{Null, Value, ValueRef};
use rusqlite::{CachedStatement, Statement};
use smallvec::SmallVec;
use weir_relational::plan::write::{Given, Step, Work};
use weir_sqlite::error::is_check_complaint;

/// The result of a work, and about how much memory its rows take.
#[derive(Default)]
pub(crate) struct MeasuredResult {
    pub(crate) result: WorkResult<Vec<Vec<Value>>>,
    bytes: usize,
    /// Rows whose checks are judged when the root field has run.
    pub(crate) unjudged: Vec<UnjudgedRow>,
}

/// Steps of a work, after `first` earlier statements of it.
#[derive(Clone, Copy)]
struct StepsAt<'p> {
    number: usize,
    work: &'p Work,
    steps: &'p [Step],
    first: usize,
}

impl<'r> Statements<'_, 'r> {
    /// Runs one work of a write.
    pub(crate) fn run(&self, write: u32, number: usize) -> Result<MeasuredResult, RunFailure> {
        let write = &self.prepared.plan.writes[write as usize];
        let field = write.field;
        let mut written = MeasuredResult::default();
        let work = &write.works[number];
        match work {
            // A program has run before its answer is written.
            Work::Nothing | Work::Program { .. } => {}
            Work::Change(change) => {
                let values = self.values(*change, field)?;
                let of_bytes = self.is_of_bytes(*change, &values);
                let mut statement = self.change(*change, of_bytes, field)?;
                bind_parameters(&values, 0, &mut statement, field)?;
                // Rows that are not selected are only counted.
                let width = self.prepared.plan.changes[*change as usize].returning().len();
                let rows = self.rows(&mut statement, width, &mut written, field);
                let rows = rows.map_err(|it| self.locate_check_failure(it, work, 0))?;
                if let Some(level) = self.prepared.plan.row_check(*change) {
                    let unjudged = |row: &Vec<Value>| UnjudgedRow {
                        level,
                        work: number,
                        statement: 0,
                        row: row.clone(),
                    };
                    written.unjudged.extend(rows.iter().map(unjudged));
                }
                if let (true, Some(words)) = (rows.is_empty(), &write.missing) {
                    return Err(RunFailure::Refused(not_found(words, self.bindings.protocol), field));
                }
                written.result.rows = rows;
            }
            Work::Insert(steps) => {
                let of = StepsAt { number, work, steps, first: 0 };
                self.insert(of, &self.bindings, &mut None, &mut written, field)?;
            }
            Work::Each { slot, steps } => {
                let mut held = None;
                let mut bindings = self.bindings;
                let rows = bindings.form.rows(*slot);
                for row in 0..rows.map_or(0, |rows| rows.len) {
                    bindings.row =
                        SlotRow { slot: *slot, leaves_before: row * rows.map_or(0, |rows| rows.leaves) };
                    let of = StepsAt { number, work, steps, first: row as usize * steps.len() };
                    self.insert(of, &bindings, &mut held, &mut written, field)?;
                }
            }
        }
        Ok(written)
    }

    /// Judges the checks of `rows`, which the root field `write` has written.
    pub(crate) fn judge(&self, write: u32, rows: &[UnjudgedRow]) -> Result<(), RunFailure> {
        let write = &self.prepared.plan.writes[write as usize];
        for of in rows {
            if self.has_row_below(of.level, &of.row)? {
                let work = &write.works[of.work];
                let error = check_failed_at(work, of.statement, self.bindings.protocol);
                return Err(RunFailure::Refused(error, write.field));
            }
        }
        Ok(())
    }

    /// Adds the row to the error of a failed check of a permission: statement `at` of `work`.
    fn locate_check_failure(&self, failure: RunFailure, work: &Work, at: usize) -> RunFailure {
        match failure {
            RunFailure::Sqlite(error, field) if is_check_complaint(&error) => {
                RunFailure::Refused(check_failed_at(work, at, self.bindings.protocol), field)
            }
            failure => failure,
        }
    }

    /// Runs the steps `of` a work; the last statement stays in `held` for the next that is equal. A row that others take keys from is
    /// judged before them: it is not to see its children.
    fn insert<'s>(
        &'s self,
        of: StepsAt<'_>,
        bindings: &Bindings<'_>,
        held: &mut Option<((u32, bool), CachedStatement<'s>)>,
        written: &mut MeasuredResult,
        field: u32,
    ) -> Result<(), RunFailure> {
        let StepsAt { number, work, steps, first } = of;
        let mut done: Vec<Vec<Value>> = Vec::with_capacity(steps.len());
        for (at, step) in steps.iter().enumerate() {
            let values = self.values(step.change, field)?;
            let of_bytes =
                self.is_of_bytes(step.change, &values) || self.has_row_of_bytes(bindings, step, field)?;
            let mut statement = match held.take() {
                Some((change, statement)) if change == (step.change, of_bytes) => statement,
                Some(_) | None => self.change(step.change, of_bytes, field)?,
            };
            bind_values(bindings, step, &done, &mut statement, field)?;
            let before = self.prepared.changes[step.change as usize].values;
            bind_parameters(&values, before, &mut statement, field)?;
            let width = statement.column_count();
            let rows = self.rows(&mut statement, width, written, field);
            let mut rows = rows.map_err(|it| self.locate_check_failure(it, work, first + at))?;
            *held = Some(((step.change, of_bytes), statement));
            if let (Some(level), Some(row)) = (self.prepared.plan.row_check(step.change), rows.last()) {
                if !Step::is_needed(steps, at) {
                    let statement = first + at;
                    let row = row.clone();
                    written.unjudged.push(UnjudgedRow { level, work: number, statement, row });
                } else if self.has_row_below(level, row)? {
                    let error = check_failed_at(work, first + at, self.bindings.protocol);
                    return Err(RunFailure::Refused(error, field));
                }
            }
            match (rows.pop(), &step.needed) {
                (None, Some(words)) => {
                    return Err(RunFailure::Refused(
                        missing_needed_row(words, self.bindings.protocol),
                        field,
                    ));
                }
                (row, _) => done.push(row.unwrap_or_default()),
            }
        }
        let shown = done.into_iter().zip(steps).filter(|(row, step)| step.shown && !row.is_empty());
        written.result.rows.extend(shown.map(|(row, _)| row));
        Ok(())
    }

    /// All rows that come back, their first `width` columns. They are stepped through to the end, where foreign keys are
    /// checked.
    fn rows(
        &self,
        statement: &mut Statement<'_>,
        width: usize,
        written: &mut MeasuredResult,
        field: u32,
    ) -> Result<Vec<Vec<Value>>, RunFailure> {
        let sqlite = |error| RunFailure::Sqlite(error, field);
        let mut rows = statement.raw_query();
        let mut out = Vec::new();
        while let Some(row) = rows.next().map_err(sqlite)? {
            let mut values = Vec::with_capacity(width);
            for at in 0..width {
                let value = row.get_ref(at).map_err(sqlite)?;
                written.bytes += size_of::<Value>();
                if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = value {
                    written.bytes += bytes.len();
                }
                values.push(row.get(at).map_err(sqlite)?);
            }
            written.result.affected += 1;
            if written.bytes > PART_BYTES_MAX {
                return Err(TooLong { what: "the rows that come back are", field }.into());
            }
            out.push(values);
        }
        Ok(out)
    }

    /// The values that come after those of a row.
    fn values(&self, change: u32, field: u32) -> Result<SmallVec<[SqliteValue<'r>; 4]>, RunFailure> {
        let parameters = self.prepared.changes[change as usize].parameters.iter();
        let values = parameters.map(|it| bind::value(&self.bindings, it, 0));
        values.collect::<Result<_, _>>().map_err(|error| RunFailure::Refused(error, field))
    }

    /// True if one of `values` may stand for bytes, and the statement with that number looks for them in another way.
    fn is_of_bytes(&self, change: u32, values: &[SqliteValue<'_>]) -> bool {
        let parameters = &self.prepared.changes[change as usize].parameters;
        self.prepared.changes_of_bytes[change as usize].is_some()
            && values.iter().zip(parameters).any(|(value, it)| may_be_bytes(value, &it.reader))
    }

    /// True if a value of a new row may stand for bytes, and the statement looks for the rows that have them.
    fn has_row_of_bytes(&self, bindings: &Bindings<'_>, step: &Step, field: u32) -> Result<bool, RunFailure> {
        if self.prepared.changes_of_bytes[step.change as usize].is_none() {
            return Ok(false);
        }
        for given in &step.values {
            if let Given::Parameter(parameter) = given {
                let value = bind::value(bindings, parameter, 0);
                let value = value.map_err(|error| RunFailure::Refused(error, field))?;
                if may_be_bytes(&value, &parameter.reader) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn change(&self, change: u32, of_bytes: bool, field: u32) -> Result<CachedStatement<'_>, RunFailure> {
        let usual = &self.prepared.changes[change as usize].sql;
        let sql = self.prepared.changes_of_bytes[change as usize].as_ref().filter(|_| of_bytes);
        let prepared = self.connection.prepare_cached(sql.unwrap_or(usual));
        prepared.map_err(|error| RunFailure::Sqlite(error, field))
    }
}

/// Binds the parameters that follow the values of a row.
fn bind_parameters(
    values: &[SqliteValue<'_>],
    before: usize,
    statement: &mut Statement<'_>,
    field: u32,
) -> Result<(), RunFailure> {
    for (at, value) in values.iter().enumerate() {
        let bound = statement.raw_bind_parameter(before + at + 1, value);
        bound.map_err(|error| RunFailure::Sqlite(error, field))?;
    }
    Ok(())
}

/// Binds the values of a row.
fn bind_values(
    bindings: &Bindings<'_>,
    step: &Step,
    done: &[Vec<Value>],
    statement: &mut Statement<'_>,
    field: u32,
) -> Result<(), RunFailure> {
    for (at, given) in step.values.iter().enumerate() {
        let bound = match given {
            Given::Null => statement.raw_bind_parameter(at + 1, Null),
            Given::Returned { step, column } => {
                let value = ValueRef::from(&done[*step as usize][usize::from(*column)]);
                statement.raw_bind_parameter(at + 1, Raw(value))
            }
            Given::Parameter(parameter) => {
                let value = bind::value(bindings, parameter, 0);
                let value: SqliteValue<'_> = value.map_err(|error| RunFailure::Refused(error, field))?;
                statement.raw_bind_parameter(at + 1, &value)
            }
        };
        bound.map_err(|error| RunFailure::Sqlite(error, field))?;
    }
    Ok(())
}

//! Statements of one run: taken from the connection when first needed, bound, kept until the end.
//!
//! **Cost:** no preparation and no allocation per row; a parent's key is bound straight from its row.

use super::run_failure::RunFailure;
use super::sink::Sink;
use crate::exec::bindings::Bindings;
use crate::exec::output::row_source::{RowContext, RowSource, WorkResult};
use crate::sqlite::prepared::SqlitePlan;
use crate::sqlite::values::bind::{self, SqliteValue, may_be_bytes};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{CachedStatement, Connection};
use smallvec::SmallVec;

/// A written row whose check is not judged yet.
pub(crate) struct UnjudgedRow {
    /// The level of the check.
    pub(crate) level: u32,
    pub(crate) work: usize,
    /// The statement of the work that wrote it.
    pub(crate) statement: usize,
    pub(crate) row: Vec<Value>,
}

/// The statements of one run.
pub(crate) struct Statements<'c, 'r> {
    pub(crate) connection: &'c Connection,
    pub(crate) prepared: &'r SqlitePlan,
    pub(crate) bindings: Bindings<'r>,
    held: SmallVec<[Option<CachedStatement<'c>>; 4]>,
    /// Below the root: which parent key is answered.
    key: usize,
    /// The way out for a long answer.
    pub(crate) sink: Option<&'r mut Sink>,
    /// Written rows of the current root field that a check is still to judge.
    pub(crate) unjudged: Vec<UnjudgedRow>,
    /// The result of a program that has run.
    pub(crate) done: Option<WorkResult<<Self as RowSource>::Returned>>,
}

impl<'c, 'r> Statements<'c, 'r> {
    pub(crate) fn new(connection: &'c Connection, prepared: &'r SqlitePlan, bindings: Bindings<'r>) -> Self {
        let held = prepared.statements.iter().map(|_| None).collect();
        Self { connection, prepared, bindings, held, key: 0, sink: None, unjudged: Vec::new(), done: None }
    }

    /// Refuses values that cannot be bound before a part of the answer leaves: it could not be taken back.
    pub(crate) fn check_values(&self) -> Result<(), RunFailure> {
        for (ready, level) in self.prepared.statements.iter().zip(&self.prepared.plan.levels) {
            for &at in &ready.fixed {
                let value = bind::value(&self.bindings, &ready.statement.parameters[at], self.key);
                value.map_err(|error| RunFailure::Refused(error, level.field))?;
            }
        }
        Ok(())
    }

    /// Selects the parent key `key`, which is answered next.
    pub(crate) fn answer(&mut self, key: usize) {
        self.key = key;
        self.held.iter_mut().for_each(|it| *it = None);
    }

    /// The statement of `level`, bound for the row above; `None` when a key of that row is null, so that nothing is below it.
    #[inline]
    pub(crate) fn open(
        &mut self,
        level: u32,
        above: RowContext<'_, Self>,
    ) -> Result<Option<CachedStatement<'c>>, RunFailure> {
        let mut statement = match self.held[level as usize].take() {
            Some(statement) => statement,
            None => self.prepare(level)?,
        };
        if let RowContext::Row(row) = above {
            let ready = &self.prepared.statements[level as usize];
            for &(at, column) in &ready.keys {
                let value = row.get(column);
                if value == ValueRef::Null && !ready.has_row_always {
                    self.close(level, statement);
                    return Ok(None);
                }
                if let Err(error) = statement.raw_bind_parameter(at + 1, Raw(value)) {
                    return Err(self.failure(error, level));
                }
            }
        }
        Ok(Some(statement))
    }

    /// True if `level` has a row below the row `above`.
    pub(crate) fn has_row_below(&self, level: u32, above: &[Value]) -> Result<bool, RunFailure> {
        let sqlite = |error| self.failure(error, level);
        let mut statement = self.prepare(level)?;
        for &(at, column) in &self.prepared.statements[level as usize].keys {
            let value = ValueRef::from(&above[usize::from(column)]);
            statement.raw_bind_parameter(at + 1, Raw(value)).map_err(sqlite)?;
        }
        let mut rows = statement.raw_query();
        rows.next().map(|it| it.is_some()).map_err(sqlite)
    }

    /// Gives a statement back for the next parent.
    #[inline]
    pub(crate) fn close(&mut self, level: u32, statement: CachedStatement<'c>) {
        self.held[level as usize] = Some(statement);
    }

    #[cold]
    pub(crate) fn failure(&self, error: rusqlite::Error, level: u32) -> RunFailure {
        RunFailure::Sqlite(error, self.prepared.plan.levels[level as usize].field)
    }

    fn prepare(&self, level: u32) -> Result<CachedStatement<'c>, RunFailure> {
        let ready = &self.prepared.statements[level as usize];
        let field = self.prepared.plan.levels[level as usize].field;
        let sqlite = |error| RunFailure::Sqlite(error, field);
        let mut values: SmallVec<[SqliteValue<'_>; 6]> = SmallVec::new();
        let mut sql = &ready.statement.sql;
        for &at in &ready.fixed {
            let parameter = &ready.statement.parameters[at];
            let value = bind::value(&self.bindings, parameter, self.key);
            let value = value.map_err(|error| RunFailure::Refused(error, field))?;
            if let Some(of_bytes) =
                ready.of_bytes.as_ref().filter(|_| may_be_bytes(&value, &parameter.reader))
            {
                sql = of_bytes;
            }
            values.push(value);
        }
        let mut statement = self.connection.prepare_cached(sql).map_err(sqlite)?;
        for (&at, value) in ready.fixed.iter().zip(&values) {
            statement.raw_bind_parameter(at + 1, value).map_err(sqlite)?;
        }
        Ok(statement)
    }
}

/// A value of a row on its way into another statement.
pub(crate) struct Raw<'v>(pub(crate) ValueRef<'v>);

impl rusqlite::ToSql for Raw<'_> {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok(rusqlite::types::ToSqlOutput::Borrowed(self.0))
    }
}

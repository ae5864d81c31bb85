//! Runs the programs of a mutation: each root field is one job of the writer, and so one transaction.
//!
//! Work without the database is done before the job is queued; the answer is read inside the job and sent when it is
//! durable.
//!
//! **Invariant:** a job that fails, or is run again, has done nothing.
//!
//! **Cost:** a statement costs its bindings and its steps; texts are prepared once.

use super::driver::SqliteDriver;
use super::errors::writer_error;
use super::fetch::OwnedRun;
use super::prepared::SqlitePlan;
use super::runs::run_failure::RunFailure;
use super::runs::statements::Statements;
use super::values::bind::ids_json;
use crate::exec::bindings::Bindings;
use crate::exec::driver::{PlannedFetch, WrittenMember};
use crate::exec::errors::with_message;
use crate::exec::output::answer::Names;
use crate::exec::output::response_writer::ResponseWriter;
use crate::exec::output::row_source::{RowContext, WorkResult};
use crate::exec::programs::program_steps::{ProgramTransaction, run_steps};
use crate::frontend::program::{Answers, BoundStatement, Cell, Program, Shown, Value};
use futures_util::FutureExt;
use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, ValueRef};
use std::future::ready;
use std::sync::Arc;
use weir_engine::source::{BoxFuture, FieldError, SourceError};
use weir_relational::plan::Member;
use weir_sqlite::index_maintenance::IndexMaintenance;
use weir_sqlite::writer::Writer;

/// Drives the program of the root field at `member` of the plan, in one job of `writer`.
pub(super) fn drive<'r>(
    writer: &Writer,
    run: &PlannedFetch<'r, SqliteDriver>,
    member: usize,
    program: Box<dyn Program>,
) -> BoxFuture<'r, Result<WrittenMember, SourceError>> {
    let protocol = run.fetch.ask.protocol;
    let owned = OwnedRun::of(run, Vec::new());
    let mut program = program;
    let index_maintenance = Arc::clone(writer.index_maintenance());
    let refused = move |error| writer_error(error, protocol);
    // The tables of native types have no triggers.
    writer.submit(run.input.deadline, None::<&str>, refused, move |connection| {
        let prepared = &*owned.prepared;
        let bindings = owned.bindings();
        let member = &prepared.plan.members[member];
        let index_maintenance = &*index_maintenance;
        let written = WrittenMember::default();
        let mut run = ProgramJob { connection, prepared, bindings, index_maintenance, member, written };
        program.restart();
        match run_steps(&mut run, &mut *program).now_or_never() {
            // A value that cannot be written rolls the changes back.
            Some(Ok(())) if !run.written.1.is_empty() => Err(SourceError::Undone(run.written.1)),
            Some(Ok(())) => Ok(run.written),
            Some(Err(failure)) => {
                let name = failure.violated_constraint();
                let fetch = &*owned.fetch;
                let failure = failure.redact_for(&fetch.ask.facts, &*fetch.state.frontend);
                Err(with_message(
                    failure.into_error(protocol),
                    name,
                    &fetch.ask.facts,
                    &*fetch.state.frontend,
                ))
            }
            None => Err(SourceError::Broken("a step of a program waits".into())),
        }
    })
}

/// A run of a program.
struct ProgramJob<'c, 'r> {
    connection: &'c Connection,
    prepared: &'r SqlitePlan,
    bindings: Bindings<'r>,
    index_maintenance: &'r IndexMaintenance,
    /// The root field.
    member: &'r Member,
    /// Answer of the program.
    written: WrittenMember,
}

impl ProgramJob<'_, '_> {
    fn database_failure(&self, error: rusqlite::Error) -> RunFailure {
        RunFailure::Sqlite(error, self.member.field)
    }

    /// Brings the indexes up to date that a statement of the plan searches.
    fn update_indexes(&self) -> rusqlite::Result<()> {
        let texts = self.prepared.statements.iter().map(|ready| &*ready.statement.sql);
        self.index_maintenance.apply_changes_for(self.connection, texts)
    }

    /// Finds the objects of `level`, among `shown` if the level asks for them, and passes each to `program`.
    fn find_objects(
        &self,
        program: &mut dyn Program,
        level: Option<u32>,
        shown: &[i64],
    ) -> Result<(), RunFailure> {
        self.update_indexes().map_err(|error| self.database_failure(error))?;
        let Some(level) = level else { return Ok(()) };
        let bindings = Bindings { shown, ..self.bindings };
        let mut statements = Statements::new(self.connection, self.prepared, bindings);
        let Some(mut statement) = statements.open(level, RowContext::Root)? else { return Ok(()) };
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(|error| self.database_failure(error))? {
            let id = row.get(0).map_err(|error| self.database_failure(error))?;
            program.take_object_id(id).map_err(|error| self.program_error(error))?;
        }
        Ok(())
    }

    fn execute(&self, asked: &[BoundStatement], answers: &mut Answers) -> Result<(), RunFailure> {
        for it in asked {
            let mut run = || ask(self.connection, it, answers);
            let done = if it.template.is_indexed {
                self.index_maintenance.during(self.connection, run)
            } else {
                run()
            };
            done.map_err(|error| self.database_failure(error))?;
        }
        Ok(())
    }
}

impl ProgramTransaction for ProgramJob<'_, '_> {
    type Error = RunFailure;

    fn program_error(&self, error: FieldError) -> RunFailure {
        RunFailure::Refused(Box::new(error), self.member.field)
    }

    fn find(&mut self, program: &mut dyn Program) -> impl Future<Output = Result<(), RunFailure>> + Send {
        ready(self.find_objects(program, self.prepared.plan.finder(self.member), &[]))
    }

    fn check(
        &mut self,
        program: &mut dyn Program,
        number: u32,
        ids: &[i64],
    ) -> impl Future<Output = Result<(), RunFailure>> + Send {
        let checks = self.prepared.plan.checks(self.member);
        let level = checks.iter().find(|it| it.number == number).map(|it| it.level);
        ready(self.find_objects(program, level, ids))
    }

    fn ask(
        &mut self,
        asked: &[BoundStatement],
        answers: &mut Answers,
    ) -> impl Future<Output = Result<(), RunFailure>> + Send {
        ready(self.execute(asked, answers))
    }

    fn execute_statements(
        &mut self,
        asked: &[BoundStatement],
    ) -> impl Future<Output = Result<(), RunFailure>> + Send {
        ready(self.execute(asked, &mut Answers::default()))
    }

    fn answer(&mut self, shown: Shown) -> Result<(), RunFailure> {
        self.update_indexes().map_err(|error| self.database_failure(error))?;
        let bindings = Bindings { shown: &shown.ids, ..self.bindings };
        let mut statements = Statements::new(self.connection, self.prepared, bindings);
        statements.done =
            Some(WorkResult { affected: shown.affected, message: shown.message, ..WorkResult::default() });
        let Bindings { schema, ids, output: shape, .. } = bindings;
        let names = Names { schema, ids, output: shape };
        let mut writer = ResponseWriter::new(statements, &self.prepared.plan, names, 256);
        writer.root_member(self.member)?;
        self.written = writer.into_parts();
        Ok(())
    }
}

/// Converts a value to bind it.
fn to_sql(value: &Value) -> ToSqlOutput<'_> {
    match value {
        Value::Null => ToSqlOutput::Borrowed(ValueRef::Null),
        Value::Bool(it) => ToSqlOutput::Borrowed(ValueRef::Integer(i64::from(*it))),
        Value::Int(it) => ToSqlOutput::Borrowed(ValueRef::Integer(*it)),
        Value::Float(it) => ToSqlOutput::Borrowed(ValueRef::Real(*it)),
        Value::Text(it) => ToSqlOutput::Borrowed(ValueRef::Text(it.as_bytes())),
        Value::Ids(ids) => ToSqlOutput::Owned(rusqlite::types::Value::Text(ids_json(ids))),
    }
}

/// Runs a statement to its end.
pub(super) fn ask(
    connection: &Connection,
    asked: &BoundStatement,
    answers: &mut Answers,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(&asked.template.sql)?;
    for (at, value) in asked.values.iter().enumerate() {
        statement.raw_bind_parameter(at + 1, to_sql(value))?;
    }
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        for column in 0..asked.template.width {
            answers.push(match row.get_ref(column)? {
                ValueRef::Integer(number) => Cell::Int(number),
                ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into()),
                ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => Cell::Null,
            });
        }
    }
    answers.end();
    Ok(())
}

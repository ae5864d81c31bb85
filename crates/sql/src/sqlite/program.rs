//! Runs the programs of a mutation: each root field is one job of the writer, and so one transaction.
//!
//! Work without the database is done before the job is queued; the answer is read inside the job and sent when it is
//! durable.
//!
//! **Invariant:** a job that fails, or is run again, has done nothing.
//!
//! **Cost:** a statement costs its bindings and its steps; texts are prepared once.

use super::bind::ids_json;
use super::errors::failed;
use super::fetch::OwnedRun;
use super::prepared::Prepared;
use super::run::{Failure, Statements};
use super::source::SqliteDriver;
use crate::exec::answer::Names;
use crate::exec::bind::Bindings;
use crate::exec::errors::with_message;
use crate::exec::program::{Answers, BoundStatement, Cell, Program, Shown, Step, Value};
use crate::exec::response_writer::ResponseWriter;
use crate::exec::row_source::{RowContext, WorkResult};
use crate::exec::source::{PlannedFetch, WrittenMember};
use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, ValueRef};
use std::sync::Arc;
use weir_engine::source::{BoxFuture, SourceError};
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
    let (protocol, owned) = (run.fetch.ask.protocol, OwnedRun::of(run, Vec::new()));
    let (mut program, index_maintenance) = (program, Arc::clone(writer.index_maintenance()));
    let refused = move |error| failed(error, protocol);
    writer.submit(run.input.deadline, refused, move |connection| {
        let (prepared, bindings) = (&*owned.prepared, owned.bindings());
        let run = ProgramRun { connection, prepared, bindings, index_maintenance: &index_maintenance };
        program.restart();
        run.drive(&prepared.plan.members[member], &mut *program).map_err(|failure| {
            let name = failure.violated();
            with_message(failure.into_error(protocol), name, &*owned.fetch.state.frontend)
        })
    })
}

/// One run of a program.
struct ProgramRun<'c, 'r> {
    connection: &'c Connection,
    prepared: &'r Prepared,
    bindings: Bindings<'r>,
    index_maintenance: &'r IndexMaintenance,
}

impl ProgramRun<'_, '_> {
    fn drive(&self, member: &Member, program: &mut dyn Program) -> Result<WrittenMember, Failure> {
        let (mut answers, mut asked, mut wrote) = (Answers::default(), Vec::new(), WrittenMember::default());
        loop {
            asked.clear();
            let step = program.next(&answers, &mut asked);
            let step = step.map_err(|error| Failure::Refused(Box::new(error), member.field))?;
            answers.clear();
            match step {
                Step::Find => self.find(member, program)?,
                Step::Ask | Step::Tell => {
                    for it in &asked {
                        let mut run = || ask(self.connection, it, &mut answers);
                        let done = match it.template.is_indexed {
                            true => self.index_maintenance.during(self.connection, run),
                            false => run(),
                        };
                        done.map_err(|error| Failure::Sqlite(error, member.field))?;
                    }
                }
                Step::Answer(shown) => wrote = self.answer(member, &shown)?,
                Step::Done => return Ok(wrote),
            }
        }
    }

    /// Brings the indexes up to date that a statement of the plan searches.
    fn settle(&self) -> rusqlite::Result<()> {
        let texts = self.prepared.statements.iter().map(|ready| &*ready.statement.sql);
        self.index_maintenance.settle_for(self.connection, texts)
    }

    /// The objects that the filter of the field finds.
    fn find(&self, member: &Member, program: &mut dyn Program) -> Result<(), Failure> {
        let sqlite = |error| Failure::Sqlite(error, member.field);
        self.settle().map_err(sqlite)?;
        if let Some(level) = self.prepared.plan.finder(member) {
            let mut statements = Statements::new(self.connection, self.prepared, self.bindings);
            if let Some(mut statement) = statements.open(level, RowContext::Root)? {
                let mut rows = statement.raw_query();
                while let Some(row) = rows.next().map_err(sqlite)? {
                    let found = program.found(row.get(0).map_err(sqlite)?);
                    found.map_err(|error| Failure::Refused(Box::new(error), member.field))?;
                }
            }
        }
        Ok(())
    }

    fn answer(&self, member: &Member, shown: &Shown) -> Result<WrittenMember, Failure> {
        self.settle().map_err(|error| Failure::Sqlite(error, member.field))?;
        let bindings = Bindings { shown: &shown.ids, ..self.bindings };
        let mut statements = Statements::new(self.connection, self.prepared, bindings);
        statements.done =
            Some(WorkResult { affected: shown.affected, message: shown.message, ..WorkResult::default() });
        let Bindings { schema, ids, shape, .. } = bindings;
        let names = Names { schema, ids, shape };
        let mut writer = ResponseWriter::new(statements, &self.prepared.plan, names, 256);
        writer.root_member(member)?;
        Ok(writer.into_parts())
    }
}

/// A value on its way into a statement.
fn bound(value: &Value) -> ToSqlOutput<'_> {
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
        statement.raw_bind_parameter(at + 1, bound(value))?;
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

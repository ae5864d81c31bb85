//! Runs the programs of a mutation: each root field is one job of the writer, and so one transaction.
//!
//! Work without the database is done before the job is queued; the answer is read inside the job and sent when it is
//! durable.
//!
//! **Invariant:** a job that fails, or is run again, has done nothing.
//!
//! **Cost:** a statement costs its bindings and its steps; texts are prepared once.

use super::bind::ids_json;
use super::fetch::Reading;
use super::prepared::Prepared;
use super::run::{Failure, Statements};
use super::upkeep::Upkeep;
use super::write_fetch::read_only;
use super::writer::Writer;
use crate::exec::answer::Names;
use crate::exec::bind::Bindings;
use crate::exec::program::{Answers, Asked, Call, Cell, Program, Programs, Shown, Step, Value};
use crate::exec::response_writer::ResponseWriter;
use crate::exec::row_source::{RowContext, WorkResult};
use crate::exec::turn::Turns;
use crate::exec::write_errors::with_message;
use crate::frontend::form::Form;
use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, ValueRef};
use std::sync::Arc;
use weir_engine::source::{BoxFuture, Fetch, FetchInput, PathError, Reply, SourceError, Tag};
use weir_relational::plan::Member;

/// A piece of a mutation, prepared.
pub(super) struct ProgramFetch {
    pub(super) inner: Arc<Reading>,
    pub(super) tags: Vec<Tag>,
}

/// The bytes of a member and what failed in it.
type Wrote = (Vec<u8>, Vec<PathError>);

impl ProgramFetch {
    async fn run(&self, input: FetchInput<'_>) -> Result<Reply, SourceError> {
        let reading = &self.inner;
        let Some(writer) = &reading.shared.writer else { return Err(read_only(reading.ask.accent)) };
        let Some(programs) = reading.shared.frontend.programs() else {
            return Err(SourceError::Broken("a mutation without programs".into()));
        };
        if let Some(planning) = reading.plan_aside(&input) {
            planning.await?;
        }
        let (prepared, form) = reading.plan(input.shape, input.variables)?;
        let (prepared, form) = (prepared.into_owned(), Arc::new(form));
        let plan = &prepared.plan;
        let mut turns = Turns::default();
        for at in plan.root.range() {
            let member = &plan.members[at];
            if turns.next(input.shape, member).is_none() {
                continue;
            }
            match self.run_one(writer, programs, &prepared, &form, at, &input).await {
                Ok((bytes, errors)) => turns.done(&bytes, errors),
                Err(error) => turns.fail(input.shape, member, &error),
            }
        }
        Ok(turns.reply())
    }

    async fn run_one(
        &self,
        writer: &Writer,
        programs: &dyn Programs,
        prepared: &Arc<Prepared>,
        form: &Arc<Form>,
        at: usize,
        input: &FetchInput<'_>,
    ) -> Result<Wrote, SourceError> {
        let field = prepared.plan.members[at].field;
        let call = Call { shape: input.shape, field, variables: input.variables, ids: &self.inner.ids };
        let begun = programs.begin(call).await;
        let mut program = begun.map_err(|error| SourceError::Rejected { error, field: Some(field) })?;
        let (reading, prepared, form) = (Arc::clone(&self.inner), Arc::clone(prepared), Arc::clone(form));
        let (shape, variables) = (Arc::clone(input.shape), Arc::clone(input.variables));
        let upkeep = Arc::clone(writer.upkeep());
        let job = move |connection: &Connection| {
            let bindings = reading.bindings(&shape, &variables, &form, &[]);
            let driver = Driver { connection, prepared: &prepared, bindings, upkeep: &upkeep };
            program.restart();
            driver.drive(&prepared.plan.members[at], &mut *program).map_err(|failure| {
                let name = failure.violated();
                let error = failure.into_error(reading.ask.accent);
                with_message(error, name, &*reading.shared.frontend)
            })
        };
        writer.submit(input.deadline, self.inner.ask.accent, job).await
    }
}

impl Fetch for ProgramFetch {
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<Reply, SourceError>> {
        Box::pin(self.run(input))
    }

    fn touches(&self) -> &[Tag] {
        &self.tags
    }

    fn explain(&self, out: &mut String) {
        self.inner.explain(out);
    }

    fn describe(&self, out: &mut String) {
        self.inner.describe(out);
    }
}

/// One run of a program.
struct Driver<'c, 'r> {
    connection: &'c Connection,
    prepared: &'r Prepared,
    bindings: Bindings<'r>,
    upkeep: &'r Upkeep,
}

impl Driver<'_, '_> {
    fn drive(&self, member: &Member, program: &mut dyn Program) -> Result<Wrote, Failure> {
        let (mut answers, mut asked, mut wrote) = (Answers::default(), Vec::new(), Wrote::default());
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
                        let done = match it.sentence.is_indexed {
                            true => self.upkeep.during(self.connection, run),
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

    /// The objects that the filter of the field finds.
    fn find(&self, member: &Member, program: &mut dyn Program) -> Result<(), Failure> {
        let sqlite = |error| Failure::Sqlite(error, member.field);
        self.upkeep.settle_for(self.connection, self.prepared).map_err(sqlite)?;
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

    fn answer(&self, member: &Member, shown: &Shown) -> Result<Wrote, Failure> {
        let settled = self.upkeep.settle_for(self.connection, self.prepared);
        settled.map_err(|error| Failure::Sqlite(error, member.field))?;
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
pub(super) fn ask(connection: &Connection, asked: &Asked, answers: &mut Answers) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(&asked.sentence.sql)?;
    for (at, value) in asked.values.iter().enumerate() {
        statement.raw_bind_parameter(at + 1, bound(value))?;
    }
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        for column in 0..asked.sentence.width {
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

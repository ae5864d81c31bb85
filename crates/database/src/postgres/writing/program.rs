//! Runs the programs of a mutation: each root field is one transaction on a connection of its own.
//!
//! A step that is answered is one trip; what needs no answer travels with what comes after it, so the changes, the reading
//! of the answer and the commit are one trip together. A transaction that lost a race is run again from its beginning: what
//! it then finds is what it is told.
//!
//! Results of filters are read some rows at a time, through a portal, if the flavour has portals.
//!
//! **Invariant:** nothing is answered before the commit has been acknowledged.

use super::runner::Failure;
use crate::exec::cell_value::CellValue as Read;
use crate::exec::driver::{PlannedFetch, WrittenMember};
use crate::exec::errors::error_with_code;
use crate::exec::output::answer::{TooLong, committed_value_error};
use crate::exec::output::response_writer::ResponseWriter;
use crate::exec::programs::program_steps::{ProgramTransaction, run_steps};
use crate::frontend::program::{Answers, BoundStatement, Cell, Program, Shown, StatementTemplate, Value};
use crate::postgres::driver::PostgresDriver;
use crate::postgres::errors::CONCURRENT;
use crate::postgres::retry::Retry;
use crate::postgres::statements::asked_levels::Asked as Reads;
use crate::postgres::statements::prepared::Programmed;
use crate::postgres::statements::result_rows::ResultRows;
use crate::postgres::statements::result_set::ResultSet;
use crate::postgres::values::bind::{ids_array, push_last};
use std::sync::Arc;
use std::time::Instant;
use weir_engine::source::{FieldError, Protocol, SourceError};
use weir_postgres::bulkhead::{Cause, Patience};
use weir_postgres::error::Error;
use weir_postgres::rows::Rows;
use weir_postgres::session::Session;
use weir_postgres::statement::{Format, Parameters, Statement};
use weir_postgres::transaction::Isolation;
use weir_relational::plan::{Member, MemberKind};

/// Maximum number of statements in one flight.
const FLIGHT_MAX: usize = 1024;
/// Bytes of values at which a flight leaves.
const FLIGHT_BYTES: usize = 1 << 20;

/// The portal for the objects of a field's filter.
const FINDER: u32 = 0;
const FIND_ROWS: u32 = 16_384;

/// Drives the program of the root field at `member` of the plan.
pub(crate) async fn drive(
    run: &PlannedFetch<'_, PostgresDriver>,
    member: usize,
    mut program: Box<dyn Program>,
) -> Result<WrittenMember, SourceError> {
    let member = &run.prepared.plan.members[member];
    let programmed = match member.kind {
        MemberKind::Write(write) => run.prepared.programs[write as usize].as_ref(),
        _ => None,
    };
    let driven = ProgramRun { run, member, programmed };
    let mut retry = Retry::new(run.fetch.state.driver.dialect.flavour, run.input.deadline);
    loop {
        program.restart();
        match driven.attempt(&mut *program, &mut retry).await {
            Ok(written) => return Ok(written),
            Err(Failure::Database(error, _)) if driven.lost_a_race(&error) => {
                if !retry.wait_for_retry().await {
                    return Err(overtaken(run.fetch.ask.protocol, member.field));
                }
            }
            Err(failure) => return Err(failure.into_error(run.fetch, &run.prepared.plan)),
        }
    }
}

/// A run of one root field.
struct ProgramRun<'r> {
    run: &'r PlannedFetch<'r, PostgresDriver>,
    member: &'r Member,
    programmed: Option<&'r Programmed>,
}

impl ProgramRun<'_> {
    /// True for a conflict with another transaction, whose changes a retry sees.
    fn lost_a_race(&self, error: &Error) -> bool {
        let frontend = &self.run.fetch.state.frontend;
        let facts = &self.run.fetch.ask.facts;
        let is_rule =
            || error.violated_constraint().is_some_and(|it| frontend.violation(&it, facts).is_some());
        match error.sqlstate().as_ref() {
            _ if error.is_retryable() => true,
            // A key was taken, or an object deleted, after it was asked for.
            Some(b"23505") => !is_rule(),
            Some(b"23503") => true,
            Some(_) | None => false,
        }
    }

    /// Runs one transaction; a second, patient one if it waited for a lock for too long.
    async fn attempt(&self, program: &mut dyn Program, retry: &mut Retry) -> Result<WrittenMember, Failure> {
        let pool = &self.driver().pool;
        let tables = &self.run.prepared.locks;
        let mut gate = pool.gate(Cause::Change, tables, self.run.input.deadline);
        loop {
            let patience = gate.enter().await.map_err(|error| self.database_failure(error))?;
            let done = self.transact(program, patience, retry).await;
            if !gate.should_retry(done.as_ref().err().and_then(Failure::database)) {
                return done;
            }
            program.restart();
        }
    }

    async fn transact(
        &self,
        program: &mut dyn Program,
        patience: Patience,
        retry: &mut Retry,
    ) -> Result<WrittenMember, Failure> {
        let session = self.driver().pool.session_with(patience, self.run.input.deadline).await;
        let mut session = session.map_err(|error| self.database_failure(error))?;
        // Concurrent changes are conflicts and never overlooked.
        let settings = self.run.fetch.write_settings(&self.run.input);
        retry.begin(&mut session, Isolation::RepeatableRead, settings.as_deref());
        let end = session.statement_end(self.run.input.deadline);
        let mut transaction = OpenTransaction { of: self, session, flight: Flight::with_deadline(end) };
        let written = loop {
            let failure = match transaction.run(program).await {
                Ok(written) => break written,
                Err(failure) => failure,
            };
            if retry.restart(&mut transaction.session, failure.database(), end).await {
                transaction.flight = Flight::with_deadline(end);
                program.restart();
                continue;
            }
            if matches!(failure, Failure::Refused(..) | Failure::Undone(_)) {
                transaction.session.rollback().await;
            }
            return Err(failure);
        };
        let OpenTransaction { session, flight, .. } = transaction;
        drop(session);
        match written {
            Some(written) => Ok(written),
            None => self.answer_committed(&flight),
        }
    }

    /// Writes the answer of a committed program.
    fn answer_committed(&self, flight: &Flight) -> Result<WrittenMember, Failure> {
        let refused = |error| Failure::Refused(Box::new(error), self.member.field);
        let (bytes, errors) = self.answer(flight).map_err(|it| refused(it.of_mutation()))?;
        match errors.first() {
            None => Ok((bytes, errors)),
            Some(error) => Err(refused(committed_value_error(error))),
        }
    }

    fn database_failure(&self, error: Error) -> Failure {
        Failure::Database(error, self.member.field)
    }

    fn may_fail(&self) -> bool {
        match self.member.kind {
            MemberKind::Write(write) => self.run.prepared.may_fail[write as usize],
            _ => false,
        }
    }

    fn driver(&self) -> &PostgresDriver {
        &self.run.fetch.state.driver
    }

    /// Passes the objects that were found to the program; returns the number of rows.
    fn pass_found_objects(
        &self,
        finder: &Reads,
        rows: &Rows,
        program: &mut dyn Program,
    ) -> Result<u32, Failure> {
        let set = ResultSet::new(finder, rows);
        let mut scratch = Vec::new();
        let mut count = 0;
        let column = usize::from(finder.arms[0].columns[0]);
        for row in set.all(0) {
            count += 1;
            let id = row.column(column).flatten().map(|it| finder.decoders[column].read(it, &mut scratch));
            if let Some(Ok(Read::Int(id))) = id {
                let told = program.take_object_id(id);
                told.map_err(|error| Failure::Refused(Box::new(error), self.member.field))?;
            }
        }
        Ok(count)
    }

    fn parameters(&self, asked: &Reads, shown: &[i64]) -> Result<Parameters, Failure> {
        let bindings = self.run.bindings(shown);
        let types = &self.driver().dialect.types;
        let mut parameters = Parameters::default();
        push_last(&bindings, types, asked.own_parameters(), &mut parameters)
            .map_err(|error| Failure::Refused(error, self.member.field))?;
        Ok(parameters)
    }

    fn answer(&self, flight: &Flight) -> Result<WrittenMember, TooLong> {
        let asked = self.programmed.and_then(|it| it.shown.as_ref());
        let set = asked.zip(flight.rows.as_ref()).map(|(asked, rows)| ResultSet::new(asked, rows));
        let source = ResultRows::of_program(&self.run.prepared, &flight.shown, set.as_ref());
        let mut writer = ResponseWriter::new(source, &self.run.prepared.plan, self.run.names(), 256);
        writer.root_member(self.member)?;
        Ok(writer.into_parts())
    }
}

/// The transaction of a root field.
struct OpenTransaction<'t> {
    of: &'t ProgramRun<'t>,
    session: Session,
    flight: Flight,
}

impl OpenTransaction<'_> {
    /// All steps of `program`, and the commit. An answer that may have a value that cannot be given is made before it.
    async fn run(&mut self, program: &mut dyn Program) -> Result<Option<WrittenMember>, Failure> {
        run_steps(self, program).await?;
        let mut written = None;
        if self.of.may_fail() {
            self.flush().await?;
            let refused = |it: TooLong| Failure::Refused(Box::new(it.field_error()), it.field);
            let (bytes, errors) = self.of.answer(&self.flight).map_err(refused)?;
            if !errors.is_empty() {
                return Err(Failure::Undone(errors));
            }
            written = Some((bytes, errors));
        }
        self.session.commit();
        self.flush().await?;
        Ok(written)
    }

    fn push(&mut self, it: &BoundStatement) {
        self.flight.push(&mut self.session, &statement(&it.template), &parameters(it));
    }

    /// Sends the queued statements and takes their rows.
    async fn flush(&mut self) -> Result<Vec<Rows>, Failure> {
        let rows =
            self.session.flush(self.flight.end).await.map_err(|error| self.of.database_failure(error))?;
        (self.flight.waiting, self.flight.bytes) = (0, 0);
        if let Some(at) = self.flight.shown_at.take() {
            self.flight.rows = rows.get(at).cloned();
        }
        Ok(rows)
    }
}

impl ProgramTransaction for OpenTransaction<'_> {
    type Error = Failure;

    fn program_error(&self, error: FieldError) -> Failure {
        Failure::Refused(Box::new(error), self.of.member.field)
    }

    async fn find(&mut self, program: &mut dyn Program) -> Result<(), Failure> {
        let of = self.of;
        let Some(finder) = of.programmed.and_then(|it| it.find.as_ref()) else { return Ok(()) };
        let parameters = of.parameters(finder, &[])?;
        if !of.driver().dialect.flavour.abilities().portals {
            self.flight.push(&mut self.session, &finder.statement, &parameters);
            let rows = self.flush().await?.pop().unwrap_or_default();
            return of.pass_found_objects(finder, &rows, program).map(drop);
        }
        self.session.open(FINDER, &finder.statement, &parameters);
        loop {
            self.session.fetch(FINDER, FIND_ROWS);
            let rows = self.flush().await?.pop().unwrap_or_default();
            if of.pass_found_objects(finder, &rows, program)? < FIND_ROWS {
                return Ok(());
            }
        }
    }

    async fn check(&mut self, program: &mut dyn Program, number: u32, ids: &[i64]) -> Result<(), Failure> {
        let of = self.of;
        let Some(check) = of.programmed.and_then(|it| it.checks.iter().find(|it| it.0 == number)) else {
            return Ok(());
        };
        let parameters = of.parameters(&check.1, ids)?;
        self.flight.push(&mut self.session, &check.1.statement, &parameters);
        let rows = self.flush().await?.pop().unwrap_or_default();
        of.pass_found_objects(&check.1, &rows, program).map(drop)
    }

    async fn ask(&mut self, asked: &[BoundStatement], answers: &mut Answers) -> Result<(), Failure> {
        for some in asked.chunks(FLIGHT_MAX) {
            some.iter().for_each(|it| self.push(it));
            let rows = self.flush().await?;
            // Rows of statements queued before come first.
            let first = rows.len().saturating_sub(some.len());
            for (it, rows) in some.iter().zip(&rows[first..]) {
                take(rows, it.template.width, answers);
            }
        }
        Ok(())
    }

    async fn execute_statements(&mut self, asked: &[BoundStatement]) -> Result<(), Failure> {
        for it in asked {
            self.push(it);
            if self.flight.is_full() {
                self.flush().await?;
            }
        }
        Ok(())
    }

    /// Queues the read of the answer, so that it travels with the next flight.
    fn answer(&mut self, shown: Shown) -> Result<(), Failure> {
        if let Some(asked) = self.of.programmed.and_then(|it| it.shown.as_ref()) {
            self.flight.shown_at = Some(self.flight.waiting);
            let parameters = self.of.parameters(asked, &shown.ids)?;
            self.flight.push(&mut self.session, &asked.statement, &parameters);
        }
        self.flight.shown = shown;
        Ok(())
    }
}

/// Statements that were sent or wait to be.
struct Flight {
    /// Deadline of the transaction.
    end: Instant,
    /// Statements since the last trip.
    waiting: usize,
    /// Bytes of their values.
    bytes: usize,
    /// The statement that reads the answer.
    shown_at: Option<usize>,
    shown: Shown,
    /// Rows of the answer.
    rows: Option<Rows>,
}

impl Flight {
    /// Nothing yet, of a transaction that has to be done by `end`.
    fn with_deadline(end: Instant) -> Self {
        Self { end, waiting: 0, bytes: 0, shown_at: None, shown: Shown::default(), rows: None }
    }

    fn push(&mut self, session: &mut Session, statement: &Arc<Statement>, parameters: &Parameters) {
        session.push(statement, parameters);
        self.waiting += 1;
        self.bytes += parameters.as_bytes().len();
    }

    fn is_full(&self) -> bool {
        self.waiting >= FLIGHT_MAX || self.bytes >= FLIGHT_BYTES
    }
}

/// The error of a transaction that lost every race with others.
#[cold]
fn overtaken(protocol: Protocol, field: u32) -> SourceError {
    let error = error_with_code(protocol, "CONCURRENT_UPDATE", "concurrent-update", CONCURRENT);
    SourceError::Rejected { error, field: Some(field) }
}

/// The statement of a template, whose columns come back as text.
pub(crate) fn statement(template: &StatementTemplate) -> Arc<Statement> {
    template.driver_statement(|| {
        Statement::new(template.sql.as_str(), [], vec![Format::Text; template.width], [], None)
    })
}

/// The values of a statement in PostgreSQL's text.
pub(crate) fn parameters(asked: &BoundStatement) -> Parameters {
    let mut parameters = Parameters::default();
    for value in &asked.values {
        match value {
            Value::Null => parameters.push_null(),
            Value::Bool(it) => parameters.push(if *it { b"t" } else { b"f" }),
            Value::Int(it) => parameters.push(itoa::Buffer::new().format(*it).as_bytes()),
            Value::Float(it) => parameters.push(zmij::Buffer::new().format(*it).as_bytes()),
            Value::Text(it) => parameters.push(it.as_bytes()),
            Value::Ids(ids) => parameters.push_with(|out| ids_array(ids, out)),
        }
    }
    parameters
}

/// The cells of rows that came as text.
pub(crate) fn take(rows: &Rows, width: usize, answers: &mut Answers) {
    for row in rows.iter() {
        for value in row.columns().take(width) {
            answers.push(match value {
                Some(text) => Cell::Text(String::from_utf8_lossy(text).into()),
                None => Cell::Null,
            });
        }
    }
    answers.end();
}

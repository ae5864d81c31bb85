//! Runs the root fields of a mutation: all in one transaction, as few round trips as their needs of each other allow.
//!
//! Statements that need nothing of each other share a flight. A nested insert goes in waves: rows that take keys from
//! others come after them, all rows of a wave together. A single statement is a transaction of its own and needs one
//! trip.
//!
//! **Invariant:** nothing is answered before the commit has been acknowledged; whatever fails leaves the transaction to
//! be rolled back. Checks that read other rows are judged when their root field has run. An answer that may have a value that cannot be given is made before the commit.

use crate::exec::bindings::{Bindings, SlotRow};
use crate::exec::errors::{check_failed_at, missing_needed_row, not_found};
use crate::frontend::form::Form;
use crate::postgres::driver::PostgresDriver;
use crate::postgres::errors::is_check_failure;
use crate::postgres::statements::prepared::{Children, Prepared, Ready};
use crate::postgres::statements::written_rows::{Answered, Done, WorkDone};
use crate::postgres::values::bind::{Target, push, push_last};
use crate::postgres::values::decode::Decoder;
use crate::postgres::values::key_text;
use smallvec::SmallVec;
use std::time::Instant;
use weir_engine::source::{FieldError, PathError};
use weir_postgres::error::Error;
use weir_postgres::rows::{Row, Rows};
use weir_postgres::statement::Parameters;
use weir_postgres::write_route::WriteRoute;
use weir_relational::plan::MemberKind;
use weir_relational::plan::write::{Change, Given, Step, Work};

/// Maximum number of statements in one flight: waiting ones are kept in memory on both sides.
const FLIGHT_MAX: usize = 1024;

/// Why a mutation failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error of the database while it worked for a root field, with the field's index in the output plan.
    Database(Error, u32),
    /// The request cannot be fulfilled.
    Refused(Box<FieldError>, u32),
    /// Values of the answer cannot be given, and nothing is committed.
    Undone(Vec<PathError>),
}

impl Failure {
    /// The database's error, if it is one.
    pub(crate) const fn database(&self) -> Option<&Error> {
        match self {
            Self::Database(error, _) => Some(error),
            Self::Refused(..) | Self::Undone(_) => None,
        }
    }
}

/// The statement whose answer is awaited.
#[derive(Clone, Copy)]
pub(crate) enum Awaited {
    Statement {
        write: usize,
        work: usize,
        at: usize,
    },
    Below {
        write: usize,
    },
    /// Check of written rows.
    Check {
        write: usize,
    },
}

/// Runs the root fields of a mutation in one transaction.
pub(crate) struct Runner<'r, 's> {
    pub(crate) prepared: &'r Prepared,
    pub(crate) bindings: Bindings<'r>,
    driver: &'r PostgresDriver,
    way: WriteRoute<'s>,
    pub(crate) deadline: Instant,
    pub(crate) done: Vec<Done<'r>>,
    /// Answers to checks of written rows, in the order in which they were asked.
    pub(crate) judged: Vec<Rows>,
    awaited: Vec<Awaited>,
}

impl<'r, 's> Runner<'r, 's> {
    pub(crate) fn new(
        prepared: &'r Prepared,
        bindings: Bindings<'r>,
        driver: &'r PostgresDriver,
        way: WriteRoute<'s>,
        deadline: Instant,
    ) -> Self {
        let mut done = Vec::new();
        done.resize_with(prepared.plan.writes.len(), Done::default);
        let judged = Vec::new();
        let awaited = Vec::new();
        Self { prepared, bindings, driver, way, deadline, done, judged, awaited }
    }

    /// Does all that is asked for, with the commit; a session has begun its transaction.
    pub(crate) async fn run(mut self) -> Result<Vec<Done<'r>>, Failure> {
        self.change().await?;
        self.commit().await?;
        Ok(self.done)
    }

    /// Does all that is asked for and hands the results to `answer` before the commit. The answer is its.
    pub(crate) async fn run_answering<T>(
        mut self,
        answer: impl FnOnce(&[Done<'r>]) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.change().await?;
        self.flush().await?;
        self.count_all();
        let answer = answer(&self.done)?;
        self.commit().await?;
        Ok(answer)
    }

    async fn change(&mut self) -> Result<(), Failure> {
        let writes: SmallVec<[usize; 4]> = root_writes(self.prepared).collect();
        for &write in &writes {
            self.write(write).await?;
        }
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), Failure> {
        if let WriteRoute::Session(session) = &mut self.way {
            session.commit();
        }
        self.flush().await?;
        self.count_all();
        Ok(())
    }

    fn count_all(&mut self) {
        root_writes(self.prepared).for_each(|it| self.count(it));
    }

    async fn write(&mut self, write: usize) -> Result<(), Failure> {
        let of = &self.prepared.plan.writes[write];
        for (work, what) in of.works.iter().enumerate() {
            self.done[write].works.push(WorkDone::default());
            match what {
                // Programs have a driver of their own.
                Work::Nothing | Work::Program { .. } => {}
                Work::Change(change) => {
                    let mut parameters = Parameters::default();
                    let ready = &self.prepared.changes[*change as usize];
                    self.bind(ready, &mut parameters, of.field)?;
                    self.push(write, work, *change, &parameters).await?;
                    if let Some(words) = &of.missing {
                        self.flush().await?;
                        if self.done[write].works[work].rows().next().is_none() {
                            let error = not_found(words, self.bindings.protocol);
                            return Err(Failure::Refused(error, of.field));
                        }
                    }
                }
                Work::Insert(steps) => self.insert(write, work, steps, 1, None).await?,
                Work::Each { slot, steps } => {
                    if let Some(rows) = self.bindings.form.rows(*slot) {
                        let each = Some((*slot, rows.leaves));
                        self.insert(write, work, steps, rows.len as usize, each).await?;
                    }
                }
            }
        }
        self.judge_field(write).await?;
        match &self.prepared.below[write] {
            Some(children) => self.read_children(write, children).await,
            None => Ok(()),
        }
    }

    /// Inserts `count` rows, each by `steps`; `each` is the slot that holds them and how many leaves each has.
    async fn insert(
        &mut self,
        write: usize,
        work: usize,
        steps: &'r [Step],
        count: usize,
        each: Option<(u32, u32)>,
    ) -> Result<(), Failure> {
        let waves = waves(steps);
        let prepared = self.prepared;
        let answers = (0..count).flat_map(|_| steps).map(|step| {
            let ready = &prepared.changes[step.change as usize];
            Answered { rows: None, ready, change: step.change, shown: step.shown }
        });
        self.done[write].works[work].answers = answers.collect();
        let last = waves.iter().copied().max().unwrap_or(0);
        for wave in 0..=last {
            for row in 0..count {
                if let Some((slot, leaves)) = each {
                    self.bindings.row = SlotRow { slot, leaves_before: row as u32 * leaves };
                }
                for (at, step) in steps.iter().enumerate().filter(|it| waves[it.0] == wave) {
                    self.step(write, work, row * steps.len(), at, step).await?;
                }
            }
            if wave < last || steps.iter().any(|it| it.needed.is_some()) {
                self.flush().await?;
                self.check(write, work, steps, &waves, wave)?;
                let is_due = |of: usize, at: usize| {
                    let at = at % steps.len();
                    of == work && waves[at] == wave && Step::is_needed(steps, at)
                };
                self.judge(write, &is_due).await?;
            }
        }
        Ok(())
    }

    /// Runs an insert step for one row; `first` is the index of its first step among the answers.
    async fn step(
        &mut self,
        write: usize,
        work: usize,
        first: usize,
        at: usize,
        step: &'r Step,
    ) -> Result<(), Failure> {
        let field = self.prepared.plan.writes[write].field;
        let ready = &self.prepared.changes[step.change as usize];
        let mut parameters = Parameters::default();
        for (given, &oid) in step.values.iter().zip(&ready.statement.parameters) {
            match given {
                Given::Null => parameters.push_null(),
                Given::Parameter(parameter) => push(
                    &self.bindings,
                    Target { types: &self.driver.dialect.types, oid },
                    parameter,
                    &mut parameters,
                )
                .map_err(|error| Failure::Refused(error, field))?,
                Given::Returned { step, column } => {
                    let from = &self.done[write].works[work].answers[first + *step as usize];
                    let row = from.rows.as_ref().and_then(|it| it.iter().next());
                    let bytes = row.and_then(|it| it.column(usize::from(*column)).flatten());
                    key_text::push(&from.ready.decoders[usize::from(*column)], bytes, &mut parameters);
                }
            }
        }
        self.bind(ready, &mut parameters, field)?;
        self.send(Awaited::Statement { write, work, at: first + at }, ready, &parameters).await
    }

    /// Rows that others need have to have come back.
    fn check(
        &self,
        write: usize,
        work: usize,
        steps: &[Step],
        waves: &[u32],
        wave: u32,
    ) -> Result<(), Failure> {
        for (at, answer) in self.done[write].works[work].answers.iter().enumerate() {
            let at = at % steps.len();
            if let Some(words) = steps[at].needed.as_ref().filter(|_| waves[at] == wave)
                && answer.rows.as_ref().is_none_or(|it| it.iter().next().is_none())
            {
                let field = self.prepared.plan.writes[write].field;
                return Err(Failure::Refused(missing_needed_row(words, self.bindings.protocol), field));
            }
        }
        Ok(())
    }

    /// Asks for the levels below the rows that came back.
    async fn read_children(&mut self, write: usize, children: &'r Children) -> Result<(), Failure> {
        self.flush().await?;
        self.count(write);
        let field = self.prepared.plan.writes[write].field;
        let rows = self.done[write].works.iter().flat_map(WorkDone::rows);
        let parameters = self.about(children, rows, field)?;
        self.send_children(children, &parameters, Awaited::Below { write });
        Ok(())
    }

    /// The values of a statement about `rows`, each with its decoder.
    pub(crate) fn about<'a>(
        &self,
        children: &Children,
        rows: impl Iterator<Item = (Row<'a>, &'a [Decoder])> + Clone,
        field: u32,
    ) -> Result<Parameters, Failure> {
        let mut parameters = Parameters::default();
        for &column in &children.keys {
            let values = rows.clone().map(|(row, decoders)| {
                let column = usize::from(column);
                (&decoders[column], row.column(column).flatten())
            });
            key_text::push_array(values, &mut parameters);
        }
        let own = children.asked.own_parameters();
        push_last(&self.bindings, &self.driver.dialect.types, own, &mut parameters)
            .map_err(|error| Failure::Refused(error, field))?;
        Ok(parameters)
    }

    /// Appends a statement about rows that came back.
    pub(crate) fn send_children(&mut self, children: &Children, parameters: &Parameters, whose: Awaited) {
        self.driver.count(children.asked.reach);
        self.way.push(&children.asked.statement, parameters, None);
        self.awaited.push(whose);
    }

    fn bind(&self, ready: &Ready, parameters: &mut Parameters, field: u32) -> Result<(), Failure> {
        push_last(&self.bindings, &self.driver.dialect.types, ready.own_parameters(), parameters)
            .map_err(|error| Failure::Refused(error, field))
    }

    async fn push(
        &mut self,
        write: usize,
        work: usize,
        change: u32,
        parameters: &Parameters,
    ) -> Result<(), Failure> {
        let ready = &self.prepared.changes[change as usize];
        let answers = &mut self.done[write].works[work].answers;
        answers.push(Answered { rows: None, ready, change, shown: true });
        let at = answers.len() - 1;
        self.send(Awaited::Statement { write, work, at }, ready, parameters).await
    }

    async fn send(&mut self, whose: Awaited, ready: &Ready, parameters: &Parameters) -> Result<(), Failure> {
        if self.awaited.len() >= FLIGHT_MAX {
            self.flush().await?;
        }
        self.driver.count(ready.reach);
        self.way.push(&ready.statement, parameters, ready.rows(parameters));
        self.awaited.push(whose);
        Ok(())
    }

    /// Sends the queued statements and takes their answers.
    pub(crate) async fn flush(&mut self) -> Result<(), Failure> {
        let answers = self.way.flush(self.deadline).await;
        let awaited = std::mem::take(&mut self.awaited);
        let answers = match answers {
            Ok(answers) => answers,
            Err(error) => {
                let at = statement(&error).and_then(|it| awaited.get(it)).or(awaited.last());
                return Err(self.failure(error, at));
            }
        };
        for (whose, rows) in awaited.into_iter().zip(answers) {
            match whose {
                Awaited::Statement { write, work, at } => {
                    self.done[write].works[work].answers[at].rows = Some(rows);
                }
                Awaited::Below { write } => self.done[write].below = Some(rows),
                Awaited::Check { .. } => self.judged.push(rows),
            }
        }
        Ok(())
    }

    #[cold]
    fn failure(&self, error: Error, whose: Option<&Awaited>) -> Failure {
        let field = self.field(whose);
        match (&error, whose) {
            (Error::Database { error, .. }, Some(Awaited::Statement { write, work, at }))
                if is_check_failure(error) =>
            {
                let work = &self.prepared.plan.writes[*write].works[*work];
                Failure::Refused(check_failed_at(work, *at, self.bindings.protocol), field)
            }
            _ => Failure::Database(error, field),
        }
    }

    fn field(&self, whose: Option<&Awaited>) -> u32 {
        let writes = &self.prepared.plan.writes;
        let last = writes.last().map_or(0, |it| it.field);
        match whose {
            Some(Awaited::Statement { write, .. } | Awaited::Below { write } | Awaited::Check { write }) => {
                writes[*write].field
            }
            None => last,
        }
    }

    /// Sums up the results of a field's works.
    fn count(&mut self, write: usize) {
        let mut first = 0;
        for work in &mut self.done[write].works {
            work.first = first;
            work.affected = 0;
            for answer in &work.answers {
                let Some(rows) = &answer.rows else { continue };
                work.affected += rows.affected as i64;
                first += if answer.shown { rows.iter().count() } else { 0 };
            }
        }
    }
}

/// The root fields, in order.
fn root_writes(prepared: &Prepared) -> impl Iterator<Item = usize> {
    let plan = &prepared.plan;
    plan.members[plan.root.range()].iter().filter_map(|member| match member.kind {
        MemberKind::Write(write) => Some(write as usize),
        _ => None,
    })
}

/// Ways to send a mutation of at most one statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Single {
    /// The statement may share its transaction with others.
    Sharable,
    /// A function may affect the whole transaction, so the statement runs alone.
    Alone,
}

/// How to send a mutation of at most one statement with a certain answer; `None` for others.
pub(crate) fn single(prepared: &Prepared, form: &Form) -> Option<Single> {
    if prepared.may_fail.contains(&true) || !prepared.row_checks.is_empty() || prepared.is_sequential {
        return None;
    }
    let mut writes = root_writes(prepared);
    let (write, None) = (writes.next()?, writes.next()) else { return None };
    let [work] = prepared.plan.writes[write].works.as_slice() else { return None };
    let change = match work {
        Work::Nothing => return Some(Single::Alone),
        Work::Change(change) => *change,
        Work::Insert(steps) if steps.len() == 1 => steps[0].change,
        Work::Each { slot, steps }
            if steps.len() == 1 && form.rows(*slot).is_some_and(|rows| rows.len == 1) =>
        {
            steps[0].change
        }
        Work::Insert(_) | Work::Each { .. } | Work::Program { .. } => return None,
    };
    if prepared.below[write].is_some() {
        return None;
    }
    Some(match prepared.plan.changes[change as usize] {
        Change::Insert(_) | Change::Update(_) | Change::Delete(_) => Single::Sharable,
        Change::Call(_) => Single::Alone,
    })
}

/// Index of the failed statement.
fn statement(error: &Error) -> Option<usize> {
    match error {
        Error::Database { statement, .. } => Some(*statement as usize),
        _ => None,
    }
}

/// After how many others each step comes.
fn waves(steps: &[Step]) -> Vec<u32> {
    let mut waves: Vec<u32> = Vec::with_capacity(steps.len());
    for step in steps {
        let after = step.values.iter().filter_map(|given| match given {
            Given::Returned { step, .. } => Some(waves[*step as usize] + 1),
            Given::Null | Given::Parameter(_) => None,
        });
        waves.push(after.max().unwrap_or(0));
    }
    waves
}

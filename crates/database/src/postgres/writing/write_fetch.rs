//! A piece of a mutation, prepared: run in one transaction on a connection of its own, answered after the commit.
//!
//! A transaction that lost a race with others is run again from its beginning: nothing of it was answered.

use super::runner::{Failure, Runner, Single, single};
use crate::exec::driver::PlannedFetch;
use crate::exec::errors::{with_message, with_path};
use crate::exec::output::answer::{TooLong, committed_value_error};
use crate::exec::output::response_writer::ResponseWriter;
use crate::exec::output::row_collector::RowCollector;
use crate::exec::output::written_rows::undoing_errors;
use crate::exec::plans::shard_refusals;
use crate::postgres::driver::{PostgresDriver, PostgresFetch};
use crate::postgres::retry::Retry;
use crate::postgres::statements::result_rows::ResultRows;
use crate::postgres::statements::result_set::ResultSet;
use crate::postgres::statements::written_rows::Done;
use crate::postgres::values::bind::{Target, push};
use std::time::Instant;
use weir_engine::source::{FetchBody, FetchResult, SourceError};
use weir_postgres::bulkhead::Cause;
use weir_postgres::error::Error;
use weir_postgres::statement::Parameters;
use weir_postgres::transaction::Isolation;
use weir_postgres::write_route::WriteRoute;
use weir_relational::plan::Plan;

/// Runs the root fields in one transaction.
pub(crate) async fn write(run: &PlannedFetch<'_, PostgresDriver>) -> Result<FetchResult, SourceError> {
    run.fetch.state.driver.session.check_role(&run.input)?;
    check_unmoved(run)?;
    let mut retry = Retry::new(run.fetch.state.driver.dialect.flavour, run.input.deadline);
    loop {
        match transact(run, &mut retry).await {
            Err(Failure::Database(error, _)) if error.is_retryable() && retry.wait_for_retry().await => {}
            Err(failure) => {
                let plan = &run.prepared.plan;
                return Err(with_path(failure.into_error(run.fetch, plan), plan));
            }
            Ok(reply) => return Ok(reply),
        }
    }
}

/// Refuses a mutation that would move rows to another shard.
fn check_unmoved(run: &PlannedFetch<'_, PostgresDriver>) -> Result<(), SourceError> {
    let unmoved = &run.prepared.plan.unmoved;
    if unmoved.is_empty() {
        return Ok(());
    }
    let fetch = run.fetch;
    let bindings = run.bindings(&[]);
    let frontend = &*fetch.state.frontend;
    let types = &fetch.state.driver.dialect.types;
    for it in unmoved {
        let field = Some(it.refusal.field);
        let of = &it.refusal;
        let oid = frontend.relations().catalog.table(of.table).column(of.column).oid;
        let bound = |value| {
            let mut bytes = Parameters::default();
            push(&bindings, Target { types, oid }, value, &mut bytes).map(|()| bytes)
        };
        let both = bound(&it.found_by).and_then(|one| Ok((one, bound(&it.set_to)?)));
        let (found_by, set_to) = both.map_err(|error| SourceError::Rejected { error: *error, field })?;
        if found_by.as_bytes() != set_to.as_bytes() {
            let error = shard_refusals::shard_refusal(of, frontend, &fetch.ask.facts, fetch.ask.protocol);
            return Err(with_path(SourceError::Rejected { error, field }, &run.prepared.plan));
        }
    }
    Ok(())
}

impl Failure {
    /// Converts the failure; the configuration may have its own message for a constraint.
    pub(crate) fn into_error(self, fetch: &PostgresFetch, plan: &Plan) -> SourceError {
        match self {
            Self::Database(error, field) => {
                let error = fetch.on_one_node(error, Some(plan), field);
                let name = error.violated_constraint();
                let error = fetch.source_error(error, field, Some(plan));
                with_message(error, name, &fetch.ask.facts, &*fetch.state.frontend)
            }
            Self::Refused(error, field) => SourceError::Rejected { error: *error, field: Some(field) },
            Self::Undone(errors) => SourceError::Undone(errors),
        }
    }
}

/// Runs it once. A single statement needs no session of its own before it is bound, and may share its transaction the first time.
async fn transact(run: &PlannedFetch<'_, PostgresDriver>, retry: &mut Retry) -> Result<FetchResult, Failure> {
    let pool = &*run.fetch.state.driver.pool;
    let deadline = run.input.deadline;
    let Some(single) = single(&run.prepared, &run.form) else {
        return Box::pin(in_session(run, retry)).await;
    };
    let settings = run.fetch.write_settings(&run.input);
    if retry.is_first() && single == Single::Sharable && pool.has_groups() {
        let settings = settings.clone();
        let way = WriteRoute::Single { pool, pushed: None, settings, is_shared: true };
        match run_statements(run, way, deadline).await {
            Err(Failure::Database(Error::Undone, _)) => {}
            done => return done,
        }
    }
    let way = WriteRoute::Single { pool, pushed: None, settings, is_shared: false };
    run_statements(run, way, deadline).await
}

async fn in_session(
    run: &PlannedFetch<'_, PostgresDriver>,
    retry: &mut Retry,
) -> Result<FetchResult, Failure> {
    let field = run.fetch.first_field();
    let failed = |error| Failure::Database(error, field);
    let pool = &run.fetch.state.driver.pool;
    let deadline = run.input.deadline;
    let settings = run.fetch.write_settings(&run.input);
    let mut gate = pool.gate(Cause::Change, &run.prepared.locks, deadline);
    loop {
        let patience = gate.enter().await.map_err(failed)?;
        let mut session = pool.session_with(patience, deadline).await.map_err(failed)?;
        let end = session.statement_end(deadline);
        retry.begin(&mut session, Isolation::ReadCommitted, settings.as_deref());
        if run.prepared.is_sequential {
            session.change_in_sequence();
        }
        let done = loop {
            let done = run_statements(run, WriteRoute::Session(&mut session), end).await;
            let error = done.as_ref().err().and_then(Failure::database);
            if !retry.restart(&mut session, error, end).await {
                break done;
            }
        };
        match done {
            // Release the transaction's locks before the client receives the error.
            Err(Failure::Undone(_) | Failure::Refused(..)) => session.rollback().await,
            _ => drop(session),
        }
        if !gate.should_retry(done.as_ref().err().and_then(Failure::database)) {
            return done;
        }
    }
}

/// Runs the statements and makes their answer: before the commit, if that can fail.
async fn run_statements(
    run: &PlannedFetch<'_, PostgresDriver>,
    way: WriteRoute<'_>,
    deadline: Instant,
) -> Result<FetchResult, Failure> {
    let runner = Runner::new(&run.prepared, run.bindings(&[]), &run.fetch.state.driver, way, deadline);
    if run.prepared.may_fail.contains(&true) {
        let too_long = |it: TooLong| Failure::Refused(Box::new(it.field_error()), it.field);
        return runner
            .run_answering(|done| {
                let reply = answer(run, done).map_err(too_long)?;
                if reply.errors.is_empty() { Ok(reply) } else { Err(Failure::Undone(reply.errors)) }
            })
            .await;
    }
    let done = runner.run().await?;
    let reply = answer(run, &done);
    let reply = reply.map_err(|it| Failure::Refused(Box::new(it.of_mutation()), it.field))?;
    match reply.errors.first() {
        None => Ok(reply),
        Some(error) => Err(Failure::Refused(Box::new(committed_value_error(error)), run.fetch.first_field())),
    }
}

fn answer(run: &PlannedFetch<'_, PostgresDriver>, done: &[Done<'_>]) -> Result<FetchResult, TooLong> {
    let prepared = &**run.prepared;
    let below = done.iter().zip(&prepared.below);
    let below = below.map(|(done, below)| Some(ResultSet::new(&below.as_ref()?.asked, done.below.as_ref()?)));
    let below: Vec<Option<ResultSet<'_>>> = below.collect();
    let source = ResultRows::of_mutation(prepared, done, &below);
    if run.fetch.rows {
        let rows = RowCollector::new(source, &prepared.plan, run.names()).collect(None)?;
        let errors = undoing_errors(&rows, &prepared.plan);
        return Ok(FetchResult { body: FetchBody::Rows(rows), errors, cache_control: None });
    }
    let (finished, errors) = ResponseWriter::new(source, &prepared.plan, run.names(), 256).finish()?;
    Ok(FetchResult { body: FetchBody::Finished(finished), errors, cache_control: None })
}

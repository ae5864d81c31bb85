//! A piece of a mutation, prepared: run in one transaction on a connection of its own, answered after the commit.
//!
//! A transaction that lost a race with others is run again from its beginning: nothing of it was answered.

use super::bulkhead::Cause;
use super::error::{Error, source_error};
use super::fetch::Reading;
use super::prepared::Prepared;
use super::result_set::ResultSet;
use super::row_source::ResultRows;
use super::way::Way;
use super::write::{Done, Failure, Runner, Single, single};
use crate::exec::response_writer::ResponseWriter;
use crate::exec::write_errors::with_message;
use crate::exec::write_errors::with_path;
use crate::frontend::form::Form;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::source::{BoxFuture, Fetch, FetchInput, Reply, ReplyBody, SourceError, Tag};

/// So often a transaction is begun.
pub(super) const TRIES_MAX: u32 = 4;

/// See the module's words.
pub(super) struct WriteFetch {
    pub(super) inner: Arc<Reading>,
    pub(super) tags: Vec<Tag>,
}

impl WriteFetch {
    async fn run(&self, input: FetchInput<'_>) -> Result<Reply, SourceError> {
        let reading = &self.inner;
        if let Some(planning) = reading.plan_aside(&input) {
            planning.await?;
        }
        let (prepared, form) = reading.plan(input.shape, input.variables)?;
        let mut tries = 0;
        loop {
            tries += 1;
            match self.transact(&prepared, &form, &input, tries).await {
                Err(Failure::Database(error, _)) if tries < TRIES_MAX && error.is_retryable() => {
                    tokio::time::sleep(pause(tries)).await;
                }
                Err(failure) => {
                    let accent = reading.ask.accent;
                    let error = match failure {
                        Failure::Database(error, field) => {
                            let name = error.violated();
                            let is_tracked =
                                |schema: &str, table: &str| reading.shared.is_tracked(schema, table);
                            let error = source_error(error, accent, Some(field), &is_tracked);
                            with_message(error, name, &*reading.shared.frontend)
                        }
                        Failure::Refused(error, field) => {
                            SourceError::Rejected { error: *error, field: Some(field) }
                        }
                    };
                    return Err(with_path(error, &prepared.plan));
                }
                Ok(reply) => return Ok(reply),
            }
        }
    }

    /// Runs it once. A single statement needs no session of its own before it is bound, and may share its transaction the
    /// first time.
    async fn transact(
        &self,
        prepared: &Prepared,
        form: &Form,
        input: &FetchInput<'_>,
        tries: u32,
    ) -> Result<Reply, Failure> {
        let reading = &self.inner;
        let pool = &*reading.shared.pool;
        let Some(single) = single(prepared, form) else {
            return Box::pin(self.in_session(prepared, form, input)).await;
        };
        if tries == 1 && single == Single::Sharable && pool.has_groups() {
            let way = Way::Single { pool, pushed: None, is_shared: true };
            match self.work(prepared, form, input, way, input.deadline).await {
                Err(Failure::Database(Error::Undone, _)) => {}
                done => return answer(reading, prepared, &done?, input),
            }
        }
        let way = Way::Single { pool, pushed: None, is_shared: false };
        let done = self.work(prepared, form, input, way, input.deadline).await?;
        answer(reading, prepared, &done, input)
    }

    async fn in_session(
        &self,
        prepared: &Prepared,
        form: &Form,
        input: &FetchInput<'_>,
    ) -> Result<Reply, Failure> {
        let reading = &self.inner;
        let field = reading.ask.fields.first().copied().unwrap_or(0);
        let failed = |error| Failure::Database(error, field);
        let pool = &reading.shared.pool;
        let mut gate = pool.gate(Cause::Change, &prepared.locks, input.deadline);
        loop {
            let patience = gate.enter().await.map_err(failed)?;
            let mut session = pool.session_with(patience, input.deadline).await.map_err(failed)?;
            let end = session.statement_end(input.deadline);
            let done = self.work(prepared, form, input, Way::Session(&mut session), end).await;
            drop(session);
            if !gate.again(done.as_ref().err().and_then(Failure::database)) {
                return answer(reading, prepared, &done?, input);
            }
        }
    }

    async fn work<'r>(
        &'r self,
        prepared: &'r Prepared,
        form: &'r Form,
        input: &FetchInput<'r>,
        way: Way<'_>,
        deadline: Instant,
    ) -> Result<Vec<Done<'r>>, Failure> {
        let reading = &self.inner;
        let bindings = reading.bindings(input.shape, input.variables, form, &[]);
        Runner::new(prepared, bindings, &reading.shared.dialect.types, way, deadline).run().await
    }
}

fn answer(
    reading: &Reading,
    prepared: &Prepared,
    done: &[Done<'_>],
    input: &FetchInput<'_>,
) -> Result<Reply, Failure> {
    let below: Vec<Option<ResultSet<'_>>> = done
        .iter()
        .zip(&prepared.below)
        .map(|(done, below)| Some(ResultSet::new(&below.as_ref()?.asked, done.below.as_ref()?)))
        .collect();
    let source = ResultRows::done(prepared, done, &below);
    let finished = ResponseWriter::new(source, &prepared.plan, reading.names(input.shape), 256).finish();
    let (finished, errors) = finished.map_err(|it| Failure::Refused(Box::new(it.of_mutation()), it.field))?;
    Ok(Reply { body: ReplyBody::Finished(finished), errors, freshness: None })
}

/// Pause before try number `tries` plus one, with jitter.
pub(super) fn pause(tries: u32) -> Duration {
    let random = RandomState::new().build_hasher().finish();
    Duration::from_micros((random % 4000) << tries)
}

impl Fetch for WriteFetch {
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

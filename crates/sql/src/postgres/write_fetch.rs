//! A piece of a mutation, prepared: run in one transaction on a connection of its own, answered after the commit.
//!
//! A transaction that lost a race with others is run again from its beginning: nothing of it was answered.

use super::error::{Error, source_error};
use super::fetch::Reading;
use super::finish::{At, Finisher};
use super::found::Found;
use super::prepared::Prepared;
use super::session::Purpose;
use super::way::Way;
use super::write::{Done, Failure, Runner, is_sharable};
use crate::relational::change::with_path;
use crate::relational::form::Form;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::time::Duration;
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
        let (prepared, form) = reading.plan(input.shape, input.variables)?;
        let mut tries = 0;
        loop {
            tries += 1;
            let done = match tries {
                1 => self.in_company(&prepared, &form, &input).await,
                _ => self.transact(&prepared, &form, &input).await,
            };
            match done {
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
                            reading.shared.style.model().in_own_words(error, name)
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

    /// Shares a transaction with others if that may be, else has one alone.
    async fn in_company(
        &self,
        prepared: &Prepared,
        form: &Form,
        input: &FetchInput<'_>,
    ) -> Result<Reply, Failure> {
        let reading = &self.inner;
        let pool = &*reading.shared.pool;
        if !pool.has_groups() || !is_sharable(prepared, form) {
            return self.transact(prepared, form, input).await;
        }
        let bindings = reading.bindings(input.shape, input.variables, form, &[]);
        let way = Way::Shared { pool, pushed: None };
        let runner = Runner::new(prepared, bindings, &reading.shared.dialect.types, way, input.deadline);
        match runner.run().await {
            Err(Failure::Database(Error::Undone, _)) => self.transact(prepared, form, input).await,
            done => answer(reading, prepared, &done?, input),
        }
    }

    async fn transact(
        &self,
        prepared: &Prepared,
        form: &Form,
        input: &FetchInput<'_>,
    ) -> Result<Reply, Failure> {
        let reading = &self.inner;
        let bindings = reading.bindings(input.shape, input.variables, form, &[]);
        let field = reading.ask.fields.first().copied().unwrap_or(0);
        let session = reading.shared.pool.session(Purpose::Write, input.deadline).await;
        let mut session = session.map_err(|error| Failure::Database(error, field))?;
        let way = Way::Own(&mut session);
        let runner = Runner::new(prepared, bindings, &reading.shared.dialect.types, way, input.deadline);
        let done = runner.run().await?;
        drop(session);
        answer(reading, prepared, &done, input)
    }
}

fn answer(
    reading: &Reading,
    prepared: &Prepared,
    done: &[Done<'_>],
    input: &FetchInput<'_>,
) -> Result<Reply, Failure> {
    let found: Vec<Option<Found<'_>>> = done
        .iter()
        .zip(&prepared.below)
        .map(|(done, below)| Some(Found::new(&below.as_ref()?.asked, done.below.as_ref()?)))
        .collect();
    let task = reading.task(prepared, input.shape);
    let finished = Finisher::new(task, 256).finish(At::Changes(done, &found));
    let (finished, errors) = finished.map_err(|it| Failure::Refused(Box::new(it.of_mutation()), it.field))?;
    Ok(Reply { body: ReplyBody::Finished(finished), errors })
}

/// How long to wait before try number `tries` plus one, never twice the same.
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
}

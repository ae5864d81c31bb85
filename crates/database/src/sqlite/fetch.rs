//! Reads, inline or in the side pool.
//!
//! **Invariant:** all statements of a run see one snapshot: a run of several is one read transaction.
//!
//! **Cost:** a warm run takes the thread's connection and allocates the answer's buffer and the future.

use super::driver::SqliteDriver;
use super::errors::source_error;
use super::prepared::{Class, PAGE_ROWS_MAX, SLOW_RUNS_MAX, SqlitePlan};
use super::runs::run_failure::RunFailure;
use super::runs::sink::Sink;
use super::runs::statements::Statements;
use super::values::bind;
use crate::exec::bindings::Bindings;
use crate::exec::driver::{PlannedFetch, RelationalFetch};
use crate::exec::output::response_writer::ResponseWriter;
use crate::exec::output::row_collector::RowCollector;
use crate::exec::output::stream_batch::{self, Batch};
use crate::exec::output::written_rows::undoing_errors;
use crate::frontend::form::Form;
use rusqlite::Connection;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use weir_engine::caller::Claims;
use weir_engine::plan::output_plan::OutputPlan;
use weir_engine::rows::{Column, Rows};
use weir_engine::source::{BoxFuture, FetchBody, FetchInput, FetchResult, SourceError, StreamRead};
use weir_language::value::Variables;
use weir_relational::plan::Plan;
use weir_sqlite::connection::reader;
use weir_sqlite::pool::Turns;

/// A plan that takes longer on the event loop several times in a row leaves it for good.
const INLINE_MAX: Duration = Duration::from_millis(10);
/// Spare bytes of an answer's buffer beyond the length of the last answer: a text is written where all of it could be escaped.
const ROOM_BYTES: usize = 512;

/// The owned inputs of a run on another thread.
pub(super) struct OwnedRun {
    pub(super) fetch: Arc<RelationalFetch<SqliteDriver>>,
    pub(super) prepared: Arc<SqlitePlan>,
    form: Form,
    claims: Arc<Claims>,
    output: Arc<OutputPlan>,
    variables: Arc<Variables>,
    parent_keys: Option<Vec<Column>>,
    /// Objects that were looked up.
    shown: Vec<i64>,
    stream: Option<Arc<StreamRead>>,
    deadline: Instant,
}

impl OwnedRun {
    pub(super) fn of(run: &PlannedFetch<'_, SqliteDriver>, shown: Vec<i64>) -> Self {
        let input = &run.input;
        Self {
            fetch: Arc::clone(run.fetch),
            prepared: Arc::clone(&run.prepared),
            form: run.form.clone(),
            claims: Arc::clone(input.caller.claims()),
            output: Arc::clone(input.output),
            variables: Arc::clone(input.variables),
            parent_keys: input.parent_keys.map(<[Column]>::to_vec),
            shown,
            stream: input.stream.cloned(),
            deadline: input.deadline,
        }
    }

    pub(super) fn bindings(&self) -> Bindings<'_> {
        let keys = self.parent_keys.as_deref().unwrap_or_default();
        let bindings = self.fetch.bindings(&self.output, &self.variables, &self.form, keys, &self.claims);
        Bindings { shown: &self.shown, stream: self.stream.as_ref(), ..bindings }
    }
}

impl RelationalFetch<SqliteDriver> {
    /// Runs `prepared` on `connection`. `None`: the answer has left through the sink.
    pub(super) fn answer(
        &self,
        connection: &Connection,
        prepared: &SqlitePlan,
        bindings: Bindings<'_>,
        keys: Option<usize>,
        sink: Option<&mut Sink>,
    ) -> Result<Option<FetchResult>, RunFailure> {
        let mut statements = Statements::new(connection, prepared, bindings);
        let plan = &prepared.plan;
        let names = self.names(bindings.output);
        if self.rows {
            return self.collect(statements, keys, sink);
        }
        let capacity = self.answer_bytes.load(Ordering::Relaxed);
        statements.sink = sink.filter(|_| self.streams && !plan.root_copied);
        if statements.sink.is_some() {
            statements.check_values()?;
        }
        let mut writer = ResponseWriter::new(statements, plan, names, capacity);
        writer.batch = Batch::of(bindings.stream);
        let (finished, errors) = writer.finish()?;
        report_stream_end(&writer.batch, plan, &bindings);
        if let Some(sink) = writer.source.sink.filter(|it| it.has_flushed()) {
            sink.end(finished.bytes, errors)?;
            return Ok(None);
        }
        let bytes = finished.bytes.len();
        let next = bytes + bytes / 8 + ROOM_BYTES;
        // Answers of about one size leave the number alone: all threads read it.
        if bytes + ROOM_BYTES > capacity || 2 * next < capacity {
            self.answer_bytes.store(next, Ordering::Relaxed);
        }
        Ok(Some(FetchResult { body: FetchBody::Finished(finished), errors, cache_control: None }))
    }

    /// Collects rows. `None`: they have left through the sink.
    fn collect<'r>(
        &self,
        mut statements: Statements<'_, 'r>,
        keys: Option<usize>,
        sink: Option<&'r mut Sink>,
    ) -> Result<Option<FetchResult>, RunFailure> {
        let plan = &statements.prepared.plan;
        let bindings = statements.bindings;
        let first_items = sink.as_ref().and_then(|it| it.first_items).filter(|_| self.streams);
        if first_items.is_some() {
            statements.sink = sink;
            statements.check_values()?;
        }
        let mut collector = RowCollector::new(statements, plan, self.names(bindings.output));
        collector.batch = Batch::of(bindings.stream);
        let rows = match first_items {
            Some(first_items) => collector.collect_in_batches(first_items)?,
            None => Some(collector.collect(keys)?),
        };
        report_stream_end(&collector.batch, plan, &bindings);
        let reply = |rows: Rows| {
            let errors = if plan.writes.is_empty() { Vec::new() } else { undoing_errors(&rows, plan) };
            FetchResult { body: FetchBody::Rows(rows), errors, cache_control: None }
        };
        Ok(rows.map(reply))
    }

    /// Answers like [`Self::answer`], with all statements in one snapshot.
    fn snapshot(
        &self,
        connection: &Connection,
        prepared: &SqlitePlan,
        bindings: Bindings<'_>,
        keys: Option<usize>,
        sink: Option<&mut Sink>,
    ) -> Result<Option<FetchResult>, RunFailure> {
        if prepared.statements.len() < 2 && keys.is_none() {
            return self.answer(connection, prepared, bindings, keys, sink);
        }
        let command = |sql: &str| {
            let run = connection.prepare_cached(sql).and_then(|mut it| it.raw_execute());
            run.map_err(|error| RunFailure::Sqlite(error, self.first_field()))
        };
        if !connection.is_autocommit() {
            // A run that panicked has left its snapshot open.
            command("ROLLBACK")?;
        }
        command("BEGIN")?;
        let answer = self.answer(connection, prepared, bindings, keys, sink);
        let end = command("COMMIT");
        let answer = answer?;
        end?;
        Ok(answer)
    }

    /// Runs `prepared` on the event loop; `None`: it takes long and has to restart in the pool.
    fn run_inline(
        &self,
        input: &FetchInput<'_>,
        prepared: &SqlitePlan,
        bindings: Bindings<'_>,
    ) -> Option<Result<FetchResult, SourceError>> {
        let reader = match reader(&self.state.driver.database) {
            Ok(reader) => reader,
            Err(error) => return Some(Err(source_error(error, self.ask.protocol, None))),
        };
        let start = Instant::now();
        reader.watch.extend(input.deadline);
        reader.watch.begin(start, None);
        let keys = input.parent_keys.map(key_count);
        let answer = self.snapshot(&reader.connection, prepared, bindings, keys, None);
        let is_moved = reader.watch.finish();
        let slow = start.elapsed() > INLINE_MAX;
        let before = prepared.slow_runs.load(Ordering::Relaxed);
        if slow || before > 0 {
            prepared.slow_runs.store(if slow { before + 1 } else { 0 }, Ordering::Relaxed);
        }
        match answer {
            _ if is_moved => None,
            Ok(Some(reply)) => Some(Ok(reply)),
            Ok(None) => Some(Err(SourceError::Broken("an inline answer cannot stream".into()))),
            Err(failure) => Some(Err(failure.into_error(self.ask.protocol))),
        }
    }
}

impl OwnedRun {
    /// Runs on a thread of the pool. If it takes long and `may_move`, it restarts when there is room for it.
    fn run(self, sink: Sink, cancelled: Arc<AtomicBool>, may_move: bool) {
        let mut sink = sink;
        let turns = sink.turns.clone();
        match self.run_once(&mut sink, &cancelled, may_move.then_some(&turns)) {
            Some(Ok(Some(reply))) => sink.answer(Ok(reply)),
            Some(Err(error)) => sink.answer(Err(error)),
            // The answer has left through the sink.
            Some(Ok(None)) => {}
            None if turns.is_full() => sink.answer(Err(SourceError::Busy)),
            None => turns.queue_long_job(Box::new(move || self.run(sink, cancelled, false))),
        }
    }

    /// Runs the fetch. `None`: the run takes long and has to start again.
    fn run_once(
        &self,
        sink: &mut Sink,
        cancelled: &Arc<AtomicBool>,
        turns: Option<&Turns>,
    ) -> Option<Result<Option<FetchResult>, SourceError>> {
        if cancelled.load(Ordering::Relaxed) || Instant::now() >= self.deadline {
            return Some(Err(SourceError::Timeout));
        }
        let fetch = &*self.fetch;
        let reader = match reader(&fetch.state.driver.database) {
            Ok(reader) => reader,
            Err(error) => return Some(Err(source_error(error, fetch.ask.protocol, None))),
        };
        reader.watch.set(Some(self.deadline), Some(cancelled));
        if turns.is_some() {
            reader.watch.begin(Instant::now(), turns);
        }
        sink.set_watch(&reader.watch);
        let count = self.parent_keys.as_ref().map(|it| key_count(it));
        let answer = fetch.snapshot(&reader.connection, &self.prepared, self.bindings(), count, Some(sink));
        // A run that was stopped in its last step has an answer; it is dropped, because the run restarts.
        let is_moved = reader.watch.finish();
        (!is_moved).then(|| answer.map_err(|failure| failure.into_error(fetch.ask.protocol)))
    }
}

/// Tells a stream where its batch ends.
fn report_stream_end(batch: &Batch, plan: &Plan, bindings: &Bindings<'_>) {
    if let Some(stream) = bindings.stream {
        batch.report_end(stream, stream_batch::rows_max(plan, bindings));
    }
}

fn key_count(keys: &[Column]) -> usize {
    use weir_engine::rows::Data;
    keys.first().map_or(1, |column| match &column.data {
        Data::Bool(values) => values.len(),
        Data::Int(values) => values.len(),
        Data::Float(values) => values.len(),
        Data::Text(texts) | Data::Json(texts) => texts.ends.len(),
        Data::Empty | Data::List { .. } | Data::Object(_) | Data::Abstract(_) | Data::Foreign(_) => 0,
    })
}

/// True if all of `prepared`'s pages are small enough for the event loop.
fn is_short(prepared: &SqlitePlan, bindings: &Bindings<'_>) -> bool {
    let Class::Short(limits) = &prepared.class else { return false };
    let small = |it: &weir_relational::plan::Parameter| {
        matches!(bind::value(bindings, it, 0), Ok(bind::SqliteValue::Int(0..=PAGE_ROWS_MAX)))
    };
    prepared.slow_runs.load(Ordering::Relaxed) < SLOW_RUNS_MAX && limits.iter().all(small)
}

/// Cancels when the future is dropped.
struct CancelOnDrop {
    cancelled: Arc<AtomicBool>,
    armed: bool,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if self.armed {
            self.cancelled.store(true, Ordering::Relaxed);
        }
    }
}

/// Reads; `shown` are the objects that were looked up.
pub(super) fn read<'r>(
    run: &PlannedFetch<'r, SqliteDriver>,
    shown: Vec<i64>,
) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
    let fetch = run.fetch;
    let input = &run.input;
    let prepared = &**run.prepared;
    let bindings = run.bindings(&shown);
    let few_keys = input.parent_keys.is_none_or(|it| key_count(it) <= PAGE_ROWS_MAX as usize);
    if few_keys
        && is_short(prepared, &bindings)
        && let Some(reply) = fetch.run_inline(input, prepared, bindings)
    {
        return Box::pin(std::future::ready(reply));
    }
    let (sender, receiver) = oneshot::channel();
    let cancelled = Arc::new(AtomicBool::new(false));
    let guard = CancelOnDrop { cancelled: Arc::clone(&cancelled), armed: true };
    let pool = &fetch.state.driver.pool;
    let sink = Sink::new(sender, pool.turns(), input);
    let owned = OwnedRun::of(run, shown);
    if !pool.submit(Box::new(move || owned.run(sink, cancelled, true))) {
        return Box::pin(std::future::ready(Err(SourceError::Busy)));
    }
    Box::pin(async move {
        let mut guard = guard;
        let reply = receiver.await;
        // A stream goes on after its first part, so only an unanswered job is cancelled.
        guard.armed = false;
        reply.unwrap_or_else(|_| Err(SourceError::Broken("a job ended without an answer".into())))
    })
}

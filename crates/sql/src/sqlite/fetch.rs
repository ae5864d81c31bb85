//! A piece of reading, prepared: finds its plan by the form of the structural variables and runs it, inline or in the
//! side pool.
//!
//! **Invariant:** all statements of a run see one snapshot: a run of several is one read transaction.
//!
//! **Cost:** a warm run looks up its plan (nothing without structural variables), takes the thread's connection and
//! allocates the answer's buffer and the future.

use super::bind;
use super::connection::reader;
use super::pool::Turns;
use super::prepared::{Class, PAGE_ROWS_MAX, Prepared, SLOW_RUNS_MAX};
use super::run::{Failure, Statements};
use super::sink::Sink;
use super::source::Shared;
use crate::exec::answer::Names;
use crate::exec::bind::Bindings;
use crate::exec::forms::{CHEAP_NODES_MAX, Forms, Planning};
use crate::exec::program::{Answers, Call, Lock};
use crate::exec::response_writer::ResponseWriter;
use crate::exec::row_collector::RowCollector;
use crate::frontend::Ask;
use crate::frontend::form::{Form, form};
use crate::frontend::plan;
use rusqlite::Connection;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use weir_engine::plan::shape::Shape;
use weir_engine::rows::Column;
use weir_engine::source::{BoxFuture, Fetch, FetchInput, Ids, PlanError, Reply, ReplyBody, SourceError, Tag};
use weir_language::value::Variables;
use weir_relational::plan::describe;

/// A plan that takes longer on the event loop several times in a row leaves it for good.
const INLINE_MAX: Duration = Duration::from_millis(10);
/// Bytes beyond the last answer's that the next one's buffer has: a text is written where all of it could be escaped.
const ROOM_BYTES: usize = 512;

/// See the module's words.
pub(super) struct ReadFetch {
    pub(super) inner: Arc<Reading>,
    pub(super) tags: Vec<Tag>,
}

/// Constants of a fetch, shared by its runs.
pub(super) struct Reading {
    pub(super) shared: Arc<Shared>,
    pub(super) ids: Arc<Ids>,
    pub(super) ask: Ask,
    pub(super) rows: bool,
    pub(super) streams: bool,
    pub(super) forms: Forms<Prepared>,
    /// Bytes of the last answer: the next one's first capacity.
    pub(super) answer_bytes: AtomicUsize,
}

/// One run's own.
struct Run {
    prepared: Arc<Prepared>,
    form: Form,
    shape: Arc<Shape>,
    variables: Arc<Variables>,
    parent_keys: Option<Vec<Column>>,
    /// Objects whose password matched.
    shown: Vec<i64>,
    deadline: Instant,
    hold_back_bytes: usize,
}

impl Reading {
    /// The plan for the form of `variables`; borrowed where there is but one, as counting its users would have all
    /// threads write to one place.
    pub(super) fn plan(
        &self,
        shape: &Shape,
        variables: &Variables,
    ) -> Result<(Cow<'_, Arc<Prepared>>, Form), SourceError> {
        if let Some(fixed) = self.forms.fixed() {
            return Ok((Cow::Borrowed(fixed), Form::default()));
        }
        let frontend = &*self.shared.frontend;
        let form = form(&self.ask, variables, frontend, &self.ids);
        let make = || {
            plan(frontend, &self.ids, shape, &self.ask, Some((variables, &form)))
                .map(|plan| self.shared.prepare(plan))
                .map_err(|it| SourceError::Rejected { error: it.error, field: Some(it.field) })
        };
        let prepared = self.forms.find(&form, make)?;
        Ok((Cow::Owned(prepared), form))
    }

    /// Makes the plan of a request in the side pool, if it is new and takes long; then it is known.
    pub(super) fn plan_aside(self: &Arc<Self>, input: &FetchInput<'_>) -> Option<Planning> {
        if self.forms.fixed().is_some() || input.variables.values.nodes.len() <= CHEAP_NODES_MAX {
            return None;
        }
        let form = form(&self.ask, input.variables, &*self.shared.frontend, &self.ids);
        if !self.forms.is_costly(&form) {
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        let (reading, shape, variables) =
            (Arc::clone(self), Arc::clone(input.shape), Arc::clone(input.variables));
        let job = Box::new(move || {
            // Nobody waiting is no failure: the request was cancelled.
            let _ = sender.send(reading.plan(&shape, &variables).map(drop));
        });
        let is_waiting = self.shared.pool.submit(job);
        Some(Box::pin(async move {
            match is_waiting {
                true => {
                    receiver.await.unwrap_or_else(|_| Err(SourceError::Broken("planning panicked".into())))
                }
                false => Err(SourceError::Busy),
            }
        }))
    }

    pub(super) fn bindings<'r>(
        &'r self,
        shape: &'r Shape,
        variables: &'r Variables,
        form: &'r Form,
        parent_keys: &'r [Column],
    ) -> Bindings<'r> {
        let schema = self.shared.frontend.schema();
        let (ids, accent) = (&*self.ids, self.ask.accent);
        Bindings { schema, ids, shape, variables, form, row: (0, 0), parent_keys, shown: &[], accent }
    }

    /// Runs `prepared` on `connection`. `None`: the answer has left through the sink.
    pub(super) fn answer(
        &self,
        connection: &Connection,
        prepared: &Prepared,
        bindings: Bindings<'_>,
        keys: Option<usize>,
        sink: Option<&mut Sink>,
    ) -> Result<Option<Reply>, Failure> {
        let mut statements = Statements::new(connection, prepared, bindings);
        let Bindings { schema, ids, shape, .. } = bindings;
        let (plan, names) = (&prepared.plan, Names { schema, ids, shape });
        if self.rows {
            let rows = RowCollector::new(statements, plan, names).collect(keys)?;
            return Ok(Some(Reply { body: ReplyBody::Rows(rows), errors: Vec::new(), freshness: None }));
        }
        let capacity = self.answer_bytes.load(Ordering::Relaxed);
        statements.sink = sink.filter(|_| self.streams && !plan.root_copied);
        if statements.sink.is_some() {
            statements.check_values()?;
        }
        let mut writer = ResponseWriter::new(statements, plan, names, capacity);
        let (finished, errors) = writer.finish()?;
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
        Ok(Some(Reply { body: ReplyBody::Finished(finished), errors, freshness: None }))
    }

    /// As [`Reading::answer`], all statements in one snapshot.
    fn snapshot(
        &self,
        connection: &Connection,
        prepared: &Prepared,
        bindings: Bindings<'_>,
        keys: Option<usize>,
        sink: Option<&mut Sink>,
    ) -> Result<Option<Reply>, Failure> {
        if prepared.statements.len() < 2 && keys.is_none() {
            return self.answer(connection, prepared, bindings, keys, sink);
        }
        let command = |sql: &str| {
            let run = connection.prepare_cached(sql).and_then(|mut it| it.raw_execute());
            run.map_err(|error| Failure::Sqlite(error, self.ask.fields.first().copied().unwrap_or(0)))
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

    /// Runs `prepared` on the event loop; `None`: it takes long and has to begin anew in the pool.
    fn run_inline(
        &self,
        input: &FetchInput<'_>,
        prepared: &Prepared,
        bindings: Bindings<'_>,
    ) -> Option<Result<Reply, SourceError>> {
        let reader = match reader(&self.shared.database) {
            Ok(reader) => reader,
            Err(error) => return Some(Err(SourceError::Unavailable(Box::new(error)))),
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
            Err(failure) => Some(Err(failure.into_error(self.ask.accent))),
        }
    }

    /// Runs `call` on a thread of the pool. If it takes long and `may_move`, it begins anew when there is room for it.
    fn run_call(self: Arc<Self>, call: Run, sink: Sink, cancelled: Arc<AtomicBool>, may_move: bool) {
        let mut sink = sink;
        let turns = sink.turns.clone();
        match self.called(&call, &mut sink, &cancelled, may_move.then_some(&turns)) {
            Some(Ok(Some(reply))) => sink.answer(Ok(reply)),
            Some(Err(error)) => sink.answer(Err(error)),
            // The answer has left through the sink.
            Some(Ok(None)) => {}
            None if turns.is_full() => sink.answer(Err(SourceError::Busy)),
            None => turns.later(Box::new(move || self.run_call(call, sink, cancelled, false))),
        }
    }

    /// `None`: it takes long and has to begin anew.
    fn called(
        &self,
        call: &Run,
        sink: &mut Sink,
        cancelled: &Arc<AtomicBool>,
        turns: Option<&Turns>,
    ) -> Option<Result<Option<Reply>, SourceError>> {
        if cancelled.load(Ordering::Relaxed) || Instant::now() >= call.deadline {
            return Some(Err(SourceError::Timeout));
        }
        let reader = match reader(&self.shared.database) {
            Ok(reader) => reader,
            Err(error) => return Some(Err(SourceError::Unavailable(Box::new(error)))),
        };
        reader.watch.set(Some(call.deadline), Some(cancelled));
        if turns.is_some() {
            reader.watch.begin(Instant::now(), turns);
        }
        sink.watched(&reader.watch);
        let none = Vec::new();
        let keys = call.parent_keys.as_ref().unwrap_or(&none);
        let bindings = self.bindings(&call.shape, &call.variables, &call.form, keys);
        let bindings = Bindings { shown: &call.shown, ..bindings };
        let count = call.parent_keys.as_ref().map(|it| key_count(it));
        let answer = self.snapshot(&reader.connection, &call.prepared, bindings, count, Some(sink));
        // What was stopped in its last step has an answer, which nobody may see.
        let is_moved = reader.watch.finish();
        (!is_moved).then(|| answer.map_err(|failure| failure.into_error(self.ask.accent)))
    }
}

impl Reading {
    /// The relational plan.
    pub(super) fn describe(&self, out: &mut String) {
        match self.forms.fixed() {
            Some(prepared) => describe(&prepared.plan, self.shared.frontend.relations(), out),
            None => out.push_str("made when the variables that choose columns and conditions are known\n"),
        }
    }

    /// The statements, changes first, each under what it is for.
    pub(super) fn explain(&self, out: &mut String) {
        let Some(prepared) = self.forms.fixed() else {
            out.push_str("-- written when the variables that choose columns and conditions are known\n");
            return;
        };
        let plan = &prepared.plan;
        let changes = prepared.changes.iter().zip(&plan.changes).map(|(it, of)| {
            (self.shared.frontend.relations().catalog.table(of.table()).name.as_str(), it.sql.as_str())
        });
        let levels = plan
            .levels_in_order()
            .into_iter()
            .map(|at| (plan.levels[at].path.as_str(), prepared.statements[at].statement.sql.as_str()));
        for (at, (words, sql)) in changes.chain(levels).enumerate() {
            if at > 0 {
                out.push('\n');
            }
            out.push_str(&format!("-- {words}\n{sql}\n"));
        }
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
fn is_short(prepared: &Prepared, bindings: &Bindings<'_>) -> bool {
    let Class::Short(limits) = &prepared.class else { return false };
    let small = |it: &weir_relational::plan::Parameter| {
        matches!(bind::value(bindings, it, 0), Ok(bind::Bound::Int(0..=PAGE_ROWS_MAX)))
    };
    prepared.slow_runs.load(Ordering::Relaxed) < SLOW_RUNS_MAX && limits.iter().all(small)
}

/// Cancels when the future is dropped.
struct Guard {
    cancelled: Arc<AtomicBool>,
    armed: bool,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.armed {
            self.cancelled.store(true, Ordering::Relaxed);
        }
    }
}

impl ReadFetch {
    /// Reads; `shown` are the objects that passwords opened.
    fn read<'r>(
        &'r self,
        input: FetchInput<'r>,
        prepared: Cow<'r, Arc<Prepared>>,
        form: Form,
        shown: Vec<i64>,
    ) -> BoxFuture<'r, Result<Reply, SourceError>> {
        let inner = &self.inner;
        let keys = input.parent_keys.unwrap_or_default();
        let bindings = inner.bindings(input.shape, input.variables, &form, keys);
        let bindings = Bindings { shown: &shown, ..bindings };
        let few_keys = input.parent_keys.is_none_or(|it| key_count(it) <= PAGE_ROWS_MAX as usize);
        if few_keys
            && is_short(&prepared, &bindings)
            && let Some(reply) = inner.run_inline(&input, &prepared, bindings)
        {
            return Box::pin(std::future::ready(reply));
        }
        let call = Run {
            prepared: prepared.into_owned(),
            form,
            shape: Arc::clone(input.shape),
            variables: Arc::clone(input.variables),
            parent_keys: input.parent_keys.map(<[Column]>::to_vec),
            shown,
            deadline: input.deadline,
            hold_back_bytes: input.hold_back_bytes,
        };
        let (sender, receiver) = oneshot::channel();
        let cancelled = Arc::new(AtomicBool::new(false));
        let guard = Guard { cancelled: Arc::clone(&cancelled), armed: true };
        let reading = Arc::clone(inner);
        let sink = Sink::new(sender, inner.shared.pool.turns(), call.hold_back_bytes);
        let job = Box::new(move || reading.run_call(call, sink, cancelled, true));
        if !inner.shared.pool.submit(job) {
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

    /// The objects that the passwords of a query open, in the order of the plan's checks; 0 where one does not.
    async fn opened(&self, input: &FetchInput<'_>, prepared: &Prepared) -> Result<Vec<i64>, SourceError> {
        let inner = &self.inner;
        let mut opened = Vec::with_capacity(prepared.plan.checks.len());
        for &field in &prepared.plan.checks {
            let call = Call { shape: input.shape, field, variables: input.variables, ids: &inner.ids };
            let refused = |error| SourceError::Rejected { error, field: Some(field) };
            let Some(programs) = inner.shared.frontend.programs() else { continue };
            let Lock { asked, password } = programs.lock(&call).map_err(refused)?;
            let mut answers = Answers::default();
            let asking = reader(&inner.shared.database).and_then(|reader| {
                reader.watch.extend(input.deadline);
                super::program::ask(&reader.connection, &asked, &mut answers)
            });
            asking.map_err(|error| super::error::source_error(error, inner.ask.accent, Some(field)))?;
            let (id, hash) = answers.guarded().unwrap_or((0, None));
            let is_open = programs.opens(password, hash).await.map_err(refused)?;
            opened.push(if is_open { id } else { 0 });
        }
        Ok(opened)
    }
}

impl ReadFetch {
    /// Reads by a plan that is known or short.
    fn planned<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<Reply, SourceError>> {
        let (prepared, form) = match self.inner.plan(input.shape, input.variables) {
            Ok(found) => found,
            Err(error) => return Box::pin(std::future::ready(Err(error))),
        };
        if prepared.plan.checks.is_empty() {
            return self.read(input, prepared, form, Vec::new());
        }
        Box::pin(async move {
            let shown = self.opened(&input, &prepared).await?;
            self.read(input, prepared, form, shown).await
        })
    }
}

impl Fetch for ReadFetch {
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<Reply, SourceError>> {
        match self.inner.plan_aside(&input) {
            None => self.planned(input),
            Some(planning) => Box::pin(async move {
                planning.await?;
                self.planned(input).await
            }),
        }
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

/// The plan of a piece, or room for one per form of its variables.
pub(super) fn plan_now(
    shared: &Shared,
    ids: &Ids,
    shape: &Shape,
    ask: &Ask,
) -> Result<Forms<Prepared>, PlanError> {
    if !ask.structural.is_empty() {
        return Ok(Forms::many());
    }
    Ok(Forms::one(shared.prepare(plan(&*shared.frontend, ids, shape, ask, None)?)))
}

//! A piece of reading, prepared: finds its plan by the form of the structural variables, asks once, writes the answer.
//!
//! **Invariant:** a piece is one statement, so all of its rows are of one snapshot.
//!
//! Ways that are seldom taken are boxed: each request's future is as large as the largest of its ways, and moved.
//!
//! **Cost:** a warm run looks up its plan (nothing without structural variables) and allocates the future, the parameters
//! and the answer's buffer.

use super::asked::Asked;
use super::bind::push_last;
use super::error::{Error, source_error};
use super::portal::Values;
use super::prepared::{InParts, Leaves, List, Prepared};
use super::result_set::ResultSet;
use super::row_source::ResultRows;
use super::rows::Rows;
use super::source::Shared;
use super::statement::Parameters;
use super::{parts, text};
use crate::exec::answer::{Names, TooLong};
use crate::exec::bind::Bindings;
use crate::exec::forms::{CHEAP_NODES_MAX, Forms, Planning};
use crate::exec::program::{Answers, Call, Lock};
use crate::exec::response_writer::ResponseWriter;
use crate::exec::row_collector::RowCollector;
use crate::frontend::Ask;
use crate::frontend::form::{Form, form};
use crate::frontend::plan;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tokio::sync::Semaphore;
use weir_engine::plan::shape::Shape;
use weir_engine::rows::Column;
use weir_engine::source::{
    Accent, BoxFuture, Fetch, FetchInput, FieldError, Ids, PlanError, Reply, ReplyBody, SourceError, Tag,
};
use weir_language::value::Variables;
use weir_relational::plan::describe;
use weir_relational::sql::assemble::TooWide;

/// A read that lost its connection, or a race with others, is asked again so often.
pub(super) const TRIES_MAX: u32 = 3;

/// Rows of more bytes are written away from the event loop: it would stand still for some milliseconds.
const WRITTEN_BYTES_MAX: usize = 1 << 20;

/// So many plans that take long are made at once.
static PLANNERS: Semaphore = Semaphore::const_new(2);

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
    /// Typed rows are wanted.
    pub(super) rows: bool,
    pub(super) leaves: Leaves,
    pub(super) forms: Forms<Prepared>,
    /// Bytes of the last answer: the next one's first capacity.
    pub(super) answer_bytes: AtomicUsize,
    /// Number of key columns of the parents, below the root.
    pub(super) parent_keys: Option<u32>,
}

impl Reading {
    /// The plan for the form of `variables`.
    pub(super) fn plan(
        &self,
        shape: &Shape,
        variables: &Variables,
    ) -> Result<(Arc<Prepared>, Form), SourceError> {
        let form = match self.forms.fixed() {
            Some(fixed) => return Ok((Arc::clone(fixed), Form::default())),
            None => form(&self.ask, variables, &*self.shared.frontend, &self.ids),
        };
        let prepared = self.forms.find(&form, || self.prepare(shape, Some((variables, &form))));
        let prepared =
            prepared.map_err(|it| SourceError::Rejected { error: it.error, field: Some(it.field) })?;
        Ok((prepared, form))
    }

    /// Makes the plan of a request away from the event loop, if it is new and takes long; then it is known.
    pub(super) fn plan_aside(self: &Arc<Self>, input: &FetchInput<'_>) -> Option<Planning> {
        if self.forms.fixed().is_some() || input.variables.values.nodes.len() <= CHEAP_NODES_MAX {
            return None;
        }
        let form = form(&self.ask, input.variables, &*self.shared.frontend, &self.ids);
        if !self.forms.is_costly(&form) {
            return None;
        }
        let (reading, shape, variables) =
            (Arc::clone(self), Arc::clone(input.shape), Arc::clone(input.variables));
        Some(Box::pin(async move {
            let _turn = PLANNERS.acquire().await;
            let planned = tokio::task::spawn_blocking(move || reading.plan(&shape, &variables).map(drop));
            planned.await.unwrap_or_else(|_| Err(SourceError::Broken("planning panicked".into())))
        }))
    }

    /// Renders all that is asked, for one form of the variables.
    pub(super) fn prepare(
        &self,
        shape: &Shape,
        variables: Option<(&Variables, &Form)>,
    ) -> Result<Prepared, PlanError> {
        let plan = plan(&*self.shared.frontend, &self.ids, shape, &self.ask, variables)?;
        let field = self.ask.fields.first().copied().unwrap_or(0);
        self.shared.prepare(plan, self.parent_keys, self.leaves).map_err(|TooWide| {
            let code = match self.ask.accent {
                Accent::Spec => "LIMIT_STATEMENT",
                Accent::Hasura => "validation-failed",
            };
            let message = "the request makes a statement that is too large for the database".into();
            PlanError { error: FieldError { code, message, hasura_path: None, extensions: None }, field }
        })
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

    pub(super) fn names<'r>(&'r self, shape: &'r Shape) -> Names<'r> {
        Names { schema: self.shared.frontend.schema(), ids: &self.ids, shape }
    }

    /// The values of a request for what is `asked`, after the keys of its parents.
    pub(super) fn values(
        &self,
        asked: &Asked,
        bindings: &Bindings<'_>,
        mut parameters: Parameters,
    ) -> Result<Parameters, SourceError> {
        let own = (asked.parameters.as_slice(), &*asked.statement.parameters);
        push_last(bindings, &self.shared.dialect.types, own, &mut parameters).map_err(|error| {
            let field = Some(self.ask.fields.first().copied().unwrap_or(0));
            SourceError::Rejected { error: *error, field }
        })?;
        Ok(parameters)
    }

    /// The values of a request for each of `lists`.
    fn values_of_lists(&self, lists: &[List], bindings: &Bindings<'_>) -> Result<Vec<Values>, SourceError> {
        let values = |asked: &Asked| self.values(asked, bindings, Parameters::default());
        let both = |list: &List| {
            let below = list.below.as_ref().map(|it| values(&it.asked)).transpose()?;
            Ok((values(&list.own)?, below.unwrap_or_default()))
        };
        lists.iter().map(both).collect()
    }

    /// Asks, on a connection that is shared or an own one.
    async fn rows(
        &self,
        prepared: &Prepared,
        parameters: Parameters,
        deadline: Instant,
    ) -> Result<Rows, Error> {
        let asked = &prepared.read;
        if asked.arms.is_empty() {
            return Ok(Rows::default());
        }
        let pool = &self.shared.pool;
        if prepared.is_volatile {
            // Equal reads are asked once among the shared, and replicas cannot write.
            return Box::pin(pool.change_alone(&asked.statement, &parameters, None, deadline)).await;
        }
        match prepared.is_long {
            true => Box::pin(pool.read_alone(&asked.statement, parameters, deadline)).await,
            false => pool.read(&asked.statement, parameters, deadline).await,
        }
    }

    /// The objects that the passwords of a query open, in the order of the plan's checks; 0 where one does not.
    async fn opened(&self, input: &FetchInput<'_>, prepared: &Prepared) -> Result<Vec<i64>, SourceError> {
        let mut opened = Vec::with_capacity(prepared.plan.checks.len());
        for &field in &prepared.plan.checks {
            let call = Call { shape: input.shape, field, variables: input.variables, ids: &self.ids };
            let refused = |error| SourceError::Rejected { error, field: Some(field) };
            let Some(programs) = self.shared.frontend.programs() else { continue };
            let Lock { asked, password } = programs.lock(&call).map_err(refused)?;
            let values = super::program::parameters(&asked);
            let rows = self.shared.pool.read(asked.sentence.wire(), values, input.deadline).await;
            let rows = rows.map_err(|error| self.source_error(error))?;
            let mut answers = Answers::default();
            super::program::take(&rows, asked.sentence.width, &mut answers);
            let (id, hash) = answers.guarded().unwrap_or((0, None));
            let is_open = programs.opens(password, hash).await.map_err(refused)?;
            opened.push(if is_open { id } else { 0 });
        }
        Ok(opened)
    }

    async fn run(self: &Arc<Self>, input: FetchInput<'_>) -> Result<Reply, SourceError> {
        if let Some(planning) = self.plan_aside(&input) {
            planning.await?;
        }
        let (prepared, form) = self.plan(input.shape, input.variables)?;
        let keys = input.parent_keys.unwrap_or_default();
        let shown = match prepared.plan.checks.is_empty() {
            true => Vec::new(),
            // Rare, so its state is not part of every request's.
            false => Box::pin(self.opened(&input, &prepared)).await?,
        };
        let bindings = self.bindings(input.shape, input.variables, &form, keys);
        let bindings = Bindings { shown: &shown, ..bindings };
        let mut parameters = Parameters::default();
        for column in bindings.parent_keys {
            text::push_column(column, &mut parameters);
        }
        let parameters = self.values(&prepared.read, &bindings, parameters)?;
        match &prepared.in_parts {
            InParts::No => {}
            InParts::Rows => {
                return Box::pin(parts::run_rows(self, &prepared, &input, parameters)).await;
            }
            InParts::Lists(lists) => {
                let values = self.values_of_lists(lists, &bindings)?;
                return Box::pin(parts::run_lists(self, &prepared, &input, parameters, values)).await;
            }
        }
        let mut tries = 0;
        let rows = loop {
            tries += 1;
            match self.rows(&prepared, parameters.clone(), input.deadline).await {
                Ok(rows) => break rows,
                Err(error) if tries < TRIES_MAX && error.is_retryable() && !prepared.is_volatile => {}
                Err(error) => return Err(self.source_error(error)),
            }
        };
        let parents = input.parent_keys.map(|keys| keys.first().map_or(1, Column::len));
        if rows.bytes_len() <= WRITTEN_BYTES_MAX {
            return self.answer(&prepared, &rows, input.shape, parents).map_err(TooLong::into_error);
        }
        let (reading, shape) = (Arc::clone(self), Arc::clone(input.shape));
        let written = move || reading.answer(&prepared, &rows, &shape, parents).map_err(TooLong::into_error);
        let written = tokio::task::spawn_blocking(written).await;
        written.unwrap_or_else(|_| Err(SourceError::Broken("writing an answer panicked".into())))
    }

    /// Writes what `rows` say, which have as many parents where it stands below the root.
    fn answer(
        &self,
        prepared: &Prepared,
        rows: &Rows,
        shape: &Shape,
        parents: Option<usize>,
    ) -> Result<Reply, TooLong> {
        let (plan, names) = (&prepared.plan, self.names(shape));
        let set = ResultSet::new(&prepared.read, rows);
        let source = ResultRows::read(prepared, Some(&set));
        if self.rows {
            let rows = RowCollector::new(source, plan, names).collect(parents)?;
            return Ok(Reply { body: ReplyBody::Rows(rows), errors: Vec::new(), freshness: None });
        }
        let capacity = self.answer_bytes.load(Ordering::Relaxed);
        let (finished, errors) = ResponseWriter::new(source, plan, names, capacity).finish()?;
        let bytes = finished.bytes.len();
        self.answer_bytes.store(bytes + bytes / 8 + 64, Ordering::Relaxed);
        Ok(Reply { body: ReplyBody::Finished(finished), errors, freshness: None })
    }

    pub(super) fn source_error(&self, error: Error) -> SourceError {
        let field = self.ask.fields.first().copied();
        source_error(error, self.ask.accent, field, &|schema, table| self.shared.is_tracked(schema, table))
    }

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
        prepared.explain(self.shared.frontend.relations(), out);
    }
}

impl Fetch for ReadFetch {
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<Reply, SourceError>> {
        Box::pin(self.inner.run(input))
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

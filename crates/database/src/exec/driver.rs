//! The border between the executor and the driver of a database, and what a driver gets of a fetch.
//!
//! A run of a fetch finds the plan by the form of the structural variables; the driver reads, writes, or drives the programs of a
//! mutation.
//!
//! **Cost:** monomorphised: a warm run looks up its plan (nothing without structural variables).

use super::bindings::{Bindings, Refused, SlotRow};
use super::errors::error_with_code;
use super::output::answer::Names;
use super::plans::forms::{CHEAP_NODES_MAX, Forms, Planning};
use super::plans::planning::plan;
use super::plans::prepared_plan::PreparedPlan;
use crate::frontend::form::{Form, form};
use crate::frontend::program::{Answers, BoundStatement, Call, ObjectLookup, Program};
use crate::frontend::{ApiFrontend, Ask, tags};
use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;
use weir_engine::caller::{Claims, WHOLE_SESSION};
use weir_engine::observer::DatabaseAddress;
use weir_engine::plan::output_plan::OutputPlan;
use weir_engine::rows::Column;
use weir_engine::source::{
    AnswerForm, BoxFuture, ChangeFeed, FetchInput, FetchResult, Ids, OthersChanges, PathError, PlanError,
    PlanNode, Protocol, SourceError, Tag,
};
use weir_language::ast::OperationKind;
use weir_language::value::Variables;
use weir_relational::passes::effects::touched_tables;
use weir_relational::plan::{Judged, Plan};
use weir_relational::sql::assemble::TooWide;

/// The bytes of a member of a mutation, and the errors in it.
pub(crate) type WrittenMember = (Vec<u8>, Vec<PathError>);

/// Prepared statements, and the form of variables that they were made for.
type Planned<'p, P> = (Cow<'p, Arc<P>>, Form);

/// Runs plans on one kind of database.
pub(crate) trait Driver: Debug + Send + Sync + Sized + 'static {
    /// A plan with its statements.
    type Prepared: PreparedPlan;

    /// Renders `plan`; `parent_keys` is the number of key columns of its parents in another source, `streams` allows an answer in
    /// parts.
    /// # Errors
    /// A statement is too large for the database.
    fn prepare(
        source: &SourceState<Self>,
        plan: Plan,
        parent_keys: Option<u32>,
        streams: bool,
    ) -> Result<Self::Prepared, TooWide>;

    /// Runs `job`, which makes a plan and takes long, away from the event loop.
    fn plan_aside(&self, job: impl FnOnce() -> Result<(), SourceError> + Send + 'static) -> Planning;

    /// Refuses changes of a database that can only be read.
    fn check_writable(&self, _protocol: Protocol) -> Result<(), SourceError> {
        Ok(())
    }

    /// Judges a pattern that fails on every row if it is broken.
    fn judge<'r>(judged: &'r Judged, bindings: &Bindings<'r>) -> Result<(), Refused>;

    /// Reads; `shown` are the objects that were looked up.
    fn read(run: PlannedFetch<'_, Self>, shown: Vec<i64>) -> BoxFuture<'_, Result<FetchResult, SourceError>>;

    /// Runs the root fields of a mutation in one transaction, and answers after the commit.
    fn write(run: PlannedFetch<'_, Self>) -> BoxFuture<'_, Result<FetchResult, SourceError>>;

    /// Drives the program of the root field at `member` of the plan in one transaction, and writes its answer.
    fn drive(
        run: &PlannedFetch<'_, Self>,
        member: usize,
        program: Box<dyn Program>,
    ) -> impl Future<Output = Result<WrittenMember, SourceError>> + Send;

    /// Asks one statement of a program.
    fn ask(
        run: &PlannedFetch<'_, Self>,
        asked: &BoundStatement,
        field: u32,
    ) -> impl Future<Output = Result<Answers, SourceError>> + Send;

    /// Names of [`weir_engine::source::PreparedFetch::reads_claims`] that every read depends on, as the database is told them.
    fn session_claims(&self) -> &[&'static str] {
        &[]
    }

    /// Headers that every read depends on, likewise.
    fn session_headers(&self) -> &[Box<str>] {
        &[]
    }

    /// See [`weir_engine::source::Source::change_feed`].
    fn change_feed(&self) -> Option<&dyn ChangeFeed> {
        None
    }

    /// See [`weir_engine::source::Source::others_changes`]; `None`: the feed's answer counts.
    fn others_changes(&self) -> Option<OthersChanges> {
        None
    }

    fn health(&self, deadline: Instant) -> BoxFuture<'_, Result<(), SourceError>>;

    /// See [`weir_engine::source::Source::database`].
    fn database(&self) -> DatabaseAddress;

    /// See [`weir_engine::source::Source::product`].
    fn product(&self) -> Option<String> {
        None
    }

    /// See [`weir_engine::source::Source::gauges`].
    fn gauges(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// See [`weir_engine::source::Source::statements_by_shards`].
    fn statements_by_shards(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

/// State shared by the fetches of a source.
#[derive(Debug)]
pub(crate) struct SourceState<D> {
    pub(crate) frontend: Arc<dyn ApiFrontend>,
    /// Driver, shared with the Relay source of the same database.
    pub(crate) driver: Arc<D>,
    pub(super) renderings: AtomicU64,
    /// Conditions that were asked without an index; shared as the driver is.
    pub(super) unindexed: Arc<AtomicU64>,
}

/// The constants of a fetch, shared by its runs.
pub(crate) struct RelationalFetch<D: Driver> {
    pub(crate) state: Arc<SourceState<D>>,
    pub(crate) ids: Arc<Ids>,
    pub(crate) ask: Ask,
    /// The engine needs typed rows.
    pub(crate) rows: bool,
    /// A long answer may leave in parts.
    pub(crate) streams: bool,
    /// Bytes of the last answer: the next one's first capacity.
    pub(crate) answer_bytes: AtomicUsize,
    pub(super) forms: Forms<D::Prepared>,
    /// Number of key columns of the parents, below the root.
    pub(super) parent_keys: Option<u32>,
    /// True for a fetch of a mutation, at its root or below.
    pub(crate) in_mutation: bool,
}

/// A run of a fetch, with its plan.
pub(crate) struct PlannedFetch<'r, D: Driver> {
    pub(crate) fetch: &'r Arc<RelationalFetch<D>>,
    pub(crate) input: FetchInput<'r>,
    /// A borrow if there is a single plan: counting its users would make all threads write to one cache line.
    pub(crate) prepared: Cow<'r, Arc<D::Prepared>>,
    pub(crate) form: Form,
}

impl<D: Driver> SourceState<D> {
    /// The tables a fetch shows or may change. A function may read any table, and the objects of a lookup are known only when
    /// it runs.
    pub(super) fn tags(&self, prepared: Option<&D::Prepared>) -> Vec<Tag> {
        let known = prepared.filter(|it| it.plan().functions.is_empty() && it.plan().lookups.is_empty());
        let catalog = &self.frontend.relations().catalog;
        tags(catalog, known.and_then(|it| touched_tables(catalog, it.tables(), &it.plan().changes)))
    }
}

impl<D: Driver> RelationalFetch<D> {
    pub(super) fn new(state: &Arc<SourceState<D>>, plan_node: &PlanNode<'_>) -> Result<Self, PlanError> {
        let ask = state.frontend.ask(plan_node);
        let mut fetch = Self {
            state: Arc::clone(state),
            ids: Arc::clone(plan_node.ids),
            rows: plan_node.answer.is_rows() || plan_node.parent_keys.is_some(),
            // The end of a stream's batch is known only when the whole batch is written.
            streams: matches!(plan_node.answer, AnswerForm::Any { contiguous: true } | AnswerForm::Items)
                && plan_node.parent_keys.is_none()
                && !ask.is_stream,
            ask,
            answer_bytes: AtomicUsize::new(256),
            forms: Forms::many(),
            parent_keys: plan_node.parent_keys,
            in_mutation: plan_node.kind == OperationKind::Mutation,
        };
        if fetch.ask.structural.is_empty() {
            fetch.forms = Forms::one(fetch.prepare(plan_node.output, None)?);
        }
        Ok(fetch)
    }

    /// Renders all that is asked, for one form of the variables.
    fn prepare(
        &self,
        output: &OutputPlan,
        variables: Option<(&Variables, &Form)>,
    ) -> Result<D::Prepared, PlanError> {
        let state = &*self.state;
        let plan = plan(&*state.frontend, &self.ids, output, &self.ask, variables)?;
        let prepared =
            D::prepare(state, plan, self.parent_keys, self.streams).map_err(|TooWide| self.too_wide())?;
        state.renderings.fetch_add(prepared.statement_count() as u64, Ordering::Relaxed);
        Ok(prepared)
    }

    /// Session variables that a run may read: while the plan depends on variables, all of the policy's and of the functions.
    pub(super) fn claims(&self) -> Vec<Box<str>> {
        let frontend = &*self.state.frontend;
        let relations = frontend.relations();
        let (mut claims, reads_all) = match self.forms.fixed_plan().map(|it| it.plan()) {
            Some(plan) => {
                let mut called = plan.functions.iter().map(|it| relations.function(*it).0);
                (plan.claims.clone(), called.any(|it| it.session.is_some()))
            }
            None => {
                let claims = frontend.policy(&self.ask.facts).claims(relations);
                (claims, relations.functions.iter().any(|it| it.session.is_some()))
            }
        };
        claims.extend(reads_all.then(|| WHOLE_SESSION.into()));
        for &name in self.state.driver.session_claims() {
            if claims.iter().all(|it| **it != *name) {
                claims.push(name.into());
            }
        }
        claims
    }

    #[cold]
    fn too_wide(&self) -> PlanError {
        let message = "the request makes a statement that is too large for the database";
        let error = error_with_code(self.ask.protocol, "LIMIT_STATEMENT", "validation-failed", message);
        PlanError { error, field: self.first_field() }
    }

    /// The first field that is asked, for errors that concern the whole piece.
    pub(crate) fn first_field(&self) -> u32 {
        self.ask.fields.first().copied().unwrap_or(0)
    }

    /// The plan for the form of `variables`.
    pub(super) fn plan(
        &self,
        output: &OutputPlan,
        variables: &Variables,
    ) -> Result<Planned<'_, D::Prepared>, SourceError> {
        if let Some(fixed) = self.forms.fixed_plan() {
            return Ok((Cow::Borrowed(fixed), Form::default()));
        }
        let form = form(&self.ask, variables, &*self.state.frontend, &self.ids);
        let prepared = self.forms.find(&form, || self.prepare(output, Some((variables, &form))));
        let prepared =
            prepared.map_err(|it| SourceError::Rejected { error: it.error, field: Some(it.field) })?;
        Ok((Cow::Owned(prepared), form))
    }

    /// Makes the plan of a request away from the event loop, if it is new and takes long; then it is known.
    pub(super) fn plan_aside(self: &Arc<Self>, input: &FetchInput<'_>) -> Option<Planning> {
        if self.forms.fixed_plan().is_some() || input.variables.values.nodes.len() <= CHEAP_NODES_MAX {
            return None;
        }
        let form = form(&self.ask, input.variables, &*self.state.frontend, &self.ids);
        if !self.forms.is_costly(&form) {
            return None;
        }
        let fetch = Arc::clone(self);
        let output = Arc::clone(input.output);
        let variables = Arc::clone(input.variables);
        Some(self.state.driver.plan_aside(move || fetch.plan(&output, &variables).map(drop)))
    }

    /// The root field `field` of a request.
    pub(super) fn call<'r>(
        &'r self,
        output: &'r OutputPlan,
        variables: &'r Variables,
        field: u32,
    ) -> Call<'r> {
        Call { output, field, variables, ids: &self.ids, facts: &self.ask.facts }
    }

    pub(crate) fn names<'r>(&'r self, output: &'r OutputPlan) -> Names<'r> {
        Names { schema: self.state.frontend.schema(), ids: &self.ids, output }
    }

    pub(crate) fn bindings<'r>(
        &'r self,
        output: &'r OutputPlan,
        variables: &'r Variables,
        form: &'r Form,
        parent_keys: &'r [Column],
        claims: &'r Claims,
    ) -> Bindings<'r> {
        let frontend = &self.state.frontend;
        let schema = frontend.schema();
        let enum_texts = frontend.enum_texts();
        let ids = &*self.ids;
        let protocol = self.ask.protocol;
        Bindings {
            schema,
            enum_texts,
            ids,
            output,
            variables,
            form,
            row: SlotRow::default(),
            parent_keys,
            shown: &[],
            claims,
            stream: None,
            protocol,
        }
    }
}

impl<D: Driver> PlannedFetch<'_, D> {
    /// The values of the request; `shown` are the objects that a program shows or that were looked up.
    pub(crate) fn bindings<'b>(&'b self, shown: &'b [i64]) -> Bindings<'b> {
        let FetchInput { output: shape, variables, parent_keys, .. } = self.input;
        let keys = parent_keys.unwrap_or_default();
        let claims = self.input.caller.claims();
        let stream = self.input.stream;
        Bindings { shown, stream, ..self.fetch.bindings(shape, variables, &self.form, keys, claims) }
    }

    pub(crate) fn names(&self) -> Names<'_> {
        self.fetch.names(self.input.output)
    }

    pub(super) fn call(&self, field: u32) -> Call<'_> {
        self.fetch.call(self.input.output, self.input.variables, field)
    }

    /// Looks up the objects of the plan's lookups, in their order, and reads.
    pub(super) async fn read_looked_up(self) -> Result<FetchResult, SourceError> {
        let mut shown = Vec::new();
        for &field in &self.prepared.plan().lookups {
            let refused = |error| SourceError::Rejected { error, field: Some(field) };
            let Some(programs) = self.fetch.state.frontend.programs() else { continue };
            let ObjectLookup { statement, choose } = programs.lookup(&self.call(field)).map_err(refused)?;
            let answers = D::ask(&self, &statement, field).await?;
            shown.push(choose(&answers).await.map_err(refused)?);
        }
        D::read(self, shown).await
    }
}

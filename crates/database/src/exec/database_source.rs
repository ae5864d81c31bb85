//! A database as a source of a graph, whichever driver it has.
//!
//! A piece of a request becomes a fetch, whose runs the driver does.
//!
//! **Cost:** a warm run is one dynamic call; the driver's future is all that is allocated here.

mod judge_row;
mod refused_token;

use super::driver::{Driver, PlannedFetch, RelationalFetch, SourceState};
use super::errors::{check_claims, no_foreign_below};
use super::explain::Explained;
use super::pattern_checks::check_conditions;
use super::plans::called_functions::CalledFunctions;
use super::plans::confined_tables::ConfinedTables;
use super::plans::prepared_plan::PreparedPlan;
use crate::frontend::ApiFrontend;
use crate::frontend::form::Form;
use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use weir_engine::caller::{Facts, Identity};
use weir_engine::demand::{CostRule, ListSize};
use weir_engine::observer::DatabaseAddress;
use weir_engine::source::{
    BoxFuture, ChangeFeed, EntityLookup, ExplainInput, FetchInput, FetchResult, FieldError, NoJudgement,
    OthersChanges, PlanError, PlanNode, PreparedFetch, RowJudgement, RowQuestion, Source, SourceError, Tag,
};
use weir_engine::tag_versions::RowKey;
use weir_language::ast::OperationKind;
use weir_language::error::Error;
use weir_language::schema::{FieldId, Schema, Visibility};
use weir_relational::catalog::Catalog;

/// A front end over a database with driver `D`.
#[derive(Debug)]
pub struct DatabaseSource<D> {
    name: String,
    pub(crate) state: Arc<SourceState<D>>,
}

struct DatabaseFetch<D: Driver> {
    inner: Arc<RelationalFetch<D>>,
    kind: FetchKind,
    tags: Vec<Tag>,
    /// Session variables that a run may read.
    claims: Vec<Box<str>>,
    /// The tables of which a run uses one row.
    confined: ConfinedTables,
    called: CalledFunctions,
}

#[derive(Clone, Copy)]
enum FetchKind {
    Read,
    /// Root fields of a mutation in one transaction.
    Write,
    /// Root fields of a mutation that are programs, each with a transaction of its own.
    Programs,
}

impl<D> DatabaseSource<D> {
    /// Serves `frontend` as the source `name`.
    pub(crate) fn serve(name: &str, frontend: Arc<dyn ApiFrontend>, driver: D) -> Self {
        Self::with_driver(name, frontend, Arc::new(driver), Arc::default())
    }

    fn with_driver(
        name: &str,
        frontend: Arc<dyn ApiFrontend>,
        driver: Arc<D>,
        unindexed: Arc<AtomicU64>,
    ) -> Self {
        let state = SourceState { frontend, driver, renderings: AtomicU64::new(0), unindexed };
        Self { name: name.to_owned(), state: Arc::new(state) }
    }

    /// Tables and functions of the database, tracked or not.
    pub fn catalog(&self) -> &Catalog {
        &self.state.frontend.relations().catalog
    }

    /// Number of statements rendered since it was opened.
    pub fn renderings(&self) -> u64 {
        self.state.renderings.load(Ordering::Relaxed)
    }
}

impl<D: Driver> Source for DatabaseSource<D> {
    fn name(&self) -> &str {
        &self.name
    }

    fn schema(&self) -> &Arc<Schema> {
        self.state.frontend.schema()
    }

    fn namespace(&self) -> Option<&str> {
        self.state.frontend.namespace()
    }

    fn entity_lookups(&self) -> &[EntityLookup] {
        self.state.frontend.entity_lookups()
    }

    fn profile(&self, identity: &Identity, facts: &mut Facts) {
        self.state.frontend.profile(identity, facts);
    }

    fn visibility(&self, facts: &[u64]) -> Option<Visibility> {
        self.state.frontend.visibility(facts)
    }

    fn cost_rules(&self) -> &[CostRule] {
        self.state.frontend.cost_rules()
    }

    fn list_size(&self, field: FieldId, facts: &[u64]) -> Option<ListSize> {
        self.state.frontend.list_size(field, facts)
    }

    fn relay(&self) -> Option<Result<Arc<dyn Source>, Vec<Error>>> {
        let made = self.state.frontend.relay()?;
        let SourceState { driver, unindexed, .. } = &*self.state;
        let with_frontend = |it| Self::with_driver(&self.name, it, Arc::clone(driver), Arc::clone(unindexed));
        Some(made.map(|it| Arc::new(with_frontend(it)) as Arc<dyn Source>))
    }

    fn prepare(&self, plan_node: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        let kind = match plan_node.kind {
            OperationKind::Mutation if plan_node.parent_keys.is_none() => {
                match self.state.frontend.programs() {
                    Some(_) if plan_node.answer.is_rows() => return Err(no_foreign_below(plan_node)),
                    Some(_) => FetchKind::Programs,
                    None => FetchKind::Write,
                }
            }
            OperationKind::Query | OperationKind::Mutation | OperationKind::Subscription => FetchKind::Read,
        };
        let inner = RelationalFetch::new(&self.state, plan_node)?;
        // A program says only when it runs which tables it changes.
        let prepared = inner.forms.fixed_plan().filter(|_| !matches!(kind, FetchKind::Programs));
        let tags = self.state.tags(prepared.map(|it| &**it));
        let claims = inner.claims();
        let confined =
            prepared.map(|it| ConfinedTables::of(&*self.state.frontend, it.plan())).unwrap_or_default();
        let relations = self.state.frontend.relations();
        let called = CalledFunctions::of(relations, prepared.map(|it| it.plan()));
        let inner = Arc::new(inner);
        Ok(Box::new(DatabaseFetch { inner, kind, tags, claims, confined, called }))
    }

    fn database(&self) -> Option<DatabaseAddress> {
        Some(self.state.driver.database())
    }

    fn product(&self) -> Option<String> {
        self.state.driver.product()
    }

    fn gauges(&self) -> Vec<(&'static str, u64)> {
        self.state.driver.gauges()
    }

    fn statements_by_shards(&self) -> Vec<(&'static str, u64)> {
        self.state.driver.statements_by_shards()
    }

    fn unindexed_conditions(&self) -> u64 {
        self.state.unindexed.load(Ordering::Relaxed)
    }

    fn change_feed(&self) -> Option<&dyn ChangeFeed> {
        self.state.driver.change_feed()
    }

    fn others_changes(&self) -> OthersChanges {
        self.state.driver.others_changes().unwrap_or_else(|| OthersChanges::of_feed(self.change_feed()))
    }

    fn judge_row<'r>(
        &'r self,
        question: RowQuestion<'r>,
    ) -> Option<BoxFuture<'r, Result<RowJudgement, NoJudgement>>> {
        Some(Box::pin(judge_row::judge(&self.state, question)))
    }

    fn health(&self, deadline: Instant) -> BoxFuture<'_, Result<(), SourceError>> {
        self.state.driver.health(deadline)
    }
}

impl<D: Driver> DatabaseFetch<D> {
    /// The statements that would run for a request.
    fn explain_statements<'r>(&'r self, input: ExplainInput<'r>) -> Result<Explained<'r, D>, SourceError> {
        let (prepared, _) = self.inner.plan(input.output, input.variables)?;
        Ok(Explained { fetch: &self.inner, prepared, input })
    }

    /// Runs a request whose plan is cached or cheap to make.
    fn run_planned<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        let fetch = &self.inner;
        let (prepared, form) = match fetch.plan(input.output, input.variables) {
            Ok(found) => found,
            Err(error) => return Box::pin(ready(Err(error))),
        };
        if let Some(reason) = fetch.state.frontend.refusal(input.caller.claims(), &fetch.ask.facts) {
            return Box::pin(ready(self.refuse_invalid_token(&input, prepared.plan(), reason)));
        }
        if let Err(error) = check_claims(prepared.plan(), input.caller, fetch.ask.protocol) {
            return Box::pin(ready(Err(error)));
        }
        let run = PlannedFetch { fetch, input, prepared, form };
        if let Err(error) = check_conditions(&run) {
            return Box::pin(ready(Err(error)));
        }
        let is_read = matches!(self.kind, FetchKind::Read);
        if let (false, Err(error)) = (is_read, fetch.state.driver.check_writable(fetch.ask.protocol)) {
            return Box::pin(ready(Err(error)));
        }
        match self.kind {
            FetchKind::Read if run.prepared.plan().lookups.is_empty() => D::read(run, Vec::new()),
            FetchKind::Read => Box::pin(run.read_looked_up()),
            FetchKind::Write => D::write(run),
            FetchKind::Programs => Box::pin(run.run_programs()),
        }
    }
}

impl<D: Driver> PreparedFetch for DatabaseFetch<D> {
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        match self.inner.plan_aside(&input) {
            None => self.run_planned(input),
            Some(planning) => Box::pin(async move {
                planning.await?;
                self.run_planned(input).await
            }),
        }
    }

    fn touches(&self) -> &[Tag] {
        &self.tags
    }

    fn refusal(&self, input: FetchInput<'_>) -> Option<FieldError> {
        self.first_refusal(&input)
    }

    fn reads_untagged(&self) -> bool {
        self.called.any
    }

    fn may_change_data(&self) -> bool {
        self.called.volatile
    }

    fn is_stream(&self) -> bool {
        self.inner.ask.is_stream
    }

    fn reads_claims(&self) -> &[Box<str>] {
        &self.claims
    }

    fn reads_headers(&self) -> &[Box<str>] {
        self.inner.state.driver.session_headers()
    }

    fn rows(&self, input: FetchInput<'_>) -> Vec<RowKey> {
        let form = Form::default();
        let claims = input.caller.claims();
        self.confined.rows(&self.inner.bindings(input.output, input.variables, &form, &[], claims))
    }

    fn explain(&self, input: ExplainInput<'_>, out: &mut String) {
        match self.explain_statements(input) {
            Ok(explained) => explained.statements(out),
            Err(error) => out.push_str(&format!("-- {error}\n")),
        }
    }

    fn describe(&self, input: ExplainInput<'_>, out: &mut String) {
        match self.explain_statements(input) {
            Ok(explained) => explained.plan(out),
            Err(error) => out.push_str(&format!("{error}\n")),
        }
    }
}

//! One request through the engine: look up or make the plan, bind, execute, write.
//!
//! [`Engine::execute`] is the whole story on one screen; each stage is timed into [`Timing`].
//!
//! **Invariant:** an engine has one graph; a new schema generation is a new engine.

pub mod bound_operation;
mod cost_check;
mod increments;
pub(crate) mod planner;

pub use crate::answer::response::{Body, Capacity, Execution, Kept, Lifetime, Outcome, Response, Timing};
pub use crate::answer::unread::Aborted;
pub use crate::request::engine_settings::Settings;
pub use crate::request::{IncrementForm, Request};

use crate::answer::response_cache::Responses;
use crate::caching::CacheFill;
use crate::caching::cache_control::{CacheControl, CacheScope};
use crate::caching::tag_versions::TagVersions;
use crate::caller::profiles::Profiles;
use crate::caller::{Caller, Identity};
use crate::compose::Graph;
use crate::errors;
use crate::execute::{self, ExecutionContext, ExecutionResult, Observation};
use crate::request::consistency::Positions;
use crate::request::protocol::Protocol;
use crate::request::request_headers::Headers;
use crate::source::ExplainInput;
use crate::telemetry::observer::Stage;
use planner::{Bound, PlanRequest, PlanThread, Planner, Refusal};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use weir_language::schema::Schema;

/// The engine of one graph.
pub struct Engine {
    pub(crate) planner: Arc<Planner>,
    /// `Vary` of answers that depend on no header.
    no_headers: Arc<str>,
    no_claims: Arc<[Box<str>]>,
    pub(crate) responses: Responses,
    profiles: Profiles,
}

impl Engine {
    /// An engine over `graph` with an empty plan cache.
    pub fn new(mut graph: Graph, settings: Settings) -> Self {
        if !settings.incremental_delivery {
            graph.hide_incremental_delivery();
        }
        if let Some(demand) = &settings.demand {
            graph.apply_operator_rules(&demand.rules);
        }
        let responses = Responses::new(settings.responses_bytes_max, Arc::default());
        let profiles = Profiles::new(&graph.facts(&Identity::nobody()), &settings.without_introspection);
        Self {
            planner: Arc::new(Planner::new(graph, settings)),
            no_headers: Arc::from(""),
            no_claims: Arc::from([]),
            responses,
            profiles,
        }
    }

    /// Shares `changes` with other engines instead of own tag versions: their invalidations also invalidate this engine's answers.
    #[must_use]
    pub fn with_tag_versions(self, changes: Arc<TagVersions>) -> Self {
        Self { responses: Responses::new(self.planner.settings.responses_bytes_max, changes), ..self }
    }

    /// The graph's schema.
    pub fn schema(&self) -> &Arc<Schema> {
        self.planner.graph.schema()
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.planner.graph
    }

    /// Size, hits and misses of the plan cache.
    pub fn plan_cache(&self) -> PlanCacheState {
        PlanCacheState {
            entries: self.planner.plans.len(),
            bytes: self.planner.plans.bytes(),
            built: self.planner.built.load(Ordering::Relaxed),
        }
    }

    /// The caller that `identity` is for this graph.
    pub fn caller(&self, identity: &Identity) -> Caller {
        let graph = &self.planner.graph;
        let facts = graph.facts(identity);
        self.profiles.caller(identity, &facts, || graph.visibility(facts.each()))
    }

    /// Answers `request`. Never fails: what goes wrong is in the response.
    pub async fn execute(&self, request: Request<'_>, caller: &Caller) -> Response {
        let mut clock = Instant::now();
        let mut timing = Timing::default();
        let observation = self.observation(request.headers);
        let observation = observation.as_ref();
        let ready = self.planner.plan_and_bind(&request, caller, false, &mut timing).await;
        clock = report_planning_stages(observation, clock, &timing);
        let bound = match ready {
            Ok(bound) => bound,
            Err(refusal) => {
                self.report_refusal(&refusal);
                return refusal_response(refusal, &request, timing);
            }
        };
        if let Some((spent, cost)) = request.spent.zip(bound.cost) {
            spent.add(cost.estimated);
        }
        let Request { protocol, query: text, headers, deadline, .. } = request;
        let bound = &bound;
        let shows_cost = request.shows_cost;
        let input = RunInput { bound, caller, headers, protocol, text, deadline, observation, shows_cost };
        if let Some((deferral, form)) = bound.plan.deferral.as_deref().zip(request.increments) {
            return Box::pin(self.answer_in_parts(&input, deferral, form, clock, &mut timing)).await;
        }
        self.answer(&input, clock, &mut timing).await
    }

    /// The observation of a request with these headers.
    pub(crate) fn observation(&self, headers: &dyn Headers) -> Option<Observation<'_>> {
        let Planner { settings, source_numbers, .. } = &*self.planner;
        Observation::of(settings.observer.as_ref(), source_numbers, headers)
    }

    /// Runs a bound plan; `started` is the end of the stages before.
    pub(crate) async fn answer(
        &self,
        input: &RunInput<'_>,
        started: Instant,
        timing: &mut Timing,
    ) -> Response {
        let RunInput { bound, caller, headers, protocol, text, deadline, observation, .. } = *input;
        let Bound { plan, variables, .. } = bound;
        let variables = self.planner.values(variables.as_ref());
        let graph = &self.planner.graph;
        let Settings { hold_back_bytes, conditions_max, .. } = self.planner.settings;
        let changes = &*self.responses.changes;
        let run = ExecutionContext {
            graph,
            plan,
            variables,
            changes,
            caller,
            headers,
            protocol,
            text,
            deadline,
            hold_back_bytes,
            conditions_max,
            observation,
            may_join: false,
            stream: None,
            metering: self.planner.metering(bound, input.shows_cost),
        };
        let (ExecutionResult { body, capacity, cache_control }, kept) = match &plan.sharing {
            None => (execute::run(run).await, Kept::Made),
            Some(sharing) => Box::pin(execute::run_shared(run, sharing, &self.responses)).await,
        };
        let body = match run.metering {
            Some(metering) => metering.measure(plan, variables, body),
            None => body,
        };
        timing.execute = started.elapsed();
        if let Some(observation) = observation {
            timing.fetches = observation.fetches.load(Ordering::Relaxed);
            observation.stage(Stage::Execute, started, timing.execute);
        }
        // The cost is told to one client, so no cache may keep the answer.
        let cache_control = cache_control.filter(|_| !input.shows_cost);
        let lifetime = cache_control.map(|it| self.lifetime(input, it, kept));
        let position = headers.positions().and_then(Positions::token);
        Response {
            outcome: Outcome::Executed,
            capacity,
            lifetime,
            body,
            timing: *timing,
            position,
            operation: plan.number,
        }
    }

    /// Makes the plans of `request`'s document for callers like `caller` before anyone asks for it, and returns how many.
    /// Variables of the document are not read.
    /// # Errors
    /// The response to a document that is refused.
    pub fn prepare(&self, request: Request<'_>, caller: &Caller) -> Result<u64, Box<Response>> {
        let asked = PlanRequest { request, profile: caller.profile(), is_live: true };
        let made = self.planner.prepare(&asked);
        made.map_err(|refusal| Box::new(refusal_response(refusal, &request, Timing::default())))
    }

    /// True if the document of `request` may change data for a caller like `caller` with some variables.
    /// Variables of the document are not read.
    pub fn may_change_data(&self, request: Request<'_>, caller: &Caller) -> bool {
        self.planner.may_change_data(&PlanRequest { request, profile: caller.profile(), is_live: true })
    }

    /// Number of cached whole answers, and their approximate size in bytes.
    pub fn responses(&self) -> (usize, u64) {
        self.responses.count_and_bytes()
    }

    /// The caches of plans and of whole answers; the latter only where answers are kept.
    pub fn cache_fills(&self) -> (CacheFill, Option<CacheFill>) {
        (self.planner.plans.fill(), self.responses.fill())
    }

    /// Plans `request` without running it, and describes what the sources would run.
    /// # Errors
    /// The `{"errors": [...]}` a client would get.
    pub fn explain(&self, request: Request<'_>, caller: &Caller) -> Result<Explanation, Vec<u8>> {
        let asked = PlanRequest { request, profile: caller.profile(), is_live: true };
        let ready = self.planner.ready(&asked, PlanThread::Aside, &mut Timing::default());
        let Bound { plan, variables, .. } = ready.map_err(|refusal| {
            errors::render_refusal(request.protocol, request.query, &refusal.into_failures())
        })?;
        let input = ExplainInput { output: &plan.output, variables: self.planner.values(variables.as_ref()) };
        let steps = plan.nodes.iter().map(|node| {
            let name = node
                .source
                .map_or("introspection", |it| self.planner.graph.sources()[usize::from(it)].0.name());
            let mut text = String::new();
            node.fetch.explain(input, &mut text);
            (name.to_owned(), text)
        });
        Ok(Explanation { plan: plan.print(&self.planner.graph, input), steps: steps.collect() })
    }
}

impl Engine {
    /// Cache metadata of the answer to `input`.
    fn lifetime(&self, input: &RunInput<'_>, told: CacheControl, kept: Kept) -> Lifetime {
        let RunInput { bound, caller, headers, .. } = *input;
        let plan = &bound.plan;
        Lifetime {
            cache_control: if plan.is_private(caller, headers) {
                CacheControl { scope: CacheScope::Private, ..told }
            } else {
                told
            },
            wished: plan.operation.cache_directive.is_some(),
            vary: Arc::clone(plan.sharing.as_ref().map_or(&self.no_headers, |it| &it.vary)),
            claims: Arc::clone(plan.sharing.as_ref().map_or(&self.no_claims, |it| &it.claims)),
            kept,
        }
    }
}

/// A bound plan and what it is run with.
pub(crate) struct RunInput<'r> {
    pub(crate) bound: &'r Bound,
    pub(crate) caller: &'r Caller,
    pub(crate) headers: &'r dyn Headers,
    pub(crate) protocol: Protocol,
    pub(crate) text: &'r str,
    pub(crate) deadline: Instant,
    pub(crate) observation: Option<&'r Observation<'r>>,
    /// True to tell the client the cost.
    pub(crate) shows_cost: bool,
}

/// Reports the stages before execution, which ran one after another from `began`. Returns the end of the last.
fn report_planning_stages(
    observation: Option<&Observation<'_>>,
    mut began: Instant,
    timing: &Timing,
) -> Instant {
    let Timing { parse, validate, plan, bind, .. } = *timing;
    let stages =
        [(Stage::Parse, parse), (Stage::Validate, validate), (Stage::Plan, plan), (Stage::Bind, bind)];
    // A stage that took no time was not needed.
    for (stage, took) in stages.into_iter().filter(|it| !it.1.is_zero()) {
        if let Some(observation) = observation {
            observation.stage(stage, began, took);
        }
        began += took;
    }
    began
}

/// The response to a request that is not executed.
pub(crate) fn refusal_response(refusal: Refusal, request: &Request<'_>, timing: Timing) -> Response {
    let outcome = match &refusal {
        Refusal::MethodNotAllowed(kind, _) => Outcome::MethodNotAllowed(*kind),
        Refusal::Subscription(_) => Outcome::Subscription,
        Refusal::Failures(_) | Refusal::Expensive(..) | Refusal::Costly => Outcome::Refused,
    };
    let body = Body::Whole(errors::render_refusal(request.protocol, request.query, &refusal.into_failures()));
    let capacity = Capacity::Enough;
    Response { outcome, capacity, lifetime: None, body, timing, position: None, operation: None }
}

/// The state of a plan cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanCacheState {
    /// Plans, and operations that have one per state of their variables.
    pub entries: usize,
    /// Bytes they take, roughly.
    pub bytes: u64,
    /// Plans built since the start.
    pub built: u64,
}

/// A plan for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The plan as an indented tree.
    pub plan: String,
    /// Per node: the source's name and what it would be asked (SQL).
    pub steps: Vec<(String, String)>,
}

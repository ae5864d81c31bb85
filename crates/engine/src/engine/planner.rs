//! Makes plans and binds variables: parse, validate, plan, where the text is not known.
//!
//! A new text that may take long is planned off the event loop ([`Planner::plan_on_own_thread`]), so that other requests of the
//! thread proceed.
//!
//! **Invariant:** a planner has one graph and one cache.

use crate::answer::response::Timing;
use crate::caller::{Caller, Profile};
use crate::compose::{Graph, Owner};
use crate::errors::Failure;
use crate::plan::build_plan::build;
use crate::plan::plan_cache::{CachedPlan, PlanCache, PlanKeyRef};
use crate::plan::plan_context::{PlanContext, coercion, scalar_reading};
use crate::plan::refused::must_not_be_null;
use crate::plan::{NeverNull, Plan, PlannedOperation};
use crate::request::demand::OperationCost;
use crate::request::demand::weights::Weights;
use crate::request::engine_settings::Settings;
use crate::request::protocol::Protocol;
use crate::request::{IncrementForm, Request};
use crate::telemetry::observer::{ObservedOperation, Observer};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use weir_language::ast::{Definition, Document, OperationKind};
use weir_language::chosen_operation;
use weir_language::error::{Code, Error};
use weir_language::json::{Json, JsonRef};
use weir_language::parser::{self, Edition};
use weir_language::span::Span;
use weir_language::validate;
use weir_language::value::{Node, Variables};

/// Longer texts may take milliseconds to plan.
const TEXT_BYTES_MAX: usize = 1 << 10;
/// Longer texts with fragments may too: a fragment can expand to far more fields than the text shows.
const SPREAD_BYTES_MAX: usize = 256;

/// States of steering variables for which plans are made ahead.
const PREPARED_STATES_MAX: u64 = 8;

/// The refusal of a subscription by a transport with one answer.
const UNSUPPORTED: &str = "SUBSCRIPTIONS_UNSUPPORTED";
const UNSUPPORTED_WORDS: &str =
    "a subscription has many results: ask over a WebSocket, or with `accept: text/event-stream`";

/// Upper bound of texts that are planned concurrently off the event loops, in the whole process.
static PLANNERS: Semaphore = Semaphore::const_new(2);

/// Thread on which a plan is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlanThread {
    /// On the event loop, for texts that are cheap to plan.
    Loop,
    /// On a blocking thread, for costly texts.
    Aside,
}

/// Graph, settings and cache of the plans of an engine.
pub(crate) struct Planner {
    pub(crate) graph: Graph,
    pub(crate) settings: Settings,
    pub(crate) plans: PlanCache,
    /// For operations without variables.
    no_variables: Arc<Variables>,
    /// Plans built since the start.
    pub(crate) built: AtomicU64,
    /// Numbers of the sources for the observer.
    pub(crate) source_numbers: Box<[u32]>,
    /// Weights, if costs are estimated.
    pub(crate) weights: Option<Weights>,
}

/// A request and the profile of its caller, for which it is planned.
#[derive(Clone, Copy)]
pub(crate) struct PlanRequest<'r> {
    pub(crate) request: Request<'r>,
    pub(crate) profile: &'r Arc<Profile>,
    /// True if the transport can send several results.
    pub(crate) is_live: bool,
}

impl<'r> std::ops::Deref for PlanRequest<'r> {
    type Target = Request<'r>;
    fn deref(&self) -> &Request<'r> {
        &self.request
    }
}

/// An operation ready to be run.
pub(crate) struct Bound {
    pub(crate) plan: Arc<Plan>,
    /// Bound variables; `None`: the operation has none.
    pub(crate) variables: Option<Arc<Variables>>,
    /// Cost of the operation, if costs are estimated.
    pub(crate) cost: Option<OperationCost>,
}

/// Reason why a request is not executed.
pub(crate) enum Refusal {
    Failures(Vec<Failure>),
    /// The operation kind is not allowed by GET.
    MethodNotAllowed(OperationKind, Failure),
    /// The operation is a subscription, and the transport takes one result only.
    Subscription(Failure),
    /// The operation costs more than the caller may spend.
    Expensive(Box<(OperationCost, Failure)>),
    /// Planning is too costly for the event loop.
    Costly,
}

impl From<Vec<Failure>> for Refusal {
    fn from(failures: Vec<Failure>) -> Self {
        Self::Failures(failures)
    }
}

impl Refusal {
    /// The errors of the response.
    pub(crate) fn into_failures(self) -> Vec<Failure> {
        match self {
            Self::Failures(failures) => failures,
            Self::MethodNotAllowed(_, failure) | Self::Subscription(failure) => vec![failure],
            Self::Expensive(refused) => vec![refused.1],
            Self::Costly => vec![broken()],
        }
    }
}

/// Copy of everything in a request that planning needs, for another thread.
struct Owned {
    query: String,
    operation_name: Option<String>,
    /// JSON.
    variables: Option<String>,
    protocol: Protocol,
    queries_only: bool,
    increments: Option<IncrementForm>,
    deadline: Instant,
    profile: Arc<Profile>,
    is_live: bool,
}

impl Owned {
    fn new(request: &PlanRequest<'_>) -> Self {
        Self {
            query: request.query.to_owned(),
            operation_name: request.operation_name.map(str::to_owned),
            variables: request.variables.map(|it| it.raw().to_owned()),
            protocol: request.protocol,
            queries_only: request.queries_only,
            increments: request.increments,
            deadline: request.deadline,
            profile: Arc::clone(request.profile),
            is_live: request.is_live,
        }
    }

    fn ready(&self, planner: &Planner, timing: &mut Timing) -> Result<Bound, Refusal> {
        // The depth was bounded when it was read first.
        let json = self.variables.as_ref().map(|it| Json::parse(it.as_bytes(), u32::MAX)).transpose();
        let json = json.map_err(|_| vec![broken()])?;
        let request = Request {
            operation_name: self.operation_name.as_deref(),
            variables: json.as_ref().map(|json| JsonRef { json, at: 0 }),
            protocol: self.protocol,
            queries_only: self.queries_only,
            increments: self.increments,
            ..Request::new(&self.query, self.deadline)
        };
        let request = PlanRequest { request, profile: &self.profile, is_live: self.is_live };
        planner.ready(&request, PlanThread::Aside, timing)
    }
}

/// The failure of a bug, or of the end of the process.
fn broken() -> Failure {
    Failure::request("INTERNAL", "the request could not be planned")
}

/// True if a new text may take long to plan.
fn is_costly(text: &str) -> bool {
    text.len() > TEXT_BYTES_MAX || (text.len() > SPREAD_BYTES_MAX && text.contains("..."))
}

impl Planner {
    /// A planner over `graph` with an empty cache.
    pub(crate) fn new(graph: Graph, settings: Settings) -> Self {
        let plans = PlanCache::new(settings.plan_cache_bytes_max);
        let number = |observer: &dyn Observer| {
            let numbers = graph.sources().iter().map(|(source, _)| {
                let number = observer.source(source.name());
                source.database().iter().for_each(|it| observer.database(number, it));
                number
            });
            numbers.collect()
        };
        let source_numbers = settings.observer.as_deref().map_or_else(Box::default, number);
        let no_variables = Arc::default();
        let built = AtomicU64::new(0);
        let demand = settings.demand.as_deref();
        let weights = demand.map(|it| Weights::new(graph.schema(), graph.cost_rules(), it));
        Self { graph, settings, plans, no_variables, built, source_numbers, weights }
    }

    /// The plan of `request` and its variables, made away from the event loop if that may take long.
    /// # Errors
    /// The reason for which the request is not executed.
    pub(crate) async fn plan_and_bind(
        self: &Arc<Self>,
        request: &Request<'_>,
        caller: &Caller,
        is_live: bool,
        timing: &mut Timing,
    ) -> Result<Bound, Refusal> {
        let planned = PlanRequest { request: *request, profile: caller.profile(), is_live };
        let ready = match self.ready(&planned, PlanThread::Loop, timing) {
            Err(Refusal::Costly) => Box::pin(self.plan_on_own_thread(&planned, timing)).await,
            ready => ready,
        };
        let mut bound = ready?;
        if let Some(demand) = &self.settings.demand {
            bound.cost = self.check_cost(demand, &bound, request, caller.role())?;
        }
        Ok(bound)
    }

    /// Runs [`Planner::ready`] on a blocking thread.
    /// # Errors
    /// Why the request is not executed.
    async fn plan_on_own_thread(
        self: &Arc<Self>,
        request: &PlanRequest<'_>,
        timing: &mut Timing,
    ) -> Result<Bound, Refusal> {
        let Ok(runtime) = Handle::try_current() else {
            return self.ready(request, PlanThread::Aside, timing);
        };
        let Ok(_turn) = tokio::time::timeout_at(request.deadline.into(), PLANNERS.acquire()).await else {
            let words = "the request was not planned in time";
            return Err(vec![Failure::request("SOURCE_TIMEOUT", words)].into());
        };
        let owned = Owned::new(request);
        let planner = Arc::clone(self);
        let made = runtime.spawn_blocking(move || {
            let mut timing = Timing::default();
            let bound = owned.ready(&planner, &mut timing);
            (bound, timing)
        });
        match made.await {
            Ok((bound, stages)) => {
                *timing = stages;
                bound
            }
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(vec![broken()].into()),
            },
        }
    }

    /// Finds or makes the plan and binds the variables.
    ///
    /// # Errors
    /// Why the request is not executed, or [`Refusal::Costly`].
    pub(crate) fn ready(
        &self,
        request: &PlanRequest<'_>,
        place: PlanThread,
        timing: &mut Timing,
    ) -> Result<Bound, Refusal> {
        let key = request.key(None);
        let known = self.plans.get(key);
        timing.plan_hit = known.is_some();
        let (known, variables) = match known {
            Some(known) => (known, None),
            None => {
                let Opened { plan, variables } = self.open(request, place, timing)?;
                (CachedPlan::Plan(plan), variables)
            }
        };
        let operation = match &known {
            CachedPlan::Plan(plan) => &plan.operation,
            CachedPlan::Steered(operation) => operation,
        };
        let variables = match variables {
            Some(variables) => Some(variables),
            // An operation without variables needs no binding and no reading of the clock.
            None if operation.variables.is_empty() && request.variables.is_none() => None,
            None => {
                let began = Instant::now();
                let bound = self.bind(request, operation)?;
                timing.bind = began.elapsed();
                bound
            }
        };
        let values = self.values(variables.as_ref());
        let state = operation.steering.bits(values);
        let plan = match known {
            CachedPlan::Plan(plan) => plan,
            CachedPlan::Steered(_) => self.plan_for_state(request, state, place, timing)?,
        };
        let is_live = request.is_live && plan.kind == OperationKind::Subscription;
        if request.queries_only && plan.kind != OperationKind::Query && !is_live {
            let words = "Can only perform a mutation operation from a POST request.";
            let failure = Failure::request("METHOD_NOT_ALLOWED", words);
            return Err(Refusal::MethodNotAllowed(plan.kind, failure));
        }
        if plan.kind == OperationKind::Subscription && !request.is_live {
            return Err(Refusal::Subscription(Failure::request(UNSUPPORTED, UNSUPPORTED_WORDS)));
        }
        let plan = self.settle_nulls(request, plan, state, values, place, timing)?;
        Ok(Bound { plan, variables, cost: None })
    }

    /// Makes the plans of a text before anyone asks for it, and returns how many: one for each state of the variables that steer it, or
    /// none if those are many. Its variables are not read.
    ///
    /// # Errors
    /// Why the text is refused.
    pub(crate) fn prepare(&self, request: &PlanRequest<'_>) -> Result<u64, Refusal> {
        if self.plans.get(request.key(None)).is_some() {
            return Ok(0);
        }
        self.with_context(request, PlanThread::Aside, &mut Timing::default(), |context| {
            let operation = context.operation()?;
            if operation.steering.is_empty() {
                let plan = self.build(context, &operation, 0, None)?;
                self.plans.put(request.key(None), CachedPlan::Plan(plan));
                return Ok(1);
            }
            self.plans.put(request.key(None), CachedPlan::Steered(Arc::clone(&operation)));
            let states = operation.steering.states(PREPARED_STATES_MAX).unwrap_or_default();
            for state in 0..states {
                let plan = self.build(context, &operation, state, None)?;
                self.plans.put(request.key(Some(state)), CachedPlan::Plan(plan));
            }
            Ok(states)
        })
    }

    /// True if some variables let the text change data; also if they steer more plans than are looked at, or none can be made.
    pub(crate) fn may_change_data(&self, request: &PlanRequest<'_>) -> bool {
        let found = self.with_context(request, PlanThread::Aside, &mut Timing::default(), |context| {
            let operation = context.operation()?;
            let Some(states) = operation.steering.states(PREPARED_STATES_MAX) else { return Ok(true) };
            for state in 0..states {
                if self.build(context, &operation, state, None)?.may_change_data() {
                    return Ok(true);
                }
            }
            Ok(false)
        });
        found.unwrap_or(true)
    }

    /// Handles null in a position that takes none, which a default allowed a variable to have: the field with that position fails, and
    /// the request is planned again for these variables alone. The whole request is refused where a field cannot fail alone: over
    /// Hasura's protocol, in mutations, which are atomic, in introspection, and in `@skip` and `@include`, which belong to no field. No
    /// source ever sees such a null.
    ///
    /// Source: GraphQL specification, sections 5.8.5 and 6.4.1.
    fn settle_nulls(
        &self,
        request: &PlanRequest<'_>,
        plan: Arc<Plan>,
        state: u64,
        variables: &Variables,
        place: PlanThread,
        timing: &mut Timing,
    ) -> Result<Arc<Plan>, Refusal> {
        let null = |it: &&NeverNull| variables.node(it.variable) == Node::Null;
        let nulls: Vec<&NeverNull> = plan.never_null.iter().filter(null).collect();
        let steers: Vec<u32> = plan.operation.steering.nulls(plan.asked, variables).collect();
        if nulls.is_empty() && steers.is_empty() {
            return Ok(plan);
        }
        let can_fail = |it: &&NeverNull| {
            self.graph.owner(plan.output.fields[it.field as usize].field) != Owner::Introspection
        };
        let fails = request.protocol == Protocol::GraphqlOverHttp && plan.kind == OperationKind::Query;
        if fails && steers.is_empty() && nulls.iter().all(can_fail) {
            timing.plan_hit = false;
            return self.with_context(request, place, timing, |context| {
                let operation = context.operation()?;
                self.build(context, &operation, state, Some(variables))
            });
        }
        let schema = self.graph.schema();
        let mut failures: Vec<Failure> = nulls
            .iter()
            .map(|it| {
                let words = must_not_be_null(schema.input_name(it.input), &schema.type_text(it.ty));
                Failure::text(Error::new(Code::Variable, Span::new(it.offset, it.offset), words))
            })
            .collect();
        failures.extend(steers.into_iter().map(|offset| {
            let words = must_not_be_null("if", "Boolean!");
            Failure::text(Error::new(Code::Variable, Span::new(offset, offset), words))
        }));
        failures.truncate(self.settings.limits.errors_max as usize);
        Err(failures.into())
    }

    /// Plans a text that is not known; where variables steer it, for the state they are in.
    fn open(
        &self,
        request: &PlanRequest<'_>,
        place: PlanThread,
        timing: &mut Timing,
    ) -> Result<Opened, Refusal> {
        self.with_context(request, place, timing, |context| {
            let operation = context.operation()?;
            if !operation.steering.is_empty() {
                self.plans.put(request.key(None), CachedPlan::Steered(Arc::clone(&operation)));
                let variables = self.bind(request, &operation)?;
                let state = operation.steering.bits(self.values(variables.as_ref()));
                let plan = self.build(context, &operation, state, None)?;
                self.plans.put(request.key(Some(state)), CachedPlan::Plan(Arc::clone(&plan)));
                return Ok(Opened { plan, variables });
            }
            let plan = self.build(context, &operation, 0, None)?;
            self.plans.put(request.key(None), CachedPlan::Plan(Arc::clone(&plan)));
            Ok(Opened { plan, variables: None })
        })
    }

    /// The plan for one state of the variables that steer `@skip` and `@include`.
    fn plan_for_state(
        &self,
        request: &PlanRequest<'_>,
        state: u64,
        place: PlanThread,
        timing: &mut Timing,
    ) -> Result<Arc<Plan>, Refusal> {
        let key = request.key(Some(state));
        if let Some(CachedPlan::Plan(plan)) = self.plans.get(key) {
            return Ok(plan);
        }
        timing.plan_hit = false;
        self.with_context(request, place, timing, |context| {
            let operation = context.operation()?;
            let plan = self.build(context, &operation, state, None)?;
            self.plans.put(key, CachedPlan::Plan(Arc::clone(&plan)));
            Ok(plan)
        })
    }

    fn build(
        &self,
        context: &PlanContext<'_>,
        operation: &Arc<PlannedOperation>,
        state: u64,
        variables: Option<&Variables>,
    ) -> Result<Arc<Plan>, Refusal> {
        self.built.fetch_add(1, Ordering::Relaxed);
        let mut plan = build(context, operation, state, variables)?;
        if let Some(observer) = &self.settings.observer {
            let name = context.document.str(context.operation.name);
            plan.number = Some(observer.operation(&ObservedOperation {
                text: context.document.text,
                name: Some(name).filter(|it| !it.is_empty()),
                kind: plan.kind,
                coordinates: &plan.output.coordinates(self.graph.schema()),
            }));
        }
        Ok(Arc::new(plan))
    }

    /// Parses and validates, and passes the requested operation to `then`.
    fn with_context<T>(
        &self,
        request: &PlanRequest<'_>,
        place: PlanThread,
        timing: &mut Timing,
        then: impl FnOnce(&PlanContext<'_>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        if place == PlanThread::Loop && is_costly(request.query) {
            return Err(Refusal::Costly);
        }
        let Settings { limits, suggestions, .. } = self.settings;
        let edition_2026 = self.settings.edition_2026 && request.protocol == Protocol::GraphqlOverHttp;
        let mut clock = Instant::now();
        let mut lap =
            |stage: &mut Duration| *stage += std::mem::replace(&mut clock, Instant::now()).elapsed();
        let edition = if edition_2026 { Edition::September2026 } else { Edition::September2025 };
        let parsed = parser::parse_edition(request.query, &limits, edition);
        lap(&mut timing.parse);
        let mut document = parsed.map_err(|error| vec![Failure::text(error)])?;
        if let (Protocol::Hasura, Some(name)) = (request.protocol, request.operation_name) {
            chosen_operation::keep_operation(&mut document, name);
        }
        if !request.is_live {
            refuse_subscription(request, &document)?;
        }
        // Without live results a requested subscription was refused above, so the document may hold others.
        let subscriptions_beside = !request.is_live;
        let options = validate::Options { limits, suggestions, edition_2026, subscriptions_beside };
        let checked = validate::validate_for(
            request.profile.view(self.graph.schema()),
            &document,
            &options,
            scalar_reading(request.protocol),
        );
        lap(&mut timing.validate);
        let valid = checked.map_err(failures)?;
        let selected = valid.operation(request.operation_name).map_err(|error| vec![Failure::text(error)])?;
        let mut context =
            PlanContext::new(&self.graph, request.profile, &selected, request.protocol, &self.settings)?;
        context.is_incremental = request.is_incremental();
        context.weights = self.weights.as_ref();
        let made = then(&context);
        lap(&mut timing.plan);
        made
    }

    /// Coerces the variables, if there are any.
    fn bind(
        &self,
        request: &PlanRequest<'_>,
        operation: &PlannedOperation,
    ) -> Result<Option<Arc<Variables>>, Vec<Failure>> {
        if operation.variables.is_empty() && request.variables.is_none() {
            return Ok(None);
        }
        let settings = coercion(request.protocol, &self.settings);
        let mut variables = Variables::default();
        operation
            .types
            .coerce(request.profile.view(self.graph.schema()), request.variables, settings, &mut variables)
            .map_err(|errors| {
                let wording = self.graph.schema().wording;
                errors.into_iter().map(|it| Failure::variable(it, wording)).collect::<Vec<_>>()
            })?;
        Ok(Some(Arc::new(variables)))
    }

    /// The bound variables, or an empty set.
    pub(crate) fn values<'v>(&'v self, bound: Option<&'v Arc<Variables>>) -> &'v Arc<Variables> {
        bound.unwrap_or(&self.no_variables)
    }
}

/// Result of parsing and planning a text that was not in the cache.
struct Opened {
    plan: Arc<Plan>,
    /// Variables that had to be bound early because conditions of the plan depend on them.
    variables: Option<Arc<Variables>>,
}

/// Refuses a subscription before validation, which the schema may fail for lack of a root: so the client gets the right error code.
fn refuse_subscription(request: &PlanRequest<'_>, document: &Document<'_>) -> Result<(), Refusal> {
    let mut operations = document.definitions.iter().filter_map(|it| match it {
        Definition::Operation(operation) => Some(operation),
        Definition::Fragment(_) | Definition::Schema(_) | Definition::Type(_) | Definition::Directive(_) => {
            None
        }
    });
    let asked = match request.operation_name {
        Some(name) => operations.find(|it| document.str(it.name) == name),
        None => operations.next().filter(|_| operations.next().is_none()),
    };
    let Some(operation) = asked.filter(|it| it.kind == OperationKind::Subscription) else { return Ok(()) };
    let words = UNSUPPORTED_WORDS;
    if request.queries_only {
        let failure = Failure::request("METHOD_NOT_ALLOWED", words);
        return Err(Refusal::MethodNotAllowed(operation.kind, failure));
    }
    let spans = vec![operation.span];
    Err(Refusal::Subscription(Failure { spans, ..Failure::request(UNSUPPORTED, words) }))
}

fn failures(errors: Vec<Error>) -> Vec<Failure> {
    errors.into_iter().map(Failure::text).collect()
}

impl<'r> PlanRequest<'r> {
    /// True if parts of the answer may come later, and the text may ask for it.
    fn is_incremental(&self) -> bool {
        self.increments.is_some()
            && self.protocol == Protocol::GraphqlOverHttp
            && !self.is_live
            && (self.query.contains("defer") || self.query.contains("stream"))
    }

    fn key(&self, state: Option<u64>) -> PlanKeyRef<'r> {
        let Request { query: text, operation_name, protocol, .. } = self.request;
        let profile = self.profile.number();
        let is_incremental = self.is_incremental();
        PlanKeyRef { text, operation_name, protocol, profile, state, is_incremental }
    }
}

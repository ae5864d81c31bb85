//! One request through the engine: look up or make the plan, bind, execute, write.
//!
//! [`Engine::execute`] is the whole story on one screen; each stage is timed into [`Timing`].
//!
//! **Invariant:** an engine has one graph; a new schema generation is a new engine.

use crate::caller::{Caller, Identity};
use crate::compose::Graph;
use crate::consistency::Positions;
use crate::errors;
use crate::execute::{self, ExecutionContext, ExecutionResult, Observation};
use crate::observer::{Observer, Stage};
use crate::planner::{Bound, PlanRequest, PlanThread, Planner, Refusal};
use crate::profiles::Profiles;
use crate::responses::Responses;
use crate::source::{CacheControl, CacheScope, ExplainInput, Headers, NoHeaders, Protocol};
use crate::tag_versions::TagVersions;
use crate::unread::Receiver;
use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use weir_language::ast::OperationKind;
use weir_language::json::JsonRef;
use weir_language::limits::Limits;
use weir_language::schema::Schema;

/// Settings of an engine beside its graph.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bounds on documents.
    pub limits: Limits,
    /// Parts that one condition of an argument may have: comparisons and relationships.
    pub conditions_max: u32,
    /// Bytes all cached plans may take together.
    pub plan_cache_bytes_max: usize,
    /// True if callers may introspect.
    pub introspection: bool,
    /// Roles that may not, even so.
    pub without_introspection: Vec<Box<str>>,
    /// True if messages may suggest existing names.
    pub suggestions: bool,
    /// True if callers see `@defer` and `@stream`.
    pub incremental_delivery: bool,
    /// True for the rules of the September 2026 edition over [`Protocol::GraphqlOverHttp`]: selection sets may be empty. Other
    /// protocols keep the rules of the server that they emulate.
    pub edition_2026: bool,
    /// True if a variable that was not sent is null over [`Protocol::Hasura`]. Else it is absent, as over GraphQL's own protocol.
    pub unsent_is_null: bool,
    /// Answers up to this many bytes are held back whole; longer ones leave in chunks.
    pub hold_back_bytes: usize,
    /// Bytes all whole answers that are kept may take together; 0 keeps none.
    pub responses_bytes_max: usize,
    /// Listens to all that happens. It numbers operations for [`Response::operation`].
    pub observer: Option<Arc<dyn Observer>>,
}

impl Settings {
    /// Default of the library: a server's settings, without a cache of whole answers.
    pub const STANDARD: Self = Self {
        limits: Limits::STANDARD,
        conditions_max: 1_000,
        plan_cache_bytes_max: 32 << 20,
        introspection: true,
        without_introspection: Vec::new(),
        suggestions: true,
        incremental_delivery: true,
        edition_2026: true,
        unsent_is_null: true,
        hold_back_bytes: 256 << 10,
        responses_bytes_max: 0,
        observer: None,
    };
}

/// One request, borrowed from the transport's buffer.
#[derive(Clone, Copy)]
pub struct Request<'r> {
    /// The document.
    pub query: &'r str,
    /// Name of the operation to run.
    pub operation_name: Option<&'r str>,
    /// The JSON object of variables; `None` where absent or null.
    pub variables: Option<JsonRef<'r>>,
    /// Protocol of the client.
    pub protocol: Protocol,
    /// GET: only queries may run.
    pub queries_only: bool,
    /// Shape of the parts that come later, if the client takes an answer in parts.
    pub increments: Option<IncrementForm>,
    /// The client's headers.
    pub headers: &'r dyn Headers,
    /// When the first byte has to be out.
    pub deadline: Instant,
}

impl<'r> Request<'r> {
    /// A document with one operation, without variables and headers, over GraphQL over HTTP.
    #[must_use]
    pub const fn new(query: &'r str, deadline: Instant) -> Self {
        Self {
            query,
            operation_name: None,
            variables: None,
            protocol: Protocol::GraphqlOverHttp,
            queries_only: false,
            increments: None,
            headers: &NoHeaders,
            deadline,
        }
    }
}

/// Shape of the parts of an answer that come after its first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncrementForm {
    /// Each part has its path: the draft of 2022, `deferSpec=20220824`.
    Paths,
    /// Parts are announced under ids: today's draft, `incrementalSpec=v0.2`.
    Ids,
}

/// Outcome of a request, as far as the transport's status depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Executed: there is a `data` member, perhaps null, perhaps with errors beside it.
    Executed,
    /// The request failed before execution: the response has only `errors`.
    Refused,
    /// An operation of this kind came by a transport that only takes queries.
    MethodNotAllowed(OperationKind),
    /// Refused, as a subscription has many results and [`Engine::execute`] gives one: see [`crate::live`].
    Subscription,
}

/// Capacity of the sources during a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// Enough.
    Enough,
    /// One had nothing: the client should wait before it asks again.
    Exhausted,
}

/// The answer.
#[derive(Debug)]
pub struct Response {
    /// For the transport's status.
    pub outcome: Outcome,
    /// For the transport's advice when to come again.
    pub capacity: Capacity,
    /// Lifetime of the answer, if known.
    pub lifetime: Option<Lifetime>,
    /// The JSON.
    pub body: Body,
    /// Duration of each stage.
    pub timing: Timing,
    /// Token of the log positions after its changes ([`crate::consistency`]).
    pub position: Option<String>,
    /// Number of the operation, if it was executed and an observer knows it.
    pub operation: Option<u64>,
}

impl Response {
    /// Facts of it for counters and logs.
    #[must_use]
    pub fn execution(&self) -> Execution {
        let is_complete = matches!(self.body, Body::Whole(_) | Body::Shared(_));
        Execution {
            operation: self.operation,
            timing: self.timing,
            kept: self.lifetime.as_ref().map(|it| it.kept),
            has_errors: is_complete && !self.body.is_sound(),
            code: self.body.first_code().filter(|_| is_complete).map(Into::into),
        }
    }
}

/// An executed operation, for counters and logs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Execution {
    /// Number that an observer gave the operation.
    pub operation: Option<u64>,
    /// Duration of each stage.
    pub timing: Timing,
    /// Origin of an answer with a lifetime.
    pub kept: Option<Kept>,
    /// True if the answer has errors. Those of an answer that is streamed are not seen.
    pub has_errors: bool,
    /// Code of the first error.
    pub code: Option<Box<str>>,
}

/// Cache metadata of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// How long the answer stays valid; zero if a part of it failed.
    pub cache_control: CacheControl,
    /// True if the operation set the lifetime.
    pub wished: bool,
    /// Headers by which the answer varies, for `Vary`: names with commas, or nothing.
    pub vary: Arc<str>,
    /// Session variables and claims that the answer depends on, by the names of [`crate::source::PreparedFetch::reads_claims`]: a server
    /// that takes some of them from headers has to name these headers too.
    pub claims: Arc<[Box<str>]>,
    /// Origin of the answer.
    pub kept: Kept,
}

/// Origin of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It was kept whole.
    Hit,
    /// It was made for an equal request in flight.
    Joined,
    /// It was made for this request.
    Made,
}

/// Longest reported error code, in bytes.
const CODE_BYTES_MAX: usize = 64;

/// The bytes of an answer.
#[derive(Debug)]
pub enum Body {
    /// All of it.
    Whole(Vec<u8>),
    /// All of it, shared with others.
    Shared(Bytes),
    /// The bytes that are ready and the channel for the rest. A channel closed by an `Err` means: abort the connection.
    Stream {
        /// First bytes.
        head: Vec<u8>,
        /// Then these.
        rest: Receiver<Result<Vec<u8>, Aborted>>,
    },
    /// Several results, each a JSON object of its own.
    Increments {
        /// The first.
        first: Vec<u8>,
        /// Later results.
        rest: Receiver<Result<Vec<u8>, Aborted>>,
    },
}

impl Body {
    /// Code of the first error. Known errors come first.
    fn first_code(&self) -> Option<&str> {
        const MEMBER: &str = "\"code\":\"";
        let bytes: &[u8] = match self {
            Self::Whole(bytes) => bytes,
            Self::Shared(bytes) => bytes,
            Self::Stream { .. } | Self::Increments { .. } => return None,
        };
        let errors = bytes.strip_prefix(b"{\"errors\":")?;
        // Quotes within a text have a backslash before them, so this is the member and no message.
        let at = errors.windows(MEMBER.len()).position(|it| it == MEMBER.as_bytes())? + MEMBER.len();
        let code = errors[at..].split(|it| *it == b'"').next()?;
        let is_code = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-');
        let is_fit = code.len() <= CODE_BYTES_MAX && code.iter().all(is_code);
        std::str::from_utf8(code).ok().filter(|_| is_fit)
    }

    /// True if the answer is complete and without errors: known errors come first.
    pub(crate) fn is_sound(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.starts_with(b"{\"data\":{"),
            Self::Shared(bytes) => bytes.starts_with(b"{\"data\":{"),
            Self::Stream { .. } | Self::Increments { .. } => false,
        }
    }
}

/// The source died in the middle of a long answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aborted;

/// Time per stage. `plan` stages are zero on a hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// True if the plan was in the cache.
    pub plan_hit: bool,
    /// Time to lex and parse.
    pub parse: Duration,
    /// Validation.
    pub validate: Duration,
    /// Time to plan and prepare nodes.
    pub plan: Duration,
    /// Time to coerce variables.
    pub bind: Duration,
    /// Time to wait for the sources and write their answers.
    pub execute: Duration,
    /// Fetches from sources; 0 without an observer.
    pub fetches: u32,
    /// Time for which the request held its thread in the engine; set by who polls it.
    pub busy: Duration,
}

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
    #[must_use]
    pub fn new(mut graph: Graph, settings: Settings) -> Self {
        if !settings.incremental_delivery {
            graph.hide_incremental_delivery();
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
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        self.planner.graph.schema()
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.planner.graph
    }

    /// Size, hits and misses of the plan cache.
    #[must_use]
    pub fn plan_cache(&self) -> PlanCacheState {
        PlanCacheState {
            entries: self.planner.plans.len(),
            bytes: self.planner.plans.bytes(),
            built: self.planner.built.load(Ordering::Relaxed),
        }
    }

    /// The caller that `identity` is for this graph.
    #[must_use]
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
            Err(refusal) => return refusal_response(refusal, &request, timing),
        };
        let Request { protocol, query: text, headers, deadline, .. } = request;
        let bound = &bound;
        let input = RunInput { bound, caller, headers, protocol, text, deadline, observation };
        if let Some((deferral, form)) = bound.plan.deferral.as_deref().zip(request.increments) {
            return Box::pin(self.answer_in_parts(&input, (deferral, form), clock, &mut timing)).await;
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
        let RunInput { bound, caller, headers, protocol, text, deadline, observation } = *input;
        let Bound { plan, variables } = bound;
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
        };
        let (ExecutionResult { body, capacity, cache_control }, kept) = match &plan.sharing {
            None => (execute::run(run).await, Kept::Made),
            Some(sharing) => Box::pin(execute::run_shared(run, sharing, &self.responses)).await,
        };
        timing.execute = started.elapsed();
        if let Some(observation) = observation {
            timing.fetches = observation.fetches.load(Ordering::Relaxed);
            observation.stage(Stage::Execute, started, timing.execute);
        }
        let lifetime = cache_control.map(|told| Lifetime {
            cache_control: if plan.is_private(caller, headers) {
                CacheControl { scope: CacheScope::Private, ..told }
            } else {
                told
            },
            wished: plan.operation.cache_directive.is_some(),
            vary: Arc::clone(plan.sharing.as_ref().map_or(&self.no_headers, |it| &it.vary)),
            claims: Arc::clone(plan.sharing.as_ref().map_or(&self.no_claims, |it| &it.claims)),
            kept,
        });
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

    /// Number of cached whole answers, and their approximate size in bytes.
    pub fn responses(&self) -> (usize, u64) {
        self.responses.count_and_bytes()
    }

    /// Plans `request` without running it, and describes what the sources would run.
    /// # Errors
    /// The `{"errors": [...]}` a client would get.
    pub fn explain(&self, request: Request<'_>, caller: &Caller) -> Result<Explanation, Vec<u8>> {
        let asked = PlanRequest { request, profile: caller.profile(), is_live: true };
        let ready = self.planner.ready(&asked, PlanThread::Aside, &mut Timing::default());
        let Bound { plan, variables } = ready.map_err(|refusal| {
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

/// A bound plan and what it is run with.
pub(crate) struct RunInput<'r> {
    pub(crate) bound: &'r Bound,
    pub(crate) caller: &'r Caller,
    pub(crate) headers: &'r dyn Headers,
    pub(crate) protocol: Protocol,
    pub(crate) text: &'r str,
    pub(crate) deadline: Instant,
    pub(crate) observation: Option<&'r Observation<'r>>,
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
        Refusal::Failures(_) | Refusal::Costly => Outcome::Refused,
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

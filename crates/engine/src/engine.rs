//! One request through the engine: look up or make the plan, bind, execute, write.
//!
//! [`Engine::execute`] is the whole story on one screen; each stage is timed into [`Timing`].
//!
//! **Invariant:** an engine has one graph; a new schema generation is a new engine.

use crate::changes::Changes;
use crate::compose::Graph;
use crate::compose::Owner;
use crate::errors::{self, Failure};
use crate::execute::{self, Ran, Run};
use crate::plan::build::{Question, build, coercion, reading};
use crate::plan::cache::{KeyRef, Known, PlanCache};
use crate::plan::refused::must_not_be_null;
use crate::plan::{NeverNull, Plan, PlannedOperation};
use crate::responses::Responses;
use crate::source::{Accent, Caller, Freshness, Headers, NoHeaders, Scope};
use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use weir_language::ast::{Definition, Document, OperationKind};
use weir_language::error::{Code, Error};
use weir_language::json::JsonRef;
use weir_language::limits::Limits;
use weir_language::parser::{self, Edition};
use weir_language::schema::Schema;
use weir_language::span::Span;
use weir_language::validate;
use weir_language::value::{Node, Variables};

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
    /// True if messages may suggest existing names.
    pub suggestions: bool,
    /// True for the rules of the September 2026 edition.
    pub edition_2026: bool,
    /// Answers up to this many bytes are held back whole; longer ones leave in chunks.
    pub hold_back_bytes: usize,
    /// Bytes all whole answers that are kept may take together; 0 keeps none.
    pub responses_bytes_max: usize,
}

impl Settings {
    /// Default of the library: a server's settings, without a cache of whole answers.
    pub const STANDARD: Self = Self {
        limits: Limits::STANDARD,
        conditions_max: 1_000,
        plan_cache_bytes_max: 32 << 20,
        introspection: true,
        suggestions: true,
        edition_2026: false,
        hold_back_bytes: 256 << 10,
        responses_bytes_max: 0,
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
    pub accent: Accent,
    /// GET: only queries may run.
    pub queries_only: bool,
    /// The client's headers.
    pub headers: &'r dyn Headers,
    /// When the first byte has to be out.
    pub deadline: Instant,
}

impl<'r> Request<'r> {
    /// A document with one operation, without variables and headers, in the specification's accent.
    #[must_use]
    pub const fn new(query: &'r str, deadline: Instant) -> Self {
        Self {
            query,
            operation_name: None,
            variables: None,
            accent: Accent::Spec,
            queries_only: false,
            headers: &NoHeaders,
            deadline,
        }
    }
}

/// Outcome of a request, as far as the transport's status depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Executed: there is a `data` member, perhaps null, perhaps with errors beside it.
    Executed,
    /// Refused before anything was executed: only `errors`.
    Refused,
    /// A mutation came by a transport that only takes queries.
    MethodNotAllowed,
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
}

/// Cache metadata of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// Remaining lifetime; none if something failed.
    pub freshness: Freshness,
    /// True if the operation set the lifetime.
    pub wished: bool,
    /// The headers by which sources tell callers apart, for `Vary`: names with commas, or nothing.
    pub vary: Arc<str>,
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
        rest: tokio::sync::mpsc::Receiver<Result<Vec<u8>, Aborted>>,
    },
}

impl Body {
    /// True if the answer is complete and without errors: known errors come first.
    pub(crate) fn is_sound(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.starts_with(b"{\"data\":{"),
            Self::Shared(bytes) => bytes.starts_with(b"{\"data\":{"),
            Self::Stream { .. } => false,
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
    /// Lexing and parsing.
    pub parse: Duration,
    /// Validation.
    pub validate: Duration,
    /// Planning and preparing pieces.
    pub plan: Duration,
    /// Coercing variables.
    pub bind: Duration,
    /// Waiting for and writing of the sources' answers.
    pub execute: Duration,
}

/// The engine of one graph.
pub struct Engine {
    graph: Graph,
    settings: Settings,
    plans: PlanCache,
    /// For operations without variables.
    no_variables: Arc<Variables>,
    /// For answers that no header tells apart.
    no_headers: Arc<str>,
    responses: Responses,
    built: AtomicU64,
}

/// An operation ready to be run.
struct Bound {
    plan: Arc<Plan>,
    /// `None`: those of the engine that stand for no variables.
    variables: Option<Arc<Variables>>,
}

/// Why a request is not executed.
enum Refusal {
    Failures(Vec<Failure>),
    MethodNotAllowed(Failure),
}

impl From<Vec<Failure>> for Refusal {
    fn from(failures: Vec<Failure>) -> Self {
        Self::Failures(failures)
    }
}

impl Engine {
    /// An engine over `graph` with an empty plan cache.
    #[must_use]
    pub fn new(graph: Graph, settings: Settings) -> Self {
        let plans = PlanCache::new(settings.plan_cache_bytes_max);
        let responses = Responses::new(settings.responses_bytes_max, Arc::default());
        let (no_variables, no_headers, built) = (Arc::default(), Arc::from(""), AtomicU64::new(0));
        Self { graph, settings, plans, no_variables, no_headers, responses, built }
    }

    /// The same with `changes` that others have too, instead of its own: what they change makes its answers old.
    #[must_use]
    pub fn sharing(self, changes: Arc<Changes>) -> Self {
        Self { responses: Responses::new(self.settings.responses_bytes_max, changes), ..self }
    }

    /// The graph's schema.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        self.graph.schema()
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Size, hits and misses of the plan cache.
    #[must_use]
    pub fn plan_cache(&self) -> PlanCacheState {
        PlanCacheState {
            entries: self.plans.len(),
            bytes: self.plans.bytes(),
            built: self.built.load(Ordering::Relaxed),
        }
    }

    /// Answers `request`. Never fails: what goes wrong is in the response.
    pub async fn execute(&self, request: Request<'_>, caller: &Caller) -> Response {
        let Request { accent, query: text, headers, deadline, .. } = request;
        let mut timing = Timing::default();
        let bound = match self.ready(&request, &mut timing) {
            Ok(bound) => bound,
            Err(refusal) => {
                let (outcome, failures) = match refusal {
                    Refusal::Failures(failures) => (Outcome::Refused, failures),
                    Refusal::MethodNotAllowed(failure) => (Outcome::MethodNotAllowed, vec![failure]),
                };
                let body = Body::Whole(errors::refused(accent, text, &failures));
                return Response { outcome, capacity: Capacity::Enough, lifetime: None, body, timing };
            }
        };
        let started = Instant::now();
        let Bound { plan, variables } = &bound;
        let variables = self.values(variables.as_ref());
        let graph = &self.graph;
        let Settings { hold_back_bytes, conditions_max, .. } = self.settings;
        let changes = &*self.responses.changes;
        let run = Run {
            graph,
            plan,
            variables,
            changes,
            caller,
            headers,
            accent,
            text,
            deadline,
            hold_back_bytes,
            conditions_max,
        };
        let (Ran { body, capacity, freshness }, kept) = match &plan.sharing {
            None => (execute::run(run).await, Kept::Made),
            Some(sharing) => Box::pin(execute::run_shared(run, sharing, &self.responses)).await,
        };
        timing.execute = started.elapsed();
        // An answer for a credential is private to its client.
        let is_personal = freshness.is_some() && plan.pieces.iter().any(|it| it.fetch.is_personal(headers));
        let lifetime = freshness.map(|told| Lifetime {
            freshness: if is_personal { Freshness { scope: Scope::Private, ..told } } else { told },
            wished: plan.operation.wish.is_some(),
            vary: Arc::clone(plan.sharing.as_ref().map_or(&self.no_headers, |it| &it.vary)),
            kept,
        });
        Response { outcome: Outcome::Executed, capacity, lifetime, body, timing }
    }

    /// Number of cached whole answers, and their approximate size in bytes.
    pub fn responses(&self) -> (usize, u64) {
        self.responses.filling()
    }

    /// Plans `request` without running it and says what would be asked of the sources.
    /// # Errors
    /// The `{"errors": [...]}` a client would get.
    pub fn explain(&self, request: Request<'_>, _caller: &Caller) -> Result<Explanation, Vec<u8>> {
        let ready = self.ready(&request, &mut Timing::default());
        let Bound { plan, .. } = ready.map_err(|refusal| {
            let failures = match refusal {
                Refusal::Failures(failures) => failures,
                Refusal::MethodNotAllowed(failure) => vec![failure],
            };
            errors::refused(request.accent, request.query, &failures)
        })?;
        let pieces = plan.pieces.iter().map(|piece| {
            let name =
                piece.source.map_or("introspection", |it| self.graph.sources()[usize::from(it)].0.name());
            let mut text = String::new();
            piece.fetch.explain(&mut text);
            (name.to_owned(), text)
        });
        Ok(Explanation { plan: plan.print(&self.graph), pieces: pieces.collect() })
    }

    /// Finds or makes the plan and binds the variables.
    fn ready(&self, request: &Request<'_>, timing: &mut Timing) -> Result<Bound, Refusal> {
        let mut clock = Instant::now();
        let key = request.key(None);
        let known = self.plans.get(key);
        timing.plan_hit = known.is_some();
        let (known, variables) = match known {
            Some(known) => (known, None),
            None => {
                let Opened { plan, variables } = self.open(request, timing)?;
                clock = Instant::now();
                (Known::Plan(plan), variables)
            }
        };
        let operation = match &known {
            Known::Plan(plan) => &plan.operation,
            Known::Steered(operation) => operation,
        };
        let variables = match variables {
            Some(variables) => Some(variables),
            None => self.bind(request, operation)?,
        };
        let values = self.values(variables.as_ref());
        let state = operation.steering.bits(values);
        timing.bind = clock.elapsed();
        let plan = match known {
            Known::Plan(plan) => plan,
            Known::Steered(_) => self.plan_for_state(request, state, timing)?,
        };
        if request.queries_only && plan.kind != OperationKind::Query {
            let words = "Can only perform a mutation operation from a POST request.";
            return Err(Refusal::MethodNotAllowed(Failure::request("METHOD_NOT_ALLOWED", words)));
        }
        let plan = self.settle_nulls(request, plan, state, values, timing)?;
        Ok(Bound { plan, variables })
    }

    /// Null in a place that takes none, where a default let the variable stand, fails the field that has the place: the
    /// plan is made anew for these variables alone. Where that cannot be the whole request is refused: under Hasura's accent,
    /// in mutations, which are in or out, in introspection, where nothing fails, and in `@skip` and `@include`, which
    /// belong to no field. No source ever sees such a null.
    ///
    /// Source: GraphQL specification, sections 5.8.5 and 6.4.1.
    fn settle_nulls(
        &self,
        request: &Request<'_>,
        plan: Arc<Plan>,
        state: u64,
        variables: &Variables,
        timing: &mut Timing,
    ) -> Result<Arc<Plan>, Refusal> {
        let null = |it: &&NeverNull| variables.node(it.variable) == Node::Null;
        let nulls: Vec<&NeverNull> = plan.never_null.iter().filter(null).collect();
        let steers = plan.operation.steering.is_null(plan.asked, variables);
        if nulls.is_empty() && !steers {
            return Ok(plan);
        }
        let can_fail = |it: &&NeverNull| {
            self.graph.owner(plan.shape.fields[it.field as usize].field) != Owner::Introspection
        };
        let fails = request.accent == Accent::Spec && plan.kind == OperationKind::Query;
        if fails && !steers && nulls.iter().all(can_fail) {
            timing.plan_hit = false;
            return self.with_question(request, timing, |question| {
                let operation = question.operation()?;
                self.build(question, &operation, state, Some(variables))
            });
        }
        let schema = self.schema();
        let mut failures: Vec<Failure> = nulls
            .iter()
            .map(|it| {
                let words = must_not_be_null(schema.input_name(it.input), &schema.type_text(it.ty));
                Failure::text(Error::new(Code::Variable, Span::new(it.offset, it.offset), words))
            })
            .collect();
        if steers {
            failures.push(Failure::request(Code::Variable.text(), &must_not_be_null("if", "Boolean!")));
        }
        failures.truncate(self.settings.limits.errors_max as usize);
        Err(failures.into())
    }

    /// Plans a text that is not known; where variables steer it, for the state they are in.
    fn open(&self, request: &Request<'_>, timing: &mut Timing) -> Result<Opened, Refusal> {
        self.with_question(request, timing, |question| {
            let operation = question.operation()?;
            if !operation.steering.is_empty() {
                self.plans.put(request.key(None), Known::Steered(Arc::clone(&operation)));
                let variables = self.bind(request, &operation)?;
                let state = operation.steering.bits(self.values(variables.as_ref()));
                let plan = self.build(question, &operation, state, None)?;
                self.plans.put(request.key(Some(state)), Known::Plan(Arc::clone(&plan)));
                return Ok(Opened { plan, variables });
            }
            let plan = self.build(question, &operation, 0, None)?;
            self.plans.put(request.key(None), Known::Plan(Arc::clone(&plan)));
            Ok(Opened { plan, variables: None })
        })
    }

    /// The plan for one state of the variables that steer `@skip` and `@include`.
    fn plan_for_state(
        &self,
        request: &Request<'_>,
        state: u64,
        timing: &mut Timing,
    ) -> Result<Arc<Plan>, Refusal> {
        let key = request.key(Some(state));
        if let Some(Known::Plan(plan)) = self.plans.get(key) {
            return Ok(plan);
        }
        timing.plan_hit = false;
        self.with_question(request, timing, |question| {
            let operation = question.operation()?;
            let plan = self.build(question, &operation, state, None)?;
            self.plans.put(key, Known::Plan(Arc::clone(&plan)));
            Ok(plan)
        })
    }

    fn build(
        &self,
        question: &Question<'_>,
        operation: &Arc<PlannedOperation>,
        state: u64,
        variables: Option<&Variables>,
    ) -> Result<Arc<Plan>, Refusal> {
        self.built.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::new(build(question, operation, state, variables)?))
    }

    /// Parses and validates, and hands on what is asked.
    fn with_question<T>(
        &self,
        request: &Request<'_>,
        timing: &mut Timing,
        then: impl FnOnce(&Question<'_>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let Settings { limits, suggestions, edition_2026, .. } = self.settings;
        let mut clock = Instant::now();
        let mut lap =
            |stage: &mut Duration| *stage += std::mem::replace(&mut clock, Instant::now()).elapsed();
        let edition = if edition_2026 { Edition::September2026 } else { Edition::September2025 };
        let parsed = parser::parse_edition(request.query, &limits, edition);
        lap(&mut timing.parse);
        let document = parsed.map_err(|error| vec![Failure::text(error)])?;
        refuse_subscription(request, &document)?;
        let options = validate::Options { limits, suggestions, edition_2026 };
        let checked = validate::validate_for(self.schema(), &document, &options, reading(request.accent));
        lap(&mut timing.validate);
        let valid = checked.map_err(failures)?;
        let selected = valid.operation(request.operation_name).map_err(|error| vec![Failure::text(error)])?;
        let question = Question::new(&self.graph, &selected, request.accent, &self.settings)?;
        let made = then(&question);
        lap(&mut timing.plan);
        made
    }

    /// Coerces the variables, if there are any.
    fn bind(
        &self,
        request: &Request<'_>,
        operation: &PlannedOperation,
    ) -> Result<Option<Arc<Variables>>, Vec<Failure>> {
        if operation.variables.is_empty() && request.variables.is_none() {
            return Ok(None);
        }
        let settings = coercion(request.accent, &self.settings.limits);
        let mut variables = Variables::default();
        operation.types.coerce(self.schema(), request.variables, settings, &mut variables).map_err(
            |errors| {
                let wording = self.schema().wording;
                errors.into_iter().map(|it| Failure::variable(it, wording)).collect::<Vec<_>>()
            },
        )?;
        Ok(Some(Arc::new(variables)))
    }

    /// The bound variables, or an empty set.
    fn values<'v>(&'v self, bound: Option<&'v Arc<Variables>>) -> &'v Arc<Variables> {
        bound.unwrap_or(&self.no_variables)
    }
}

/// Result of parsing and planning a text that was not in the cache.
struct Opened {
    plan: Arc<Plan>,
    /// Bound already, where they steer the plan.
    variables: Option<Arc<Variables>>,
}

/// Refuses a subscription before it is held against a schema, which need not have a root for it: its code says what is the matter.
fn refuse_subscription(request: &Request<'_>, document: &Document<'_>) -> Result<(), Refusal> {
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
    let words = "subscriptions are not supported: send a query";
    if request.queries_only {
        return Err(Refusal::MethodNotAllowed(Failure::request("METHOD_NOT_ALLOWED", words)));
    }
    let spans = vec![operation.span];
    Err(vec![Failure { spans, ..Failure::request("SUBSCRIPTIONS_UNSUPPORTED", words) }].into())
}

fn failures(errors: Vec<Error>) -> Vec<Failure> {
    errors.into_iter().map(Failure::text).collect()
}

impl<'r> Request<'r> {
    fn key(&self, state: Option<u64>) -> KeyRef<'r> {
        let Self { query: text, operation_name, accent, .. } = *self;
        KeyRef { text, operation_name, accent, state }
    }
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
    /// Per piece: the source's name and what it would be asked (SQL).
    pub pieces: Vec<(String, String)>,
}

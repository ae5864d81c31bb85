//! A schema with its resolvers, ready to answer.
//!
//! **Invariant:** a schema never changes; all requests share its plans.
//!
//! **Cost:** a request whose plan is known costs one look-up, one bind, and its steps.

pub(crate) mod builder;
pub(crate) mod typed_fields;

use crate::context::data::Data;
use crate::context::request_data::{Company, RequestData};
use crate::library::request_hooks::{RequestCall, RequestHook, RequestUnderWay};
use crate::library::schema_usage::UsageObserver;
use crate::library::{Library, visible_members};
use crate::request::{IncrementalResponse, Request, Response};
use crate::resolve_error::ResolveError;
use crate::step::library_source::LibrarySource;
use crate::step::subscription_events::{self, Shared};
use futures_util::future::join_all;
use futures_util::stream::BoxStream;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use weir_engine::caller::{Caller, Identity};
use weir_engine::compose::Graph;
use weir_engine::engine::{self, Engine, IncrementForm, Outcome, Settings};
use weir_engine::memory::AnswerError;
use weir_engine::source::{EnrichedHeaders, Source};
use weir_engine::usage::Usage;
use weir_language::ast::OperationKind;
use weir_language::schema::print;

/// A schema that answers requests. It needs a Tokio runtime with time.
///
/// ```
/// use futures_util::StreamExt;
/// use std::time::Duration;
/// use weir_runtime::{Context, Request, Schema, root, stream};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = Schema::builder("type Query { hello: String! } type Subscription { ticks: Int! }")
///     .resolve("Query.hello", root(|_: &(), _: &Context| "world"))
///     .resolve("Subscription.ticks", stream(|_: &(), _: &Context| futures_util::stream::iter([1, 2])))
///     .build()?;
/// assert!(schema.sdl().contains("hello: String!") && schema.sorted_sdl().contains("ticks: Int!"));
/// assert_eq!(schema.steps(Request::new("{ hello }")).ok(), Some(vec!["resolver Query.hello".to_owned()]));
/// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
/// runtime.block_on(async {
///     let both = schema.execute_all(vec![Request::new("{ hello }"), Request::new("{ again: hello }")]).await;
///     assert_eq!(both[1].text(), r#"{"data":{"again":"world"}}"#);
///     let results = schema.subscribe(Request::new("subscription { ticks }"), Duration::from_secs(5)).await;
///     let results: Vec<String> = results.expect("it is sound").map(|it| it.text().to_owned()).collect().await;
///     assert_eq!(results, [r#"{"data":{"ticks":1}}"#, r#"{"data":{"ticks":2}}"#]);
/// });
/// # Ok(())
/// # }
/// ```
pub struct Schema {
    library: Arc<Library>,
    engine: Arc<Engine>,
    /// The caller of requests without an identity.
    nobody: Caller,
    hooks: Vec<Arc<dyn RequestHook>>,
    usage: Option<Arc<UsageObserver>>,
}

impl Schema {
    pub(crate) fn new(
        library: Arc<Library>,
        graph: Graph,
        settings: Settings,
        hooks: Vec<Arc<dyn RequestHook>>,
        usage: Option<Arc<UsageObserver>>,
    ) -> Self {
        let engine = Arc::new(Engine::new(graph, settings));
        let identity =
            Identity { role: "".into(), is_backend: false, is_anonymous: true, claims: Arc::default() };
        let nobody = engine.caller(&identity);
        Self { library, engine, nobody, hooks, usage }
    }

    /// The engine, for a server that reads requests itself.
    #[must_use]
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    pub(crate) fn library(&self) -> &Arc<Library> {
        &self.library
    }

    /// The caller with `identity`.
    pub(crate) fn caller(&self, identity: Option<&Identity>) -> Caller {
        identity.map_or_else(|| self.nobody.clone(), |it| self.engine.caller(it))
    }

    /// The caller with `identity`.
    /// # Errors
    /// The response to a caller whose profile is beyond the bound.
    fn admit_caller(&self, identity: Option<&Identity>) -> Result<Caller, Box<Response>> {
        /// Place of the library among the sources of its graph.
        const OWN: u16 = 0;
        let caller = self.caller(identity);
        match visible_members::profile_limit_error(caller.profile().facts(OWN)) {
            Some(error) => Err(Box::new(Response::from_error(&error))),
            None => Ok(caller),
        }
    }

    /// The resolvers as a source, for another graph.
    #[must_use]
    pub fn source(&self) -> Arc<dyn Source> {
        Arc::new(LibrarySource(Arc::clone(&self.library)))
    }

    /// The schema of the whole graph as SDL.
    #[must_use]
    pub fn sdl(&self) -> String {
        print::print(self.engine.schema(), print::Order::Defined)
    }

    /// SDL like [`Schema::sdl`], sorted by name: equal for equal schemas.
    #[must_use]
    pub fn sorted_sdl(&self) -> String {
        print::print(self.engine.schema(), print::Order::ByName)
    }

    /// Executions so far by operation, field and argument; `None` without [`crate::SchemaBuilder::count_usage`]. Answers in parts are
    /// counted with their first part, events of a subscription one by one.
    ///
    /// ```
    /// use weir_runtime::{Context, Request, Schema, root};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let schema = Schema::builder("type Query { hello: String! old: Int }")
    ///     .resolve("Query.hello", root(|_: &(), _: &Context| "world"))
    ///     .resolve("Query.old", root(|_: &(), _: &Context| 1))
    ///     .count_usage()
    ///     .build()?;
    /// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    /// runtime.block_on(schema.execute(Request::new("query Q { hello }")));
    /// let usage = schema.usage().ok_or("it is counted")?;
    /// assert_eq!(usage.coordinates.get("Query.hello"), Some(&1));
    /// assert_eq!(usage.coordinates.get("Query.old"), None);
    /// assert_eq!(&*usage.operations[0].operation.name, "Q");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.usage.as_ref().map(|it| it.usage())
    }

    /// Answers `request`. Never fails: errors are in the response.
    pub async fn execute(&self, request: Request<'_>) -> Response {
        self.execute_in(request, None).await
    }

    /// Answers several requests concurrently. The loaders of queries share one memory: keys of the same level are loaded by one call
    /// for all requests, and known keys are not loaded again. A mutation has a memory of its own.
    pub async fn execute_all(&self, requests: Vec<Request<'_>>) -> Vec<Response> {
        let company = Company::default();
        let all = requests.into_iter().map(|it| self.execute_in(it, Some(company.clone())));
        company.turns.run(join_all(all)).await
    }

    /// Answers `request` in parts, if it has `@defer`: the first has all but the late fragments.
    ///
    /// ```
    /// use futures_util::StreamExt;
    /// use weir_runtime::{Context, IncrementForm, Request, Schema, root};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let schema = Schema::builder("type Query { fast: Int slow: Int }")
    ///     .resolve("Query.fast", root(|_: &(), _: &Context| 1))
    ///     .resolve("Query.slow", root(|_: &(), _: &Context| 2))
    ///     .build()?;
    /// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    /// runtime.block_on(async {
    ///     let request = Request::new("{ fast ... @defer { slow } }");
    ///     let mut answer = schema.execute_incremental(request, IncrementForm::Paths).await;
    ///     assert_eq!(answer.first.text(), r#"{"data":{"fast":1},"hasNext":true}"#);
    ///     let part = answer.rest.next().await.unwrap_or_default();
    ///     assert_eq!(part, br#"{"incremental":[{"path":[],"data":{"slow":2}}],"hasNext":false}"#);
    /// });
    /// # Ok(())
    /// # }
    /// ```
    pub async fn execute_incremental(
        &self,
        request: Request<'_>,
        form: IncrementForm,
    ) -> IncrementalResponse {
        match self.run(request, None, Some(form)).await {
            Ok(response) => IncrementalResponse::of(response).await,
            Err(refused) => IncrementalResponse::whole(*refused),
        }
    }

    async fn execute_in(&self, request: Request<'_>, company: Option<Company>) -> Response {
        match self.run(request, company, None).await {
            Ok(response) => Response::collect(response).await,
            Err(refused) => *refused,
        }
    }

    /// Calls `before` of the request hooks for `request`, which has `data`.
    /// # Errors
    /// The response to a request that one of them refuses.
    fn begin<'r>(
        &'r self,
        request: &'r Request<'_>,
        data: &'r Data,
    ) -> Result<Option<RequestUnderWay<'r>>, Box<Response>> {
        let Request { query, operation_name, identity, .. } = request;
        let operation_name = *operation_name;
        let identity = identity.as_ref();
        let refused =
            |error: ResolveError| Box::new(Response::from_error(&error.field_error(Some(&*self.library))));
        let call = RequestCall { query, operation_name, identity, data };
        RequestUnderWay::begin(&self.hooks, call).map_err(refused)
    }

    /// # Errors
    /// The response to variables that cannot be read, to a caller that is refused, or to a request that an interceptor refuses.
    async fn run(
        &self,
        mut request: Request<'_>,
        company: Option<Company>,
        increments: Option<IncrementForm>,
    ) -> Result<engine::Response, Box<Response>> {
        let tape = request.variables.read().map_err(|it| Box::new(Response::bad_variables(&it)))?;
        let data = Arc::new(std::mem::take(&mut request.data));
        let mut under_way = self.begin(&request, &data)?;
        let own = Arc::clone(&data);
        let uploads = Arc::clone(&request.uploads);
        let own =
            RequestData { data: own, memory: Arc::default(), uploads, company, event: Mutex::default() };
        let headers = &EnrichedHeaders::with_data(request.headers, Arc::new(own));
        let asked = engine::Request { increments, ..request.for_engine(tape.as_ref(), headers) };
        let caller = self.admit_caller(request.identity.as_ref())?;
        let began = Instant::now();
        let response = self.engine.execute(asked, &caller).await;
        if let Some(usage) = &self.usage {
            usage.note(&response, began.elapsed());
        }
        if let Some(under_way) = &mut under_way {
            under_way.outcome = response.outcome;
        }
        Ok(response)
    }

    /// Opens a subscription: each item is a whole response. The stream ends with that of the resolver. A query or mutation is one
    /// response.
    ///
    /// - `patience`: time for the first byte of each response.
    ///
    /// # Errors
    /// The response to a request that is refused.
    pub async fn subscribe(
        &self,
        mut request: Request<'_>,
        patience: Duration,
    ) -> Result<BoxStream<'static, Response>, Response> {
        let tape = request.variables.read().map_err(|it| Response::bad_variables(&it))?;
        let data = Arc::new(std::mem::take(&mut request.data));
        let mut under_way = self.begin(&request, &data).map_err(|it| *it)?;
        // A mutation over a GET is refused below: the engine does not know the transport of a bound operation.
        let asked = request.for_engine(tape.as_ref(), request.headers);
        let asked = engine::Request { queries_only: false, ..asked };
        let caller = self.admit_caller(request.identity.as_ref()).map_err(|it| *it)?;
        let bound = self.engine.bind(asked, &caller).await;
        let operation = match bound {
            Ok(operation) => operation,
            Err(response) => return Err(Response::collect(response).await),
        };
        if request.queries_only && operation.kind() == OperationKind::Mutation {
            return Err(Response::method_not_allowed(operation.kind()));
        }
        let engine = Arc::clone(&self.engine);
        let data = Arc::clone(&data);
        let usage = self.usage.clone();
        let uploads = Arc::clone(&request.uploads);
        let shared = Shared { engine, operation, data, uploads, patience, usage };
        let opened = subscription_events::open(shared).await.map_err(|error| Response::from_error(&error))?;
        if let Some(under_way) = &mut under_way {
            under_way.outcome = Outcome::Executed;
        }
        Ok(opened)
    }

    /// True if `request` is a sound subscription of its caller. Its plan is made, nothing runs.
    #[cfg(feature = "http")]
    pub(crate) async fn is_subscription(&self, request: &Request<'_>) -> bool {
        let Ok(tape) = request.variables.read() else { return false };
        let asked = request.for_engine(tape.as_ref(), request.headers);
        let asked = engine::Request { queries_only: false, ..asked };
        let Ok(caller) = self.admit_caller(request.identity.as_ref()) else { return false };
        let bound = self.engine.bind(asked, &caller).await;
        bound.is_ok_and(|it| it.kind() == OperationKind::Subscription)
    }

    /// The calls of `request`, in the order of the plan: `resolver User.posts` for each step, without running it. For tests that assert
    /// how often resolvers are called. The plan is that of the request's caller.
    /// # Errors
    /// The response to a request that is refused.
    pub fn steps(&self, request: Request<'_>) -> Result<Vec<String>, Box<Response>> {
        let pieces = self.explain(request)?.steps;
        Ok(pieces.into_iter().map(|it| it.1.trim_end().to_owned()).collect())
    }

    /// The plan of `request` for its caller and the resolvers that it calls, without running it.
    /// # Errors
    /// The response to a request that is refused.
    pub fn explain(&self, request: Request<'_>) -> Result<engine::Explanation, Box<Response>> {
        let tape = request.variables.read().map_err(|it| Box::new(Response::bad_variables(&it)))?;
        let caller = self.caller(request.identity.as_ref());
        let asked = request.for_engine(tape.as_ref(), request.headers);
        self.engine.explain(asked, &caller).map_err(|it| Box::new(Response::of_errors(it)))
    }
}

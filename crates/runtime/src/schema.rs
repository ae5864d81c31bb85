//! A schema with its resolvers, ready to answer.
//!
//! **Invariant:** a schema never changes; all requests share its plans.
//!
//! **Cost:** a request whose plan is known costs one look-up, one bind, and its steps.

use crate::library::Library;
use crate::library_source::LibrarySource;
use crate::loader::RequestMemory;
use crate::request::{Request, RequestVariables, Response};
use crate::request_data::{RequestData, SubscriptionStep};
use crate::subscribe;
use crate::turns::Turns;
use futures_util::future::join_all;
use futures_util::stream::BoxStream;
use std::any::Any;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use weir_engine::caller::{Caller, Identity};
use weir_engine::compose::Graph;
use weir_engine::engine::{self, Engine, Settings};
use weir_engine::source::{NoHeaders, Protocol, Source, WithData};
use weir_language::json::Json;
use weir_language::schema::print;

/// Nesting of variables.
const VARIABLES_DEPTH_MAX: u32 = 200;

/// A schema that answers requests. It needs a Tokio runtime with time.
pub struct Schema {
    library: Arc<Library>,
    engine: Arc<Engine>,
    /// The caller of requests without an identity.
    nobody: Caller,
}

impl Schema {
    pub(crate) fn new(library: Arc<Library>, graph: Graph, settings: Settings) -> Self {
        let engine = Arc::new(Engine::new(graph, settings));
        let identity =
            Identity { role: "".into(), is_backend: false, is_anonymous: true, claims: Arc::default() };
        let nobody = engine.caller(&identity);
        Self { library, engine, nobody }
    }

    /// The engine, for a server that reads requests itself.
    #[must_use]
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
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

    /// As [`Schema::sdl`], everything ordered by name: equal for equal schemas.
    #[must_use]
    pub fn sorted_sdl(&self) -> String {
        print::print(self.engine.schema(), print::Order::ByName)
    }

    /// Answers `request`. Never fails: what goes wrong is in the response.
    pub async fn execute(&self, request: Request<'_>) -> Response {
        self.execute_in(request, Arc::default(), None).await
    }

    /// Answers several requests at the same time. Their loaders share one memory: keys that are said at the same level of several
    /// requests are loaded by one call, keys that are known are not loaded again. Mutations do not load together with others.
    pub async fn execute_all(&self, requests: Vec<Request<'_>>) -> Vec<Response> {
        let (memory, turns) = (Arc::default(), Arc::new(Turns::default()));
        let all = requests.into_iter();
        let all = all.map(|it| self.execute_in(it, Arc::clone(&memory), Some(Arc::clone(&turns))));
        turns.run(join_all(all)).await
    }

    async fn execute_in(
        &self,
        request: Request<'_>,
        memory: Arc<RequestMemory>,
        turns: Option<Arc<Turns>>,
    ) -> Response {
        let Request { query, operation_name, variables, data, identity, headers, deadline, queries_only } =
            request;
        let tape = match variables {
            RequestVariables::Text(text) => match read(text) {
                Ok(tape) => Some(tape),
                Err(message) => return Response::refused(&message),
            },
            RequestVariables::None | RequestVariables::Json(_) => None,
        };
        let variables = match variables {
            RequestVariables::Json(json) => Some(json),
            RequestVariables::None | RequestVariables::Text(_) => tape.as_ref().map(Json::root),
        };
        let subscription = Mutex::new(SubscriptionStep::None);
        let data: Arc<dyn Any + Send + Sync> =
            Arc::new(RequestData { data: Arc::new(data), memory, turns, subscription });
        let headers = WithData { headers, data };
        let request = engine::Request {
            query,
            operation_name,
            variables: variables.filter(|it| !it.is_null()),
            protocol: Protocol::GraphqlOverHttp,
            queries_only,
            headers: &headers,
            deadline,
            increments: None,
        };
        let response = match identity {
            None => self.engine.execute(request, &self.nobody).await,
            Some(identity) => self.engine.execute(request, &self.engine.caller(&identity)).await,
        };
        Response::collect(response).await
    }

    /// Opens a subscription: each item is a whole response. The stream ends with that of the resolver.
    ///
    /// - `patience`: time for the first byte of each response.
    ///
    /// # Errors
    /// The response to a request that is refused.
    pub async fn subscribe(
        &self,
        request: Request<'_>,
        patience: Duration,
    ) -> Result<BoxStream<'static, Response>, Response> {
        let Request { query, operation_name, variables, data, identity, headers, deadline, .. } = request;
        let tape = match variables {
            RequestVariables::Text(text) => Some(read(text).map_err(|it| Response::refused(&it))?),
            RequestVariables::None | RequestVariables::Json(_) => None,
        };
        let variables = match variables {
            RequestVariables::Json(json) => Some(json),
            RequestVariables::None | RequestVariables::Text(_) => tape.as_ref().map(Json::root),
        };
        let protocol = Protocol::GraphqlOverHttp;
        let variables = variables.filter(|it| !it.is_null());
        let request = engine::Request {
            query,
            operation_name,
            variables,
            protocol,
            queries_only: false,
            headers,
            deadline,
            increments: None,
        };
        let caller = identity.map_or_else(|| self.nobody.clone(), |it| self.engine.caller(&it));
        let bound = self.engine.bind(request, &caller).await;
        let operation = match bound {
            Ok(operation) => operation,
            Err(response) => return Err(Response::collect(response).await),
        };
        let opened = subscribe::open(Arc::clone(&self.engine), operation, Arc::new(data), patience).await;
        opened.map_err(|error| Response::failed(&error))
    }

    /// The calls of `query`, in the order of the plan: `resolver User.posts` for each step, without running it. For tests that assert how
    /// often resolvers are called.
    /// # Errors
    /// The response to a request that is refused.
    pub fn steps(&self, query: &str, variables: &str) -> Result<Vec<String>, Box<Response>> {
        let pieces = self.explain(query, variables)?.pieces;
        Ok(pieces.into_iter().map(|it| it.1.trim_end().to_owned()).collect())
    }

    /// The plan of `query` and the resolvers that it calls, without running it.
    /// # Errors
    /// The response to a request that is refused.
    pub fn explain(&self, query: &str, variables: &str) -> Result<engine::Explanation, Box<Response>> {
        let tape = if variables.is_empty() { read("{}") } else { read(variables) };
        let tape = tape.map_err(|it| Box::new(Response::refused(&it)))?;
        let request = engine::Request {
            query,
            operation_name: None,
            variables: Some(tape.root()),
            protocol: Protocol::GraphqlOverHttp,
            queries_only: false,
            headers: &NoHeaders,
            deadline: std::time::Instant::now(),
            increments: None,
        };
        self.engine.explain(request, &self.nobody).map_err(|it| Box::new(Response::of_errors(it)))
    }
}

/// The tape of variables, which have to be an object.
fn read(text: &str) -> Result<Json<'_>, String> {
    let tape = Json::parse(text.as_bytes(), VARIABLES_DEPTH_MAX);
    let tape = tape.map_err(|error| format!("the variables are not valid JSON: {error}"))?;
    if tape.root().is_object() || tape.root().is_null() {
        Ok(tape)
    } else {
        Err("the variables are no JSON object".into())
    }
}

//! A schema with its functions, as the package `weir` uses it.

use crate::event_loop::feed::{Feed, Subscription};
use crate::event_loop::http_answer::HttpRequestSpec;
use crate::event_loop::json_response::Response;
use crate::event_loop::{Run, RunOutput, tokio_runtime};
use crate::python_function::access_guards::{self, GuardSpec};
use crate::python_function::loaders::{LoaderSpec, Loaders};
use crate::python_function::resolvers::{FunctionSpec, resolver};
use crate::python_values::keyword_arguments::Parameters;
use crate::registry::Registry;
use crate::run_state::RunState;
use crate::schema_roots::Roots;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_language::json::Json;
use weir_language::schema::{InputId, Schema as LanguageSchema};
use weir_runtime::{Limits, Request, Schema, Settings};
use weir_transport::parameters::params;

/// Brackets open at once in the payload of an operation.
const PAYLOAD_DEPTH_MAX: u32 = 200;

/// Limits and switches.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Options {
    depth_max: Option<u32>,
    cost_max: Option<u64>,
    introspection: bool,
    suggestions: bool,
    incremental: bool,
    plan_cache_bytes_max: Option<usize>,
}

/// Functions of a schema.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Parts {
    functions: Vec<FunctionSpec>,
    guards: Vec<GuardSpec>,
    loaders: Vec<LoaderSpec>,
}

/// A request as the package hands it over.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct RequestSpec {
    query: String,
    variables: Option<String>,
    operation_name: Option<String>,
    context: Py<PyAny>,
    queries_only: bool,
    timeout: f64,
}

/// Time for an answer; without bound if it is none that could be.
fn bounded_duration(seconds: f64) -> Duration {
    const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);
    Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST).min(LONGEST)
}

impl RequestSpec {
    fn timeout(&self) -> Duration {
        bounded_duration(self.timeout)
    }

    async fn answer(&self, schema: &Schema, state: Arc<RunState>) -> weir_runtime::Response {
        let mut request = Request::new(&self.query).data(state).deadline(Instant::now() + self.timeout());
        if let Some(variables) = &self.variables {
            request = request.variables(variables);
        }
        if let Some(name) = &self.operation_name {
            request = request.operation(name);
        }
        if self.queries_only {
            request = request.queries_only();
        }
        schema.execute(request).await
    }
}

/// A schema that answers requests.
#[pyclass(frozen, module = "weir._weir")]
pub(crate) struct Core {
    schema: Arc<Schema>,
}

/// A function's coordinate and parameters.
type Signature = (String, Parameters);

/// Messages about arguments that no parameter takes.
fn misfits(schema: &LanguageSchema, signatures: &[Signature]) -> Vec<String> {
    let mut misfits = Vec::new();
    for (coordinate, parameters) in signatures {
        let (on, name) = coordinate.split_once('.').unwrap_or((coordinate, ""));
        let field = schema.type_by_name(on).and_then(|it| schema.field_by_name(it, name));
        let Some(field) = field else { continue };
        for input in schema.field(field).arguments.range() {
            let argument = schema.str(schema.input(InputId(input as u32)).name);
            if parameters.keyword(argument).is_none() {
                misfits.push(format!("the resolver of `{coordinate}` has no parameter for `{argument}`"));
            }
        }
    }
    misfits
}

/// The schema with its functions.
/// # Errors
/// All errors of the schema, as text.
fn build(sdl: &str, parts: Parts, registry: &Arc<Registry>, options: &Options) -> Result<Schema, String> {
    let standard = Settings::STANDARD;
    let depth_max = options.depth_max.unwrap_or(Limits::STANDARD.depth_max);
    let mut builder = Schema::builder(sdl).name("python").settings(Settings {
        limits: Limits { depth_max, ..Limits::STANDARD },
        introspection: options.introspection,
        suggestions: options.suggestions,
        incremental_delivery: options.incremental,
        plan_cache_bytes_max: options.plan_cache_bytes_max.unwrap_or(standard.plan_cache_bytes_max),
        ..standard
    });
    if let Some(max) = options.cost_max {
        builder = builder.cost_max(max);
    }
    let roots = Roots::of(sdl);
    let signature = |it: &FunctionSpec| (it.coordinate.clone(), it.parameters.clone());
    let signatures: Vec<Signature> = parts.functions.iter().map(signature).collect();
    if !parts.loaders.is_empty() {
        builder = builder.loader(Loaders::new(parts.loaders, registry));
    }
    for function in parts.functions {
        let coordinate = function.coordinate.clone();
        builder = builder.resolve(&coordinate, resolver(function, &roots, registry));
    }
    for guard in parts.guards {
        builder = access_guards::add(builder, guard, &roots, registry);
    }
    let schema = builder.build().map_err(|it| it.to_string())?;
    let misfits = misfits(schema.engine().schema(), &signatures);
    if misfits.is_empty() { Ok(schema) } else { Err(misfits.join("\n")) }
}

#[pymethods]
impl Core {
    #[new]
    fn new(py: Python<'_>, sdl: &str, parts: Parts, registry: Registry, options: Options) -> PyResult<Self> {
        let registry = Arc::new(registry);
        let refuse = |text: String| match registry.schema_error.call1(py, (text,)) {
            Ok(error) => PyErr::from_value(error.into_bound(py)),
            Err(error) => error,
        };
        let schema = build(sdl, parts, &registry, &options).map_err(refuse)?;
        Ok(Self { schema: Arc::new(schema) })
    }

    /// The schema as SDL.
    #[pyo3(signature = (sorted = false))]
    fn sdl(&self, sorted: bool) -> String {
        if sorted { self.schema.sorted_sdl() } else { self.schema.sdl() }
    }

    /// The steps of an operation.
    fn steps(&self, query: &str, variables: &str) -> Result<Vec<String>, PyErr> {
        let steps = self.schema.steps(Request::new(query).variables(variables));
        steps.map_err(|it| pyo3::exceptions::PyValueError::new_err(it.text().to_owned()))
    }

    /// Answers a request whose resolvers do not wait.
    fn execute(&self, py: Python<'_>, request: RequestSpec) -> PyResult<Response> {
        let state = Arc::new(RunState::new(request.context.clone_ref(py), false));
        let answered = tokio_runtime::block_on(py, request.answer(&self.schema, Arc::clone(&state)));
        state.forget();
        state.raise_interrupt()?;
        Ok(Response::new(py, &answered?))
    }

    /// Begins to answer a request that the event loop drives.
    fn start(&self, py: Python<'_>, request: RequestSpec) -> Run {
        let state = Arc::new(RunState::new(request.context.clone_ref(py), true));
        let schema = Arc::clone(&self.schema);
        let own = Arc::clone(&state);
        Run::new(
            Box::pin(async move { Some(Box::new(request.answer(&schema, own).await) as Box<dyn RunOutput>) }),
            state,
        )
    }

    /// A subscription that the event loop drives.
    fn subscribe(&self, py: Python<'_>, request: RequestSpec) -> Feed {
        let state = Arc::new(RunState::new(request.context.clone_ref(py), true));
        let patience = request.timeout();
        let RequestSpec { query, variables, operation_name: operation, .. } = request;
        Feed::new(
            Subscription { schema: Arc::clone(&self.schema), query, variables, operation, patience },
            state,
        )
    }

    /// Begins to answer a request over HTTP that the event loop drives.
    fn http(&self, py: Python<'_>, request: HttpRequestSpec) -> Run {
        let state = Arc::new(RunState::new(request.context.clone_ref(py), true));
        let patience = bounded_duration(request.timeout());
        let call = request.call(patience);
        let schema = Arc::clone(&self.schema);
        let own = Arc::clone(&state);
        Run::new(Box::pin(call.answer(schema, own)), state)
    }

    /// Answers a request over HTTP whose resolvers do not wait.
    fn http_now(&self, py: Python<'_>, request: HttpRequestSpec) -> PyResult<Option<Py<PyAny>>> {
        let state = Arc::new(RunState::new(request.context.clone_ref(py), false));
        let patience = bounded_duration(request.timeout());
        let call = request.call(patience);
        let answered = tokio_runtime::block_on(py, call.answer(Arc::clone(&self.schema), Arc::clone(&state)));
        state.forget();
        state.raise_interrupt()?;
        answered?.map(|it| it.into_object(py)).transpose()
    }

    /// An operation of a socket: JSON with the members that the body of a POST has.
    /// # Errors
    /// `ValueError`, with a message for the client.
    fn operation(&self, py: Python<'_>, payload: &str, context: Py<PyAny>, timeout: f64) -> PyResult<Feed> {
        let invalid = |words: String| PyValueError::new_err(words);
        let tape =
            Json::parse(payload.as_bytes(), PAYLOAD_DEPTH_MAX).map_err(|it| invalid(it.to_string()))?;
        let params = params(tape.root()).map_err(|it| invalid(it.message().to_owned()))?;
        let state = Arc::new(RunState::new(context.clone_ref(py), true));
        let subscription = Subscription {
            schema: Arc::clone(&self.schema),
            query: params.query.into_owned(),
            variables: params.variables.map(|it| it.raw().to_owned()),
            operation: params.operation_name.map(|it| it.into_owned()),
            patience: bounded_duration(timeout),
        };
        Ok(Feed::new(subscription, state))
    }
}

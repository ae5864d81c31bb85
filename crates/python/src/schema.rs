//! A schema with its functions, as the package `weir` uses it.

use crate::arguments::Parameters;
use crate::event_loop::Run;
use crate::feed::{Feed, Subscription};
use crate::function::{FunctionSpec, resolver};
use crate::registry::Registry;
use crate::response::Response;
use crate::run_state::RunState;
use crate::tokio_runtime;
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_language::schema::{InputId, Schema as LanguageSchema};
use weir_runtime::{Limits, Request, Schema, Settings};

/// Limits and switches.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Options {
    depth_max: Option<u32>,
    complexity_max: Option<u64>,
    introspection: bool,
    suggestions: bool,
    plan_cache_bytes_max: Option<usize>,
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

impl RequestSpec {
    /// Time for the answer; without bound if it is none that could be.
    fn patience(&self) -> Duration {
        const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);
        Duration::try_from_secs_f64(self.timeout).unwrap_or(LONGEST).min(LONGEST)
    }

    async fn answer(&self, schema: &Schema, state: Arc<RunState>) -> weir_runtime::Response {
        let mut request = Request::new(&self.query).data(state).deadline(Instant::now() + self.patience());
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

/// Arguments that no parameter takes, in words.
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

#[pymethods]
impl Core {
    #[new]
    fn new(
        py: Python<'_>,
        sdl: &str,
        functions: Vec<FunctionSpec>,
        registry: Registry,
        options: Options,
    ) -> PyResult<Self> {
        let registry = Arc::new(registry);
        let refuse = |text: String| match registry.schema_error.call1(py, (text,)) {
            Ok(error) => PyErr::from_value(error.into_bound(py)),
            Err(error) => error,
        };
        let limits =
            Limits { depth_max: options.depth_max.unwrap_or(Limits::STANDARD.depth_max), ..Limits::STANDARD };
        let standard = Settings::STANDARD;
        let mut builder = Schema::builder(sdl).name("python").settings(Settings {
            limits,
            introspection: options.introspection,
            suggestions: options.suggestions,
            plan_cache_bytes_max: options.plan_cache_bytes_max.unwrap_or(standard.plan_cache_bytes_max),
            ..standard
        });
        if let Some(max) = options.complexity_max {
            builder = builder.complexity_max(max);
        }
        let signature = |it: &FunctionSpec| (it.coordinate.clone(), it.parameters.clone());
        let signatures: Vec<Signature> = functions.iter().map(signature).collect();
        for function in functions {
            let coordinate = function.coordinate.clone();
            builder = builder.resolve(&coordinate, resolver(function, &registry));
        }
        let schema = builder.build().map_err(|it| refuse(it.to_string()))?;
        let misfits = misfits(schema.engine().schema(), &signatures);
        match misfits.is_empty() {
            true => Ok(Self { schema: Arc::new(schema) }),
            false => Err(refuse(misfits.join("\n"))),
        }
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
        let state = Arc::new(RunState::new(request.context.clone_ref(py)));
        let answered = tokio_runtime::block_on(py, request.answer(&self.schema, Arc::clone(&state)));
        state.forget();
        state.raised()?;
        Ok(Response::new(py, &answered?))
    }

    /// Begins to answer a request that the event loop drives.
    fn start(&self, py: Python<'_>, request: RequestSpec) -> Run {
        let state = Arc::new(RunState::new(request.context.clone_ref(py)));
        let (schema, own) = (Arc::clone(&self.schema), Arc::clone(&state));
        Run::new(Box::pin(async move { Some(request.answer(&schema, own).await) }), state)
    }

    /// A subscription that the event loop drives.
    fn subscribe(&self, py: Python<'_>, request: RequestSpec) -> Feed {
        let state = Arc::new(RunState::new(request.context.clone_ref(py)));
        let patience = request.patience();
        let RequestSpec { query, variables, operation_name: operation, .. } = request;
        Feed::new(
            Subscription { schema: Arc::clone(&self.schema), query, variables, operation, patience },
            state,
        )
    }
}

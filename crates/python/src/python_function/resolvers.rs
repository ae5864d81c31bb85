//! Resolvers of the runtime that call functions of Python.

use super::event_source::events;
use super::loaders::loader_resolver;
use super::{CallForm, Called, Function, call_state};
use crate::python_values::keyword_arguments::Parameters;
use crate::registry::Registry;
use crate::schema_roots::Roots;
use pyo3::prelude::*;
use std::sync::Arc;
use weir_runtime::{AnyArguments, AnyResolver, Context, Object, ResolveError, Value, async_batch, stream};

/// A function as the package hands it over.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct FunctionSpec {
    pub(crate) coordinate: String,
    function: Py<PyAny>,
    /// `each`, `batch`, `stream` or `load`.
    kind: String,
    pub(crate) parameters: Parameters,
    /// Number of the loader.
    loader: Option<u32>,
}

/// The resolver that calls the function.
pub(crate) fn resolver(spec: FunctionSpec, roots: &Roots, registry: &Arc<Registry>) -> AnyResolver {
    let FunctionSpec { coordinate, function: callable, kind, parameters, loader } = spec;
    let on = coordinate.split_once('.').map_or("", |it| it.0);
    let is_stream = roots.has_events(on);
    let form = match kind.as_str() {
        "batch" => CallForm::Batch,
        _ if is_stream || roots.has(on) => CallForm::Root,
        _ => CallForm::Each,
    };
    let function = Function { coordinate, callable, form, parameters, registry: Arc::clone(registry) };
    let function = Arc::new(function);
    if let Some(number) = loader {
        return loader_resolver(function, number, form == CallForm::Root);
    }
    match form {
        CallForm::Root if is_stream => stream(move |arguments: &AnyArguments, context: &Context| {
            events(Arc::clone(&function), arguments, context)
        })
        .into(),
        CallForm::Root => async_batch(move |_: &[&()], arguments: &AnyArguments, context: &Context| {
            finish_call(Arc::clone(&function), function.call(None, arguments, context), 1, context)
        })
        .into(),
        CallForm::Each | CallForm::Batch => {
            async_batch(move |parents: &[&Object], arguments: &AnyArguments, context: &Context| {
                let called = function.call(Some(parents), arguments, context);
                finish_call(Arc::clone(&function), called, parents.len(), context)
            })
            .into()
        }
    }
}

/// The values of a call that was begun.
fn finish_call(
    function: Arc<Function>,
    called: Result<Called, ResolveError>,
    rows: usize,
    context: &Context,
) -> impl Future<Output = Result<Vec<Value>, ResolveError>> + Send + use<> {
    let context = context.clone();
    async move {
        let returned = match called? {
            Called::Values(values) => return Ok(values),
            Called::Later(returned) => returned.await,
        };
        let state = call_state(&context)?;
        Python::attach(|py| match returned {
            Ok(values) => function.values(py, values.bind(py), rows, &context, &state),
            Err(error) => Err(function.to_resolve_error(py, error, &state)),
        })
    }
}

//! Functions of Python at fields: how they are called.
//!
//! **Invariant:** a function is called with all parents of a step, or once for each of them, under one acquisition of the GIL. What
//! it returns is awaited if it can be, whatever kind of function it is: decorators hide that.

pub(crate) mod access_guards;
pub(crate) mod event_source;
pub(crate) mod info;
pub(crate) mod loaders;
pub(crate) mod resolvers;

use crate::awaitable::AwaitableTypes;
use crate::python_function::info::Info;
use crate::python_values::conversion::Converter;
use crate::python_values::exceptions::{broken, resolve_error};
use crate::python_values::keyword_arguments::{Parameters, keywords, reader_error};
use crate::python_values::python_selection::Place;
use crate::registry::Registry;
use crate::run_state::{NUMBER, ReturnedValue, RunState};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use std::sync::Arc;
use weir_runtime::{AnyArguments, Context, Object, ResolveError, Value};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallForm {
    /// Without a parent.
    Root,
    /// Once per parent.
    Each,
    /// Once for all parents.
    Batch,
}

/// A function at a field.
pub(crate) struct Function {
    pub(crate) coordinate: String,
    pub(crate) callable: Py<PyAny>,
    pub(crate) form: CallForm,
    pub(crate) parameters: Parameters,
    pub(crate) registry: Arc<Registry>,
}

/// Parents of a call.
pub(crate) type Parents<'p> = Option<&'p [&'p Object]>;

/// The outcome of a call.
pub(crate) enum Called {
    Values(Vec<Value>),
    /// A value per parent, once it is there.
    Later(ReturnedValue),
}

/// State of the request.
pub(crate) fn call_state(context: &Context) -> Result<Arc<RunState>, ResolveError> {
    context.data::<Arc<RunState>>().map(Arc::clone)
}

/// A call, ready but for the parents.
pub(crate) struct Call<'py> {
    pub(crate) keywords: Bound<'py, PyDict>,
    parents: Vec<Bound<'py, PyAny>>,
}

impl Function {
    pub(crate) fn to_resolve_error(&self, py: Python<'_>, error: PyErr, state: &RunState) -> ResolveError {
        resolve_error(py, error, &self.coordinate, &self.registry, state)
    }

    fn broken(&self, py: Python<'_>, message: String) -> ResolveError {
        broken(py, &self.registry, &self.coordinate, message)
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(crate) fn callable<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.callable.bind(py)
    }

    pub(crate) fn prepare<'py>(
        &self,
        py: Python<'py>,
        parents: Parents<'_>,
        arguments: &AnyArguments,
        context: &Context,
        state: &RunState,
    ) -> Result<Call<'py>, ResolveError> {
        let keywords = keywords(py, arguments, &self.parameters, &self.registry);
        let keywords = keywords.map_err(|it| reader_error(py, &it, &self.coordinate, &self.registry))?;
        if let Some(name) = &self.parameters.info
            && !keywords.contains(name).map_err(|it| self.to_resolve_error(py, it, state))?
        {
            let info = Info::new(state.context.clone_ref(py), context.lookahead().clone());
            let info = Bound::new(py, info).map_err(|it| self.to_resolve_error(py, it, state))?;
            keywords.set_item(name, info).map_err(|it| self.to_resolve_error(py, it, state))?;
        }
        let parents = state.parents(py, parents.unwrap_or_default());
        let parents = parents.ok_or_else(|| self.broken(py, "the parents are not known".into()))?;
        Ok(Call { keywords, parents })
    }

    /// Calls the function for each parent, or once at the root.
    pub(crate) fn call_each<'py>(
        &self,
        py: Python<'py>,
        parents: Parents<'_>,
        arguments: &AnyArguments,
        context: &Context,
        state: &RunState,
    ) -> Result<Vec<PyResult<Bound<'py, PyAny>>>, ResolveError> {
        let Call { keywords, parents } = self.prepare(py, parents, arguments, context, state)?;
        let callable = self.callable.bind(py);
        if self.form == CallForm::Root {
            return Ok(vec![callable.call((), Some(&keywords))]);
        }
        Ok(parents.into_iter().map(|it| callable.call((it,), Some(&keywords))).collect())
    }

    /// Calls the function.
    pub(crate) fn call(
        &self,
        parents: Parents<'_>,
        arguments: &AnyArguments,
        context: &Context,
    ) -> Result<Called, ResolveError> {
        let state = call_state(context)?;
        Python::attach(|py| {
            if self.form == CallForm::Batch {
                return self.call_batch(py, parents, arguments, context, &state);
            }
            let returned = self.call_each(py, parents, arguments, context, &state)?;
            let mut types = AwaitableTypes::default();
            if returned.iter().flatten().any(|it| types.has(it)) {
                let later = self.gather(py, returned, &state);
                return later.map(Called::Later).map_err(|it| self.to_resolve_error(py, it, &state));
            }
            let place = Place::of(py, context.lookahead(), &self.registry);
            let converter = self.converter(&state);
            let one = |returned: PyResult<Bound<'_, PyAny>>| match returned {
                Ok(value) => converter.value(&place, &value),
                Err(error) => converter.error_value(py, &place, error),
            };
            Ok(Called::Values(returned.into_iter().map(one).collect()))
        })
    }

    fn call_batch(
        &self,
        py: Python<'_>,
        parents: Parents<'_>,
        arguments: &AnyArguments,
        context: &Context,
        state: &RunState,
    ) -> Result<Called, ResolveError> {
        let Call { keywords, parents } = self.prepare(py, parents, arguments, context, state)?;
        let rows = parents.len();
        let parents = PyList::new(py, parents).map_err(|it| self.to_resolve_error(py, it, state))?;
        let values = self.callable.bind(py).call((parents,), Some(&keywords));
        let values = values.map_err(|it| self.to_resolve_error(py, it, state))?;
        if AwaitableTypes::default().has(&values) {
            let later = state.finish(py, values, &self.registry);
            return later.map(Called::Later).map_err(|it| self.to_resolve_error(py, it, state));
        }
        self.values(py, &values, rows, context, state).map(Called::Values)
    }

    /// Gathers the returned coroutines into one; exceptions stay in their places.
    fn gather(
        &self,
        py: Python<'_>,
        returned: Vec<PyResult<Bound<'_, PyAny>>>,
        state: &RunState,
    ) -> PyResult<ReturnedValue> {
        let all = returned
            .into_iter()
            .map(|it| it.unwrap_or_else(|error| error.into_value(py).into_bound(py).into_any()));
        let all = PyList::new(py, all.collect::<Vec<_>>())?;
        state.finish(py, self.registry.gather.bind(py).call1((all,))?, &self.registry)
    }

    pub(crate) fn converter<'c>(&'c self, state: &'c RunState) -> Converter<'c> {
        Converter { registry: &self.registry, state, number: NUMBER.into() }
    }

    /// Converts one value per parent.
    pub(crate) fn values(
        &self,
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        rows: usize,
        context: &Context,
        state: &RunState,
    ) -> Result<Vec<Value>, ResolveError> {
        let is_leaf = values.is_instance_of::<PyString>() || values.is_instance_of::<PyBytes>();
        let is_other = is_leaf || values.is_instance_of::<PyDict>();
        let items = values.try_iter().ok().filter(|_| !is_other);
        let Some(items) = items else {
            let class = values.get_type().to_string();
            return Err(self.broken(py, format!("a batch gives a list with a value per parent, not {class}")));
        };
        let place = Place::of(py, context.lookahead(), &self.registry);
        let converter = self.converter(state);
        let mut converted = Vec::with_capacity(rows);
        for item in items {
            let item = item.map_err(|it| self.to_resolve_error(py, it, state))?;
            converted.push(converter.value(&place, &item));
        }
        if converted.len() == rows {
            return Ok(converted);
        }
        Err(self.broken(py, format!("{} values were given for {rows} parents", converted.len())))
    }
}

//! Functions of Python as resolvers of the runtime.
//!
//! **Invariant:** a function is called with all parents of a step, or once for each of them, under one acquisition of the GIL.

use crate::arguments::{Parameters, keywords, refused};
use crate::convert::{Converter, NUMBER};
use crate::errors::{broken, resolve_error};
use crate::info::Info;
use crate::registry::Registry;
use crate::run_state::{ReplyReceiver, RunState};
use crate::selection::Place;
use futures_util::stream::{BoxStream, StreamExt, unfold};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use std::sync::Arc;
use weir_runtime::{
    AnyArguments, AnyResolver, Context, Object, ResolveError, Value, async_batch, batch, stream,
};

/// A function as the package hands it over.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct FunctionSpec {
    pub(crate) coordinate: String,
    function: Py<PyAny>,
    /// `root`, `each`, `batch` or `stream`.
    kind: String,
    is_async: bool,
    pub(crate) parameters: Parameters,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CallForm {
    /// Without a parent.
    Root,
    /// Once per parent.
    Each,
    /// Once for all parents.
    Batch,
}

struct Function {
    coordinate: String,
    callable: Py<PyAny>,
    form: CallForm,
    parameters: Parameters,
    registry: Arc<Registry>,
}

/// Parents of a call.
type Parents<'p> = Option<&'p [&'p Object]>;

/// The resolver that calls the function.
pub(crate) fn resolver(spec: FunctionSpec, registry: &Arc<Registry>) -> AnyResolver {
    let form = match spec.kind.as_str() {
        "batch" => CallForm::Batch,
        "each" => CallForm::Each,
        _ => CallForm::Root,
    };
    let function = Arc::new(Function {
        coordinate: spec.coordinate,
        callable: spec.function,
        form,
        parameters: spec.parameters,
        registry: Arc::clone(registry),
    });
    match (spec.kind.as_str(), form, spec.is_async) {
        ("stream", ..) => stream(move |arguments: &AnyArguments, context: &Context| {
            events(Arc::clone(&function), arguments, context)
        })
        .into(),
        (_, CallForm::Root, false) => batch(move |_: &[&()], arguments: &AnyArguments, context: &Context| {
            function.answer(None, arguments, context)
        })
        .into(),
        (_, CallForm::Root, true) => {
            async_batch(move |_: &[&()], arguments: &AnyArguments, context: &Context| {
                finished(Arc::clone(&function), function.begin(None, arguments, context), 1, context)
            })
            .into()
        }
        (_, CallForm::Each | CallForm::Batch, false) => {
            batch(move |parents: &[&Object], arguments: &AnyArguments, context: &Context| {
                function.answer(Some(parents), arguments, context)
            })
            .into()
        }
        (_, CallForm::Each | CallForm::Batch, true) => {
            async_batch(move |parents: &[&Object], arguments: &AnyArguments, context: &Context| {
                let begun = function.begin(Some(parents), arguments, context);
                finished(Arc::clone(&function), begun, parents.len(), context)
            })
            .into()
        }
    }
}

/// The values of a call that was begun.
fn finished(
    function: Arc<Function>,
    begun: Result<ReplyReceiver, ResolveError>,
    rows: usize,
    context: &Context,
) -> impl Future<Output = Result<Vec<Value>, ResolveError>> + Send + use<> {
    let context = context.clone();
    async move {
        let reply = begun?.await;
        let state = state(&context)?;
        Python::attach(|py| match reply {
            Ok(Ok(values)) => function.values(py, values.bind(py), rows, &context, &state),
            Ok(Err(error)) => Err(function.failed(py, error, &state)),
            Err(_) => Err(function.broken(py, "the event loop ended".into())),
        })
    }
}

/// State of the request.
fn state(context: &Context) -> Result<Arc<RunState>, ResolveError> {
    context.data::<Arc<RunState>>().map(Arc::clone)
}

/// A call, ready but for the parents.
struct Call<'py> {
    keywords: Bound<'py, PyDict>,
    parents: Vec<Bound<'py, PyAny>>,
}

impl Function {
    fn failed(&self, py: Python<'_>, error: PyErr, state: &RunState) -> ResolveError {
        resolve_error(py, error, &self.coordinate, &self.registry, state)
    }

    fn broken(&self, py: Python<'_>, message: String) -> ResolveError {
        broken(py, &self.registry, &self.coordinate, message)
    }

    fn prepare<'py>(
        &self,
        py: Python<'py>,
        parents: Parents<'_>,
        arguments: &AnyArguments,
        context: &Context,
        state: &RunState,
    ) -> Result<Call<'py>, ResolveError> {
        let keywords = keywords(py, arguments, &self.parameters, &self.registry);
        let keywords = keywords.map_err(|it| refused(py, &it, &self.coordinate, &self.registry))?;
        if self.parameters.any || self.parameters.names.contains("info") {
            let info = Info::new(state.context.clone_ref(py), context.lookahead().clone());
            keywords
                .set_item("info", Bound::new(py, info).map_err(|it| self.failed(py, it, state))?)
                .map_err(|it| self.failed(py, it, state))?;
        }
        let number = |object: &&Object| match object.get(NUMBER) {
            Value::Int(number) => Some(*number),
            _ => None,
        };
        let parents = state.kept(py, parents.unwrap_or_default().iter().map(number));
        let parents = parents.ok_or_else(|| self.broken(py, "the parents are not known".into()))?;
        Ok(Call { keywords, parents })
    }

    /// Calls a function that is not a coroutine's.
    fn answer(
        &self,
        parents: Parents<'_>,
        arguments: &AnyArguments,
        context: &Context,
    ) -> Result<Vec<Value>, ResolveError> {
        let state = state(context)?;
        Python::attach(|py| {
            let Call { keywords, parents } = self.prepare(py, parents, arguments, context, &state)?;
            let callable = self.callable.bind(py);
            if self.form == CallForm::Batch {
                let rows = parents.len();
                let values = PyList::new(py, parents).and_then(|it| callable.call((it,), Some(&keywords)));
                let values = values.map_err(|it| self.failed(py, it, &state))?;
                return self.values(py, &values, rows, context, &state);
            }
            let place = Place::of(py, context.lookahead(), &self.registry);
            let converter = self.converter(&state);
            let one = |returned: PyResult<Bound<'_, PyAny>>| match returned {
                Ok(value) => converter.value(&place, &value),
                Err(error) => converter.failed(py, &place, error),
            };
            if self.form == CallForm::Root {
                return Ok(vec![one(callable.call((), Some(&keywords)))]);
            }
            Ok(parents.into_iter().map(|it| one(callable.call((it,), Some(&keywords)))).collect())
        })
    }

    /// Calls a function that gives coroutines, which the event loop runs.
    fn begin(
        &self,
        parents: Parents<'_>,
        arguments: &AnyArguments,
        context: &Context,
    ) -> Result<ReplyReceiver, ResolveError> {
        let state = state(context)?;
        Python::attach(|py| {
            let Call { keywords, parents } = self.prepare(py, parents, arguments, context, &state)?;
            let callable = self.callable.bind(py);
            let coroutine = || match self.form {
                CallForm::Batch => callable.call((PyList::new(py, parents)?,), Some(&keywords)),
                CallForm::Root => {
                    let only = vec![callable.call((), Some(&keywords))?];
                    self.registry.gather.bind(py).call1((only,))
                }
                CallForm::Each => {
                    let all = parents.into_iter().map(|it| callable.call((it,), Some(&keywords)));
                    self.registry.gather.bind(py).call1((all.collect::<PyResult<Vec<_>>>()?,))
                }
            };
            let coroutine = coroutine().map_err(|it| self.failed(py, it, &state))?;
            Ok(state.start(coroutine.unbind()))
        })
    }

    fn converter<'c>(&'c self, state: &'c RunState) -> Converter<'c> {
        Converter { registry: &self.registry, state, number: NUMBER.into() }
    }

    /// Converts one value per parent.
    fn values(
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
            let item = item.map_err(|it| self.failed(py, it, state))?;
            converted.push(converter.value(&place, &item));
        }
        match converted.len() == rows {
            true => Ok(converted),
            false => {
                Err(self.broken(py, format!("{} values were given for {rows} parents", converted.len())))
            }
        }
    }
}

/// Events of a subscription.
struct Events {
    function: Arc<Function>,
    iterator: Py<PyAny>,
    context: Context,
    state: Arc<RunState>,
}

/// The values of an asynchronous iterator, each converted when it comes; an exception is the last of them.
fn events(function: Arc<Function>, arguments: &AnyArguments, context: &Context) -> BoxStream<'static, Value> {
    let opened = state(context).and_then(|state| {
        Python::attach(|py| {
            let Call { keywords, .. } = function.prepare(py, None, arguments, context, &state)?;
            let iterator = function.callable.bind(py).call((), Some(&keywords));
            let iterator = iterator.and_then(|it| it.call_method0("__aiter__"));
            let iterator = iterator.map_err(|it| function.failed(py, it, &state))?.unbind();
            state.open(iterator.clone_ref(py));
            Ok(Events { function, iterator, context: context.clone(), state: Arc::clone(&state) })
        })
    });
    match opened {
        Ok(events) => unfold(Some(events), |events| async move {
            let events = events?;
            let (value, goes_on) = events.next().await?;
            Some((value, goes_on.then_some(events)))
        })
        .boxed(),
        Err(error) => {
            use weir_engine::memory::AnswerError;
            let error = Value::Error(error.field_error(None));
            futures_util::stream::iter([error]).boxed()
        }
    }
}

impl Events {
    /// The next event; false with the last. `None`: there is none.
    async fn next(&self) -> Option<(Value, bool)> {
        let begun = Python::attach(|py| {
            self.state.forget();
            let coroutine = self.function.registry.next.call1(py, (&self.iterator,))?;
            Ok::<_, PyErr>(self.state.start(coroutine))
        });
        let reply = match begun {
            Ok(receiver) => receiver.await.ok()?,
            Err(error) => Err(error),
        };
        Python::attach(|py| {
            let place = Place::of(py, self.context.lookahead(), &self.function.registry);
            let converter = self.function.converter(&self.state);
            match reply.and_then(|it| it.bind(py).extract::<(bool, Py<PyAny>)>()) {
                Ok((true, value)) => Some((converter.value(&place, value.bind(py)), true)),
                Ok((false, _)) => None,
                Err(error) => Some((converter.failed(py, &place, error), false)),
            }
        })
    }
}

//! Loaders: functions of Python that load values by key, once per level and key of a request.
//!
//! All loaders of a schema are one loader of the runtime, whose keys name the function and the place of the key in the request's
//! list. So keys are compared by Python, under the GIL, when they are said.
//!
//! **Cost:** per key one look-up in a dictionary; a call per function and level.

use super::info::Info;
use super::{Function, call_state};
use crate::python_values::conversion::Converter;
use crate::python_values::exceptions::{broken, resolve_error};
use crate::python_values::python_selection::Place;
use crate::registry::Registry;
use crate::run_state::{ReturnedValue, RunState};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping};
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_runtime::{
    AnyArguments, AnyResolver, BatchKeys, BoxFuture, Context, Loader, LoaderReply, Object, ResolveError,
    Value, load_batch,
};

/// A function as the package hands it over.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct LoaderSpec {
    /// For errors.
    name: String,
    function: Py<PyAny>,
    /// The keyword by which it takes `info`.
    info: Option<String>,
}

/// A value that a key has, or its error.
pub(crate) type Loaded = Result<Arc<Py<PyAny>>, ResolveError>;

/// Number of the function, and of the key in the request.
type KeyNumber = (u32, u32);

/// All loaders of a schema.
pub(crate) struct Loaders {
    functions: Vec<Arc<LoaderSpec>>,
    registry: Arc<Registry>,
}

impl Loaders {
    pub(crate) fn new(functions: Vec<LoaderSpec>, registry: &Arc<Registry>) -> Self {
        Self { functions: functions.into_iter().map(Arc::new).collect(), registry: Arc::clone(registry) }
    }
}

impl Loader for Loaders {
    type Key = KeyNumber;
    type Value = Loaded;

    fn load(&self, keys: Vec<KeyNumber>, context: Context) -> BoxFuture<LoaderReply<Self>> {
        let mut by_function: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (function, key) in &keys {
            by_function.entry(*function).or_default().push(*key);
        }
        let calls: Vec<_> =
            by_function.into_iter().map(|(function, of)| self.call(function, of, &context)).collect();
        Box::pin(async move {
            let mut found: BTreeMap<KeyNumber, Option<Loaded>> = BTreeMap::new();
            for (numbers, values) in futures_util::future::join_all(calls).await {
                found.extend(numbers.into_iter().zip(values));
            }
            Ok(keys.iter().map(|key| found.remove(key).flatten()).collect())
        })
    }
}

/// Keys of one call, and their values.
type CallValues = (Vec<KeyNumber>, Vec<Option<Loaded>>);

/// A call that was begun: its keys, and what the function returned.
struct LoaderCall {
    keys: Py<PyList>,
    returned: ReturnedValue,
}

impl Loaders {
    /// Calls a function; the keys of a call that fails have its error.
    fn call(&self, number: u32, keys: Vec<u32>, context: &Context) -> BoxFuture<CallValues> {
        let numbers: Vec<KeyNumber> = keys.iter().map(|key| (number, *key)).collect();
        let spec = Arc::clone(&self.functions[number as usize]);
        let registry = Arc::clone(&self.registry);
        let state = match call_state(context) {
            Ok(state) => state,
            Err(error) => return Box::pin(std::future::ready(failed_call(numbers, error))),
        };
        let begun = Python::attach(|py| spec.begin(py, &keys, context, &state, &registry));
        Box::pin(async move {
            let values = match begun {
                Ok(call) => {
                    let LoaderCall { keys, returned } = call;
                    let returned = returned.await;
                    Python::attach(|py| values_by_key(returned?.bind(py), keys.bind(py)))
                }
                Err(error) => Err(error),
            };
            let values = Python::attach(|py| match values {
                Ok(values) if values.len() == numbers.len() => Ok(values),
                Ok(values) => {
                    let message = format!("{} values were given for {} keys", values.len(), numbers.len());
                    Err(broken(py, &registry, &spec.name, message))
                }
                Err(error) => Err(resolve_error(py, error, &spec.name, &registry, &state)),
            });
            match values {
                Ok(values) => (numbers, values.into_iter().map(|it| it.map(Ok)).collect()),
                Err(error) => failed_call(numbers, error),
            }
        })
    }
}

fn failed_call(numbers: Vec<KeyNumber>, error: ResolveError) -> CallValues {
    let failed = vec![Some(Err(error)); numbers.len()];
    (numbers, failed)
}

impl LoaderSpec {
    /// Calls the function with the keys that have these numbers.
    fn begin(
        &self,
        py: Python<'_>,
        keys: &[u32],
        context: &Context,
        state: &RunState,
        registry: &Registry,
    ) -> PyResult<LoaderCall> {
        let keys = state.loader_keys(py, keys)?;
        let keywords = PyDict::new(py);
        if let Some(info) = &self.info {
            let own = Info::new(state.context.clone_ref(py), context.lookahead().clone());
            keywords.set_item(info, Bound::new(py, own)?)?;
        }
        let returned = self.function.bind(py).call((&keys,), Some(&keywords))?;
        let returned = state.finish(py, returned, registry)?;
        Ok(LoaderCall { keys: keys.unbind(), returned })
    }
}

/// The values in the order of `keys`: of a mapping by key, else as they come.
fn values_by_key(
    values: &Bound<'_, PyAny>,
    keys: &Bound<'_, PyList>,
) -> PyResult<Vec<Option<Arc<Py<PyAny>>>>> {
    let value = |it: Bound<'_, PyAny>| if it.is_none() { None } else { Some(Arc::new(it.unbind())) };
    if let Ok(by_key) = values.cast::<PyDict>() {
        return keys.iter().map(|key| Ok(by_key.get_item(key)?.and_then(value))).collect();
    }
    if let Ok(by_key) = values.cast::<PyMapping>() {
        let found = |key: Bound<'_, PyAny>| {
            if by_key.contains(&key)? { by_key.get_item(key).map(value) } else { Ok(None) }
        };
        return keys.iter().map(found).collect();
    }
    values.try_iter()?.map(|it| it.map(value)).collect()
}

/// The resolver of a field whose values the loader `number` loads by the keys that the function says.
pub(crate) fn loader_resolver(function: Arc<Function>, number: u32, is_root: bool) -> AnyResolver {
    let says = Arc::clone(&function);
    let answers = function;
    let answer = move |marks: &[KeyForm], values: Vec<Option<Loaded>>, context: &Context| {
        answers.loaded_values(marks, values, context)
    };
    if is_root {
        let keys = move |_: &[&()], arguments: &AnyArguments, context: &Context| {
            says.keys(None, number, arguments, context)
        };
        return load_batch(keys, answer).into();
    }
    let keys = move |parents: &[&Object], arguments: &AnyArguments, context: &Context| {
        says.keys(Some(parents), number, arguments, context)
    };
    load_batch(keys, answer).into()
}

/// Keys of one parent.
#[derive(Clone, Copy)]
enum KeyForm {
    /// The key is none, and so is the value.
    Absent,
    /// One key.
    One,
    /// A list of so many keys; the value is a list, too.
    List(usize),
}

impl Function {
    /// The keys of all parents: for each one key, a list of keys, or none.
    fn keys(
        &self,
        parents: Option<&[&Object]>,
        number: u32,
        arguments: &AnyArguments,
        context: &Context,
    ) -> Result<BatchKeys<Loaders, KeyForm>, ResolveError> {
        let state = call_state(context)?;
        Python::attach(|py| {
            let said = self.call_each(py, parents, arguments, context, &state)?;
            let mut keys = Vec::with_capacity(said.len());
            let mut marks = Vec::with_capacity(said.len());
            let mut add = |key: &Bound<'_, PyAny>| {
                let place =
                    state.key_number(key).map_err(|error| self.to_resolve_error(py, error, &state))?;
                keys.push(Loaders::key((number, place)));
                Ok::<_, ResolveError>(())
            };
            for key in said {
                let key = key.map_err(|error| self.to_resolve_error(py, error, &state))?;
                marks.push(if let Ok(list) = key.cast::<PyList>() {
                    list.iter().try_for_each(|it| add(&it))?;
                    KeyForm::List(list.len())
                } else if key.is_none() {
                    KeyForm::Absent
                } else {
                    add(&key)?;
                    KeyForm::One
                });
            }
            Ok(BatchKeys { keys, marks })
        })
    }

    /// A value per parent of what was loaded.
    fn loaded_values(
        &self,
        marks: &[KeyForm],
        values: Vec<Option<Loaded>>,
        context: &Context,
    ) -> Result<Vec<Value>, ResolveError> {
        let state = call_state(context)?;
        Python::attach(|py| {
            let place = Place::of(py, context.lookahead(), self.registry());
            let converter = self.converter(&state);
            let mut values = values.into_iter();
            let value = |mark: &KeyForm| match *mark {
                KeyForm::Absent => Value::Null,
                KeyForm::One => one_loaded(py, values.next().flatten(), &converter, &place),
                KeyForm::List(count) => list_loaded(py, values.by_ref().take(count), &converter, &place),
            };
            Ok(marks.iter().map(value).collect())
        })
    }
}

fn one_loaded(py: Python<'_>, value: Option<Loaded>, converter: &Converter<'_>, place: &Place<'_>) -> Value {
    match value {
        None => Value::Null,
        Some(Ok(value)) => converter.value(place, value.bind(py)),
        Some(Err(error)) => failed_value(&error),
    }
}

/// The list of the values of one parent; the error of a key is that of its place.
fn list_loaded(
    py: Python<'_>,
    values: impl Iterator<Item = Option<Loaded>>,
    converter: &Converter<'_>,
    place: &Place<'_>,
) -> Value {
    let values = values.map(|value| match value {
        None => Value::Null,
        Some(Ok(value)) => converter.item(place, value.bind(py)),
        Some(Err(error)) => failed_value(&error),
    });
    Value::List(values.collect())
}

fn failed_value(error: &ResolveError) -> Value {
    use weir_engine::memory::AnswerError;
    Value::Error(error.field_error(None))
}

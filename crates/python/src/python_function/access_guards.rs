//! Guards: functions of Python that say who may see a field, the objects of a type, or the items of a list.
//!
//! **Invariant:** a guard that raises, or gives anything but a verdict per object, refuses all.

use super::call_state;
use super::info::Info;
use crate::python_values::exceptions::log;
use crate::registry::Registry;
use crate::run_state::RunState;
use crate::schema_roots::Roots;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList};
use std::sync::Arc;
use weir_runtime::{Context, Object, SchemaBuilder};

/// A guard as the package hands it over.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct GuardSpec {
    /// A coordinate, or the name of a type.
    pub(crate) target: String,
    /// `field`, `type` or `filter`.
    kind: String,
    function: Py<PyAny>,
    /// The keyword by which it takes `info`.
    info: Option<String>,
}

struct Guard {
    target: String,
    function: Py<PyAny>,
    info: Option<String>,
    registry: Arc<Registry>,
}

/// Adds the guard to the schema.
pub(crate) fn add(
    builder: SchemaBuilder,
    spec: GuardSpec,
    roots: &Roots,
    registry: &Arc<Registry>,
) -> SchemaBuilder {
    let GuardSpec { target, kind, function, info } = spec;
    let on = target.split_once('.').map_or("", |it| it.0);
    let is_root = roots.has(on) || roots.has_events(on);
    let guard = Guard { target: target.clone(), function, info, registry: Arc::clone(registry) };
    match kind.as_str() {
        "type" => {
            builder.authorize_type(&target, move |objects: &[&Object], context| guard.judge(objects, context))
        }
        "filter" => builder.filter(&target, move |items: &[&Object], context| guard.judge(items, context)),
        _ if is_root => {
            builder.authorize(&target, move |rows: &[&()], context| guard.judge_caller(rows.len(), context))
        }
        _ => builder.authorize(&target, move |parents: &[&Object], context| guard.judge(parents, context)),
    }
}

impl Guard {
    /// A verdict for each of `objects`.
    fn judge(&self, objects: &[&Object], context: &Context) -> Vec<bool> {
        self.ask(objects.len(), context, |py, state, keywords| {
            let objects = state.parents(py, objects);
            let objects = objects.ok_or_else(|| PyValueError::new_err("the objects are not known"))?;
            self.function.bind(py).call((PyList::new(py, objects)?,), Some(keywords))
        })
    }

    /// The verdict about the caller alone.
    fn judge_caller(&self, rows: usize, context: &Context) -> Vec<bool> {
        self.ask(rows, context, |py, _, keywords| self.function.bind(py).call((), Some(keywords)))
    }

    fn ask(
        &self,
        rows: usize,
        context: &Context,
        call: impl for<'py> FnOnce(Python<'py>, &RunState, &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>>,
    ) -> Vec<bool> {
        let Ok(state) = call_state(context) else { return vec![false; rows] };
        Python::attach(|py| {
            let verdicts = self.keywords(py, context, &state).and_then(|keywords| {
                let given = call(py, &state, &keywords)?;
                if let Ok(one) = given.cast::<PyBool>() {
                    return Ok(vec![one.is_true(); rows]);
                }
                let given: Vec<bool> = given.extract()?;
                if given.len() == rows {
                    return Ok(given);
                }
                let message = format!("a guard gave {} verdicts for {rows} objects", given.len());
                Err(PyValueError::new_err(message))
            });
            verdicts.unwrap_or_else(|error| {
                if !error.is_instance(py, self.registry.graphql_error.bind(py)) {
                    if error.is_instance_of::<PyException>(py) {
                        log(py, &self.registry, &self.target, &error);
                    } else {
                        state.interrupt(error);
                    }
                }
                vec![false; rows]
            })
        })
    }

    fn keywords<'py>(
        &self,
        py: Python<'py>,
        context: &Context,
        state: &RunState,
    ) -> PyResult<Bound<'py, PyDict>> {
        let keywords = PyDict::new(py);
        if let Some(name) = &self.info {
            let info = Info::new(state.context.clone_ref(py), context.lookahead().clone());
            keywords.set_item(name, Bound::new(py, info)?)?;
        }
        Ok(keywords)
    }
}

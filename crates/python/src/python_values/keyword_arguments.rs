//! Arguments of a field as keyword arguments of a function.
//!
//! **Invariant:** an argument that was not given and has no default is not passed, so the function's own default holds.

use super::exceptions::broken;
use super::python_upload::Upload;
use crate::registry::{Registry, snake};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use std::collections::HashSet;
use weir_runtime::{AnyArguments, AnyInput, ResolveError};

/// Parameters of a function.
#[derive(Clone, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Parameters {
    pub(crate) names: HashSet<String>,
    /// The keyword by which it takes `info`.
    pub(crate) info: Option<String>,
    /// True if it takes any keyword.
    pub(crate) any: bool,
}

impl Parameters {
    /// The keyword for an argument: its own name, or that in the words of Python.
    pub(crate) fn keyword(&self, argument: &str) -> Option<String> {
        let snake = snake(argument);
        let is_info = |it: &str| self.info.as_deref() == Some(it) && it != "info";
        if is_info(argument) || is_info(&snake) {
            return None;
        }
        match () {
            () if self.names.contains(argument) => Some(argument.to_owned()),
            () if self.names.contains(&snake) || self.any => Some(snake),
            () => None,
        }
    }
}

/// The keywords for `arguments`.
/// # Errors
/// A reader of a scalar, or a class of an input, refuses a value.
pub(crate) fn keywords<'py>(
    py: Python<'py>,
    arguments: &AnyArguments,
    parameters: &Parameters,
    registry: &Registry,
) -> PyResult<Bound<'py, PyDict>> {
    let keywords = PyDict::new(py);
    for (name, value) in &arguments.0 {
        let keyword = parameters.keyword(name).unwrap_or_else(|| name.to_string());
        keywords.set_item(keyword, input(py, value, registry)?)?;
    }
    Ok(keywords)
}

fn input<'py>(py: Python<'py>, value: &AnyInput, registry: &Registry) -> PyResult<Bound<'py, PyAny>> {
    match value {
        AnyInput::Null => Ok(py.None().into_bound(py)),
        AnyInput::Bool(value) => value.into_bound_py_any(py),
        AnyInput::Int(value) => value.into_bound_py_any(py),
        AnyInput::Float(value) => value.into_bound_py_any(py),
        AnyInput::Text(text) => Ok(PyString::new(py, text).into_any()),
        AnyInput::Enum(ty, name) => match registry.enums.get(&**ty) {
            Some(class) => member(class.bind(py), name),
            None => Ok(PyString::new(py, name).into_any()),
        },
        AnyInput::Scalar(ty, json) => {
            let value = registry.loads.bind(py).call1((&**json,))?;
            match registry.scalars.get(&**ty).and_then(|it| it.read.as_ref()) {
                Some(read) => read.bind(py).call1((value,)),
                None => Ok(value),
            }
        }
        AnyInput::File(file) => Ok(Bound::new(py, Upload::new(py, file))?.into_any()),
        AnyInput::List(items) => {
            let items = items.iter().map(|it| input(py, it, registry)).collect::<PyResult<Vec<_>>>()?;
            Ok(PyList::new(py, items)?.into_any())
        }
        AnyInput::Object(ty, fields) => {
            let class = registry.inputs.get(&**ty);
            let members = PyDict::new(py);
            for (name, value) in fields {
                let keyword = class.and_then(|it| it.keywords.get(&**name)).map_or(&**name, String::as_str);
                members.set_item(keyword, input(py, value, registry)?)?;
            }
            match class {
                Some(it) => it.class.bind(py).call((), Some(&members)),
                None => Ok(members.into_any()),
            }
        }
    }
}

/// The member of an enum class by its name, or by its value.
fn member<'py>(class: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    match class.getattr("__members__")?.get_item(name) {
        Ok(member) => Ok(member),
        Err(_) => class.call1((name,)),
    }
}

/// Error of a reader that refuses a value: `ValueError` and `TypeError` are shown to the client, others are a bug.
pub(crate) fn reader_error(
    py: Python<'_>,
    error: &PyErr,
    coordinate: &str,
    registry: &Registry,
) -> ResolveError {
    if error.is_instance_of::<PyValueError>(py) {
        return ResolveError::new(error.value(py).to_string()).code("BAD_USER_INPUT");
    }
    broken(py, registry, coordinate, error.to_string())
}

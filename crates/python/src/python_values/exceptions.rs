//! Exceptions of Python as errors of fields.
//!
//! **Invariant:** only messages of `weir.GraphQLError` reach the client; every other exception is logged. An exception outside of
//! `Exception`, such as `KeyboardInterrupt`, is kept and raised again by the call that executes.

use super::json_scalars;
use crate::registry::Registry;
use crate::run_state::RunState;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use weir_engine::memory::AnswerError;
use weir_engine::source::FieldError;
use weir_runtime::ResolveError;

/// Code of an error whose details clients do not get.
const INTERNAL: &str = "INTERNAL";

fn internal() -> ResolveError {
    ResolveError::new("Internal error.").code(INTERNAL)
}

/// The error that `error`, raised at `coordinate`, is.
pub(crate) fn resolve_error(
    py: Python<'_>,
    error: PyErr,
    coordinate: &str,
    registry: &Registry,
    state: &RunState,
) -> ResolveError {
    if error.is_instance(py, registry.graphql_error.bind(py)) {
        return read_graphql_error(error.value(py).as_any(), registry).unwrap_or_else(|_| internal());
    }
    if error.is_instance_of::<PyException>(py) {
        log(py, registry, coordinate, &error);
    } else {
        state.interrupt(error);
    }
    internal()
}

/// Converts an exception like [`resolve_error`], for one value.
pub(crate) fn field_error(
    py: Python<'_>,
    error: PyErr,
    coordinate: &str,
    registry: &Registry,
    state: &RunState,
) -> FieldError {
    resolve_error(py, error, coordinate, registry, state).field_error(None)
}

/// Error of a value that does not fit, with a message for the client.
pub(crate) fn unfit(message: String) -> FieldError {
    FieldError { code: INTERNAL, message: message.into(), hasura_path: None, extensions: None }
}

/// Error of a resolver that broke its contract; the message is only logged.
pub(crate) fn broken(py: Python<'_>, registry: &Registry, coordinate: &str, message: String) -> ResolveError {
    log(py, registry, coordinate, &PyValueError::new_err(message));
    internal()
}

/// Logs an exception at `coordinate`.
pub(crate) fn log(py: Python<'_>, registry: &Registry, coordinate: &str, error: &PyErr) {
    if let Err(failed) = registry.log.call1(py, (coordinate, error.value(py))) {
        failed.write_unraisable(py, None);
    }
}

fn read_graphql_error(error: &Bound<'_, PyAny>, registry: &Registry) -> PyResult<ResolveError> {
    let message = error.getattr("message")?.str()?;
    let mut told = ResolveError::new(message.to_str()?);
    if let Some(code) = error.getattr("code")?.extract::<Option<String>>()? {
        told = told.code(code);
    }
    let extensions = error.getattr("extensions")?;
    if let Ok(members) = extensions.cast::<PyDict>() {
        for (name, value) in members.iter() {
            let mut written = String::new();
            json_scalars::write(&mut written, &value, registry, 0).map_err(PyValueError::new_err)?;
            told = told.with_json(name.cast::<PyString>()?.to_str()?, &written);
        }
    }
    Ok(told)
}

//! An answer, as bytes of JSON.

use super::RunOutput;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The bytes, and the status for the transport.
#[pyclass(frozen, module = "weir")]
pub(crate) struct Response {
    #[pyo3(get)]
    body: Py<PyBytes>,
    #[pyo3(get)]
    status: u16,
    #[pyo3(get)]
    ok: bool,
}

impl Response {
    pub(crate) fn new(py: Python<'_>, response: &weir_runtime::Response) -> Self {
        let body = PyBytes::new(py, &response.body).unbind();
        Self { body, status: response.status(), ok: response.is_ok() }
    }
}

impl RunOutput for weir_runtime::Response {
    fn into_object(self: Box<Self>, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(Py::new(py, Response::new(py, &self))?.into_any())
    }
}

#[pymethods]
impl Response {
    /// The body as text.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.body.bind(py).call_method1("decode", ("utf-8",))
    }
    /// The body, read.
    fn json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (&self.body,))
    }
    fn __bytes__(&self, py: Python<'_>) -> Py<PyBytes> {
        self.body.clone_ref(py)
    }
    fn __repr__(&self) -> String {
        format!("<weir.Response {}>", self.status)
    }
}

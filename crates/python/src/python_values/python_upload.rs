//! A file of a request.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The value of the scalar `Upload`.
#[pyclass(frozen, module = "weir")]
pub(crate) struct Upload {
    /// The name that the client gives it: never a path to use.
    #[pyo3(get)]
    file_name: Option<String>,
    /// The media type that the client claims.
    #[pyo3(get)]
    content_type: Option<String>,
    #[pyo3(get)]
    content: Py<PyBytes>,
}

impl Upload {
    pub(crate) fn new(py: Python<'_>, file: &weir_runtime::Upload) -> Self {
        Self {
            file_name: file.file_name.clone(),
            content_type: file.content_type.clone(),
            content: PyBytes::new(py, &file.content).unbind(),
        }
    }
}

#[pymethods]
impl Upload {
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.content.bind(py).len()
    }
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let length = self.content.bind(py).len()?;
        Ok(format!("<weir.Upload {:?}, {length} bytes>", self.file_name.as_deref().unwrap_or_default()))
    }
}

//! Values that have to be awaited.
//!
//! **Cost:** one comparison of classes per value where all are of one class.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyList, PyString, PyType};

/// The class that was met last, and whether its values are awaited.
#[derive(Default)]
pub(crate) struct AwaitableTypes<'py> {
    last: Option<(Bound<'py, PyType>, bool)>,
}

impl<'py> AwaitableTypes<'py> {
    /// True if `value` has to be awaited.
    pub(crate) fn has(&mut self, value: &Bound<'py, PyAny>) -> bool {
        let is_plain = value.is_none()
            || value.is_exact_instance_of::<PyDict>()
            || value.is_exact_instance_of::<PyString>()
            || value.is_exact_instance_of::<PyList>()
            || value.is_exact_instance_of::<PyInt>()
            || value.is_exact_instance_of::<PyBool>();
        if is_plain {
            return false;
        }
        let class = value.get_type();
        if let Some((last, verdict)) = &self.last
            && last.is(&class)
        {
            return *verdict;
        }
        let verdict = class.hasattr("__await__").unwrap_or(false);
        self.last = Some((class, verdict));
        verdict
    }
}

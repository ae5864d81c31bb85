//! `info`: what a resolver sees beside its parents and arguments.

use pyo3::prelude::*;
use weir_runtime::Lookahead;

/// Context of the request, and the selection.
#[pyclass(frozen, module = "weir")]
pub(crate) struct Info {
    context: Py<PyAny>,
    lookahead: Lookahead,
}

impl Info {
    pub(crate) fn new(context: Py<PyAny>, lookahead: Lookahead) -> Self {
        Self { context, lookahead }
    }
}

#[pymethods]
impl Info {
    /// The object that was passed as `context` with the request.
    #[getter]
    fn context(&self, py: Python<'_>) -> Py<PyAny> {
        self.context.clone_ref(py)
    }
    /// `User.posts`.
    #[getter]
    fn coordinate(&self) -> String {
        self.lookahead.selected_field().coordinate()
    }
    /// The alias, or the name.
    #[getter]
    fn response_name(&self) -> &str {
        self.lookahead.response_name()
    }
    /// Names of the fields that are selected below.
    #[getter]
    fn selected(&self) -> Vec<&str> {
        self.lookahead.names()
    }
    /// True if the field at `path`, names joined by dots, is selected below.
    fn selects(&self, path: &str) -> bool {
        let mut at = Some(self.lookahead.clone());
        path.split('.').all(|name| {
            let found = at.as_ref().is_some_and(|it| it.selects(name));
            at = at.as_ref().and_then(|it| it.below(name));
            found
        })
    }
}

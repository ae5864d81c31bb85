//! Weir for Python: the extension module `weir._weir`, on which the package `weir` stands.
//!
//! A schema is SDL with functions of Python at its fields. A function is called once per step; its values are converted in one pass
//! under the GIL to exactly what the request selects, and written without it.
//!
//! **Invariant:** only the runtime executes. This crate calls functions and converts values; it knows no operation.
//!
//! **Cost:** per step one acquisition of the GIL, and one value per selected field and row.

mod awaitable;
mod event_loop;
mod python_function;
mod python_schema;
mod python_values;
mod registry;
mod run_state;
mod schema_roots;

use pyo3::prelude::*;

/// Names of the root types of an SDL.
#[pyfunction]
fn root_names(sdl: &str) -> [String; 3] {
    schema_roots::Roots::of(sdl).names()
}

/// `fullName` as `full_name`.
#[pyfunction]
fn snake(name: &str) -> String {
    registry::snake(name)
}

/// The extension module.
#[pymodule]
fn _weir(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(root_names, module)?)?;
    module.add_function(wrap_pyfunction!(snake, module)?)?;
    module.add_class::<python_schema::Core>()?;
    module.add_class::<event_loop::Run>()?;
    module.add_class::<event_loop::Reply>()?;
    module.add_class::<event_loop::feed::Feed>()?;
    module.add_class::<python_function::info::Info>()?;
    module.add_class::<event_loop::json_response::Response>()?;
    module.add_class::<event_loop::http_answer::HttpAnswer>()?;
    module.add_class::<event_loop::socket_messages::Socket>()?;
    module.add_class::<python_values::python_upload::Upload>()?;
    Ok(())
}

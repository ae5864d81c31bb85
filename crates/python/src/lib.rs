//! Weir for Python: the extension module `weir._weir`, on which the package `weir` stands.
//!
//! A schema is SDL with functions of Python at its fields. A function is called once per step; its values are converted in one pass
//! under the GIL to exactly what the request selects, and written without it.
//!
//! **Invariant:** only the runtime executes. This crate calls functions and converts values; it knows no operation.
//!
//! **Cost:** per step one acquisition of the GIL, and one value per selected field and row.

mod arguments;
mod convert;
mod errors;
mod event_loop;
mod feed;
mod function;
mod info;
mod json;
mod registry;
mod response;
mod run_state;
mod schema;
mod selection;
mod tokio_runtime;

use pyo3::prelude::*;

/// The extension module.
#[pymodule]
fn _weir(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<schema::Core>()?;
    module.add_class::<event_loop::Run>()?;
    module.add_class::<event_loop::Reply>()?;
    module.add_class::<feed::Feed>()?;
    module.add_class::<info::Info>()?;
    module.add_class::<response::Response>()?;
    Ok(())
}

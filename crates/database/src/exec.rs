//! The executor of plans: values that are bound, answers that are written.

pub(crate) mod array_text;
pub(crate) mod bindings;
pub mod cell_value;
pub mod database_source;
pub(crate) mod driver;
pub mod encoded;
pub(crate) mod errors;
mod explain;
pub(crate) mod full_disk;
pub(crate) mod json_path;
pub(crate) mod output;
pub(crate) mod pattern_checks;
pub mod plans;
pub(crate) mod programs;

//! Plans that run: made by a front end, finished by the passes, kept by form, and what is known of them before they run.

pub(crate) mod called_functions;
pub(crate) mod confined_tables;
pub(crate) mod forms;
pub mod planning;
pub(crate) mod prepared_plan;
pub(crate) mod shard_refusals;

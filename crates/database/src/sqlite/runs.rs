//! Runs of a plan on a connection: its statements are stepped while the answer is written.

pub(crate) mod run_failure;
pub(crate) mod sink;
pub(crate) mod statements;
mod stepped_rows;
mod works;

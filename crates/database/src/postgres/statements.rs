//! The statements of a plan, prepared, and the rows that come back from them.

pub(crate) mod asked_levels;
mod fallible;
pub(crate) mod prepared;
mod reading_statements;
pub(crate) mod result_rows;
pub(crate) mod result_set;
pub(crate) mod written_rows;

//! Mutations: statements in one transaction, and programs.

pub(crate) mod program;
mod row_judge;
mod runner;
pub(crate) mod write_fetch;

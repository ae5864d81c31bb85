//! Mutations that are programs: their steps, and the answers of one after another.

mod program_runs;
pub(crate) mod program_steps;
pub(crate) mod turns;

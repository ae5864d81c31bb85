//! Passes over a plan and its parts: each is a function from plan to plan, or a measure of one.

pub mod alternatives;
pub mod bounds;
pub mod effects;
pub mod policy;

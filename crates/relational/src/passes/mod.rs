//! Passes over a plan and its parts: each is a function from plan to plan, or a measure of one.

pub mod alternatives;
pub mod bounds;
pub mod effects;
pub mod elide;
pub mod policy;

use crate::catalog::Relations;
use crate::plan::Plan;

/// Finishes the plan of a front end: restricts it to what `policy` allows, then removes levels that nobody needs.
pub fn finish(plan: &mut Plan, relations: &Relations, policy: &dyn policy::Policy) {
    policy::restrict(plan, policy);
    elide::elide(plan, relations);
}

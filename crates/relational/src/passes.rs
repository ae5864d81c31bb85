//! Passes over a plan and its parts: each is a function from plan to plan, or a measure of one.

pub mod alternatives;
mod barrier;
pub mod bounds;
mod claims;
pub mod effects;
pub mod elide;
mod idle;
mod judges;
mod moves;
pub mod policy;
pub mod reach;
pub mod route;
mod row_checks;
pub mod row_keys;
mod stored_keys;

use crate::catalog::Relations;
use crate::plan::Plan;

/// Finishes the plan of a front end: restricts it to what `policy` allows, notes its patterns, removes updates that set
/// nothing and levels that nobody needs, takes out checks that are judged later, leaves rows on their shards, and repeats the
/// conditions by which shards are found.
pub fn finish(plan: &mut Plan, relations: &Relations, policy: &dyn policy::Policy) {
    policy::restrict(plan, relations, policy);
    judges::gather(plan);
    idle::remove(plan);
    row_checks::take_out(plan, relations);
    elide::elide(plan, relations);
    moves::refuse(plan, relations);
    route::route(plan, relations);
}

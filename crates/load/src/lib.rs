//! The load kit: mock services to try a gateway on, and the load generator that measures any GraphQL or HTTP server.
//!
//! **Invariant:** knows none of the crates it is used to measure.

#![expect(
    missing_docs,
    reason = "the crate is not published: an item has a doc where it says more than the name"
)]

pub mod capacity;
mod compare;
mod compare_answers;
mod max;
mod mock;
mod notation;
mod page;
mod plan;
mod profile;
pub mod report;
pub mod result;
mod run;
mod wire;

pub use crate::notation::yaml::{Mistake, read_duration};
pub use compare::{CompareOptions, Side, compare};
pub use compare_answers::{ComparedAnswer, FirstDifference, compare_answers};
pub use max::{MaxOptions, MaxProgress, max};
pub use mock::{Scenario, serve};
pub use plan::{Entry, Load, LoadOptions, Plan, PlanOverrides, Protocol, Request, Share};
pub use profile::{Arrivals, ProfileOptions, RateProfile};
pub use run::{Progress, RunOptions, Spawner, check_watched, generate_share, run};

//! The load kit: mock services to try a gateway on, and the load generator that measures any GraphQL or HTTP server.
//!
//! **Invariant:** knows none of the crates it is used to measure.

pub mod capacity;
mod compare;
mod expression;
mod figures;
mod machine;
mod max;
mod mock;
mod page;
mod plan;
mod profile;
pub mod report;
pub mod result;
mod run;
mod statistics;
mod text;
mod wire;
mod yaml;

pub use compare::{CompareOptions, Side, compare};
pub use max::{MaxOptions, MaxProgress, max};
pub use mock::{Scenario, serve};
pub use plan::{Entry, Load, LoadOptions, Plan, PlanOverrides, Protocol, Request, Share};
pub use profile::{Arrivals, RateProfile};
pub use run::{Progress, RunOptions, Spawner, check_watched, generate_share, run};
pub use yaml::{Mistake, read_duration};

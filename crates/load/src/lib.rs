//! The load kit: services that answer as a scenario says, so that a gateway can be tried without the services it stands
//! before.
//!
//! **Invariant:** knows none of the crates it is used to measure.

mod expression;
mod latency;
mod scenario;
mod serve;
mod template;
mod yaml;

pub use scenario::Scenario;
pub use serve::serve;
pub use yaml::Mistake;

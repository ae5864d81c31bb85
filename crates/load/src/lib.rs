//! The load kit: mock services to try a gateway on, and the load generator that measures any GraphQL or HTTP server.
//!
//! **Invariant:** knows none of the crates it is used to measure.

pub mod capacity;
mod expression;
mod figures;
mod mock;
mod page;
pub mod report;
pub mod result;
mod text;
mod yaml;

pub use mock::{Scenario, serve};
pub use yaml::Mistake;

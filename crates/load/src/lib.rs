//! The load kit: mock services to try a gateway on, and the load generator that measures any GraphQL or HTTP server.
//!
//! **Invariant:** knows none of the crates it is used to measure.

mod expression;
mod mock;
pub mod result;
mod text;
mod yaml;

pub use mock::{Scenario, serve};
pub use yaml::Mistake;

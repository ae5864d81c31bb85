//! Mock services: answers as a scenario says, so that a gateway can be tried without the services behind it.

mod latency;
mod names;
mod scenario;
mod serve;
mod template;

pub use scenario::Scenario;
pub use serve::serve;

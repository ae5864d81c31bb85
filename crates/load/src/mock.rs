//! Mock services: answers as a scenario says, so that a gateway can be tried without the services behind it.

mod body_template;
mod latency;
mod scenario;
mod scenario_names;
mod serve;

pub use scenario::Scenario;
pub use serve::serve;

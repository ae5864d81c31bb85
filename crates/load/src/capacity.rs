//! Capacity: from the measured CPU of a request to a fleet, and what the fleet does when traffic, DNS, caches and zones
//! behave as they do.
//!
//! The sum is one product; each of its terms is named and says where its figure comes from. The simulations are seeded:
//! equal inputs give equal results.

mod balancing;
mod cache;
mod estimate_page;
mod findings;
mod fleet;
mod input_text;
mod inputs;
mod measured;
mod queue;
mod scaling;
mod units;
mod zipf;
mod zone_loss;

pub use balancing::{Balancing, BalancingResult};
pub use cache::{Caching, CachingResult};
pub use estimate_page::{page, text};
pub use fleet::{AtMost, Estimate, Step, Term, estimate};
pub use input_text::read;
pub use inputs::{Hit, HitRate, Inputs, OperationCost, Sourced, Zones};
pub use measured::operation;
pub use queue::{Course, Moment};
pub use scaling::{Scaling, ScalingResult};
pub use units::{read_factor, read_part, read_rate, read_seconds};
pub use zone_loss::ZoneLoss;

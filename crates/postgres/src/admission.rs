//! What may be sent now, and over how many connections: permits, gates, and what another connection would gain.

pub(crate) mod batch_time;
pub mod bulkhead;
pub mod demand;
pub(crate) mod helper_lanes;
pub(crate) mod keyed_limiter;
pub(crate) mod permit;

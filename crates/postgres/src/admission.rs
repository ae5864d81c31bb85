//! Admission of statements: permits, gates, and the number of connections that the load is worth.

pub(crate) mod batch_time;
pub mod bulkhead;
pub mod demand;
pub(crate) mod helper_lanes;
pub(crate) mod keyed_limiter;
pub(crate) mod permit;

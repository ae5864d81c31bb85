//! Protection of services and callers: circuit breaker, retries and their budget, measured latency.

pub(crate) mod breaker;
pub(crate) mod budget;
pub(crate) mod latency;
pub(crate) mod retry;

//! Metrics and logs, which all modules may use.

pub(crate) mod access;
pub(crate) mod exposition;
mod fetches;
pub(crate) mod floods;
pub(crate) mod log;
pub(crate) mod metrics;
mod operations;
mod servers;
pub(crate) mod service_cache;
mod service_calls;

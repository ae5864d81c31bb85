//! Metrics and logs, which all modules may use.

pub(crate) mod access;
mod cost_metrics;
pub(crate) mod exposition;
mod fetch_metrics;
pub(crate) mod floods;
pub(crate) mod log;
pub(crate) mod metrics;
mod mirror_metrics;
pub(crate) mod noted;
mod operation_metrics;
mod server_metrics;
pub(crate) mod service_cache;
mod service_calls;
mod sink;

/// Target of the access log.
const ACCESS: &str = "weir::access";

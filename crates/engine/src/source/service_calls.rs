//! Counts of calls to services, for operators.

use crate::telemetry::durations::DurationCounts;
use std::sync::Arc;

/// A service and its calls.
#[derive(Clone, Debug)]
pub struct ServiceCalls {
    /// Name of the service.
    pub service: Arc<str>,
    /// Attempts under way.
    pub in_flight: u64,
    /// Calls that wait for a free slot because the maximum is in flight.
    pub waiting: u64,
    /// True if the breaker is open; `None` without a breaker.
    pub is_broken: Option<bool>,
    /// Counts per caller.
    pub callers: Vec<CallerCalls>,
}

/// A caller of a service: a connector, or the whole server where one operation asks for several fields.
#[derive(Clone, Debug)]
pub struct CallerCalls {
    /// `Query.user`, or the server's name.
    pub caller: Arc<str>,
    /// Calls that ended, by outcome: `2xx` to `5xx`, or the code of the error without an answer.
    pub outcomes: Vec<(&'static str, u64)>,
    /// Attempts after a failed one.
    pub retries: u64,
    /// Second attempts beside one that took long.
    pub hedges: u64,
    /// Durations of the calls, retries included.
    pub took: DurationCounts,
}

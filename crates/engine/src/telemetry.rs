//! Telemetry of requests: stages, spans, durations and counts by operation.

pub mod call_span;
pub mod durations;
pub mod observer;
pub mod operation_cost;
pub mod span;
pub mod usage;

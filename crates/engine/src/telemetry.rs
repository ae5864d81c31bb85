//! Telemetry of requests: stages, spans, durations and counts by operation.

pub mod call_span;
pub mod durations;
mod masked_text;
pub mod observer;
pub mod operation_cost;
pub mod operation_samples;
pub mod span;
pub mod usage;

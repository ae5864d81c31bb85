//! Checked document in, response bytes out: plan, bind, execute, write. Owns the [`source`] border.
//!
//! A warm request costs one hash, one bind and one copy of the source's bytes. [`plan`] is made once per
//! text, operation, protocol and `@skip`/`@include` state; [`rows`] and [`mod@write`] turn answers into bytes.
//!
//! **Invariant:** nothing on the warm path parses, validates, builds a value tree, or allocates or calls
//! dynamically per field or row.

pub mod answer;
pub mod caching;
pub mod caller;
pub mod compose;
pub mod engine;
pub mod errors;
mod execute;
pub mod introspect;
pub mod live;
pub mod memory;
pub mod plan;
pub mod request;
pub mod source;
pub mod telemetry;

pub use answer::{rows, size_hint, unread, write};
pub use caching::{keys, lifetime, single_flight, tag_versions};
pub use engine::bound_operation;
pub use request::{answer_notes, consistency, demand};
pub use telemetry::{call_span, durations, observer, operation_samples, span, usage};

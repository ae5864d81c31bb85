//! Checked document in, response bytes out: plan, bind, execute, write. Owns the [`source`] border.
//!
//! A warm request costs one hash, one bind and one copy of the source's bytes. [`plan`] is made once per
//! text, operation, protocol and `@skip`/`@include` state; [`rows`] and [`mod@write`] turn answers into bytes.
//!
//! **Invariant:** nothing on the warm path parses, validates, builds a value tree, or allocates or calls
//! dynamically per field or row.

pub mod bound_operation;
pub mod call_span;
pub mod caller;
pub mod compose;
pub mod consistency;
pub mod durations;
pub mod engine;
mod errors;
mod execute;
mod increments;
pub mod introspect;
pub mod keys;
pub mod lifetime;
pub mod live;
pub mod memory;
pub mod observer;
pub mod plan;
mod planner;
mod profiles;
mod responses;
pub mod rows;
pub mod single_flight;
pub mod size_hint;
pub mod source;
pub mod span;
pub mod tag_versions;
pub mod unread;
pub mod usage;
pub mod write;

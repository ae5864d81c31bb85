//! Delivery of a source's events: pending ones are fetched as there is room, called in their order, and recorded in groups.
//!
//! A source has a `runner`; all of them share the `slots` of calls in flight. A receiver that fails without an answer keeps few of
//! them, so that it does not hold up the others. Everything runs on one thread, apart from those that answer requests.
//!
//! **Invariant:** events in work are bounded: by the slots while they are called, by a number while their outcomes are recorded.

mod event_log;
mod runner;
mod slots;

pub use event_log::EventLog;
pub use runner::{DeliveredTrigger, DispatchSettings, DispatchTools, SourceRunner};
pub use slots::Slots;

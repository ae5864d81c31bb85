//! Event triggers and scheduled triggers: capture by triggers of the databases, schedules, delivery to webhooks, and their logs.

#![expect(
    missing_docs,
    reason = "the crate is not published: an item has a doc where it says more than the name"
)]

pub mod capture;
pub mod delivery;
pub mod dispatch;
pub mod identifier;
pub mod log;
pub mod moment;
mod own_loop;
pub mod schedule;
pub mod service;
pub mod shared_schema;
pub mod state;
pub mod trigger;

//! State that no source owns: cron events, one-off events and asynchronous actions, with their logs.
//!
//! It lies in the schema `hdb_catalog` of a PostgreSQL, in Hasura's tables, or in a file of SQLite's with the same tables.
//!
//! **Invariant:** only the server that holds the lease takes events into work. Tables that another server made are not touched before
//! an operator says so.

mod action_log;
mod browse;
mod cron_events;
mod database;
mod dialect;
mod lease;
mod left_work;
mod one_off_events;
mod schema;

pub use action_log::{ActionLog, ActionOutcome, ActionRow, NewAction, TakenAction};
pub use browse::{EventStatus, EventsQuery, InvocationsQuery, ScheduledKind};
pub use cron_events::{CronEvents, TakenCronEvent};
pub(crate) use cron_events::{ScheduledOutcome, StoredSchedule};
pub use database::{StateAddress, StateDatabase, StateError};
pub use lease::{LEASE_TIME, Lease};
pub use left_work::{LeftWork, find_left_work, find_missing_right, take_over};
pub use one_off_events::{NewOneOffEvent, OneOffEvents, TakenOneOffEvent};
pub use schema::Ownership;

//! Scheduled triggers: cron triggers of the metadata, and one-off events of commands.
//!
//! [`cron`] says when, [`scheduler`] stores events ahead and delivers those that are due.

pub mod cron;
mod cron_field;
mod deliver;
pub mod scheduler;
mod triggers;

pub use cron::{CronError, CronSchedule};
pub use scheduler::{Scheduler, SchedulerSettings};
pub use triggers::{CronTrigger, resolve_triggers};

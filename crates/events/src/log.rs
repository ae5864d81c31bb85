//! The log of events of a source: pending events are fetched, outcomes recorded, rows shown and removed.
//!
//! `postgres_log` shares the log with other servers, `sqlite_log` owns it alone.
//!
//! **Invariant:** an event that was fetched is not fetched again before its outcome is recorded, unless its server is gone.

mod arrays;
mod event;
mod postgres_log;
mod postgres_sql;
mod rows_json;
mod sqlite_cleanup;
mod sqlite_log;
mod sqlite_owner;

pub use event::{
    Browse, CleanupEnd, LogError, OldRows, Outcome, PendingEvent, RemovedRows, Room, Shown, Status,
};
pub use postgres_log::{BEAT, PostgresLog};
pub use sqlite_log::{FileChange, FileState, SqliteLog};

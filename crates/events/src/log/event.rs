//! Events as the log gives and takes them.

use crate::delivery::{Decision, Invocation};
use std::fmt;

/// The room for events of one trigger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// Name of the trigger.
    pub trigger: String,
    /// Number of events.
    pub count: u32,
    /// True if an event waits for those before it of its row.
    pub is_ordered: bool,
}

/// An event to deliver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingEvent {
    pub id: String,
    /// Order among the events of the source.
    pub sequence: i64,
    /// Schema of the table.
    pub schema: String,
    pub table: String,
    /// Name of the trigger.
    pub trigger: String,
    /// JSON text: `op`, `data`, `session_variables`, `trace_context`.
    pub payload: String,
    /// Time in UTC, without a zone.
    pub created_at: String,
    /// Number of attempts so far.
    pub tries: u32,
}

impl PendingEvent {
    /// The body of the call, for an event of a trigger with `max_retries`.
    pub fn body(&self, max_retries: u32) -> String {
        use weir_language::json::quote;
        let mut out = String::with_capacity(self.payload.len() + 300);
        let mut text = |before: &str, value: &str| {
            out.push_str(before);
            quote(value, &mut out);
        };
        text("{\"id\":", &self.id);
        text(",\"created_at\":", &self.created_at);
        text(",\"table\":{\"schema\":", &self.schema);
        text(",\"name\":", &self.table);
        text("},\"trigger\":{\"name\":", &self.trigger);
        out.push_str("},\"event\":");
        out.push_str(&self.payload);
        out.push_str(&format!(
            ",\"delivery_info\":{{\"max_retries\":{max_retries},\"current_retry\":{}}}}}",
            self.tries
        ));
        out
    }
}

/// The outcome of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Id of the event.
    pub id: String,
    /// Order of the event.
    pub sequence: i64,
    /// Name of the trigger.
    pub trigger: String,
    /// Number of attempts with this one.
    pub tries: u32,
    /// State of the event from now on.
    pub decision: Decision,
    /// The row of the call, if one was made.
    pub row: Option<Invocation>,
}

/// Events by their state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// All.
    All,
    /// Events that are to be delivered.
    Pending,
    /// Events that were delivered or have failed.
    Processed,
    /// Events whose tries have all failed.
    Failed,
}

/// A part of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Browse {
    /// Number of rows.
    pub limit: u32,
    /// Number of rows before them.
    pub offset: u32,
}

/// Rows as JSON text.
pub type Shown = String;

/// Old rows that are to be removed, some at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldRows {
    /// Name of the trigger.
    pub trigger: String,
    /// Age of removed events, in hours.
    pub older_than_h: u32,
    /// Largest number of events that are removed at once.
    pub batch: u32,
    /// True if rows of calls are removed too.
    pub with_calls: bool,
}

/// Rows that were removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemovedRows {
    /// Number of events.
    pub events: u64,
    /// Number of calls.
    pub calls: u64,
    /// True if no more old rows are there.
    pub is_all: bool,
}

/// State of a cleanup that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CleanupEnd {
    /// It has removed what it could in its time.
    Completed,
    /// It has failed.
    Dead,
}

impl CleanupEnd {
    /// The word in the table.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Dead => "dead",
        }
    }
}

/// The reason why a log cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogError {
    /// There is no such event.
    NotFound,
    /// The event is in work.
    Busy,
    /// The database has no such table.
    NoTable,
    /// The database cannot be asked; for operators.
    Unavailable(String),
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("event not found"),
            Self::Busy => f.write_str("event is already being processed"),
            Self::NoTable => f.write_str("the tables of events are not there"),
            Self::Unavailable(words) => f.write_str(words),
        }
    }
}

impl std::error::Error for LogError {}

impl From<rusqlite::Error> for LogError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Unavailable(error.to_string())
    }
}

impl From<weir_postgres::Error> for LogError {
    fn from(error: weir_postgres::Error) -> Self {
        match error.sqlstate().as_ref() {
            // A table or its schema.
            Some(b"42P01" | b"3F000") => Self::NoTable,
            Some(_) | None => Self::Unavailable(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_has_all_keys() {
        let event = PendingEvent {
            id: "a".into(),
            sequence: 1,
            schema: "public".into(),
            table: "it\"s".into(),
            trigger: "told".into(),
            payload: r#"{"op":"MANUAL","data":{"old":null,"new":1.50},"session_variables":null,"trace_context":null}"#.into(),
            created_at: "2024-05-01T10:11:12.123456".into(),
            tries: 2,
        };
        let expected = r#"{"id":"a","created_at":"2024-05-01T10:11:12.123456","table":{"schema":"public","name":"it\"s"},"trigger":{"name":"told"},"event":{"op":"MANUAL","data":{"old":null,"new":1.50},"session_variables":null,"trace_context":null},"delivery_info":{"max_retries":3,"current_retry":2}}"#;
        assert_eq!(event.body(3), expected);
    }
}

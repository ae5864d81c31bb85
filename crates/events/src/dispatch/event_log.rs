//! The log of a source, of either database.

use crate::log::{
    Browse, CleanupEnd, FileChange, FileState, LogError, OldRows, Outcome, PendingEvent, PostgresLog,
    RemovedRows, Room, Shown, SqliteLog, Status,
};
use std::time::Instant;

/// The log of a source.
#[derive(Debug)]
pub enum EventLog {
    /// A log in PostgreSQL.
    Postgres(PostgresLog),
    /// A log in a file of SQLite.
    Sqlite(SqliteLog),
}

macro_rules! forward {
    ($self:ident, $log:ident => $call:expr) => {
        match $self {
            EventLog::Postgres($log) => $call,
            EventLog::Sqlite($log) => $call,
        }
    };
}

impl EventLog {
    /// See [`PostgresLog::fetch`].
    pub(super) async fn fetch(&self, rooms: Vec<Room>, most: u32) -> Result<Vec<PendingEvent>, LogError> {
        match self {
            Self::Postgres(log) => log.fetch(&rooms, most).await,
            Self::Sqlite(log) => log.fetch(rooms, most).await,
        }
    }

    /// See [`PostgresLog::record`].
    pub(super) async fn record(&self, outcomes: &[Outcome]) -> Result<(), LogError> {
        forward!(self, log => log.record(outcomes).await)
    }

    /// Frees the events in work.
    pub(super) async fn leave(&self) -> Result<(), LogError> {
        match self {
            Self::Postgres(log) => log.leave().await,
            Self::Sqlite(log) => {
                log.leave();
                Ok(())
            }
        }
    }

    /// Says that this server is alive; true if it may take events.
    pub(super) async fn hold(&self) -> Result<bool, LogError> {
        match self {
            Self::Postgres(log) => {
                log.beat().await?;
                Ok(log.may_fetch())
            }
            Self::Sqlite(log) => Ok(log.state().await? == FileState::Owned),
        }
    }

    /// True if events may be taken since the last [`Self::hold`].
    pub(super) fn may_fetch(&self) -> bool {
        match self {
            Self::Postgres(log) => log.may_fetch(),
            Self::Sqlite(_) => true,
        }
    }

    /// Looks for commits where that is cheaper than to fetch.
    pub(super) async fn look(&self) -> Result<FileChange, LogError> {
        match self {
            Self::Postgres(_) => Ok(FileChange { has_data: true, has_schema: false }),
            Self::Sqlite(log) => log.look().await,
        }
    }

    /// See [`PostgresLog::redeliver`].
    /// # Errors
    /// See there.
    pub async fn redeliver(&self, id: &str) -> Result<(), LogError> {
        forward!(self, log => log.redeliver(id).await)
    }

    /// See [`PostgresLog::insert`].
    /// # Errors
    /// See there.
    pub async fn insert(
        &self,
        schema: &str,
        table: &str,
        trigger: &str,
        payload: &str,
    ) -> Result<String, LogError> {
        forward!(self, log => log.insert(schema, table, trigger, payload).await)
    }

    /// See [`PostgresLog::archive`].
    /// # Errors
    /// See there.
    pub async fn archive(&self, trigger: &str) -> Result<(), LogError> {
        forward!(self, log => log.archive(trigger).await)
    }

    /// See [`PostgresLog::events`].
    /// # Errors
    /// See there.
    pub async fn events(&self, trigger: &str, status: Status, browse: Browse) -> Result<Shown, LogError> {
        forward!(self, log => log.events(trigger, status, browse).await)
    }

    /// See [`PostgresLog::calls`].
    /// # Errors
    /// See there.
    pub async fn calls(&self, trigger: &str, browse: Browse) -> Result<Shown, LogError> {
        forward!(self, log => log.calls(trigger, browse).await)
    }

    /// See [`PostgresLog::event`].
    /// # Errors
    /// See there.
    pub async fn event(&self, id: &str, browse: Browse) -> Result<Shown, LogError> {
        forward!(self, log => log.event(id, browse).await)
    }

    /// See [`PostgresLog::clean`].
    /// # Errors
    /// See there.
    pub async fn clean(&self, old: &OldRows, deadline: Instant) -> Result<RemovedRows, LogError> {
        forward!(self, log => log.clean(old, deadline).await)
    }

    /// See [`PostgresLog::begin_cleanup`].
    /// # Errors
    /// See there.
    pub async fn begin_cleanup(&self, trigger: &str, at: &str) -> Result<Option<String>, LogError> {
        forward!(self, log => log.begin_cleanup(trigger, at).await)
    }

    /// See [`PostgresLog::end_cleanup`].
    /// # Errors
    /// See there.
    pub async fn end_cleanup(&self, id: &str, end: CleanupEnd, removed: RemovedRows) -> Result<(), LogError> {
        forward!(self, log => log.end_cleanup(id, end, removed).await)
    }
}

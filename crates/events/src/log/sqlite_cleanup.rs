//! Removal of old rows from the log of SQLite's, and its notes.
//!
//! Old rows are looked up on a connection of their own, so that a scan of a large log holds up neither writes nor delivery, and removed
//! a few at a time.

use super::event::{CleanupEnd, LogError, OldRows, RemovedRows};
use super::sqlite_log::{SqliteLog, random_id};
use rusqlite::{Connection, params};
use std::time::Instant;

/// Largest number of events that one transaction removes: others wait for it to write.
const TRANSACTION_MAX: usize = 500;

/// True for rows of a cleanup, which may have changed since they were looked up.
const IS_DONE: &str = "(delivered = 1 OR error = 1)";

impl SqliteLog {
    /// Removes one batch of old events, and begins no transaction after `deadline`.
    /// # Errors
    /// The file cannot be read or written; what was removed before stays so.
    pub async fn clean(&self, old: &OldRows, deadline: Instant) -> Result<RemovedRows, LogError> {
        let database = self.writer().database().clone();
        let wanted = old.clone();
        let found = tokio::task::spawn_blocking(move || find_old(&database.open_reader()?, &wanted)).await;
        let rows = found.unwrap_or(Err(rusqlite::Error::InvalidQuery))?;
        let mut removed = RemovedRows { is_all: rows.len() < old.batch as usize, ..RemovedRows::default() };
        for part in rows.chunks(TRANSACTION_MAX) {
            if Instant::now() >= deadline {
                removed.is_all = false;
                break;
            }
            let part = part.to_vec();
            let with_calls = old.with_calls;
            let (events, calls) =
                self.write(move |connection| Ok(remove(connection, &part, with_calls)?)).await?;
            removed.events += events;
            removed.calls += calls;
        }
        Ok(removed)
    }

    /// Notes a cleanup at the time `at`, in UTC without a zone, and returns its id; `None` if it is noted already. Cleanups whose
    /// server is gone are dead, and notes older than 30 days are removed.
    /// # Errors
    /// The file cannot be written.
    pub async fn begin_cleanup(&self, trigger: &str, at: &str) -> Result<Option<String>, LogError> {
        let values = [trigger, at].map(str::to_owned);
        self.write(move |connection| {
            let [trigger, at] = &values;
            let sql = "DELETE FROM hdb_event_log_cleanups WHERE trigger_name = ?1 AND julianday(scheduled_at) < julianday(?2) - 30";
            connection.execute(sql, params![trigger, at])?;
            let sql = "UPDATE hdb_event_log_cleanups SET status = 'dead' WHERE trigger_name = ?1 AND status = 'scheduled' \
                       AND julianday(scheduled_at) < julianday(?2) - 2 / 24.0";
            connection.execute(sql, params![trigger, at])?;
            let id = random_id();
            let sql = "INSERT INTO hdb_event_log_cleanups (id, trigger_name, scheduled_at, status) SELECT ?1, ?2, ?3, 'scheduled' \
                       WHERE NOT EXISTS (SELECT 1 FROM hdb_event_log_cleanups WHERE trigger_name = ?2 AND scheduled_at = ?3)";
            let noted = connection.execute(sql, params![id, trigger, at])?;
            Ok((noted > 0).then_some(id))
        })
        .await
    }

    /// Notes the end of a cleanup.
    /// # Errors
    /// The file cannot be written.
    pub async fn end_cleanup(&self, id: &str, end: CleanupEnd, removed: RemovedRows) -> Result<(), LogError> {
        let id = id.to_owned();
        self.write(move |connection| {
            let count = |it: u64| i64::try_from(it).unwrap_or(i64::MAX);
            let sql = "UPDATE hdb_event_log_cleanups SET status = ?2, deleted_event_logs = ?3, deleted_event_invocation_logs = ?4 \
                       WHERE id = ?1";
            connection.execute(sql, params![id, end.word(), count(removed.events), count(removed.calls)])?;
            Ok(())
        })
        .await
    }
}

/// Places and ids of the oldest rows of a batch.
fn find_old(connection: &Connection, old: &OldRows) -> rusqlite::Result<Vec<(i64, Option<String>)>> {
    let sql = format!(
        "SELECT weir_seq, id FROM hdb_event_log WHERE trigger_name = ?1 AND {IS_DONE} \
         AND created_at < strftime('%Y-%m-%dT%H:%M:%f', 'now', ?2) ORDER BY weir_seq LIMIT ?3"
    );
    let mut statement = connection.prepare(&sql)?;
    let age = format!("-{} hours", old.older_than_h);
    let rows =
        statement.query_map(params![old.trigger, age, old.batch], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// Removes rows; returns the numbers of events and calls.
fn remove(
    connection: &Connection,
    rows: &[(i64, Option<String>)],
    with_calls: bool,
) -> rusqlite::Result<(u64, u64)> {
    let sql = format!("DELETE FROM hdb_event_log WHERE weir_seq = ?1 AND {IS_DONE}");
    let mut events = connection.prepare_cached(&sql)?;
    let mut calls = connection.prepare_cached("DELETE FROM hdb_event_invocation_logs WHERE event_id = ?1")?;
    let mut removed = (0, 0);
    for (sequence, id) in rows {
        let is_removed = events.execute([sequence])? > 0;
        removed.0 += u64::from(is_removed);
        if with_calls && is_removed {
            removed.1 += calls.execute([id])? as u64;
        }
    }
    Ok(removed)
}

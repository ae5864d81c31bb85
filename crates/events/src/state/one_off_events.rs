//! One-off events: stored by a command, taken into work, recorded.

use super::cron_events::{ScheduledOutcome, log_values, outcome_values};
use super::database::{Query, StateDatabase, StateError};
use crate::delivery::Invocation;
use crate::identifier::random_id;
use crate::moment::Moment;
use std::sync::Arc;

const INSERT: Query = Query {
    sql: "INSERT INTO {hdb}hdb_scheduled_events (id, webhook_conf, scheduled_time, retry_conf, payload, header_conf, comment, created_at) \
          VALUES ($1::text, $2::json, $3::timestamptz, $4::json, $5::json, $6::json, $7::text, {to_plain:$8})",
    columns: 0,
};
const TAKE: Query = Query {
    sql: "UPDATE {hdb}hdb_scheduled_events SET status = 'locked' WHERE id IN (SELECT id FROM {hdb}hdb_scheduled_events \
          WHERE status = 'scheduled' AND coalesce(next_retry_at, scheduled_time) <= $1::timestamptz \
          ORDER BY coalesce(next_retry_at, scheduled_time) LIMIT $2::integer {locked}) \
          AND EXISTS (SELECT 1 FROM {hdb}weir_lease WHERE owner = $3::text AND expires_at > {now:$1}) \
          RETURNING id, webhook_conf, {utc:scheduled_time}, retry_conf, payload, header_conf, comment, {plain:created_at}, tries",
    columns: 9,
};
const NEXT: Query = Query {
    sql: "SELECT {utc:min(coalesce(next_retry_at, scheduled_time))} FROM {hdb}hdb_scheduled_events WHERE status = 'scheduled'",
    columns: 1,
};
const RECORD: Query = Query {
    sql: "UPDATE {hdb}hdb_scheduled_events SET status = $2::text, tries = tries + $3::integer, next_retry_at = $4::timestamptz \
          WHERE id = $1::text AND status = 'locked'",
    columns: 0,
};
const LOG: Query = Query {
    sql: "INSERT INTO {hdb}hdb_scheduled_event_invocation_logs (id, event_id, status, request, response, created_at) \
          SELECT $1::text, id, $3::integer, $4::json, $5::json, {to_plain:$6} FROM {hdb}hdb_scheduled_events WHERE id = $2::text",
    columns: 0,
};
const FREE: Query = Query {
    sql: "UPDATE {hdb}hdb_scheduled_events SET status = 'scheduled' WHERE status = 'locked'",
    columns: 0,
};
const DELETE: Query =
    Query { sql: "DELETE FROM {hdb}hdb_scheduled_events WHERE id = $1::text RETURNING id", columns: 1 };

/// An event to store; members are JSON texts unless they say otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewOneOffEvent {
    /// Address, a JSON string with templates of the environment.
    pub webhook: String,
    /// The time at which it is due.
    pub scheduled_time: Moment,
    /// `{"num_retries", "retry_interval_seconds", "timeout_seconds", "tolerance_seconds"}`.
    pub retry_conf: String,
    pub payload: Option<String>,
    /// List of header entries.
    pub headers: String,
    /// Comment; no JSON.
    pub comment: Option<String>,
}

/// An event in work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenOneOffEvent {
    pub id: String,
    /// The event as it was stored.
    pub event: NewOneOffEvent,
    /// The time at which it was stored.
    pub created_at: Moment,
    /// Number of attempts so far.
    pub tries: u32,
}

#[derive(Clone, Debug)]
pub struct OneOffEvents(Arc<StateDatabase>);

impl OneOffEvents {
    /// The events in `database`, which has to be prepared.
    pub fn new(database: Arc<StateDatabase>) -> Self {
        Self(database)
    }

    /// Stores an event, and returns its id.
    /// # Errors
    /// The database cannot be asked.
    pub async fn insert(&self, event: NewOneOffEvent, now: Moment) -> Result<String, StateError> {
        let id = random_id();
        let NewOneOffEvent { webhook, scheduled_time, retry_conf, payload, headers, comment } = event;
        let values = vec![
            Some(id.clone()),
            Some(webhook),
            Some(scheduled_time.to_text()),
            Some(retry_conf),
            payload,
            Some(headers),
            comment,
            Some(now.to_text()),
        ];
        self.0.run(INSERT, values).await?;
        Ok(id)
    }

    /// Takes up to `count` due events into work, if the server `owner` has the lease.
    pub(crate) async fn take(
        &self,
        count: u32,
        owner: &str,
        now: Moment,
    ) -> Result<Vec<TakenOneOffEvent>, StateError> {
        let values = [now.to_text(), count.to_string(), owner.to_owned()];
        let rows = self.0.run(TAKE, values.map(Some).into()).await?;
        let read = |row: Vec<Option<String>>| {
            let mut cells = row.into_iter();
            let mut next = || cells.next().flatten();
            let time = |it: Option<String>| it.and_then(|it| Moment::parse(&it)).unwrap_or(now);
            TakenOneOffEvent {
                id: next().unwrap_or_default(),
                event: NewOneOffEvent {
                    webhook: next().unwrap_or_default(),
                    scheduled_time: time(next()),
                    retry_conf: next().unwrap_or_default(),
                    payload: next(),
                    headers: next().unwrap_or_default(),
                    comment: next(),
                },
                created_at: time(next()),
                tries: next().and_then(|it| it.parse().ok()).unwrap_or_default(),
            }
        };
        Ok(rows.into_iter().map(read).collect())
    }

    /// The time of the next event.
    pub(crate) async fn next(&self) -> Result<Option<Moment>, StateError> {
        let rows = self.0.run(NEXT, Vec::new()).await?;
        Ok(rows.first().and_then(|it| Moment::parse(it.first()?.as_deref()?)))
    }

    /// Records what became of an event in work.
    pub(crate) async fn record(
        &self,
        id: &str,
        outcome: ScheduledOutcome,
        row: Option<&Invocation>,
        now: Moment,
    ) -> Result<(), StateError> {
        let mut steps = vec![(RECORD, outcome_values(id, outcome, now))];
        steps.extend(row.map(|it| (LOG, log_values(id, it, now))));
        self.0.transact(steps).await.map(drop)
    }

    /// Frees all events in work: nobody works on them.
    pub(crate) async fn free(&self) -> Result<(), StateError> {
        self.0.run(FREE, Vec::new()).await.map(drop)
    }

    /// Deletes an event; true if there was one.
    /// # Errors
    /// The database cannot be asked.
    pub async fn delete(&self, id: &str) -> Result<bool, StateError> {
        Ok(!self.0.run(DELETE, vec![Some(id.to_owned())]).await?.is_empty())
    }
}

//! Events of cron triggers: stored ahead, taken into work, recorded.

use super::action_log::json_list;
use super::database::{Query, StateDatabase, StateError, Values};
use crate::delivery::{Decision, Invocation};
use crate::identifier::random_id;
use crate::moment::Moment;
use std::sync::Arc;

/// Maximum number of events that one statement stores.
const ROWS_MAX: usize = 100;

const SCHEDULES: Query = Query {
    sql: "SELECT s.trigger_name, s.schedule, {utc:s.since}, \
          (SELECT {utc:max(e.scheduled_time)} FROM {hdb}hdb_cron_events AS e WHERE e.trigger_name = s.trigger_name), \
          (SELECT count(*) FROM {hdb}hdb_cron_events AS e WHERE e.trigger_name = s.trigger_name AND e.status = 'scheduled' \
           AND e.tries = 0 AND e.scheduled_time > $1::timestamptz) \
          FROM {hdb}weir_cron_schedules AS s",
    columns: 5,
};
const LAST: Query = Query {
    sql: "SELECT {utc:max(scheduled_time)} FROM {hdb}hdb_cron_events WHERE trigger_name = $1::text",
    columns: 1,
};
const KEEP_SCHEDULE: Query = Query {
    sql: "INSERT INTO {hdb}weir_cron_schedules (trigger_name, schedule, since) VALUES ($1::text, $2::text, $3::timestamptz) \
          ON CONFLICT (trigger_name) DO UPDATE SET schedule = excluded.schedule, since = excluded.since",
    columns: 0,
};
const DROP_SCHEDULE: Query =
    Query { sql: "DELETE FROM {hdb}weir_cron_schedules WHERE trigger_name = $1::text", columns: 0 };
const DROP_WAITING: Query = Query {
    sql: "DELETE FROM {hdb}hdb_cron_events WHERE trigger_name = $1::text AND status = 'scheduled' AND tries = 0",
    columns: 0,
};
const INSERT: Query = Query {
    sql: "INSERT INTO {hdb}hdb_cron_events (id, trigger_name, scheduled_time, created_at) \
          VALUES ($1::text, $2::text, $3::timestamptz, {to_plain:$4}) \
          ON CONFLICT (trigger_name, scheduled_time) WHERE status = 'scheduled' DO NOTHING",
    columns: 0,
};
const TAKE: Query = Query {
    sql: "UPDATE {hdb}hdb_cron_events SET status = 'locked' WHERE id IN (SELECT id FROM {hdb}hdb_cron_events \
          WHERE status = 'scheduled' AND trigger_name IN {each:$1} AND coalesce(next_retry_at, scheduled_time) <= $2::timestamptz \
          ORDER BY coalesce(next_retry_at, scheduled_time) LIMIT $3::integer {locked}) \
          AND EXISTS (SELECT 1 FROM {hdb}weir_lease WHERE owner = $4::text AND expires_at > {now:$2}) \
          RETURNING id, trigger_name, {utc:scheduled_time}, tries",
    columns: 4,
};
const NEXT: Query = Query {
    sql: "SELECT {utc:min(coalesce(next_retry_at, scheduled_time))} FROM {hdb}hdb_cron_events \
          WHERE status = 'scheduled' AND trigger_name IN {each:$1}",
    columns: 1,
};
const RECORD: Query = Query {
    sql: "UPDATE {hdb}hdb_cron_events SET status = $2::text, tries = tries + $3::integer, next_retry_at = $4::timestamptz \
          WHERE id = $1::text AND status = 'locked'",
    columns: 0,
};
const LOG: Query = Query {
    sql: "INSERT INTO {hdb}hdb_cron_event_invocation_logs (id, event_id, status, request, response, created_at) \
          SELECT $1::text, id, $3::integer, $4::json, $5::json, {to_plain:$6} FROM {hdb}hdb_cron_events WHERE id = $2::text",
    columns: 0,
};
const FREE: Query =
    Query { sql: "UPDATE {hdb}hdb_cron_events SET status = 'scheduled' WHERE status = 'locked'", columns: 0 };
const DELETE: Query =
    Query { sql: "DELETE FROM {hdb}hdb_cron_events WHERE id = $1::text RETURNING id", columns: 1 };

/// The schedule of a trigger as it was stored, and how far its events go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredSchedule {
    pub(crate) trigger: String,
    pub(crate) schedule: String,
    /// The time from which on the schedule holds.
    pub(crate) since: Moment,
    /// The time of its last event, whatever became of it.
    pub(crate) last: Option<Moment>,
    /// Number of events ahead.
    pub(crate) waiting: usize,
}

/// An event in work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenCronEvent {
    pub id: String,
    /// Name of the trigger.
    pub trigger: String,
    /// The time it was scheduled for.
    pub scheduled_time: Moment,
    /// Number of attempts so far.
    pub tries: u32,
}

/// State of an event after its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScheduledOutcome {
    /// After an attempt.
    Decided(Decision),
    /// It was too late to call.
    Dead,
}

/// Status, attempts more, and time of the next one.
pub(super) fn outcome_values(id: &str, outcome: ScheduledOutcome, now: Moment) -> Values {
    let (status, tries, retry_at) = match outcome {
        ScheduledOutcome::Decided(Decision::Delivered) => ("delivered", "1", None),
        ScheduledOutcome::Decided(Decision::Failed) => ("error", "1", None),
        ScheduledOutcome::Decided(Decision::Retry(pause)) => {
            ("scheduled", "1", Some(now.after(pause).to_text()))
        }
        ScheduledOutcome::Dead => ("dead", "0", None),
    };
    vec![Some(id.to_owned()), Some(status.to_owned()), Some(tries.to_owned()), retry_at]
}

pub(super) fn log_values(event: &str, row: &Invocation, now: Moment) -> Values {
    vec![
        Some(random_id()),
        Some(event.to_owned()),
        row.status.map(|it| it.to_string()),
        Some(row.request.clone()),
        Some(row.response.clone()),
        Some(now.to_text()),
    ]
}

fn time(cell: Option<&Option<String>>) -> Option<Moment> {
    Moment::parse(cell?.as_deref()?)
}

#[derive(Clone, Debug)]
pub struct CronEvents(Arc<StateDatabase>);

impl CronEvents {
    /// The events in `database`, which has to be prepared.
    pub fn new(database: Arc<StateDatabase>) -> Self {
        Self(database)
    }

    pub(crate) async fn schedules(&self, now: Moment) -> Result<Vec<StoredSchedule>, StateError> {
        let rows = self.0.run(SCHEDULES, vec![Some(now.to_text())]).await?;
        let read = |row: Vec<Option<String>>| {
            let text = |at: usize| row.get(at).cloned().flatten().unwrap_or_default();
            StoredSchedule {
                trigger: text(0),
                schedule: text(1),
                since: time(row.get(2)).unwrap_or(now),
                last: time(row.get(3)),
                waiting: text(4).parse().unwrap_or_default(),
            }
        };
        Ok(rows.into_iter().map(read).collect())
    }

    /// Stores the schedule of a trigger, which holds from `now` on; if it replaces another one, the events of that one that wait are
    /// removed.
    pub(crate) async fn keep_schedule(
        &self,
        trigger: &str,
        schedule: &str,
        replaces: bool,
        now: Moment,
    ) -> Result<(), StateError> {
        let name = || Some(trigger.to_owned());
        let mut steps = Vec::new();
        if replaces {
            steps.push((DROP_WAITING, vec![name()]));
        }
        steps.push((KEEP_SCHEDULE, vec![name(), Some(schedule.to_owned()), Some(now.to_text())]));
        self.0.transact(steps).await.map(drop)
    }

    /// The time of the last event of a trigger, whatever became of it.
    pub(crate) async fn last(&self, trigger: &str) -> Result<Option<Moment>, StateError> {
        let rows = self.0.run(LAST, vec![Some(trigger.to_owned())]).await?;
        Ok(time(rows.first().and_then(|it| it.first())))
    }

    /// Forgets a trigger that is gone, with its events that wait.
    pub(crate) async fn drop_schedule(&self, trigger: &str) -> Result<(), StateError> {
        let name = || vec![Some(trigger.to_owned())];
        self.0.transact(vec![(DROP_WAITING, name()), (DROP_SCHEDULE, name())]).await.map(drop)
    }

    /// Stores events; one whose time is stored already is not stored again.
    pub(crate) async fn insert(
        &self,
        trigger: &str,
        times: &[Moment],
        now: Moment,
    ) -> Result<(), StateError> {
        for part in times.chunks(ROWS_MAX) {
            let step = |time: &Moment| {
                let values = [random_id(), trigger.to_owned(), time.to_text(), now.to_text()];
                (INSERT, Vec::from(values.map(Some)))
            };
            self.0.transact(part.iter().map(step).collect()).await?;
        }
        Ok(())
    }

    /// Takes up to `count` due events of these triggers into work, if the server `owner` has the lease.
    pub(crate) async fn take(
        &self,
        triggers: &[&str],
        count: u32,
        owner: &str,
        now: Moment,
    ) -> Result<Vec<TakenCronEvent>, StateError> {
        let values = [json_list(triggers), now.to_text(), count.to_string(), owner.to_owned()];
        let rows = self.0.run(TAKE, values.map(Some).into()).await?;
        let read = |row: Vec<Option<String>>| {
            let text = |at: usize| row.get(at).cloned().flatten().unwrap_or_default();
            let scheduled_time = time(row.get(2)).unwrap_or(now);
            let tries = text(3).parse().unwrap_or_default();
            TakenCronEvent { id: text(0), trigger: text(1), scheduled_time, tries }
        };
        Ok(rows.into_iter().map(read).collect())
    }

    /// The time of the next event of these triggers.
    pub(crate) async fn next(&self, triggers: &[&str]) -> Result<Option<Moment>, StateError> {
        let rows = self.0.run(NEXT, vec![Some(json_list(triggers))]).await?;
        Ok(time(rows.first().and_then(|it| it.first())))
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

//! Scheduled events and their calls as commands show them.

use super::action_log::json_list;
use super::database::{Query, StateDatabase, StateError, StateRows};
use weir_language::json::quote;

/// Kinds of scheduled events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduledKind {
    /// Events of one cron trigger; of all triggers without a name.
    Cron(Option<String>),
    /// One-off events.
    OneOff,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum EventStatus {
    Scheduled,
    Locked,
    Delivered,
    Error,
    Dead,
}

impl EventStatus {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Scheduled, Self::Locked, Self::Delivered, Self::Error, Self::Dead];

    /// The word in the table.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Locked => "locked",
            Self::Delivered => "delivered",
            Self::Error => "error",
            Self::Dead => "dead",
        }
    }
}

/// Events to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventsQuery {
    /// Their kind.
    pub kind: ScheduledKind,
    /// Their status; all if it is empty.
    pub status: Vec<EventStatus>,
    /// Maximum number of events.
    pub limit: u32,
    /// Number of events before them.
    pub offset: u32,
    /// True if all are counted.
    pub with_count: bool,
}

/// Calls to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvocationsQuery {
    /// The kind of their events.
    pub kind: ScheduledKind,
    /// The event, if they are those of one.
    pub event: Option<String>,
    /// Maximum number of calls.
    pub limit: u32,
    /// Number of calls before them.
    pub offset: u32,
    /// True if all are counted.
    pub with_count: bool,
}

/// The form of a column's JSON.
#[derive(Clone, Copy)]
enum Form {
    Text,
    /// A number, or JSON text.
    Raw,
}

type ShownColumns = [(&'static str, Form)];

const CRON_COLUMNS: &ShownColumns = &[
    ("id", Form::Text),
    ("trigger_name", Form::Text),
    ("scheduled_time", Form::Text),
    ("status", Form::Text),
    ("tries", Form::Raw),
    ("created_at", Form::Text),
    ("next_retry_at", Form::Text),
];
const ONE_OFF_COLUMNS: &ShownColumns = &[
    ("id", Form::Text),
    ("webhook_conf", Form::Raw),
    ("scheduled_time", Form::Text),
    ("retry_conf", Form::Raw),
    ("payload", Form::Raw),
    ("header_conf", Form::Raw),
    ("status", Form::Text),
    ("tries", Form::Raw),
    ("created_at", Form::Text),
    ("next_retry_at", Form::Text),
    ("comment", Form::Text),
];
const CALL_COLUMNS: &ShownColumns = &[
    ("id", Form::Text),
    ("event_id", Form::Text),
    ("status", Form::Raw),
    ("request", Form::Raw),
    ("response", Form::Raw),
    ("created_at", Form::Text),
];

const CRON: Query = Query {
    sql: "SELECT id, trigger_name, {utc:scheduled_time}, status, tries, {plain:created_at}, {utc:next_retry_at} \
          FROM {hdb}hdb_cron_events WHERE ($1::text = '' OR trigger_name = $1::text) AND status IN {each:$2} \
          ORDER BY hdb_cron_events.scheduled_time, id LIMIT $3::integer OFFSET $4::integer",
    columns: 7,
};
const COUNT_CRON: Query = Query {
    sql: "SELECT count(*) FROM {hdb}hdb_cron_events WHERE ($1::text = '' OR trigger_name = $1::text) AND status IN {each:$2}",
    columns: 1,
};
const ONE_OFF: Query = Query {
    sql: "SELECT id, webhook_conf, {utc:scheduled_time}, retry_conf, payload, header_conf, status, tries, {plain:created_at}, \
          {utc:next_retry_at}, comment FROM {hdb}hdb_scheduled_events WHERE status IN {each:$1} \
          ORDER BY hdb_scheduled_events.scheduled_time, id LIMIT $2::integer OFFSET $3::integer",
    columns: 11,
};
const COUNT_ONE_OFF: Query =
    Query { sql: "SELECT count(*) FROM {hdb}hdb_scheduled_events WHERE status IN {each:$1}", columns: 1 };
const CRON_CALLS: Query = Query {
    sql: "SELECT l.id, l.event_id, l.status, l.request, l.response, {plain:l.created_at} \
          FROM {hdb}hdb_cron_event_invocation_logs AS l JOIN {hdb}hdb_cron_events AS e ON e.id = l.event_id \
          WHERE ($1::text = '' OR e.trigger_name = $1::text) AND ($2::text = '' OR e.id = $2::text) \
          ORDER BY l.created_at DESC, l.id LIMIT $3::integer OFFSET $4::integer",
    columns: 6,
};
const COUNT_CRON_CALLS: Query = Query {
    sql: "SELECT count(*) FROM {hdb}hdb_cron_event_invocation_logs AS l JOIN {hdb}hdb_cron_events AS e ON e.id = l.event_id \
          WHERE ($1::text = '' OR e.trigger_name = $1::text) AND ($2::text = '' OR e.id = $2::text)",
    columns: 1,
};
const ONE_OFF_CALLS: Query = Query {
    sql: "SELECT id, event_id, status, request, response, {plain:created_at} FROM {hdb}hdb_scheduled_event_invocation_logs \
          WHERE ($1::text = '' OR event_id = $1::text) \
          ORDER BY hdb_scheduled_event_invocation_logs.created_at DESC, id LIMIT $2::integer OFFSET $3::integer",
    columns: 6,
};
const COUNT_ONE_OFF_CALLS: Query = Query {
    sql: "SELECT count(*) FROM {hdb}hdb_scheduled_event_invocation_logs WHERE ($1::text = '' OR event_id = $1::text)",
    columns: 1,
};

impl StateDatabase {
    /// Events as `{"events": […]}`, with `count` if it is asked for; in the order of their times.
    /// # Errors
    /// The database cannot be asked.
    pub async fn show_events(&self, query: &EventsQuery) -> Result<String, StateError> {
        let status = if query.status.is_empty() { &EventStatus::ALL[..] } else { &query.status };
        let status = json_list(&status.iter().map(|it| it.text()).collect::<Vec<_>>());
        let (list, count, columns, values) = match &query.kind {
            ScheduledKind::Cron(trigger) => {
                (CRON, COUNT_CRON, CRON_COLUMNS, vec![trigger.clone().unwrap_or_default(), status])
            }
            ScheduledKind::OneOff => (ONE_OFF, COUNT_ONE_OFF, ONE_OFF_COLUMNS, vec![status]),
        };
        let page = (query.limit, query.offset);
        self.show("events", (list, columns), count.into_if(query.with_count), values, page).await
    }

    /// Calls as `{"invocations": […]}`, with `count` if it is asked for; the newest first.
    /// # Errors
    /// The database cannot be asked.
    pub async fn show_invocations(&self, query: &InvocationsQuery) -> Result<String, StateError> {
        let event = query.event.clone().unwrap_or_default();
        let (list, count, values) = match &query.kind {
            ScheduledKind::Cron(trigger) => {
                (CRON_CALLS, COUNT_CRON_CALLS, vec![trigger.clone().unwrap_or_default(), event])
            }
            ScheduledKind::OneOff => (ONE_OFF_CALLS, COUNT_ONE_OFF_CALLS, vec![event]),
        };
        let page = (query.limit, query.offset);
        self.show("invocations", (list, CALL_COLUMNS), count.into_if(query.with_count), values, page).await
    }

    async fn show(
        &self,
        name: &str,
        (list, columns): (Query, &ShownColumns),
        count: Option<Query>,
        values: Vec<String>,
        (limit, offset): (u32, u32),
    ) -> Result<String, StateError> {
        let some = |it: &String| Some(it.clone());
        let counted: Vec<Option<String>> = values.iter().map(some).collect();
        let listed = values.iter().map(some).chain([Some(limit.to_string()), Some(offset.to_string())]);
        let mut steps = vec![(list, listed.collect())];
        steps.extend(count.map(|it| (it, counted)));
        let rows = self.transact(steps).await?;
        let mut out = format!("{{\"{name}\":");
        write_rows(rows.first().map_or(&[], Vec::as_slice), columns, &mut out);
        if let Some(count) = rows.get(1).and_then(|it| it.first()?.first()?.as_deref()) {
            out.push_str(",\"count\":");
            out.push_str(count);
        }
        out.push('}');
        Ok(out)
    }
}

impl Query {
    fn into_if(self, is_wanted: bool) -> Option<Self> {
        is_wanted.then_some(self)
    }
}

fn write_rows(rows: &[<StateRows as IntoIterator>::Item], columns: &ShownColumns, out: &mut String) {
    out.push('[');
    for (at, row) in rows.iter().enumerate() {
        out.push_str(if at == 0 { "{" } else { ",{" });
        for (place, ((name, form), cell)) in columns.iter().zip(row).enumerate() {
            if place > 0 {
                out.push(',');
            }
            out.push_str(&format!("\"{name}\":"));
            match (cell, form) {
                (None, _) => out.push_str("null"),
                (Some(text), Form::Raw) => out.push_str(text),
                (Some(text), Form::Text) => quote(text, out),
            }
        }
        out.push('}');
    }
    out.push(']');
}

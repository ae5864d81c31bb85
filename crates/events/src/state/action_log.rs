//! The log of asynchronous actions, `hdb_action_log`.

use super::database::{Query, StateDatabase, StateError};
use crate::moment::Moment;
use std::sync::Arc;
use std::time::Duration;

const INSERT: Query = Query {
    sql: "INSERT INTO {hdb}hdb_action_log (id, action_name, input_payload, request_headers, session_variables, created_at, status) \
          VALUES ($1::uuid, $2::text, $3::jsonb, $4::jsonb, $5::jsonb, $6::timestamptz, 'created')",
    columns: 0,
};
/// Names of actions that have calls to make.
const WAITING: Query = Query {
    sql: "SELECT value FROM {each:$1} AS wanted WHERE EXISTS (SELECT 1 FROM {hdb}hdb_action_log \
          WHERE status = 'created' AND action_name = value)",
    columns: 1,
};
const TAKE: Query = Query {
    sql: "UPDATE {hdb}hdb_action_log SET status = 'processing', weir_taken_at = coalesce({now:$3}, $3::timestamptz) WHERE id IN \
          (SELECT id FROM {hdb}hdb_action_log WHERE status = 'created' AND action_name = $1::text \
          ORDER BY created_at LIMIT $2::integer {locked}) \
          RETURNING id, action_name, input_payload, request_headers, session_variables",
    columns: 5,
};
const FINISH: Query = Query {
    sql: "UPDATE {hdb}hdb_action_log SET status = $2::text, response_payload = $3::jsonb, errors = $4::jsonb, \
          response_received_at = $5::timestamptz WHERE id = $1::uuid AND status = 'processing'",
    columns: 0,
};
const READ: Query = Query {
    sql: "SELECT action_name, session_variables, {utc:created_at}, response_payload, errors, status FROM {hdb}hdb_action_log \
          WHERE id = $1::uuid AND action_name = $2::text",
    columns: 6,
};
const RELEASE: Query = Query {
    sql: "UPDATE {hdb}hdb_action_log SET status = 'created' WHERE status = 'processing' AND id::text IN {each:$1}",
    columns: 0,
};
const RECLAIM: Query = Query {
    sql: "UPDATE {hdb}hdb_action_log SET status = 'created' WHERE status = 'processing' AND action_name = $1::text \
          AND coalesce(weir_taken_at, created_at) < $2::timestamptz RETURNING id",
    columns: 1,
};
/// By the clock of the database, where servers may be on several machines.
const RECLAIM_BY_DATABASE: Query = Query {
    sql: "UPDATE hdb_catalog.hdb_action_log SET status = 'created' WHERE status = 'processing' AND action_name = $1::text \
          AND coalesce(weir_taken_at, created_at) < clock_timestamp() - $2::interval RETURNING id::text",
    columns: 1,
};
const CLEAR: Query =
    Query { sql: "DELETE FROM {hdb}hdb_action_log WHERE action_name = $1::text", columns: 0 };

/// An action that is to be run; members are JSON texts unless they say otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAction {
    /// The id, a UUID.
    pub id: String,
    /// Name of the action; no JSON.
    pub action: String,
    /// Arguments.
    pub input: String,
    /// Headers of the client, `{"name": "value"}`.
    pub request_headers: String,
    /// Session variables of the client.
    pub session_variables: String,
}

/// An action in work; the same members.
pub type TakenAction = NewAction;

/// The result of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionOutcome {
    /// The answer of its handler, as JSON text.
    Completed(String),
    /// `{"path", "error", "code", …}` as JSON text.
    Failed(String),
}

/// A row of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionRow {
    /// Name of the action.
    pub action: String,
    /// Session variables of the client who ran it, JSON text.
    pub session_variables: String,
    /// The time at which it was stored.
    pub created_at: Moment,
    /// The answer, JSON text.
    pub response: Option<String>,
    /// The error, JSON text.
    pub errors: Option<String>,
    /// True once there is an answer or an error.
    pub is_over: bool,
}

#[derive(Clone, Debug)]
pub struct ActionLog(Arc<StateDatabase>);

impl ActionLog {
    /// The log in `database`, which has to be prepared.
    pub fn new(database: Arc<StateDatabase>) -> Self {
        Self(database)
    }

    /// Stores an action durably; nothing is run before that.
    /// # Errors
    /// The database cannot be asked.
    pub async fn insert(&self, action: NewAction, now: Moment) -> Result<(), StateError> {
        let NewAction { id, action, input, request_headers, session_variables } = action;
        let values = [id, action, input, request_headers, session_variables, now.to_text()];
        self.0.run(INSERT, values.map(Some).into()).await.map(drop)
    }

    /// Takes stored actions into work, the oldest first: of each name up to a number.
    /// # Errors
    /// The database cannot be asked.
    pub async fn take(&self, wanted: &[(String, u32)], now: Moment) -> Result<Vec<TakenAction>, StateError> {
        let names: Vec<&str> = wanted.iter().map(|it| it.0.as_str()).collect();
        let waiting = self.0.run(WAITING, vec![Some(json_list(&names))]).await?;
        let is_waiting =
            |name: &str| waiting.iter().any(|it| it.first().is_some_and(|it| it.as_deref() == Some(name)));
        let steps = wanted.iter().filter(|it| is_waiting(&it.0));
        let steps = steps.map(|(name, count)| {
            (TAKE, vec![Some(name.clone()), Some(count.to_string()), Some(now.to_text())])
        });
        let steps: Vec<_> = steps.collect();
        if steps.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self.0.transact(steps).await?;
        let taken = rows.into_iter().flatten().map(|row| {
            let mut cells = row.into_iter().map(Option::unwrap_or_default);
            let mut next = || cells.next().unwrap_or_default();
            TakenAction {
                id: next(),
                action: next(),
                input: next(),
                request_headers: next(),
                session_variables: next(),
            }
        });
        Ok(taken.collect())
    }

    /// Records the result of an action in work.
    /// # Errors
    /// The database cannot be asked.
    pub async fn finish(&self, id: &str, outcome: ActionOutcome, now: Moment) -> Result<(), StateError> {
        let (status, response, errors) = match outcome {
            ActionOutcome::Completed(response) => ("completed", Some(response), None),
            ActionOutcome::Failed(errors) => ("error", None, Some(errors)),
        };
        let values =
            vec![Some(id.to_owned()), Some(status.to_owned()), response, errors, Some(now.to_text())];
        self.0.run(FINISH, values).await.map(drop)
    }

    /// The row of an action called `action`; `None` for an unknown id.
    /// # Errors
    /// The database cannot be asked.
    pub async fn read(&self, id: &str, action: &str) -> Result<Option<ActionRow>, StateError> {
        let rows = self.0.run(READ, vec![Some(id.to_owned()), Some(action.to_owned())]).await?;
        let Some(row) = rows.into_iter().next() else { return Ok(None) };
        let mut cells = row.into_iter();
        let mut next = || cells.next().flatten();
        Ok(Some(ActionRow {
            action: next().unwrap_or_default(),
            session_variables: next().unwrap_or_default(),
            created_at: next().and_then(|it| Moment::parse(&it)).unwrap_or(Moment::from_micros(0)),
            response: next(),
            errors: next(),
            is_over: next().is_some_and(|it| it == "completed" || it == "error"),
        }))
    }

    /// Gives actions in work back, at a graceful stop.
    /// # Errors
    /// The database cannot be asked.
    pub async fn release(&self, ids: &[String]) -> Result<(), StateError> {
        self.0.run(RELEASE, vec![Some(json_list(ids))]).await.map(drop)
    }

    /// Gives actions back that were taken longer than `age` ago and are in work still: their server is gone. Returns their number.
    /// # Errors
    /// The database cannot be asked.
    pub async fn reclaim(&self, action: &str, age: Duration, now: Moment) -> Result<u64, StateError> {
        let (query, before) = if self.0.is_shared() {
            (RECLAIM_BY_DATABASE, format!("{} seconds", age.as_secs()))
        } else {
            (RECLAIM, now.before(age).to_text())
        };
        Ok(self.0.run(query, vec![Some(action.to_owned()), Some(before)]).await?.len() as u64)
    }

    /// Removes all rows of an action.
    /// # Errors
    /// The database cannot be asked.
    pub async fn clear(&self, action: &str) -> Result<(), StateError> {
        self.0.run(CLEAR, vec![Some(action.to_owned())]).await.map(drop)
    }
}

/// `texts` as a JSON list.
pub(super) fn json_list<T: AsRef<str>>(texts: &[T]) -> String {
    let mut out = "[".to_owned();
    for (at, text) in texts.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        weir_language::json::quote(text.as_ref(), &mut out);
    }
    out.push(']');
    out
}

//! Commands about scheduled events.

use super::replace_metadata::{document, unexpected_error};
use super::{Done, SUCCESS, Work, flag, text};
use crate::config::Events;
use crate::server::request::hasura_error::HasuraError;
use hyper::StatusCode;
use serde_json::{Value, json};
use std::future::Future;
use std::sync::Arc;
use weir_events::moment::{Clock, Moment, SystemClock};
use weir_events::shared_schema::foreign_words;
use weir_events::state::{
    ActionLog, CronEvents, EventStatus, EventsQuery, InvocationsQuery, NewOneOffEvent, OneOffEvents,
    Ownership, ScheduledKind, StateDatabase, StateError,
};
use weir_language::json::{JsonRef, quote};
use weir_metadata::document::cron_trigger::ScheduleRetry;
use weir_metadata::document::webhook::HeaderEntry;
use weir_metadata::read;

/// Number of rows of a list that says none.
const ROWS: u32 = 100;

/// Use of the state's tables by a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StateAccess {
    /// Makes those that are missing, and changes them.
    Make,
    /// Changes them where they are.
    Change,
    /// Reads them, another server's too.
    Read,
}

fn wrong(member: &str, message: impl Into<String>) -> HasuraError {
    HasuraError::new("parse-failed", &format!("$.args{member}"), message)
}

fn missing(key: &str) -> HasuraError {
    wrong("", format!("key \"{key}\" not found"))
}

impl Work {
    /// Runs the command `name`, if it is about scheduled events.
    pub(super) fn schedule_command(&self, name: &str, args: JsonRef<'_>) -> Option<Done> {
        Some(match name {
            "get_cron_triggers" => self.cron_triggers(),
            "create_scheduled_event" => self.create_event(args),
            "delete_scheduled_event" => self.delete_event(args),
            "get_scheduled_events" => self.show_events(args),
            "get_scheduled_event_invocations" => self.show_invocations(args),
            _ => return None,
        })
    }

    /// Cron triggers with their defaults.
    fn cron_triggers(&self) -> Done {
        let mut triggers = Vec::new();
        for entry in document(&self.live.current()).cron_triggers {
            let retry = entry.retry_conf.unwrap_or_default();
            let mut shown = serde_json::to_value(&entry).map_err(|it| unexpected_error(it.to_string()))?;
            shown["retry_conf"] = retry_conf(&retry);
            shown["headers"] = json!(entry.headers);
            shown["payload"] = serde_json::to_value(&entry.payload).unwrap_or(Value::Null);
            shown["comment"] = json!(entry.comment);
            triggers.push(shown);
        }
        Ok(json!({ "cron_triggers": triggers }).to_string())
    }

    /// Runs `work` on the state, for `access`; `None` without tables.
    fn ask_state<T, F: Future<Output = Result<T, StateError>>>(
        &self,
        access: StateAccess,
        work: impl FnOnce(Arc<StateDatabase>) -> F,
    ) -> Result<Option<T>, HasuraError> {
        let state = self.live.state();
        let nowhere = || {
            let message = "there is no place for scheduled events: name a database by `state` in weir.yaml";
            HasuraError::new("not-supported", "$.args", message)
        };
        let (database, _) = state.state().ok_or_else(nowhere)?;
        let takes_over = self.live.current().config.events == Events::TakeOver;
        let asked = state.block_on(async {
            let ownership = match access {
                StateAccess::Make => database.prepare(takes_over).await?,
                StateAccess::Change | StateAccess::Read => database.look().await?,
            };
            let may_work = match ownership {
                Ownership::Own => true,
                Ownership::Foreign if access == StateAccess::Read => database.has_foreign_events().await?,
                Ownership::Absent | Ownership::Foreign => false,
            };
            let done = if may_work { Some(work(Arc::clone(&database)).await?) } else { None };
            Ok((ownership, done))
        });
        let unavailable = |error: StateError| {
            let message = format!("the state cannot be used: {error}");
            HasuraError::new("unexpected", "$", message).with_status(StatusCode::INTERNAL_SERVER_ERROR)
        };
        match asked.ok_or_else(nowhere)?.map_err(unavailable)? {
            (Ownership::Foreign, None) if access != StateAccess::Read => {
                let message = foreign_words("scheduled events and asynchronous actions", "");
                Err(HasuraError::new("not-supported", "$.args", message))
            }
            (_, done) => Ok(done),
        }
    }

    /// Removes the stored calls of the action `name`, which is gone whatever becomes of them.
    pub(super) fn clear_calls(&self, name: &str) {
        let of = name.to_owned();
        let cleared =
            self.ask_state(StateAccess::Change, |it| async move { ActionLog::new(it).clear(&of).await });
        if let Err(error) = cleared {
            tracing::warn!(action = name, error = error.message, "the calls of a dropped action are kept");
        }
    }

    fn create_event(&self, args: JsonRef<'_>) -> Done {
        let event = read_event(args)?;
        let now = SystemClock.now();
        let stored =
            self.ask_state(
                StateAccess::Make,
                |it| async move { OneOffEvents::new(it).insert(event, now).await },
            )?;
        if let Some((_, scheduler)) = self.live.state().state() {
            scheduler.notice();
        }
        Ok(json!({ "message": "success", "event_id": stored }).to_string())
    }

    fn delete_event(&self, args: JsonRef<'_>) -> Done {
        let kind = read_kind(args)?;
        let id = text(args, "event_id")?.ok_or_else(|| missing("event_id"))?;
        let of = id.clone();
        let deleted = self.ask_state(StateAccess::Change, |it| async move {
            match kind {
                ScheduledKind::Cron(_) => CronEvents::new(it).delete(&of).await,
                ScheduledKind::OneOff => OneOffEvents::new(it).delete(&of).await,
            }
        })?;
        if deleted == Some(true) {
            return Ok(SUCCESS.to_owned());
        }
        Err(HasuraError::new("not-found", "$.args", format!("Event with id \"{id}\" not found")))
    }

    fn show_events(&self, args: JsonRef<'_>) -> Done {
        let kind = read_kind(args)?;
        if kind == ScheduledKind::Cron(None) {
            return Err(missing("trigger_name"));
        }
        let query = EventsQuery {
            kind,
            status: read_status(args)?,
            limit: number(args, "limit", ROWS)?,
            offset: number(args, "offset", 0)?,
            with_count: flag(args, "get_rows_count", false)?,
        };
        let empty = if query.with_count { r#"{"events":[],"count":0}"# } else { r#"{"events":[]}"# };
        let shown = self.ask_state(StateAccess::Read, |it| async move { it.show_events(&query).await })?;
        Ok(shown.unwrap_or_else(|| empty.to_owned()))
    }

    fn show_invocations(&self, args: JsonRef<'_>) -> Done {
        let query = InvocationsQuery {
            kind: read_kind(args)?,
            event: text(args, "event_id")?,
            limit: number(args, "limit", ROWS)?,
            offset: number(args, "offset", 0)?,
            with_count: flag(args, "get_rows_count", false)?,
        };
        let empty =
            if query.with_count { r#"{"invocations":[],"count":0}"# } else { r#"{"invocations":[]}"# };
        let shown =
            self.ask_state(StateAccess::Read, |it| async move { it.show_invocations(&query).await })?;
        Ok(shown.unwrap_or_else(|| empty.to_owned()))
    }
}

/// `retry_conf` with its defaults.
fn retry_conf(retry: &ScheduleRetry) -> Value {
    json!({
        "num_retries": retry.num_retries(),
        "retry_interval_seconds": retry.retry_interval_seconds(),
        "timeout_seconds": retry.timeout_seconds(),
        "tolerance_seconds": retry.tolerance_seconds(),
    })
}

/// The event that the arguments of `create_scheduled_event` describe. Transforms are taken and not stored, as in Hasura.
fn read_event(args: JsonRef<'_>) -> Result<NewOneOffEvent, HasuraError> {
    let webhook = text(args, "webhook")?.ok_or_else(|| missing("webhook"))?;
    let at = text(args, "schedule_at")?.ok_or_else(|| missing("schedule_at"))?;
    let no_time = || wrong(".schedule_at", format!("`{at}` is no date and time of ISO 8601 with a zone"));
    let scheduled_time = Moment::parse(&at).ok_or_else(no_time)?;
    let member = |key: &str| args.get(key).filter(|it| !it.is_null());
    let retry: ScheduleRetry = match member("retry_conf") {
        Some(it) => read::entry(it.raw()).map_err(|it| wrong(".retry_conf", it))?,
        None => ScheduleRetry::default(),
    };
    let headers = match member("headers") {
        Some(it) => {
            read::entry::<Vec<HeaderEntry>>(it.raw()).map_err(|it| wrong(".headers", it))?;
            it.raw().to_owned()
        }
        None => "[]".to_owned(),
    };
    let mut quoted = String::new();
    quote(&webhook, &mut quoted);
    Ok(NewOneOffEvent {
        webhook: quoted,
        scheduled_time,
        retry_conf: retry_conf(&retry).to_string(),
        payload: member("payload").map(|it| it.raw().to_owned()),
        headers,
        comment: text(args, "comment")?,
    })
}

fn read_kind(args: JsonRef<'_>) -> Result<ScheduledKind, HasuraError> {
    match text(args, "type")?.ok_or_else(|| missing("type"))?.as_str() {
        "one_off" => Ok(ScheduledKind::OneOff),
        "cron" => Ok(ScheduledKind::Cron(text(args, "trigger_name")?)),
        other => Err(wrong(".type", format!("expected \"one_off\" or \"cron\", but found \"{other}\""))),
    }
}

fn read_status(args: JsonRef<'_>) -> Result<Vec<EventStatus>, HasuraError> {
    let mut found = Vec::new();
    for item in args.get("status").into_iter().flat_map(JsonRef::items) {
        let word = item.as_str().unwrap_or_default();
        let status = EventStatus::ALL.into_iter().find(|it| it.text() == word);
        let unknown =
            || wrong(".status", format!("`{word}` is no status: scheduled, locked, delivered, error, dead"));
        found.push(status.ok_or_else(unknown)?);
    }
    Ok(found)
}

fn number(args: JsonRef<'_>, key: &str, default: u32) -> Result<u32, HasuraError> {
    match args.get(key).filter(|it| !it.is_null()) {
        None => Ok(default),
        Some(value) => {
            let digits = value.as_number().and_then(|it| it.parse().ok());
            digits.ok_or_else(|| wrong(&format!(".{key}"), "expected a whole number from 0"))
        }
    }
}

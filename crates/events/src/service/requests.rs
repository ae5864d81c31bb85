//! Requests of operators about the events of a source.

use super::cleanup;
use super::held_source::HeldSource;
use crate::log::{Browse, LogError, OldRows, RemovedRows, Status};
use std::fmt;
use std::time::Duration;

/// A request about the events of a source. Answers are JSON texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Delivers an event again.
    Redeliver {
        /// Id of the event.
        id: String,
    },
    /// Makes an event by hand.
    Invoke {
        /// Name of the trigger.
        trigger: String,
        /// JSON text.
        payload: String,
        /// Session variables as a JSON text.
        session: String,
    },
    /// Lists events.
    Events {
        /// Name of the trigger.
        trigger: String,
        /// Their state.
        status: Status,
        /// The part of the list.
        browse: Browse,
    },
    /// Lists calls.
    Calls {
        /// Name of the trigger.
        trigger: String,
        /// The part of the list.
        browse: Browse,
    },
    /// One event with its calls.
    Event {
        /// Id of the event.
        id: String,
        /// The part of its calls.
        browse: Browse,
    },
    /// Removes old events.
    Clean {
        /// The events.
        old: OldRows,
        /// Longest time of the whole.
        timeout: Duration,
    },
}

/// The reason why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestError {
    /// The source has no event triggers.
    NoSource,
    /// There is no such trigger.
    NoTrigger(String),
    /// The trigger cannot be invoked by hand.
    NotManual,
    /// There is no event with this id.
    NoEvent,
    /// The event is in work.
    Busy,
    /// The log belongs to another server.
    Waits(String),
    /// The database cannot be asked.
    Unavailable(String),
}

impl fmt::Display for RequestError {
    /// Hasura's words where it has any.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSource => f.write_str("the source has no event triggers"),
            Self::NoTrigger(name) => write!(f, "event trigger \"{name}\" does not exist"),
            Self::NotManual => f.write_str("manual mode is not enabled for event trigger"),
            Self::NoEvent => f.write_str("event not found"),
            Self::Busy => f.write_str("event is already being processed"),
            Self::Waits(words) | Self::Unavailable(words) => f.write_str(words),
        }
    }
}

impl std::error::Error for RequestError {}

impl From<LogError> for RequestError {
    fn from(error: LogError) -> Self {
        match error {
            LogError::NotFound => Self::NoEvent,
            LogError::Busy => Self::Busy,
            LogError::NoTable | LogError::Unavailable(_) => Self::Unavailable(error.to_string()),
        }
    }
}

pub(super) async fn answer(source: &HeldSource, request: Request) -> Result<String, RequestError> {
    const SUCCESS: &str = r#"{"message":"success"}"#;
    let log = source.runner().log();
    let needs_trigger = match &request {
        Request::Events { trigger, .. } | Request::Calls { trigger, .. } => Some(trigger),
        Request::Clean { old, .. } => Some(&old.trigger),
        Request::Redeliver { .. } | Request::Event { .. } | Request::Invoke { .. } => None,
    };
    if let Some(name) = needs_trigger.filter(|it| source.trigger(it).is_none()) {
        return Err(RequestError::NoTrigger(name.clone()));
    }
    let changes =
        matches!(request, Request::Redeliver { .. } | Request::Invoke { .. } | Request::Clean { .. });
    if let Some(words) = source.waits().filter(|_| changes) {
        return Err(RequestError::Waits(words));
    }
    match request {
        Request::Redeliver { id } => {
            log.redeliver(&id).await?;
            source.runner().wake();
            Ok(SUCCESS.to_owned())
        }
        Request::Invoke { trigger, payload, session } => {
            let setup = source.trigger(&trigger).ok_or_else(|| RequestError::NoTrigger(trigger.clone()))?;
            if !setup.is_manual {
                return Err(RequestError::NotManual);
            }
            let event = format!(
                "{{\"op\":\"MANUAL\",\"data\":{{\"old\":null,\"new\":{payload}}},\"session_variables\":{session},\"trace_context\":null}}"
            );
            let captured = &setup.captured;
            let schema = if captured.schema.is_empty() { "main" } else { &captured.schema };
            let id = log.insert(schema, &captured.table, &trigger, &event).await?;
            source.runner().wake();
            Ok(format!("{{\"event_id\":\"{id}\"}}"))
        }
        Request::Events { trigger, status, browse } => Ok(log.events(&trigger, status, browse).await?),
        Request::Calls { trigger, browse } => Ok(log.calls(&trigger, browse).await?),
        Request::Event { id, browse } => Ok(log.event(&id, browse).await?),
        Request::Clean { old, timeout } => {
            cleanup::clean_all(log, &old, timeout, &mut RemovedRows::default()).await?;
            Ok(SUCCESS.to_owned())
        }
    }
}

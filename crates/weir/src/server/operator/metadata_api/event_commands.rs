//! Commands about events: logs, redelivery, invocation by hand, cleanup.

use super::sql::database;
use super::{Done, Work, flag, text};
use crate::server::request::hasura_error::HasuraError;
use hyper::StatusCode;
use std::time::Duration;
use weir_events::log::{Browse, OldRows, Status};
use weir_events::service::{Request, RequestError};
use weir_language::json::JsonRef;

/// Rows of a list that says no number.
const LIMIT: u32 = 100;

impl Work {
    /// Runs the command `verb`, if it is one of these.
    pub(super) fn event_command(&self, verb: &str, args: JsonRef<'_>) -> Option<Done> {
        let request = match verb {
            "redeliver_event" => redeliver(args),
            "invoke_event_trigger" => invoke(args, &self.session),
            "get_event_logs" => event_logs(args),
            "get_event_invocation_logs" => calls(args),
            "get_event_by_id" => event(args),
            _ => return None,
        };
        Some(request.and_then(|it| self.ask_events(args, it)))
    }

    /// Runs `cleanup_event_trigger_logs`.
    pub(super) fn clean_event_logs(&self, args: JsonRef<'_>) -> Done {
        let old = OldRows {
            trigger: need_text(args, "event_trigger_name")?,
            older_than_h: need_number(args, "clear_older_than")?,
            batch: number(args, "batch_size", 10_000)?.max(1),
            with_calls: flag(args, "clean_invocation_logs", false)?,
        };
        let timeout = Duration::from_secs(number(args, "timeout", 60)?.into());
        self.ask_events(args, Request::Clean { old, timeout })
    }

    fn ask_events(&self, args: JsonRef<'_>, request: Request) -> Done {
        let generation = self.live.current();
        let source = database(&generation, text(args, "source")?.as_deref())?;
        let id = match &request {
            Request::Event { id, .. } => id.clone(),
            _ => String::new(),
        };
        self.live.events().ask(&source.name, request).map_err(|error| match error {
            RequestError::NoEvent if !id.is_empty() => {
                HasuraError::new("not-exists", "$.args", format!("event id {id} does not exist"))
            }
            error => request_error(&error),
        })
    }
}

fn request_error(error: &RequestError) -> HasuraError {
    let code = match error {
        RequestError::NoSource | RequestError::NoTrigger(_) | RequestError::NoEvent => "not-exists",
        RequestError::NotManual | RequestError::Waits(_) => "not-supported",
        RequestError::Busy => "busy",
        RequestError::Unavailable(words) => {
            tracing::warn!(cause = %words, "the log of events cannot be used");
            let error = HasuraError::new(
                "unexpected",
                "$.args",
                "the log of events cannot be used; the log says why",
            );
            return error.with_status(StatusCode::INTERNAL_SERVER_ERROR);
        }
    };
    HasuraError::new(code, "$.args", error.to_string())
}

fn need_text(args: JsonRef<'_>, key: &str) -> Result<String, HasuraError> {
    let missing = || HasuraError::new("parse-failed", "$.args", format!("key \"{key}\" not found"));
    text(args, key)?.ok_or_else(missing)
}

fn number(args: JsonRef<'_>, key: &str, default: u32) -> Result<u32, HasuraError> {
    let Some(value) = args.get(key).filter(|it| !it.is_null()) else { return Ok(default) };
    let wrong =
        || HasuraError::new("parse-failed", &format!("$.args.{key}"), "expected a whole number from 0");
    value.as_number().and_then(|it| it.parse().ok()).ok_or_else(wrong)
}

fn need_number(args: JsonRef<'_>, key: &str) -> Result<u32, HasuraError> {
    if args.get(key).is_none() {
        return Err(HasuraError::new("parse-failed", "$.args", format!("key \"{key}\" not found")));
    }
    number(args, key, 0)
}

fn browse(args: JsonRef<'_>, limit: &str, offset: &str) -> Result<Browse, HasuraError> {
    Ok(Browse { limit: number(args, limit, LIMIT)?, offset: number(args, offset, 0)? })
}

fn redeliver(args: JsonRef<'_>) -> Result<Request, HasuraError> {
    Ok(Request::Redeliver { id: need_text(args, "event_id")? })
}

fn invoke(args: JsonRef<'_>, session: &str) -> Result<Request, HasuraError> {
    let trigger = need_text(args, "name")?;
    let missing = || HasuraError::new("parse-failed", "$.args", "key \"payload\" not found");
    let payload = args.get("payload").ok_or_else(missing)?.raw().to_owned();
    Ok(Request::Invoke { trigger, payload, session: session.to_owned() })
}

fn event_logs(args: JsonRef<'_>) -> Result<Request, HasuraError> {
    let status = match text(args, "status")?.as_deref() {
        None => Status::All,
        Some("pending") => Status::Pending,
        Some("processed") => Status::Processed,
        Some("failed") => Status::Failed,
        Some(_) => {
            let message = "`status` is pending, processed or failed; without it all events are listed";
            return Err(HasuraError::new("parse-failed", "$.args.status", message));
        }
    };
    let trigger = need_text(args, "name")?;
    Ok(Request::Events { trigger, status, browse: browse(args, "limit", "offset")? })
}

fn calls(args: JsonRef<'_>) -> Result<Request, HasuraError> {
    Ok(Request::Calls { trigger: need_text(args, "name")?, browse: browse(args, "limit", "offset")? })
}

fn event(args: JsonRef<'_>) -> Result<Request, HasuraError> {
    let browse = browse(args, "invocation_log_limit", "invocation_log_offset")?;
    Ok(Request::Event { id: need_text(args, "event_id")?, browse })
}

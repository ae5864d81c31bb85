//! Cron triggers of the metadata, resolved for one generation.

use super::cron::CronSchedule;
use crate::delivery::{LogVersion, Receiver, RetryPolicy};
use std::time::Duration;
use weir_language::json::quote;
use weir_metadata::document::cron_trigger::{CronTriggerEntry, ScheduleRetry};
use weir_metadata::document::webhook::WebhookAddress;
use weir_webhook::environment::Environment;

/// A cron trigger that runs.
#[derive(Clone, Debug)]
pub struct CronTrigger {
    pub name: Box<str>,
    /// The times, with the text that they were parsed from.
    pub(crate) schedule: CronSchedule,
    pub(crate) expression: Box<str>,
    pub(crate) receiver: Receiver,
    pub(crate) retry: RetryPolicy,
    /// Time after which an event is not called any more.
    pub(crate) tolerance: Duration,
    /// Members of the body that all events share: `,"payload":…`, and the comment if there is one.
    pub(crate) body_end: Box<str>,
}

/// Further attempts by `retry_conf`.
pub(super) fn retry_policy(retry: &ScheduleRetry) -> RetryPolicy {
    let interval = Duration::from_secs(retry.retry_interval_seconds().into());
    RetryPolicy { retries: retry.num_retries(), interval }
}

/// The end of a body: payload, and the comment if there is one.
pub(super) fn write_body_end(payload: Option<&str>, comment: Option<&str>) -> String {
    let mut out = format!(",\"payload\":{}", payload.unwrap_or("null"));
    if let Some(comment) = comment {
        out.push_str(",\"comment\":");
        quote(comment, &mut out);
    }
    out.push('}');
    out
}

impl CronTrigger {
    /// The trigger of `entry`.
    /// # Errors
    /// A schedule that is none, a variable that is not set, an address that is none, or templates that do not parse.
    pub fn resolve(entry: &CronTriggerEntry, environment: &Environment<'_>) -> Result<Self, String> {
        let schedule = CronSchedule::parse(&entry.schedule).map_err(|it| it.to_string())?;
        let retry = entry.retry_conf.unwrap_or_default();
        let timeout = Duration::from_secs(retry.timeout_seconds().into());
        let address = WebhookAddress::Template(entry.webhook.clone());
        let receiver = Receiver::new(&address, &entry.headers, timeout, LogVersion::One, environment)?;
        let transforms = (entry.request_transform.as_ref(), entry.response_transform.as_ref());
        let receiver = receiver.with_transforms(transforms.0, transforms.1)?;
        let payload = entry.payload.as_ref().map(ToString::to_string);
        Ok(Self {
            name: entry.name.as_str().into(),
            schedule,
            expression: entry.schedule.as_str().into(),
            receiver,
            retry: retry_policy(&retry),
            tolerance: Duration::from_secs(retry.tolerance_seconds().into()),
            body_end: write_body_end(payload.as_deref(), entry.comment.as_deref()).into(),
        })
    }
}

/// The triggers of `entries` that run, and for each other one its place and the reason.
pub fn resolve_triggers(
    entries: &[CronTriggerEntry],
    environment: &Environment<'_>,
) -> (Vec<CronTrigger>, Vec<(usize, String)>) {
    let mut triggers = Vec::new();
    let mut wrong = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        match CronTrigger::resolve(entry, environment) {
            Ok(trigger) => triggers.push(trigger),
            Err(reason) => wrong.push((at, reason)),
        }
    }
    (triggers, wrong)
}

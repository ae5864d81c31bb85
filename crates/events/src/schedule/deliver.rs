//! Delivers one scheduled event: its body, the call, and what becomes of it.

use super::triggers::{CronTrigger, retry_policy, write_body_end};
use crate::delivery::{
    Attempt, CallTrace, Decision, DeliveryTracer, Invocation, LogVersion, Receiver, RetryPolicy, attempt,
};
use crate::moment::Moment;
use crate::state::{ScheduledOutcome, TakenCronEvent, TakenOneOffEvent};
use std::time::Duration;
use weir_language::json::quote;
use weir_metadata::document::cron_trigger::ScheduleRetry;
use weir_metadata::document::webhook::{HeaderEntry, WebhookAddress};
use weir_metadata::read;
use weir_webhook::WebhookClient;
use weir_webhook::environment::{Environment, SharedEnvironment, fill};

/// The fate of an event.
#[derive(Debug)]
pub(super) struct Delivered {
    pub(super) outcome: ScheduledOutcome,
    /// The row of the log, if there is one.
    pub(super) row: Option<Invocation>,
}

impl Delivered {
    const DEAD: Self = Self { outcome: ScheduledOutcome::Dead, row: None };

    fn after(attempt: Attempt, tries: u32, policy: RetryPolicy) -> Self {
        Self { outcome: ScheduledOutcome::Decided(attempt.decide(tries, policy)), row: attempt.row }
    }
}

/// True if an event is too late to call.
fn is_dead(scheduled: Moment, tolerance: Duration, now: Moment) -> bool {
    now.since(scheduled) > tolerance
}

/// Delivers an event of a cron trigger.
pub(super) async fn deliver_cron(
    (client, tracer): (&WebhookClient, &dyn DeliveryTracer),
    trigger: &CronTrigger,
    event: &TakenCronEvent,
    now: Moment,
) -> Delivered {
    if is_dead(event.scheduled_time, trigger.tolerance, now) {
        return Delivered::DEAD;
    }
    let mut body = "{\"id\":".to_owned();
    quote(&event.id, &mut body);
    body.push_str(",\"name\":");
    quote(&trigger.name, &mut body);
    body.push_str(",\"scheduled_time\":");
    quote(&event.scheduled_time.to_short_text(), &mut body);
    body.push_str(&trigger.body_end);
    let trace = CallTrace { tracer, parent: None, name: &trigger.name };
    Delivered::after(attempt(client, &trigger.receiver, body, &trace).await, event.tries, trigger.retry)
}

/// Delivers a one-off event; its variables are resolved now.
pub(super) async fn deliver_one_off(
    (client, tracer): (&WebhookClient, &dyn DeliveryTracer),
    taken: &TakenOneOffEvent,
    now: Moment,
    environment: &SharedEnvironment,
) -> Delivered {
    let event = &taken.event;
    let retry: ScheduleRetry = read::entry(&event.retry_conf).unwrap_or_default();
    let tolerance = Duration::from_secs(retry.tolerance_seconds().into());
    if is_dead(event.scheduled_time, tolerance, now) {
        return Delivered::DEAD;
    }
    let mut body = "{\"id\":".to_owned();
    quote(&taken.id, &mut body);
    body.push_str(",\"scheduled_time\":");
    quote(&event.scheduled_time.to_short_text(), &mut body);
    body.push_str(",\"created_at\":");
    quote(&taken.created_at.to_short_text(), &mut body);
    body.push_str(&write_body_end(event.payload.as_deref(), event.comment.as_deref()));
    let policy = retry_policy(&retry);
    match resolve_receiver(taken, &retry, &**environment) {
        Ok(receiver) => {
            let trace = CallTrace { tracer, parent: None, name: "one-off" };
            Delivered::after(attempt(client, &receiver, body, &trace).await, taken.tries, policy)
        }
        Err(message) => {
            let row = Invocation::of_failure(LogVersion::One, &body, &message);
            let decision = if taken.tries < policy.retries {
                Decision::Retry(policy.interval)
            } else {
                Decision::Failed
            };
            Delivered { outcome: ScheduledOutcome::Decided(decision), row: Some(row) }
        }
    }
}

/// The receiver of a one-off event.
fn resolve_receiver(
    taken: &TakenOneOffEvent,
    retry: &ScheduleRetry,
    environment: &Environment<'_>,
) -> Result<Receiver, String> {
    let webhook: String = read::entry(&taken.event.webhook)?;
    if let Err(names) = fill(&webhook, environment) {
        let names = names.join(", ");
        return Err(format!(
            "Error creating the request. The value for environment variables not found: {names}"
        ));
    }
    let headers: Vec<HeaderEntry> = match taken.event.headers.as_str() {
        "" | "null" => Vec::new(),
        text => read::entry(text)?,
    };
    let timeout = Duration::from_secs(retry.timeout_seconds().into());
    let address = WebhookAddress::Template(webhook);
    Receiver::new(&address, &headers, timeout, LogVersion::One, environment)
        .map_err(|it| format!("Error creating the request. {it}"))
}

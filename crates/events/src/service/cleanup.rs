//! Removal of old rows of the log, by the schedule of a trigger's `cleanup_config` or by a command.
//!
//! On PostgreSQL the server does it that notes the minute first; of a file the one that delivers its events.

use super::source::TriggerSetup;
use crate::dispatch::{EventLog, SourceRunner};
use crate::log::{CleanupEnd, LogError, OldRows, RemovedRows};
use crate::moment::Moment;
use crate::schedule::CronSchedule;
use std::time::{Duration, Instant};

/// Events of one batch, and seconds of a cleanup, that say none.
const BATCH: u32 = 10_000;
const TIMEOUT_S: u32 = 60;
/// Longest time of a cleanup: a note of one that goes on for twice as long belongs to a server that is gone.
const TIMEOUT_MAX: Duration = Duration::from_secs(60 * 60);
/// Longest time that a cleanup may be late.
const LATE_MAX: Duration = Duration::from_secs(60 * 60);

/// A cleanup whose time has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DueCleanup {
    at: Moment,
    old: OldRows,
    timeout: Duration,
}

/// The latest cleanup of each of `triggers` behind `from`, up to `now`.
pub(super) fn find_due(triggers: &[TriggerSetup], from: Moment, now: Moment) -> Vec<DueCleanup> {
    let from = from.max(now.before(LATE_MAX));
    let due = |setup: &TriggerSetup| {
        let config = setup.cleanup.as_ref().filter(|it| !it.paused.unwrap_or_default())?;
        let schedule = CronSchedule::parse(&config.schedule).ok()?;
        let times = std::iter::successors(schedule.next_after(from), |it| schedule.next_after(*it));
        let at = times.take_while(|it| *it <= now).last()?;
        let old = OldRows {
            trigger: setup.captured.name.clone(),
            older_than_h: config.clear_older_than,
            batch: config.batch_size.unwrap_or(BATCH).max(1),
            with_calls: config.clean_invocation_logs.unwrap_or_default(),
        };
        let timeout = Duration::from_secs(config.timeout.unwrap_or(TIMEOUT_S).into());
        Some(DueCleanup { at, old, timeout })
    };
    triggers.iter().filter_map(due).collect()
}

/// Runs `due` and notes it, unless another server does.
pub(super) async fn run(runner: &SourceRunner, due: &DueCleanup) -> Result<(), LogError> {
    let log = runner.log();
    let at = due.at.to_short_text();
    let Some(id) = log.begin_cleanup(&due.old.trigger, at.trim_end_matches('Z')).await? else {
        return Ok(());
    };
    let mut removed = RemovedRows::default();
    let cleaned = clean_all(log, &due.old, due.timeout, &mut removed).await;
    let end = if cleaned.is_ok() { CleanupEnd::Completed } else { CleanupEnd::Dead };
    log.end_cleanup(&id, end, removed).await?;
    if removed.events > 0 {
        let RemovedRows { events, calls, .. } = removed;
        tracing::info!(trigger = due.old.trigger, events, calls, "old events are removed");
    }
    cleaned
}

/// Removes old rows batch by batch for at most `timeout`, and adds them to `removed`.
pub(super) async fn clean_all(
    log: &EventLog,
    old: &OldRows,
    timeout: Duration,
    removed: &mut RemovedRows,
) -> Result<(), LogError> {
    let deadline = Instant::now() + timeout.min(TIMEOUT_MAX);
    loop {
        let batch = log.clean(old, deadline).await?;
        removed.events += batch.events;
        removed.calls += batch.calls;
        if batch.is_all || Instant::now() >= deadline {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trigger::CapturedTrigger;
    use weir_metadata::document::event_trigger::CleanupConfig;
    use weir_metadata::read;

    fn setup(name: &str, config: &str) -> TriggerSetup {
        let captured = CapturedTrigger {
            name: name.to_owned(),
            schema: String::new(),
            table: "orders".to_owned(),
            operations: Vec::new(),
            is_ordered: false,
            on_replication: false,
        };
        let config: CleanupConfig =
            read::entry(&format!("{{\"clear_older_than\": 1, {config}}}")).expect("it is one");
        TriggerSetup { captured, delivered: None, is_manual: false, cleanup: Some(config) }
    }

    fn check(config: &str, from: &str, now: &str, expected: Option<&str>) {
        let time = |text: &str| Moment::parse(text).expect("it is a time");
        let due = find_due(&[setup("a", config)], time(from), time(now));
        let at = due.first().map(|it| it.at.to_short_text());
        assert_eq!(at.as_deref(), expected, "{config}");
    }

    #[test]
    fn a_cleanup_is_due_at_the_latest_time_of_its_schedule() {
        let (from, now) = ("2026-01-01T00:09:59Z", "2026-01-01T00:20:00Z");
        check(r#""schedule": "*/10 * * * *""#, from, now, Some("2026-01-01T00:20:00Z"));
        check(r#""schedule": "*/15 * * * *""#, from, now, Some("2026-01-01T00:15:00Z"));
        check(r#""schedule": "*/15 * * * *", "paused": false"#, from, now, Some("2026-01-01T00:15:00Z"));
        check(r#""schedule": "*/15 * * * *", "paused": true"#, from, now, None);
        check(r#""schedule": "30 * * * *""#, from, now, None);
        check(r#""schedule": "* * *""#, from, now, None);
        check(r#""schedule": "0 0 31 2 *""#, from, now, None);
    }

    #[test]
    fn a_cleanup_that_was_missed_for_an_hour_is_left_out() {
        check(
            r#""schedule": "0 12 * * *""#,
            "2020-01-01T00:00:00Z",
            "2026-01-01T12:59:00Z",
            Some("2026-01-01T12:00:00Z"),
        );
        check(r#""schedule": "0 12 * * *""#, "2020-01-01T00:00:00Z", "2026-01-01T13:01:00Z", None);
    }

    #[test]
    fn members_that_are_not_there_are_hasura_s() {
        let now = Moment::from_minutes(1);
        let due = find_due(&[setup("a", r#""schedule": "* * * * *""#)], Moment::from_minutes(0), now);
        let old = OldRows { trigger: "a".into(), older_than_h: 1, batch: 10_000, with_calls: false };
        assert_eq!(due, [DueCleanup { at: now, old, timeout: Duration::from_secs(60) }]);
    }
}

//! The part of a check that is about the state: where scheduled events and calls of asynchronous actions are kept, and whether they wait.

use crate::config::Events;
use crate::generation::Generation;
use weir_events::state::find_left_work;

/// Lines about the state of `generation`, if it is used, the configuration names it, or another server left work in it. A database that
/// cannot be asked is added to `errors`, unless it is a source that is down.
pub(super) fn report_state(generation: &Generation, errors: &mut Vec<String>) -> String {
    let config = &generation.config;
    let Some(place) = config.describe_state() else { return String::new() };
    let is_used = !generation.cron_triggers.is_empty() || generation.stored_calls.is_some();
    let is_told = is_used || config.state.is_some();
    let address = config.writable_state().ok().flatten();
    let left = address.filter(|_| generation.findings.down.is_empty()).map(|it| find_left_work(&it));
    let waits = match left {
        Some(Ok(left)) => left.filter(|it| is_used || !it.is_empty()),
        Some(Err(error)) if is_told => {
            errors.push(format!("state: {error}"));
            None
        }
        Some(Err(_)) | None => None,
    };
    let mut lines = String::new();
    if is_told || waits.is_some() {
        lines.push_str(&format!("{place}\n"));
    }
    if let Some(left) = waits.filter(|_| config.events != Events::TakeOver) {
        lines.push_str(&format!("state: {}\n", left.waiting_words()));
    }
    lines
}

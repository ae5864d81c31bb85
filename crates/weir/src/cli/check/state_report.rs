//! The part of a check that is about the state: where scheduled events and calls of asynchronous actions are kept, and whether they wait.

use crate::config::Events;
use crate::generation::Generation;
use weir_events::state::{StateAddress, find_left_work, find_missing_right};
use weir_metadata::{Inconsistent, Step};

/// Findings about the database that keeps the state of a generation.
#[derive(Default)]
pub(super) struct StateFindings {
    /// Lines about where it is, and what waits.
    pub(super) lines: String,
    /// Entries of the metadata that it cannot serve.
    pub(super) unmade: Vec<Inconsistent>,
    /// Paths of entries that wait for an operator.
    pub(super) waiting: Vec<Vec<Step>>,
}

/// Says how the state of `generation` stands, if it is used, the configuration names it, or another server left work in it. A database that
/// cannot be asked, or lacks a right, is added to `errors`, unless it is a source that is down.
pub(super) fn report_state(generation: &Generation, errors: &mut Vec<String>) -> StateFindings {
    let config = &generation.config;
    let mut found = StateFindings::default();
    let Some(place) = config.describe_state() else { return found };
    let is_used = !generation.cron_triggers.is_empty() || generation.stored_calls.is_some();
    let is_told = is_used || config.state.is_some();
    let address = config.writable_state().ok().flatten();
    let address = address.filter(|_| generation.findings.down.is_empty());
    let left = address.as_ref().map(find_left_work);
    let may_lack_right = is_used && matches!(left, Some(Ok(None)));
    let waits = match left {
        Some(Ok(left)) => left.filter(|it| is_used || !it.is_empty()),
        Some(Err(error)) if is_told => {
            errors.push(format!("state: {error}"));
            None
        }
        Some(Err(_)) | None => None,
    };
    if is_told || waits.is_some() {
        found.lines.push_str(&format!("{place}\n"));
    }
    if let Some(left) = waits.filter(|_| config.events != Events::TakeOver) {
        found.lines.push_str(&format!("state: {}\n", left.waiting_words()));
        found.waiting = list_entries(generation);
    }
    if let Some(address) = address.filter(|_| may_lack_right) {
        found.unmade = list_refused(generation, &address, errors);
    }
    found
}

/// The entries that the database at `address` cannot serve for want of a right, which is added to `errors`.
fn list_refused(
    generation: &Generation,
    address: &StateAddress,
    errors: &mut Vec<String>,
) -> Vec<Inconsistent> {
    let reason = match find_missing_right(address) {
        Ok(None) => return Vec::new(),
        Ok(Some(words)) => words.to_owned(),
        Err(error) => error,
    };
    errors.push(format!("state: {reason}"));
    let Some(described) = &generation.config.described else { return Vec::new() };
    list_entries(generation).iter().map(|it| described.inconsistent(it, &reason)).collect()
}

/// Paths of the entries that need the state.
fn list_entries(generation: &Generation) -> Vec<Vec<Step>> {
    let Some(described) = &generation.config.described else { return Vec::new() };
    let document = &described.loaded.document;
    let cron_triggers = (0..document.cron_triggers.len()).map(|at| vec!["cron_triggers".into(), at.into()]);
    let actions = document.actions.iter().enumerate().filter(|it| it.1.definition.is_asynchronous());
    cron_triggers.chain(actions.map(|(at, _)| vec!["actions".into(), at.into()])).collect()
}

//! The part of a check that is about event triggers: those that a server would make and drop, and what waits for an operator.

use crate::generation::Generation;
use crate::generation::event_keeper::{find_failure, list_unmade, settings};
use weir_events::service::{EventSource, SourceReport, preview};
use weir_metadata::{Inconsistent, Step};

/// Findings about the event triggers of a generation.
#[derive(Default)]
pub(super) struct EventFindings {
    /// Lines about what would be made, and what waits.
    pub(super) lines: String,
    /// Entries of the metadata that cannot be made.
    pub(super) unmade: Vec<Inconsistent>,
    /// Paths of entries that wait for an operator.
    pub(super) waiting: Vec<Vec<Step>>,
}

/// Asks the databases of `generation` about its event triggers. Those that cannot be made are added to `errors`, unless they are
/// inconsistent anyway.
pub(super) fn report_events(generation: &Generation, errors: &mut Vec<String>) -> EventFindings {
    let settings = settings(&generation.config);
    let mut found = EventFindings::default();
    for source in generation.events.iter().filter(|it| !generation.findings.is_down(&it.name)) {
        let report = preview(source, &settings);
        found.lines.push_str(&list_lines(&report));
        if is_of_metadata(generation, source) && !source.triggers.is_empty() {
            let of_source = |of: &str, name: &str| {
                let reason = find_failure(&report, name).or_else(|| report.error.clone());
                reason.filter(|_| of == source.name)
            };
            let unmade = list_unmade(generation, of_source);
            errors.extend(unmade.iter().map(|it| format!("{}: {}", it.place, it.reason)));
            found.unmade.extend(unmade);
            let waits = |of: &str, _: &str| report.waits.clone().filter(|_| of == source.name);
            found.waiting.extend(list_unmade(generation, waits).into_iter().map(|it| it.entry));
        } else {
            errors.extend(list_errors(&report));
        }
    }
    found
}

fn is_of_metadata(generation: &Generation, source: &EventSource) -> bool {
    let mut described = generation.config.sources.iter().filter(|it| it.of_metadata.is_some());
    described.any(|it| it.name == source.name)
}

/// Event triggers that cannot be made, in words of the configuration.
fn list_errors(report: &SourceReport) -> Vec<String> {
    let name = &report.source;
    let failed = report.difference.failed.iter();
    let failed =
        failed.map(|(it, reason)| format!("source `{name}`: event trigger `{it}` cannot be made: {reason}"));
    let error = report.error.iter().map(|it| format!("source `{name}`: event triggers: {it}"));
    failed.chain(error).collect()
}

/// Warnings, changes to come, and triggers that wait.
fn list_lines(report: &SourceReport) -> String {
    let name = &report.source;
    let mut lines = String::new();
    for (trigger, reason) in &report.difference.warned {
        lines.push_str(&format!("events: source `{name}`: event trigger `{trigger}`: {reason}\n"));
    }
    if let Some(waits) = &report.waits {
        lines.push_str(&format!("events: source `{name}`: {waits}\n"));
    } else if report.error.is_none() && !report.difference.is_empty() {
        let plan = report.difference.plan();
        lines.push_str(&format!("events: source `{name}`: to be done by `serve`: {plan}\n"));
    }
    lines
}

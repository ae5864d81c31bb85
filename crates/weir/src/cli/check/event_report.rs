//! The part of a check that is about event triggers: those that a server would make and drop, and what waits for an operator.

use crate::generation::Generation;
use crate::generation::event_keeper::settings;
use weir_events::service::preview;

/// Lines about the event triggers of `generation`. Those that cannot be made are added to `errors`.
pub(super) fn report_events(generation: &Generation, errors: &mut Vec<String>) -> String {
    let settings = settings(&generation.config);
    let mut lines = String::new();
    for source in generation.events.iter().filter(|it| !generation.findings.is_down(&it.name)) {
        let report = preview(source, &settings);
        let name = &report.source;
        let wrong = report.difference.failed.iter();
        errors.extend(
            wrong.map(|(it, reason)| {
                format!("source `{name}`: event trigger `{it}` cannot be made: {reason}")
            }),
        );
        for (trigger, reason) in &report.difference.warned {
            lines.push_str(&format!("events: source `{name}`: event trigger `{trigger}`: {reason}\n"));
        }
        if let Some(error) = &report.error {
            errors.push(format!("source `{name}`: event triggers: {error}"));
        } else if let Some(waits) = &report.waits {
            lines.push_str(&format!("events: source `{name}`: {waits}\n"));
        } else if !report.difference.is_empty() {
            lines.push_str(&format!(
                "events: source `{name}`: to be done by `serve`: {}\n",
                report.difference.plan()
            ));
        }
    }
    lines
}

//! The report at the end of a check of Hasura's metadata: what is served whole, what differs, and what is not served.

use super::event_report::EventFindings;
use super::state_report::StateFindings;
use crate::config::Described;
use crate::generation::Generation;
use weir_metadata::check::{KindCount, count_entries, count_served};
use weir_metadata::{Fault, Step};

/// The report about the metadata of `generation`, with what was found about its event triggers and its state.
pub(super) fn report_move(
    generation: &Generation,
    described: &Described,
    events: EventFindings,
    state: StateFindings,
) -> String {
    let findings = &generation.findings;
    let mut not_served: Vec<Vec<Step>> = described.unsupported.iter().map(|it| it.path.clone()).collect();
    let mut lines: Vec<String> = described.unsupported.iter().map(ToString::to_string).collect();
    for it in findings.inconsistent.iter().chain(&events.unmade).chain(&state.unmade) {
        lines.push(format!("{}: {}", it.place, it.reason));
        not_served.extend(Some(it.entry.clone()).filter(|it| !it.is_empty()));
    }
    for source in generation.config.sources.iter().filter(|it| findings.is_down(&it.name)) {
        if let Some(at) = source.of_metadata {
            not_served.push(Described::path(at, &[]));
            lines.push(format!("source `{}` is down: not checked", source.name));
        }
    }
    // An entry with a key that is not supported is not served whole.
    let different = described.different.iter().chain(&described.unsupported);
    let different: Vec<Vec<Step>> = different.map(|it| it.path.clone()).collect();
    let mut waiting = [events.waiting, state.waiting].concat();
    waiting.retain(|it| !not_served.contains(it));
    not_served.extend(waiting.iter().cloned());
    let whole = list_counts(&count_served(&described.loaded.places, &not_served, &different));
    let waits = if waiting.is_empty() {
        String::new()
    } else {
        format!("report: waits: {}\n", list_counts(&count_entries(&waiting)))
    };
    let different: Vec<String> = described.different.iter().map(Fault::to_string).collect();
    let parts =
        [("differs", different), ("not served", lines)].map(|(title, lines)| list_lines(title, &lines));
    format!("report: served whole: {whole}\n{waits}{}", parts.concat())
}

fn list_counts(counts: &[KindCount]) -> String {
    let words: Vec<String> = counts.iter().map(KindCount::to_string).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

/// `lines` under their title with their number; a title alone if there are none.
fn list_lines(title: &str, lines: &[String]) -> String {
    let listed: String = lines.iter().map(|it| format!("  {it}\n")).collect();
    match lines.len() {
        0 => format!("report: {title}: nothing\n"),
        number => format!("report: {title}: {number}\n{listed}"),
    }
}

//! Results of `weir load max` and `weir load compare` as texts for terminals.

use crate::page::figures::{decimal, micros, rate, seconds};
use crate::page::{Cell, Page, Row};
use crate::result::{CompareResult, Comparison, GENERATOR, MaxResult, Maximum, Measure};

/// The bound, and a table of the maxima.
pub fn max_text(result: &MaxResult) -> String {
    let mut page = Page::default();
    page.paragraph(&result.bound);
    let rows: Vec<Row> = result.maxima.iter().map(max_row).collect();
    page.table("Maxima", &["operation", "requests/s", "p50", "p99", "CPU/request", ""], &rows);
    page.into_text()
}

fn max_row(it: &Maximum) -> Row {
    let servers = it.cpu_us_per_request.iter().filter(|it| it.0 != GENERATOR);
    let cpu: Vec<String> = servers.map(|it| format!("{} {}", it.0, seconds(it.1 / 1e6))).collect();
    let reason = || it.probes.last().map_or("", |it| it.reason.as_str());
    let note = match it.requests_per_s {
        0.0 => format!("no rate holds: {}", reason()),
        _ if it.is_generator_bound => "at least; the generator was the limit".into(),
        _ => String::new(),
    };
    let figures =
        [rate(it.requests_per_s), micros(it.latency.p50_us), micros(it.latency.p99_us), cpu.join(", ")];
    let mut cells = vec![Cell::Text(it.name.clone())];
    cells.extend(figures.map(Cell::Figure));
    cells.push(Cell::Text(note));
    Row::of(cells)
}

/// A table of the measures, the answers that differ, and the verdict.
pub fn compare_text(result: &CompareResult) -> String {
    let mut page = Page::default();
    page.tiles(&[("A", result.a.clone()), ("B", result.b.clone())]);
    let rows: Vec<Row> = result.measures.iter().map(measure_row).collect();
    page.table("Measures", &["", "A", "B", "B/A", "99 % interval", "verdict of B"], &rows);
    for it in &result.differences {
        page.paragraph(&format!(
            "answers of `{}` differ at `{}`: A {}, B {}",
            it.operation, it.path, it.a, it.b
        ));
    }
    let verdict = match result.verdict {
        Comparison::CannotTell => "neither better nor worse as far as can be told",
        other => describe(other),
    };
    page.paragraph(&format!(
        "{} answers compared, {} operations differ\nB is {verdict}",
        result.answers_compared,
        result.differences.len()
    ));
    page.into_text()
}

fn measure_row(it: &Measure) -> Row {
    let value = |value: f64| match it.unit.as_str() {
        "us" => seconds(value / 1e6),
        unit => format!("{} {unit}", decimal(value)),
    };
    let interval = format!("{:.3} to {:.3}", it.low, it.high);
    let mut cells = vec![Cell::Text(it.name.clone())];
    cells.extend([value(it.a), value(it.b), format!("{:.3}", it.ratio), interval].map(Cell::Figure));
    cells.push(Cell::Text(describe(it.verdict).into()));
    Row::of(cells)
}

fn describe(verdict: Comparison) -> &'static str {
    match verdict {
        Comparison::Better => "better",
        Comparison::Worse => "worse",
        Comparison::CannotTell => "cannot tell",
    }
}

//! Results and progress for people.

use super::super::progress::Progress as Bar;
use std::fmt::Write;
use std::io::IsTerminal;
use weir_load::Progress;
use weir_load::result::{CompareResult, Comparison, Latency, MaxResult, OperationResult, RunResult};

/// Shows progress each second: a bar on a terminal, else lines.
pub(super) struct Watcher {
    bar: Option<Bar>,
    is_begun: bool,
}

impl Watcher {
    pub(super) fn new() -> Self {
        Self { bar: std::io::stderr().is_terminal().then(|| Bar::of("seconds")), is_begun: false }
    }

    /// Shows a second.
    pub(super) fn show(&mut self, before: &str, it: &Progress) {
        let words = format!(
            "{before}{}/s  p50 {}  p99 {}  {} errors",
            it.completed,
            time(it.p50_us),
            time(it.p99_us),
            it.errors
        );
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds")]
        let seconds = it.seconds.ceil() as u64;
        match &mut self.bar {
            Some(bar) => {
                if !self.is_begun || it.second == 1 {
                    bar.begin("", seconds);
                    self.is_begun = true;
                }
                bar.message(words);
                bar.set_position(it.second);
            }
            None => eprintln!("{:>4} s  {words}", it.second),
        }
    }

    /// Writes a line that stays.
    pub(super) fn line(&mut self, text: &str) {
        self.end();
        eprintln!("{text}");
        self.bar = self.bar.is_some().then(|| Bar::of("seconds"));
        self.is_begun = false;
    }

    /// Removes the bar.
    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.clear();
        }
    }
}

/// A time with three digits and its unit.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub(super) fn time(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} us"),
        1_000..10_000 => format!("{:.2} ms", micros as f64 / 1e3),
        10_000..1_000_000 => format!("{:.1} ms", micros as f64 / 1e3),
        _ => format!("{:.2} s", micros as f64 / 1e6),
    }
}

/// A rate without needless digits.
pub(super) fn rate(per_s: f64) -> String {
    if per_s < 100.0 { format!("{per_s:.1}") } else { format!("{per_s:.0}") }
}

/// Formats a table. Columns are as wide as their cells; the first is aligned to the left.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |at: usize| rows.iter().map(|it| it[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            // `write!` to a string cannot fail.
            let _ = match at {
                0 => write!(line, "{cell:<0$}", widths[0]),
                _ => write!(line, "  {cell:>0$}", widths[at]),
            };
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn cells(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|it| (*it).to_owned()).collect()
}

#[expect(clippy::cast_precision_loss, reason = "rates")]
fn operation_row(it: &OperationResult, duration_s: f64) -> Vec<String> {
    let Latency { p50_us, p90_us, p99_us, p99_9_us, max_us, .. } = it.latency;
    let mut row = vec![it.name.clone(), it.sent.to_string(), rate(it.completed as f64 / duration_s)];
    row.extend([p50_us, p90_us, p99_us, p99_9_us, max_us].map(time));
    row.extend([time(it.service.p50_us), it.error_count().to_string()]);
    row
}

/// The table of a run.
pub(super) fn run_table(result: &RunResult) -> String {
    let duration = result.setup.duration_s;
    let mut rows = vec![cells(&[
        "operation",
        "sent",
        "per s",
        "p50",
        "p90",
        "p99",
        "p99.9",
        "max",
        "service p50",
        "errors",
    ])];
    rows.extend(result.operations.iter().map(|it| operation_row(it, duration)));
    rows.push(operation_row(&result.total, duration));
    let mut out = table(&rows);
    let all = || result.operations.iter();
    for it in all() {
        if let Some(push) = it.push.as_ref().filter(|it| it.count > 0) {
            let words = format!("{}: p50 {}, p99 {}", it.name, time(push.p50_us), time(push.p99_us));
            let _ = writeln!(out, "push after its mutation, {words}, {} pushes", push.count);
        }
    }
    for (label, count) in &result.total.cache {
        let _ = writeln!(out, "cache {label}: {count}");
    }
    failures(result, &mut out);
    for it in &result.processes {
        let rss = it.samples.iter().map(|it| it.rss_bytes).max().unwrap_or(0) / (1024 * 1024);
        let cpu = format!("{:.1} us CPU per request, {:.2} s in all", it.cpu_us_per_request, it.cpu_s);
        let _ = writeln!(out, "{}: {cpu}, {rss} MB", it.name);
    }
    let setup = &result.setup;
    let _ = writeln!(
        out,
        "{} connections, {}, {}, {} cores, {}",
        setup.connections, setup.protocol, setup.machine, setup.cores, setup.kernel
    );
    for it in &result.verdict.notes {
        let _ = writeln!(out, "note: {it}");
    }
    for it in &result.verdict.void_because {
        let _ = writeln!(out, "VOID: {it}");
    }
    out
}

/// One line per operation and cause, since a cause has different samples per operation.
fn failures(result: &RunResult, out: &mut String) {
    for operation in &result.operations {
        for (label, count) in &operation.errors {
            let sample = operation.error_samples.iter().find(|it| it.label == *label);
            let body =
                sample.map_or_else(String::new, |it| format!(": {}", it.body.replace(['\n', '\r'], " ")));
            // `writeln!` to a string cannot fail.
            let _ = writeln!(out, "{}: {count} errors `{label}`{body}", operation.name);
        }
    }
}

/// The table of a search.
pub(super) fn max_table(result: &MaxResult) -> String {
    let mut rows = vec![cells(&["operation", "req/s", "p50", "p99", "CPU per request", ""])];
    for it in &result.maxima {
        let servers = it.cpu_us_per_request.iter().filter(|it| it.0 != "generator");
        let cpu: Vec<String> = servers.map(|it| format!("{} {:.1} us", it.0, it.1)).collect();
        let note = match (it.requests_per_s == 0.0, it.is_generator_bound) {
            (true, _) => {
                it.probes.last().map_or_else(String::new, |it| format!("no rate holds: {}", it.reason))
            }
            (false, true) => "at least; the generator was the limit".to_owned(),
            (false, false) => String::new(),
        };
        rows.push(vec![
            it.name.clone(),
            rate(it.requests_per_s),
            time(it.latency.p50_us),
            time(it.latency.p99_us),
            cpu.join(", "),
            note,
        ]);
    }
    format!("{}\n{}", result.bound, table(&rows))
}

/// The table of a comparison.
pub(super) fn compare_table(result: &CompareResult) -> String {
    let mut rows = vec![cells(&["", "A", "B", "B/A", "99 % interval", "verdict of B"])];
    for it in &result.measures {
        let cell = |value: f64| format!("{value:.1} {}", it.unit);
        rows.push(vec![
            it.name.clone(),
            cell(it.a),
            cell(it.b),
            format!("{:.3}", it.ratio),
            format!("{:.3} to {:.3}", it.low, it.high),
            words(it.verdict).to_owned(),
        ]);
    }
    let mut out = format!("A: {}\nB: {}\n{}", result.a, result.b, table(&rows));
    for it in &result.differences {
        let _ =
            writeln!(out, "answers of `{}` differ at `{}`: A {}, B {}", it.operation, it.path, it.a, it.b);
    }
    let _ = writeln!(
        out,
        "{} answers compared, {} operations differ\nB is {}",
        result.answers_compared,
        result.differences.len(),
        match result.verdict {
            Comparison::CannotTell => "neither better nor worse as far as can be told",
            other => words(other),
        }
    );
    out
}

fn words(verdict: Comparison) -> &'static str {
    match verdict {
        Comparison::Better => "better",
        Comparison::Worse => "worse",
        Comparison::CannotTell => "cannot tell",
    }
}

//! A result of `weir load run` as a page, and as a text for terminals.

use super::charts;
use super::charts::part;
use crate::page::figures;
use crate::page::figures::{micros, percent, seconds, thousands};
use crate::page::{Cell, Chart, Page, Row};
use crate::result::{Latency, OperationResult, RunResult};

/// One self-contained HTML file.
/// # Errors
/// A histogram that cannot be read.
pub fn page(run: &RunResult) -> Result<String, String> {
    let subtitle = format!("{} · {} · {}", run.setup.load, run.setup.target, run.started_at);
    let mut page = Page::new(&run.name, &subtitle);
    verdict(&mut page, run);
    tiles(&mut page, run);
    page.add_heading("Over time");
    page.charts(vec![charts::rates(run), charts::percentiles(run)]);
    page.add_heading("Distribution of latency");
    page.note(
        "From the scheduled instant to the end of the answer, so that a stalled server is seen by all requests that \
         were due meanwhile. Service time counts from the sending.",
    );
    page.charts([charts::spectrum(run)?, charts::heat(run)].into_iter().flatten().collect());
    let used: Vec<Chart> = charts::processes(run);
    if !used.is_empty() {
        page.add_heading("Processes");
        page.charts(used);
        processes(&mut page, run);
    }
    page.add_heading("Operations");
    operations(&mut page, run);
    cache(&mut page, run);
    errors(&mut page, run);
    setup(&mut page, run);
    Ok(page.into_html())
}

/// Tables for a terminal; the verdict comes last.
pub fn run_text(run: &RunResult) -> String {
    let mut page = Page::default();
    operations(&mut page, run);
    cache(&mut page, run);
    errors(&mut page, run);
    if !run.processes.is_empty() {
        page.add_heading("Processes");
        processes(&mut page, run);
    }
    setup(&mut page, run);
    page.add_heading("Verdict");
    verdict(&mut page, run);
    page.into_text()
}

fn verdict(page: &mut Page, run: &RunResult) {
    let verdict = &run.verdict;
    if verdict.valid {
        let text = format!(
            "Valid: the generator kept up. It sent {} of what was scheduled; half of the requests left within {} of their instant, 99 % within {}.",
            percent(verdict.achieved_percent / 100.0),
            micros(verdict.lag_p50_us),
            micros(verdict.lag_p99_us)
        );
        page.verdict(true, &text, &verdict.notes);
    } else {
        let text = "Void: the generator could not offer this load. The figures below measure the generator, not the server.";
        page.verdict(false, text, &verdict.void_because);
    }
    if run.total.error_count() > 0 {
        let text = format!(
            "{} of {} requests failed ({}).",
            thousands(run.total.error_count() as f64),
            thousands(run.total.sent as f64),
            percent(run.total.error_percent() / 100.0)
        );
        page.verdict(false, &text, &[]);
    }
}

fn tiles(page: &mut Page, run: &RunResult) {
    let latency = &run.total.latency;
    let mut tiles = vec![
        ("achieved", figures::rate(per_second(run, run.total.completed))),
        ("latency p50", micros(latency.p50_us)),
        ("latency p99", micros(latency.p99_us)),
        ("latency p99.9", micros(latency.p99_9_us)),
        ("failed", percent(run.total.error_percent() / 100.0)),
    ];
    let cpu: Vec<(String, String)> = run
        .processes
        .iter()
        .filter(|it| it.name != crate::result::GENERATOR)
        .map(|it| (format!("CPU per request, {}", it.name), seconds(it.cpu_us_per_request / 1e6)))
        .collect();
    tiles.extend(cpu.iter().map(|(name, figure)| (name.as_str(), figure.clone())));
    page.tiles(&tiles);
}

fn operations(page: &mut Page, run: &RunResult) {
    let head = [
        "operation",
        "kind",
        "requests/s",
        "p50",
        "p90",
        "p99",
        "p99.9",
        "max",
        "service p99",
        "failed",
        "bytes/answer",
    ];
    let mut rows: Vec<Row> = run.operations.iter().map(|it| operation(run, it, false)).collect();
    rows.push(operation(run, &run.total, true));
    page.table("Operations", &head, &rows);
    let pushed: Vec<&OperationResult> = run.operations.iter().filter(|it| it.push.is_some()).collect();
    if pushed.is_empty() {
        return;
    }
    page.add_heading("From a mutation to its push");
    let rows: Vec<Row> = pushed
        .iter()
        .filter_map(|it| it.push.as_ref().map(|push| Row::of(push_cells(&it.name, push))))
        .collect();
    page.table("Pushes", &["subscription", "pushes", "p50", "p90", "p99", "max"], &rows);
}

fn push_cells(name: &str, push: &Latency) -> Vec<Cell> {
    let mut cells = vec![Cell::Text(name.to_string()), Cell::Figure(thousands(push.count as f64))];
    let times = [push.p50_us, push.p90_us, push.p99_us, push.max_us];
    cells.extend(times.map(|it| Cell::Figure(micros(it))));
    cells
}

fn operation(run: &RunResult, it: &OperationResult, is_sum: bool) -> Row {
    let latency = &it.latency;
    let kind = if is_sum { String::new() } else { format!("{:?}", it.kind).to_lowercase() };
    let mut cells = vec![Cell::Text(it.name.clone()), Cell::Text(kind)];
    cells.push(Cell::Figure(figures::rate(per_second(run, it.completed))));
    let times =
        [latency.p50_us, latency.p90_us, latency.p99_us, latency.p99_9_us, latency.max_us, it.service.p99_us];
    cells.extend(times.map(|it| Cell::Figure(micros(it))));
    let failed = percent(it.error_percent() / 100.0);
    cells.push(if it.error_count() > 0 { Cell::Bad(failed) } else { Cell::Figure(failed) });
    let bytes = if it.completed == 0 { 0.0 } else { it.bytes_received as f64 / it.completed as f64 };
    cells.push(Cell::Figure(thousands(bytes)));
    Row { cells, is_sum }
}

fn processes(page: &mut Page, run: &RunResult) {
    let rows: Vec<Row> = run
        .processes
        .iter()
        .map(|it| {
            let most = it.samples.iter().map(|it| it.rss_bytes).max().unwrap_or(0);
            let switches = |read: fn(&crate::result::ProcessSample) -> u64| {
                let sum: u64 = it.samples.iter().map(read).sum();
                Cell::Figure(format!("{:.2}", part(sum, run.total.completed)))
            };
            Row::of(vec![
                Cell::Text(it.name.clone()),
                Cell::Figure(it.pid.to_string()),
                Cell::Figure(seconds(it.cpu_us_per_request / 1e6)),
                Cell::Figure(format!("{:.2}", it.cpu_s / run.setup.duration_s.max(f64::MIN_POSITIVE))),
                Cell::Figure(format!("{} MB", thousands(most as f64 / 1e6))),
                switches(|it| it.voluntary_switches),
                switches(|it| it.involuntary_switches),
            ])
        })
        .collect();
    let head = [
        "process",
        "pid",
        "CPU/request",
        "cores",
        "most memory",
        "voluntary switches/request",
        "involuntary/request",
    ];
    page.table("Processes", &head, &rows);
}

/// Cache outcomes, if answers reported any.
fn cache(page: &mut Page, run: &RunResult) {
    if run.total.cache.is_empty() {
        return;
    }
    page.add_heading("Cache");
    let outcomes: Vec<&str> = run.total.cache.keys().map(String::as_str).collect();
    let head: Vec<&str> = std::iter::once("operation").chain(outcomes.iter().copied()).collect();
    let row = |it: &OperationResult, is_sum| {
        let told: u64 = it.cache.values().sum();
        let share = |name: &&str| match it.cache.get(*name) {
            Some(count) => {
                Cell::Figure(format!("{} ({})", percent(part(*count, told)), thousands(*count as f64)))
            }
            None => Cell::Figure("–".into()),
        };
        let cells = std::iter::once(Cell::Text(it.name.clone())).chain(outcomes.iter().map(share)).collect();
        Row { cells, is_sum }
    };
    let mut rows: Vec<Row> =
        run.operations.iter().filter(|it| !it.cache.is_empty()).map(|it| row(it, false)).collect();
    rows.push(row(&run.total, true));
    page.table("Cache outcomes", &head, &rows);
    page.note("As the headers of the answers tell it; in percent of the answers that tell.");
}

fn errors(page: &mut Page, run: &RunResult) {
    if run.total.errors.is_empty() {
        return;
    }
    page.add_heading("Errors");
    let mut rows = Vec::new();
    for it in &run.operations {
        rows.extend(it.errors.iter().map(|(cause, count)| {
            let cells = vec![
                Cell::Text(it.name.clone()),
                Cell::Text(cause.clone()),
                Cell::Figure(thousands(*count as f64)),
                Cell::Figure(percent(part(*count, it.sent))),
            ];
            Row::of(cells)
        }));
    }
    page.table("Errors", &["operation", "cause", "requests", "of its requests"], &rows);
    let samples: Vec<_> = run
        .operations
        .iter()
        .flat_map(|it| it.error_samples.iter().map(move |sample| (it, sample)))
        .collect();
    if !samples.is_empty() {
        page.note("Samples, the first bytes of each:");
    }
    for (it, sample) in samples {
        let status = if sample.status == 0 { String::new() } else { format!(", status {}", sample.status) };
        page.paragraph(&format!("{}: {}{status}", it.name, sample.label));
        page.verbatim(&sample.body);
    }
}

fn setup(page: &mut Page, run: &RunResult) {
    page.add_heading("Set-up");
    let setup = &run.setup;
    let lines = [
        ("target", setup.target.clone()),
        ("protocol", setup.protocol.clone()),
        ("load", setup.load.clone()),
        ("measured", format!("{} s, from {}", setup.duration_s, run.started_at)),
        ("connections", setup.connections.to_string()),
        ("generators", setup.generators.to_string()),
        (
            "generator's machine",
            format!(
                "{}, {} cores, {} GB",
                setup.machine,
                setup.cores,
                thousands(setup.memory_bytes as f64 / 1e9)
            ),
        ),
        ("kernel", setup.kernel.clone()),
        ("seed", setup.seed.to_string()),
        ("Weir", setup.weir_version.clone()),
    ];
    let rows: Vec<Row> = lines
        .into_iter()
        .map(|(name, value)| Row::of(vec![Cell::Text(name.into()), Cell::Text(value)]))
        .collect();
    page.table("Set-up", &["what", "value"], &rows);
}

fn per_second(run: &RunResult, count: u64) -> f64 {
    if run.setup.duration_s > 0.0 { count as f64 / run.setup.duration_s } else { 0.0 }
}

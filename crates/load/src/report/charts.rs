//! The charts of a run.

use crate::page::{Axis, Chart, Series, Unit};
use crate::result::{Latency, ProcessSample, RunResult, Slice};

/// Points per nine of a latency spectrum: enough for the eye.
const POINTS_PER_NINE: u32 = 24;
const NINES_MAX: u32 = 6;

fn seconds_of(run: &RunResult) -> Axis {
    Axis::x("time", Unit::Clock, run.timeline.iter().map(|it| it.second as f64).collect())
}

/// Offered, achieved and failed requests.
pub(super) fn rates(run: &RunResult) -> Chart {
    let line = |name: &str, read: fn(&Slice) -> u64| {
        Series::line(name, run.timeline.iter().map(|it| read(it) as f64))
    };
    let mut lines = vec![line("offered", |it| it.offered).with_dashes(), line("achieved", |it| it.completed)];
    if run.timeline.iter().any(|it| it.errors > 0) {
        lines.push(line("failed", |it| it.errors));
    }
    Chart::lines("Requests per second", seconds_of(run), Axis::y(Unit::Rate), lines)
        .note("by the second for which they were scheduled")
}

/// Percentiles of latency by second.
pub(super) fn percentiles(run: &RunResult) -> Chart {
    let line = |name: &str, read: fn(&Slice) -> u64| Series {
        name: name.into(),
        // A second without answers has no latency.
        values: run
            .timeline
            .iter()
            .map(|it| (it.completed > 0).then(|| read(it).max(1) as f64 / 1e6))
            .collect(),
        dashed: false,
        points: false,
    };
    let lines = vec![
        line("p50", |it| it.p50_us),
        line("p90", |it| it.p90_us),
        line("p99", |it| it.p99_us),
        line("max", |it| it.max_us),
    ];
    Chart::lines("Latency", seconds_of(run), Axis::y(Unit::Seconds).log(), lines)
        .note("percentiles by second, on a logarithmic scale")
}

/// Latency and service time by percentile, each nine as wide as the one before.
pub(super) fn spectrum(run: &RunResult) -> Result<Option<Chart>, String> {
    let count = run.total.latency.count.max(run.total.service.count);
    if count == 0 {
        return Ok(None);
    }
    // Above the resolution of the count, percentiles do not differ.
    let nines = (count as f64).log10().min(f64::from(NINES_MAX));
    let points = (nines * f64::from(POINTS_PER_NINE)).ceil().max(1.0) as u32;
    let places: Vec<f64> =
        (0..=points).map(|it| 10f64.powf(nines * f64::from(it) / f64::from(points))).collect();
    let line = |name: &str, latency: &Latency| -> Result<Series, String> {
        let histogram = latency.histogram()?;
        let at = |it: &f64| histogram.value_at_quantile(1.0 - 1.0 / it).max(1) as f64 / 1e6;
        Ok(Series::line(name, places.iter().map(at).collect::<Vec<f64>>()))
    };
    let mut lines = vec![line("latency", &run.total.latency)?];
    if run.total.service.count > 0 {
        lines.push(line("service time", &run.total.service)?.with_dashes());
    }
    let x = Axis::x("percentile", Unit::Percentile, places.clone()).log();
    Ok(Some(Chart::lines("Latency by percentile", x, Axis::y(Unit::Seconds).log(), lines)))
}

/// Latencies by second and bucket.
pub(super) fn heat(run: &RunResult) -> Option<Chart> {
    let bottom = |top: u64| top as f64 / std::f64::consts::SQRT_2;
    let mut cells = Vec::new();
    for slice in &run.timeline {
        let left = slice.second as f64;
        cells.extend(
            slice
                .heat
                .iter()
                .filter(|it| it.0 > 0 && it.1 > 0)
                .map(|(top, count)| (left, left + 1.0, bottom(*top) / 1e6, *top as f64 / 1e6, *count)),
        );
    }
    if cells.is_empty() {
        return None;
    }
    // The axes need values; the cells are drawn over them.
    let ends = Axis::x("time", Unit::Clock, run.timeline.iter().map(|it| it.second as f64).collect());
    let tops = run.timeline.iter().map(|it| it.max_us as f64 / 1e6);
    let mut chart =
        Chart::lines("Latency heat map", ends, Axis::y(Unit::Seconds).log(), vec![Series::line("max", tops)])
            .note("stronger cells hold more requests, on a logarithmic scale");
    chart.cells = cells;
    Some(chart)
}

/// CPU and memory of the watched processes.
pub(super) fn processes(run: &RunResult) -> Vec<Chart> {
    if run.processes.iter().all(|it| it.samples.is_empty()) {
        return Vec::new();
    }
    let lines = |read: fn(&ProcessSample) -> f64| -> Vec<Series> {
        let of = |it: &crate::result::ProcessSeries| {
            let at = |slice: &Slice| it.samples.iter().find(|sample| sample.second == slice.second).map(read);
            let values = run.timeline.iter().map(at).collect();
            Series { name: it.name.clone(), values, dashed: false, points: false }
        };
        run.processes.iter().map(of).collect()
    };
    let cpu = lines(|it| it.cpu_percent / 100.0);
    let memory = lines(|it| it.rss_bytes as f64);
    vec![
        Chart::lines("CPU", seconds_of(run), Axis::y(Unit::Cores), cpu).note("cores in use"),
        Chart::lines("Memory", seconds_of(run), Axis::y(Unit::Bytes), memory).note("resident"),
    ]
}

/// `count` in parts of `total`; 0 of nothing.
pub(super) fn part(count: u64, total: u64) -> f64 {
    if total == 0 { 0.0 } else { count as f64 / total as f64 }
}

//! A result against an older one, for pipelines: ratios of figures and the limits that they must keep. Limits that are no ratios
//! need no older one.
//!
//! **Invariant:** a limit on a figure that a result lacks fails; nothing passes unmeasured.

use crate::page::{Cell, Page, Row, figures};
use crate::result::{GENERATOR, OperationResult, RunResult};

/// A figure of a result that limits can be put on.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// Completed requests per second.
    Throughput,
    /// A percentile of the latency from the scheduled instant: 99.9.
    Percentile(f64),
    /// Mean latency.
    Mean,
    /// Part of the requests that failed, from 0 to 1.
    Errors,
    /// CPU seconds per request of a process.
    Cpu(String),
    /// Most resident bytes of a process.
    Memory(String),
}

/// A condition on which the newer result fails.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    text: String,
    figure: LimitedFigure,
    is_above: bool,
    bound: Bound,
}

#[derive(Clone, Debug, PartialEq)]
enum LimitedFigure {
    One(Figure),
    /// CPU per request of every process but the generator.
    AnyCpu,
    /// Memory of every process but the generator.
    AnyMemory,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    /// Times the older figure.
    Ratio(f64),
    /// The figure itself: seconds, parts of 1, requests per second, bytes.
    Value(f64),
}

/// One line of a comparison.
#[derive(Clone, Debug)]
pub struct Change {
    /// The operation, or `total`.
    pub operation: String,
    /// The figure's name.
    pub figure: String,
    /// The older figure, for people.
    pub old: String,
    /// The newer one.
    pub new: String,
    /// New over old; none where the old one is 0 or one is missing.
    pub ratio: Option<f64>,
    /// The limit that it breaks.
    pub broken: Option<String>,
}

#[derive(Clone, Debug)]
pub struct BaselineComparison {
    /// Totals first, then operations.
    pub changes: Vec<Change>,
    /// True if a result is void: then nothing is compared.
    pub void: Vec<String>,
}

impl BaselineComparison {
    /// True if no limit is broken and both results are valid.
    pub fn holds(&self) -> bool {
        self.void.is_empty() && self.changes.iter().all(|it| it.broken.is_none())
    }

    /// The comparison as a table for the terminal.
    pub fn text(&self) -> String {
        let mut page = Page::default();
        let rows: Vec<Row> = self.changes.iter().map(Change::row).collect();
        page.table("Changes", &["operation", "figure", "old", "new", "new/old", ""], &rows);
        self.void.iter().for_each(|it| page.paragraph(it));
        page.into_text()
    }
}

impl Change {
    fn row(&self) -> Row {
        let ratio = self.ratio.map_or_else(|| "-".into(), |it| format!("{it:.2}x"));
        let broken = self.broken.as_ref().map_or_else(String::new, |it| format!("BREAKS {it}"));
        let mut cells: Vec<Cell> = [&self.operation, &self.figure].map(|it| Cell::Text(it.clone())).into();
        cells.extend([self.old.clone(), self.new.clone(), ratio].map(Cell::Figure));
        cells.push(Cell::Text(broken));
        Row::of(cells)
    }
}

impl Limit {
    /// Reads `p99 > 1.2x`, `throughput < 0.9x`, `errors > 0.1%`, `p50 > 200ms`, `cpu > 1.1x`, `cpu:weir > 200us`.
    /// # Errors
    /// A text that is no limit, with those there are.
    pub fn read(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| {
            format!(
                "`{text}` is no limit: {why}; write `p99 > 1.2x`, `throughput < 0.9x`, `errors > 0.1%`, `p50 > 200ms`, `cpu > 1.1x` or `memory > 1.2x`"
            )
        };
        let at = text.find(['<', '>']).ok_or_else(|| wrong("it has no `<` or `>`"))?;
        let name = text[..at].trim();
        let bound = text[at + 1..].trim();
        let figure = LimitedFigure::read(name).ok_or_else(|| wrong(&format!("`{name}` is no figure")))?;
        let bound =
            figure.parse_bound(bound).ok_or_else(|| wrong(&format!("`{bound}` does not fit `{name}`")))?;
        Ok(Self { text: text.trim().to_string(), figure, is_above: text[at..].starts_with('>'), bound })
    }

    /// The limits of a tolerance, as 0.1: throughput may fall, and p50 and p99 may rise by it; at most 0.1 % of the
    /// requests may fail. CPU is limited by the same where `has_cpu`, as a run need not watch a process.
    pub fn of_tolerance(tolerance: f64, has_cpu: bool) -> Vec<Self> {
        let above = |name: &str| format!("{name} > {:.3}x", 1.0 + tolerance);
        let mut texts = vec![format!("throughput < {:.3}x", 1.0 - tolerance), above("p50"), above("p99")];
        texts.push("errors > 0.1%".into());
        texts.extend(has_cpu.then(|| above("cpu")));
        texts.iter().filter_map(|it| Self::read(it).ok()).collect()
    }

    /// Limits on what `figure` is.
    fn is_on(&self, figure: &Figure) -> bool {
        match (&self.figure, figure) {
            (LimitedFigure::One(one), other) => one == other,
            (LimitedFigure::AnyCpu, Figure::Cpu(_)) | (LimitedFigure::AnyMemory, Figure::Memory(_)) => true,
            (LimitedFigure::AnyCpu | LimitedFigure::AnyMemory, _) => false,
        }
    }

    fn breaks(&self, old: Option<f64>, new: Option<f64>) -> bool {
        let bound = match self.bound {
            Bound::Value(value) => Some(value),
            Bound::Ratio(ratio) => old.map(|it| it * ratio),
        };
        match (bound, new) {
            (Some(bound), Some(new)) if self.is_above => new > bound,
            (Some(bound), Some(new)) => new < bound,
            _ => true,
        }
    }
}

impl LimitedFigure {
    fn read(name: &str) -> Option<Self> {
        let figure = match name {
            "throughput" => Figure::Throughput,
            "mean" => Figure::Mean,
            "errors" => Figure::Errors,
            "cpu" => return Some(Self::AnyCpu),
            "memory" => return Some(Self::AnyMemory),
            _ => match (name.strip_prefix("cpu:"), name.strip_prefix("memory:"), name.strip_prefix('p')) {
                (Some(process), _, _) => Figure::Cpu(process.to_string()),
                (_, Some(process), _) => Figure::Memory(process.to_string()),
                (_, _, Some(number)) => {
                    Figure::Percentile(number.parse().ok().filter(|it| *it > 0.0 && *it < 100.0)?)
                }
                _ => return None,
            },
        };
        Some(Self::One(figure))
    }

    fn parse_bound(&self, text: &str) -> Option<Bound> {
        if let Some(ratio) = text.strip_suffix('x') {
            return ratio
                .trim()
                .parse()
                .ok()
                .filter(|it: &f64| *it > 0.0 && it.is_finite())
                .map(Bound::Ratio);
        }
        let value = match self {
            Self::One(Figure::Errors) => text.strip_suffix('%')?.trim().parse::<f64>().ok()? / 100.0,
            Self::One(Figure::Throughput) => crate::capacity::read_rate(text).ok()?,
            Self::One(Figure::Memory(_)) | Self::AnyMemory => {
                text.strip_suffix("MB")?.trim().parse::<f64>().ok()? * 1e6
            }
            Self::One(Figure::Percentile(_) | Figure::Mean | Figure::Cpu(_)) | Self::AnyCpu => {
                crate::capacity::read_seconds(text).ok()?
            }
        };
        (value >= 0.0 && value.is_finite()).then_some(Bound::Value(value))
    }
}

impl Figure {
    fn name(&self) -> String {
        match self {
            Self::Throughput => "throughput".into(),
            Self::Percentile(it) => format!("p{it}"),
            Self::Mean => "mean".into(),
            Self::Errors => "errors".into(),
            Self::Cpu(process) => format!("cpu:{process}"),
            Self::Memory(process) => format!("memory:{process}"),
        }
    }

    fn format_value(&self, value: f64) -> String {
        match self {
            Self::Throughput => figures::rate(value),
            Self::Percentile(_) | Self::Mean | Self::Cpu(_) => figures::seconds(value),
            Self::Errors => figures::percent(value),
            Self::Memory(_) => format!("{} MB", figures::thousands(value / 1e6)),
        }
    }

    /// The figure in a result; none where it was not measured.
    fn value_of(&self, run: &RunResult, operation: &OperationResult) -> Result<Option<f64>, String> {
        let latency = &operation.latency;
        let process = |name: &String| run.processes.iter().find(|it| it.name == *name);
        Ok(match self {
            Self::Throughput => {
                (run.setup.duration_s > 0.0).then(|| operation.completed as f64 / run.setup.duration_s)
            }
            Self::Percentile(_) | Self::Mean if latency.count == 0 => None,
            Self::Percentile(it) => Some(latency.percentile(*it)? as f64 / 1e6),
            Self::Mean => Some(latency.mean_us / 1e6),
            Self::Errors => (operation.sent > 0).then(|| operation.error_percent() / 100.0),
            Self::Cpu(name) => process(name).map(|it| it.cpu_us_per_request / 1e6),
            Self::Memory(name) => process(name)
                .and_then(|it| it.samples.iter().map(|it| it.rss_bytes).max())
                .map(|it| it as f64),
        })
    }
}

/// Compares `new` with `old` under `limits`, which hold for the totals and for every operation.
/// # Errors
/// A histogram that cannot be read.
pub fn compare(old: &RunResult, new: &RunResult, limits: &[Limit]) -> Result<BaselineComparison, String> {
    compare_with(Some(old), new, limits)
}

/// Checks `run` against `limits` that need no older result.
/// # Errors
/// A limit that is a ratio; a histogram that cannot be read.
pub fn hold(run: &RunResult, limits: &[Limit]) -> Result<BaselineComparison, String> {
    match limits.iter().find(|it| matches!(it.bound, Bound::Ratio(_))) {
        Some(ratio) => {
            Err(format!("`{}` is a ratio to an older result: name it by `--baseline`", ratio.text))
        }
        None => compare_with(None, run, limits),
    }
}

fn compare_with(
    old: Option<&RunResult>,
    new: &RunResult,
    limits: &[Limit],
) -> Result<BaselineComparison, String> {
    let new_name = if old.is_some() { "the new result" } else { "the result" };
    let void = [("the old result", old), (new_name, Some(new))]
        .iter()
        .filter_map(|(name, run)| run.filter(|it| !it.verdict.valid).map(|it| (name, it)))
        .map(|(name, run)| format!("{name} is void: {}", run.verdict.void_because.join("; ")))
        .collect();
    let mut comparison = BaselineComparison { changes: Vec::new(), void };
    let mut totals = vec![
        Figure::Throughput,
        Figure::Percentile(50.0),
        Figure::Percentile(99.0),
        Figure::Mean,
        Figure::Errors,
    ];
    for limit in limits {
        match &limit.figure {
            LimitedFigure::One(figure) if !totals.contains(figure) => totals.push(figure.clone()),
            _ => {}
        }
    }
    let per_operation = totals.clone();
    let runs = || old.into_iter().chain([new]);
    for name in runs().flat_map(|it| &it.processes).map(|it| &it.name).filter(|it| *it != GENERATOR) {
        for figure in [Figure::Cpu(name.clone()), Figure::Memory(name.clone())] {
            if !totals.contains(&figure) {
                totals.push(figure);
            }
        }
    }
    break_unmeasured_limits(&totals, limits, &mut comparison);
    let old_total = old.map(|it| (it, Some(&it.total)));
    push(&mut comparison, old_total, (new, Some(&new.total)), &totals, limits)?;
    let mut names: Vec<&str> = runs().flat_map(|it| &it.operations).map(|it| it.name.as_str()).collect();
    let mut seen = std::collections::HashSet::new();
    names.retain(|it| seen.insert(*it));
    // One operation is its own total.
    if names.len() > 1 {
        let figures: Vec<Figure> = per_operation
            .into_iter()
            .filter(|it| !matches!(it, Figure::Cpu(_) | Figure::Memory(_)))
            .collect();
        for name in names {
            let before = old.map(|it| (it, operation(it, name)));
            push(&mut comparison, before, (new, operation(new, name)), &figures, limits)?;
        }
    }
    Ok(comparison)
}

fn operation<'r>(run: &'r RunResult, name: &str) -> Option<&'r OperationResult> {
    run.operations.iter().find(|it| it.name == name)
}

/// Breaks limits on processes when neither result watched one.
fn break_unmeasured_limits(figures: &[Figure], limits: &[Limit], comparison: &mut BaselineComparison) {
    for limit in limits {
        if !figures.iter().any(|it| limit.is_on(it)) {
            comparison.changes.push(Change {
                operation: "total".into(),
                figure: limit.text.split(['<', '>']).next().unwrap_or_default().trim().into(),
                old: "not measured".into(),
                new: "not measured".into(),
                ratio: None,
                broken: Some(limit.text.clone()),
            });
        }
    }
}

type ComparedRun<'a> = (&'a RunResult, Option<&'a OperationResult>);

fn push(
    comparison: &mut BaselineComparison,
    old: Option<ComparedRun<'_>>,
    new: ComparedRun<'_>,
    figures: &[Figure],
    limits: &[Limit],
) -> Result<(), String> {
    for figure in figures {
        let of =
            |(run, operation): ComparedRun<'_>| operation.map_or(Ok(None), |it| figure.value_of(run, it));
        let before = old.map_or(Ok(None), of)?;
        let after = of(new)?;
        let broken = limits.iter().find(|it| it.is_on(figure) && it.breaks(before, after));
        let shown = |it: Option<f64>| it.map_or_else(|| "not measured".into(), |it| figure.format_value(it));
        comparison.changes.push(Change {
            operation: old.and_then(|it| it.1).or(new.1).map_or_else(String::new, |it| it.name.clone()),
            figure: figure.name(),
            old: if old.is_some() { shown(before) } else { "-".into() },
            new: shown(after),
            ratio: before.zip(after).filter(|it| it.0 > 0.0).map(|it| it.1 / it.0),
            broken: broken.map(|it| it.text.clone()),
        });
    }
    Ok(())
}

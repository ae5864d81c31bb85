//! `weir load compare`: two servers in alternating slices.
//!
//! Each pair of slices begins with the side that chance chooses, so drift of the machine falls on both. Ratios are those of pairs.
//!
//! **Invariant:** a difference that the noise of the slices explains is never called better or worse.

use crate::compare_answers::{ComparedAnswer, FirstDifference, compare_answers};
use crate::notation::expression::mix;
use crate::plan::Plan;
use crate::result::machine;
use crate::result::statistics::Ratio;
use crate::result::{AnswerDifference, CompareResult, Comparison, FORMAT, Measure, RunResult, Setup};
use crate::run::{Progress, RunOptions, answers, run};
use std::sync::Arc;

/// Longest text of a value that differs.
const SHOWN_CHARS: usize = 120;
/// Upper bound of the reported differences.
const DIFFERENCES_MAX: usize = 20;

/// Settings of a comparison.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// Pairs of slices.
    pub pairs: u32,
    /// The smallest difference that counts, as 0.02.
    pub least: f64,
    /// Requests of each operation whose answers are compared.
    pub answers: u32,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self { pairs: 10, least: 0.02, answers: 5 }
    }
}

pub struct Side {
    /// The plan with this side's target and processes.
    pub plan: Arc<Plan>,
    /// For people: the URL or the command.
    pub name: String,
}

struct SliceFigures {
    throughput: f64,
    p50: f64,
    p99: f64,
    cpu: f64,
}

impl SliceFigures {
    #[expect(clippy::cast_precision_loss, reason = "rates and times")]
    fn of(result: &RunResult) -> Self {
        let total = &result.total;
        let setup = &result.setup;
        let good = total.completed.saturating_sub(total.error_count());
        // The last process is the generator itself.
        let servers = result.processes.len().saturating_sub(1);
        Self {
            throughput: good as f64 / setup.duration_s,
            p50: total.latency.p50_us as f64,
            p99: total.latency.p99_us as f64,
            cpu: result.processes[..servers].iter().map(|it| it.cpu_us_per_request).sum(),
        }
    }
}

/// Compares B with A. `progress` gets the side and the pair that are measured.
/// # Errors
/// Causes for which nothing can be measured; a side whose requests fail.
pub fn compare(
    a: &Side,
    b: &Side,
    options: &CompareOptions,
    progress: &mut dyn FnMut(&str, u32, &Progress),
) -> Result<CompareResult, String> {
    let started_at = machine::now();
    let (differences, answers_compared) = differences(a, b, options.answers)?;
    let mut slices: Vec<(SliceFigures, SliceFigures)> = Vec::new();
    let mut setup = Setup::default();
    for pair in 0..options.pairs {
        let mut measure = |side: &Side| {
            let result = run(&side.plan, RunOptions::default(), &mut |it| progress(&side.name, pair, it))?;
            check(side, &result)?;
            setup = result.setup.clone();
            Ok::<_, String>(SliceFigures::of(&result))
        };
        slices.push(if mix(a.plan.seed, pair.into()).is_multiple_of(2) {
            let first = measure(a)?;
            (first, measure(b)?)
        } else {
            let second = measure(b)?;
            (measure(a)?, second)
        });
    }
    setup.target = a.plan.url();
    let measures = measures(&slices, options.least);
    let verdict = overall(&measures);
    let a = a.name.clone();
    let b = b.name.clone();
    Ok(CompareResult {
        format: FORMAT,
        started_at,
        setup,
        a,
        b,
        measures,
        verdict,
        differences,
        answers_compared,
    })
}

/// A slice with many errors, or a void one, says nothing about speed.
fn check(side: &Side, result: &RunResult) -> Result<(), String> {
    if let Some(cause) = result.verdict.void_because.first() {
        return Err(format!("{}: a slice is void: {cause}", side.name));
    }
    let percent = result.total.error_percent();
    if percent <= side.plan.errors_max_percent() {
        return Ok(());
    }
    let sample = result.operations.iter().flat_map(|it| &it.error_samples).next();
    let sample = sample.map_or_else(String::new, |it| format!(", such as {}: {}", it.label, it.body));
    Err(format!("{}: {percent:.2} % of the requests failed{sample}", side.name))
}

fn measures(slices: &[(SliceFigures, SliceFigures)], least: f64) -> Vec<Measure> {
    type Figure = fn(&SliceFigures) -> f64;
    let all: [(&str, &str, bool, Figure); 4] = [
        ("throughput", "requests/s", true, |it| it.throughput),
        ("latency p50", "us", false, |it| it.p50),
        ("latency p99", "us", false, |it| it.p99),
        ("cpu per request", "us", false, |it| it.cpu),
    ];
    let measure = |(name, unit, is_more_better, figure): (&str, &str, bool, Figure)| {
        let pairs: Vec<(f64, f64)> = slices.iter().map(|it| (figure(&it.0), figure(&it.1))).collect();
        // CPU is 0 where no process is watched.
        let found = Ratio::of(&pairs)?;
        let Ratio { a, b, ratio, low, high } = found;
        let verdict = found.verdict(is_more_better, least);
        Some(Measure { name: name.to_owned(), unit: unit.to_owned(), a, b, ratio, low, high, verdict })
    };
    all.into_iter().filter_map(measure).collect()
}

/// Worse in one measure is worse; better in one and worse in none is better.
fn overall(measures: &[Measure]) -> Comparison {
    let any = |verdict| measures.iter().any(|it| it.verdict == verdict);
    if any(Comparison::Worse) {
        Comparison::Worse
    } else if any(Comparison::Better) {
        Comparison::Better
    } else {
        Comparison::CannotTell
    }
}

/// Sends the same requests to both sides and compares the answers as JSON.
fn differences(a: &Side, b: &Side, runs: u32) -> Result<(Vec<AnswerDifference>, u64), String> {
    let first = answers(&a.plan, runs).map_err(|cause| format!("{}: {cause}", a.name))?;
    let second = answers(&b.plan, runs).map_err(|cause| format!("{}: {cause}", b.name))?;
    let mut found: Vec<AnswerDifference> = Vec::new();
    for (one, other) in first.iter().zip(&second) {
        if found.iter().any(|it| it.operation == one.operation) || found.len() == DIFFERENCES_MAX {
            continue;
        }
        let x = ComparedAnswer { status: one.status, body: &one.body };
        let y = ComparedAnswer { status: other.status, body: &other.body };
        if let Some(FirstDifference { path, a: x, b: y }) = compare_answers(x, y) {
            let operation = one.operation.clone();
            let a = shorten(&x);
            let b = shorten(&y);
            found.push(AnswerDifference { operation, path, a, b });
        }
    }
    Ok((found, first.len().min(second.len()) as u64))
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_worse_measure_is_worse() {
        let measure = |verdict| Measure {
            name: String::new(),
            unit: String::new(),
            a: 1.0,
            b: 1.0,
            ratio: 1.0,
            low: 1.0,
            high: 1.0,
            verdict,
        };
        use Comparison::{Better, CannotTell, Worse};
        assert_eq!(overall(&[measure(Better), measure(Worse)]), Worse);
        assert_eq!(overall(&[measure(Better), measure(CannotTell)]), Better);
        assert_eq!(overall(&[measure(CannotTell)]), CannotTell);
    }
}

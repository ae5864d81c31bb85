//! `weir load max`: the most requests per second within a bound.
//!
//! The rate doubles until a probe breaks the bound, the interval is bisected, and the rate found is confirmed three times. A rate
//! that a confirmation breaks is lowered and confirmed again.

use crate::plan::{Load, Plan};
use crate::profile::Arrivals;
use crate::result::machine;
use crate::result::{FORMAT, GENERATOR, Latency, MaxResult, Maximum, Probe, RunResult};
use crate::run::{ACHIEVED_MIN_PERCENT, LAG_MAX_US, Progress, RunOptions, cause, is_saturated, run};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Highest rate that is tried.
const RATE_MAX: f64 = 10_000_000.0;
/// Bisection ends when the interval is this part of its rate.
const PRECISION: f64 = 0.05;
/// Confirmations of a rate.
const CONFIRMATIONS: usize = 3;

/// Attempts of a probe whose generator is too slow: that may be another program's fault.
const ATTEMPTS: usize = 3;

/// Settings of a search.
#[derive(Clone, Debug)]
pub struct MaxOptions {
    /// The bounded percentile.
    pub percentile: f64,
    /// Upper bound of the latency at that percentile.
    pub bound: Duration,
    /// Share of failed requests that is accepted.
    pub errors_max_percent: f64,
    /// First rate.
    pub from: f64,
    /// Length of a probe.
    pub probe: Duration,
    /// Length of a confirmation.
    pub confirm: Duration,
    /// Distances between requests.
    pub arrivals: Arrivals,
    /// True if only the mix is searched, not each operation.
    pub is_mix_only: bool,
}

impl Default for MaxOptions {
    fn default() -> Self {
        Self {
            percentile: 50.0,
            bound: Duration::from_millis(200),
            errors_max_percent: 0.1,
            from: 50.0,
            probe: Duration::from_secs(5),
            confirm: Duration::from_secs(20),
            arrivals: Arrivals::Constant,
            is_mix_only: false,
        }
    }
}

/// News of a search.
#[derive(Debug)]
pub enum MaxProgress<'p> {
    /// The search for an operation, or for `mix`, begins.
    Begin(&'p str),
    /// A second of a probe at that rate.
    Second(f64, Progress),
    /// A probe has ended.
    Probed(&'p Probe),
}

/// Searches the maximum of each operation and flow, then of the mix.
/// # Errors
/// Causes for which nothing can be measured.
pub fn max(
    plan: &Arc<Plan>,
    options: &MaxOptions,
    progress: &mut dyn FnMut(MaxProgress<'_>),
) -> Result<MaxResult, String> {
    let started_at = machine::now();
    let names: Vec<String> = plan.mix().map(str::to_owned).collect();
    let mut maxima = Vec::new();
    let mut setup = None;
    let alone = if options.is_mix_only { 0 } else { names.len() };
    let mut targets: Vec<(String, Option<usize>)> =
        names.iter().take(alone).enumerate().map(|(at, it)| (it.clone(), Some(at))).collect();
    if targets.len() != 1 {
        targets.push(("mix".to_owned(), None));
    }
    for (name, only) in targets {
        progress(MaxProgress::Begin(&name));
        let mut probes: Vec<Probe> = Vec::new();
        let mut last = None;
        let mut lags = LagByRate::default();
        let found = search(options.from, &mut |offered, is_confirmation| {
            let length = if is_confirmation { options.confirm } else { options.probe };
            // A rate that sends nothing within a probe is too low to be tried.
            if offered * length.as_secs_f64() < 1.0 {
                return Ok(None);
            }
            for _ in 0..ATTEMPTS {
                let load = Load::constant(offered, length, options.arrivals)?;
                let settings = RunOptions { load: Some(load), only, ..RunOptions::default() };
                let result = run(plan, settings, &mut |it| progress(MaxProgress::Second(offered, *it)))?;
                lags.note(offered, result.verdict.lag_p99_us);
                let probe = judge(options, offered, is_confirmation, &result, &lags)?;
                progress(MaxProgress::Probed(&probe));
                let holds = probe.holds;
                let is_generators = probe.is_generators;
                probes.push(probe);
                last = Some(result.setup.clone());
                if !is_generators {
                    return Ok(holds.then_some(result));
                }
            }
            Ok(None)
        })?;
        let setup = setup.get_or_insert_with(|| last.unwrap_or_default());
        setup.load = format!("searched from {}/s", options.from);
        maxima.push(maximum(name, found, probes));
    }
    let bound = format!(
        "p{} < {} ms, errors < {} %",
        options.percentile,
        options.bound.as_secs_f64() * 1000.0,
        options.errors_max_percent
    );
    let setup = setup.unwrap_or_default();
    Ok(MaxResult { format: FORMAT, name: plan.name().to_owned(), started_at, setup, bound, maxima })
}

/// The lags of the rates that were tried.
#[derive(Default)]
struct LagByRate(Vec<(f64, u64)>);

impl LagByRate {
    fn note(&mut self, rate: f64, lag_p99_us: u64) {
        self.0.push((rate, lag_p99_us));
    }

    /// True if half the rate, or less, had at least half this lag; nothing if no such rate was tried.
    fn is_same_at_lower(&self, rate: f64, lag_p99_us: u64) -> Option<bool> {
        let lower = self.0.iter().filter(|it| it.0 * 2.0 <= rate).map(|it| it.1);
        lower.max().map(|it| it.saturating_mul(2) >= lag_p99_us)
    }
}

/// The median of the confirmations.
fn maximum(name: String, mut confirmations: Vec<RunResult>, probes: Vec<Probe>) -> Maximum {
    confirmations.sort_by(|a, b| rate(a).total_cmp(&rate(b)));
    let is_generator_bound = probes.iter().rev().find(|it| !it.holds).is_some_and(|it| it.is_generators);
    let median = (!confirmations.is_empty()).then(|| confirmations.swap_remove(confirmations.len() / 2));
    Maximum {
        name,
        requests_per_s: median.as_ref().map_or(0.0, rate),
        is_generator_bound,
        cpu_us_per_request: median.as_ref().map_or_else(BTreeMap::new, |it| {
            it.processes.iter().map(|it| (it.name.clone(), it.cpu_us_per_request)).collect()
        }),
        latency: median.map_or_else(Latency::default, |it| it.total.latency),
        probes,
    }
}

/// Answers per second.
#[expect(clippy::cast_precision_loss, reason = "a rate")]
fn rate(result: &RunResult) -> f64 {
    let failed: u64 = result.total.errors.values().sum();
    result.total.completed.saturating_sub(failed) as f64 / result.setup.duration_s
}

/// Tries a rate, as a confirmation or not. Returns what was measured if the rate holds the bound.
type Prober<'p, M> = &'p mut dyn FnMut(f64, bool) -> Result<Option<M>, String>;

/// The measurements of three confirmations of the highest rate that holds; none if not even a hundredth of `from` does.
fn search<M>(from: f64, probe: Prober<'_, M>) -> Result<Vec<M>, String> {
    let mut low = 0.0;
    let mut high = from;
    while high <= RATE_MAX && probe(high, false)?.is_some() {
        low = high;
        high *= 2.0;
    }
    while low == 0.0 && high > from / 100.0 && high > 1.0 {
        let lower = high / 2.0;
        match probe(lower, false)? {
            Some(_) => low = lower,
            None => high = lower,
        }
    }
    while low > 0.0 && (high - low) / high > PRECISION {
        let middle = f64::midpoint(low, high);
        match probe(middle, false)? {
            Some(_) => low = middle,
            None => high = middle,
        }
    }
    confirm(low, probe)
}

fn confirm<M>(mut rate: f64, probe: Prober<'_, M>) -> Result<Vec<M>, String> {
    let lowest = rate / 4.0;
    while rate > lowest {
        let mut held = Vec::new();
        while held.len() < CONFIRMATIONS {
            match probe(rate, true)? {
                Some(result) => held.push(result),
                None => break,
            }
        }
        if held.len() == CONFIRMATIONS {
            return Ok(held);
        }
        rate *= 1.0 - PRECISION;
    }
    Ok(Vec::new())
}

/// Judges a measurement. A late probe is the generator's fault if the server's own times hold the bound.
fn judge(
    options: &MaxOptions,
    offered: f64,
    is_confirmation: bool,
    result: &RunResult,
    lags: &LagByRate,
) -> Result<Probe, String> {
    let total = &result.total;
    let percentile_us = total.latency.percentile(options.percentile)?;
    let error_percent = total.error_percent();
    let bound_us = u64::try_from(options.bound.as_micros()).unwrap_or(u64::MAX);
    let mut is_generators = false;
    let reason = if error_percent >= options.errors_max_percent && error_percent > 0.0 {
        format!("{error_percent:.2} % errors")
    } else if percentile_us >= bound_us {
        let words = format!("p{} is {} ms", options.percentile, percentile_us / 1000);
        let is_held_by_server = total.service.percentile(options.percentile)? < bound_us;
        is_generators = is_held_by_server && lag_us(options, result) > LAG_MAX_US;
        if is_generators { format!("{words}: {}", cause(is_too_slow(offered, result, lags))) } else { words }
    } else if result.verdict.achieved_percent < ACHIEVED_MIN_PERCENT || total.scheduled == 0 {
        result.verdict.void_because.last().cloned().unwrap_or_default()
    } else {
        String::new()
    };
    Ok(Probe {
        offered_per_s: offered,
        achieved_per_s: rate(result),
        percentile_us,
        error_percent,
        holds: reason.is_empty(),
        reason,
        is_confirmation,
        is_generators,
    })
}

/// Lag of the bounded percentile. Requests that wait for a connection have none: there the server is slow.
fn lag_us(options: &MaxOptions, result: &RunResult) -> u64 {
    if options.percentile > 50.0 { result.verdict.lag_p99_us } else { result.verdict.lag_p50_us }
}

/// True if the lag grows with the rate. A lag at all rates is caused by other programs on the machine.
fn is_too_slow(offered: f64, result: &RunResult, lags: &LagByRate) -> bool {
    let is_same = lags.is_same_at_lower(offered, result.verdict.lag_p99_us);
    is_same.map_or_else(
        || {
            let own = result.processes.iter().find(|it| it.name == GENERATOR);
            own.is_some_and(|it| is_saturated(it.cpu_s, result.setup.duration_s, result.setup.generators))
        },
        |is_same| !is_same,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Verdict, new_histogram};

    /// The rates confirmed for a server that holds `capacity`, and those tried.
    fn search_rates(capacity: f64, from: f64, confirmed: f64) -> (Vec<f64>, usize) {
        let mut tried = 0;
        let held = search(from, &mut |rate, is_confirmation| {
            tried += 1;
            let limit = if is_confirmation { confirmed } else { capacity };
            Ok((rate <= limit).then_some(rate))
        });
        (held.expect("nothing fails"), tried)
    }

    #[test]
    fn the_maximum_is_found_within_five_percent() {
        for capacity in [3.0, 49.0, 50.0, 777.0, 12_345.0, 400_000.0] {
            let (held, tried) = search_rates(capacity, 50.0, capacity);
            assert_eq!(held.len(), 3, "{capacity}");
            assert!(held.iter().all(|it| (capacity * 0.94..=capacity).contains(it)), "{capacity}: {held:?}");
            assert!(tried < 30, "{capacity}: {tried} probes");
        }
    }

    #[test]
    fn a_rate_that_is_not_confirmed_is_lowered() {
        let (held, _) = search_rates(1000.0, 50.0, 800.0);
        assert!(held.iter().all(|it| (700.0..=800.0).contains(it)), "{held:?}");
        assert!(search_rates(0.1, 50.0, 0.1).0.is_empty(), "no rate holds");
        assert!(search_rates(1000.0, 50.0, 1.0).0.is_empty(), "no rate is confirmed");
    }

    /// The probe of a bound of 20 ms at p99, in a run whose requests had these latencies, service times and lags.
    fn probe(latency_ms: u64, service_ms: u64, lag_ms: u64, lags: &LagByRate) -> Probe {
        let figures = |ms: u64| {
            let mut histogram = new_histogram();
            histogram.record_n(ms * 1000, 100).expect("it is in range");
            Latency::of(&histogram)
        };
        let text = include_str!("../tests/fixtures/result.json");
        let mut result = crate::report::read(text).expect("a result");
        result.total.errors.clear();
        result.total.latency = figures(latency_ms);
        result.total.service = figures(service_ms);
        result.verdict = Verdict {
            lag_p50_us: lag_ms * 1000,
            lag_p99_us: lag_ms * 1000,
            achieved_percent: 100.0,
            void_because: vec!["late".into()],
            ..Verdict::default()
        };
        let options =
            MaxOptions { percentile: 99.0, bound: Duration::from_millis(20), ..MaxOptions::default() };
        judge(&options, 400.0, false, &result, lags).expect("it is judged")
    }

    #[test]
    fn a_probe_is_refused_for_its_lag_if_the_server_alone_would_hold() {
        let mut busy = LagByRate::default();
        let mut rising = LagByRate::default();
        busy.note(100.0, 7_000);
        rising.note(100.0, 90);
        let late = probe(15, 5, 9, &busy);
        assert!(late.holds && !late.is_generators, "the latency holds, lag and all: {late:?}");
        let slow = probe(40, 30, 9, &busy);
        assert!(!slow.holds && !slow.is_generators, "the server breaks the bound by itself: {slow:?}");
        let queued = probe(40, 5, 0, &busy);
        assert!(!queued.holds && !queued.is_generators, "requests wait for a connection: {queued:?}");
        let by_machine = probe(22, 13, 9, &busy);
        assert!(by_machine.is_generators && by_machine.reason.contains("the machine is busy"));
        let by_rate = probe(22, 13, 9, &rising);
        assert!(by_rate.is_generators && by_rate.reason.contains("the generator is too slow"));
    }

    #[test]
    fn a_lag_is_compared_with_that_of_half_the_rate() {
        let mut lags = LagByRate::default();
        lags.note(300.0, 4000);
        assert_eq!(lags.is_same_at_lower(400.0, 4000), None, "300 is no half of 400");
        lags.note(200.0, 1900);
        assert_eq!(lags.is_same_at_lower(400.0, 4000), Some(false));
        lags.note(50.0, 2000);
        assert_eq!(lags.is_same_at_lower(400.0, 4000), Some(true));
    }
}

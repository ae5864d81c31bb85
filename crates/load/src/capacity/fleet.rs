//! The sum: requests per second times CPU per request, over what a machine may give.

use super::balancing::BalancingResult;
use super::cache::CachingResult;
use super::inputs::{HitRate, Inputs};
use super::queue::Course;
use super::scaling::{self, ScalingResult};
use super::zone_loss;
use crate::page::figures;
use crate::page::figures::{cpu_time, decimal, percent, thousands};
use serde::Serialize;

/// Effect of a term on the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The sum begins with it.
    Start,
    /// The sum is multiplied by it.
    Times,
    /// The sum is divided by it.
    Divided,
    /// The sum so far, with a name.
    Equals,
}

/// One line of the sum.
#[derive(Clone, Debug, Serialize)]
pub struct Term {
    /// Effect of the term on the sum.
    pub step: Step,
    /// Name of the figure.
    pub name: String,
    /// The figure.
    pub value: f64,
    /// The figure with its unit, for people.
    pub shown: String,
    /// Source of the figure.
    pub source: String,
}

/// A fleet and what it does.
#[derive(Clone, Debug, Serialize)]
pub struct Estimate {
    /// Inputs of the estimate.
    pub inputs: Inputs,
    /// The sum, line by line.
    pub terms: Vec<Term>,
    /// CPU seconds per request of the mix.
    pub cpu: f64,
    /// Machines in all zones.
    pub machines: u64,
    pub machines_per_zone: u64,
    /// Price of the fleet per hour.
    pub price: Option<f64>,
    /// CPU in use at the peak with all zones up.
    pub utilisation: f64,
    /// CPU in use at the peak after the loss of the zones that may be lost.
    pub utilisation_without_zones: f64,
    /// Comparison with `at_most`.
    pub at_most: Option<AtMost>,
    /// Result of the DNS simulation.
    pub balancing: Option<BalancingResult>,
    /// Result of the burst simulation.
    pub scaling: Option<ScalingResult>,
    /// Result of the cache simulation.
    pub caching: Option<CachingResult>,
    /// Result of the zone loss simulation.
    pub zone_loss: Option<Course>,
}

/// Comparison of the fleet with the number of machines that was asked for.
#[derive(Clone, Debug, Serialize)]
pub struct AtMost {
    /// Machines wanted at most.
    pub machines: u64,
    /// True if the fleet has no more.
    pub holds: bool,
    /// Highest CPU seconds per request at which the fleet suffices; `None` if no CPU cost is low enough.
    pub cpu: Option<f64>,
    /// Lowest hit rate of the cached operations at which the fleet suffices; `None` if no rate is high enough, or no operation is
    /// cached.
    pub hit_rate: Option<f64>,
}

/// Computes the fleet and runs the simulations that `inputs` ask for.
pub fn estimate(inputs: Inputs) -> Estimate {
    let balancing = inputs.balancing.as_ref().map(|it| it.simulate(inputs.seed));
    let imbalance = match (&inputs.balancing, &balancing) {
        (Some(asked), Some(found)) if asked.own_machines => found.p99,
        _ => 1.0,
    };
    let (hit_rate, caching) = settle_cache(&inputs, imbalance);
    let cpu = inputs.cpu(hit_rate);
    let size = size(&inputs, imbalance, cpu);
    let machine = f64::from(inputs.cores.value) / cpu;
    let peak = inputs.rate.value * inputs.burst.value * imbalance;
    let zones = inputs.zones.value;
    let remaining = size.per_zone * (zones.count - zones.lost);
    let scaling = inputs
        .scaling
        .as_ref()
        .map(|it| it.simulate(&scaling::Fleet { rate: inputs.rate.value, machine, ahead: size.machines }));
    let zone_loss = inputs.zone_loss.as_ref().map(|it| {
        it.simulate(&zone_loss::ZonedFleet {
            rate: inputs.rate.value,
            machine,
            machines: size.machines,
            zones: zones.count,
            lost: zones.lost,
        })
    });
    Estimate {
        terms: terms(&inputs, imbalance, balancing.as_ref(), hit_rate, &size),
        cpu,
        machines: size.machines,
        machines_per_zone: size.per_zone,
        price: inputs.price.as_ref().map(|it| it.value * size.machines as f64),
        utilisation: peak / (size.machines as f64 * machine),
        utilisation_without_zones: peak / (remaining as f64 * machine),
        at_most: inputs.at_most.map(|it| at_most(&inputs, imbalance, it, &size)),
        balancing,
        scaling,
        caching,
        zone_loss,
        inputs,
    }
}

/// Whole numbers of the sum.
struct Size {
    /// Cores that are busy at the peak.
    busy: f64,
    /// Machines that have to be up.
    needed: u64,
    per_zone: u64,
    machines: u64,
}

fn size(inputs: &Inputs, imbalance: f64, cpu: f64) -> Size {
    let busy = inputs.rate.value * inputs.burst.value * cpu * imbalance;
    let per_machine = f64::from(inputs.cores.value) * inputs.utilisation.value;
    // A product like 60,000.000000001 is not one machine more.
    let needed = (busy / per_machine - 1e-6).ceil().max(1.0) as u64;
    let zones = inputs.zones.value;
    let per_zone = needed.div_ceil(zones.count - zones.lost);
    Size { busy, needed, per_zone, machines: per_zone * zones.count }
}

/// The computed hit rate. The cache sees the requests of operations that have a `hit`, and no others. A cache per machine sees less the more machines there are, and they are the more the less it
/// hits: the fleet is grown from one machine until it is enough for the rate of its own caches.
fn settle_cache(inputs: &Inputs, imbalance: f64) -> (f64, Option<CachingResult>) {
    let Some(caching) = &inputs.caching else { return (0.0, None) };
    let total = inputs.rate.value * inputs.burst.value * inputs.cached_share();
    if caching.shared {
        let result = caching.result(total, inputs.seed);
        return (result.hit_rate, Some(result));
    }
    let popularity = caching.popularity();
    let mut machines = 1;
    loop {
        let rate = caching.hit_rate(&popularity, total / machines as f64, caching.ttl);
        let next = size(inputs, imbalance, inputs.cpu(rate)).machines;
        if next <= machines {
            let result = caching.result(total / machines as f64, inputs.seed);
            return (result.hit_rate, Some(result));
        }
        machines = next;
    }
}

fn at_most(inputs: &Inputs, imbalance: f64, wanted: u64, size: &Size) -> AtMost {
    let zones = inputs.zones.value;
    // Whole machines per zone of which the remaining zones have to carry the peak.
    let up = (wanted / zones.count * (zones.count - zones.lost)) as f64;
    let cores = up * f64::from(inputs.cores.value) * inputs.utilisation.value;
    let cpu = cores / (inputs.rate.value * inputs.burst.value * imbalance);
    let with = |rate: f64| -> f64 {
        let mut changed = inputs.clone();
        for hit in changed.operations.iter_mut().filter_map(|it| it.hit.as_mut()) {
            hit.rate = HitRate::Given(rate);
        }
        changed.cpu(0.0)
    };
    let missed = with(0.0);
    let hit = with(1.0);
    let rate = (missed - cpu) / (missed - hit);
    AtMost {
        machines: wanted,
        holds: size.machines <= wanted,
        cpu: (cpu > 0.0).then_some(cpu),
        hit_rate: (missed > hit && rate <= 1.0).then_some(rate.max(0.0)),
    }
}

/// The sum while its lines are written.
#[derive(Default)]
struct Lines(Vec<Term>);

impl Lines {
    fn push(&mut self, step: Step, name: &str, value: f64, shown: String, source: impl Into<String>) {
        self.0.push(Term { step, name: name.into(), value, shown, source: source.into() });
    }
}

fn terms(
    inputs: &Inputs,
    imbalance: f64,
    balancing: Option<&BalancingResult>,
    hit_rate: f64,
    size: &Size,
) -> Vec<Term> {
    let mut lines = Lines::default();
    let peak = &inputs.rate;
    let burst = &inputs.burst;
    lines.push(Step::Start, "requests at the peak", peak.value, figures::rate(peak.value), &peak.source);
    lines.push(Step::Times, "burst above the peak", burst.value, decimal(burst.value), &burst.source);
    let cpu = inputs.cpu(hit_rate);
    lines.push(Step::Times, "CPU per request", cpu, cpu_time(cpu), cpu_source(inputs, hit_rate));
    if let (Some(asked), Some(found)) = (&inputs.balancing, balancing) {
        let source = if asked.own_machines {
            let count = asked.weights.len();
            format!("simulated: busiest of {count} balancers over its due share, p99 over time")
        } else {
            format!("all balancers share all machines (else {}, simulated)", decimal(found.p99))
        };
        lines.push(Step::Times, "uneven DNS", imbalance, decimal(imbalance), source);
    }
    lines.push(Step::Equals, "busy cores", size.busy, decimal(size.busy), "");
    machine_terms(inputs, size, &mut lines);
    lines.0
}

/// The lines from busy cores to machines and their price.
fn machine_terms(inputs: &Inputs, size: &Size, lines: &mut Lines) {
    let used = &inputs.utilisation;
    let cores = &inputs.cores;
    lines.push(Step::Divided, "CPU in use at the peak", used.value, percent(used.value), &used.source);
    let count = f64::from(cores.value);
    lines.push(Step::Divided, "cores of a machine", count, thousands(count), &cores.source);
    let needed = size.needed as f64;
    lines.push(Step::Equals, "machines that have to be up", needed, thousands(needed), "rounded up");
    let zones = inputs.zones.value;
    let remaining = zones.count - zones.lost;
    let mut rounding = String::new();
    if zones.count > 1 {
        let source = format!("{}; {} of {} may be lost", inputs.zones.source, zones.lost, zones.count);
        let shown = format!("{} / {remaining}", zones.count);
        let value = zones.count as f64 / remaining as f64;
        lines.push(Step::Times, "zones over remaining zones", value, shown, source);
        rounding = format!("{} per zone, rounded up", thousands(size.per_zone as f64));
    }
    let machines = size.machines as f64;
    lines.push(Step::Equals, "machines", machines, thousands(machines), rounding);
    if let Some(price) = &inputs.price {
        lines.push(
            Step::Times,
            "price per machine and hour",
            price.value,
            decimal(price.value),
            &price.source,
        );
        let total = price.value * machines;
        lines.push(Step::Equals, "price per hour", total, decimal(total), "");
    }
}

/// Source of the CPU cost per request.
fn cpu_source(inputs: &Inputs, hit_rate: f64) -> String {
    match inputs.operations.as_slice() {
        [one] if one.hit.is_none() => one.cpu.source.clone(),
        [one] => format!("{}: misses and hits below", one.name),
        several => {
            let parts: Vec<String> = several
                .iter()
                .map(|it| {
                    format!("{} of {} with {}", percent(it.share), it.name, cpu_time(it.mean_cpu(hit_rate)))
                })
                .collect();
            parts.join(" + ")
        }
    }
}

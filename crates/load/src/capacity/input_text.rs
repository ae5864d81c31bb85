//! The YAML of the inputs, with a place for each mistake.

use super::balancing::Balancing;
use super::cache::Caching;
use super::inputs::{Hit, HitRate, Inputs, OperationCost, Sourced, Zones};
use super::measured::operation;
use super::scaling::Scaling;
use super::units::{Amount, Factor, Fraction, Rate};
use super::zone_loss::ZoneLoss;
use crate::notation::yaml;
use crate::notation::yaml::{Mistake, Pairs, Span};
use serde::Deserialize;
use serde_saphyr::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InputsText {
    #[serde(default)]
    seed: Option<u64>,
    rate: Rate,
    #[serde(default)]
    burst: Option<Factor>,
    #[serde(default)]
    utilisation: Option<Fraction>,
    #[serde(default)]
    machine: Option<MachineText>,
    #[serde(default)]
    zones: Option<Spanned<ZonesText>>,
    #[serde(default)]
    at_most: Option<Amount<1_000_000>>,
    operations: Spanned<Pairs<Spanned<CostText>>>,
    #[serde(default)]
    balancers: Option<Spanned<BalancersText>>,
    #[serde(default)]
    scaling: Option<ScalingText>,
    #[serde(default)]
    cache: Option<CacheText>,
    #[serde(default)]
    zone_loss: Option<ZoneLossText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MachineText {
    #[serde(default)]
    cores: Option<Amount<4_096>>,
    #[serde(default)]
    price: Option<Factor>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ZonesText {
    count: Amount<100>,
    #[serde(default)]
    lost: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CostText {
    #[serde(default)]
    weight: Option<Factor>,
    #[serde(default)]
    cpu: Option<Span>,
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    result: Option<Spanned<String>>,
    #[serde(default)]
    process: Option<String>,
    #[serde(default)]
    hit: Option<HitText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HitText {
    cpu: Span,
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    rate: Option<Fraction>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BalancersText {
    #[serde(default)]
    count: Option<Amount<1_000>>,
    #[serde(default)]
    weights: Vec<Factor>,
    ttl: Span,
    resolvers: Amount<200_000>,
    skew: f64,
    own_machines: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScalingText {
    from: Fraction,
    over: Span,
    period: Span,
    boot: Span,
    #[serde(default)]
    target: Option<Fraction>,
    growth: Fraction,
    #[serde(default = "timeout")]
    timeout: Span,
    #[serde(default = "late")]
    late: Span,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CacheText {
    keys: Amount<1_000_000>,
    skew: f64,
    ttl: Span,
    shared: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ZoneLossText {
    detect: Span,
    ttl: Span,
    #[serde(default = "timeout")]
    timeout: Span,
    #[serde(default = "late")]
    late: Span,
}

fn timeout() -> Span {
    Span(std::time::Duration::from_secs(2))
}

fn late() -> Span {
    Span(std::time::Duration::from_millis(200))
}

/// Reads the inputs of a sum. `file` gives the text of a result of `weir load run` that the inputs name.
/// # Errors
/// The first mistake in the text.
pub fn read(text: &str, file: &dyn Fn(&str) -> Result<String, String>) -> Result<Inputs, Mistake> {
    let text: InputsText = yaml::read(text)?;
    let operations = operations(&text, file)?;
    let mut inputs = Inputs::new(Sourced::from_user(text.rate.0), operations);
    let given = |factor: Option<Factor>, into: &mut Sourced<f64>| {
        if let Some(it) = factor {
            *into = Sourced::from_user(it.0);
        }
    };
    inputs.seed = text.seed.unwrap_or(inputs.seed);
    given(text.burst, &mut inputs.burst);
    given(text.utilisation.map(|it| Factor(it.0)), &mut inputs.utilisation);
    if let Some(machine) = text.machine {
        inputs.price = machine.price.map(|it| Sourced::from_user(it.0));
        if let Some(cores) = machine.cores {
            inputs.cores = Sourced::from_user(cores.0 as u32);
        }
    }
    if let Some(zones) = text.zones {
        if zones.value.lost >= zones.value.count.0 {
            let message = "`lost` has to be below `count`: some zone has to remain";
            return Err(Mistake::at(zones.referenced, message));
        }
        inputs.zones = Sourced::from_user(Zones { count: zones.value.count.0, lost: zones.value.lost });
    }
    inputs.at_most = text.at_most.map(|it| it.0);
    inputs.balancing = text.balancers.map(read_balancing).transpose()?;
    let seconds = |it: Span| it.0.as_secs_f64();
    inputs.scaling = text.scaling.map(|it| Scaling {
        from: it.from.0,
        over: seconds(it.over),
        period: seconds(it.period).max(1.0),
        boot: seconds(it.boot),
        target: it.target.map_or(inputs.utilisation.value, |it| it.0),
        growth: it.growth.0,
        timeout: seconds(it.timeout),
        late: seconds(it.late),
    });
    inputs.caching = text.cache.map(|it| Caching {
        keys: it.keys.0 as usize,
        skew: it.skew,
        ttl: seconds(it.ttl),
        shared: it.shared,
    });
    inputs.zone_loss = text.zone_loss.map(|it| ZoneLoss {
        detect: seconds(it.detect),
        ttl: seconds(it.ttl),
        timeout: seconds(it.timeout),
        late: seconds(it.late),
    });
    Ok(inputs)
}

fn read_balancing(text: Spanned<BalancersText>) -> Result<Balancing, Mistake> {
    let place = text.referenced;
    let text = text.value;
    let weights = match (text.count, text.weights.as_slice()) {
        (Some(count), []) => vec![1.0; count.0 as usize],
        (None, [_, ..]) => text.weights.iter().map(|it| it.0).collect(),
        _ => return Err(Mistake::at(place, "say either `count: 13` or `weights: [2, 1, 1]`")),
    };
    Ok(Balancing {
        weights,
        ttl: text.ttl.0.as_secs_f64(),
        resolvers: text.resolvers.0 as usize,
        skew: text.skew,
        own_machines: text.own_machines,
    })
}

fn operations(
    text: &InputsText,
    file: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Vec<OperationCost>, Mistake> {
    let listed = &text.operations.value.0;
    let total: f64 = listed.iter().map(|it| it.1.value.weight.map_or(1.0, |it| it.0)).sum();
    if listed.is_empty() {
        return Err(Mistake::at(text.operations.referenced, "name at least one operation"));
    }
    let mut operations = Vec::with_capacity(listed.len());
    for (name, it) in listed {
        let here = |message: String| Mistake::at(it.referenced, format!("`{}`: {message}", name.value));
        let known = &it.value;
        let mut read = match (&known.cpu, &known.result) {
            (Some(cpu), None) => OperationCost {
                name: name.value.clone(),
                share: 1.0,
                cpu: cpu_with_source(*cpu, known.source.as_ref()),
                hit: None,
            },
            (None, Some(result)) => {
                let text = file(&result.value).map_err(|it| Mistake::at(result.referenced, it))?;
                let read = operation(&text, &result.value, &name.value, known.process.as_deref());
                read.map_err(|it| Mistake::at(result.referenced, it))?
            }
            _ => return Err(here("say either `cpu: 190us` or `result: run.json`".into())),
        };
        read.share = known.weight.map_or(1.0, |it| it.0) / total;
        if let Some(hit) = &known.hit {
            let rate = match hit.rate {
                Some(rate) => HitRate::Given(rate.0),
                None if text.cache.is_some() => HitRate::Computed,
                None => {
                    return Err(here("its `hit` needs a `rate`, or a section `cache` to compute it".into()));
                }
            };
            read.hit = Some(Hit { cpu: cpu_with_source(hit.cpu, hit.source.as_ref()), rate });
        }
        if read.cpu.value <= 0.0 {
            return Err(here("a request without CPU needs no machine".into()));
        }
        operations.push(read);
    }
    Ok(operations)
}

fn cpu_with_source(cpu: Span, source: Option<&String>) -> Sourced<f64> {
    let value = cpu.0.as_secs_f64();
    source.map_or_else(|| Sourced::from_user(value), |it| Sourced { value, source: it.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing(name: &str) -> Result<String, String> {
        Err(format!("{name} is not there"))
    }

    #[test]
    fn mistakes_have_places() {
        let check = |text: &str, place: &str, part: &str| {
            let mistake = read(text, &nothing).expect_err(text).to_string();
            assert!(mistake.starts_with(place) && mistake.contains(part), "{mistake}");
        };
        check("rate: 1M/s\noperations:\n  a: {cpu: 5}\n", "3:", "is no length of time");
        check("rate: 1M/h\noperations:\n  a: {cpu: 5ms}\n", "1:", "`1M/s`");
        check(
            "rate: 1M/s\nutilization: 60%\noperations:\n  a: {cpu: 5ms}\n",
            "2:",
            "did you mean `utilisation`?",
        );
        check("rate: 1M/s\nutilisation: 160%\noperations:\n  a: {cpu: 5ms}\n", "2:", "between 0 and 100 %");
        check("rate: 1M/s\noperations:\n  a: {cpu: 5ms, result: x.json}\n", "3:", "say either");
        check("rate: 1M/s\noperations:\n  a: {result: x.json}\n", "3:", "x.json is not there");
        check(
            "rate: 1M/s\nzones: {count: 2, lost: 2}\noperations:\n  a: {cpu: 5ms}\n",
            "2:",
            "below `count`",
        );
        check("rate: 1M/s\noperations:\n  a: {cpu: 5ms, hit: {cpu: 1ms}}\n", "3:", "section `cache`");
        check("rate: 1M/s\noperations: {}\n", "2:", "at least one");
        check("operations:\n  a: {cpu: 5ms}\n", "1:", "rate");
    }

    #[test]
    fn weights_become_shares_and_units_seconds() {
        let text = "rate: 28M/min\nburst: 1.5\noperations:\n  a: {cpu: 5ms, weight: 3}\n  b: {cpu: 250us, source: a bench}\n";
        let inputs = read(text, &nothing).expect("inputs");
        assert!((inputs.rate.value - 28e6 / 60.0).abs() < 1e-6);
        assert!((inputs.operations[0].share - 0.75).abs() < 1e-12);
        assert_eq!(inputs.operations[1].cpu.source, "a bench");
        assert!((inputs.cpu(0.0) - (0.75 * 5e-3 + 0.25 * 250e-6)).abs() < 1e-12);
    }
}

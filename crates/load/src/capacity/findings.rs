//! Findings of an estimate, in sentences.

use super::fleet::{Estimate, Step};
use super::inputs::{HitRate, OperationCost};
use super::queue::Course;
use crate::page::figures::{cpu_time, percent, rate, seconds, thousands};

pub(super) fn sign(step: Step) -> char {
    match step {
        Step::Start => ' ',
        Step::Times => '×',
        Step::Divided => '÷',
        Step::Equals => '=',
    }
}

/// The operations of the mix with the sources of their CPU.
pub(super) fn operation_lines(estimate: &Estimate) -> Vec<String> {
    let line = |it: &OperationCost| {
        let mut text = format!(
            "{} of requests: {}, {} ({})",
            percent(it.share),
            it.name,
            cpu_time(it.cpu.value),
            it.cpu.source
        );
        if let Some(hit) = &it.hit {
            let (part, source) = match hit.rate {
                HitRate::Given(part) => (part, "given"),
                HitRate::Computed => {
                    (estimate.caching.as_ref().map_or(0.0, |it| it.hit_rate), "computed from `cache`")
                }
            };
            text.push_str(&format!(
                "; hits, {} ({source}): {} ({})",
                percent(part),
                cpu_time(hit.cpu.value),
                hit.cpu.source
            ));
        }
        text
    };
    estimate.inputs.operations.iter().map(line).collect()
}

/// Findings in sentences, each with its topic.
pub(super) fn findings(estimate: &Estimate) -> Vec<(&'static str, String)> {
    let mut findings = Vec::new();
    if estimate.inputs.zones.value.lost > 0 {
        findings.push((
            "Load",
            format!(
                "{} of the CPU in use at the peak, {} once {} of {} zones are lost.",
                percent(estimate.utilisation),
                percent(estimate.utilisation_without_zones),
                estimate.inputs.zones.value.lost,
                estimate.inputs.zones.value.count
            ),
        ));
    } else {
        findings.push(("Load", format!("{} of the CPU in use at the peak.", percent(estimate.utilisation))));
    }
    findings.extend(at_most(estimate).map(|it| ("Wanted", it)));
    if let (Some(asked), Some(found)) = (&estimate.inputs.balancing, &estimate.balancing) {
        findings.push(("DNS", format!(
            "the busiest of {} balancers carries {} of its due share on average, {} at p99 over time (lifetime {}, {} resolvers).",
            asked.weights.len(),
            percent(found.mean),
            percent(found.p99),
            seconds(asked.ttl),
            thousands(asked.resolvers as f64)
        )));
    }
    findings.extend(scaling_sentence(estimate).map(|it| ("Burst", it)));
    if let (Some(asked), Some(found)) = (&estimate.inputs.caching, &estimate.caching) {
        let simulated = found.simulated.map_or_else(
            || "too many requests to simulate".into(),
            |it| format!("{} by simulation", percent(it)),
        );
        findings.push((
            "Cache",
            format!(
                "{} hits by the closed form, {simulated}: {} keys live {}, a cache sees {}.",
                percent(found.hit_rate),
                thousands(asked.keys as f64),
                seconds(asked.ttl),
                rate(found.rate)
            ),
        ));
    }
    if let (Some(asked), Some(found)) = (&estimate.inputs.zone_loss, &estimate.zone_loss) {
        findings.push((
            "Zone loss",
            format!(
                "{} until health checks ({}) and DNS ({}) have turned clients away.",
                losses(found),
                seconds(asked.detect),
                seconds(asked.ttl)
            ),
        ));
    }
    findings
}

fn at_most(estimate: &Estimate) -> Option<String> {
    let wanted = estimate.at_most.as_ref()?;
    let machines = thousands(wanted.machines as f64);
    let takes = match (wanted.cpu, wanted.hit_rate) {
        (None, _) => "no CPU per request is small enough: there has to be a machine in each zone".to_string(),
        (Some(cpu), None) => format!("it takes at most {} per request", cpu_time(cpu)),
        (Some(cpu), Some(hits)) => {
            format!(
                "it takes at most {} per request, a hit rate of at least {}",
                cpu_time(cpu),
                // Round up, as the printed rate has to be sufficient.
                percent((hits * 1e3).ceil() / 1e3)
            )
        }
    };
    Some(if wanted.holds {
        let spare = wanted.cpu.map_or(0.0, |it| it / estimate.cpu - 1.0);
        format!(
            "at most {machines} machines: holds, with room for {} more CPU per request; {takes}.",
            percent(spare)
        )
    } else {
        format!(
            "at most {machines} machines: missed, {} are needed; {takes}.",
            thousands(estimate.machines as f64)
        )
    })
}

fn scaling_sentence(estimate: &Estimate) -> Option<String> {
    let asked = estimate.inputs.scaling.as_ref()?;
    let found = estimate.scaling.as_ref()?;
    Some(format!(
        "from {} to the peak in {}: a fleet of {} that scales with the load: {}; {} machines that are there before: {}.",
        percent(asked.from),
        seconds(asked.over),
        thousands(found.machines_before as f64),
        losses(&found.following),
        thousands(found.machines_ahead as f64),
        losses(&found.ahead)
    ))
}

/// A course's lost and late requests.
pub(super) fn losses(course: &Course) -> String {
    if course.lost < 0.5 && course.late < 0.5 {
        return "nothing lost, nothing late".into();
    }
    format!(
        "{} requests lost ({}), {} late, over {}",
        thousands(course.lost),
        percent(course.lost / course.requests),
        thousands(course.late),
        seconds(decimal_seconds(course.disturbed))
    )
}

fn decimal_seconds(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

//! Metrics of stages, of fetches by source, and of the spans of traces.
//!
//! **Cost:** none until the page of metrics is read.

use crate::observer::{ServerObserver, SourceFetches};
use crate::trace;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeLabelSet, EncodeMetric, MetricEncoder, NoLabelSet,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;
use std::fmt::Error;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use weir_engine::durations::DurationCounts;

/// Histogram buckets as powers of two in microseconds: stages from 1 µs to a minute, calls from 64 µs to 16 s.
const STAGE_POWERS: &[usize] = &[0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26];
pub(super) const CALL_POWERS: &[usize] = &[6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 24];

/// Writes `counts` as a histogram with buckets up to these powers of two.
pub(super) fn durations<L: EncodeLabelSet>(
    family: &mut MetricEncoder<'_>,
    labels: &L,
    counts: &DurationCounts,
    powers: &[usize],
) -> Result<(), Error> {
    let mut buckets = Vec::with_capacity(powers.len() + 1);
    let mut from = 0;
    for &power in powers {
        let upto = counts.buckets[from..=power].iter().sum();
        buckets.push(((1_u64 << power) as f64 / 1e6, upto));
        from = power + 1;
    }
    buckets.push((f64::INFINITY, counts.buckets[from..].iter().sum()));
    let sum_s = counts.sum_ns as f64 / 1e9;
    family.encode_family(labels)?.encode_histogram::<NoLabelSet>(sum_s, counts.count, &buckets, None)
}

/// The stages of requests.
#[derive(Debug)]
pub(super) struct StageMetrics(pub(super) Arc<ServerObserver>);

impl Collector for StageMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        let help = "Time per stage of a GraphQL request; overhead is all but the sources";
        let unit = Some(&Unit::Seconds);
        let mut family = encoder.encode_descriptor("stage_duration", help, unit, MetricType::Histogram)?;
        for (stage, counts) in self.0.stages.counts() {
            durations(&mut family, &[("stage", stage)], &counts, STAGE_POWERS)?;
        }
        Ok(())
    }
}

/// The fetches of requests, by source.
#[derive(Debug)]
pub(super) struct FetchMetrics(pub(super) Arc<ServerObserver>);

impl Collector for FetchMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        let fetches = self.0.sources.fetches();
        if fetches.is_empty() {
            return Ok(());
        }
        let labels = |it: &SourceFetches| [("source", it.source.to_string())];
        let help = "Time of a fetch from a source";
        let unit = Some(&Unit::Seconds);
        let mut family = encoder.encode_descriptor("fetch_duration", help, unit, MetricType::Histogram)?;
        for of in &fetches {
            durations(&mut family, &labels(of), &of.took, CALL_POWERS)?;
        }
        let help =
            "Fetches without an answer, by the code of the error; abandoned where nobody waited any more";
        let mut family = encoder.encode_descriptor("fetch_failures", help, None, MetricType::Counter)?;
        for of in &fetches {
            for (code, count) in &of.failures {
                let labels = [("source", &*of.source), ("code", *code)];
                ConstCounter::new(*count).encode(family.encode_family(&labels)?)?;
            }
        }
        let help = "Fetches under way";
        let mut family = encoder.encode_descriptor("fetches_in_flight", help, None, MetricType::Gauge)?;
        for of in &fetches {
            ConstGauge::new(of.took.in_flight()).encode(family.encode_family(&labels(of))?)?;
        }
        Ok(())
    }
}

/// The spans of traces.
#[derive(Debug)]
pub(super) struct SpanMetrics;

impl Collector for SpanMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        let help =
            "Spans of traces: taken by the collector, dropped as the queue was full, or failed to reach it";
        let mut family = encoder.encode_descriptor("trace_spans", help, None, MetricType::Counter)?;
        let trace::SpanCounts { exported, dropped, failed } = &trace::COUNTS;
        for (result, count) in [("exported", exported), ("dropped", dropped), ("failed", failed)] {
            let labels = [("result", result)];
            ConstCounter::new(count.load(Ordering::Relaxed)).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::TimePart;
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;
    use std::time::Duration;
    use weir_engine::observer::Observer;

    fn page(observer: &Arc<ServerObserver>) -> String {
        let mut registry = Registry::with_prefix("weir");
        registry.register_collector(Box::new(StageMetrics(Arc::clone(observer))));
        registry.register_collector(Box::new(FetchMetrics(Arc::clone(observer))));
        let mut page = String::new();
        encode(&mut page, &registry).unwrap();
        page
    }

    #[test]
    fn durations_fall_into_powers_of_four() {
        let bounds =
            [(1, "0.000001"), (3, "0.000004"), (4, "0.000004"), (5, "0.000016"), (10_000_000_000, "+Inf")];
        for (us, bound) in bounds {
            let observer = Arc::new(ServerObserver::default());
            observer.stages.note(TimePart::Bind, Duration::from_micros(us));
            let page = page(&observer);
            let is_first =
                |it: &&str| it.contains("_bucket{") && it.contains("stage=\"bind\"") && it.ends_with(" 1");
            let bucket = format!(r#"weir_stage_duration_seconds_bucket{{le="{bound}",stage="bind"}} 1"#);
            assert_eq!(page.lines().find(is_first), Some(bucket.as_str()), "{us}");
        }
    }

    #[test]
    fn fetches_are_told_by_source() {
        let observer = Arc::new(ServerObserver::default());
        let shop = observer.source("shop");
        observer.fetch_begins(shop, None);
        let page = page(&observer);
        for line in [
            r#"weir_fetches_in_flight{source="shop"} 1"#,
            r#"weir_fetch_duration_seconds_bucket{le="+Inf",source="shop"} 0"#,
        ] {
            assert!(page.lines().any(|it| it == line), "{line} is not in\n{page}");
        }
    }
}

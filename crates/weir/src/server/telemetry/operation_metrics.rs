//! Metrics per operation: the most frequent ones, and the rest as one.
//!
//! **Cost:** none until the page of metrics is read.

use crate::observer::ServerObserver;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::registry::Unit;
use std::sync::Arc;
use weir_engine::usage::{CountedOperation, KEPT, OperationCounts, OperationName, OperationTable};

/// Number of operations with metrics of their own.
const TOLD_MAX: usize = 50;
/// Upper bounds of the buckets of durations: powers of four from 64 microseconds to about 17 seconds.
const BUCKETS_US: [u64; 10] =
    [64, 256, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24];

/// Collector that reads the operation table with the page.
#[derive(Debug)]
pub(super) struct OperationMetrics(pub(super) Arc<ServerObserver>);

impl Collector for OperationMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let told = listed_operations(&self.0.operations);
        if told.is_empty() {
            return Ok(());
        }
        let help = "Time of an operation from the request's head to its answer";
        let unit = Some(&Unit::Seconds);
        let mut family =
            encoder.encode_descriptor("operation_duration", help, unit, MetricType::Histogram)?;
        for (labels, counts) in &told {
            let mut below = 0;
            let mut buckets = Vec::with_capacity(BUCKETS_US.len() + 1);
            for bound in BUCKETS_US {
                let upto = counts.durations.count_between(1, bound);
                buckets.push((bound as f64 / 1e6, upto - below));
                below = upto;
            }
            buckets.push((f64::INFINITY, counts.count - below));
            let labels = labels.pairs();
            let mut encoder = family.encode_family(&labels)?;
            let total_s = counts.total_us as f64 / 1e6;
            encoder.encode_histogram::<NoLabelSet>(total_s, counts.count, &buckets, None)?;
        }
        let help = "Executions of an operation whose answer has errors";
        let mut family = encoder.encode_descriptor("operation_errors", help, None, MetricType::Counter)?;
        for (labels, counts) in &told {
            ConstCounter::new(counts.errors).encode(family.encode_family(&labels.pairs())?)?;
        }
        let help = "Time for which executions of an operation held a thread of Weir: CPU time";
        let mut family =
            encoder.encode_descriptor("operation_cpu", help, Some(&Unit::Seconds), MetricType::Counter)?;
        for (labels, counts) in &told {
            let busy_s = counts.busy_us as f64 / 1e6;
            ConstCounter::new(busy_s).encode(family.encode_family(&labels.pairs())?)?;
        }
        let help = "Fetches from sources that executions of an operation made";
        let mut family = encoder.encode_descriptor("operation_fetches", help, None, MetricType::Counter)?;
        for (labels, counts) in &told {
            ConstCounter::new(counts.fetches).encode(family.encode_family(&labels.pairs())?)?;
        }
        let help = "Answers of an operation with a lifetime: kept whole, made for an equal request in flight, or made";
        let mut family = encoder.encode_descriptor("operation_answers", help, None, MetricType::Counter)?;
        for (labels, counts) in &told {
            for (kept, result) in KEPT {
                let [name, hash] = labels.pairs();
                let labels = [name, hash, ("result", result)];
                ConstCounter::new(counts.kept[kept as usize]).encode(family.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}

/// Labels of one operation; the rest has the hash `other`.
struct OperationLabels(Option<OperationName>);

impl OperationLabels {
    fn pairs(&self) -> [(&str, &str); 2] {
        let (name, hash) = self.0.as_ref().map_or(("", "other"), |it| (&*it.name, &*it.hash));
        [("operation", name), ("hash", hash)]
    }
}

/// The most frequent operations, and the sum of all others.
fn listed_operations(table: &OperationTable) -> Vec<(OperationLabels, OperationCounts)> {
    let usage = table.usage();
    let mut rest = usage.rest;
    let mut told = Vec::new();
    for (at, CountedOperation { operation, counts, .. }) in usage.operations.into_iter().enumerate() {
        if at < TOLD_MAX {
            told.push((OperationLabels(Some(operation)), counts));
        } else {
            rest.add(&counts);
        }
    }
    if rest.count > 0 {
        told.push((OperationLabels(None), rest));
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;
    use std::collections::BTreeSet;
    use std::time::Duration;
    use weir_engine::engine::{Execution, Kept, Timing};
    use weir_engine::observer::ObservedOperation;
    use weir_language::ast::OperationKind;

    #[test]
    fn the_page_tells_the_operations_that_are_asked_most_and_the_rest() {
        let observer = Arc::new(ServerObserver::default());
        let table = &observer.operations;
        for at in 0..=TOLD_MAX {
            let text = format!("query Q{at} {{a}}");
            let coordinates = BTreeSet::new();
            let name = format!("Q{at}");
            let name = Some(name.as_str());
            let kind = OperationKind::Query;
            let operation =
                Some(table.number(&ObservedOperation { text: &text, name, kind, coordinates: &coordinates }));
            let busy = Duration::from_micros(500);
            let fetches = 3;
            let timing = Timing { busy, fetches, ..Timing::default() };
            let execution = Execution {
                operation,
                timing,
                kept: Some(Kept::Hit),
                has_errors: at == 7,
                ..Execution::default()
            };
            for _ in 0..=at {
                table.note(&execution, Duration::from_micros(100 * at as u64));
            }
        }
        let mut registry = Registry::with_prefix("weir");
        registry.register_collector(Box::new(OperationMetrics(Arc::clone(&observer))));
        let mut page = String::new();
        encode(&mut page, &registry).unwrap();
        for line in [
            r#"weir_operation_duration_seconds_bucket{le="0.000064",operation="",hash="other"} 1"#,
            r#"weir_operation_duration_seconds_count{operation="Q7",hash="9bc0246c80c4c80e"} 8"#,
            r#"weir_operation_duration_seconds_bucket{le="+Inf",operation="",hash="other"} 1"#,
            r#"weir_operation_errors_total{operation="Q7",hash="9bc0246c80c4c80e"} 8"#,
            r#"weir_operation_answers_total{operation="",hash="other",result="hit"} 1"#,
            r#"weir_operation_cpu_seconds_total{operation="Q7",hash="9bc0246c80c4c80e"} 0.004"#,
            r#"weir_operation_fetches_total{operation="Q7",hash="9bc0246c80c4c80e"} 24"#,
        ] {
            assert!(page.lines().any(|it| it == line), "{line} is not in\n{page}");
        }
        assert!(!page.contains("\"Q0\""), "{page}");
    }
}

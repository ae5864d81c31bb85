//! Metrics of the costs of operations.
//!
//! **Cost:** none until the page of metrics is read.

use crate::observer::{CostCounts, ServerObserver};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Collector that reads the counts with the page.
#[derive(Debug)]
pub(super) struct CostMetrics(pub(super) Arc<ServerObserver>);

impl Collector for CostMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let CostCounts { operations, over_limit, estimated, estimated_of_measured, actual } = &self.0.costs;
        let count = |it: &AtomicU64| it.load(Ordering::Relaxed);
        if count(operations) == 0 {
            return Ok(());
        }
        for (name, help, counter) in [
            ("cost_operations", "Operations whose cost was estimated", operations),
            ("cost_over_limit", "Operations that cost more than their caller may spend", over_limit),
            ("cost_estimated", "Sum of estimated costs", estimated),
            (
                "cost_estimated_of_measured",
                "Sum of estimated costs of operations whose answer was measured",
                estimated_of_measured,
            ),
            ("cost_actual", "Sum of costs by the answer", actual),
        ] {
            let family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            ConstCounter::new(count(counter)).encode(family)?;
        }
        Ok(())
    }
}

//! Metrics of the mirror.
//!
//! **Cost:** none until the page of metrics is read. Without a mirrored request there are no lines.

use crate::generation::mirror::outcome_counts;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;

/// Collector that reads the counts with the page.
#[derive(Debug)]
pub(super) struct MirrorMetrics;

impl Collector for MirrorMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let counts = outcome_counts();
        if counts.iter().all(|it| it.1 == 0) {
            return Ok(());
        }
        let help = "Queries that chance chose for the mirror, by what came of them";
        let mut family = encoder.encode_descriptor("mirror_requests", help, None, MetricType::Counter)?;
        for (outcome, count) in counts {
            ConstCounter::new(count).encode(family.encode_family(&[("outcome", outcome)])?)?;
        }
        Ok(())
    }
}

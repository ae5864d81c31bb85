//! Metrics of the cache of services.
//!
//! **Cost:** none until the page of metrics is read.

use crate::sources::services;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;
use weir_http::cache::{Counts, OUTCOMES, RemoteCounts, SourceCounts};

/// Reads the counts of the process's cache.
#[derive(Debug)]
pub(super) struct Cached;

impl Collector for Cached {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        services::counts().map_or(Ok(()), |counts| Page(encoder).all(&counts))
    }
}

struct Page<'e>(DescriptorEncoder<'e>);

/// Name, help, and value per source.
type Family = (&'static str, &'static str, fn(&SourceCounts) -> u64);

const FAMILIES: [Family; 5] = [
    ("cache_negative", "Answers from the cache that say that there is no such thing", |it| it.negative),
    ("cache_failures", "Questions to services that got no answer", |it| it.failed),
    ("cache_early_refreshes", "Refreshes that began while the answer was fresh", |it| it.early),
    ("cache_revalidations", "Answers that a service confirmed by 304 and did not send again", |it| {
        it.revalidated
    }),
    ("cache_refreshes", "Answers that replaced one that was still there", |it| it.refreshed),
];

/// Name, help, and value of the second level.
type Plain = (&'static str, &'static str, fn(&RemoteCounts) -> u64);

const REMOTE: [Plain; 8] = [
    ("cache_redis_looked", "Answers that were looked for in Redis", |it| it.looked),
    ("cache_redis_found", "Of these, those that were there", |it| it.found),
    ("cache_redis_corrupt", "Values in Redis that were no answers", |it| it.corrupt),
    ("cache_redis_late", "Looks into Redis that were given up", |it| it.late),
    ("cache_redis_failed", "Commands that Redis refused or whose connection broke", |it| it.failed),
    ("cache_redis_written", "Answers written to Redis", |it| it.written),
    ("cache_redis_dropped", "Answers not written: too many waited, or too long", |it| it.dropped),
    ("cache_redis_leased", "Calls that were left to another process", |it| it.leased),
];

impl Page<'_> {
    fn all(mut self, counts: &Counts) -> Result<(), std::fmt::Error> {
        // A connector has metrics only after it was called, because a file may have thousands.
        let is_told = |it: &&SourceCounts| it.connector.is_empty() || it.outcomes.iter().any(|it| *it > 0);
        let told: Vec<&SourceCounts> = counts.sources.iter().filter(is_told).collect();
        let mut answers = self.counter("cache_answers", "Answers of services, by how they were come by")?;
        for source in &told {
            for outcome in OUTCOMES {
                let labels = [
                    ("source", &*source.source),
                    ("connector", &*source.connector),
                    ("outcome", outcome.name()),
                ];
                ConstCounter::new(source.of(outcome)).encode(answers.encode_family(&labels)?)?;
            }
        }
        for (name, help, count) in FAMILIES {
            let mut family = self.counter(name, help)?;
            for source in &told {
                let labels = [("source", &*source.source), ("connector", &*source.connector)];
                ConstCounter::new(count(source)).encode(family.encode_family(&labels)?)?;
            }
        }
        let help = "Time for which these had been stale by then, added up";
        let unit = Some(&Unit::Seconds);
        let mut family = self.0.encode_descriptor("cache_refresh_lag", help, unit, MetricType::Counter)?;
        for source in &told {
            let labels = [("source", &*source.source), ("connector", &*source.connector)];
            let lag_s = source.lag_ms as f64 / 1e3;
            ConstCounter::new(lag_s).encode(family.encode_family(&labels)?)?;
        }
        self.gauge("cache_entries", "Answers of services that are kept", counts.entries as u64)?;
        self.gauge("cache_bytes", "Bytes that they take", counts.bytes)?;
        let Some(remote) = &counts.remote else { return Ok(()) };
        self.gauge("cache_redis_connected", "Whether there is a connection", u64::from(remote.connected))?;
        for (name, help, count) in REMOTE {
            ConstCounter::new(count(remote)).encode(self.counter(name, help)?)?;
        }
        Ok(())
    }

    fn counter<'s>(&'s mut self, name: &'s str, help: &str) -> Result<MetricEncoder<'s>, std::fmt::Error> {
        self.0.encode_descriptor(name, help, None, MetricType::Counter)
    }

    fn gauge(&mut self, name: &str, help: &str, value: u64) -> Result<(), std::fmt::Error> {
        let gauge = ConstGauge::new(value);
        gauge.encode(self.0.encode_descriptor(name, help, None, gauge.metric_type())?)
    }
}

#[cfg(test)]
mod tests {
    use crate::config;
    use crate::server::telemetry::metrics::Metrics;
    use crate::sources::services;

    #[test]
    fn what_the_cache_counts_is_on_the_page() {
        let wanted =
            config::Cache { redis: Some(config::Secret::new("redis://127.0.0.1:1")), ..Default::default() };
        let cache = services::keep(&wanted).unwrap();
        assert_eq!(&*cache.counters("matches", "").counts().source, "matches");
        let page = Metrics::new().page(
            [],
            weir_engine::live::LiveState::default(),
            crate::generation::admission::AdmissionCounts::default(),
        );
        for line in [
            r#"weir_cache_answers_total{source="matches",connector="",outcome="hit_remote"} 0"#,
            r#"weir_cache_refreshes_total{source="matches",connector=""} 0"#,
            r#"weir_cache_refresh_lag_seconds_total{source="matches",connector=""} 0.0"#,
            "weir_cache_entries 0",
            "weir_cache_redis_connected 0",
            "weir_cache_redis_found_total 0",
        ] {
            assert!(page.lines().any(|it| it == line), "{line} is not in\n{page}");
        }
        assert!(
            std::sync::Arc::ptr_eq(&cache, &services::keep(&wanted).unwrap()),
            "a reload keeps what is known"
        );
    }
}

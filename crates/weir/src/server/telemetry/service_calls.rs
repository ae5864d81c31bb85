//! Metrics of the services behind sources: calls, retries, hedges, breakers.
//!
//! **Cost:** none until the page of metrics is read. Callers that never called have no lines.

use super::fetch_metrics::{CALL_POWERS, durations};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;
use std::fmt::Error;
use std::sync::Arc;
use weir_engine::source::{CallerCalls, ServiceCalls, Source};

/// Calls of services, read with the page, with the name of their source.
#[derive(Debug)]
pub(super) struct ServiceMetrics(Vec<(String, ServiceCalls)>);

impl ServiceMetrics {
    /// Collects the calls from `sources`.
    pub(super) fn of<'s>(sources: impl IntoIterator<Item = &'s Arc<dyn Source>>) -> Self {
        let named = |it: &'s Arc<dyn Source>| {
            let calls = it.calls().into_iter();
            calls.map(move |calls| (it.name().to_owned(), calls))
        };
        Self(sources.into_iter().flat_map(named).collect())
    }

    /// Callers with at least one call, with labels.
    fn callers(&self) -> impl Iterator<Item = ([(&str, &str); 3], &CallerCalls)> {
        self.0.iter().flat_map(|(source, of)| {
            let called = of.callers.iter().filter(|it| it.took.begun > 0);
            called.map(move |it| {
                ([("source", &**source), ("service", &*of.service), ("connector", &*it.caller)], it)
            })
        })
    }
}

/// Name, help, and value per caller.
type CallFamily = (&'static str, &'static str, fn(&CallerCalls) -> u64);

const FAMILIES: [CallFamily; 2] = [
    ("service_retries", "Attempts to call a service after a failed one", |it| it.retries),
    ("service_hedges", "Second attempts beside one that took longer than usual", |it| it.hedges),
];

/// Name, help, and value per service.
type ServiceGauge = (&'static str, &'static str, fn(&ServiceCalls) -> Option<u64>);

const STATES: [ServiceGauge; 3] = [
    ("service_attempts_in_flight", "Attempts to call a service that are under way", |it| Some(it.in_flight)),
    ("service_calls_waiting", "Calls that wait, as many as may be are under way", |it| Some(it.waiting)),
    ("service_breaker_open", "1 while a service is left alone as too many calls failed", |it| {
        it.is_broken.map(u64::from)
    }),
];

impl Collector for ServiceMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        for (name, help, state) in STATES {
            let told: Vec<_> = self.0.iter().filter_map(|it| Some((it, state(&it.1)?))).collect();
            if told.is_empty() {
                continue;
            }
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for ((source, of), value) in told {
                let labels = [("source", &**source), ("service", &*of.service)];
                ConstGauge::new(value).encode(family.encode_family(&labels)?)?;
            }
        }
        if self.callers().next().is_none() {
            return Ok(());
        }
        let help = "Time of a call to a service, its retries included";
        let unit = Some(&Unit::Seconds);
        let mut family =
            encoder.encode_descriptor("service_call_duration", help, unit, MetricType::Histogram)?;
        for (labels, of) in self.callers() {
            durations(&mut family, &labels, &of.took, CALL_POWERS)?;
        }
        let help =
            "Calls to a service by outcome: class of the status, or code of the error without an answer";
        let mut family = encoder.encode_descriptor("service_calls", help, None, MetricType::Counter)?;
        for ([source, service, connector], of) in self.callers() {
            for (outcome, count) in &of.outcomes {
                let labels = [source, service, connector, ("outcome", outcome)];
                ConstCounter::new(*count).encode(family.encode_family(&labels)?)?;
            }
        }
        for (name, help, count) in FAMILIES {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for (labels, of) in self.callers() {
                ConstCounter::new(count(of)).encode(family.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;
    use weir_engine::durations::DurationCounts;

    #[test]
    fn the_page_tells_calls_by_connector_and_states_by_service() {
        let took = DurationCounts { begun: 3, count: 3, ..DurationCounts::default() };
        let caller = CallerCalls {
            caller: "Query.match".into(),
            outcomes: vec![("2xx", 2), ("SOURCE_TIMEOUT", 1)],
            retries: 1,
            hedges: 0,
            took,
        };
        let idle =
            CallerCalls { caller: "Query.idle".into(), took: DurationCounts::default(), ..caller.clone() };
        let callers = vec![caller, idle];
        let service = "matches".into();
        let calls = ServiceCalls { service, in_flight: 2, waiting: 0, is_broken: Some(true), callers };
        let mut registry = Registry::with_prefix("weir");
        registry.register_collector(Box::new(ServiceMetrics(vec![("sport".into(), calls)])));
        let mut page = String::new();
        encode(&mut page, &registry).unwrap();
        let of = r#"source="sport",service="matches""#;
        for line in [
            format!(r#"weir_service_calls_total{{{of},connector="Query.match",outcome="SOURCE_TIMEOUT"}} 1"#),
            format!(r#"weir_service_retries_total{{{of},connector="Query.match"}} 1"#),
            format!(r#"weir_service_call_duration_seconds_count{{{of},connector="Query.match"}} 3"#),
            format!("weir_service_attempts_in_flight{{{of}}} 2"),
            format!("weir_service_breaker_open{{{of}}} 1"),
        ] {
            assert!(page.lines().any(|it| it == line), "{line} is not in\n{page}");
        }
        assert!(!page.contains("Query.idle"), "{page}");
    }
}

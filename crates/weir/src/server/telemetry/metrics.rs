//! Counters and durations in OpenMetrics text format.
//!
//! **Cost:** a request adds to a few atomics and, for its operation, to a histogram behind a lock; names and labels are only looked at when
//! somebody reads the page.

use super::cost_metrics::CostMetrics;
use super::fetch_metrics::{FetchMetrics, SpanMetrics, StageMetrics};
use super::mirror_metrics::MirrorMetrics;
use super::operation_metrics::OperationMetrics;
use super::server_metrics::DatabaseServers;
use super::service_cache::Cached;
use super::service_calls::ServiceMetrics;
use crate::generation::admission::AdmissionCounts;
use crate::observer::{TimePart, observer};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::{encode, encode_registry};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::Registry;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;
use weir_engine::engine::{Execution, Kept};
use weir_engine::live::LiveState;
use weir_engine::source::Source;
use weir_engine::usage::KEPT;
use weir_transport::socket::Dialect;

/// Outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The operation was executed; field errors are possible.
    Executed,
    /// The parser, validator, planner or coercion refused it.
    Refused,
    /// The HTTP layer refused it.
    Rejected,
    /// The caller is not allowed.
    Denied,
    /// A bug in Weir.
    Failed,
}

/// Result of looking up the document of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// A file or collection has it.
    Stored,
    /// A client stored it before, in this process.
    Automatic,
    /// A client stored it before, in Redis.
    Shared,
    /// A client stores it now.
    Registered,
    /// The identifier is unknown.
    Unknown,
    /// The text beside the identifier is another one.
    OtherText,
    /// A text that `require_id` refuses, or would refuse.
    Text,
}

/// Endpoint of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// `/graphql`.
    Graphql,
    /// `/v1/graphql`.
    Hasura,
    /// `/mcp`.
    Mcp,
    /// Any other endpoint.
    Other,
}

impl Endpoint {
    /// The dialect that its WebSockets speak.
    pub(crate) const fn dialect(self) -> Dialect {
        match self {
            Self::Hasura => Dialect::Hasura,
            Self::Graphql | Self::Mcp | Self::Other => Dialect::Standard,
        }
    }

    /// Endpoint of sockets with this dialect.
    pub(crate) const fn of_socket(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Hasura => Self::Hasura,
            Dialect::Standard => Self::Graphql,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    door: &'static str,
    verdict: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LimitLabels {
    limit: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RateLabels {
    rate: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PlanLabels {
    result: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KeptLabels {
    result: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LookupLabels {
    result: &'static str,
}

/// All counters of the process.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Vec<Counter>,
    plan_hits: Counter,
    plan_misses: Counter,
    kept: Vec<Counter>,
    lookups: Vec<Counter>,
    limits: Family<LimitLabels, Counter>,
    rates: Family<RateLabels, Counter>,
    /// Open connections.
    pub(crate) connections: Gauge<i64, AtomicI64>,
    /// Connections closed to make room.
    pub(crate) evicted: Counter,
    /// Requests refused because a source had no capacity left.
    pub(crate) pool_timeouts: Counter,
    /// Requests with ignored session headers.
    pub(crate) ignored_session_headers: Counter,
    /// Caught panics.
    pub(crate) panics: Counter,
    /// Successful and failed reloads.
    pub(crate) reloads: Counter,
    pub(crate) reload_failures: Counter,
    /// Log lines dropped because the sink was blocked.
    pub(crate) log_drops: Counter,
}

/// Labels of [`Lookup`], in order.
const LOOKUPS: [&str; 7] = ["stored", "automatic", "shared", "registered", "unknown", "other_text", "text"];
/// Labels of [`Endpoint`] and [`Verdict`], in order.
const DOORS: [&str; 4] = ["graphql", "v1_graphql", "mcp", "other"];
const VERDICTS: [&str; 5] = ["executed", "refused", "rejected", "denied", "failed"];

impl Metrics {
    /// Creates all counters at zero.
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("weir");
        let requests = Family::<RequestLabels, Counter>::default();
        registry.register("requests", "Requests by endpoint and outcome", requests.clone());
        registry.register_collector(Box::new(Cached));
        registry.register_collector(Box::new(OperationMetrics(Arc::clone(observer()))));
        registry.register_collector(Box::new(CostMetrics(Arc::clone(observer()))));
        registry.register_collector(Box::new(StageMetrics(Arc::clone(observer()))));
        registry.register_collector(Box::new(FetchMetrics(Arc::clone(observer()))));
        registry.register_collector(Box::new(SpanMetrics));
        registry.register_collector(Box::new(MirrorMetrics));
        let plans = Family::<PlanLabels, Counter>::default();
        registry.register("plan_cache", "Plans that were found and that had to be made", plans.clone());
        let kept = Family::<KeptLabels, Counter>::default();
        let help = "Answers with a lifetime: kept whole, made for an equal request in flight, or made";
        registry.register("cache_responses", help, kept.clone());
        let lookups = Family::<LookupLabels, Counter>::default();
        let help = "Requests that name their document by an identifier, and texts where none should come, by what was found";
        registry.register("document_lookups", help, lookups.clone());
        let limits = Family::<LimitLabels, Counter>::default();
        registry.register("limit_refusals", "Requests refused by a limit", limits.clone());
        let rates = Family::<RateLabels, Counter>::default();
        registry.register("rate_refusals", "Operations refused by a rate", rates.clone());
        let made = Self {
            requests: DOORS
                .iter()
                .flat_map(|door| VERDICTS.iter().map(|verdict| RequestLabels { door, verdict }))
                .map(|labels| requests.get_or_create_owned(&labels))
                .collect(),
            plan_hits: plans.get_or_create_owned(&PlanLabels { result: "hit" }),
            plan_misses: plans.get_or_create_owned(&PlanLabels { result: "miss" }),
            kept: KEPT.iter().map(|it| kept.get_or_create_owned(&KeptLabels { result: it.1 })).collect(),
            lookups: LOOKUPS
                .iter()
                .map(|result| lookups.get_or_create_owned(&LookupLabels { result }))
                .collect(),
            limits,
            rates,
            connections: Gauge::default(),
            evicted: Counter::default(),
            pool_timeouts: Counter::default(),
            ignored_session_headers: Counter::default(),
            panics: Counter::default(),
            reloads: Counter::default(),
            reload_failures: Counter::default(),
            log_drops: Counter::default(),
            registry,
        };
        made.register_plain()
    }

    fn register_plain(mut self) -> Self {
        let registry = &mut self.registry;
        registry.register("connections", "Open connections", self.connections.clone());
        registry.register(
            "connections_evicted",
            "Idle connections closed to make room",
            self.evicted.clone(),
        );
        registry.register(
            "pool_timeouts",
            "Requests for which a source had no capacity left",
            self.pool_timeouts.clone(),
        );
        registry.register(
            "ignored_session_headers",
            "Requests of callers without an admin secret whose session headers did not count",
            self.ignored_session_headers.clone(),
        );
        registry.register("panics", "Panics that were caught", self.panics.clone());
        registry.register("reloads", "Configurations that were taken over", self.reloads.clone());
        registry.register(
            "reload_failures",
            "Configurations that were refused",
            self.reload_failures.clone(),
        );
        registry.register("log_lines_dropped", "Log lines lost to a blocked sink", self.log_drops.clone());
        self
    }

    /// Counts a request.
    pub(crate) fn request(&self, door: Endpoint, verdict: Verdict) {
        self.requests[door as usize * VERDICTS.len() + verdict as usize].inc();
    }

    /// Counts an answer with a lifetime by its cache state.
    pub(crate) fn count_cached(&self, kept: Kept) {
        self.kept[kept as usize].inc();
    }

    /// Counts a request by how its document was found.
    pub(crate) fn count_lookup(&self, lookup: Lookup) {
        self.lookups[lookup as usize].inc();
    }

    /// Records a request that took `total`, by stages and operation.
    pub(crate) fn execution(&self, execution: &Execution, total: Duration) {
        let observer = observer();
        let timing = &execution.timing;
        observer.operations.note(execution, total);
        if timing.plan_hit {
            self.plan_hits.inc();
        } else {
            self.plan_misses.inc();
        }
        observer.stages.note(TimePart::Overhead, total.saturating_sub(timing.execute));
        observer.stages.note(TimePart::Total, total);
    }

    /// Counts a refusal by the limit with this code.
    pub(crate) fn limit(&self, code: &str) {
        self.limits.get_or_create(&LimitLabels { limit: code.to_string() }).inc();
    }

    /// Counts an operation that the rate with this name refuses.
    pub(crate) fn count_rate_refusal(&self, rate: &str) {
        self.rates.get_or_create(&RateLabels { rate: rate.to_owned() }).inc();
    }

    /// Counts the limits in a refusal's body.
    pub(crate) fn limits_in(&self, refusal: &[u8]) {
        let text = std::str::from_utf8(refusal).unwrap_or_default();
        for (place, _) in text.match_indices("\"LIMIT_").take(50) {
            let code = &text[place + 1..];
            self.limit(&code[..code.find('"').unwrap_or(0).min(40)]);
        }
    }

    /// Renders the page, including metrics of `sources`, live queries and rates.
    pub(crate) fn page<'s>(
        &self,
        sources: impl IntoIterator<Item = &'s Arc<dyn Source>>,
        live: LiveState,
        admission: AdmissionCounts,
    ) -> String {
        let mut text = String::with_capacity(8 * 1024);
        let mut of_sources = Registry::with_prefix("weir");
        let sources: Vec<_> = sources.into_iter().collect();
        of_sources.register_collector(Box::new(DatabaseServers::of(sources.iter().copied())));
        of_sources.register_collector(Box::new(ServiceMetrics::of(sources)));
        register_live(&mut of_sources, live);
        register_rates(&mut of_sources, admission);
        // `encode_registry` into a string cannot fail.
        let _ = encode_registry(&mut text, &of_sources);
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// Registers the metrics of live queries.
fn register_live(registry: &mut Registry, live: LiveState) {
    let gauge = |value: usize| ConstGauge::new(value as i64);
    let help = "Subscriptions that run";
    registry.register("subscriptions", help, gauge(live.subscriptions));
    let help = "Operations that are read for them: equal subscriptions share one";
    registry.register("live_operations", help, gauge(live.operations));
    let help = "Reads for subscriptions since the configuration was taken over";
    registry.register("live_reads", help, ConstCounter::new(live.reads));
    let help = "Results that differed from the one before";
    registry.register("live_results", help, ConstCounter::new(live.results));
}

/// Registers the metrics of rates.
fn register_rates(registry: &mut Registry, admission: AdmissionCounts) {
    let help = "Callers that rates count apart";
    registry.register("rate_keys", help, ConstGauge::new(admission.keys as i64));
    let help = "Operations of callers that share what is left of a rate, because there are too many";
    registry.register("rate_crowded", help, ConstCounter::new(admission.crowded));
    let help = "Decisions of rates that processes share, without an answer of Redis";
    registry.register("rate_local", help, ConstCounter::new(admission.local));
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_engine::engine::Timing;

    fn check(act: impl FnOnce(&Metrics), line: &str) {
        let metrics = Metrics::new();
        act(&metrics);
        let page = metrics.page([], LiveState::default(), AdmissionCounts::default());
        assert!(page.lines().any(|it| it == line), "{line} is not in\n{page}");
    }

    #[test]
    fn requests_are_counted_by_door_and_verdict() {
        check(
            |it| it.request(Endpoint::Graphql, Verdict::Executed),
            r#"weir_requests_total{door="graphql",verdict="executed"} 1"#,
        );
        check(
            |it| it.request(Endpoint::Hasura, Verdict::Failed),
            r#"weir_requests_total{door="v1_graphql",verdict="failed"} 1"#,
        );
    }

    #[test]
    fn answers_with_a_lifetime_are_counted_by_where_they_came_from() {
        check(|it| it.count_cached(Kept::Joined), r#"weir_cache_responses_total{result="joined"} 1"#);
    }

    #[test]
    fn documents_are_counted_by_how_they_were_found() {
        check(|it| it.count_lookup(Lookup::Stored), r#"weir_document_lookups_total{result="stored"} 1"#);
        check(|it| it.count_lookup(Lookup::Text), r#"weir_document_lookups_total{result="text"} 1"#);
    }

    #[test]
    fn plan_hits_and_limits_are_counted() {
        let timing = Timing { plan_hit: true, ..Timing::default() };
        let hit = Execution { timing, ..Execution::default() };
        check(|it| it.execution(&hit, Duration::ZERO), r#"weir_plan_cache_total{result="hit"} 1"#);
        let body = br#"{"errors":[{"message":"x","extensions":{"code":"LIMIT_DEPTH"}}]}"#;
        check(|it| it.limits_in(body), r#"weir_limit_refusals_total{limit="LIMIT_DEPTH"} 1"#);
    }
}

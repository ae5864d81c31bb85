//! The listener to all engines of the process: counts by operation, stage and source; spans of what is traced.
//!
//! **Invariant:** no value of a request comes here.
//!
//! **Cost:** per stage and fetch a few additions to words of the thread; spans only for requests that are traced.

use crate::trace::{self, Kind, SpanHead, SpanWriter};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use weir_engine::demand::OperationCost;
use weir_engine::durations::{DurationCounts, Durations};
use weir_engine::observer::{
    DatabaseAddress, FetchOutcome, ObservedCall, ObservedFetch, ObservedOperation, ObservedStage, Observer,
    Stage,
};
use weir_engine::span::SpanContext;
use weir_engine::usage::OperationTable;

/// Maximum number of sources counted separately; further ones share [`OTHER`].
const SOURCES_MAX: usize = 256;
/// Name for all further sources.
const OTHER: &str = "other";
/// Code of a failure without an error code: the fetch was dropped.
const ABANDONED: &str = "abandoned";
/// Maximum size of a fetch's statements in a span, in bytes.
const CALLS_BYTES_MAX: usize = 8 * 1024;

/// The observer of the process.
pub(crate) fn observer() -> &'static Arc<ServerObserver> {
    static OBSERVER: LazyLock<Arc<ServerObserver>> = LazyLock::new(Arc::default);
    &OBSERVER
}

/// Counts executions, stages and fetches of all engines, and records spans.
#[derive(Debug, Default)]
pub(crate) struct ServerObserver {
    pub(crate) operations: OperationTable,
    pub(crate) stages: StageDurations,
    pub(crate) sources: SourceTable,
    pub(crate) costs: CostCounts,
}

/// Costs of operations.
#[derive(Debug, Default)]
pub(crate) struct CostCounts {
    /// Operations whose cost was estimated.
    pub(crate) operations: AtomicU64,
    /// Operations beyond their limit: refused, or run where limits are measured.
    pub(crate) over_limit: AtomicU64,
    /// Sum of estimates.
    pub(crate) estimated: AtomicU64,
    /// Sum of estimates of those whose answer was measured.
    pub(crate) estimated_of_measured: AtomicU64,
    /// Sum of costs by the answer.
    pub(crate) actual: AtomicU64,
}

impl CostCounts {
    fn note(&self, cost: &OperationCost) {
        self.operations.fetch_add(1, Ordering::Relaxed);
        self.over_limit.fetch_add(cost.is_over().into(), Ordering::Relaxed);
        // A sum may wrap after years, as any counter; readers take that for a restart.
        self.estimated.fetch_add(cost.estimated, Ordering::Relaxed);
        if let Some(actual) = cost.actual {
            self.estimated_of_measured.fetch_add(cost.estimated, Ordering::Relaxed);
            self.actual.fetch_add(actual, Ordering::Relaxed);
        }
    }
}

/// Parts of a request's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimePart {
    Parse,
    Validate,
    Plan,
    Bind,
    Execute,
    /// All time except waiting for sources and writing: the cost of Weir itself.
    Overhead,
    Total,
}

/// The names of [`TimePart`], in their order.
pub(crate) const TIME_PARTS: [&str; 7] =
    ["parse", "validate", "plan", "bind", "execute", "overhead", "total"];

impl From<Stage> for TimePart {
    fn from(stage: Stage) -> Self {
        match stage {
            Stage::Parse => Self::Parse,
            Stage::Validate => Self::Validate,
            Stage::Plan => Self::Plan,
            Stage::Bind => Self::Bind,
            Stage::Execute => Self::Execute,
        }
    }
}

/// Durations by part.
#[derive(Debug)]
pub(crate) struct StageDurations([Durations; TIME_PARTS.len()]);

impl Default for StageDurations {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Durations::busy()))
    }
}

impl StageDurations {
    /// Records one duration.
    pub(crate) fn note(&self, part: TimePart, took: Duration) {
        self.0[part as usize].record(took);
    }

    /// The counts by name.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&'static str, DurationCounts)> {
        TIME_PARTS.into_iter().zip(self.0.iter().map(Durations::counts))
    }
}

/// Fetches by source.
#[derive(Debug)]
pub(crate) struct SourceTable {
    sources: Mutex<Vec<Arc<NamedSource>>>,
    places: Box<[OnceLock<FetchCounts>]>,
}

/// A source with its database.
#[derive(Clone, Debug)]
struct NamedSource {
    name: Box<str>,
    database: Option<DatabaseAddress>,
}

/// Fetches from one source.
#[derive(Debug)]
struct FetchCounts {
    took: Durations,
    failures: Mutex<BTreeMap<&'static str, u64>>,
}

/// Counts of fetches from one source, for metrics.
#[derive(Clone, Debug)]
pub(crate) struct SourceFetches {
    pub(crate) source: Box<str>,
    pub(crate) took: DurationCounts,
    /// Failures by error code.
    pub(crate) failures: BTreeMap<&'static str, u64>,
}

impl Default for SourceTable {
    fn default() -> Self {
        let places = std::iter::repeat_with(OnceLock::new).take(SOURCES_MAX).collect();
        Self { sources: Mutex::default(), places }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SourceTable {
    /// Number of the source `name`, the same in all generations.
    fn number(&self, name: &str) -> u32 {
        let mut sources = lock(&self.sources);
        let known = sources.iter().position(|it| *it.name == *name);
        let at = known.unwrap_or_else(|| {
            let is_last = sources.len() + 1 >= SOURCES_MAX;
            if sources.len() < SOURCES_MAX {
                let name = if is_last { OTHER } else { name }.into();
                sources.push(Arc::new(NamedSource { name, database: None }));
            }
            sources.len() - 1
        });
        at as u32
    }

    /// Sets the database of a source. Sources beyond the table have none.
    fn keep_database(&self, number: u32, database: &DatabaseAddress) {
        if let Some(source) = lock(&self.sources).get_mut(number as usize).filter(|it| &*it.name != OTHER) {
            Arc::make_mut(source).database = Some(database.clone());
        }
    }

    fn counts_of(&self, number: u32) -> Option<&FetchCounts> {
        let made = || FetchCounts { took: Durations::busy(), failures: Mutex::default() };
        Some(self.places.get(number as usize)?.get_or_init(made))
    }

    fn begin(&self, source: u32) {
        if let Some(counts) = self.counts_of(source) {
            counts.took.begin();
        }
    }

    fn end(&self, source: u32, took: Duration, outcome: FetchOutcome) {
        let Some(counts) = self.counts_of(source) else { return };
        counts.took.record(took);
        let code = match outcome {
            FetchOutcome::Answered => return,
            FetchOutcome::Failed(code) => code,
            FetchOutcome::Abandoned => ABANDONED,
        };
        *lock(&counts.failures).entry(code).or_default() += 1;
    }

    /// Counts of all sources.
    pub(crate) fn fetches(&self) -> Vec<SourceFetches> {
        let sources = lock(&self.sources);
        let asked = sources.iter().zip(&self.places).filter_map(|(source, place)| {
            let counts = place.get()?;
            let failures = lock(&counts.failures).clone();
            Some(SourceFetches { source: source.name.clone(), took: counts.took.counts(), failures })
        });
        asked.collect()
    }

    fn source(&self, number: u32) -> Option<Arc<NamedSource>> {
        lock(&self.sources).get(number as usize).cloned()
    }
}

impl Observer for ServerObserver {
    fn operation(&self, operation: &ObservedOperation<'_>) -> u64 {
        self.operations.number(operation)
    }

    fn source(&self, name: &str) -> u32 {
        self.sources.number(name)
    }

    fn database(&self, source: u32, database: &DatabaseAddress) {
        self.sources.keep_database(source, database);
    }

    fn cost(&self, _operation: Option<u64>, cost: &OperationCost) {
        self.costs.note(cost);
    }

    fn stage(&self, stage: &ObservedStage<'_>) {
        self.stages.note(stage.stage.into(), stage.took);
        let Some(request) = stage.request.filter(|it| it.is_sampled) else { return };
        let name = match stage.stage {
            Stage::Parse => "parse",
            Stage::Validate => "validate",
            Stage::Plan => "plan",
            // Fetches are recorded one by one, and binding takes microseconds.
            Stage::Bind | Stage::Execute => return,
        };
        let head = SpanHead {
            context: trace::child(request),
            parent: Some(request),
            trace_state: stage.trace_state,
            kind: Kind::Internal,
            began: stage.began,
            took: stage.took,
        };
        trace::record(&head, |span| span.name(&[name]));
    }

    fn fetch_begins(&self, source: u32, request: Option<SpanContext>) -> Option<SpanContext> {
        self.sources.begin(source);
        request.map(trace::child)
    }

    fn fetch_ended(&self, fetch: &ObservedFetch<'_>) {
        self.sources.end(fetch.source, fetch.took, fetch.outcome);
        let Some((request, context)) = fetch.spans.filter(|it| it.0.is_sampled) else { return };
        let source = self.sources.source(fetch.source);
        let database = source.as_ref().and_then(|it| it.database.as_ref());
        let head = SpanHead {
            context,
            parent: Some(request),
            trace_state: fetch.trace_state,
            // Calls of services have client spans of their own.
            kind: if database.is_some() { Kind::Client } else { Kind::Internal },
            began: fetch.began,
            took: fetch.took,
        };
        trace::record(&head, |span| {
            let name = source.as_ref().map_or(OTHER, |it| &it.name);
            span.name(&["fetch ", name]);
            let mut calls = (fetch.calls)();
            if calls.len() > CALLS_BYTES_MAX {
                calls.truncate(calls.floor_char_boundary(CALLS_BYTES_MAX));
            }
            span.text("weir.source", name);
            describe_fetch(span, database, calls.trim_end());
            match fetch.outcome {
                FetchOutcome::Answered => {}
                FetchOutcome::Failed(code) => span.fail(code),
                FetchOutcome::Abandoned => span.fail(ABANDONED),
            }
        });
    }

    fn call_begins(&self, fetch: SpanContext) -> Option<SpanContext> {
        Some(trace::child(fetch))
    }

    fn call_ended(&self, call: &ObservedCall<'_>) {
        let head = SpanHead {
            context: call.span,
            parent: Some(call.fetch),
            trace_state: call.trace_state,
            kind: Kind::Client,
            began: call.began,
            took: call.took,
        };
        trace::record(&head, |span| describe_call(span, call));
    }
}

/// Source: semantic conventions of OpenTelemetry for database client spans.
fn describe_fetch(span: &mut SpanWriter<'_>, database: Option<&DatabaseAddress>, calls: &str) {
    let Some(DatabaseAddress { system, namespace, host, port }) = database else {
        return span.text("weir.calls", calls);
    };
    span.text("db.system.name", system);
    span.text("db.namespace", namespace);
    span.text("db.query.text", calls);
    if let Some(host) = host {
        span.text("server.address", host);
    }
    if let Some(port) = *port {
        span.number("server.port", port.into());
    }
}

/// Source: OpenTelemetry semantic conventions for HTTP client spans. `url.full` is omitted because it contains values of the request.
fn describe_call(span: &mut SpanWriter<'_>, call: &ObservedCall<'_>) {
    span.name(&[call.method, " ", call.template]);
    span.text("http.request.method", call.method);
    span.text("url.scheme", call.scheme);
    span.text("url.template", call.template);
    span.text("server.address", call.host);
    span.number("server.port", call.port.into());
    if let Some(status) = call.status {
        span.number("http.response.status_code", status.into());
    }
    let resends = call.attempts.saturating_sub(1);
    if resends > 0 {
        span.number("http.request.resend_count", resends.into());
    }
    match (call.error, call.status) {
        (Some(code), _) => span.fail(code),
        (None, Some(status)) if status >= 400 => span.fail(&status.to_string()),
        (None, Some(_)) => {}
        (None, None) => span.fail(ABANDONED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_keep_their_numbers_and_those_beyond_the_table_are_one() {
        let table = SourceTable::default();
        assert_eq!((table.number("a"), table.number("b"), table.number("a")), (0, 1, 0));
        let many: Vec<u32> = (0..2 * SOURCES_MAX).map(|it| table.number(&format!("s{it}"))).collect();
        assert_eq!(many.last(), Some(&(SOURCES_MAX as u32 - 1)));
        table.begin(1);
        table.begin(1);
        table.end(1, Duration::from_micros(3), FetchOutcome::Failed("SOURCE_TIMEOUT"));
        table.begin(many[many.len() - 1]);
        let fetches = table.fetches();
        let told: Vec<_> =
            fetches.iter().map(|it| (&*it.source, it.took.count, it.took.in_flight())).collect();
        assert_eq!(told, [("b", 1, 1), (OTHER, 0, 1)]);
        assert_eq!(fetches[0].failures, BTreeMap::from([("SOURCE_TIMEOUT", 1)]));
    }
}

//! The listener to all engines of the process: counts by operation, stage and source; spans of what is traced.
//!
//! **Invariant:** no value of a request comes here.
//!
//! **Cost:** per stage and fetch a few additions to words of the thread; spans only for requests that are traced.

use crate::trace::{self, Kind, SpanRecord};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use weir_engine::durations::{DurationCounts, Durations};
use weir_engine::observer::{FetchOutcome, ObservedFetch, ObservedOperation, ObservedStage, Observer, Stage};
use weir_engine::span::SpanContext;
use weir_engine::usage::OperationTable;

/// Sources that are counted by themselves; those beyond are one.
const SOURCES_MAX: usize = 256;
/// The name of all sources beyond.
const OTHER: &str = "other";
/// Failures that are no code of an error.
const ABANDONED: &str = "abandoned";
/// Longest text of a fetch's calls in a span, in bytes.
const CALLS_BYTES_MAX: usize = 8 * 1024;

/// The listener of the process.
pub(crate) fn observer() -> &'static Arc<ServerObserver> {
    static OBSERVER: LazyLock<Arc<ServerObserver>> = LazyLock::new(Arc::default);
    &OBSERVER
}

/// See the module's words.
#[derive(Debug, Default)]
pub(crate) struct ServerObserver {
    pub(crate) operations: OperationTable,
    pub(crate) stages: StageDurations,
    pub(crate) sources: SourceTable,
}

/// The parts of a request's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimePart {
    Parse,
    Validate,
    Plan,
    Bind,
    Execute,
    /// All that is neither waiting for a source nor writing its answer: what Weir itself costs.
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

/// Durations of the parts of requests.
#[derive(Debug)]
pub(crate) struct StageDurations([Durations; TIME_PARTS.len()]);

impl Default for StageDurations {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Durations::busy()))
    }
}

impl StageDurations {
    /// Counts one.
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
    names: Mutex<Vec<Box<str>>>,
    places: Box<[OnceLock<FetchCounts>]>,
}

/// Fetches from one source.
#[derive(Debug)]
struct FetchCounts {
    took: Durations,
    failures: Mutex<BTreeMap<&'static str, u64>>,
}

/// Fetches from one source, as they are told.
#[derive(Clone, Debug)]
pub(crate) struct SourceFetches {
    pub(crate) source: Box<str>,
    pub(crate) took: DurationCounts,
    /// By code of the error.
    pub(crate) failures: BTreeMap<&'static str, u64>,
}

impl Default for SourceTable {
    fn default() -> Self {
        let places = std::iter::repeat_with(OnceLock::new).take(SOURCES_MAX).collect();
        Self { names: Mutex::default(), places }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SourceTable {
    /// The number of the source `name`, the same in each generation.
    fn number(&self, name: &str) -> u32 {
        let mut names = lock(&self.names);
        let known = names.iter().position(|it| **it == *name);
        let at = known.unwrap_or_else(|| {
            let is_last = names.len() + 1 >= SOURCES_MAX;
            if names.len() < SOURCES_MAX {
                names.push(if is_last { OTHER } else { name }.into());
            }
            names.len() - 1
        });
        at as u32
    }

    fn of(&self, number: u32) -> Option<&FetchCounts> {
        let made = || FetchCounts { took: Durations::busy(), failures: Mutex::default() };
        Some(self.places.get(number as usize)?.get_or_init(made))
    }

    fn begin(&self, source: u32) {
        if let Some(counts) = self.of(source) {
            counts.took.begin();
        }
    }

    fn end(&self, source: u32, took: Duration, outcome: FetchOutcome) {
        let Some(counts) = self.of(source) else { return };
        counts.took.record(took);
        let code = match outcome {
            FetchOutcome::Answered => return,
            FetchOutcome::Failed(code) => code,
            FetchOutcome::Abandoned => ABANDONED,
        };
        *lock(&counts.failures).entry(code).or_default() += 1;
    }

    /// The sources that were asked.
    pub(crate) fn fetches(&self) -> Vec<SourceFetches> {
        let names = lock(&self.names);
        let asked = names.iter().zip(&self.places).filter_map(|(name, place)| {
            let counts = place.get()?;
            let failures = lock(&counts.failures).clone();
            Some(SourceFetches { source: name.clone(), took: counts.took.counts(), failures })
        });
        asked.collect()
    }

    fn name(&self, number: u32) -> Box<str> {
        lock(&self.names).get(number as usize).cloned().unwrap_or_else(|| OTHER.into())
    }
}

impl Observer for ServerObserver {
    fn operation(&self, operation: &ObservedOperation<'_>) -> u64 {
        self.operations.number(operation)
    }

    fn source(&self, name: &str) -> u32 {
        self.sources.number(name)
    }

    fn stage(&self, stage: &ObservedStage) {
        self.stages.note(stage.stage.into(), stage.took);
        let Some(request) = stage.request.filter(|it| it.is_sampled) else { return };
        let name = match stage.stage {
            Stage::Parse => "parse",
            Stage::Validate => "validate",
            Stage::Plan => "plan",
            // Sources are told one by one; binding takes microseconds.
            Stage::Bind | Stage::Execute => return,
        };
        trace::record(|| SpanRecord {
            context: trace::child(request),
            parent: Some(request),
            kind: Kind::Internal,
            name: name.into(),
            began: stage.began,
            took: stage.took,
            attributes: Vec::new(),
            error: None,
        });
    }

    fn fetch_begins(&self, source: u32, request: Option<SpanContext>) -> Option<SpanContext> {
        self.sources.begin(source);
        request.map(trace::child)
    }

    fn fetch_ended(&self, fetch: &ObservedFetch<'_>) {
        self.sources.end(fetch.source, fetch.took, fetch.outcome);
        let Some((request, context)) = fetch.spans.filter(|it| it.0.is_sampled) else { return };
        trace::record(|| {
            let source = self.sources.name(fetch.source);
            let mut calls = (fetch.calls)();
            if calls.len() > CALLS_BYTES_MAX {
                calls.truncate(calls.floor_char_boundary(CALLS_BYTES_MAX));
            }
            let error = match fetch.outcome {
                FetchOutcome::Answered => None,
                FetchOutcome::Failed(code) => Some(code.into()),
                FetchOutcome::Abandoned => Some(ABANDONED.into()),
            };
            SpanRecord {
                context,
                parent: Some(request),
                kind: Kind::Client,
                name: format!("fetch {source}").into(),
                began: fetch.began,
                took: fetch.took,
                attributes: vec![
                    ("weir.source", source.into()),
                    (trace::attribute_of_calls(&calls), calls.trim_end().into()),
                ],
                error,
            }
        });
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

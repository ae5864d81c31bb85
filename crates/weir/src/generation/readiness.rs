//! Readiness of a generation: whether its sources answer.
//!
//! **Cost:** however many ask, a source is looked at once in [`FRESH`] at most.

use super::Generation;
use futures_util::future::join_all;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use weir_engine::source::SourceError;

/// Time for which a check of the sources is reused.
const FRESH: Duration = Duration::from_secs(1);
/// Timeout of checking a source.
const PATIENCE: Duration = Duration::from_secs(1);

/// Last check of a generation's sources, with its time.
#[derive(Debug, Default)]
pub(crate) struct Readiness(Mutex<Option<(Instant, Arc<[SourceState]>)>>);

/// State of one source.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SourceState {
    pub(crate) name: String,
    /// Product and version of the server.
    pub(crate) product: Option<String>,
    /// Code and message, if the source is not ready.
    pub(crate) trouble: Option<(&'static str, &'static str)>,
}

impl Readiness {
    /// State of the sources of `generation`. Concurrent callers share one check.
    pub(crate) async fn look(&self, generation: &Generation) -> Arc<[SourceState]> {
        let mut last = self.0.lock().await;
        match &*last {
            Some((at, states)) if at.elapsed() < FRESH => Arc::clone(states),
            Some(_) | None => {
                let deadline = Instant::now() + PATIENCE;
                let served = if generation.is_waiting { &[] } else { generation.engine.graph().sources() };
                // A source that is down but known is part of the graph; it is reported below.
                let served = served.iter().filter(|it| !generation.findings.is_down(it.0.name()));
                let asked = served.map(|(source, _)| async move {
                    let trouble = source.health(deadline).await.err().map(|error| {
                        tracing::warn!(source = source.name(), cause = %error, "a source is not ready");
                        (error.code(), public_cause(&error))
                    });
                    SourceState { name: source.name().to_owned(), product: source.product(), trouble }
                });
                let mut states = join_all(asked).await;
                states.extend(generation.findings.down.iter().map(|down| {
                    let error = SourceError::Unavailable(down.message.as_str().into());
                    let words = if down.is_closed { CLOSED } else { public_cause(&error) };
                    SourceState {
                        name: down.name.clone(),
                        product: None,
                        trouble: Some((error.code(), words)),
                    }
                }));
                let states: Arc<[SourceState]> = states.into();
                *last = Some((Instant::now(), Arc::clone(&states)));
                states
            }
        }
    }
}

/// Message about a reachable source that refuses access.
const CLOSED: &str = "it does not let Weir in; the log says why";

/// Message for callers; the cause is in the log.
pub(crate) fn public_cause(error: &SourceError) -> &'static str {
    match error {
        SourceError::Timeout => "it does not answer in time",
        SourceError::Busy => "it is locked, or has no capacity left",
        SourceError::Unavailable(_) => "it cannot be reached or read",
        SourceError::Rejected { .. }
        | SourceError::Undone(_)
        | SourceError::Passed(_)
        | SourceError::Broken(_) => "it answers what it should not",
    }
}

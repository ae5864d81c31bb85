//! Answers a request whose answer may be another's too: kept, in the making, or made now.
//!
//! An answer that is kept is read from primaries: a replica that is behind would give rows from before a change whose invalidation
//! has passed already, and they would be kept until their lifetime ends. A request that asks for the present, or sends a log
//! position, is given no answer that was made before it; one that allows older rows leaves none behind.
//!
//! **Invariant:** a request that waits for another's answer keeps its own deadline, and continues alone if the other is
//! cancelled.

use super::{ExecutionContext, ExecutionResult};
use crate::answer::response::{Body, Kept};
use crate::answer::response_cache::{Responses, Shared, SharedOutcome};
use crate::caching::cache_control::CacheControl;
use crate::caching::keys::KeyRef;
use crate::caching::single_flight::FlightRole;
use crate::plan::ResponseSharing;
use crate::request::answer_notes::AnswerNotes;
use crate::request::consistency::{Consistency, Positions};
use crate::request::request_headers::Headers;
use crate::telemetry::span::SpanContext;
use bytes::Bytes;
use std::sync::Arc;
use std::time::Instant;

/// Runs `run`, or finds that it need not be.
pub(crate) async fn run_shared(
    run: ExecutionContext<'_>,
    sharing: &ResponseSharing,
    responses: &Responses,
) -> (ExecutionResult, Kept) {
    let key = sharing.key(run.variables, run.headers, run.caller);
    let key = KeyRef::of(&key);
    let consistency = run.headers.consistency();
    let wants_present =
        consistency == Consistency::Strong || run.headers.positions().is_some_and(Positions::is_sent);
    let refreshes =
        wants_present || run.plan.operation.cache_directive.is_some_and(|it| it.refreshes(run.variables));
    if consistency == Consistency::Eventual && !refreshes {
        return match responses.get(key, Instant::now()) {
            Some(shared) => (shared_result(&shared), Kept::Hit),
            None => (super::run(run).await, Kept::Made),
        };
    }
    let present = Present(run.headers);
    let run = ExecutionContext { headers: &present, ..run };
    loop {
        if !refreshes && let Some(shared) = responses.get(key, Instant::now()) {
            return (shared_result(&shared), Kept::Hit);
        }
        if refreshes || !sharing.flights || responses.is_bypassed(key, Instant::now()) {
            return (make(run, sharing, responses, key).await.0, Kept::Made);
        }
        let waiting = match responses.join_flight(key, run.deadline) {
            FlightRole::Lead(flight, _) => {
                let (ran, landing) = make(run, sharing, responses, key).await;
                flight.land(landing);
                return (ran, Kept::Made);
            }
            FlightRole::Wait(waiting, _) => waiting,
            FlightRole::Cached(shared) => return (shared_result(&shared), Kept::Hit),
        };
        match tokio::time::timeout_at(run.deadline.into(), waiting.result()).await {
            // The request that made it was cancelled: another one has to.
            Ok(None) => continue,
            Ok(Some(SharedOutcome::Here(shared))) if responses.changes.are_current(&shared.ages) => {
                return (shared_result(&shared), Kept::Joined);
            }
            Ok(Some(SharedOutcome::Here(_) | SharedOutcome::Alone)) => {}
            // The remaining time is for the error.
            Err(_) => {}
        }
        return (super::run(run).await, Kept::Made);
    }
}

/// The headers of a request whose answer others may be given.
struct Present<'h>(&'h dyn Headers);

impl Headers for Present<'_> {
    fn each<'h>(&'h self, name: &str, take: &mut dyn FnMut(&'h [u8])) {
        self.0.each(name, take);
    }

    fn request_id(&self) -> &str {
        self.0.request_id()
    }

    fn consistency(&self) -> Consistency {
        Consistency::Strong
    }

    fn positions(&self) -> Option<&Positions> {
        self.0.positions()
    }

    fn span(&self) -> Option<SpanContext> {
        self.0.span()
    }

    /// Notes are for the request that makes the answer: whoever is given it gets none.
    fn notes(&self) -> Option<&AnswerNotes> {
        self.0.notes()
    }
}

/// Another's answer for this request.
fn shared_result(shared: &Shared) -> ExecutionResult {
    let body = Body::Shared(shared.body.clone());
    let cache_control = shared.remaining_lifetime(Instant::now()).map(CacheControl::at_least_a_second);
    ExecutionResult { body, capacity: shared.capacity, cache_control }
}

/// Makes the answer, caches it if it has a lifetime, and hands it to the waiting requests.
async fn make(
    run: ExecutionContext<'_>,
    sharing: &ResponseSharing,
    responses: &Responses,
    key: KeyRef<'_>,
) -> (ExecutionResult, SharedOutcome) {
    let mut ages = responses.changes.versions_at(sharing.tags.iter().copied());
    let ExecutionResult { body, capacity, cache_control } = super::run(run).await;
    cache_control.iter().for_each(|it| ages.join(&it.ages));
    let may_share = cache_control.as_ref().is_some_and(|it| it.by_headers);
    let bytes = match body {
        Body::Whole(bytes) if may_share => bytes,
        Body::Whole(_) | Body::Shared(_) | Body::Stream { .. } | Body::Increments { .. } => {
            responses.bypass(key, Instant::now());
            return (ExecutionResult { body, capacity, cache_control }, SharedOutcome::Alone);
        }
    };
    let lives = cache_control.as_ref().is_some_and(|it| it.remaining_ms > 0);
    let body = Bytes::from(bytes);
    let made = Instant::now();
    let lifetime = cache_control.clone();
    let shared = Arc::new(Shared { body: body.clone(), capacity, lifetime, made, ages });
    if lives {
        responses.put(key.into(), Arc::clone(&shared));
    }
    (ExecutionResult { body: Body::Shared(body), capacity, cache_control }, SharedOutcome::Here(shared))
}

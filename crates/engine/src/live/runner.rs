//! The thread that reads dirty members and watches the feeds of their sources.
//!
//! **Invariant:** the thread ends with its engine; a source that panics or hangs loses its read, never the thread.

use super::live_result::{Changed, LiveResult, ReadReason};
use super::member_registry::{DueRead, Registry};
use super::{FeedSink, LiveShared};
use crate::answer::response::Body;
use crate::engine::bound_operation::BoundOperation;
use crate::errors::error_text::error_body;
use crate::execute::{self, ExecutionContext, ExecutionResult, LiveParts, Observation};
use crate::request::answer_notes::AnswerNotes;
use crate::request::request_headers::{EnrichedHeaders, Headers, NoHeaders};
use crate::source::{StreamEnd, StreamRead};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use std::collections::BTreeMap;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::task::{JoinHandle, LocalSet};

/// Interval at which the runner checks that its engine still exists.
const LOOK: Duration = Duration::from_secs(5);
/// Starts the thread.
/// # Errors
/// The system's, if there can be no other thread.
pub(super) fn start(shared: Weak<LiveShared>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("weir-live".to_owned()).spawn(move || {
        let tasks = LocalSet::new();
        tasks.block_on(&runtime, run(shared));
    })?;
    Ok(())
}

/// Reads until the engine is gone.
async fn run(shared: Weak<LiveShared>) {
    let mut reads = FuturesUnordered::new();
    let mut feeds: BTreeMap<u16, JoinHandle<()>> = BTreeMap::new();
    loop {
        let Some(shared) = shared.upgrade() else { break };
        let now = Instant::now();
        let next = {
            let mut registry = shared.registry();
            if registry.is_closed {
                break;
            }
            watch(&shared, &mut registry, &mut feeds);
            let next = registry.tick(now);
            while reads.len() < shared.settings.reads_max
                && let Some(due) = registry.next_read(shared.settings.floor, now)
            {
                reads.push(read(Arc::clone(&shared), due));
            }
            let later = registry.tick(now);
            later.or(next)
        };
        let until = next.map_or(now + LOOK, |it| it.min(now + LOOK));
        tokio::select! {
            Some(()) = reads.next(), if !reads.is_empty() => {}
            () = shared.wake.notified() => {}
            () = tokio::time::sleep_until(until.into()) => {}
        }
    }
    feeds.values().for_each(JoinHandle::abort);
}

/// Watches the feeds of the sources that members ask, and no others.
fn watch(shared: &Arc<LiveShared>, registry: &mut Registry, feeds: &mut BTreeMap<u16, JoinHandle<()>>) {
    let fed: Vec<u16> = registry.fed_sources().collect();
    feeds.retain(|source, feed| {
        let is_wanted = fed.contains(source) && !feed.is_finished();
        if !is_wanted {
            feed.abort();
            registry.end_feed(*source);
        }
        is_wanted
    });
    for source in fed {
        feeds.entry(source).or_insert_with(|| {
            let shared = Arc::downgrade(shared);
            tokio::task::spawn_local(async move {
                let Some(shared) = shared.upgrade() else { return };
                let asked = &shared.planner.graph.sources()[usize::from(source)].0;
                if let Some(feed) = asked.change_feed() {
                    feed.watch(&FeedSink { shared: &shared, source }).await;
                }
            })
        });
    }
}

/// One run of a subscription's operation.
pub(super) struct LiveRun<'r> {
    pub(super) operation: &'r BoundOperation,
    pub(super) headers: &'r dyn Headers,
    pub(super) stream: Option<&'r Arc<StreamRead>>,
    /// True if the read may be merged with others of its plan, see [`crate::source::FetchInput::may_join`].
    pub(super) may_join: bool,
}

/// Runs an operation once: the bytes of its response, and true if it has errors.
pub(super) async fn execute_operation(
    shared: &LiveShared,
    run: LiveRun<'_>,
    parts: &mut LiveParts,
) -> (Bytes, bool) {
    let LiveRun { operation, headers, stream, may_join } = run;
    let settings = &shared.settings;
    let planner = &shared.planner;
    let observer = planner.settings.observer.as_ref();
    let observation = Observation::of(observer, &planner.source_numbers, &NoHeaders);
    let context = ExecutionContext {
        graph: &planner.graph,
        plan: &operation.plan,
        variables: &operation.variables,
        changes: &shared.changes,
        caller: &operation.caller,
        headers,
        protocol: operation.protocol,
        text: &operation.text,
        deadline: Instant::now() + settings.read_timeout,
        hold_back_bytes: planner.settings.hold_back_bytes,
        conditions_max: planner.settings.conditions_max,
        observation: observation.as_ref(),
        may_join,
        stream,
        metering: None,
    };
    let ran = AssertUnwindSafe(execute::run_noting(context, Some(parts))).catch_unwind().await;
    let body = match ran {
        Ok(ExecutionResult { body, .. }) => whole(body, settings.result_bytes_max).await,
        Err(_) => Err("INTERNAL"),
    };
    let has_errors = !matches!(&body, Ok((_, true)));
    let body = match body {
        Ok((bytes, _)) => bytes,
        Err(code) => failure_response(code),
    };
    (in_utf8(body), has_errors)
}

/// Reads one member.
async fn read(shared: Arc<LiveShared>, due: DueRead) {
    let DueRead { id, operation, stream, since, cause } = due;
    let settings = &shared.settings;
    let mut parts = LiveParts::default();
    let headers = EnrichedHeaders::with_notes(&operation.headers);
    let stream_read = stream.as_ref();
    let run = LiveRun { operation: &operation, headers: &headers, stream: stream_read, may_join: true };
    let (body, has_errors) = execute_operation(&shared, run, &mut parts).await;
    let now = Instant::now();
    // A plan of several nodes is never final: fields of other sources may still change.
    let is_last = headers.notes().is_some_and(AnswerNotes::is_final) && operation.plan.nodes.len() == 1;
    let end = stream.and_then(|it| it.take_end());
    let position = match &end {
        // Rows that an error took out of the answer are read again.
        Some((StreamEnd::Rows { position, .. }, _)) if body.starts_with(HEAD) => Some(Arc::clone(position)),
        Some((StreamEnd::Rows { .. } | StreamEnd::Empty | StreamEnd::Held, _)) | None => None,
    };
    let result = LiveResult { body, has_errors, cause, due: since, took: now - since, position, is_last };
    let mut registry = shared.registry();
    // A change from here on finds the tags of this result; one since they were looked at is found here.
    registry.replace_tags(id, &parts.ages);
    if !shared.changes.are_current(&parts.ages) {
        registry.mark_dirty(id, ReadReason { at: now, cause: Changed::Unknown.into() });
    }
    registry.finish_read(id, result, end, &parts.lifetimes, settings, now);
}

/// The beginning of a response with data.
const HEAD: &[u8] = b"{\"data\":{";

/// All bytes of `body`, and true if they have no errors.
async fn whole(body: Body, bytes_max: usize) -> Result<(Bytes, bool), &'static str> {
    let sound = body.is_sound();
    let (mut all, mut rest) = match body {
        Body::Whole(bytes) => return Ok((bytes.into(), sound)),
        Body::Shared(bytes) => return Ok((bytes, sound)),
        Body::Stream { head, rest } => (head, rest),
        // A live read never requests incremental delivery.
        Body::Increments { .. } => return Err("INTERNAL"),
    };
    while let Some(part) = rest.recv().await {
        all.extend_from_slice(&part.map_err(|_| "SOURCE_UNAVAILABLE")?);
        if all.len() > bytes_max {
            return Err("LIMIT_RESPONSE");
        }
    }
    let sound = all.starts_with(HEAD) && !all.ends_with(b"]}");
    Ok((all.into(), sound))
}

/// `body` as UTF-8, once for all who are given it: a text of a database may have other bytes.
fn in_utf8(body: Bytes) -> Bytes {
    match std::str::from_utf8(&body) {
        Ok(_) => body,
        Err(_) => String::from_utf8_lossy(&body).into_owned().into(),
    }
}

/// Response to a read that failed as a whole.
fn failure_response(code: &'static str) -> Bytes {
    let message = match code {
        "LIMIT_RESPONSE" => "the result is too long for a subscription: ask for less, by `limit`",
        "SOURCE_UNAVAILABLE" => "The source broke off in the middle of the answer.",
        _ => "Internal error.",
    };
    error_body(message, code, None).into()
}

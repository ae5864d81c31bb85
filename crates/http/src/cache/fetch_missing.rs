//! Core of the cache: lookups, choice of the calling request, waiting.
//!
//! **Invariant:** a request waits until its own deadline and no longer; the call continues without it.

use super::counters::Outcome;
use super::entry::Entry;
use super::flights::{AnswerOrigin, Arrival, Flight, Landed};
use super::freshness::Fate;
use super::job::{Asks, FilledEntry, Job, Purpose};
use super::level1::CacheSlot;
use super::rule::Rule;
use super::state::{CacheLookup, CacheState};
use super::{Failure, Served, Wanted};
use crate::call::{CallError, Cause};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tokio::runtime::Handle;
use weir_engine::keys::SharedKey;
use weir_engine::single_flight::FlightRole;

/// Number of times a request waits for another's flight before it makes a call of its own.
const ROUNDS_MAX: usize = 3;

/// One of the answers that have to be waited for.
pub(super) struct Missing {
    /// Position among the requested ids.
    pub(super) place: u32,
    pub(super) key: SharedKey,
    /// An expired entry to serve if the upstream fails.
    pub(super) last: Option<Arc<Entry>>,
}

/// Creates the calls on demand; `None` after the caller's closure was used up.
pub(super) type AskWith<'c> = dyn FnMut() -> Option<Asks> + Send + 'c;

/// Result of waiting.
enum Waited {
    Served(Result<Served, Failure>),
    /// The flight's answer is private to its leader; this request makes its own call.
    Alone,
    /// The leader was dropped or had an earlier deadline; look up again.
    Again,
}

impl CacheState {
    fn job(self: &Arc<Self>, wanted: Wanted<'_>) -> Job {
        let tags = match wanted.own_tags {
            [] => [self.tags.take(wanted.tags, &[])].into(),
            own => own.iter().map(|own| self.tags.take(wanted.tags, own)).collect(),
        };
        Job { state: Arc::clone(self), rule: Arc::clone(wanted.rule), tags }
    }

    /// Starts a refresh of `keys` while `old` is still served. No-op if a refresh is in flight.
    pub(super) fn refresh(
        self: &Arc<Self>,
        wanted: Wanted<'_>,
        old: &[(Missing, Arc<Entry>)],
        ask: &mut AskWith<'_>,
    ) {
        let flights: Vec<(u32, Flight)> = old
            .iter()
            .filter_map(|(it, old)| {
                let newer = || match self.level1.lookup(it.key.as_key_ref()) {
                    Some(CacheSlot::Entry(entry)) if Arc::ptr_eq(&entry, old) => None,
                    slot => slot,
                };
                match self.flights.join(&it.key, wanted.deadline, newer) {
                    FlightRole::Lead(flight, _) => Some((it.place, flight)),
                    FlightRole::Wait(..) | FlightRole::Cached(_) => None,
                }
            })
            .collect();
        if let Some(asks) = if flights.is_empty() { None } else { ask() } {
            tokio::spawn(self.job(wanted).run(asks, flights, Purpose::Refresh));
        }
    }

    /// Fetches the missing answers: joins flights of other requests, or starts new ones. Returns one result per entry of `missing` and
    /// `alone`, with its place.
    pub(super) async fn fetch_missing(
        self: &Arc<Self>,
        wanted: Wanted<'_>,
        mut missing: Vec<Missing>,
        mut alone: Vec<Missing>,
        ask: &mut AskWith<'_>,
    ) -> Vec<(u32, Result<Served, Failure>)> {
        let mut settled = Vec::with_capacity(missing.len() + alone.len());
        for _ in 0..ROUNDS_MAX {
            if missing.is_empty() {
                break;
            }
            let (waiting, mut own) = self.join_flights(wanted, std::mem::take(&mut missing), ask);
            // Our own job runs before we wait for others, since they may wait for it.
            let _ = tokio::time::timeout_at(wanted.deadline.into(), &mut own).await;
            drop(own);
            for seated in waiting {
                match self.wait(wanted, &seated).await {
                    Waited::Served(result) => settled.push((seated.missing.place, result)),
                    Waited::Alone => alone.push(seated.missing),
                    Waited::Again => missing.push(seated.missing),
                }
            }
        }
        alone.append(&mut missing);
        if !alone.is_empty() {
            settled.extend(self.fetch_uncoalesced(wanted, alone, ask).await);
        }
        settled
    }

    /// Joins the flight of each missing key, or starts one. Returns the seats to wait on, and the job of the flights that were started.
    fn join_flights(
        self: &Arc<Self>,
        wanted: Wanted<'_>,
        missing: Vec<Missing>,
        ask: &mut AskWith<'_>,
    ) -> (Vec<Seated>, OwnJob) {
        let mut flights = Vec::new();
        let now_ms = self.clock.now_ms();
        let seats: Vec<Seated> = missing
            .into_iter()
            .map(|missing| {
                let kept = || match self.lookup(missing.key.as_key_ref(), now_ms) {
                    CacheLookup::Fresh(entry) | CacheLookup::Stale(entry) => Some(CacheSlot::Entry(entry)),
                    CacheLookup::Pass => Some(CacheSlot::Pass { until_ms: u64::MAX }),
                    CacheLookup::OnError(_) | CacheLookup::Nothing => None,
                };
                let at = match self.flights.join(&missing.key, wanted.deadline, kept) {
                    FlightRole::Lead(flight, arrival) => {
                        flights.push((missing.place, flight));
                        SeatOf::Lead(arrival)
                    }
                    FlightRole::Wait(arrival, deadline) => SeatOf::Wait(arrival, deadline),
                    FlightRole::Cached(CacheSlot::Entry(entry)) => SeatOf::Kept(entry),
                    FlightRole::Cached(CacheSlot::Pass { .. }) => SeatOf::Pass,
                };
                Seated { missing, at }
            })
            .collect();
        // Without calls the new flights are dropped, and their waiters fail.
        let asks = if flights.is_empty() { None } else { ask() };
        (seats, OwnJob(asks.map(|asks| self.job(wanted).run(asks, flights, Purpose::Fill).boxed())))
    }

    async fn wait(&self, wanted: Wanted<'_>, seated: &Seated) -> Waited {
        let rule = wanted.rule;
        let (arrival, leads, theirs) = match &seated.at {
            SeatOf::Kept(entry) => {
                return Waited::Served(Ok(self.serve(rule, Arc::clone(entry), Outcome::Coalesced)));
            }
            SeatOf::Pass => return Waited::Alone,
            SeatOf::Lead(arrival) => (arrival, true, wanted.deadline),
            SeatOf::Wait(arrival, theirs) => (arrival, false, *theirs),
        };
        let serve = |entry, outcome| Waited::Served(Ok(self.serve(rule, entry, outcome)));
        match await_flight(arrival, wanted.deadline).await {
            Some(Landed::Entry(entry, _)) if entry.is_failure() => {
                self.serve_on_failure(rule, seated, Ok(entry), leads)
            }
            Some(Landed::Entry(entry, _)) if !leads => serve(entry, Outcome::Coalesced),
            Some(Landed::Entry(entry, AnswerOrigin::Upstream)) => serve(entry, Outcome::Miss),
            Some(Landed::Entry(entry, AnswerOrigin::Remote)) => serve(entry, Outcome::HitRemote),
            Some(Landed::Private(entry)) if leads && !entry.is_failure() => serve(entry, Outcome::Pass),
            Some(Landed::Private(entry)) if leads => self.serve_on_failure(rule, seated, Ok(entry), leads),
            // Waiters get the status of a private failure, but not its body.
            Some(Landed::Private(entry)) if entry.is_failure() => {
                self.serve_on_failure(rule, seated, Ok(Arc::new(entry.without_body())), leads)
            }
            Some(Landed::Private(_)) => Waited::Alone,
            Some(Landed::Failed(Failure { error: CallError::Timeout, .. }))
                if !leads && theirs < wanted.deadline && now_before(wanted.deadline) =>
            {
                Waited::Again
            }
            Some(Landed::Failed(failure)) => self.serve_on_failure(rule, seated, Err(failure), leads),
            None if leads => self.serve_on_failure(rule, seated, Err(abandoned_call_failure()), leads),
            None => Waited::Again,
        }
    }

    /// Serves the expired entry if it allows stale-if-error, else returns the failure.
    fn serve_on_failure(
        &self,
        rule: &Rule,
        seated: &Seated,
        answer: Result<Arc<Entry>, Failure>,
        leads: bool,
    ) -> Waited {
        let now_ms = self.clock.now_ms();
        let last = seated.missing.last.as_ref();
        let usable = last.filter(|last| now_ms < last.lifetime.error_until_ms && last.tags.are_current());
        Waited::Served(match (usable, answer) {
            (Some(last), _) => Ok(self.serve(rule, Arc::clone(last), Outcome::StaleOnError)),
            (None, Ok(entry)) => {
                Ok(self.serve(rule, entry, if leads { Outcome::Miss } else { Outcome::Coalesced }))
            }
            (None, Err(failure)) => {
                rule.counters.count_failure();
                Err(failure)
            }
        })
    }

    /// Makes uncoalesced calls for keys whose answers are private. An answer that may be shared is cached, which ends this mode for its
    /// key.
    async fn fetch_uncoalesced(
        self: &Arc<Self>,
        wanted: Wanted<'_>,
        alone: Vec<Missing>,
        ask: &mut AskWith<'_>,
    ) -> Vec<(u32, Result<Served, Failure>)> {
        let job = self.job(wanted);
        let places: Vec<u32> = alone.iter().map(|it| it.place).collect();
        let asks = ask();
        let asking = async {
            match asks {
                Some(Asks::One(call, old)) => vec![job.fetch_one(call, old).await],
                Some(Asks::Many(ask)) => {
                    let batches = places.chunks(ask.batch_max().max(1)).map(|places| job.many(&*ask, places));
                    join_all(batches).await.into_iter().flatten().collect()
                }
                None => places.iter().map(|_| Err(abandoned_call_failure())).collect(),
            }
        };
        let late = |_| places.iter().map(|_| Err(CallError::Timeout.into())).collect();
        let made = tokio::time::timeout_at(wanted.deadline.into(), asking).await.unwrap_or_else(late);
        let serve = |(it, made): (Missing, Result<FilledEntry, Failure>)| {
            let served = made.map(|(fate, entry)| {
                if fate == Fate::Keep {
                    job.keep(&it.key, fate, &entry);
                }
                self.serve(wanted.rule, entry, Outcome::Pass)
            });
            (it.place, served.inspect_err(|_| wanted.rule.counters.count_failure()))
        };
        alone.into_iter().zip(made).map(serve).collect()
    }
}

/// A job polled in the task of the request that needs it, which is cheaper than a task. If the request is dropped, the job moves to a task
/// and finishes.
struct OwnJob(Option<BoxFuture<'static, ()>>);

impl Future for OwnJob {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(job) = &mut self.0 {
            ready!(job.as_mut().poll(cx));
            self.0 = None;
        }
        Poll::Ready(())
    }
}

impl Drop for OwnJob {
    fn drop(&mut self) {
        if let (Some(job), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(job);
        }
    }
}

/// A request and its role in a flight: leader, waiter, or neither.
struct Seated {
    missing: Missing,
    at: SeatOf,
}

enum SeatOf {
    Lead(Arrival),
    /// Waits for a flight whose leader has this deadline.
    Wait(Arrival, Instant),
    Kept(Arc<Entry>),
    Pass,
}

/// The leader was dropped together with its thread.
fn abandoned_call_failure() -> Failure {
    CallError::Unavailable(Cause::Connection, "the call was abandoned".into()).into()
}

fn now_before(deadline: Instant) -> bool {
    Instant::now() < deadline
}

/// Waits for a flight until `deadline`; `None` if its leader was dropped.
async fn await_flight(arrival: &Arrival, deadline: Instant) -> Option<Landed> {
    match arrival.known_result() {
        // Common case: this request led the flight and the result is there.
        Some(landed) => Some(landed),
        None => {
            let brought = tokio::time::timeout_at(deadline.into(), arrival.result()).await;
            brought.unwrap_or(Some(Landed::Failed(CallError::Timeout.into())))
        }
    }
}

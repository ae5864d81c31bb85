//! Core of the cache: lookups, choice of the calling request, waiting.
//!
//! **Invariant:** a request waits until its own deadline and no longer; the call continues without it.

use super::clock::Clock;
use super::counters::Outcome;
use super::entry::Entry;
use super::flights::{AnswerOrigin, Arrival, Flight, Flights, Landed};
use super::freshness::Fate;
use super::job::{Asks, FilledEntry, Job, Purpose};
use super::level1::{CacheSlot, Level1};
use super::remote::Remote;
use super::rule::Rule;
use super::tags::Registry;
use super::{Failure, Served, Wanted};
use crate::call::{CallError, Cause};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tokio::runtime::Handle;
use weir_engine::keys::{KeyRef, SharedKey};
use weir_engine::single_flight::Seat;

/// So often somebody waits for another's flight before he asks for himself alone.
const ROUNDS_MAX: usize = 3;

/// State shared by all threads.
#[derive(Debug)]
pub(super) struct Inner {
    pub(super) clock: Clock,
    pub(super) tags: Arc<Registry>,
    pub(super) level1: Level1,
    pub(super) flights: Arc<Flights>,
    pub(super) remote: Option<Remote>,
}

/// State of a key at an instant.
pub(super) enum CacheLookup {
    Fresh(Arc<Entry>),
    /// To be served while a new one is fetched.
    Stale(Arc<Entry>),
    /// To be served if no new one can be had.
    OnError(Arc<Entry>),
    /// The request has to call for itself alone.
    Pass,
    Nothing,
}

/// One of the answers that have to be waited for.
pub(super) struct Missing {
    /// Among the ids.
    pub(super) place: u32,
    pub(super) key: SharedKey,
    /// To be served if nothing comes.
    pub(super) last: Option<Arc<Entry>>,
}

/// Says how to ask; `None` if what asks was used up.
pub(super) type AskWith<'c> = dyn FnMut() -> Option<Asks> + Send + 'c;

/// Result of waiting.
enum Waited {
    Served(Result<Served, Failure>),
    /// It is nobody else's: has to be asked for alone.
    Alone,
    /// The calling request is gone, or gave up too early.
    Again,
}

impl Inner {
    pub(super) fn lookup(&self, key: KeyRef<'_>, now_ms: u64) -> CacheLookup {
        match self.level1.lookup(key) {
            Some(CacheSlot::Pass { until_ms }) if now_ms < until_ms => CacheLookup::Pass,
            Some(CacheSlot::Pass { .. }) | None => CacheLookup::Nothing,
            Some(CacheSlot::Entry(entry)) if !entry.tags.hold() => CacheLookup::Nothing,
            Some(CacheSlot::Entry(entry)) => {
                let lifetime = entry.lifetime;
                if now_ms < lifetime.fresh_until_ms {
                    CacheLookup::Fresh(entry)
                } else if now_ms < lifetime.stale_until_ms {
                    CacheLookup::Stale(entry)
                } else if now_ms < lifetime.error_until_ms {
                    CacheLookup::OnError(entry)
                } else {
                    CacheLookup::Nothing
                }
            }
        }
    }

    pub(super) fn serve(&self, rule: &Rule, entry: Arc<Entry>, outcome: Outcome) -> Served {
        rule.counters.served(outcome, entry.is_negative());
        let now_ms = self.clock.now_ms();
        Served { fresh_ms: entry.fresh_ms(now_ms), stale_ms: entry.stale_ms(now_ms), entry, outcome }
    }

    fn job(self: &Arc<Self>, wanted: Wanted<'_>) -> Job {
        let tags = match wanted.own_tags {
            [] => [self.tags.take(wanted.tags, &[])].into(),
            own => own.iter().map(|own| self.tags.take(wanted.tags, own)).collect(),
        };
        Job { inner: Arc::clone(self), rule: Arc::clone(wanted.rule), tags }
    }

    /// Has what is under `keys` replaced while `old` is still served. Does nothing where somebody does so already.
    pub(super) fn refresh(
        self: &Arc<Self>,
        wanted: Wanted<'_>,
        old: &[(Missing, Arc<Entry>)],
        ask: &mut AskWith<'_>,
    ) {
        let flights: Vec<(u32, Flight)> = old
            .iter()
            .filter_map(|(it, old)| {
                let newer = || match self.level1.lookup(it.key.borrowed()) {
                    Some(CacheSlot::Entry(entry)) if Arc::ptr_eq(&entry, old) => None,
                    slot => slot,
                };
                match self.flights.seat(&it.key, wanted.deadline, newer) {
                    Seat::Lead(flight, _) => Some((it.place, flight)),
                    Seat::Wait(..) | Seat::Kept(_) => None,
                }
            })
            .collect();
        if let Some(asks) = if flights.is_empty() { None } else { ask() } {
            tokio::spawn(self.job(wanted).run(asks, flights, Purpose::Refresh));
        }
    }

    /// Gets what is missing: by asking, or by waiting for who has asked already. One result for each, with its place.
    pub(super) async fn settle(
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
            let (waiting, mut own) = self.seats(wanted, std::mem::take(&mut missing), ask);
            // To its end before others' are waited for: they may wait for it.
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
            settled.extend(self.alone(wanted, alone, ask).await);
        }
        settled
    }

    /// Begins the flights that nobody has begun; says what is to be waited for, and what is to be done for it.
    fn seats(
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
                let kept = || match self.lookup(missing.key.borrowed(), now_ms) {
                    CacheLookup::Fresh(entry) | CacheLookup::Stale(entry) => Some(CacheSlot::Entry(entry)),
                    CacheLookup::Pass => Some(CacheSlot::Pass { until_ms: u64::MAX }),
                    CacheLookup::OnError(_) | CacheLookup::Nothing => None,
                };
                let at = match self.flights.seat(&missing.key, wanted.deadline, kept) {
                    Seat::Lead(flight, arrival) => {
                        flights.push((missing.place, flight));
                        SeatOf::Lead(arrival)
                    }
                    Seat::Wait(arrival, deadline) => SeatOf::Wait(arrival, deadline),
                    Seat::Kept(CacheSlot::Entry(entry)) => SeatOf::Kept(entry),
                    Seat::Kept(CacheSlot::Pass { .. }) => SeatOf::Pass,
                };
                Seated { missing, at }
            })
            .collect();
        // Without a way to call, the flights die, and the waiting requests fail.
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
        match landed(arrival, wanted.deadline).await {
            Some(Landed::Entry(entry, _)) if entry.is_failure() => {
                self.failed(rule, seated, Ok(entry), leads)
            }
            Some(Landed::Entry(entry, _)) if !leads => serve(entry, Outcome::Coalesced),
            Some(Landed::Entry(entry, AnswerOrigin::Upstream)) => serve(entry, Outcome::Miss),
            Some(Landed::Entry(entry, AnswerOrigin::Remote)) => serve(entry, Outcome::HitRemote),
            Some(Landed::Private(entry)) if leads && !entry.is_failure() => serve(entry, Outcome::Pass),
            Some(Landed::Private(entry)) if leads => self.failed(rule, seated, Ok(entry), leads),
            // Waiting requests may see the failure, but not its body.
            Some(Landed::Private(entry)) if entry.is_failure() => {
                self.failed(rule, seated, Ok(Arc::new(entry.without_body())), leads)
            }
            Some(Landed::Private(_)) => Waited::Alone,
            Some(Landed::Failed(Failure { error: CallError::Timeout, .. }))
                if !leads && theirs < wanted.deadline && now_before(wanted.deadline) =>
            {
                Waited::Again
            }
            Some(Landed::Failed(failure)) => self.failed(rule, seated, Err(failure), leads),
            None if leads => self.failed(rule, seated, Err(abandoned()), leads),
            None => Waited::Again,
        }
    }

    /// Answer when the upstream fails.
    fn failed(
        &self,
        rule: &Rule,
        seated: &Seated,
        answer: Result<Arc<Entry>, Failure>,
        leads: bool,
    ) -> Waited {
        let now_ms = self.clock.now_ms();
        let last = seated.missing.last.as_ref();
        let usable = last.filter(|last| now_ms < last.lifetime.error_until_ms && last.tags.hold());
        Waited::Served(match (usable, answer) {
            (Some(last), _) => Ok(self.serve(rule, Arc::clone(last), Outcome::StaleOnError)),
            (None, Ok(entry)) => {
                Ok(self.serve(rule, entry, if leads { Outcome::Miss } else { Outcome::Coalesced }))
            }
            (None, Err(failure)) => {
                rule.counters.failed();
                Err(failure)
            }
        })
    }

    /// Asks for who asks alone. What comes is kept only if it says that it may be, which ends the passing.
    async fn alone(
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
                Some(Asks::One(call)) => vec![job.one(call).await],
                Some(Asks::Many(ask)) => {
                    let batches = places.chunks(ask.batch_max().max(1)).map(|places| job.many(&*ask, places));
                    join_all(batches).await.into_iter().flatten().collect()
                }
                None => places.iter().map(|_| Err(abandoned())).collect(),
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
            (it.place, served.inspect_err(|_| wanted.rule.counters.failed()))
        };
        alone.into_iter().zip(made).map(serve).collect()
    }
}

/// A job of who waits for it: done in his task, which costs less than a task of its own. If he goes away it runs on without him.
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

/// A request with a role.
struct Seated {
    missing: Missing,
    at: SeatOf,
}

enum SeatOf {
    Lead(Arrival),
    /// For a request with that deadline.
    Wait(Arrival, Instant),
    Kept(Arc<Entry>),
    Pass,
}

/// The calling request died with its thread.
fn abandoned() -> Failure {
    CallError::Unavailable(Cause::Connection, "the call was abandoned".into()).into()
}

fn now_before(deadline: Instant) -> bool {
    Instant::now() < deadline
}

/// Result of a flight until `deadline`; nothing if it died.
async fn landed(arrival: &Arrival, deadline: Instant) -> Option<Landed> {
    match arrival.known() {
        // The usual case: the request's own call.
        Some(landed) => Some(landed),
        None => {
            let brought = tokio::time::timeout_at(deadline.into(), arrival.brought()).await;
            brought.unwrap_or(Some(Landed::Failed(CallError::Timeout.into())))
        }
    }
}

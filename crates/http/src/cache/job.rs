//! One trip to an upstream for keys that nobody has: asks, judges what comes, keeps it, and lands the flights.
//!
//! A job runs in the task of who needed it first, and on in a task of its own on that runtime if he goes away: who does so takes
//! nothing from those who wait, and connections stay with the thread that opened them. If the runtime ends, the flights die
//! with it and those who wait on other threads ask anew.
//!
//! **Invariant:** an answer that is for one caller is kept nowhere and reaches nobody else.

use super::entry::answer_headers::AnswerHeaders;
use super::entry::body::Body;
use super::entry::validators::Validators;
use super::entry::{Entry, Lifetime};
use super::flights::{AnswerOrigin, Flight, Landed};
use super::freshness::{self, Fate, Verdict};
use super::level1::CacheSlot;
use super::remote::{self, EntryName, Remote};
use super::rule::Rule;
use super::second_level::Ticket;
use super::state::CacheState;
use super::tags::Tags;
use super::{AskMany, Batch, Failure};
use crate::call::{Answer, Went};
use futures_util::future::{BoxFuture, join, join_all};
use http::{HeaderMap, StatusCode};
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use weir_engine::keys::SharedKey;

/// Time for which requests of a key are not coalesced after a private answer.
const PASS_MS: u64 = 10_000;
/// Pause after a failed refresh.
const RETRY_MS: u64 = 1000;
/// Pause before looking for the refreshed entry if another process holds the lease.
const LEASED_MS: u64 = 100;
/// First pause between lookups while another process makes the call; it doubles each time.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Ways to call an upstream.
pub(super) enum Asks {
    /// One call, and the entry that it may confirm.
    One(BoxFuture<'static, Result<Answer, Failure>>, Option<Arc<Entry>>),
    /// One call for several ids.
    Many(Arc<dyn AskMany>),
}

/// State that a job needs to turn answers into entries.
pub(super) struct Job {
    pub(super) state: Arc<CacheState>,
    pub(super) rule: Arc<Rule>,
    /// Tag states from before the call: one per id, or a single one for all.
    pub(super) tags: SmallVec<[Tags; 1]>,
}

/// An answer without its body.
struct Head {
    status: StatusCode,
    went: Went,
    headers: AnswerHeaders,
    validators: Option<Validators>,
}

/// An answer and what is to become of it.
pub(super) type FilledEntry = (Fate, Arc<Entry>);

/// Purposes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// No entry exists, and a request waits.
    Fill,
    /// An entry exists and is served meanwhile.
    Refresh,
}

/// A flight and what it is for.
struct Trip {
    /// Position among the requested ids.
    place: u32,
    flight: Flight,
    /// Name in the second level, if the rule allows entries there.
    name: Option<EntryName>,
    /// Ticket to write it there.
    ticket: Option<Ticket>,
}

impl Job {
    /// Fetches the answers of `flights`, given with their positions among the ids, and lands them.
    pub(super) async fn run(self, asks: Asks, flights: Vec<(u32, Flight)>, purpose: Purpose) {
        let trip = |(place, flight)| Trip { place, flight, name: None, ticket: None };
        let trips: Vec<Trip> = flights.into_iter().map(trip).collect();
        match self.state.remote.as_ref().filter(|_| remote::is_public(&self.rule)) {
            // A boxed future: few jobs need it, and without the box it would enlarge every job's task.
            Some(remote) => Box::pin(self.run_with(remote, asks, trips, purpose)).await,
            None => self.ask(asks, trips).await,
        }
    }

    /// Like [`Job::run`], but looks into the second level first and leaves keys to other processes that hold their lease.
    async fn run_with(&self, remote: &Remote, asks: Asks, mut trips: Vec<Trip>, purpose: Purpose) {
        trips
            .iter_mut()
            .for_each(|trip| trip.name = Some(remote.name(&self.rule, trip.flight.key().bytes())));
        let trips = self.land_remote_hits(remote, trips, purpose).await;
        if trips.iter().any(|it| it.ticket.is_none()) {
            return self.ask(asks, trips).await;
        }
        let won = remote.lease(&names(&trips)).await;
        let mut mine = Vec::new();
        let mut theirs = Vec::new();
        for (trip, won) in trips.into_iter().zip(won) {
            if won { mine.push(trip) } else { theirs.push(trip) }
        }
        if purpose == Purpose::Refresh {
            // The next lookup finds the results of other processes in the second level.
            theirs.drain(..).for_each(|trip| self.state.postpone_refresh(trip.flight.key(), LEASED_MS));
        }
        match asks {
            Asks::One(call, old) => {
                let left = self.wait_for_others(remote, theirs).await;
                mine.extend(left);
                self.ask(Asks::One(call, old), mine).await;
            }
            Asks::Many(ask) => {
                let late = async {
                    let left = self.wait_for_others(remote, theirs).await;
                    self.ask(Asks::Many(Arc::clone(&ask)), left).await;
                };
                join(self.ask(Asks::Many(Arc::clone(&ask)), mine), late).await;
            }
        }
    }

    /// Lands the flights whose entries are in the second level; returns the others.
    async fn land_remote_hits(&self, remote: &Remote, trips: Vec<Trip>, purpose: Purpose) -> Vec<Trip> {
        let tags: Vec<&Tags> = trips.iter().map(|it| self.tags(it.place)).collect();
        let looked = remote.lookup(&names(&trips), &self.rule, &tags).await;
        let mut tickets = looked.tickets.into_iter();
        let now_ms = self.state.clock.now_ms();
        let mut left = Vec::with_capacity(trips.len());
        for (mut trip, entry) in trips.into_iter().zip(looked.entries) {
            trip.ticket = tickets.next().or(trip.ticket);
            let key = trip.flight.key();
            let serves = |entry: &Entry| match purpose {
                Purpose::Fill => now_ms < entry.lifetime.stale_until_ms.max(entry.lifetime.fresh_until_ms),
                Purpose::Refresh => {
                    now_ms < entry.lifetime.fresh_until_ms && self.state.outlives(key, &entry.lifetime)
                }
            };
            match entry.filter(serves) {
                Some(entry) => {
                    let entry = Arc::new(entry);
                    self.state.level1.keep(key, CacheSlot::Entry(Arc::clone(&entry)));
                    trip.flight.land(Landed::Entry(entry, AnswerOrigin::Remote));
                }
                None => left.push(trip),
            }
        }
        left
    }

    /// Polls the second level for a few milliseconds for results of other processes; returns the trips without one.
    async fn wait_for_others(&self, remote: &Remote, mut trips: Vec<Trip>) -> Vec<Trip> {
        let mut pause = LOOK_AGAIN;
        let mut left = remote.patience();
        while !trips.is_empty() && !left.is_zero() {
            tokio::time::sleep(pause.min(left)).await;
            trips = self.land_remote_hits(remote, trips, Purpose::Fill).await;
            left = left.saturating_sub(pause);
            pause *= 2;
        }
        trips
    }

    /// Tags of the id at `place`.
    fn tags(&self, place: u32) -> &Tags {
        match self.tags.as_slice() {
            [all] => all,
            own => &own[place as usize],
        }
    }

    /// Calls the upstream for `trips`. Cacheable answers with a ticket are also written to the second level.
    async fn ask(&self, asks: Asks, trips: Vec<Trip>) {
        if trips.is_empty() {
            return;
        }
        match asks {
            Asks::One(call, old) => {
                let made = self.fetch_one(call, old).await;
                trips.into_iter().for_each(|trip| self.finish_trip(trip, made.clone()));
            }
            Asks::Many(ask) => Box::pin(self.ask_many(&*ask, trips)).await,
        }
    }

    /// Like [`Job::ask`], with one call per batch, all concurrent.
    async fn ask_many(&self, ask: &dyn AskMany, trips: Vec<Trip>) {
        let places: Vec<u32> = trips.iter().map(|trip| trip.place).collect();
        let mut trips = trips.into_iter();
        let batches = places.chunks(ask.batch_max().max(1)).map(|places| {
            let trips: Vec<_> = trips.by_ref().take(places.len()).collect();
            async move {
                let made = self.many(ask, places).await;
                trips.into_iter().zip(made).for_each(|(trip, made)| self.finish_trip(trip, made));
            }
        });
        join_all(batches).await;
    }

    /// The entry that the upstream confirmed by `answer`, a 304: its body, with the lifetime and audience that follow from the headers now.
    fn renew(&self, old: &Entry, answer: Answer, asked: &AskedAt) -> FilledEntry {
        self.rule.counters.count_revalidation();
        let mut headers = answer.headers;
        old.complete(&mut headers);
        let status = StatusCode::from_u16(old.status).unwrap_or(StatusCode::OK);
        let verdict = freshness::assess(&self.rule, status, &headers, asked.wall_ms);
        let head = self.head(status, answer.went, &headers, verdict);
        self.build_entry(0, head, old.body.clone(), verdict, &asked.came(self))
    }

    /// Status, headers and validators that are kept of an answer to a single call.
    fn head(&self, status: StatusCode, went: Went, headers: &HeaderMap, verdict: Verdict) -> Head {
        // A page that says that nothing is there has no validator of what may come.
        let is_representation = matches!(status, StatusCode::OK | StatusCode::NON_AUTHORITATIVE_INFORMATION);
        let is_validated = self.rule.revalidates && verdict.fate == Fate::Keep && is_representation;
        Head {
            status,
            went,
            headers: AnswerHeaders::of(headers, &self.rule.kept),
            validators: if is_validated { Validators::of(headers, &self.rule) } else { None },
        }
    }

    /// Makes one call and turns its answer into an entry.
    pub(super) async fn fetch_one(
        &self,
        call: BoxFuture<'static, Result<Answer, Failure>>,
        old: Option<Arc<Entry>>,
    ) -> Result<FilledEntry, Failure> {
        let asked = AskedAt::now(self);
        let answer = call.await?;
        if let Some(old) = old.filter(|_| answer.status == StatusCode::NOT_MODIFIED) {
            return Ok(self.renew(&old, answer, &asked));
        }
        let body = Body::read(answer.body, &answer.headers, &self.rule);
        let verdict = freshness::assess(&self.rule, answer.status, &answer.headers, asked.wall_ms);
        let head = self.head(answer.status, answer.went, &answer.headers, verdict);
        Ok(self.build_entry(0, head, body, verdict, &asked.came(self)))
    }

    /// Fetches the answers for `places` in one call.
    pub(super) async fn many(&self, ask: &dyn AskMany, places: &[u32]) -> Vec<Result<FilledEntry, Failure>> {
        let asked = AskedAt::now(self);
        let Batch { answer, body, values } = match ask.ask(places).await {
            Ok(batch) => batch,
            Err(failure) => return places.iter().map(|_| Err(failure.clone())).collect(),
        };
        let came = asked.came(self);
        let assess = |status| freshness::assess(&self.rule, status, &answer.headers, asked.wall_ms);
        let of_batch = assess(answer.status);
        let is_success = answer.status.is_success();
        let headers = AnswerHeaders::of(&answer.headers, &self.rule.kept);
        let head = |status| Head { status, went: answer.went, headers: headers.clone(), validators: None };
        // A cached refusal is one entry per key; any other failure of a batch is one for all keys.
        if !is_success && of_batch.fate != Fate::Keep {
            let (fate, entry) = self.build_entry(places[0], head(answer.status), body, of_batch, &came);
            return places.iter().map(|_| Ok((fate, Arc::clone(&entry)))).collect();
        }
        // After an error of the whole batch it is unknown whether a key exists.
        let (missing, absent) = if is_success {
            (StatusCode::NOT_FOUND, assess(StatusCode::NOT_FOUND))
        } else {
            (answer.status, of_batch)
        };
        // What shares the answer's memory keeps all of it, so little of it may be what nobody asked for.
        let shares = of_batch.fate != Fate::Keep
            && body.tape().is_some_and(|tape| tape.is_mostly(values.iter().copied().flatten()));
        let found = |at: usize| body.tape().zip(values.get(at).copied().flatten());
        let one = |(at, &place): (usize, &u32)| match found(at) {
            Some((tape, at)) if is_success => {
                let part = if shares { tape.share_part(at) } else { tape.copy_part(at) };
                self.build_entry(place, head(answer.status), Body::Json(part), of_batch, &came)
            }
            Some(_) | None => self.build_entry(place, head(missing), Body::Absent, absent, &came),
        };
        places.iter().enumerate().map(|it| Ok(one(it))).collect()
    }

    fn build_entry(
        &self,
        place: u32,
        head: Head,
        body: Body,
        verdict: Verdict,
        came: &CameAt,
    ) -> FilledEntry {
        let jitter = match verdict.fresh_ms {
            0 => 0,
            fresh_ms => fresh_ms * fastrand::u64(0..=u64::from(self.rule.jitter_percent.min(100))) / 100,
        };
        let sooner_ms = jitter.min(verdict.fresh_ms.saturating_sub(freshness::LIFETIME_MS_MIN));
        let end_ms = came.asked_ms + verdict.fresh_ms;
        let entry = Entry {
            status: head.status.as_u16(),
            body,
            headers: head.headers,
            validators: head.validators,
            lifetime: Lifetime {
                origin_ms: came.asked_ms,
                fresh_until_ms: end_ms - sooner_ms,
                // The time that jitter removes is added to the stale period.
                stale_until_ms: end_ms + verdict.stale_ms,
                error_until_ms: end_ms + verdict.error_ms,
            },
            scope: verdict.scope,
            is_silent: verdict.is_silent,
            is_inner: verdict.is_inner,
            must_revalidate: verdict.must_revalidate,
            took_ms: came.took_ms,
            went: head.went,
            tags: self.tags(place).clone(),
            retry_at_ms: AtomicU64::new(0),
        };
        let fate = if entry.is_failure() && verdict.fate == Fate::Keep { Fate::Forget } else { verdict.fate };
        (fate, Arc::new(entry))
    }

    /// Caches the cacheable answers, and wakes the waiting requests.
    fn finish_trip(&self, trip: Trip, made: Result<FilledEntry, Failure>) {
        let Trip { flight, name, ticket, .. } = trip;
        if let (Some(remote), Some(name), Some(ticket)) = (&self.state.remote, name, ticket) {
            match &made {
                Ok((Fate::Keep, entry)) => remote.keep(name, entry, &ticket),
                Ok((Fate::Forget | Fate::Private, _)) | Err(_) => remote.release(name),
            }
        }
        match made {
            Ok((fate, entry)) => {
                self.keep(flight.key(), fate, &entry);
                flight.land(match fate {
                    Fate::Keep | Fate::Forget => Landed::Entry(entry, AnswerOrigin::Upstream),
                    Fate::Private => Landed::Private(entry),
                });
            }
            Err(failure) => {
                self.state.postpone_refresh(flight.key(), RETRY_MS);
                flight.land(Landed::Failed(failure));
            }
        }
    }

    /// Caches `entry` under `key`, or records why it must not be cached.
    pub(super) fn keep(&self, key: &SharedKey, fate: Fate, entry: &Arc<Entry>) {
        let state = &self.state;
        match fate {
            _ if entry.is_failure() => state.postpone_refresh(key, RETRY_MS),
            Fate::Keep => {
                if let Some(CacheSlot::Entry(old)) = state.level1.lookup(key.as_key_ref()) {
                    self.rule
                        .counters
                        .count_refresh(entry.lifetime.origin_ms.saturating_sub(old.lifetime.fresh_until_ms));
                }
                state.level1.keep(key, CacheSlot::Entry(Arc::clone(entry)));
            }
            // The newest answer decides, so an older entry is removed too.
            Fate::Forget => state.level1.forget(key.as_key_ref()),
            Fate::Private => {
                state.level1.keep(key, CacheSlot::Pass { until_ms: state.clock.now_ms() + PASS_MS })
            }
        }
    }
}

fn names(trips: &[Trip]) -> Vec<EntryName> {
    trips.iter().filter_map(|trip| trip.name.clone()).collect()
}

/// When an upstream was asked.
struct AskedAt {
    at_ms: u64,
    wall_ms: u64,
}

impl AskedAt {
    fn now(job: &Job) -> Self {
        Self { at_ms: job.state.clock.now_ms(), wall_ms: job.state.clock.wall_ms() }
    }

    /// Records that the answer came.
    fn came(&self, job: &Job) -> CameAt {
        let took_ms = job.state.clock.now_ms() - self.at_ms;
        CameAt { asked_ms: self.at_ms, took_ms: u32::try_from(took_ms).unwrap_or(u32::MAX) }
    }
}

/// When an upstream was asked and how long its answer took; of a batch once for all its entries.
struct CameAt {
    asked_ms: u64,
    took_ms: u32,
}

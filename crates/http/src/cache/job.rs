//! One trip to an upstream for keys that nobody has: asks, judges what comes, keeps it, and lands the flights.
//!
//! A job runs in the task of who needed it first, and on in a task of its own on that runtime if he goes away: who does so takes
//! nothing from those who wait, and connections stay with the thread that opened them. If the runtime ends, the flights die
//! with it and those who wait on other threads ask anew.
//!
//! **Invariant:** an answer that is for one caller is kept nowhere and reaches nobody else.

use super::answer_headers::AnswerHeaders;
use super::body::Body;
use super::entry::{Entry, Lifetime};
use super::flights::{AnswerOrigin, Flight, Landed};
use super::freshness::{self, Fate, Verdict};
use super::inner::Inner;
use super::level1::CacheSlot;
use super::remote::{self, EntryName, Remote, Ticket};
use super::rule::Rule;
use super::tags::Tags;
use super::{AskMany, Batch, Failure};
use crate::call::{Answer, Went};
use futures_util::future::{BoxFuture, join, join_all};
use http::StatusCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use weir_engine::keys::SharedKey;

/// After answers that are not shared, nobody waits for another's under that key for so long.
const PASS_MS: u64 = 10_000;
/// After a refresh failed, the next is not tried for so long.
const RETRY_MS: u64 = 1000;
/// After another process has taken over a refresh, it is looked for its answer again after so long.
const LEASED_MS: u64 = 100;
/// The first pause before it is looked for what another process asks for; each is twice as long as the one before.
const LOOK_AGAIN: Duration = Duration::from_millis(2);
/// Ends of lifetimes that differ by less are one, written and read.
const SAME_MS: u64 = 20;

/// Ways to call an upstream.
pub(super) enum Asks {
    /// For one answer.
    One(BoxFuture<'static, Result<Answer, Failure>>),
    /// For several at once.
    Many(Arc<dyn AskMany>),
}

/// Data to make entries of answers.
pub(super) struct Job {
    pub(super) inner: Arc<Inner>,
    pub(super) rule: Arc<Rule>,
    /// As they were before anything was asked: by place among the ids, or one for all.
    pub(super) tags: Box<[Tags]>,
}

/// An answer without its body.
struct Head {
    status: StatusCode,
    went: Went,
    headers: AnswerHeaders,
}

/// An answer and what is to become of it.
pub(super) type FilledEntry = (Fate, Arc<Entry>);

/// Purposes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Nothing is there: somebody waits.
    Fill,
    /// The existing entry is served meanwhile.
    Refresh,
}

/// A flight and what it is for.
struct Trip {
    /// Among the ids.
    place: u32,
    flight: Flight,
    /// Name in the second level, if the entry may be there.
    name: Option<EntryName>,
    /// Ticket to write it there.
    ticket: Option<Ticket>,
}

impl Job {
    /// Brings what the flights are for; each comes with its place among the ids.
    pub(super) async fn run(self, asks: Asks, flights: Vec<(u32, Flight)>, purpose: Purpose) {
        let trip = |(place, flight)| Trip { place, flight, name: None, ticket: None };
        let trips: Vec<Trip> = flights.into_iter().map(trip).collect();
        match self.inner.remote.as_ref().filter(|_| remote::is_public(&self.rule)) {
            // Boxed, as what a task holds is moved when it begins: few need this, and all would carry it.
            Some(remote) => Box::pin(self.run_with(remote, asks, trips, purpose)).await,
            None => self.ask(asks, trips).await,
        }
    }

    /// As [`Job::run`], looking into the second level first, and asking for nothing that another process asks for.
    async fn run_with(&self, remote: &Remote, asks: Asks, mut trips: Vec<Trip>, purpose: Purpose) {
        trips
            .iter_mut()
            .for_each(|trip| trip.name = Some(remote.name(&self.rule, trip.flight.key().bytes())));
        let trips = self.found(remote, trips, purpose).await;
        if trips.iter().any(|it| it.ticket.is_none()) {
            return self.ask(asks, trips).await;
        }
        let won = remote.lease(&names(&trips)).await;
        let (mut mine, mut theirs) = (Vec::new(), Vec::new());
        for (trip, won) in trips.into_iter().zip(won) {
            if won { mine.push(trip) } else { theirs.push(trip) }
        }
        if purpose == Purpose::Refresh {
            // The next lookup finds the results of the other processes there.
            theirs.drain(..).for_each(|trip| self.inner.not_refreshed(trip.flight.key(), LEASED_MS));
        }
        match asks {
            Asks::One(call) => {
                let left = self.wait_for_others(remote, theirs).await;
                mine.extend(left);
                self.ask(Asks::One(call), mine).await;
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

    /// Lands what the second level has, and says what is left.
    async fn found(&self, remote: &Remote, trips: Vec<Trip>, purpose: Purpose) -> Vec<Trip> {
        let tags: Vec<&Tags> = trips.iter().map(|it| self.tags(it.place)).collect();
        let looked = remote.lookup(&names(&trips), &self.rule, &tags).await;
        let mut tickets = looked.tickets.into_iter();
        let now_ms = self.inner.clock.now_ms();
        let mut left = Vec::with_capacity(trips.len());
        for (mut trip, entry) in trips.into_iter().zip(looked.entries) {
            trip.ticket = tickets.next().or(trip.ticket);
            let key = trip.flight.key();
            let serves = |entry: &Entry| match purpose {
                Purpose::Fill => now_ms < entry.lifetime.stale_until_ms.max(entry.lifetime.fresh_until_ms),
                Purpose::Refresh => {
                    now_ms < entry.lifetime.fresh_until_ms && self.inner.outlives(key, &entry.lifetime)
                }
            };
            match entry.filter(serves) {
                Some(entry) => {
                    let entry = Arc::new(entry);
                    self.inner.level1.keep(key, CacheSlot::Entry(Arc::clone(&entry)));
                    trip.flight.land(Landed::Entry(entry, AnswerOrigin::Remote));
                }
                None => left.push(trip),
            }
        }
        left
    }

    /// Waits a few milliseconds for what other processes ask for, and says what has not come.
    async fn wait_for_others(&self, remote: &Remote, mut trips: Vec<Trip>) -> Vec<Trip> {
        let (mut pause, mut left) = (LOOK_AGAIN, remote.patience());
        while !trips.is_empty() && !left.is_zero() {
            tokio::time::sleep(pause.min(left)).await;
            trips = self.found(remote, trips, Purpose::Fill).await;
            left = left.saturating_sub(pause);
            pause *= 2;
        }
        trips
    }

    /// The tags of what is at `place` among the ids.
    fn tags(&self, place: u32) -> &Tags {
        match &*self.tags {
            [all] => all,
            own => &own[place as usize],
        }
    }

    /// Asks the upstream for what the trips are for. What may be kept and has a ticket is written to the second level.
    async fn ask(&self, asks: Asks, trips: Vec<Trip>) {
        if trips.is_empty() {
            return;
        }
        match asks {
            Asks::One(call) => {
                let made = self.one(call).await;
                trips.into_iter().for_each(|trip| self.land(trip, made.clone()));
            }
            Asks::Many(ask) => Box::pin(self.ask_many(&*ask, trips)).await,
        }
    }

    /// As [`Job::ask`], in batches side by side.
    async fn ask_many(&self, ask: &dyn AskMany, trips: Vec<Trip>) {
        let places: Vec<u32> = trips.iter().map(|trip| trip.place).collect();
        let mut trips = trips.into_iter();
        let batches = places.chunks(ask.batch_max().max(1)).map(|places| {
            let trips: Vec<_> = trips.by_ref().take(places.len()).collect();
            async move {
                let made = self.many(ask, places).await;
                trips.into_iter().zip(made).for_each(|(trip, made)| self.land(trip, made));
            }
        });
        join_all(batches).await;
    }

    /// One answer.
    pub(super) async fn one(
        &self,
        call: BoxFuture<'static, Result<Answer, Failure>>,
    ) -> Result<FilledEntry, Failure> {
        let asked = AskedAt::now(self);
        let answer = call.await?;
        let body = Body::read(answer.body, &answer.headers, &self.rule);
        let verdict = freshness::assess(&self.rule, answer.status, &answer.headers, asked.wall_ms);
        let headers = AnswerHeaders::of(&answer.headers, &self.rule.kept);
        Ok(self.made(0, Head { status: answer.status, went: answer.went, headers }, body, verdict, &asked))
    }

    /// The answers for `places`, which go into one call.
    pub(super) async fn many(&self, ask: &dyn AskMany, places: &[u32]) -> Vec<Result<FilledEntry, Failure>> {
        let asked = AskedAt::now(self);
        let Batch { answer, body, values } = match ask.ask(places).await {
            Ok(batch) => batch,
            Err(failure) => return places.iter().map(|_| Err(failure.clone())).collect(),
        };
        let assess = |status| freshness::assess(&self.rule, status, &answer.headers, asked.wall_ms);
        let of_batch = assess(answer.status);
        let is_success = answer.status.is_success();
        let headers = AnswerHeaders::of(&answer.headers, &self.rule.kept);
        let head = |status| Head { status, went: answer.went, headers: headers.clone() };
        // A cached refusal is one entry per key; any other failure of a batch is one for all keys.
        if !is_success && of_batch.fate != Fate::Keep {
            let (fate, entry) = self.made(places[0], head(answer.status), body, of_batch, &asked);
            return places.iter().map(|_| Ok((fate, Arc::clone(&entry)))).collect();
        }
        // After an error of the whole batch it is unknown if a key exists.
        let (missing, absent) = match is_success {
            true => (StatusCode::NOT_FOUND, assess(StatusCode::NOT_FOUND)),
            false => (answer.status, of_batch),
        };
        let found = |at: usize| body.tape().zip(values.get(at).copied().flatten());
        let one = |(at, &place): (usize, &u32)| match found(at) {
            Some((tape, at)) if is_success => {
                self.made(place, head(answer.status), Body::Json(tape.part(at)), of_batch, &asked)
            }
            Some(_) | None => self.made(place, head(missing), Body::Absent, absent, &asked),
        };
        places.iter().enumerate().map(|it| Ok(one(it))).collect()
    }

    fn made(&self, place: u32, head: Head, body: Body, verdict: Verdict, asked: &AskedAt) -> FilledEntry {
        let jitter = verdict.fresh_ms * fastrand::u64(0..=u64::from(self.rule.jitter_percent.min(100))) / 100;
        let sooner_ms = jitter.min(verdict.fresh_ms.saturating_sub(freshness::LIFETIME_MS_MIN));
        let end_ms = asked.at_ms + verdict.fresh_ms;
        let entry = Entry {
            status: head.status.as_u16(),
            body,
            headers: head.headers,
            lifetime: Lifetime {
                origin_ms: asked.at_ms,
                fresh_until_ms: end_ms - sooner_ms,
                // The time that jitter removes is added to the stale period.
                stale_until_ms: end_ms + verdict.stale_ms,
                error_until_ms: end_ms + verdict.error_ms,
            },
            scope: verdict.scope,
            is_silent: verdict.is_silent,
            is_inner: verdict.is_inner,
            must_revalidate: verdict.must_revalidate,
            took_ms: u32::try_from(self.inner.clock.now_ms() - asked.at_ms).unwrap_or(u32::MAX),
            went: head.went,
            tags: self.tags(place).clone(),
            retry_at_ms: AtomicU64::new(0),
        };
        let fate = if entry.is_failure() && verdict.fate == Fate::Keep { Fate::Forget } else { verdict.fate };
        (fate, Arc::new(entry))
    }

    /// Caches the cacheable answers, and wakes the waiting requests.
    fn land(&self, trip: Trip, made: Result<FilledEntry, Failure>) {
        let Trip { flight, name, ticket, .. } = trip;
        if let (Some(remote), Some(name), Some(ticket)) = (&self.inner.remote, name, ticket) {
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
                self.inner.not_refreshed(flight.key(), RETRY_MS);
                flight.land(Landed::Failed(failure));
            }
        }
    }

    /// Keeps `entry` under `key`, or what else has to be known of it.
    pub(super) fn keep(&self, key: &SharedKey, fate: Fate, entry: &Arc<Entry>) {
        let inner = &self.inner;
        match fate {
            _ if entry.is_failure() => inner.not_refreshed(key, RETRY_MS),
            Fate::Keep => {
                if let Some(CacheSlot::Entry(old)) = inner.level1.lookup(key.borrowed()) {
                    self.rule
                        .counters
                        .refreshed(entry.lifetime.origin_ms.saturating_sub(old.lifetime.fresh_until_ms));
                }
                inner.level1.keep(key, CacheSlot::Entry(Arc::clone(entry)));
            }
            // The upstream's last word counts, also for what was kept before.
            Fate::Forget => inner.level1.forget(key.borrowed()),
            Fate::Private => {
                inner.level1.keep(key, CacheSlot::Pass { until_ms: inner.clock.now_ms() + PASS_MS })
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
        Self { at_ms: job.inner.clock.now_ms(), wall_ms: job.inner.clock.wall_ms() }
    }
}

impl Inner {
    /// True if `lifetime` ends well after that of the entry under `key`: a difference beyond that of two machines' clocks.
    fn outlives(&self, key: &SharedKey, lifetime: &Lifetime) -> bool {
        match self.level1.lookup(key.borrowed()) {
            Some(CacheSlot::Entry(old)) => lifetime.fresh_until_ms > old.lifetime.fresh_until_ms + SAME_MS,
            Some(CacheSlot::Pass { .. }) | None => true,
        }
    }

    /// Notes that the answer under `key` could not be replaced.
    fn not_refreshed(&self, key: &SharedKey, for_ms: u64) {
        if let Some(CacheSlot::Entry(old)) = self.level1.lookup(key.borrowed()) {
            old.retry_at_ms.store(self.clock.now_ms() + for_ms, Ordering::Relaxed);
        }
    }
}

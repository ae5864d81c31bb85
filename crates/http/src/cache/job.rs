//! One trip to an upstream for keys that nobody has: asks, judges what comes, keeps it, and lands the flights.
//!
//! A job runs as a task of its own on the runtime of who needed it first: whoever goes away meanwhile takes nothing from those
//! who wait, and connections stay with the thread that opened them. If the runtime ends, the flights die with it and those
//! who wait on other threads ask anew.
//!
//! **Invariant:** an answer that is for one caller is kept nowhere and reaches nobody else.

use super::entry::{Body, Entry, Lifetime, Tape};
use super::flights::{Flight, Landed};
use super::freshness::{self, Fate, Verdict};
use super::inner::Inner;
use super::level1::Slot;
use super::rule::Rule;
use super::tags::Tags;
use super::{AskMany, Batch, Failure};
use crate::call::Answer;
use futures_util::future::{BoxFuture, join_all};
use http::StatusCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// After answers that are not shared, nobody waits for another's under that key for so long.
const PASS_MS: u64 = 10_000;
/// After a refresh failed, the next is not tried for so long.
const RETRY_MS: u64 = 1000;

/// How an upstream is asked.
pub(super) enum Asks {
    /// For one answer.
    One(BoxFuture<'static, Result<Answer, Failure>>),
    /// For several at once.
    Many(Arc<dyn AskMany>),
}

/// What it takes to make entries of answers.
pub(super) struct Job {
    pub(super) inner: Arc<Inner>,
    pub(super) rule: Arc<Rule>,
    /// As they were before anything was asked.
    pub(super) tags: Tags,
}

/// An answer and what is to become of it.
pub(super) type Made = (Fate, Arc<Entry>);

impl Job {
    /// Brings what the flights are for; each knows its place among the ids.
    pub(super) async fn run(self, asks: Asks, flights: Vec<(u32, Flight)>) {
        let places: Vec<u32> = flights.iter().map(|(place, _)| *place).collect();
        match asks {
            Asks::One(call) => {
                let made = self.one(call).await;
                flights.into_iter().for_each(|(_, flight)| self.land(flight, made.clone()));
            }
            Asks::Many(ask) => {
                let mut flights = flights.into_iter();
                let batches = places.chunks(ask.batch_max().max(1)).map(|places| {
                    let flights: Vec<_> = flights.by_ref().take(places.len()).collect();
                    let (job, ask) = (&self, &ask);
                    async move {
                        let made = job.many(&**ask, places).await;
                        flights.into_iter().zip(made).for_each(|((_, flight), made)| job.land(flight, made));
                    }
                });
                join_all(batches).await;
            }
        }
    }

    /// One answer.
    pub(super) async fn one(
        &self,
        call: BoxFuture<'static, Result<Answer, Failure>>,
    ) -> Result<Made, Failure> {
        let asked = Asked::now(self);
        let answer = call.await?;
        let body = match answer.body.is_empty() {
            true => Body::Absent,
            false => Tape::parse(answer.body, self.rule.depth_max).map_or_else(Body::Unreadable, Body::Json),
        };
        let verdict = freshness::judge(&self.rule, answer.status, &answer.headers, asked.wall_ms);
        Ok(self.made(answer.status, body, verdict, &asked))
    }

    /// The answers for `places`, which go into one call.
    pub(super) async fn many(&self, ask: &dyn AskMany, places: &[u32]) -> Vec<Result<Made, Failure>> {
        let asked = Asked::now(self);
        let Batch { answer, tape, values } = match ask.ask(places).await {
            Ok(batch) => batch,
            Err(failure) => return places.iter().map(|_| Err(failure.clone())).collect(),
        };
        let judge = |status| freshness::judge(&self.rule, status, &answer.headers, asked.wall_ms);
        let whole = judge(answer.status);
        // What a batch as a whole was answered with an error for is not known to be absent.
        let (missing, absent) = match answer.status.is_success() {
            true => (StatusCode::NOT_FOUND, judge(StatusCode::NOT_FOUND)),
            false => (answer.status, whole),
        };
        let one = |place: usize| match values.get(place).copied().flatten() {
            Some(at) if answer.status.is_success() => {
                self.made(answer.status, Body::Json(tape.part(at)), whole, &asked)
            }
            Some(_) | None => self.made(missing, Body::Absent, absent, &asked),
        };
        (0..places.len()).map(|place| Ok(one(place))).collect()
    }

    fn made(&self, status: StatusCode, body: Body, verdict: Verdict, asked: &Asked) -> Made {
        let jitter = verdict.fresh_ms * fastrand::u64(0..=u64::from(self.rule.jitter_percent.min(100))) / 100;
        let sooner_ms = jitter.min(verdict.fresh_ms.saturating_sub(freshness::LIFETIME_MS_MIN));
        let end_ms = asked.at_ms + verdict.fresh_ms;
        let entry = Entry {
            status: status.as_u16(),
            body,
            lifetime: Lifetime {
                origin_ms: asked.at_ms,
                fresh_until_ms: end_ms - sooner_ms,
                // What jitter takes away may be served while a new answer is fetched.
                stale_until_ms: end_ms + verdict.stale_ms,
                error_until_ms: end_ms + verdict.error_ms,
            },
            scope: verdict.scope,
            took_ms: u32::try_from(self.inner.clock.now_ms() - asked.at_ms).unwrap_or(u32::MAX),
            tags: self.tags.clone(),
            retry_at_ms: AtomicU64::new(0),
        };
        let fate = if entry.is_failure() && verdict.fate == Fate::Keep { Fate::Forget } else { verdict.fate };
        (fate, Arc::new(entry))
    }

    /// Keeps what may be kept, and tells those who wait.
    fn land(&self, flight: Flight, made: Result<Made, Failure>) {
        let inner = &self.inner;
        match made {
            Ok((fate, entry)) => {
                self.keep(&flight.key, fate, &entry);
                flight.land(match fate {
                    Fate::Keep | Fate::Forget => Landed::Entry(entry),
                    Fate::Private => Landed::Private(entry),
                });
            }
            Err(failure) => {
                inner.not_refreshed(&flight.key, RETRY_MS);
                flight.land(Landed::Failed(failure));
            }
        }
    }

    /// Keeps `entry` under `key`, or what else has to be known of it.
    pub(super) fn keep(&self, key: &Arc<[u8]>, fate: Fate, entry: &Arc<Entry>) {
        let inner = &self.inner;
        match fate {
            _ if entry.is_failure() => inner.not_refreshed(key, RETRY_MS),
            Fate::Keep => {
                if let Some(Slot::Entry(old)) = inner.level1.look(key) {
                    self.rule
                        .counters
                        .refreshed(entry.lifetime.origin_ms.saturating_sub(old.lifetime.fresh_until_ms));
                }
                inner.level1.keep(key, Slot::Entry(Arc::clone(entry)));
            }
            // The upstream's last word counts, also for what was kept before.
            Fate::Forget => inner.level1.forget(key),
            Fate::Private => inner.level1.keep(key, Slot::Pass { until_ms: inner.clock.now_ms() + PASS_MS }),
        }
    }
}

/// When an upstream was asked.
struct Asked {
    at_ms: u64,
    wall_ms: u64,
}

impl Asked {
    fn now(job: &Job) -> Self {
        Self { at_ms: job.inner.clock.now_ms(), wall_ms: job.inner.clock.wall_ms() }
    }
}

impl Inner {
    /// Notes that the answer under `key` could not be replaced.
    fn not_refreshed(&self, key: &[u8], for_ms: u64) {
        if let Some(Slot::Entry(old)) = self.level1.look(key) {
            old.retry_at_ms.store(self.clock.now_ms() + for_ms, Ordering::Relaxed);
        }
    }
}

//! Answers of upstreams, kept for as long as they may be and shared with whom they may be.
//!
//! Source: `docs/caching.md`.
#![allow(dead_code)]

mod clock;
mod counters;
mod entry;
mod key;
mod rule;
mod tags;

pub use clock::Clock;
pub use counters::{Counters, OUTCOMES, Outcome, SourceCounts};
pub use entry::{Body, Entry, Lifetime, Tape};
pub use key::Key;
pub use rule::{Rule, Scope, Sharing};

use crate::call::{Answer, CallError};
use futures_util::future::BoxFuture;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tags::Registry;

/// What a cache is made of.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bytes all entries may take together.
    pub bytes_max: u64,
    /// Where the time comes from.
    pub clock: Clock,
}

/// What is wanted, by whom, until when.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'r> {
    /// What it is kept under; of several, what stands before each one's id.
    pub key: &'r Key,
    /// How it is cached.
    pub rule: &'r Arc<Rule>,
    /// What makes it invalid before its time.
    pub tags: &'r [Arc<str>],
    /// Who asks does not wait longer.
    pub deadline: Instant,
}

/// An answer, and how it was come by.
#[derive(Clone, Debug)]
pub struct Served {
    /// The answer.
    pub entry: Arc<Entry>,
    /// How it was come by.
    pub outcome: Outcome,
    /// What remains of its lifetime, in milliseconds: 0 if it must not be kept by anyone.
    pub fresh_ms: u64,
    /// How long after that it may be served while a new one is fetched.
    pub stale_ms: u64,
}

/// Several answers that came as one.
#[derive(Debug)]
pub struct Batch {
    /// What the upstream sent.
    pub answer: Answer,
    /// Its body.
    pub tape: Tape,
    /// For each id that was asked: the node of its value in `tape`, or nothing, which is remembered as a 404.
    pub values: Vec<Option<u32>>,
}

/// Asks an upstream for several things at once. Owned, as it may outlive the request it was made for.
pub trait AskMany: Send + Sync + 'static {
    /// As many as go into one call.
    fn batch_max(&self) -> usize;
    /// Asks for those at `places` in the ids that the cache was asked for.
    fn ask(&self, places: &[u32]) -> BoxFuture<'static, Result<Batch, CallError>>;
}

/// Why there is no answer. Shared by all who waited for it.
pub type Failure = Arc<CallError>;

/// All that is kept. One per process.
#[derive(Debug)]
pub struct Cache {
    clock: Clock,
    tags: Registry,
    counters: Mutex<BTreeMap<Box<str>, Arc<Counters>>>,
}

impl Cache {
    /// An empty one.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self { clock: settings.clock, tags: Registry::default(), counters: Mutex::default() }
    }

    /// The counts of `source`, for its rules.
    #[must_use]
    pub fn counters(&self, source: &str) -> Arc<Counters> {
        let mut all = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(source.into()).or_insert_with(|| Arc::new(Counters::new(source))))
    }

    /// What was counted up to now, by source.
    #[must_use]
    pub fn counts(&self) -> Vec<SourceCounts> {
        let all = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        all.values().map(|it| it.counts()).collect()
    }

    /// The answer to one call. `call` is only made into a future if the upstream has to be asked; the future then runs on,
    /// also if nobody waits for it any more.
    ///
    /// # Errors
    /// The upstream could not be asked, or not until the deadline. An answer with a bad status is none.
    pub async fn get<C, F>(&self, wanted: Wanted<'_>, call: C) -> Result<Served, Failure>
    where
        C: FnOnce() -> F + Send,
        F: Future<Output = Result<Answer, CallError>> + Send + 'static,
    {
        let now_ms = self.clock.now_ms();
        let answer = call().await.map_err(Arc::new)?;
        let body = match answer.body.is_empty() {
            true => Body::Absent,
            false => {
                Tape::parse(answer.body, wanted.rule.depth_max).map_or_else(Body::Unreadable, Body::Json)
            }
        };
        Ok(self.passed(wanted, answer.status.as_u16(), body, now_ms))
    }

    /// The answers for `ids`, each kept by itself under `wanted.key` and its id. Only what is not there is asked for, in
    /// batches; one that fails fails its own ids.
    pub async fn get_many<C>(&self, wanted: Wanted<'_>, ids: &[&[u8]], ask: C) -> Vec<Result<Served, Failure>>
    where
        C: FnOnce() -> Arc<dyn AskMany> + Send,
    {
        let now_ms = self.clock.now_ms();
        let ask = ask();
        let places: Vec<u32> = (0..ids.len() as u32).collect();
        let mut all = Vec::with_capacity(ids.len());
        for places in places.chunks(ask.batch_max().max(1)) {
            match ask.ask(places).await.map_err(Arc::new) {
                Ok(batch) => all.extend(batch.values.iter().map(|at| {
                    let body = at.map_or(Body::Absent, |at| Body::Json(batch.tape.part(at)));
                    let status = if at.is_some() { batch.answer.status.as_u16() } else { 404 };
                    Ok(self.passed(wanted, status, body, now_ms))
                })),
                Err(failure) => all.extend(places.iter().map(|_| Err(Arc::clone(&failure)))),
            }
        }
        all
    }

    fn passed(&self, wanted: Wanted<'_>, status: u16, body: Body, now_ms: u64) -> Served {
        let lifetime = Lifetime {
            origin_ms: now_ms,
            fresh_until_ms: now_ms,
            stale_until_ms: now_ms,
            error_until_ms: now_ms,
        };
        let entry = Entry {
            status,
            body,
            lifetime,
            scope: Scope::Private,
            took_ms: 0,
            tags: self.tags.take(wanted.tags),
            retry_at_ms: AtomicU64::new(0),
        };
        wanted.rule.counters.served(Outcome::Pass, false);
        Served { entry: Arc::new(entry), outcome: Outcome::Pass, fresh_ms: 0, stale_ms: 0 }
    }

    /// Makes everything invalid that has the tag `name`, also what is just being fetched.
    pub fn invalidate(&self, name: &str) {
        self.tags.invalidate(name);
    }
}

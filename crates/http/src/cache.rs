//! Answers of upstreams, kept for as long as they may be and shared with whom they may be.
//!
//! A look finds an answer fresh, or stale enough to be served while a new one is fetched, or nothing; then the upstream is asked
//! once, whoever else asks meanwhile, by a task that outlives who began it. Answers of batches are kept one by one.
//!
//! **Invariant:** nothing that is for one caller reaches another: keys hold every header that a call sends, and what an answer's
//! headers do not allow to be shared is neither kept nor given to those who wait for the same.
//!
//! **Cost:** a hit is a hash, a lock for reading and a few comparisons; it allocates nothing and reads no JSON.
//! Source: `docs/caching.md`.

mod clock;
mod counters;
mod entry;
mod fetch_missing;
mod flights;
mod freshness;
mod job;
mod key;
mod level1;
#[cfg(feature = "redis")]
mod remote;
#[cfg(not(feature = "redis"))]
#[path = "cache/remote/absent.rs"]
mod remote;
#[cfg(all(test, feature = "redis"))]
#[path = "cache/remote/absent.rs"]
#[expect(dead_code, reason = "compiled for its tests, which thus run in every build")]
mod remote_absent;
mod rule;
mod second_level;
mod state;
#[cfg_attr(
    not(feature = "redis"),
    expect(dead_code, reason = "other processes are heard of by the second level alone")
)]
mod tags;

pub use clock::Clock;
pub use counters::{Counters, OUTCOMES, Outcome, SourceCounts};
pub use entry::answer_headers::AnswerHeaders;
pub use entry::body::{Body, NoJson};
pub use entry::tape::Tape;
pub use entry::validators::Validators;
pub use entry::{Entry, Lifetime};
pub use key::Key;
pub use rule::{BodyReading, Overruled, Rule, Scope, Sharing};
pub use second_level::{Address, BucketTake, RemoteCounts, RemoteSettings, SharedBucket};

pub use crate::call::Failure;

#[cfg(test)]
mod tests;

use crate::call::{Answer, CallError};
use fetch_missing::Missing;
use flights::Flights;
use futures_util::future::BoxFuture;
use job::Asks;
use key::BatchKeys;
use level1::Level1;
use remote::Remote;
use state::{CacheLookup, CacheState};
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tags::Registry;
use weir_engine::keys::{KeyList, KeyRef};
use weir_engine::source::Tag;
use weir_engine::tag_versions::{InvalidationSink, RowKey, TagSnapshot, TagVersions};

/// A source and one of its connectors; the connector is empty for a whole server.
type CounterName = (Box<str>, Box<str>);

impl Address {
    /// Parses `redis://host:port/0` or `redis-cluster://host:port,host:port`, both with an optional `user:password@`. With `rediss`
    /// instead of `redis` the connection uses TLS with the system's certificates.
    ///
    /// # Errors
    /// The reason, without the text itself, as it may contain a password; in a build without the feature `redis` always.
    pub fn parse(text: &str) -> Result<Self, String> {
        remote::parse_address(text)
    }
}

#[derive(Clone, Debug)]
pub struct CacheSettings {
    /// Capacity in bytes.
    pub bytes_max: u64,
    /// Source of time.
    pub clock: Clock,
    /// Second level, shared with other processes.
    pub remote: Option<RemoteSettings>,
    /// Registry of invalidations for results built from these answers.
    pub changes: Arc<TagVersions>,
}

/// A request to the cache.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'r> {
    /// Key of the answer ([`Key::to_key_ref`]). For a batch: the prefix before each id ([`Key::prefix`]).
    pub key: KeyRef<'r>,
    /// Caching rule.
    pub rule: &'r Arc<Rule>,
    /// Tags that invalidate the answer. For a batch: tags of every answer.
    pub tags: &'r [Arc<str>],
    /// Additional tags per answer of a batch, in the order of the ids; empty if no answer has its own.
    pub own_tags: &'r [Vec<Arc<str>>],
    /// Deadline of the request.
    pub deadline: Instant,
}

/// An answer and the outcome of its lookup.
#[derive(Clone, Debug)]
pub struct Served {
    /// The answer.
    pub entry: Arc<Entry>,
    /// Outcome of the lookup.
    pub outcome: Outcome,
    /// Fresh time left, in milliseconds; 0 if it must not be cached.
    pub fresh_ms: u64,
    /// Stale period after the fresh one, in milliseconds.
    pub stale_ms: u64,
}

/// Several answers from one call.
#[derive(Debug)]
pub struct Batch {
    /// The upstream's answer.
    pub answer: Answer,
    /// The parsed body; empty if it is a failure that must not be shown.
    pub body: Body,
    /// For each requested id: the node of its value in the body. `None` is cached as a 404.
    pub values: Vec<Option<u32>>,
}

/// Fetches several ids in one call. Owned, because it may outlive its request.
pub trait AskMany: Send + Sync + 'static {
    /// Maximum number of ids per call.
    fn batch_max(&self) -> usize;
    /// Fetches the ids at `places` of the requested list.
    fn ask(&self, places: &[u32]) -> BoxFuture<'static, Result<Batch, Failure>>;
}

/// Size and counters of a cache.
#[derive(Clone, Debug)]
pub struct Counts {
    /// Counters per source.
    pub sources: Vec<SourceCounts>,
    /// Number of keys.
    pub entries: usize,
    /// Bytes that the entries use.
    pub bytes: u64,
    /// Counters of the second level, if there is one.
    pub remote: Option<RemoteCounts>,
}

/// The cache of upstream answers. One per process.
#[derive(Debug)]
pub struct Cache {
    state: Arc<CacheState>,
    /// Counters per source and connector.
    counters: Mutex<BTreeMap<CounterName, Arc<Counters>>>,
}

impl Cache {
    /// Creates an empty cache.
    ///
    /// # Errors
    /// The thread of the second level cannot be started. An unreachable second level is no error.
    pub fn new(settings: CacheSettings) -> std::io::Result<Self> {
        let CacheSettings { bytes_max, clock, remote, changes } = settings;
        let tags = Arc::new(Registry::new(changes));
        let start = |remote| Remote::start(remote, clock.clone(), Arc::clone(&tags));
        let remote = remote.map(start).transpose()?;
        let level1 = Level1::new(bytes_max);
        let flights = Arc::new(Flights::default());
        let state = Arc::new(CacheState { clock, tags, level1, flights, remote });
        Ok(Self { state, counters: Mutex::default() })
    }

    /// The counts of `source`, for its rules.
    pub fn counters(&self, source: &str, connector: &str) -> Arc<Counters> {
        let mut all = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        let made = all.entry((source.into(), connector.into()));
        Arc::clone(made.or_insert_with(|| Arc::new(Counters::new(source, connector))))
    }

    /// Current counters.
    pub fn counts(&self) -> Counts {
        let all = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        let sources = all.values().map(|it| it.counts()).collect();
        let remote = self.state.remote.as_ref().map(Remote::counts);
        Counts { sources, entries: self.state.level1.len(), bytes: self.state.level1.bytes(), remote }
    }

    /// Returns the answer to one call. `call` is invoked only on a miss; its future then runs to its end even if the request is dropped.
    /// It gets the validators of an answer that the upstream may confirm by a 304.
    ///
    /// # Errors
    /// The upstream was not called, or did not answer before the deadline. An error status is an answer, not an error.
    pub async fn get<C, F>(&self, wanted: Wanted<'_>, call: C) -> Result<Served, Failure>
    where
        C: FnOnce(Option<&Validators>) -> F + Send,
        F: Future<Output = Result<Answer, Failure>> + Send + 'static,
    {
        let state = &self.state;
        let now_ms = state.clock.now_ms();
        let mut call = Some(call);
        let mut ask = || {
            let call = call.take()?;
            let old = state.find_validated(wanted.rule, wanted.key);
            let validators = old.as_ref().and_then(|it| it.validators.as_ref());
            Some(Asks::One(Box::pin(call(validators)), old))
        };
        let seen = CacheStep::of(state, wanted, wanted.key, now_ms);
        let missing = || Missing { place: 0, key: wanted.key.into(), last: None };
        let (waiting, alone) = match seen {
            CacheStep::Served(served) => return Ok(served),
            CacheStep::Refresh(served, old) => {
                state.refresh(wanted, &[(missing(), old)], &mut ask);
                return Ok(served);
            }
            CacheStep::Missing(last) => (vec![Missing { last, ..missing() }], Vec::new()),
            CacheStep::Pass => (Vec::new(), vec![missing()]),
        };
        // A boxed future: few requests miss, and without the box it would enlarge all of them.
        let settled = Box::pin(state.fetch_missing(wanted, waiting, alone, &mut ask)).await;
        settled.into_iter().next().map_or(Err(CallError::Timeout.into()), |(_, result)| result)
    }

    /// Returns the answers for `ids`, each cached under `wanted.key` and its id. Missing ones are fetched in batches; a failed batch fails
    /// only its own ids.
    pub async fn get_many<C>(&self, wanted: Wanted<'_>, ids: &KeyList, ask: C) -> Vec<Result<Served, Failure>>
    where
        C: FnOnce() -> Arc<dyn AskMany> + Send,
    {
        let state = &self.state;
        let now_ms = state.clock.now_ms();
        let mut old = Vec::new();
        let mut waiting = Vec::new();
        let mut alone = Vec::new();
        let mut keys = BatchKeys::new(wanted.key);
        let mut results = Vec::with_capacity(ids.len());
        for (place, id) in (0..).zip(ids.keys()) {
            let key = keys.of(id);
            let missing = |last| Missing { place, key: key.into(), last };
            match CacheStep::of(state, wanted, key, now_ms) {
                CacheStep::Served(served) => results.push(Ok(served)),
                CacheStep::Refresh(served, entry) => {
                    old.push((missing(None), entry));
                    results.push(Ok(served));
                }
                CacheStep::Missing(last) => {
                    waiting.push(missing(last));
                    results.push(Err(CallError::Timeout.into()));
                }
                CacheStep::Pass => {
                    alone.push(missing(None));
                    results.push(Err(CallError::Timeout.into()));
                }
            }
        }
        let mut ask = Some(ask);
        let mut made = None;
        let mut ask = || {
            made = made.take().or_else(|| ask.take().map(|ask| ask()));
            made.clone().map(Asks::Many)
        };
        if !old.is_empty() {
            state.refresh(wanted, &old, &mut ask);
        }
        if !(waiting.is_empty() && alone.is_empty()) {
            for (place, result) in Box::pin(state.fetch_missing(wanted, waiting, alone, &mut ask)).await {
                results[place as usize] = result;
            }
        }
        results
    }

    /// The answer again, for another use within one request; counted as coalesced.
    pub fn serve_again(&self, rule: &Rule, served: &Served) -> Served {
        self.state.serve(rule, Arc::clone(&served.entry), Outcome::Coalesced)
    }

    /// Versions of the tags of `entry`, for results built from it.
    pub fn versions(&self, entry: &Entry) -> TagSnapshot {
        // The order matters: an entry that is valid now was not invalidated before the versions were read.
        let ages = self.state.tags.versions(&entry.tags);
        if entry.tags.are_current() { ages } else { TagSnapshot::always_stale() }
    }

    /// The text that a process behind the same second level kept under `name`, of at most `bytes_max`. It may be anybody's: compare it.
    pub async fn shared_text(&self, name: &str, bytes_max: usize) -> Option<String> {
        self.state.remote.as_ref()?.text(name, bytes_max).await
    }

    /// Keeps `text` under `name` in the second level, if there is one; the write is queued.
    pub fn share_text(&self, name: &str, text: Arc<str>, ttl_ms: u64) {
        if let Some(remote) = &self.state.remote {
            remote.keep_text(name, text, ttl_ms);
        }
    }

    /// Takes `tokens` of the bucket of `key` in the second level, or gives them back if negative. `None`: there is none, or it does not answer
    /// in time.
    pub async fn take_tokens(&self, key: &[u8], bucket: SharedBucket, tokens: i32) -> Option<BucketTake> {
        self.state.remote.as_ref()?.take_tokens(key, bucket, tokens).await
    }

    /// Invalidates everything with the tag `name`, including calls in flight: at once in this process, and in the second level and other
    /// processes as soon as they are reached.
    pub fn invalidate(&self, name: &str) {
        // The remote invalidation is queued first. Otherwise a lookup could combine the tag's new local state with an old remote entry.
        if let Some(remote) = &self.state.remote {
            remote.invalidate(name, []);
        }
        self.state.tags.invalidate(name);
    }
}

impl InvalidationSink for Cache {
    fn invalidate_rows(&self, tag: &Tag, rows: &[RowKey]) {
        // The second level first, for the reason given in `invalidate`.
        if let Some(remote) = &self.state.remote {
            remote.invalidate(&tag.0, RowKey::of(tag, rows));
        }
        self.state.tags.invalidate_entries(&tag.0);
    }
}

/// Next step for a key.
enum CacheStep {
    Served(Served),
    /// Serve this entry and refresh it.
    Refresh(Served, Arc<Entry>),
    /// Wait for an answer; serve this entry if the upstream fails.
    Missing(Option<Arc<Entry>>),
    /// Make an uncoalesced call.
    Pass,
}

impl CacheStep {
    fn of(state: &CacheState, wanted: Wanted<'_>, key: KeyRef<'_>, now_ms: u64) -> Self {
        let rule = &**wanted.rule;
        if rule.sharing == Sharing::Never {
            return Self::Pass;
        }
        match state.lookup(key, now_ms) {
            CacheLookup::Fresh(entry) if entry.is_due(now_ms) => {
                rule.counters.count_early_refresh();
                Self::Refresh(state.serve_at(rule, Arc::clone(&entry), Outcome::Hit, now_ms), entry)
            }
            CacheLookup::Fresh(entry) => Self::Served(state.serve_at(rule, entry, Outcome::Hit, now_ms)),
            CacheLookup::Stale(entry) if entry.may_retry(now_ms) => {
                Self::Refresh(state.serve_at(rule, Arc::clone(&entry), Outcome::Stale, now_ms), entry)
            }
            CacheLookup::Stale(entry) => Self::Served(state.serve_at(rule, entry, Outcome::Stale, now_ms)),
            CacheLookup::OnError(entry) if entry.may_retry(now_ms) => Self::Missing(Some(entry)),
            CacheLookup::OnError(entry) => {
                Self::Served(state.serve_at(rule, entry, Outcome::StaleOnError, now_ms))
            }
            CacheLookup::Pass => Self::Pass,
            CacheLookup::Nothing => Self::Missing(None),
        }
    }
}

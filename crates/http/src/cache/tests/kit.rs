//! An upstream that says what it is told to, and counts how often it is asked.

use crate::cache::{
    AskMany, Batch, Body, BodyReading, Cache, CacheSettings, Clock, Failure, Key, Outcome, Overruled,
    RemoteSettings, Rule, Served, Sharing, Tape, Validators, Wanted,
};
use crate::call::{Answer, CallError, Went};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use weir_engine::keys::{KeyList, KeyRef};
use weir_engine::tag_versions::TagVersions;

/// Long enough for whatever comes at all.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The upstream's answer from now on.
pub(crate) type Says = Result<(u16, Vec<(&'static str, String)>, String), CallError>;

/// `body` with `headers`, written `name: value`.
pub(crate) fn says(status: u16, headers: &[&'static str], body: &str) -> Says {
    let split = |line: &&'static str| {
        let (name, value) = line.split_once(": ").unwrap();
        (name, value.to_owned())
    };
    Ok((status, headers.iter().map(split).collect(), body.to_owned()))
}

pub(crate) struct ToldUpstream {
    pub(crate) says: Mutex<Says>,
    pub(crate) calls: AtomicUsize,
    /// The ids of each batch.
    pub(crate) batches: Mutex<Vec<Vec<u32>>>,
    /// The condition of each single call.
    pub(crate) conditions: Mutex<Vec<Option<String>>>,
    /// Ids that it does not have.
    pub(crate) unknown: Mutex<BTreeSet<u32>>,
    /// Each call takes one; none left holds calls up.
    pub(crate) gate: Semaphore,
    /// Told of each call that has come.
    pub(crate) came: Semaphore,
}

impl ToldUpstream {
    pub(crate) fn new(says: Says) -> Arc<Self> {
        Arc::new(Self {
            says: Mutex::new(says),
            calls: AtomicUsize::new(0),
            batches: Mutex::default(),
            conditions: Mutex::default(),
            unknown: Mutex::default(),
            gate: Semaphore::new(1_000_000),
            came: Semaphore::new(0),
        })
    }

    /// One whose calls wait until they are let through.
    pub(crate) fn with_closed_gate(says: Says) -> Arc<Self> {
        let upstream = Self::new(says);
        upstream.gate.forget_permits(1_000_000);
        upstream
    }

    pub(crate) fn note_condition(&self, old: Option<&Validators>) {
        let condition = old.and_then(Validators::condition);
        let shown = condition.map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()));
        self.conditions.lock().unwrap().push(shown);
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    pub(crate) fn now_says(&self, says: Says) {
        *self.says.lock().unwrap() = says;
    }

    /// Until so many more calls have come.
    pub(crate) async fn came(&self, calls: u32) {
        self.came.acquire_many(calls).await.unwrap().forget();
    }

    pub(crate) fn let_through(&self, calls: usize) {
        self.gate.add_permits(calls);
    }

    pub(crate) async fn call(self: Arc<Self>) -> Result<Answer, Failure> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.came.add_permits(1);
        self.gate.acquire().await.unwrap().forget();
        let (status, headers, body) = self.says.lock().unwrap().clone()?;
        Ok(answer(status, &headers, body))
    }
}

pub(crate) fn answer(status: u16, headers: &[(&'static str, String)], body: String) -> Answer {
    let mut all = HeaderMap::new();
    for (name, value) in headers {
        all.append(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
    }
    Answer {
        status: StatusCode::from_u16(status).unwrap(),
        headers: all,
        body: Bytes::from(body),
        trailers: HeaderMap::new(),
        went: Went::default(),
    }
}

/// Asks an upstream for several ids; each one's value is what the upstream says, with the id.
pub(crate) struct Many {
    pub(crate) upstream: Arc<ToldUpstream>,
    pub(crate) ids: Vec<u32>,
    pub(crate) batch_max: usize,
}

impl AskMany for Many {
    fn batch_max(&self) -> usize {
        self.batch_max
    }

    fn ask(&self, places: &[u32]) -> BoxFuture<'static, Result<Batch, Failure>> {
        let ids: Vec<u32> = places.iter().map(|place| self.ids[*place as usize]).collect();
        let upstream = Arc::clone(&self.upstream);
        Box::pin(async move {
            upstream.batches.lock().unwrap().push(ids.clone());
            let mut answer = Arc::clone(&upstream).call().await?;
            if answer.status != StatusCode::OK {
                let body = Tape::parse(answer.body.clone(), 8).map_or(Body::Absent, Body::Json);
                return Ok(Batch { answer, body, values: vec![None; ids.len()] });
            }
            let word = String::from_utf8(answer.body.to_vec()).unwrap();
            let unknown = upstream.unknown.lock().unwrap().clone();
            let known = ids.iter().filter(|id| !unknown.contains(id));
            answer.body =
                format!("[{}]", known.map(|id| format!("[{id},{word}]")).collect::<Vec<_>>().join(","))
                    .into();
            let tape = Tape::parse(answer.body.clone(), 8).unwrap();
            let json = tape.json();
            let of = |id: &u32| {
                json.root()
                    .items()
                    .find(|it| it.items().next().unwrap().raw() == id.to_string())
                    .map(|it| it.at)
            };
            let values = ids.iter().map(of).collect();
            Ok(Batch { answer, body: Body::Json(tape), values })
        })
    }
}

pub(crate) struct Kit {
    pub(crate) cache: Cache,
    pub(crate) changes: Arc<TagVersions>,
    pub(crate) clock: Clock,
    pub(crate) rule: Rule,
    /// Of batches: the tags of each id.
    pub(crate) own_tags: Vec<Vec<Arc<str>>>,
}

/// The served answer: outcome, status and text.
pub(crate) type Observed = (Outcome, u16, String);

impl Kit {
    /// A cache and a rule for it: no default lifetime, nothing stale, answers shared by their headers.
    pub(crate) fn new() -> Self {
        Self::with(Clock::new_simulated(), None)
    }

    /// As above, with a second level.
    pub(crate) fn with(clock: Clock, remote: Option<RemoteSettings>) -> Self {
        let changes = Arc::new(TagVersions::default());
        let settings = CacheSettings {
            bytes_max: 8 * 1024 * 1024,
            clock: clock.clone(),
            remote,
            changes: Arc::clone(&changes),
        };
        let cache = Cache::new(settings).unwrap();
        let rule = Rule {
            counters: cache.counters("matches", ""),
            cache_control: [HeaderName::from_static("x-ttl")].into(),
            default_ms: None,
            stale_ms: None,
            stale_on_error_ms: None,
            jitter_percent: 0,
            negative_ms: 0,
            sharing: Sharing::ByHeaders,
            held: [].into(),
            revalidates: false,
            kept: [].into(),
            anonymous: false,
            overruled: Overruled::default(),
            reading: BodyReading::ByType,
            depth_max: 32,
        };
        Self { cache, changes, clock, rule, own_tags: Vec::new() }
    }

    pub(crate) async fn serve(
        &self,
        key: &str,
        tags: &[&str],
        upstream: &Arc<ToldUpstream>,
    ) -> Result<Served, Failure> {
        let tags: Vec<Arc<str>> = tags.iter().map(|tag| Arc::from(*tag)).collect();
        let mut whole = Key::default();
        whole.begin(key.as_bytes());
        let rule = Arc::new(self.rule.clone());
        let wanted = Wanted {
            key: whole.to_key_ref(),
            rule: &rule,
            tags: &tags,
            own_tags: &[],
            deadline: Instant::now() + PATIENCE,
        };
        let call = |old: Option<&Validators>| {
            upstream.note_condition(old);
            Arc::clone(upstream).call()
        };
        self.cache.get(wanted, call).await
    }

    /// Gets `key` and lets what it set going in the background come to its end.
    pub(crate) async fn get(&self, key: &str, upstream: &Arc<ToldUpstream>) -> Result<Observed, CallError> {
        let served = self.serve(key, &[], upstream).await;
        settle().await;
        served.map(|it| observe(&it)).map_err(|it| it.error)
    }

    pub(crate) async fn get_many(
        &self,
        prefix: &str,
        ids: &[u32],
        upstream: &Arc<ToldUpstream>,
    ) -> Vec<Result<Observed, CallError>> {
        let mut whole = Key::default();
        whole.begin(prefix.as_bytes());
        let rule = Arc::new(self.rule.clone());
        let wanted = Wanted {
            key: whole.prefix(),
            rule: &rule,
            tags: &[],
            own_tags: &self.own_tags,
            deadline: Instant::now() + PATIENCE,
        };
        let mut texts = KeyList::default();
        ids.iter().for_each(|it| texts.push(KeyRef::of(it.to_string().as_bytes())));
        let ask = || {
            Arc::new(Many { upstream: Arc::clone(upstream), ids: ids.to_vec(), batch_max: 3 })
                as Arc<dyn AskMany>
        };
        let all = self.cache.get_many(wanted, &texts, ask).await;
        settle().await;
        all.into_iter().map(|it| it.map(|it| observe(&it)).map_err(|it| it.error)).collect()
    }
}

/// Lets all tasks of this thread run until each waits.
pub(crate) async fn settle() {
    for _ in 0..32 {
        tokio::task::yield_now().await;
    }
}

pub(crate) fn observe(served: &Served) -> Observed {
    let text = match &served.entry.body {
        Body::Json(tape) => tape.text().to_owned(),
        Body::Absent => String::new(),
        Body::Unreadable(words) => words.error.to_string(),
    };
    (served.outcome, served.entry.status, text)
}

/// As [`observe`] says it.
pub(crate) fn observation(outcome: Outcome, status: u16, text: &str) -> Observed {
    (outcome, status, text.to_owned())
}

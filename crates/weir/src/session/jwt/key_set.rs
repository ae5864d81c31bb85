//! JSON Web Key Sets at an address: fetched when first needed, again by the lifetime their server states, and once for a token that
//! none of them signed.
//!
//! A set whose time is over serves until the next one is there, so a server of keys that is down for a while stops nobody.
//!
//! **Invariant:** one fetch is under way at a time; between two begun fetches lie [`PAUSE_MS`], whatever tokens come.
//!
//! Source: RFC 7517.

use super::key::JsonWebKey;
use super::token::{NESTING_MAX, UncheckedToken};
use super::verified::KeyEpoch;
use crate::session::remote::{Flight, RemoteUrl, lifetime_ms};
use arc_swap::ArcSwapOption;
use bytes::Bytes;
use hyper::Method;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use weir_http::cache::Clock;
use weir_language::json::{Json, JsonRef};

/// Pause between two fetches, in milliseconds.
const PAUSE_MS: u64 = 10_000;
/// Pause after a failed fetch while there are no keys at all, in milliseconds.
const FAILED_PAUSE_MS: u64 = 1000;
/// Lifetime of a set whose server states none, in milliseconds.
const LIFETIME_MS: u64 = 10 * 60_000;
/// No set is fresh for longer, in milliseconds: a key that was withdrawn is not trusted for ever.
const LIFETIME_MS_MAX: u64 = 24 * 3_600_000;
/// Timeout of a fetch.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Largest number of keys of a set.
const KEYS_MAX: usize = 100;

/// The keys at an address.
pub(crate) struct KeySet {
    url: Box<str>,
    remote: Arc<RemoteUrl>,
    clock: Clock,
    current: Arc<ArcSwapOption<FetchedKeys>>,
    fetching: Mutex<Fetching>,
}

/// Keys as they were fetched.
#[derive(Debug)]
struct FetchedKeys {
    keys: Vec<JsonWebKey>,
    /// By the clock's monotonic time.
    fresh_until_ms: u64,
    /// No other fetched keys of the process have it.
    epoch: KeyEpoch,
}

/// Epochs of fetched keys; 0 is that of keys that are never fetched.
static NEXT_EPOCH: AtomicU64 = AtomicU64::new(1);

/// The last fetch.
#[derive(Default)]
struct Fetching {
    under_way: Option<Flight<bool>>,
    begun_ms: Option<u64>,
}

/// No key of a set is known, because it cannot be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoKeys;

impl KeySet {
    /// Nothing is fetched yet.
    /// # Errors
    /// A text that is no address.
    pub(crate) fn new(url: &str, clock: &Clock) -> Result<Self, String> {
        let remote = Arc::new(RemoteUrl::new(url, TIMEOUT)?);
        let (current, fetching) = (Arc::default(), Mutex::default());
        Ok(Self { url: url.into(), remote, clock: clock.clone(), current, fetching })
    }

    /// Its address.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// True if a key of the set signed `token`.
    /// # Errors
    /// No keys are known.
    pub(crate) async fn verifies(&self, token: &UncheckedToken<'_>) -> Result<Option<KeyEpoch>, NoKeys> {
        let keys = match self.current.load_full() {
            Some(keys) => keys,
            None => {
                self.fetched(FAILED_PAUSE_MS).await;
                self.current.load_full().ok_or(NoKeys)?
            }
        };
        self.refresh(&keys);
        if keys.verifies(token) {
            return Ok(Some(keys.epoch));
        }
        if token.algorithm.is_of_secrets() {
            // No key of a set is a secret, whatever comes next.
            return Ok(None);
        }
        // A key may have come, or have taken the place of another of its name.
        self.fetched(PAUSE_MS).await;
        let next = self.current.load_full().filter(|it| it.epoch != keys.epoch);
        Ok(next.filter(|it| it.verifies(token)).map(|it| it.epoch))
    }

    /// The epoch of the keys in service. If their time is over, the next ones are fetched meanwhile.
    pub(crate) fn epoch(&self) -> Option<KeyEpoch> {
        let keys = self.current.load_full()?;
        self.refresh(&keys);
        Some(keys.epoch)
    }

    /// Begins to fetch again if the time of `keys` is over. Nobody waits for it: the keys at hand serve.
    fn refresh(&self, keys: &FetchedKeys) {
        if self.clock.now_ms() >= keys.fresh_until_ms {
            drop(self.begin(PAUSE_MS));
        }
    }

    /// Waits for a fetch that is under way, or may begin.
    async fn fetched(&self, pause_ms: u64) {
        if let Some(flight) = self.begin(pause_ms) {
            // A failed fetch is in the log.
            let _ = flight.wait().await;
        }
    }

    /// The fetch under way, or a new one if the last was begun `pause_ms` ago.
    fn begin(&self, pause_ms: u64) -> Option<Flight<bool>> {
        let mut fetching = self.fetching.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(under_way) = fetching.under_way.as_ref().filter(|it| !it.is_over()) {
            return Some(under_way.clone());
        }
        let now_ms = self.clock.now_ms();
        if fetching.begun_ms.is_some_and(|it| now_ms < it.saturating_add(pause_ms)) {
            return None;
        }
        let (remote, current) = (Arc::clone(&self.remote), Arc::clone(&self.current));
        let (clock, url) = (self.clock.clone(), self.url.clone());
        let begun = Flight::begin(async move {
            match fetch(&remote, &clock).await {
                Ok(keys) => {
                    current.store(Some(Arc::new(keys)));
                    true
                }
                Err(cause) => {
                    tracing::warn!(%url, "the keys of tokens cannot be fetched: {cause}");
                    false
                }
            }
        });
        (fetching.under_way, fetching.begun_ms) = (Some(begun.clone()), Some(now_ms));
        Some(begun)
    }
}

impl std::fmt::Debug for KeySet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeySet").field("url", &self.url).finish_non_exhaustive()
    }
}

impl FetchedKeys {
    /// True if one of the keys signed `token`.
    fn verifies(&self, token: &UncheckedToken<'_>) -> bool {
        let mut fitting = self.keys.iter().filter(|it| it.may_sign(token.algorithm, token.kid.as_deref()));
        fitting.any(|it| token.is_signed_by(&it.key))
    }
}

/// Fetches the set.
async fn fetch(remote: &RemoteUrl, clock: &Clock) -> Result<FetchedKeys, String> {
    let answer = remote.call(Method::GET, Vec::new(), Bytes::new()).await?;
    if !answer.status.is_success() {
        return Err(format!("the server says {}", answer.status));
    }
    let keys = read(&answer.body)?;
    let stated_ms = lifetime_ms(&answer.headers, clock.wall_ms());
    let lifetime_ms = stated_ms.unwrap_or(LIFETIME_MS).clamp(PAUSE_MS, LIFETIME_MS_MAX);
    let epoch = KeyEpoch(NEXT_EPOCH.fetch_add(1, Ordering::Relaxed));
    Ok(FetchedKeys { keys, fresh_until_ms: clock.now_ms().saturating_add(lifetime_ms), epoch })
}

/// The public keys in the text of a set; those of other kinds and uses are left out.
fn read(text: &[u8]) -> Result<Vec<JsonWebKey>, String> {
    let json = Json::parse(text, NESTING_MAX).map_err(|cause| format!("no key set: {cause}"))?;
    let list =
        json.root().get("keys").filter(|it| it.is_array()).ok_or("no key set: it has no list `keys`")?;
    let keys: Vec<JsonWebKey> =
        list.items().take(KEYS_MAX).filter_map(|it: JsonRef<'_>| JsonWebKey::read(it)).collect();
    if keys.is_empty() {
        return Err("the key set has no key of RSA, P-256, P-384 or Ed25519 for signatures".into());
    }
    Ok(keys)
}

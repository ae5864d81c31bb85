//! JSON Web Key Sets from URLs: fetched on first use, again after the lifetime that their server states, and once for a token that no
//! known key signed.
//!
//! A set whose time is over serves until the next one is there, so a server of keys that is down for a while stops nobody.
//!
//! **Invariant:** one fetch is under way at a time; between two begun fetches lie [`PAUSE_MS`], whatever tokens come.
//!
//! Source: RFC 7517.

use super::key::JsonWebKey;
use super::token::{NESTING_MAX, UncheckedToken};
use super::verified::KeyEpoch;
use crate::session::remote_document::{Flight, RemoteUrl, lifetime_ms};
use arc_swap::ArcSwapOption;
use bytes::Bytes;
use hyper::Method;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use weir_http::cache::Clock;
use weir_language::json::{Json, JsonRef};

/// Minimum time between two fetches, in milliseconds.
const PAUSE_MS: u64 = 10_000;
/// Pause after a failed fetch while no keys are known, in milliseconds.
const FAILED_PAUSE_MS: u64 = 1000;
/// Default lifetime of a set, in milliseconds.
const LIFETIME_MS: u64 = 10 * 60_000;
/// Maximum lifetime, in milliseconds, so that a withdrawn key is not trusted forever.
const LIFETIME_MS_MAX: u64 = 24 * 3_600_000;
/// Timeout of a fetch.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of keys in a set.
const KEYS_MAX: usize = 100;

/// The key set of a URL.
pub(crate) struct KeySet {
    url: Box<str>,
    remote: Arc<RemoteUrl>,
    clock: Clock,
    current: Arc<ArcSwapOption<FetchedKeys>>,
    fetching: Mutex<Fetching>,
}

/// Keys of one fetch.
#[derive(Debug)]
struct FetchedKeys {
    keys: Vec<JsonWebKey>,
    /// End of the lifetime on the clock's monotonic time.
    fresh_until_ms: u64,
    /// Unique number of these keys in the process.
    epoch: KeyEpoch,
}

/// Next epoch; 0 is reserved for fixed keys.
static NEXT_EPOCH: AtomicU64 = AtomicU64::new(1);

/// The last fetch.
#[derive(Default)]
struct Fetching {
    under_way: Option<Flight<bool>>,
    begun_ms: Option<u64>,
}

/// The keys cannot be fetched, and none are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoKeys;

impl KeySet {
    /// Prepares a key set without fetching it.
    /// # Errors
    /// The text is not a URL.
    pub(crate) fn new(url: &str, clock: &Clock) -> Result<Self, String> {
        let remote = Arc::new(RemoteUrl::new(url, TIMEOUT)?);
        let current = Arc::default();
        let fetching = Mutex::default();
        Ok(Self { url: url.into(), remote, clock: clock.clone(), current, fetching })
    }

    /// URL of the set.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the epoch of the keys if one of them signed `token`.
    /// # Errors
    /// No keys are known.
    pub(crate) async fn verifies(&self, token: &UncheckedToken<'_>) -> Result<Option<KeyEpoch>, NoKeys> {
        let keys = match self.current.load_full() {
            Some(keys) => keys,
            None => {
                self.await_fetch(FAILED_PAUSE_MS).await;
                self.current.load_full().ok_or(NoKeys)?
            }
        };
        self.refresh(&keys);
        if keys.verifies(token) {
            return Ok(Some(keys.epoch));
        }
        if token.algorithm.is_of_secrets() {
            // Key sets contain only public keys, so a MAC cannot be verified by any future set either.
            return Ok(None);
        }
        // A key may have been added or replaced.
        self.await_fetch(PAUSE_MS).await;
        let next = self.current.load_full().filter(|it| it.epoch != keys.epoch);
        Ok(next.filter(|it| it.verifies(token)).map(|it| it.epoch))
    }

    /// Epoch of the current keys. After their lifetime a background fetch is started.
    pub(crate) fn epoch(&self) -> Option<KeyEpoch> {
        let keys = self.current.load_full()?;
        self.refresh(&keys);
        Some(keys.epoch)
    }

    /// Starts a background fetch if the lifetime of `keys` is over. The current keys stay in use.
    fn refresh(&self, keys: &FetchedKeys) {
        if self.clock.now_ms() >= keys.fresh_until_ms {
            drop(self.begin(PAUSE_MS));
        }
    }

    /// Waits for a fetch in flight, or starts one if allowed.
    async fn await_fetch(&self, pause_ms: u64) {
        if let Some(flight) = self.begin(pause_ms) {
            // A failed fetch was logged.
            let _ = flight.wait().await;
        }
    }

    /// The fetch in flight, or a new one if the last was started at least `pause_ms` ago.
    fn begin(&self, pause_ms: u64) -> Option<Flight<bool>> {
        let mut fetching = self.fetching.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(under_way) = fetching.under_way.as_ref().filter(|it| !it.is_over()) {
            return Some(under_way.clone());
        }
        let now_ms = self.clock.now_ms();
        if fetching.begun_ms.is_some_and(|it| now_ms < it.saturating_add(pause_ms)) {
            return None;
        }
        let remote = Arc::clone(&self.remote);
        let current = Arc::clone(&self.current);
        let clock = self.clock.clone();
        let url = self.url.clone();
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

/// Public keys in a set; other kinds and uses are skipped.
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

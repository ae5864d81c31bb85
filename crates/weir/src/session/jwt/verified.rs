//! Cache of verified tokens: a repeated token costs a hash instead of a signature check.
//!
//! An entry stands under the SHA-256 of the token and of its place; the token itself is not kept.
//!
//! **Invariant:** an entry serves from `nbf` to `exp`, and only while the keys that verified it are those in service: a set that was
//! fetched again verifies every token anew. A configuration has entries of its own, so none outlives a key or a rule.
//!
//! **Cost:** a hit is one SHA-256, one lock of a shard and one count; all entries take [`ENTRIES_BYTES_MAX`] at most.

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Capacity in bytes.
const ENTRIES_BYTES_MAX: u64 = 16 << 20;
/// Overhead of an entry beyond the token's claims, in bytes; an estimate.
const ENTRY_BYTES: usize = 512;
/// Initial number of entries.
const ENTRIES_ESTIMATED: usize = 4096;

/// Hash of tokens with their places.
pub(crate) type TokenDigest = [u8; 32];

/// Version of a source's keys: a key set gets a new one with each fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyEpoch(pub(crate) u64);

/// Validity period of a token, including tolerance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Validity {
    /// Start in milliseconds since 1970.
    pub(crate) begins_ms: u64,
    /// End in milliseconds since 1970.
    pub(crate) ends_ms: Option<u64>,
}

impl Validity {
    fn holds(self, wall_ms: u64) -> bool {
        wall_ms >= self.begins_ms && self.ends_ms.is_none_or(|it| wall_ms < it)
    }
}

/// A verified token.
#[derive(Debug)]
pub(crate) struct Verified<V> {
    /// Value derived from the token.
    pub(crate) value: V,
    pub(crate) validity: Validity,
    /// Version of the keys that verified it.
    pub(crate) epoch: KeyEpoch,
    /// Size of the token, in bytes.
    pub(crate) bytes: usize,
}

#[derive(Clone, Debug)]
struct EntryBytes;

impl<V> Weighter<TokenDigest, Arc<Verified<V>>> for EntryBytes {
    fn weight(&self, _: &TokenDigest, entry: &Arc<Verified<V>>) -> u64 {
        // Claims are stored decoded, as separate strings.
        (ENTRY_BYTES + 2 * entry.bytes) as u64
    }
}

/// Cache of verified tokens by digest.
pub(crate) struct VerifiedTokens<V>(Cache<TokenDigest, Arc<Verified<V>>, EntryBytes>);

impl<V> Default for VerifiedTokens<V> {
    fn default() -> Self {
        Self(Cache::with_weighter(ENTRIES_ESTIMATED, ENTRIES_BYTES_MAX, EntryBytes))
    }
}

impl<V> std::fmt::Debug for VerifiedTokens<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VerifiedTokens").field("entries", &self.0.len()).finish()
    }
}

impl<V> VerifiedTokens<V> {
    /// Entry of `digest`, if it is valid at `wall_ms` and `epoch` returns the version of its keys.
    pub(crate) fn get(
        &self,
        digest: &TokenDigest,
        wall_ms: u64,
        epoch: impl Fn(&V) -> Option<KeyEpoch>,
    ) -> Option<Arc<Verified<V>>> {
        let found = self.0.get(digest)?;
        if found.validity.holds(wall_ms) && epoch(&found.value) == Some(found.epoch) {
            return Some(found);
        }
        self.0.remove(digest);
        None
    }

    /// Adds an entry, possibly evicting another.
    pub(crate) fn put(&self, digest: TokenDigest, entry: Verified<V>) -> Arc<Verified<V>> {
        let entry = Arc::new(entry);
        self.0.insert(digest, Arc::clone(&entry));
        entry
    }
}

/// Hash of a request's tokens, each with the number of its place.
pub(crate) fn digest<'t>(tokens: impl Iterator<Item = (usize, &'t str)>) -> TokenDigest {
    let mut hash = Sha256::new();
    for (place, token) in tokens {
        hash.update((place as u64).to_le_bytes());
        hash.update((token.len() as u64).to_le_bytes());
        hash.update(token.as_bytes());
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(value: u8, bytes: usize) -> Verified<u8> {
        let validity = Validity { begins_ms: 10, ends_ms: Some(20) };
        Verified { value, validity, epoch: KeyEpoch(1), bytes }
    }

    #[test]
    fn an_entry_serves_in_its_time_and_with_its_keys_alone() {
        let tokens = VerifiedTokens::default();
        let one = digest([(0, "a.b.c")].into_iter());
        let found = |wall_ms: u64, epoch: Option<u64>| {
            tokens.put(one, entry(7, 100));
            tokens.get(&one, wall_ms, |_| epoch.map(KeyEpoch)).map(|it| it.value)
        };
        assert_eq!(found(10, Some(1)), Some(7));
        assert_eq!(found(19, Some(1)), Some(7));
        for (wall_ms, epoch) in [(9, Some(1)), (20, Some(1)), (15, Some(2)), (15, None)] {
            assert_eq!(found(wall_ms, epoch), None, "{wall_ms} {epoch:?}");
            assert!(tokens.get(&one, 15, |_| Some(KeyEpoch(1))).is_none(), "it is gone");
        }
    }

    #[test]
    fn tokens_and_places_are_told_apart() {
        let digests = [
            digest([(0, "a.b.c")].into_iter()),
            digest([(1, "a.b.c")].into_iter()),
            digest([(0, "a.b.d")].into_iter()),
            digest([(0, "a.b"), (0, ".c")].into_iter()),
        ];
        for (at, one) in digests.iter().enumerate() {
            assert!(digests[..at].iter().all(|it| it != one));
        }
    }

    #[test]
    fn entries_take_no_more_than_their_bytes() {
        let tokens = VerifiedTokens::default();
        for at in 0..10_000 {
            tokens.put(digest([(at, "t")].into_iter()), entry(0, 8 << 10));
        }
        assert!(tokens.0.weight() <= ENTRIES_BYTES_MAX && tokens.0.len() > 500, "{tokens:?}");
    }
}

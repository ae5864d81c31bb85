//! Tokens that were verified already: the next request with one costs a hash in place of a signature.
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

/// Bytes of all entries.
const ENTRIES_BYTES_MAX: u64 = 16 << 20;
/// Bytes that an entry has beside the token's claims, estimated.
const ENTRY_BYTES: usize = 512;
/// Number of entries to make room for.
const ENTRIES_ESTIMATED: usize = 4096;

/// Hash of a token and its place.
pub(crate) type TokenDigest = [u8; 32];

/// The keys of a source at one moment: those of a set get another number whenever they are fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyEpoch(pub(crate) u64);

/// The time in which a token holds, with the tolerance of its rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Validity {
    /// Its beginning, in milliseconds since 1970.
    pub(crate) begins_ms: u64,
    /// Its end, in milliseconds since 1970.
    pub(crate) ends_ms: Option<u64>,
}

impl Validity {
    fn holds(self, wall_ms: u64) -> bool {
        wall_ms >= self.begins_ms && self.ends_ms.is_none_or(|it| wall_ms < it)
    }
}

/// A token that was verified.
#[derive(Debug)]
pub(crate) struct Verified<V> {
    /// The value that was read from the token.
    pub(crate) value: V,
    pub(crate) validity: Validity,
    /// The keys that verified it.
    pub(crate) epoch: KeyEpoch,
    /// Bytes of the token.
    pub(crate) bytes: usize,
}

#[derive(Clone, Debug)]
struct EntryBytes;

impl<V> Weighter<TokenDigest, Arc<Verified<V>>> for EntryBytes {
    fn weight(&self, _: &TokenDigest, entry: &Arc<Verified<V>>) -> u64 {
        // Claims are kept decoded, as texts of their own.
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
    /// The entry under `digest`, if it holds at `wall_ms` and `epoch` gives the keys that verified it.
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

    /// Keeps an entry; an older one may go.
    pub(crate) fn put(&self, digest: TokenDigest, entry: Verified<V>) -> Arc<Verified<V>> {
        let entry = Arc::new(entry);
        self.0.insert(digest, Arc::clone(&entry));
        entry
    }
}

/// The hash of the tokens of a request, each with the number of its place.
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

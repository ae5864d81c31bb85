//! The profiles of one graph: equal facts of callers are one profile.
//!
//! **Invariant:** a profile that was evicted and made again has a new number, so cached entries of the old one are never used for
//! it.
//!
//! **Cost:** one hash and one lock of a shard; nothing is allocated for a known profile.

use super::{Caller, Identity, Profile, SourceFacts};
use quick_cache::{Equivalent, Weighter};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use weir_language::schema::Visibility;

/// Facts as a key, and whether introspection is answered.
#[derive(PartialEq, Eq)]
struct ProfileKey(Box<[u64]>, bool);

/// Key with borrowed facts, to look up a [`ProfileKey`].
struct ProfileKeyRef<'w>(&'w [u64], bool);

impl Hash for ProfileKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        ProfileKeyRef(&self.0, self.1).hash(state);
    }
}
impl Hash for ProfileKeyRef<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
        self.1.hash(state);
    }
}
impl Equivalent<ProfileKey> for ProfileKeyRef<'_> {
    fn equivalent(&self, key: &ProfileKey) -> bool {
        *self.0 == *key.0 && self.1 == key.1
    }
}

/// Bytes of an entry.
#[derive(Clone)]
struct ProfileBytes;

impl Weighter<ProfileKey, Arc<Profile>> for ProfileBytes {
    fn weight(&self, key: &ProfileKey, profile: &Arc<Profile>) -> u64 {
        /// Overhead of the cache per entry, in bytes, estimated.
        const ENTRY_BYTES: usize = 256;
        (ENTRY_BYTES + 16 * key.0.len() + profile.bytes()) as u64
    }
}

/// The profiles of one graph.
pub(crate) struct Profiles {
    everything: Arc<Profile>,
    /// True if the graph shows the same to all callers.
    are_equal: bool,
    /// Roles without introspection.
    without_introspection: Box<[Box<str>]>,
    known: quick_cache::sync::Cache<ProfileKey, Arc<Profile>, ProfileBytes, foldhash::quality::RandomState>,
}

/// Number of the next profile.
static NEXT: AtomicU64 = AtomicU64::new(1);

impl Profiles {
    /// Starts with the admin's profile only. `nobody`: facts of an unknown role; roles in `without_introspection` cannot introspect.
    pub(crate) fn new(nobody: &SourceFacts, without_introspection: &[Box<str>]) -> Self {
        /// Upper bound of the bytes of all profiles; an evicted profile is made again with a new number.
        const PROFILES_BYTES_MAX: u64 = 64 << 20;
        let everything = Arc::new(Profile::new(0, Box::default(), None, true));
        let known = quick_cache::sync::Cache::with(
            1024,
            PROFILES_BYTES_MAX,
            ProfileBytes,
            foldhash::quality::RandomState::default(),
            quick_cache::sync::DefaultLifecycle::default(),
        );
        let are_equal = !nobody.is_restricted() && without_introspection.is_empty();
        Self { everything, are_equal, without_introspection: without_introspection.into(), known }
    }

    /// The caller that `identity` is, of whom the sources say `facts`; `visibility` makes what a new profile sees.
    pub(crate) fn caller(
        &self,
        identity: &Identity,
        facts: &SourceFacts,
        visibility: impl FnOnce() -> Option<Visibility>,
    ) -> Caller {
        let may_introspect = !self.without_introspection.iter().any(|it| **it == *identity.role);
        let profile = if facts.is_restricted() || !may_introspect {
            self.profile(ProfileKeyRef(facts.words(), may_introspect), visibility)
        } else {
            Arc::clone(&self.everything)
        };
        Caller::new(profile, identity, self.are_equal)
    }

    fn profile(
        &self,
        key: ProfileKeyRef<'_>,
        visibility: impl FnOnce() -> Option<Visibility>,
    ) -> Arc<Profile> {
        if let Some(known) = self.known.get(&key) {
            return known;
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let ProfileKeyRef(words, may_introspect) = key;
        let profile = Arc::new(Profile::new(number, words.into(), visibility(), may_introspect));
        self.known.insert(ProfileKey(words.into(), may_introspect), Arc::clone(&profile));
        profile
    }
}

//! The profiles of one graph: equal facts of callers are one profile.
//!
//! **Invariant:** a profile that was pushed out and made anew has a new number, so nothing that was kept for it is mixed up with another's.
//!
//! **Cost:** one call per source, one hash and one lock of a shard; nothing is allocated for a known profile.

use crate::caller::{Caller, Facts, Identity, Profile, split};
use crate::compose::Graph;
use quick_cache::{Equivalent, Weighter};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Facts as a key.
#[derive(PartialEq, Eq)]
struct ProfileKey(Box<[u64]>);

/// Borrowed [`ProfileKey`].
struct ProfileKeyRef<'w>(&'w [u64]);

impl Hash for ProfileKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
impl Hash for ProfileKeyRef<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
impl Equivalent<ProfileKey> for ProfileKeyRef<'_> {
    fn equivalent(&self, key: &ProfileKey) -> bool {
        *self.0 == *key.0
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
    known: quick_cache::sync::Cache<ProfileKey, Arc<Profile>, ProfileBytes, foldhash::quality::RandomState>,
}

/// Number of the next profile.
static NEXT: AtomicU64 = AtomicU64::new(1);

impl Profiles {
    /// No profile but that of the admin.
    pub(crate) fn new() -> Self {
        /// Bytes all profiles may take; one that was pushed out is made anew, with a new number.
        const PROFILES_BYTES_MAX: u64 = 64 << 20;
        let everything = Arc::new(Profile::new(0, Box::default(), None));
        let known = quick_cache::sync::Cache::with(
            1024,
            PROFILES_BYTES_MAX,
            ProfileBytes,
            foldhash::quality::RandomState::default(),
            quick_cache::sync::DefaultLifecycle::default(),
        );
        Self { everything, known }
    }

    /// The caller that `identity` is for `graph`.
    pub(crate) fn caller(&self, graph: &Graph, identity: &Identity) -> Caller {
        let mut words = Facts::new();
        let mut is_restricted = false;
        for (source, _) in graph.sources() {
            let at = words.len();
            words.push(0);
            source.profile(identity, &mut words);
            words[at] = (words.len() - at - 1) as u64;
            is_restricted |= words[at] > 0;
        }
        let profile = if is_restricted { self.profile(graph, &words) } else { Arc::clone(&self.everything) };
        Caller::new(profile, identity)
    }

    fn profile(&self, graph: &Graph, words: &[u64]) -> Arc<Profile> {
        if let Some(known) = self.known.get(&ProfileKeyRef(words)) {
            return known;
        }
        let visibility = graph.visibility(split(words));
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let profile = Arc::new(Profile::new(number, words.into(), visibility));
        self.known.insert(ProfileKey(words.into()), Arc::clone(&profile));
        profile
    }
}

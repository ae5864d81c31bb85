//! Tags of cache entries: invalidating one invalidates all entries that have it.
//!
//! An entry holds the state of its tags, not the cache a list of a tag's entries: an invalidation is one store, and nothing
//! has to be kept in step with what is evicted. The states are taken up *before* the upstream is asked, so an answer that
//! was on its way when its tag was invalidated is invalid when it comes.
//!
//! **Cost:** a look at one atomic per tag of an entry that is served.

use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use weir_engine::tag_versions::{TagSnapshot, TagVersions};

/// State of one tag while any entry has it.
#[derive(Debug)]
pub(super) struct TagState {
    name: Arc<str>,
    /// Number of invalidations so far.
    times: AtomicU64,
    /// Last known version in the second level; 0 if unknown.
    received: AtomicU64,
}

impl TagState {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Records the version found in the second level, unless one is known already: a different version means that a message is on its way
    /// or was missed.
    pub(super) fn note_remote_version(&self, version: u64) {
        let _ = self.received.compare_exchange(0, version, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// True if `version` is unknown to this process.
    fn is_news(&self, version: u64) -> bool {
        self.received.load(Ordering::Relaxed) != version
    }

    /// Records the version that this process gave the tag.
    fn set_own_version(&self, version: u64) {
        self.received.store(version, Ordering::Relaxed);
    }

    /// Invalidates all entries with the tag, as of `version` in the second level.
    fn invalidate(&self, version: u64) {
        self.received.store(version, Ordering::Relaxed);
        self.times.fetch_add(1, Ordering::Release);
    }
}

/// Tags of an entry with their invalidation counts from before the upstream was called.
#[derive(Clone, Debug, Default)]
pub(super) struct Tags(SmallVec<[(Arc<TagState>, u64); 1]>);

impl Tags {
    /// True if no tag was invalidated since.
    pub(super) fn are_current(&self) -> bool {
        self.0.iter().all(|(tag, times)| tag.times.load(Ordering::Acquire) == *times)
    }

    pub(super) fn names(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.0.iter().map(|(tag, _)| &tag.name)
    }

    /// Records the versions found in the second level, in the order of the tags.
    pub(super) fn note_remote_versions(&self, versions: &[u64]) {
        self.0.iter().zip(versions).for_each(|((tag, _), version)| tag.note_remote_version(*version));
    }
}

/// Tags in use.
#[derive(Debug, Default)]
pub(super) struct Registry {
    known: Mutex<KnownTags>,
    /// Receives the invalidations, for results built from entries.
    changes: Arc<TagVersions>,
}

#[derive(Debug, Default)]
struct KnownTags {
    tags: HashMap<Arc<str>, Weak<TagState>>,
    /// Number of tags at which unused ones are removed.
    sweep_at: usize,
}

/// Minimum number of tags before unused ones are removed.
const SWEEP_MIN: usize = 1024;

impl Registry {
    pub(super) fn new(changes: Arc<TagVersions>) -> Self {
        Self { changes, ..Self::default() }
    }

    /// Current states of `names` and `more`.
    pub(super) fn take(&self, names: &[Arc<str>], more: &[Arc<str>]) -> Tags {
        if names.is_empty() && more.is_empty() {
            return Tags::default();
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        Tags(
            names
                .iter()
                .chain(more)
                .map(|name| known.tag(name))
                .map(|tag| (Arc::clone(&tag), tag.times.load(Ordering::Acquire)))
                .collect(),
        )
    }

    /// Versions of `tags`, for results built from entries.
    pub(super) fn versions(&self, tags: &Tags) -> TagSnapshot {
        self.changes.versions(tags.names().map(|it| &**it))
    }

    /// Invalidates everything with the tag `name`.
    pub(super) fn invalidate(&self, name: &str) {
        self.invalidate_entries(name);
        self.changes.invalidate_from_remote(name, []);
    }

    /// Invalidates entries with the tag `name`, but not results built from them.
    pub(super) fn invalidate_entries(&self, name: &str) {
        if let Some(tag) = self.tag(name) {
            tag.times.fetch_add(1, Ordering::Release);
        }
    }

    /// Applies an invalidation of another process, which gave the tag `name` this `version`. `keys` are the changed rows; empty means any
    /// row.
    pub(super) fn invalidate_from_remote<'k>(
        &self,
        name: &str,
        version: u64,
        keys: impl IntoIterator<Item = &'k [u8]>,
    ) {
        if let Some(tag) = self.tag(name) {
            tag.invalidate(version);
        }
        self.changes.invalidate_from_remote(name, keys);
    }

    /// Compares `tags` with their `versions` in the second level (0: none) and invalidates those whose version changed.
    pub(super) fn compare(tags: &[Arc<TagState>], versions: impl IntoIterator<Item = u64>) {
        for (tag, version) in tags.iter().zip(versions) {
            if tag.is_news(version) {
                tag.invalidate(version);
            }
        }
    }

    /// Invalidates everything with any tag, with unknown versions in the second level.
    pub(super) fn invalidate_all(&self) {
        self.all().iter().for_each(|tag| tag.invalidate(0));
        self.changes.on_unknown_invalidation();
    }

    /// Invalidates all results built from entries. Entries themselves were compared one by one.
    pub(super) fn invalidate_made(&self) {
        self.changes.on_unknown_invalidation();
    }

    /// Records the `version` that this process gave the tag `name`.
    pub(super) fn set_own_version(&self, name: &str, version: u64) {
        if let Some(tag) = self.tag(name) {
            tag.set_own_version(version);
        }
    }

    /// State of the tag `name`, if in use.
    fn tag(&self, name: &str) -> Option<Arc<TagState>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.tags.get(name).and_then(Weak::upgrade)
    }

    /// All tags in use.
    pub(super) fn all(&self) -> Vec<Arc<TagState>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.tags.values().filter_map(Weak::upgrade).collect()
    }
}

impl KnownTags {
    fn tag(&mut self, name: &Arc<str>) -> Arc<TagState> {
        if let Some(tag) = self.tags.get(name).and_then(Weak::upgrade) {
            return tag;
        }
        if self.tags.len() >= self.sweep_at.max(SWEEP_MIN) {
            self.tags.retain(|_, tag| tag.strong_count() > 0);
            self.sweep_at = self.tags.len() * 2;
        }
        let tag = Arc::new(TagState {
            name: Arc::clone(name),
            times: AtomicU64::new(0),
            received: AtomicU64::new(0),
        });
        self.tags.insert(Arc::clone(name), Arc::downgrade(&tag));
        tag
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_before_an_invalidation_is_invalid_and_what_comes_later_is_not() {
        let registry = Registry::default();
        let album = Arc::from("Album");
        let artist = Arc::from("Artist");
        let both = registry.take(&[Arc::clone(&album), Arc::clone(&artist)], &[]);
        let other = registry.take(&[artist], &[]);
        registry.invalidate("Album");
        registry.invalidate("Unknown");
        assert!(!both.are_current() && other.are_current() && registry.take(&[album], &[]).are_current());
        assert_eq!(registry.all().len(), 2);
        registry.invalidate_from_remote("Artist", 7, []);
        assert!(!other.are_current() && Tags::default().are_current());
    }

    #[test]
    fn a_version_is_news_until_it_was_heard_of() {
        let registry = Registry::default();
        let tags = registry.take(&[Arc::from("Album")], &[]);
        let tag = registry.tag("Album").unwrap();
        assert!(tag.is_news(1));
        tags.note_remote_versions(&[1]);
        tags.note_remote_versions(&[2]);
        assert!(!tag.is_news(1) && tag.is_news(2) && tags.are_current());
        tag.invalidate(2);
        assert!(!tag.is_news(2) && !tags.are_current());
    }

    #[test]
    fn tags_that_nothing_has_are_forgotten() {
        let registry = Registry::default();
        let kept = registry.take(&[Arc::from("kept")], &[]);
        for number in 0..10 * SWEEP_MIN {
            drop(registry.take(&[Arc::from(number.to_string())], &[]));
        }
        assert!(registry.known.lock().unwrap().tags.len() <= SWEEP_MIN);
        registry.invalidate("kept");
        assert!(!kept.are_current());
    }
}

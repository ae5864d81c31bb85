//! Names that make what is kept under them invalid, all at once.
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

/// One tag, as long as anything has it.
#[derive(Debug)]
pub(super) struct TagState {
    name: Arc<str>,
    /// Number of invalidations.
    times: AtomicU64,
    /// The version that it has in the second level as far as this process has heard; 0 if it never did.
    heard: AtomicU64,
}

impl TagState {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Takes in what version it has there, unless a version was heard of already: another one means that a message is on its
    /// way, or was missed.
    pub(super) fn found(&self, version: u64) {
        let _ = self.heard.compare_exchange(0, version, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// True if `version` is unknown to this process.
    fn is_news(&self, version: u64) -> bool {
        self.heard.load(Ordering::Relaxed) != version
    }

    /// Notes that this process gave it `version` there.
    fn told(&self, version: u64) {
        self.heard.store(version, Ordering::Relaxed);
    }

    /// Makes everything invalid that has it, as of `version` there.
    fn invalidate(&self, version: u64) {
        self.heard.store(version, Ordering::Relaxed);
        self.times.fetch_add(1, Ordering::Release);
    }
}

/// The tags of an entry, and how often each was invalidated when its upstream was asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Tags(SmallVec<[(Arc<TagState>, u64); 1]>);

impl Tags {
    /// True if none was invalidated since.
    pub(super) fn hold(&self) -> bool {
        self.0.iter().all(|(tag, times)| tag.times.load(Ordering::Acquire) == *times)
    }

    pub(super) fn names(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.0.iter().map(|(tag, _)| &tag.name)
    }

    /// Takes in their versions in the second level, in their order.
    pub(super) fn found(&self, versions: &[u64]) {
        self.0.iter().zip(versions).for_each(|((tag, _), version)| tag.found(*version));
    }
}

/// The tags that anything has.
#[derive(Debug, Default)]
pub(super) struct Registry {
    known: Mutex<KnownTags>,
    /// For what is made of entries: told when the entries are invalid.
    changes: Arc<TagVersions>,
}

#[derive(Debug, Default)]
struct KnownTags {
    tags: HashMap<Arc<str>, Weak<TagState>>,
    /// Those that nothing has any more are cleared away when there are so many.
    sweep_at: usize,
}

/// Fewer tags are not worth looking for those that nothing has any more.
const SWEEP_MIN: usize = 1024;

impl Registry {
    pub(super) fn new(changes: Arc<TagVersions>) -> Self {
        Self { changes, ..Self::default() }
    }

    /// The states of `names` and of `more` as they are now.
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

    /// Ages of `tags`, for results made of entries.
    pub(super) fn ages(&self, tags: &Tags) -> TagSnapshot {
        self.changes.ages(tags.names().map(|it| &**it))
    }

    /// Makes everything invalid that has the tag `name`.
    pub(super) fn invalidate(&self, name: &str) {
        self.invalidate_entries(name);
        self.changes.heard(name, []);
    }

    /// Makes all entries invalid that have the tag `name`, and nothing that is made of them.
    pub(super) fn invalidate_entries(&self, name: &str) {
        if let Some(tag) = self.tag(name) {
            tag.times.fetch_add(1, Ordering::Release);
        }
    }

    /// Makes everything invalid that has the tag `name`, as another process says so that gave it `version` there; `keys`: of the rows
    /// that it changed, of which none stands for any row.
    pub(super) fn heard<'k>(&self, name: &str, version: u64, keys: impl IntoIterator<Item = &'k [u8]>) {
        if let Some(tag) = self.tag(name) {
            tag.invalidate(version);
        }
        self.changes.heard(name, keys);
    }

    /// Compares the tags with their `versions` there, of which 0 is none: makes everything invalid that has one of which this
    /// process heard another.
    pub(super) fn compare(tags: &[Arc<TagState>], versions: impl IntoIterator<Item = u64>) {
        for (tag, version) in tags.iter().zip(versions) {
            if tag.is_news(version) {
                tag.invalidate(version);
            }
        }
    }

    /// Makes everything invalid that has any tag. What versions they have there is not known.
    pub(super) fn invalidate_all(&self) {
        self.all().iter().for_each(|tag| tag.invalidate(0));
        self.changes.on_unknown_invalidation();
    }

    /// Makes everything invalid that is made of entries: of these each was looked after by itself.
    pub(super) fn invalidate_made(&self) {
        self.changes.on_unknown_invalidation();
    }

    /// Notes that this process gave the tag `name` a `version` there.
    pub(super) fn told(&self, name: &str, version: u64) {
        if let Some(tag) = self.tag(name) {
            tag.told(version);
        }
    }

    /// The tag `name`, if anything has it.
    fn tag(&self, name: &str) -> Option<Arc<TagState>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.tags.get(name).and_then(Weak::upgrade)
    }

    /// All tags that anything has.
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
        let tag =
            Arc::new(TagState { name: Arc::clone(name), times: AtomicU64::new(0), heard: AtomicU64::new(0) });
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
        let (album, artist) = (Arc::from("Album"), Arc::from("Artist"));
        let both = registry.take(&[Arc::clone(&album), Arc::clone(&artist)], &[]);
        let other = registry.take(&[artist], &[]);
        registry.invalidate("Album");
        registry.invalidate("Unknown");
        assert!(!both.hold() && other.hold() && registry.take(&[album], &[]).hold());
        assert_eq!(registry.all().len(), 2);
        registry.heard("Artist", 7, []);
        assert!(!other.hold() && Tags::default().hold());
    }

    #[test]
    fn a_version_is_news_until_it_was_heard_of() {
        let registry = Registry::default();
        let tags = registry.take(&[Arc::from("Album")], &[]);
        let tag = registry.tag("Album").unwrap();
        assert!(tag.is_news(1));
        tags.found(&[1]);
        tags.found(&[2]);
        assert!(!tag.is_news(1) && tag.is_news(2) && tags.hold());
        tag.invalidate(2);
        assert!(!tag.is_news(2) && !tags.hold());
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
        assert!(!kept.hold());
    }
}

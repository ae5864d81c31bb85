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

/// One tag, as long as anything has it.
#[derive(Debug)]
pub(super) struct Tag {
    name: Arc<str>,
    /// How often it was invalidated.
    times: AtomicU64,
}

/// The tags of an entry, and how often each was invalidated when its upstream was asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Tags(SmallVec<[(Arc<Tag>, u64); 1]>);

impl Tags {
    /// Whether none was invalidated since.
    pub(super) fn hold(&self) -> bool {
        self.0.iter().all(|(tag, times)| tag.times.load(Ordering::Acquire) == *times)
    }

    pub(super) fn names(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.0.iter().map(|(tag, _)| &tag.name)
    }
}

/// The tags that anything has.
#[derive(Debug, Default)]
pub(super) struct Registry {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    tags: HashMap<Arc<str>, Weak<Tag>>,
    /// Those that nothing has any more are cleared away when there are so many.
    sweep_at: usize,
}

/// Fewer tags are not worth looking for those that nothing has any more.
const SWEEP_MIN: usize = 1024;

impl Registry {
    /// The states of `names` as they are now.
    pub(super) fn take(&self, names: &[Arc<str>]) -> Tags {
        if names.is_empty() {
            return Tags::default();
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        Tags(
            names
                .iter()
                .map(|name| known.tag(name))
                .map(|tag| (Arc::clone(&tag), tag.times.load(Ordering::Acquire)))
                .collect(),
        )
    }

    /// Makes everything invalid that has the tag `name`.
    pub(super) fn invalidate(&self, name: &str) {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tag) = known.tags.get(name).and_then(Weak::upgrade) {
            tag.times.fetch_add(1, Ordering::Release);
        }
    }

    /// Makes everything invalid that has a tag.
    pub(super) fn invalidate_all(&self) {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for tag in known.tags.values().filter_map(Weak::upgrade) {
            tag.times.fetch_add(1, Ordering::Release);
        }
    }
}

impl Known {
    fn tag(&mut self, name: &Arc<str>) -> Arc<Tag> {
        if let Some(tag) = self.tags.get(name).and_then(Weak::upgrade) {
            return tag;
        }
        if self.tags.len() >= self.sweep_at.max(SWEEP_MIN) {
            self.tags.retain(|_, tag| tag.strong_count() > 0);
            self.sweep_at = self.tags.len() * 2;
        }
        let tag = Arc::new(Tag { name: Arc::clone(name), times: AtomicU64::new(0) });
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
        let both = registry.take(&[Arc::clone(&album), Arc::clone(&artist)]);
        let other = registry.take(&[artist]);
        registry.invalidate("Album");
        registry.invalidate("Unknown");
        assert!(!both.hold() && other.hold() && registry.take(&[album]).hold());
        registry.invalidate_all();
        assert!(!other.hold() && Tags::default().hold());
    }

    #[test]
    fn tags_that_nothing_has_are_forgotten() {
        let registry = Registry::default();
        let kept = registry.take(&[Arc::from("kept")]);
        for number in 0..10 * SWEEP_MIN {
            drop(registry.take(&[Arc::from(number.to_string())]));
        }
        assert!(registry.known.lock().unwrap().tags.len() <= SWEEP_MIN);
        registry.invalidate("kept");
        assert!(!kept.hold());
    }
}

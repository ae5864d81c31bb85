//! Invalidation by tag: mutations record changes here, and cached answers are checked against them.
//!
//! A process has one for all its engines, as they come and go with reloads: a mutation that began in the one before makes the
//! answers of the next old too. What is changed here is handed on to whoever keeps answers of sources and knows other
//! processes ([`InvalidationSink`]); what those changed comes back as [`TagVersions::heard`].
//!
//! **Invariant:** ages only rise, and that of a tag rises after everything else with the tag is old. So who takes the ages
//! before it asks its sources finds them risen if it was given anything from before a change.
//!
//! **Cost:** a change is one addition per tag; a check reads one atomic per tag.

use crate::source::Tag;
use foldhash::quality::FixedState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, Weak};

/// Number of ages for all tags. Two tags with the same age invalidate each other's entries, which costs only misses.
const AGES: usize = 4096;
/// The age of everything; it stands behind the others.
const ALL: u16 = AGES as u16;

/// The ages of some tags at one moment, and of everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagSnapshot(Vec<(u16, u64)>);

impl TagSnapshot {
    /// Of what was old when it was looked at.
    #[must_use]
    pub fn past() -> Self {
        Self(vec![(ALL, u64::MAX)])
    }

    /// Those of others too.
    pub(crate) fn join(&mut self, others: &Self) {
        self.0.extend_from_slice(&others.0);
    }
}

/// Receivers of all changes that are recorded here.
pub trait InvalidationSink: Send + Sync {
    /// Whatever has `tag` was changed. It is done with when this returns, as far as this process goes.
    fn changed(&self, tag: &Tag);
}

/// A version per tag, raised by each mutation that changes data of the tag.
pub struct TagVersions {
    ages: Box<[AtomicU64]>,
    others: RwLock<Option<Weak<dyn InvalidationSink>>>,
}

impl Default for TagVersions {
    fn default() -> Self {
        let ages = std::iter::repeat_with(AtomicU64::default).take(AGES + 1).collect();
        Self { ages, others: RwLock::new(None) }
    }
}

impl std::fmt::Debug for TagVersions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TagVersions").finish_non_exhaustive()
    }
}

impl TagVersions {
    /// Has `others` told of what is changed here from now on, in place of those before.
    pub fn tell_to(&self, others: Weak<dyn InvalidationSink>) {
        *self.others.write().unwrap_or_else(PoisonError::into_inner) = Some(others);
    }

    /// Something was changed here.
    pub fn note(&self, tags: &[Tag]) {
        if tags.is_empty() {
            return;
        }
        let others =
            self.others.read().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(Weak::upgrade);
        for tag in tags {
            // First what parts are made of, then what is made of parts.
            others.iter().for_each(|it| it.changed(tag));
            self.heard(&tag.0);
        }
    }

    /// Invalidates this tag; all receivers know of it already.
    pub fn heard(&self, tag: &str) {
        self.raise(place(tag));
    }

    /// Nobody knows what was changed.
    pub fn on_unknown_invalidation(&self) {
        self.raise(ALL);
    }

    fn raise(&self, place: u16) {
        self.ages[usize::from(place)].fetch_add(1, Ordering::AcqRel);
    }

    /// The current ages of these tags.
    #[must_use]
    pub fn ages<'t>(&self, tags: impl IntoIterator<Item = &'t str>) -> TagSnapshot {
        self.ages_at(tags.into_iter().map(place))
    }

    /// The current ages of the tags at these places.
    pub(crate) fn ages_at(&self, places: impl IntoIterator<Item = u16>) -> TagSnapshot {
        TagSnapshot(places.into_iter().chain([ALL]).map(|it| (it, self.age(it))).collect())
    }

    /// True if nothing with these tags was changed since.
    #[must_use]
    pub fn are_current(&self, ages: &TagSnapshot) -> bool {
        ages.0.iter().all(|&(place, age)| self.age(place) == age)
    }

    fn age(&self, place: u16) -> u64 {
        self.ages[usize::from(place)].load(Ordering::Acquire)
    }
}

/// Index of the age of `tag`.
pub(crate) fn place(tag: &str) -> u16 {
    (FixedState::default().hash_one(tag) % AGES as u64) as u16
}

/// A change on its way: noted when this goes, whatever came of it, as whoever waits for a mutation may go away
/// while it is done.
pub(crate) struct InvalidateOnDrop<'r> {
    pub(crate) changes: &'r TagVersions,
    pub(crate) tags: &'r [Tag],
}

impl Drop for InvalidateOnDrop<'_> {
    fn drop(&mut self) {
        self.changes.note(self.tags);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    fn tag(name: &str) -> Tag {
        Tag(name.into())
    }

    /// The changes sent to others, and true if no other change came between.
    struct Told {
        changes: Arc<TagVersions>,
        before: TagSnapshot,
        all: Mutex<Vec<(Tag, bool)>>,
    }

    impl InvalidationSink for Told {
        fn changed(&self, tag: &Tag) {
            self.all.lock().unwrap().push((tag.clone(), self.changes.are_current(&self.before)));
        }
    }

    #[test]
    fn others_are_told_of_a_change_before_ages_rise_and_not_of_what_comes_from_them() {
        let changes = Arc::new(TagVersions::default());
        let before = changes.ages(["Album"]);
        let told =
            Arc::new(Told { changes: Arc::clone(&changes), before: before.clone(), all: Mutex::default() });
        let weak: Weak<dyn InvalidationSink> =
            Arc::downgrade(&(Arc::clone(&told) as Arc<dyn InvalidationSink>));
        changes.tell_to(weak);
        changes.note(&[tag("Album")]);
        assert!(!changes.are_current(&before));
        assert_eq!(*told.all.lock().unwrap(), [(tag("Album"), true)]);
        let after = changes.ages(["Album"]);
        changes.heard("Genre");
        assert!(changes.are_current(&after));
        changes.heard("Album");
        assert!(!changes.are_current(&after));
        assert_eq!(told.all.lock().unwrap().len(), 1);
        drop(told);
        changes.note(&[tag("Album")]);
    }

    #[test]
    fn what_nobody_knows_makes_everything_old() {
        let changes = TagVersions::default();
        let (some, none) = (changes.ages(["Album"]), changes.ages([]));
        assert!(changes.are_current(&some) && changes.are_current(&none));
        changes.on_unknown_invalidation();
        assert!(!changes.are_current(&some) && !changes.are_current(&none));
    }
}

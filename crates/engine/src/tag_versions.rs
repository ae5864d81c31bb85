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
use std::borrow::Cow;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, Weak};

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

    /// The places of its tags.
    pub(crate) fn places(&self) -> impl Iterator<Item = u16> + '_ {
        self.0.iter().map(|it| it.0).filter(|it| *it != ALL)
    }

    /// Those of others too.
    pub(crate) fn join(&mut self, others: &Self) {
        self.0.extend_from_slice(&others.0);
    }
}

/// Receivers of all changes that are recorded here.
pub trait InvalidationSink: Send + Sync {
    /// Whatever has `tag` was changed; if some of `rows` are of that table, these rows alone. It is done with when this returns, as far
    /// as this process goes.
    fn changed(&self, tag: &Tag, rows: &[RowKey]);
}

/// Listeners to changes in this process and, as far as they are told of, in others: each by its exact tag.
pub trait ChangeListener: Send + Sync {
    /// Data of `change` was changed, and reads see it.
    fn changed(&self, change: &Change<'_>);
    /// Any data may have been changed.
    fn everything_changed(&self);
    /// A change whose outcome nobody waited for: it may be done a little later.
    fn abandoned(&self, change: &Change<'_>);
}

/// A change of data with a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change<'c> {
    /// The tag, such as `public.Album`.
    pub tag: &'c str,
    /// The key of the one row that was changed, as [`RowKey`] writes it; `None`: any row.
    pub key: Option<&'c [u8]>,
}

/// A version per tag, raised by each mutation that changes data of the tag.
pub struct TagVersions {
    ages: Box<[AtomicU64]>,
    others: RwLock<Option<Weak<dyn InvalidationSink>>>,
    listeners: RwLock<Vec<Weak<dyn ChangeListener>>>,
}

impl Default for TagVersions {
    fn default() -> Self {
        let ages = std::iter::repeat_with(AtomicU64::default).take(AGES + 1).collect();
        Self { ages, others: RwLock::new(None), listeners: RwLock::default() }
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

    /// Has `listener` told of all changes from now on, as long as it lives.
    pub fn listen(&self, listener: Weak<dyn ChangeListener>) {
        let mut listeners = self.listeners.write().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|it| it.strong_count() > 0);
        listeners.push(listener);
    }

    /// Something was changed here.
    pub fn note(&self, tags: &[Tag]) {
        self.note_rows(tags, &[]);
    }

    /// Something was changed here; of the tables in `rows` only the rows with these keys.
    pub fn note_rows(&self, tags: &[Tag], rows: &[RowKey]) {
        if tags.is_empty() {
            return;
        }
        let others =
            self.others.read().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(Weak::upgrade);
        for tag in tags {
            // First what parts are made of, then what is made of parts.
            others.iter().for_each(|it| it.changed(tag, rows));
            self.heard(&tag.0, RowKey::of(tag, rows));
        }
    }

    /// Invalidates this tag; all receivers know of it already. `keys`: of the rows that were changed, of which none stands for any row.
    pub fn heard<'k>(&self, tag: &str, keys: impl IntoIterator<Item = &'k [u8]>) {
        self.raise(place(tag));
        let mut keys = keys.into_iter().peekable();
        if keys.peek().is_none() {
            self.tell(|it| it.changed(&Change { tag, key: None }));
        }
        for key in keys {
            self.tell(|it| it.changed(&Change { tag, key: Some(key) }));
        }
    }

    /// Nobody knows what was changed.
    pub fn on_unknown_invalidation(&self) {
        self.raise(ALL);
        self.tell(|it| it.everything_changed());
    }

    /// True if somebody is told of rows.
    pub(crate) fn has_listeners(&self) -> bool {
        !self.listeners.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    fn tell(&self, what: impl Fn(&dyn ChangeListener)) {
        let listeners = self.listeners.read().unwrap_or_else(PoisonError::into_inner);
        listeners.iter().filter_map(Weak::upgrade).for_each(|it| what(&*it));
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

/// One row of a table, by its primary key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RowKey {
    /// The table.
    pub tag: Tag,
    /// The texts of the key's columns, each after its length. Only columns whose equal values have equal texts make keys.
    pub key: Box<[u8]>,
}

impl RowKey {
    /// The row of `tag` whose key columns have these texts, in the order of the key.
    #[must_use]
    pub fn new<'t>(tag: Tag, texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut key = Vec::new();
        for text in texts {
            key.extend_from_slice(&(text.len() as u32).to_le_bytes());
            key.extend_from_slice(text.as_bytes());
        }
        Self { tag, key: key.into() }
    }

    /// The keys of those of `rows` that are of `tag`.
    pub fn of<'r>(tag: &Tag, rows: &'r [Self]) -> impl Iterator<Item = &'r [u8]> {
        rows.iter().filter(move |it| it.tag == *tag).map(|it| &*it.key)
    }

    /// The texts in `key`, as [`RowKey::new`] was given them.
    pub(crate) fn texts(mut key: &[u8]) -> impl Iterator<Item = &str> {
        std::iter::from_fn(move || {
            let (length, rest) = key.split_first_chunk()?;
            let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            key = rest;
            std::str::from_utf8(text).ok()
        })
    }
}

/// Index of the age of `tag`.
pub(crate) fn place(tag: &str) -> u16 {
    (FixedState::default().hash_one(tag) % AGES as u64) as u16
}

/// The effect of a change, told by its source when it is over: exacter than the tags of its plan, which hold all that it might have done.
#[derive(Debug, Default)]
pub struct ChangeRecord(Mutex<Option<Box<SettledChange>>>);

/// The tags of what was changed, and the rows to which that is confined.
type SettledChange = (Vec<Tag>, Vec<RowKey>);

impl ChangeRecord {
    /// The outcome is known: what has one of `tags` was changed, and of the tables in `rows` only the rows with these keys.
    pub fn settle(&self, tags: Vec<Tag>, rows: Vec<RowKey>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new((tags, rows)));
    }
}

/// A change on its way: noted when this goes, whatever came of it, as whoever waits for a mutation may go away
/// while it is done.
pub(crate) struct InvalidateOnDrop<'r> {
    pub(crate) changes: &'r TagVersions,
    pub(crate) tags: Cow<'r, [Tag]>,
    /// The rows to which the change is confined.
    pub(crate) rows: Vec<RowKey>,
    /// True once its outcome is known.
    pub(crate) is_done: bool,
}

impl InvalidateOnDrop<'_> {
    /// The source answered, and may have told what it did.
    pub(crate) fn done(&mut self, record: &ChangeRecord) {
        self.is_done = true;
        let told = record.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(told) = told {
            (self.tags, self.rows) = (Cow::Owned(told.0), told.1);
        }
    }
}

impl Drop for InvalidateOnDrop<'_> {
    fn drop(&mut self) {
        self.changes.note_rows(&self.tags, &self.rows);
        for tag in self.tags.iter().filter(|_| !self.is_done) {
            self.changes.tell(|it| it.abandoned(&Change { tag: &tag.0, key: None }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

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
        fn changed(&self, tag: &Tag, _: &[RowKey]) {
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
        changes.heard("Genre", []);
        assert!(changes.are_current(&after));
        changes.heard("Album", []);
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

//! Invalidation by tag: mutations record changes here, and cached answers are checked against them.
//!
//! A process has one instance for all its engines, across reloads: a mutation that began under the old engine also invalidates the
//! answers of the new one. Local invalidations go to an [`InvalidationSink`], which caches answers of sources and informs other
//! processes; their invalidations arrive through [`TagVersions::invalidate_from_remote`].
//!
//! **Invariant:** versions only rise, and the version of a tag rises after all other data with the tag is invalid. So a reader that
//! takes the versions before it asks its sources sees them risen if it was given data from before a change.
//!
//! **Cost:** a change is one addition per tag; a check reads one atomic per tag.

use foldhash::quality::FixedState;
use std::borrow::Cow;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

/// Name of data that a fetch reads or writes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tag(pub Arc<str>);

/// Number of version slots. Tags with one slot invalidate each other's entries, which costs only misses.
const VERSION_SLOTS: usize = 4096;
/// Slot of the version that covers all tags, behind the others.
const ALL_TAGS_SLOT: u16 = VERSION_SLOTS as u16;

/// Versions of some tags at one moment, with the version that covers all tags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagSnapshot(Vec<(u16, u64)>);

impl TagSnapshot {
    /// A snapshot that never matches the current versions.
    pub fn always_stale() -> Self {
        Self(vec![(ALL_TAGS_SLOT, u64::MAX)])
    }

    /// Slots of its tags.
    pub(crate) fn places(&self) -> impl Iterator<Item = u16> + '_ {
        self.0.iter().map(|it| it.0).filter(|it| *it != ALL_TAGS_SLOT)
    }

    /// Adds the tags of another snapshot.
    pub(crate) fn join(&mut self, others: &Self) {
        self.0.extend_from_slice(&others.0);
    }
}

/// Receiver of invalidations that are recorded in this process.
pub trait InvalidationSink: Send + Sync {
    /// Invalidates data with `tag`; if some of `rows` belong to that table, these rows only. Invalidation within this process is
    /// complete when the call returns.
    fn invalidate_rows(&self, tag: &Tag, rows: &[RowKey]);
}

/// Listener to changes in this process and to reported changes of other processes, by exact tag.
pub trait ChangeListener: Send + Sync {
    /// Data of `change` was changed and is visible to reads.
    fn on_change(&self, change: &Change<'_>);
    /// Any data may have changed.
    fn on_unknown_change(&self);
    /// A change whose outcome is unknown: it may be committed a little later.
    fn on_unconfirmed_change(&self, change: &Change<'_>);
}

/// A change of data with a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change<'c> {
    /// The tag, such as `public.Album`.
    pub tag: &'c str,
    /// The key of the one row that was changed, as [`RowKey`] writes it; `None`: any row.
    pub key: Option<&'c [u8]>,
}

/// Versions of all tags; a mutation raises the versions of the tags whose data it changes.
pub struct TagVersions {
    ages: Box<[AtomicU64]>,
    remote_sink: RwLock<Option<Weak<dyn InvalidationSink>>>,
    listeners: RwLock<Vec<Weak<dyn ChangeListener>>>,
}

impl Default for TagVersions {
    fn default() -> Self {
        let ages = std::iter::repeat_with(AtomicU64::default).take(VERSION_SLOTS + 1).collect();
        Self { ages, remote_sink: RwLock::new(None), listeners: RwLock::default() }
    }
}

impl std::fmt::Debug for TagVersions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TagVersions").finish_non_exhaustive()
    }
}

impl TagVersions {
    /// Sends local invalidations to `others` from now on, instead of to the previous sink.
    pub fn set_remote_sink(&self, others: Weak<dyn InvalidationSink>) {
        *self.remote_sink.write().unwrap_or_else(PoisonError::into_inner) = Some(others);
    }

    /// Notifies `listener` of all changes from now on, as long as it lives.
    pub fn listen(&self, listener: Weak<dyn ChangeListener>) {
        let mut listeners = self.listeners.write().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|it| it.strong_count() > 0);
        listeners.push(listener);
    }

    /// Invalidates data with these tags after a local change.
    pub fn invalidate(&self, tags: &[Tag]) {
        self.invalidate_rows(tags, &[]);
    }

    /// Invalidates data with these tags after a local change; in the tables of `rows` only the rows with these keys.
    pub fn invalidate_rows(&self, tags: &[Tag], rows: &[RowKey]) {
        if tags.is_empty() {
            return;
        }
        let others =
            self.remote_sink.read().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(Weak::upgrade);
        for tag in tags {
            // The caches of single calls come first, then the caches of whole answers that are made of them.
            others.iter().for_each(|it| it.invalidate_rows(tag, rows));
            self.invalidate_from_remote(&tag.0, RowKey::of(tag, rows));
        }
    }

    /// Invalidates a tag that the sink has handled already. `keys`: keys of the changed rows; if there are none, any row may have
    /// changed.
    pub fn invalidate_from_remote<'k>(&self, tag: &str, keys: impl IntoIterator<Item = &'k [u8]>) {
        self.raise(place(tag));
        let mut keys = keys.into_iter().peekable();
        if keys.peek().is_none() {
            self.notify_listeners(|it| it.on_change(&Change { tag, key: None }));
        }
        for key in keys {
            self.notify_listeners(|it| it.on_change(&Change { tag, key: Some(key) }));
        }
    }

    /// Invalidates everything: the changed data is unknown.
    pub fn on_unknown_invalidation(&self) {
        self.raise(ALL_TAGS_SLOT);
        self.notify_listeners(|it| it.on_unknown_change());
    }

    /// True if row keys have a listener.
    pub(crate) fn has_listeners(&self) -> bool {
        !self.listeners.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    fn notify_listeners(&self, what: impl Fn(&dyn ChangeListener)) {
        let listeners = self.listeners.read().unwrap_or_else(PoisonError::into_inner);
        listeners.iter().filter_map(Weak::upgrade).for_each(|it| what(&*it));
    }

    fn raise(&self, place: u16) {
        self.ages[usize::from(place)].fetch_add(1, Ordering::AcqRel);
    }

    /// Current versions of these tags.
    pub fn versions<'t>(&self, tags: impl IntoIterator<Item = &'t str>) -> TagSnapshot {
        self.versions_at(tags.into_iter().map(place))
    }

    /// Current versions of the tags in these slots.
    pub(crate) fn versions_at(&self, places: impl IntoIterator<Item = u16>) -> TagSnapshot {
        TagSnapshot(places.into_iter().chain([ALL_TAGS_SLOT]).map(|it| (it, self.version(it))).collect())
    }

    /// True if no data with these tags was invalidated since `ages` was taken.
    pub fn are_current(&self, ages: &TagSnapshot) -> bool {
        ages.0.iter().all(|&(place, age)| self.version(place) == age)
    }

    fn version(&self, place: u16) -> u64 {
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

/// Version slot of `tag`.
pub(crate) fn place(tag: &str) -> u16 {
    (FixedState::default().hash_one(tag) % VERSION_SLOTS as u64) as u16
}

/// Effect of a change, reported by its source at the end. It is more precise than the tags of the plan, which list everything the
/// change might touch.
#[derive(Debug, Default)]
pub struct ChangeRecord(Mutex<Option<Box<SettledChange>>>);

/// Tags of the changed data, and the rows to which the change is limited.
type SettledChange = (Vec<Tag>, Vec<RowKey>);

impl ChangeRecord {
    /// Records the outcome: data with `tags` was changed, in the tables of `rows` only the rows with these keys.
    pub fn settle(&self, tags: Vec<Tag>, rows: Vec<RowKey>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new((tags, rows)));
    }
}

/// Invalidates the tags of a change when it is dropped, whatever the outcome: the future of a mutation may be dropped while the
/// mutation is still running.
pub(crate) struct InvalidateOnDrop<'r> {
    pub(crate) changes: &'r TagVersions,
    pub(crate) tags: Cow<'r, [Tag]>,
    /// The rows to which the change is confined.
    pub(crate) rows: Vec<RowKey>,
    /// True once the outcome is known.
    pub(crate) is_done: bool,
}

impl InvalidateOnDrop<'_> {
    /// The source answered, and may have recorded the effect of the change.
    pub(crate) fn apply_record(&mut self, record: &ChangeRecord) {
        self.is_done = true;
        let told = record.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(told) = told {
            (self.tags, self.rows) = (Cow::Owned(told.0), told.1);
        }
    }
}

impl Drop for InvalidateOnDrop<'_> {
    fn drop(&mut self) {
        self.changes.invalidate_rows(&self.tags, &self.rows);
        for tag in self.tags.iter().filter(|_| !self.is_done) {
            self.changes.notify_listeners(|it| it.on_unconfirmed_change(&Change { tag: &tag.0, key: None }));
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
        fn invalidate_rows(&self, tag: &Tag, _: &[RowKey]) {
            self.all.lock().unwrap().push((tag.clone(), self.changes.are_current(&self.before)));
        }
    }

    #[test]
    fn others_are_told_of_a_change_before_ages_rise_and_not_of_what_comes_from_them() {
        let changes = Arc::new(TagVersions::default());
        let before = changes.versions(["Album"]);
        let told =
            Arc::new(Told { changes: Arc::clone(&changes), before: before.clone(), all: Mutex::default() });
        let weak: Weak<dyn InvalidationSink> =
            Arc::downgrade(&(Arc::clone(&told) as Arc<dyn InvalidationSink>));
        changes.set_remote_sink(weak);
        changes.invalidate(&[tag("Album")]);
        assert!(!changes.are_current(&before));
        assert_eq!(*told.all.lock().unwrap(), [(tag("Album"), true)]);
        let after = changes.versions(["Album"]);
        changes.invalidate_from_remote("Genre", []);
        assert!(changes.are_current(&after));
        changes.invalidate_from_remote("Album", []);
        assert!(!changes.are_current(&after));
        assert_eq!(told.all.lock().unwrap().len(), 1);
        drop(told);
        changes.invalidate(&[tag("Album")]);
    }

    #[test]
    fn what_nobody_knows_makes_everything_old() {
        let changes = TagVersions::default();
        let some = changes.versions(["Album"]);
        let none = changes.versions([]);
        assert!(changes.are_current(&some) && changes.are_current(&none));
        changes.on_unknown_invalidation();
        assert!(!changes.are_current(&some) && !changes.are_current(&none));
    }
}

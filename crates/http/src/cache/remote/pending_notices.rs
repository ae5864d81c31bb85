//! Invalidations of this process that were not published to other processes yet.
//!
//! **Invariant:** a notice names at least all that was changed: where keys get too many it is the whole table, where tags do it is everything.

use super::ALL;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Maximum number of pending tags; beyond it everything is invalidated.
const TAGS_MAX: usize = 10_000;
/// Maximum number of row keys per tag; beyond it the change is published as any row.
pub(super) const KEYS_MAX: usize = 256;
/// Maximum size of row keys per tag, in bytes; beyond it the change is published as any row.
pub(super) const KEY_BYTES_MAX: usize = 16 * 1024;

/// Rows of a table that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ChangedRows {
    Any,
    /// The rows with these keys.
    Keys(BTreeSet<Box<[u8]>>),
}

impl ChangedRows {
    /// The rows with these keys; no key means any row.
    pub(super) fn of<'k>(keys: impl IntoIterator<Item = &'k [u8]>) -> Self {
        let mut bytes = 0;
        let mut all = BTreeSet::new();
        for key in keys {
            if all.insert(Box::from(key)) {
                bytes += key.len();
            }
            if all.len() > KEYS_MAX || bytes > KEY_BYTES_MAX {
                return Self::Any;
            }
        }
        if all.is_empty() { Self::Any } else { Self::Keys(all) }
    }

    /// The keys; empty means any row.
    pub(super) fn keys(&self) -> Vec<&[u8]> {
        match self {
            Self::Any => Vec::new(),
            Self::Keys(keys) => keys.iter().map(|it| &**it).collect(),
        }
    }

    fn join(&mut self, other: &Self) {
        let joined = match (&*self, other) {
            (Self::Keys(one), Self::Keys(other)) => Self::of(one.union(other).map(|it| &**it)),
            (Self::Any, _) | (_, Self::Any) => Self::Any,
        };
        *self = joined;
    }
}

/// Tags that were invalidated here but not yet in the second level. Entries with such a tag are neither looked up nor written.
#[derive(Debug, Default)]
pub(super) struct PendingNotices {
    tags: HashMap<Arc<str>, ChangedRows>,
    /// Tags being published. Kept apart, so that a tag invalidated meanwhile is published again.
    telling: HashMap<Arc<str>, ChangedRows>,
    /// Too many tags are pending: publish the tag `ALL`.
    all: bool,
}

impl PendingNotices {
    /// Notes a change of `tag` in these rows.
    pub(super) fn add(&mut self, tag: &str, rows: ChangedRows) {
        if let Some(before) = self.tags.get_mut(tag) {
            before.join(&rows);
        } else if self.tags.len() < TAGS_MAX {
            self.tags.insert(tag.into(), rows);
        } else {
            self.all = true;
        }
    }

    /// True if the invalidation of `tag` is pending.
    pub(super) fn has(&self, tag: &str) -> bool {
        self.all || self.tags.contains_key(tag) || self.telling.contains_key(tag)
    }

    /// The next changes to publish, at most `count` tags. Changes that were not confirmed come again.
    pub(super) fn next(&mut self, count: usize) -> Vec<(Arc<str>, ChangedRows)> {
        for (tag, rows) in std::mem::take(&mut self.telling) {
            self.add(&tag, rows);
        }
        if std::mem::take(&mut self.all) {
            self.tags = HashMap::from([(ALL.into(), ChangedRows::Any)]);
        }
        let next: Vec<Arc<str>> = self.tags.keys().take(count).cloned().collect();
        self.telling = next.iter().filter_map(|tag| self.tags.remove_entry(tag)).collect();
        self.telling.iter().map(|(tag, rows)| (Arc::clone(tag), rows.clone())).collect()
    }

    /// Confirms that the changes returned by the last `next` were published.
    pub(super) fn confirm_sent(&mut self) {
        self.telling.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(range: std::ops::Range<u32>) -> Vec<[u8; 4]> {
        range.map(u32::to_le_bytes).collect()
    }

    fn rows(range: std::ops::Range<u32>) -> ChangedRows {
        ChangedRows::of(keys(range).iter().map(|it| &it[..]))
    }

    #[test]
    fn rows_that_are_too_many_or_too_long_are_any() {
        assert_eq!(ChangedRows::of([]), ChangedRows::Any);
        assert_eq!(rows(0..256).keys().len(), 256);
        assert_eq!(rows(0..257), ChangedRows::Any);
        let long = [vec![1; KEY_BYTES_MAX / 2], vec![2; KEY_BYTES_MAX / 2], vec![3]];
        assert_eq!(ChangedRows::of(long[..2].iter().map(|it| &**it)).keys().len(), 2);
        assert_eq!(ChangedRows::of(long.iter().map(|it| &**it)), ChangedRows::Any);
    }

    #[test]
    fn changes_of_one_table_are_told_together_and_again_if_they_could_not_be_told() {
        let mut untold = PendingNotices::default();
        untold.add("boat", rows(0..2));
        assert_eq!(untold.next(8), [("boat".into(), rows(0..2))]);
        untold.add("boat", rows(1..3));
        assert!(untold.has("boat") && !untold.has("buoy"));
        // It was not told: the next attempt has both.
        assert_eq!(untold.next(8), [("boat".into(), rows(0..3))]);
        untold.confirm_sent();
        assert!(!untold.has("boat") && untold.next(8).is_empty());
        untold.add("boat", rows(0..1));
        untold.add("boat", ChangedRows::Any);
        untold.add("boat", rows(0..1));
        assert_eq!(untold.next(8), [("boat".into(), ChangedRows::Any)]);
    }

    #[test]
    fn tags_that_are_too_many_are_all() {
        let mut untold = PendingNotices::default();
        (0..=TAGS_MAX).for_each(|it| untold.add(&it.to_string(), rows(0..1)));
        assert!(untold.has("another"));
        assert_eq!(untold.next(8), [(ALL.into(), ChangedRows::Any)]);
        untold.confirm_sent();
        assert!(!untold.has("another"));
    }
}

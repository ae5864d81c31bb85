//! Changes of a source's data that others make: other programs, and other processes of ours.
//!
//! Changes of this process are in [`TagVersions`](crate::tag_versions::TagVersions), which every mutation tells.

use super::BoxFuture;
use crate::tag_versions::Change;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Tells of changes that were made elsewhere.
pub trait ChangeFeed: Send + Sync {
    /// Tells `sink` of changes until it is dropped; until it says what it covers, that is nothing. It never ends by itself: what breaks is
    /// begun again.
    fn watch<'w>(&'w self, sink: &'w dyn ChangeSink) -> BoxFuture<'w, ()>;

    /// Its way of finding out, as the end of a sentence for operators.
    fn words(&self) -> &'static str;

    /// True if it tells of the changes of this process too, each with its keys. Then nobody else has to.
    fn tells_own(&self) -> bool {
        false
    }

    /// Counts for operators, of a feed that may fail; `None`: it cannot.
    fn counts(&self) -> Option<FeedCounts> {
        None
    }
}

/// Counts of a feed since its source was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeedCounts {
    /// True while it is watched and tells.
    pub is_telling: bool,
    /// Transactions that it told.
    pub transactions: u64,
}

/// How live queries find out that others changed the data of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OthersChanges {
    /// A feed tells, in this way.
    Told(Cow<'static, str>),
    /// Nobody tells: they read again at intervals. With what would give more, as the end of a sentence for operators.
    Polled(Cow<'static, str>),
    /// Answers have lifetimes and tags; those without a lifetime are asked for again at intervals.
    Lifetimes,
}

impl OthersChanges {
    /// Those of a source with this feed, or with none.
    #[must_use]
    pub fn of_feed(feed: Option<&dyn ChangeFeed>) -> Self {
        match feed {
            Some(feed) => Self::Told(feed.words().into()),
            None => Self::Polled("a shorter `live.poll_ms` shows them sooner".into()),
        }
    }
}

/// Receiver of a feed's changes.
pub trait ChangeSink: Send + Sync {
    /// Data of the source was changed, and reads that begin now see it.
    fn changed(&self, change: &Change<'_>);
    /// Any data of the source may have been changed.
    fn source_changed(&self);
    /// From now on the feed tells of these changes, and may have missed any before.
    fn covers(&self, coverage: Coverage);
}

/// The changes that a feed tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Coverage {
    /// It may miss any.
    #[default]
    Nothing,
    /// Those of all tags but these, and none of data without a tag.
    Except(Arc<BTreeSet<Arc<str>>>),
    /// All.
    Everything,
}

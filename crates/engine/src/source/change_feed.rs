//! Changes of a source's data by other programs and by other Weir processes.
//!
//! Changes of this process are in [`TagVersions`](crate::caching::tag_versions::TagVersions), which every mutation invalidates.

use super::BoxFuture;
use crate::caching::tag_versions::Change;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Reports changes that were made elsewhere.
pub trait ChangeFeed: Send + Sync {
    /// Reports changes to `sink` until the future is dropped; before the first coverage report nothing is covered. The feed never ends
    /// by itself: it reconnects after errors.
    fn watch<'w>(&'w self, sink: &'w dyn ChangeSink) -> BoxFuture<'w, ()>;

    /// How the feed detects changes, as the end of a sentence for operators.
    fn words(&self) -> &'static str;

    /// True if the feed also reports the changes of this process, each with its keys; then mutations need not report them.
    fn includes_own_changes(&self) -> bool {
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
    /// True while the feed is watched and connected.
    pub is_connected: bool,
    /// Transactions that the feed reported.
    pub transactions: u64,
}

/// Mechanism by which live queries detect changes that others made to a source's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OthersChanges {
    /// A feed reports changes, by the given mechanism.
    Reported(Cow<'static, str>),
    /// No reports: operations are read again at intervals. The text says how to see changes sooner, as the end of a sentence for
    /// operators.
    Polled(Cow<'static, str>),
    /// Answers have lifetimes and tags; those without a lifetime are read again at intervals.
    Lifetimes,
    /// Subscriptions are those of the server itself, and its queries are not live.
    PassedThrough,
    /// Nothing changes what it answers.
    Constant,
}

impl OthersChanges {
    /// Mechanism of a source with this feed, or without one.
    pub fn of_feed(feed: Option<&dyn ChangeFeed>) -> Self {
        match feed {
            Some(feed) => Self::Reported(feed.words().into()),
            None => Self::Polled("a shorter `live.poll_ms` shows them sooner".into()),
        }
    }
}

/// Receiver of a feed's changes.
pub trait ChangeSink: Send + Sync {
    /// Data of the source was changed, and reads that begin now see it.
    fn notify_change(&self, change: &Change<'_>);
    /// Any data of the source may have changed.
    fn notify_source_change(&self);
    /// The feed reports these changes from now on; it may have missed any change before.
    fn set_coverage(&self, coverage: Coverage);
}

/// Changes that a feed reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Coverage {
    /// It may miss any.
    #[default]
    Nothing,
    /// Changes of all tags but these, and no changes of data without a tag.
    Except(Arc<BTreeSet<Arc<str>>>),
    /// All.
    Everything,
}

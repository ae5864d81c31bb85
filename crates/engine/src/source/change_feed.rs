//! Changes of a source's data that others make: other programs, and other processes of ours.
//!
//! Changes of this process are in [`TagVersions`](crate::tag_versions::TagVersions), which every mutation tells.

use super::BoxFuture;
use crate::tag_versions::Change;

/// Tells of changes that were made elsewhere.
pub trait ChangeFeed: Send + Sync {
    /// Tells `sink` of changes until it is dropped. It never ends by itself: what breaks is begun again.
    fn watch<'w>(&'w self, sink: &'w dyn ChangeSink) -> BoxFuture<'w, ()>;

    /// Its way of finding out, as the end of a sentence for operators.
    fn words(&self) -> &'static str;

    /// True if it tells of the changes of this process too, each with its keys. Then nobody else has to.
    fn tells_own(&self) -> bool {
        false
    }
}

/// How live queries find out that others changed the data of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OthersChanges {
    /// A feed tells, in this way.
    Told(&'static str),
    /// Nobody tells: they read again at intervals.
    Polled,
    /// Answers have lifetimes and tags; those without a lifetime are asked for again at intervals.
    Lifetimes,
}

/// Receiver of a feed's changes.
pub trait ChangeSink: Send + Sync {
    /// Data of the source was changed, and reads that begin now see it.
    fn changed(&self, change: &Change<'_>);
    /// Any data of the source may have been changed.
    fn source_changed(&self);
    /// From now on the feed tells of every change, or may miss some.
    fn is_complete(&self, complete: bool);
}

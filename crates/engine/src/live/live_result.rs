//! Results of live queries, the reasons for which they were read, and the members that they go to.

use crate::caching::tag_versions::{Change, RowKey};
use bytes::Bytes;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Reason why an operation was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The first subscriber joined.
    First,
    /// Data that it depends on was changed in this process, or a feed reported a change. Of several changes before the end of a read,
    /// the first one with a tag.
    Change(Arc<Changed>),
    /// The polling interval of a source without change reports was over.
    Poll,
    /// The lifetime of the last result was over.
    Expiry,
    /// The batch of a stream before it was full.
    Batch,
    /// The source sent an event.
    Event,
}

/// Data that was changed. It names tables and keys that a subscriber's role may not see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    /// All that has a tag, such as a table.
    Tag(Box<str>),
    /// One row of a table.
    Row {
        /// The tag of the table.
        tag: Box<str>,
        /// The values of the primary key, as texts.
        key: Vec<Box<str>>,
    },
    /// Some data of the source with this name.
    Source(Box<str>),
    /// Data that the report did not name.
    Unknown,
}

impl From<&Change<'_>> for Changed {
    fn from(change: &Change<'_>) -> Self {
        let tag = change.tag.into();
        match change.key {
            None => Self::Tag(tag),
            Some(key) => Self::Row { tag, key: RowKey::texts(key).map(Into::into).collect() },
        }
    }
}

impl Cause {
    /// Rank of the cause: a read with several causes reports the one with the highest rank, the first of equals.
    pub(super) fn exactness(&self) -> u8 {
        match self {
            Self::Poll | Self::Expiry => 0,
            Self::Change(changed) => match **changed {
                Changed::Unknown | Changed::Source(_) => 1,
                Changed::Tag(_) | Changed::Row { .. } => 2,
            },
            Self::First | Self::Batch | Self::Event => 3,
        }
    }
}

impl From<Changed> for Cause {
    fn from(changed: Changed) -> Self {
        Self::Change(Arc::new(changed))
    }
}

/// When and why a member is read.
#[derive(Clone, Debug)]
pub(super) struct ReadReason {
    pub(super) at: Instant,
    pub(super) cause: Cause,
}

/// A result of a live query.
#[derive(Debug)]
pub struct LiveResult {
    /// The JSON of the response, in UTF-8.
    pub body: Bytes,
    /// True if it has errors.
    pub has_errors: bool,
    /// Reason of the read.
    pub cause: Cause,
    /// When the reason arose.
    pub due: Instant,
    /// Time from then to the result.
    pub took: Duration,
    /// The position of a stream behind its rows.
    pub(super) position: Option<Arc<str>>,
    /// True if no other result follows.
    pub(super) is_last: bool,
}

impl LiveResult {
    /// Names a change that was told while the read ran, if it is more exact than the reason of the read: the read may have found
    /// that change, and then the next one finds nothing new to name.
    pub(super) fn name_cause(&mut self, told: Option<&ReadReason>, now: Instant) {
        if let Some(ReadReason { at, cause: cause @ Cause::Change(_) }) = told
            && cause.exactness() > self.cause.exactness()
        {
            self.cause = cause.clone();
            self.due = *at;
            self.took = now - *at;
        }
    }
}

/// The newest result of a member.
#[derive(Debug, Default)]
pub(super) struct Newest {
    /// `None` before the first.
    pub(super) result: Option<Arc<LiveResult>>,
    /// The number of the last read that brought it.
    pub(super) read: u64,
}

/// A place in the registry for a subscription.
#[derive(Debug)]
pub(super) struct JoinedMember {
    pub(super) id: MemberId,
    pub(super) newest: watch::Receiver<Newest>,
    /// The first read that began after it came: a result from before may be older than what its client knows.
    pub(super) first_read: u64,
}

/// Place of a member, and how many members had the place before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MemberId {
    pub(super) at: u32,
    pub(super) age: u32,
}

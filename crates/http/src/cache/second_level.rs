//! Address, settings, lookups and counters of the second level: data that a build without it has too.

use super::entry::Entry;
use std::sync::Arc;
use std::time::Duration;

/// Address of the second level.
#[derive(Clone)]
pub struct Address {
    pub(super) nodes: Vec<String>,
    pub(super) cluster: bool,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The address may contain a password.
        f.debug_struct("Address").field("nodes", &self.nodes.len()).field("cluster", &self.cluster).finish()
    }
}

/// Address and timeouts of the second level.
#[derive(Clone, Debug)]
pub struct RemoteSettings {
    pub address: Address,
    /// Prefix of all names. Processes with the same prefix share entries.
    pub namespace: Box<str>,
    /// Timeout of a lookup.
    pub budget: Duration,
    /// Maximum time to wait for another process's call if there is no entry to serve meanwhile.
    pub patience: Duration,
}

/// Terms of a token bucket that processes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedBucket {
    /// Time in which a token comes back, in microseconds.
    pub interval_us: u64,
    /// Time in which an empty bucket fills, in microseconds.
    pub capacity_us: u64,
}

/// Answer of a shared token bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketTake {
    /// True if there were as many tokens.
    pub is_taken: bool,
    /// Time until the bucket is full, in microseconds.
    pub missing_us: u64,
}

/// Counters of a second level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemoteCounts {
    /// True if connected.
    pub connected: bool,
    /// Lookups of single entries.
    pub looked: u64,
    /// Lookups that found an entry.
    pub found: u64,
    /// Values that could not be decoded.
    pub corrupt: u64,
    /// Lookups that timed out.
    pub late: u64,
    /// Commands that failed.
    pub failed: u64,
    /// Entries that were written.
    pub written: u64,
    /// Entries that were not written: too many queued or too long.
    pub dropped: u64,
    /// Calls left to another process.
    pub leased: u64,
}

/// Result of a lookup.
pub(super) struct RemoteLookup {
    /// One entry per requested name.
    pub(super) entries: Vec<Option<Entry>>,
    /// Tickets to write each entry; empty if writing is impossible.
    pub(super) tickets: Vec<Ticket>,
}

/// Versions of an entry's tags from before its upstream was called.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "redis"), expect(dead_code, reason = "the second level alone reads it"))]
pub(super) struct Ticket(pub(super) Arc<[u64]>);

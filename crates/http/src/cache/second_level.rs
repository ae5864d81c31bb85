//! Settings and counters of the second level.

use super::remote::Address;
use std::time::Duration;

/// Address and timeouts of the second level.
#[derive(Clone, Debug)]
pub struct RemoteSettings {
    /// The address.
    pub address: Address,
    /// Prefix of all names. Processes with the same prefix share entries.
    pub namespace: Box<str>,
    /// Timeout of a lookup.
    pub budget: Duration,
    /// Maximum time to wait for another process's call if there is no entry to serve meanwhile.
    pub patience: Duration,
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

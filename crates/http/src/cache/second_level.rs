//! Settings and counters of the second level.

use super::remote::Address;
use std::time::Duration;

/// Address and timeouts of the second level.
#[derive(Clone, Debug)]
pub struct RemoteSettings {
    /// The address.
    pub address: Address,
    /// Prefix of all names; processes with the same prefix share entries.
    pub namespace: Box<str>,
    /// A look is given up after so long.
    pub budget: Duration,
    /// Timeout of the wait for another process's call, if nothing can be served meanwhile.
    pub patience: Duration,
}

/// Counters of a second level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemoteCounts {
    /// True if connected.
    pub connected: bool,
    /// Entries that were looked for.
    pub looked: u64,
    /// Of these, those that were there.
    pub found: u64,
    /// Values that were no entries.
    pub corrupt: u64,
    /// Looks that were given up.
    pub late: u64,
    /// Commands that were refused or whose connection broke.
    pub failed: u64,
    /// Entries that were written.
    pub written: u64,
    /// Entries that were not written, because too many waited or they were too long.
    pub dropped: u64,
    /// Calls that were left to another process.
    pub leased: u64,
}

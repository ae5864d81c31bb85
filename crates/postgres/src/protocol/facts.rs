//! Facts of a server.

use weir_relational::dialect::flavour::{Flavour, Release};

/// Facts of a server, detected on connecting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// `server_version_num`: 150018 is 15.18.
    pub version: u32,
    /// Database flavour.
    pub flavour: Flavour,
    /// Version of that product.
    pub release: Release,
    /// True if the session's time zone is UTC.
    pub is_utc: bool,
    /// True behind a pooler such as pgbouncer.
    pub is_pooled: bool,
    /// True if all connections are one session, and the server lets one in at a time.
    pub is_single: bool,
    /// True for a replica.
    pub in_recovery: bool,
    /// True if transactions are read-only by default.
    pub is_read_only: bool,
    /// True if a catalog lists distributed tables.
    pub tells_shards: bool,
}

#[cfg(test)]
impl Facts {
    /// A PostgreSQL of unknown version that serves reads and writes.
    pub(crate) const PLAIN: Self = Self {
        version: 0,
        flavour: Flavour::Postgres,
        release: Release::NONE,
        is_utc: true,
        is_pooled: false,
        is_single: false,
        in_recovery: false,
        is_read_only: false,
        tells_shards: false,
    };
}

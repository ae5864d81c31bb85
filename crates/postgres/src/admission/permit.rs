//! Leave to have a connection on the sessions' account.

use tokio::sync::OwnedSemaphorePermit;

/// Leave to have one connection, as long as it lives.
#[derive(Debug)]
pub(crate) struct Permit {
    _any: OwnedSemaphorePermit,
    _read: Option<OwnedSemaphorePermit>,
}

impl Permit {
    /// One of all, and for reads one of theirs.
    pub(crate) const fn new(any: OwnedSemaphorePermit, read: Option<OwnedSemaphorePermit>) -> Self {
        Self { _any: any, _read: read }
    }
}

//! A database whose disk is full: messages to clients and operators.
//!
//! **Cost:** one look at the clock for each failure; operators are told once a second, as a log may be on the same disk.

use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The code under the specification.
pub(crate) const CODE: &str = "STORE_FULL";

/// The words for a client.
pub(crate) const MESSAGE: &str = "the database's disk is full: make room on it, then send the mutation again; what it has can still be read";

/// Tells operators, at most once a second.
pub(crate) fn report(cause: &dyn Display) {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs());
    if LAST.swap(now, Ordering::Relaxed) != now {
        tracing::error!(
            %cause,
            "the database's disk is full: mutations are refused until there is room on it, reads go on; free some space or move the database"
        );
    }
}

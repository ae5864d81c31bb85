//! For tests: a disk under SQLite that fails at the n-th write or sync, and knows what survives a loss of power.
//!
//! [`install`] puts it under every connection that is opened from then on in this process, so that what is tested runs as it is.
//! It stands for the whole process; a test holds [`Disk`] while it uses it.
//!
//! **Invariant:** files are SQLite's own; what is not failed is done as ever, but that nothing is really synced.

mod faults;
mod vfs;

pub(crate) use faults::{Disk, Fault};

/// Puts the disk under all connections to come, once, and waits until it is unused.
#[must_use]
pub(crate) fn install() -> Disk {
    vfs::register();
    Disk::take()
}

//! Faults that a test has ordered from the disk, and the durable contents of its files.
//!
//! **Cost:** a lock for every write; each sync reads the file once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The kinds of disk failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A write does nothing and says so.
    Write,
    /// A write does its first half and says that it failed.
    HalfWrite,
    /// A write finds no space.
    Full,
    /// A sync does nothing and says so.
    Sync,
}

/// A fault to come.
#[derive(Clone, Copy, Debug)]
struct Order {
    fault: Fault,
    /// Writes or syncs before it.
    left: u64,
    /// True if every later one fails too.
    lasts: bool,
}

#[derive(Debug)]
struct State {
    order: Option<Order>,
    struck: bool,
    open: usize,
    /// Contents of each file after its last sync.
    durable: BTreeMap<PathBuf, Vec<u8>>,
}

static STATE: Mutex<State> =
    Mutex::new(State { order: None, struck: false, open: 0, durable: BTreeMap::new() });
static CLOSED: Condvar = Condvar::new();
static HELD: Mutex<()> = Mutex::new(());

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Exclusive right to order faults.
#[derive(Debug)]
pub(crate) struct Disk {
    _held: MutexGuard<'static, ()>,
}

impl Disk {
    /// Waits until the disk is unused, and mends it: the previous user may have left it broken.
    pub(crate) fn take() -> Self {
        let disk = Self { _held: HELD.lock().unwrap_or_else(PoisonError::into_inner) };
        disk.mend();
        disk.settle();
        disk
    }

    /// Lets write or sync number `at` (from 1) fail; with `lasts` every later one too.
    pub(crate) fn fail(&self, fault: Fault, at: u64, lasts: bool) {
        let mut state = state();
        state.order = Some(Order { fault, left: at - 1, lasts });
        state.struck = false;
    }

    /// True if a write or sync has failed since the fault was ordered.
    #[must_use]
    pub(crate) fn has_failed(&self) -> bool {
        state().struck
    }

    /// Cancels all faults.
    pub(crate) fn mend(&self) {
        state().order = None;
    }

    /// Returns when no file is open.
    pub(crate) fn settle(&self) {
        let mut state = state();
        while state.open > 0 {
            state = CLOSED.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Writes to `folder` the contents of `store` and its log after a power loss: only synced data.
    /// # Errors
    /// A file cannot be written.
    pub(crate) fn lose_power(&self, store: &Path, folder: &Path) -> std::io::Result<PathBuf> {
        let survived = folder.join(store.file_name().unwrap_or_default());
        for ending in ["", "-wal"] {
            let with = |path: &Path| PathBuf::from(format!("{}{ending}", path.display()));
            match state().durable.get(&with(store)) {
                Some(bytes) => std::fs::write(with(&survived), bytes)?,
                None => drop(std::fs::remove_file(with(&survived))),
            }
        }
        Ok(survived)
    }
}

/// The fault of the sync or write that is about to run, if it has one.
pub(crate) fn verdict(is_sync: bool) -> Option<Fault> {
    let mut state = state();
    let order = state.order.as_mut()?;
    if is_sync != (order.fault == Fault::Sync) {
        return None;
    }
    if order.left > 0 {
        order.left -= 1;
        return None;
    }
    let fault = order.fault;
    if !order.lasts {
        state.order = None;
    }
    state.struck = true;
    Some(fault)
}

/// Records an open file. The first known content of a file counts as synced.
pub(crate) fn record_open(path: &Path, content: Option<Vec<u8>>) {
    let mut state = state();
    state.open += 1;
    if let Some(content) = content.filter(|it| !it.is_empty()) {
        state.durable.entry(path.to_owned()).or_insert(content);
    }
}

pub(crate) fn record_close() {
    state().open -= 1;
    CLOSED.notify_all();
}

/// Records `bytes` as the synced content of the file.
pub(crate) fn record_sync(path: &Path, bytes: Vec<u8>) {
    state().durable.insert(path.to_owned(), bytes);
}

/// Records the deletion of a file.
pub(crate) fn record_delete(path: &Path) {
    state().durable.remove(path);
}

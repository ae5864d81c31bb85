//! Holds commits back until reads see them.
//!
//! The server sends a commit as soon as it is written to the log, and only then, after a synchronous standby has confirmed it too, shows it to
//! new snapshots. A read between the two would miss the change, and nothing would tell of it again.
//!
//! **Invariant:** a commit leaves here once a snapshot contains it, so every read that begins later sees it.
//!
//! Source: the manual of PostgreSQL, "Transaction ID and Snapshot Information Functions".

use super::streamed_commits::{Commit, Committed};
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of commits held back with their changes; beyond it, anything may have changed.
const COMMITS_MAX: usize = 4096;
/// Longest pause between two looks at the snapshot.
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// The transactions that a read sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Snapshot {
    /// All before it have ended.
    first: u64,
    /// This transaction and all later ones have not begun.
    next: u64,
    /// Transactions from `first` to `next` that have not ended.
    running: Vec<u64>,
}

impl Snapshot {
    /// Reads `10:20:10,14`.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, ':');
        let mut number = || parts.next()?.parse().ok();
        let first = number()?;
        let next = number()?;
        let running = parts.next()?.split(',').filter(|it| !it.is_empty());
        Some(Self { first, next, running: running.map(|it| it.parse().ok()).collect::<Option<_>>()? })
    }

    /// True if it contains the transaction, of whose number the lower half is known.
    fn contains(&self, xid: u32) -> bool {
        // The numbers in use are less than a half of all apart.
        let distance = (self.next as u32).wrapping_sub(xid) as i32;
        self.has_ended(self.next.wrapping_sub(i64::from(distance) as u64))
    }

    /// True if the transaction had ended.
    fn has_ended(&self, xid: u64) -> bool {
        xid < self.first || xid < self.next && !self.running.contains(&xid)
    }
}

/// Transactions that ran when a slot began: one of them may have written its commit to the log before the slot, and be seen later.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Suspects(Vec<u64>);

impl Suspects {
    /// The transactions of `snapshot` that are older than `newest`, which began after the slot and ended before the snapshot.
    /// A snapshot leaves out running transactions newer than all that ended, so without `newest` it might lack some.
    pub(super) fn new(snapshot: &Snapshot, newest: u64) -> Self {
        Self(snapshot.running.iter().copied().filter(|it| *it < newest).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Drops those that ended before `snapshot`; true if there were any.
    pub(super) fn take_ended(&mut self, snapshot: &Snapshot) -> bool {
        let before = self.0.len();
        self.0.retain(|it| !snapshot.has_ended(*it));
        self.0.len() < before
    }
}

/// Commits that came and that no read is known to see.
#[derive(Debug, Default)]
pub(super) struct HeldCommits {
    held: Vec<Committed>,
    /// Looks since the last commit came.
    looks: u32,
}

impl HeldCommits {
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Holds a commit back.
    pub(super) fn push(&mut self, (xid, commit): Committed) {
        let commit = if self.held.len() < COMMITS_MAX {
            commit
        } else {
            Arc::new(Commit { changes: Vec::new(), is_unknown: true })
        };
        self.held.push((xid, commit));
        self.looks = 0;
    }

    /// The commits that `snapshot` contains, which are not held any more.
    pub(super) fn release(&mut self, snapshot: &Snapshot) -> Vec<Arc<Commit>> {
        self.looks += 1;
        let visible = self.held.extract_if(.., |it| snapshot.contains(it.0));
        visible.map(|it| it.1).collect()
    }

    /// The pause until the next look at the snapshot: the longer, the more looks there were.
    pub(super) fn pause(&self) -> Duration {
        Duration::from_millis(1_u64 << self.looks.saturating_sub(1).min(6)).min(PAUSE_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(text: &str) -> Snapshot {
        Snapshot::read(text).unwrap()
    }

    #[test]
    fn a_snapshot_contains_what_had_ended() {
        let one = snapshot("10:20:10,14");
        let contained: Vec<u32> = (8..23).filter(|it| one.contains(*it)).collect();
        assert_eq!(contained, [8, 9, 11, 12, 13, 15, 16, 17, 18, 19]);
        for wrong in ["", "1", "1:2", "1:2:x", "a:2:", "1:2:3,,x"] {
            assert_eq!(Snapshot::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn each_suspect_that_ends_is_told_of() {
        let mut suspects = Suspects::new(&snapshot("10:31:10,14,29,30"), 30);
        assert_eq!(suspects, Suspects(vec![10, 14, 29]));
        assert!(!suspects.take_ended(&snapshot("10:31:10,14,29,30")));
        assert!(suspects.take_ended(&snapshot("10:33:10,29,30")) && !suspects.is_empty());
        assert!(!suspects.take_ended(&snapshot("10:34:10,29")));
        assert!(suspects.take_ended(&snapshot("34:34:")) && suspects.is_empty());
        assert!(Suspects::new(&snapshot("31:31:"), 30).is_empty());
    }

    #[test]
    fn numbers_begin_again_after_the_last() {
        let round = 1_u64 << 32;
        let one = snapshot(&format!("{}:{}:{}", round - 2, round + 5, round - 2));
        assert!(one.contains(u32::MAX) && one.contains(4) && one.contains(u32::MAX - 2));
        assert!(!one.contains(u32::MAX - 1) && !one.contains(5));
    }

    #[test]
    fn commits_are_held_until_they_are_seen_and_too_many_become_unknown() {
        let mut held = HeldCommits::default();
        let commit = || Arc::new(Commit::default());
        (10..14).for_each(|it| held.push((it, commit())));
        assert_eq!(held.release(&snapshot("11:13:11")).len(), 2);
        assert_eq!(held.pause(), Duration::from_millis(1));
        assert!(held.release(&snapshot("11:13:11")).is_empty());
        assert_eq!(held.pause(), Duration::from_millis(2));
        (0..40).for_each(|_| drop(held.release(&snapshot("11:13:11"))));
        assert_eq!(held.pause(), PAUSE_MAX);
        (20..20 + COMMITS_MAX as u32).for_each(|it| held.push((it, commit())));
        assert_eq!(held.pause(), Duration::from_millis(1));
        let released = held.release(&snapshot("100000:100000:"));
        assert!(held.is_empty());
        assert_eq!(released.iter().filter(|it| it.is_unknown).count(), 2);
    }
}

//! Lets several connections begin to read in the same state of the file.
//!
//! SQLite has no snapshot to hand from one connection to another that safe code could use. So the connections begin on their own, between
//! two looks at the file's version by one that reads nothing else: if no other program or writer has committed in between, all see the
//! state that both looks saw. Otherwise they begin again.
//!
//! **Invariant:** a member that was told to go reads the state that all others read. Nobody waits for a member longer than `WAIT_MAX`.

use rusqlite::{Connection, Result};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of attempts: a file that changes more often is read by one connection.
const ATTEMPTS_MAX: u32 = 3;

/// Longest time that the members need for one attempt.
const WAIT_MAX: Duration = Duration::from_millis(50);

/// Decision about an attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Verdict {
    /// Members are still arriving.
    #[default]
    Open,
    /// All read the same state.
    Same,
    /// The members leave.
    Off,
}

#[derive(Debug, Default)]
struct Attempt {
    /// One for the first.
    number: u32,
    /// Members whose reading has begun.
    arrived: u32,
    verdict: Verdict,
}

/// The meeting of the members and of the one who looks at the version.
#[derive(Debug, Default)]
pub struct SameState {
    attempt: Mutex<Attempt>,
    changed: Condvar,
}

impl SameState {
    fn lock(&self) -> MutexGuard<'_, Attempt> {
        self.attempt.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has `members` members begin in the same state; `idle` is a connection without a transaction. False: none of them goes on.
    pub fn agree(&self, idle: &Connection, members: u32) -> bool {
        let agreed = self.attempt_all(idle, members).unwrap_or(false);
        self.lock().verdict = if agreed { Verdict::Same } else { Verdict::Off };
        self.changed.notify_all();
        agreed
    }

    fn attempt_all(&self, idle: &Connection, members: u32) -> Result<bool> {
        for _ in 0..ATTEMPTS_MAX {
            let before = version(idle)?;
            if !self.await_members(members) {
                return Ok(false);
            }
            if version(idle)? == before {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Opens the next attempt; true once all have arrived.
    fn await_members(&self, members: u32) -> bool {
        let end = Instant::now() + WAIT_MAX;
        let mut attempt = self.lock();
        attempt.number += 1;
        attempt.arrived = 0;
        self.changed.notify_all();
        while attempt.arrived < members && attempt.verdict == Verdict::Open {
            let Some(left) = end.checked_duration_since(Instant::now()) else { return false };
            attempt = self.changed.wait_timeout(attempt, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        attempt.verdict == Verdict::Open
    }

    /// Ends the meeting, as a member cannot come.
    pub fn cancel(&self) {
        let mut attempt = self.lock();
        if attempt.verdict == Verdict::Open {
            attempt.verdict = Verdict::Off;
        }
        self.changed.notify_all();
    }

    /// Begins a transaction on `member` in the state that all members see. False: it has none, and leaves.
    pub fn join(&self, member: &Connection) -> bool {
        let mut last = 0;
        loop {
            let Some(number) = self.next_attempt(last) else { return false };
            last = number;
            if begin(member).is_err() {
                self.cancel();
                let _ = leave(member);
                return false;
            }
            let mut attempt = self.lock();
            if attempt.number == number {
                attempt.arrived += 1;
                self.changed.notify_all();
            }
            while attempt.number == number && attempt.verdict == Verdict::Open {
                attempt = self.changed.wait(attempt).unwrap_or_else(PoisonError::into_inner);
            }
            if attempt.number == number && attempt.verdict == Verdict::Same {
                return true;
            }
            drop(attempt);
            if leave(member).is_err() {
                self.cancel();
                return false;
            }
        }
    }

    /// The number of an attempt after `last`; `None` when the members leave.
    fn next_attempt(&self, last: u32) -> Option<u32> {
        let mut attempt = self.lock();
        while attempt.verdict == Verdict::Open && attempt.number <= last {
            attempt = self.changed.wait(attempt).unwrap_or_else(PoisonError::into_inner);
        }
        (attempt.verdict == Verdict::Open).then_some(attempt.number)
    }
}

/// A number that changes when another connection commits.
fn version(idle: &Connection) -> Result<i64> {
    idle.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
}

/// Begins to read: a transaction has its state from its first statement on.
fn begin(member: &Connection) -> Result<()> {
    member.prepare_cached("BEGIN")?.raw_execute()?;
    member
        .prepare_cached("SELECT count(*) FROM (SELECT 1 FROM sqlite_schema LIMIT 1)")?
        .query_row([], |_| Ok(()))
}

/// Ends the transaction of a member, if it has one.
pub fn leave(member: &Connection) -> Result<()> {
    if member.is_autocommit() { Ok(()) } else { member.execute_batch("ROLLBACK") }
}

#[cfg(test)]
mod tests;

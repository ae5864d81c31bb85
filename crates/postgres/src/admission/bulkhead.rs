//! Keeps statements that wait for a locked or slow table from holding the connections that statements of other tables need.
//!
//! The server ends a wait for a lock after a bound of the connection. The tables of that statement are then *marked*: as long as they
//! are, a statement that reads (or changes) all of them passes a gate, a few at a time, and goes over a session. A statement whose
//! wait was ended goes once more without the bound, behind a gate of its own, so that it keeps its place in the server's queue.
//!
//! A mark stands for a set of tables, as nobody knows which of them is locked: a superset of a marked set is marked too, another set is
//! not. A statement that gets through takes the mark away; one that is not renewed ends after `MARK_MAX`.
//!
//! **Invariant:** of a marked set at most `inside_max` statements are inside each gate, of all sets at most `held_max` in all; at most
//! `MARKS_MAX` marks are kept.
//!
//! **Cost:** a relaxed load while nothing is marked.

use crate::admission::keyed_limiter::{KeyPermit, KeyedLimiter};
use crate::protocol::statement::Statement;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use weir_relational::catalog::TableId;

/// A mark expires after this time unless it is renewed.
const MARK_MAX: Duration = Duration::from_secs(1);
/// Maximum number of marks.
const MARKS_MAX: usize = 64;

/// Why a set of tables is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// A read waited for a lock.
    Read,
    /// A change waited for a lock.
    Change,
    /// A read took long: those that were not seen to be short pass the gate.
    Slow,
}

/// Lock timeouts of statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Patience {
    /// The lock timeout of the connection.
    Bounded,
    /// The timeout of the statement.
    Whole,
}

#[derive(Debug)]
struct Mark {
    /// Sorted table ids.
    tables: Box<[TableId]>,
    cause: Cause,
    until: Instant,
}

/// Marks of the tables that are locked or slow.
#[derive(Debug)]
pub(crate) struct Bulkhead {
    marks: Mutex<Vec<Mark>>,
    /// Number of marks, so that nobody locks the list when it is empty.
    count: AtomicUsize,
    limiter: Arc<KeyedLimiter>,
    inside_max: u32,
    held: Arc<Semaphore>,
}

/// The leave to hold a session, as long as it lives.
#[derive(Debug)]
pub(crate) struct Pass {
    _permit: KeyPermit,
    _held: OwnedSemaphorePermit,
}

impl Bulkhead {
    /// A bulkhead for a server with `sessions_max` sessions.
    pub(crate) fn new(sessions_max: usize) -> Arc<Self> {
        let sessions_max = sessions_max.max(1);
        Arc::new(Self {
            marks: Mutex::default(),
            count: AtomicUsize::new(0),
            limiter: KeyedLimiter::new(),
            inside_max: u32::try_from(sessions_max / 8).unwrap_or(u32::MAX).max(1),
            held: Arc::new(Semaphore::new((sessions_max - sessions_max / 4).max(1))),
        })
    }

    fn marks(&self) -> MutexGuard<'_, Vec<Mark>> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks a set of tables, or renews its mark.
    pub(crate) fn mark(&self, tables: &[TableId], cause: Cause) {
        if tables.is_empty() {
            return;
        }
        let now = Instant::now();
        let marked_until = now + MARK_MAX;
        let mut marks = self.marks();
        marks.retain(|it| it.until > now || self.is_awaited(it));
        match marks.iter().position(|it| it.cause == cause && *it.tables == *tables) {
            Some(at) => marks[at].until = marked_until,
            None if marks.len() < MARKS_MAX => {
                marks.push(Mark { tables: tables.into(), cause, until: marked_until })
            }
            None => {}
        }
        self.count.store(marks.len(), Ordering::Relaxed);
    }

    /// A statement of these tables got through.
    pub(crate) fn lift(&self, tables: &[TableId], cause: Cause) {
        if self.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut marks = self.marks();
        marks.retain(|it| it.cause != cause || !is_subset(&it.tables, tables));
        self.count.store(marks.len(), Ordering::Relaxed);
    }

    /// The gate that statements of these tables have to pass, if one of their subsets is marked.
    fn gate(&self, tables: &[TableId], cause: Cause) -> Option<u64> {
        if self.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let now = Instant::now();
        let mut marks = self.marks();
        marks.retain(|it| it.until > now || self.is_awaited(it));
        self.count.store(marks.len(), Ordering::Relaxed);
        let mark = marks.iter().find(|it| it.cause == cause && is_subset(&it.tables, tables))?;
        Some(key(&mark.tables, cause, Patience::Bounded))
    }

    /// True if a request still waits for the lock of a mark.
    fn is_awaited(&self, mark: &Mark) -> bool {
        self.limiter.is_entered(key(&mark.tables, mark.cause, Patience::Whole))
    }

    pub(crate) fn is_marked(&self, tables: &[TableId], cause: Cause) -> bool {
        self.gate(tables, cause).is_some()
    }

    /// Why a read must not go over a lane, if so: its statement is slow, or its tables are marked.
    pub(crate) fn diverts(&self, statement: &Statement) -> Option<Cause> {
        match () {
            () if statement.is_slow() => Some(Cause::Read),
            () if self.is_marked(&statement.tables, Cause::Read) => Some(Cause::Read),
            () if !statement.is_short() && self.is_marked(&statement.tables, Cause::Slow) => {
                Some(Cause::Slow)
            }
            () => None,
        }
    }

    /// Enters the gate of these tables; `None` if there is none to pass. There is always one for those who wait for a lock
    /// with patience.
    pub(crate) fn enter(
        &self,
        tables: &[TableId],
        cause: Cause,
        patience: Patience,
    ) -> Option<Result<KeyPermit, oneshot::Receiver<KeyPermit>>> {
        let gate = match patience {
            Patience::Bounded => self.gate(tables, cause),
            Patience::Whole => (!tables.is_empty()).then(|| key(tables, cause, patience)),
        };
        Some(self.limiter.enter(gate?, self.inside_max))
    }

    /// The permits for those behind a gate.
    pub(crate) fn gate_permits(&self) -> &Arc<Semaphore> {
        &self.held
    }
}

impl Pass {
    pub(crate) fn new(permit: KeyPermit, held: OwnedSemaphorePermit) -> Self {
        Self { _permit: permit, _held: held }
    }
}

fn key(tables: &[TableId], cause: Cause, patience: Patience) -> u64 {
    foldhash::fast::FixedState::default().hash_one((tables, cause, patience))
}

/// True if all of `part` are among `all`, both sorted.
fn is_subset(part: &[TableId], all: &[TableId]) -> bool {
    part.iter().all(|it| all.binary_search(it).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::statement::table_set;

    fn set(tables: &[u32]) -> Box<[TableId]> {
        table_set(tables.iter().map(|it| TableId(*it)))
    }

    #[test]
    fn a_mark_concerns_its_tables_and_those_beside_them() {
        let bulkhead = Bulkhead::new(32);
        bulkhead.mark(&set(&[2, 1]), Cause::Read);
        let marked = [&[1, 2][..], &[3, 2, 1], &[1], &[2, 3], &[]];
        let marked = marked.map(|it| bulkhead.is_marked(&set(it), Cause::Read));
        assert_eq!(marked, [true, true, false, false, false]);
        assert!(!bulkhead.is_marked(&set(&[1, 2]), Cause::Change), "changes were not seen to wait");
        bulkhead.lift(&set(&[1]), Cause::Read);
        assert!(bulkhead.is_marked(&set(&[1, 2]), Cause::Read));
        bulkhead.lift(&set(&[1, 2]), Cause::Read);
        assert!(!bulkhead.is_marked(&set(&[1, 2]), Cause::Read));
    }

    #[test]
    fn statements_without_tables_are_never_marked_and_marks_are_bounded() {
        let bulkhead = Bulkhead::new(32);
        bulkhead.mark(&[], Cause::Read);
        assert!(!bulkhead.is_marked(&[], Cause::Read));
        for table in 0..1000 {
            bulkhead.mark(&set(&[table]), Cause::Read);
        }
        assert_eq!(bulkhead.marks().len(), MARKS_MAX);
    }

    #[test]
    fn a_few_are_inside_a_gate_and_a_gate_of_patience_is_another() {
        let bulkhead = Bulkhead::new(16);
        let tables = set(&[1]);
        let enter = |patience| bulkhead.enter(&tables, Cause::Change, patience);
        assert!(enter(Patience::Bounded).is_none(), "nothing is marked");
        bulkhead.mark(&tables, Cause::Change);
        let inside: Vec<_> = (0..2).map(|_| enter(Patience::Bounded).unwrap().unwrap()).collect();
        assert!(enter(Patience::Bounded).unwrap().is_err());
        assert!(enter(Patience::Whole).unwrap().is_ok());
        drop(inside);
        assert!(enter(Patience::Bounded).unwrap().is_ok());
    }

    #[test]
    fn reads_that_were_short_stay_on_a_lane_while_others_of_their_table_are_slow() {
        let bulkhead = Bulkhead::new(32);
        let tables = [TableId(1)];
        let [short, new] = [(); 2].map(|()| Statement::new("S", [], [], [], None).about(tables));
        short.ran(false);
        let diverted = || [&short, &new].map(|it| bulkhead.diverts(it));
        assert_eq!(diverted(), [None, None]);
        bulkhead.mark(&tables, Cause::Slow);
        assert_eq!(diverted(), [None, Some(Cause::Slow)]);
        bulkhead.mark(&tables, Cause::Read);
        assert_eq!(diverted(), [Some(Cause::Read); 2]);
    }
}

//! A statement as a plan keeps it, and the values one request binds to it.
//!
//! Values travel in text format, so that a string fits every type and no digit is touched; they are written once, in the form in
//! which they go to the server.
//!
//! **Cost:** a request with up to `INLINE_BYTES` bytes of values allocates nothing.

use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use weir_relational::catalog::TableId;

/// Bytes of values that need no allocation.
const INLINE_BYTES: usize = 64;
/// Statements that take longer are slow.
pub(crate) const SHORT_MAX: Duration = Duration::from_millis(50);
/// Microseconds below which a statement is answered faster by a larger batch than by another connection.
pub(crate) const LITTLE_MAX_US: u32 = 500;
/// Slow runs in a row after which the statement counts as slow; a single one can be the machine's fault.
const SLOW_RUNS_MAX: u32 = 3;
/// Runs after which a time that became longer is taken for what the statement takes alone, about.
const RUNS_FORGOTTEN: u32 = 256;
/// In the place of a number of slow runs: it did not run yet.
const NEVER_RAN: u32 = u32::MAX;
/// Milliseconds after which a statement whose columns were other than planned may be tried again.
const OUTDATED_MS: u64 = 500;

/// The bytes of values while they are written.
pub type Buffer = SmallVec<[u8; INLINE_BYTES]>;

/// Wire formats of result columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i16)]
pub enum Format {
    /// PostgreSQL's own text.
    Text = 0,
    /// The type's binary form.
    Binary = 1,
}

/// A statement: its text, and what is needed to bind it and read its answer.
#[derive(Debug)]
pub struct Statement {
    /// Number in this process; a lane recognises equal statements by it.
    pub id: u64,
    /// Number of the text's latest preparation: connections prepare the statement anew if theirs is older.
    preparation: AtomicU64,
    /// The text, parameters written `$1`, `$2`, ….
    pub sql: Box<str>,
    /// OID of each parameter's type; 0 lets PostgreSQL infer it.
    pub parameters: Box<[u32]>,
    /// Wire format of each result column.
    pub formats: Box<[Format]>,
    /// OID of each result column's type as the server describes it, a domain by its base: looked at whenever a connection
    /// prepares the statement, so that no value is decoded as what it is no longer. 0: any type, as it travels as text; empty:
    /// not looked at.
    pub columns: Box<[u32]>,
    /// This read for many requests in one statement. Its parameter i is an array of the originals' parameters i. Result column 0
    /// is the ordinal of the request (int8, from 1); the original's columns follow.
    pub merged: Option<Arc<Self>>,
    /// The tables it is about, sorted; none where that is not known.
    pub tables: Box<[TableId]>,
    /// Number of consecutive slow runs.
    slow_runs: AtomicU32,
    /// The shortest time in which it was answered.
    pub(crate) alone: ServiceTime,
    /// Milliseconds from `made` to when it may be tried again, as the server described other columns; 0: it did not.
    outdated_until_ms: AtomicU64,
    /// True if the server described its columns as planned, when it was last asked.
    was_described: AtomicBool,
    made: Instant,
}

impl Statement {
    /// A statement with a new number.
    pub fn new(
        sql: impl Into<Box<str>>,
        parameters: impl Into<Box<[u32]>>,
        formats: impl Into<Box<[Format]>>,
        columns: impl Into<Box<[u32]>>,
        merged: Option<Arc<Self>>,
    ) -> Arc<Self> {
        let id = next_number();
        let sql = sql.into();
        let parameters = parameters.into();
        let formats = formats.into();
        let columns = columns.into();
        let slow_runs = AtomicU32::new(NEVER_RAN);
        let outdated_until_ms = AtomicU64::new(0);
        let tables = Box::default();
        let made = Instant::now();
        Arc::new(Self {
            id,
            preparation: AtomicU64::new(id),
            sql,
            parameters,
            formats,
            columns,
            merged,
            tables,
            slow_runs,
            alone: ServiceTime::default(),
            outdated_until_ms,
            was_described: AtomicBool::new(false),
            made,
        })
    }

    /// Says which tables it is about.
    pub fn about(mut self: Arc<Self>, tables: impl IntoIterator<Item = TableId>) -> Arc<Self> {
        // Nobody else has it yet.
        if let Some(it) = Arc::get_mut(&mut self) {
            it.tables = table_set(tables);
        }
        self
    }

    /// The number by which connections are to have it prepared.
    pub(crate) fn preparation(&self) -> u64 {
        self.preparation.load(Ordering::Relaxed)
    }

    /// Makes every connection prepare the text anew, because a server cannot run preparation number `stale` any more.
    pub(crate) fn prepare_anew(&self, stale: u64) {
        let order = Ordering::Relaxed;
        // Another connection may have learned it first.
        let _ = self.preparation.compare_exchange(stale, next_number(), order, order);
    }

    fn age_ms(&self) -> u64 {
        u64::try_from(self.made.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// True if its result types differed from the plan a moment ago: another attempt would cost a connection. After a pause
    /// one caller gets false, so that a column whose type was restored is read again.
    pub(crate) fn is_outdated(&self) -> bool {
        let outdated_until_ms = self.outdated_until_ms.load(Ordering::Relaxed);
        if outdated_until_ms == 0 {
            return false;
        }
        let now = self.age_ms();
        let again = now + OUTDATED_MS;
        let order = Ordering::Relaxed;
        now < outdated_until_ms
            || self.outdated_until_ms.compare_exchange(outdated_until_ms, again, order, order).is_err()
    }

    /// The server describes other columns.
    pub(crate) fn outdate(&self) {
        self.was_described.store(false, Ordering::Relaxed);
        self.outdated_until_ms.store(self.age_ms() + OUTDATED_MS, Ordering::Relaxed);
    }

    /// The server describes the columns as planned.
    pub(crate) fn renew(&self) {
        if !self.was_described() {
            self.was_described.store(true, Ordering::Relaxed);
        }
        if self.outdated_until_ms.load(Ordering::Relaxed) != 0 {
            self.outdated_until_ms.store(0, Ordering::Relaxed);
        }
    }

    /// True if the server described the columns as planned, when it was last asked.
    pub(crate) fn was_described(&self) -> bool {
        self.was_described.load(Ordering::Relaxed)
    }

    /// True if it is often slow, so that it has to run on a session.
    pub(crate) fn is_slow(&self) -> bool {
        (SLOW_RUNS_MAX..NEVER_RAN).contains(&self.slow_runs.load(Ordering::Relaxed))
    }

    /// True if its last run was short.
    pub(crate) fn is_short(&self) -> bool {
        self.slow_runs.load(Ordering::Relaxed) == 0
    }

    /// Counts one run. A single short one makes up for all slow ones before.
    pub(crate) fn ran(&self, is_slow: bool) {
        match (is_slow, self.slow_runs.load(Ordering::Relaxed)) {
            (false, 0) => {}
            (false, _) => self.slow_runs.store(0, Ordering::Relaxed),
            (true, NEVER_RAN) => self.slow_runs.store(1, Ordering::Relaxed),
            (true, _) => drop(self.slow_runs.fetch_add(1, Ordering::Relaxed)),
        }
    }
}

/// A number that no statement and no preparation has.
fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Time that a statement takes alone, in microseconds; 0 until it ran.
#[derive(Debug, Default)]
pub(crate) struct ServiceTime(AtomicU32);

impl ServiceTime {
    /// The time.
    pub(crate) fn micros(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// True if it ran, and takes less than is worth a second connection.
    pub(crate) fn is_little(&self) -> bool {
        (1..LITTLE_MAX_US).contains(&self.micros())
    }

    /// It ran alone.
    pub(crate) fn note(&self, took: Duration) {
        let took = u32::try_from(took.as_micros()).unwrap_or(u32::MAX).max(1);
        let next = match self.micros() {
            0 => took,
            known if took <= known => took,
            known => known + ((took - known) / RUNS_FORGOTTEN).max(1),
        };
        // If two ran at once, the value of either may stand.
        self.0.store(next, Ordering::Relaxed);
    }
}

/// Values of one request, in the wire's form: a length of four bytes (-1 is null) and the bytes of each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Parameters {
    bytes: Buffer,
    count: u32,
}

impl Parameters {
    /// No values yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a null.
    pub fn push_null(&mut self) {
        self.bytes.extend_from_slice(&(-1_i32).to_be_bytes());
        self.count += 1;
    }

    /// Adds a value in text format.
    pub fn push(&mut self, value: &[u8]) {
        self.push_with(|bytes| bytes.extend_from_slice(value));
    }

    /// Adds the value that `write` appends; it must touch nothing before.
    pub fn push_with<T>(&mut self, write: impl FnOnce(&mut Buffer) -> T) -> T {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        let written = write(&mut self.bytes);
        // A value beyond two gigabytes cannot come: requests are bounded far below.
        let length = i32::try_from(self.bytes.len() - start - 4).unwrap_or(i32::MAX);
        self.bytes[start..start + 4].copy_from_slice(&length.to_be_bytes());
        self.count += 1;
        written
    }

    /// Adds the value that `write` appends, or null if it says false.
    /// # Errors
    /// The errors of `write`.
    pub fn push_some_with<E>(&mut self, write: impl FnOnce(&mut Buffer) -> Result<bool, E>) -> Result<(), E> {
        let start = self.bytes.len();
        let is_there = self.push_with(write)?;
        if !is_there {
            self.bytes.truncate(start);
            self.count -= 1;
            self.push_null();
        }
        Ok(())
    }

    /// Adds all values of `other`.
    pub fn append(&mut self, other: &Self) {
        self.bytes.extend_from_slice(&other.bytes);
        self.count += other.count;
    }

    /// Number of values.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The values as they travel, without their count.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The values again: `None` is null.
    pub fn iter(&self) -> impl Iterator<Item = Option<&[u8]>> {
        crate::protocol::rows::Columns::new(&self.bytes)
    }
}

/// A set of tables, as statements and marks of the bulkhead have it.
pub fn table_set(tables: impl IntoIterator<Item = TableId>) -> Box<[TableId]> {
    let mut tables: Vec<TableId> = tables.into_iter().collect();
    tables.sort_unstable();
    tables.dedup();
    tables.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_they_travel() {
        let mut parameters = Parameters::new();
        parameters.push(b"42");
        parameters.push_null();
        parameters.push(b"");
        let answer = parameters.push_with(|bytes| {
            bytes.extend_from_slice(b"{1,2}");
            7
        });
        assert_eq!(answer, 7);
        assert_eq!(parameters.count(), 4);
        assert_eq!(
            parameters.as_bytes(),
            b"\x00\x00\x00\x0242\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x05{1,2}"
        );
        let values: Vec<_> = parameters.iter().collect();
        assert_eq!(values, [Some(&b"42"[..]), None, Some(b""), Some(b"{1,2}")]);
    }

    #[test]
    fn a_statement_is_slow_after_three_slow_runs_and_short_after_one() {
        let statement = Statement::new("SELECT 1", [], [], [], None);
        let runs = [true, true, false, true, true, true, true, false];
        let seen = runs.map(|is_slow| {
            statement.ran(is_slow);
            statement.is_slow()
        });
        assert_eq!(seen, [false, false, false, false, false, true, true, false]);
    }

    #[test]
    fn the_shortest_time_stands_for_a_statement_until_all_are_longer() {
        let time = ServiceTime::default();
        let note = |runs: u32, took| (0..runs).for_each(|_| time.note(Duration::from_micros(took)));
        note(1, 3_000);
        note(1, 120);
        assert_eq!(time.micros(), 120);
        // An overload of a moment.
        note(20, 2_000);
        assert!(time.micros() < 300, "{time:?}");
        note(1, 130);
        assert_eq!(time.micros(), 130);
        // The server is far away from now on.
        note(2_000, 20_000);
        assert!(time.micros() > 19_000, "{time:?}");
    }

    #[test]
    fn every_statement_has_its_own_number() {
        let [one, other] = [(); 2].map(|()| Statement::new("SELECT 1", [], [Format::Binary], [23], None));
        assert_ne!(one.id, other.id);
    }
}

//! Counts by operation: how often, how long, with which errors and from which cache; and by field and argument, for changes of the schema.
//!
//! An operation is its document and its name. The table has room for [`OPERATIONS_MAX`]: a new operation replaces the least
//! frequent one, whose counts move to the rest. So a flood of different documents replaces its own entries, not those of frequent
//! operations.
//!
//! **Invariant:** the counts of all operations and of the rest never decrease together. No value is here: neither one of a variable, nor one in
//! the text of a document.
//!
//! **Cost:** per request one lock of its operation's entry and a place in a histogram; nothing is allocated.

use super::masked_text::mask_values;
use super::observer::ObservedOperation;
use super::operation_samples::{OperationSamples, SLOW_US, SlowExecution};
use crate::answer::response::{Execution, Kept};
use hdrhistogram::Histogram;
use sha2::{Digest, Sha256};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use weir_language::ast::OperationKind;

/// Operations that are counted by themselves.
pub const OPERATIONS_MAX: usize = 1_000;
/// Longest name that is kept, in bytes.
const NAME_BYTES_MAX: usize = 100;
/// Bounds of durations: longer ones count as the longest.
const LONGEST_US: u64 = 3_600_000_000;

/// Counts of one operation, or of several.
#[derive(Clone, Debug)]
pub struct OperationCounts {
    /// Executions.
    pub count: u64,
    /// Executions with errors.
    pub errors: u64,
    /// Executions whose plan was made for them.
    pub planned: u64,
    /// Answers by [`Kept`], in its order.
    pub kept: [u64; 3],
    /// Time from the request's head to the answer.
    pub total_us: u64,
    /// The part of `total_us` that no source took.
    pub overhead_us: u64,
    /// Time for which executions held their threads: their CPU time, as nothing waits there.
    pub busy_us: u64,
    /// Fetches from sources.
    pub fetches: u64,
    /// Times of the executions, in microseconds, to two digits.
    pub durations: Histogram<u32>,
}

impl OperationCounts {
    fn none() -> Self {
        let durations = Histogram::new_with_bounds(1, LONGEST_US, 2);
        let durations = durations.unwrap_or_else(|_| unreachable!("the bounds fit two digits"));
        Self {
            count: 0,
            errors: 0,
            planned: 0,
            kept: [0; 3],
            total_us: 0,
            overhead_us: 0,
            busy_us: 0,
            fetches: 0,
            durations,
        }
    }

    fn note(&mut self, execution: &Execution, total: Duration) {
        let us = |it: Duration| u64::try_from(it.as_micros()).unwrap_or(LONGEST_US);
        self.count += 1;
        self.errors += u64::from(execution.has_errors);
        self.planned += u64::from(!execution.timing.plan_hit);
        if let Some(kept) = execution.kept {
            self.kept[kept as usize] += 1;
        }
        self.total_us += us(total);
        self.overhead_us += us(total.saturating_sub(execution.timing.execute));
        self.busy_us += us(execution.timing.busy);
        self.fetches += u64::from(execution.timing.fetches);
        self.durations.saturating_record(us(total).max(1));
    }

    /// Adds those of `other`.
    pub fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.errors += other.errors;
        self.planned += other.planned;
        self.kept.iter_mut().zip(other.kept).for_each(|(sum, it)| *sum += it);
        self.total_us += other.total_us;
        self.overhead_us += other.overhead_us;
        self.busy_us += other.busy_us;
        self.fetches += other.fetches;
        // Both have the same bounds.
        let _ = self.durations.add(&other.durations);
    }

    /// The time within which `percent` of the executions were answered, in microseconds.
    pub fn percentile_us(&self, percent: f64) -> u64 {
        if self.count == 0 { 0 } else { self.durations.value_at_percentile(percent) }
    }
}

/// Name, hash and kind of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OperationName {
    /// The name in the document; empty if it has none.
    pub name: Box<str>,
    /// The first 16 hexadecimal digits of the document's SHA-256.
    pub hash: Box<str>,
    /// Query, mutation or subscription.
    pub kind: OperationKind,
}

impl OperationName {
    fn of(operation: &ObservedOperation<'_>) -> Self {
        let digest = Sha256::digest(operation.text.as_bytes());
        let hash = digest.iter().take(8).fold(String::with_capacity(16), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        });
        let name: String = operation.name.unwrap_or_default().chars().take(NAME_BYTES_MAX).collect();
        Self { name: name.into(), hash: hash.into(), kind: operation.kind }
    }
}

/// One place of the table.
#[derive(Debug, Default)]
struct OperationPlace {
    /// Copy of the count in `entry`, to find the least frequent operation without a lock.
    count: AtomicU64,
    /// Time from which an execution is sampled as the slowest, in microseconds; 0: from [`SLOW_US`].
    slow_us: AtomicU64,
    entry: Mutex<OperationEntry>,
}

#[derive(Debug, Default)]
struct OperationEntry {
    /// Operations that had the place before. A plan of one of these counts with the rest.
    age: u32,
    counted: Option<CountedOperation>,
    samples: OperationSamples,
}

/// Sum over operations that have no entry of their own.
#[derive(Debug)]
struct Rest {
    counts: OperationCounts,
    /// Executions of operations that lost their place, by coordinate.
    coordinates: BTreeMap<String, u64>,
}

/// The counts of a process.
#[derive(Debug)]
pub struct OperationTable {
    places: Box<[OperationPlace]>,
    /// OperationPlace of each operation. Its lock is taken before that of a place.
    known: Mutex<HashMap<OperationName, usize>>,
    rest: Mutex<Rest>,
}

/// An operation with an entry of its own.
#[derive(Clone, Debug)]
pub struct CountedOperation {
    /// Name, hash and kind of the operation.
    pub operation: OperationName,
    /// The fields and arguments it asks for.
    pub coordinates: Vec<String>,
    /// Counts of the operation.
    pub counts: OperationCounts,
}

/// A copy of the table.
#[derive(Debug)]
pub struct Usage {
    /// By count, descending.
    pub operations: Vec<CountedOperation>,
    /// Counts of operations that have no entry of their own.
    pub rest: OperationCounts,
    /// Executions by coordinate of a field or argument.
    pub coordinates: BTreeMap<String, u64>,
}

impl Default for OperationTable {
    fn default() -> Self {
        Self::with_places(OPERATIONS_MAX)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl OperationTable {
    /// An empty table for `places` operations.
    pub fn with_places(places: usize) -> Self {
        let places = std::iter::repeat_with(OperationPlace::default).take(places).collect();
        let rest = Rest { counts: OperationCounts::none(), coordinates: BTreeMap::new() };
        Self { places, known: Mutex::default(), rest: Mutex::new(rest) }
    }

    /// Counts an execution that took `total`.
    pub fn note(&self, execution: &Execution, total: Duration) {
        let Some(number) = execution.operation else { return };
        let noted = self.with_entry(number, |place, entry| {
            let counted = entry.counted.as_mut()?;
            counted.counts.note(execution, total);
            place.count.store(counted.counts.count, Ordering::Relaxed);
            if execution.has_errors {
                entry.samples.note_error(execution);
            }
            Some(())
        });
        if noted.is_none() {
            lock(&self.rest).counts.note(execution, total);
        }
    }

    /// Hands the name of the operation with this number to `take`, if it still has its place.
    pub fn with_name<T>(&self, number: u64, take: impl FnOnce(&OperationName) -> T) -> Option<T> {
        self.with_operation(number, |_, counted| take(&counted.operation))
    }

    /// The name of the operation with this number, for logs.
    pub fn name(&self, number: u64) -> Option<OperationName> {
        self.with_operation(number, |_, counted| counted.operation.clone())
    }

    /// True if an execution of the operation with this number that took `total` is to be sampled as its slowest.
    ///
    /// Its time has to exceed that of the sample before by a quarter, so there are few samples of one operation.
    pub fn is_slowest(&self, number: u64, total: Duration) -> bool {
        let Some(place) = self.places.get(number as u32 as usize) else { return false };
        let slow = place.slow_us.load(Ordering::Relaxed);
        total.as_micros() > u128::from((slow + slow / 4).max(SLOW_US - 1))
    }

    /// Keeps `slow` as the slowest execution of the operation with this number.
    pub fn keep_slowest(&self, number: u64, slow: SlowExecution) {
        self.with_entry(number, |place, entry| {
            place.slow_us.store(slow.total_us, Ordering::Relaxed);
            entry.samples.slowest = Some(slow);
            Some(())
        });
    }

    /// Samples of the operation called `name` whose document has this hash.
    pub fn samples(&self, name: &str, hash: &str) -> Option<OperationSamples> {
        let known = lock(&self.known);
        let found = known.iter().find(|it| *it.0.hash == *hash && *it.0.name == *name)?;
        let entry = lock(&self.places[*found.1].entry);
        Some(entry.samples.clone())
    }

    /// Hands the operation with this number to `take`, if it still has its place.
    fn with_operation<T>(
        &self,
        number: u64,
        take: impl FnOnce(&OperationPlace, &mut CountedOperation) -> T,
    ) -> Option<T> {
        self.with_entry(number, |place, entry| entry.counted.as_mut().map(|it| take(place, it)))
    }

    /// Hands the entry of the operation with this number to `take`, if it still has its place.
    fn with_entry<T>(
        &self,
        number: u64,
        take: impl FnOnce(&OperationPlace, &mut OperationEntry) -> Option<T>,
    ) -> Option<T> {
        let place = self.places.get(number as u32 as usize)?;
        let mut entry = lock(&place.entry);
        if entry.age == (number >> 32) as u32 { take(place, &mut entry) } else { None }
    }

    /// All counts.
    pub fn usage(&self) -> Usage {
        let mut operations = Vec::new();
        // The lock keeps counts from moving to the rest meanwhile.
        let _known = lock(&self.known);
        let rest = lock(&self.rest);
        let mut coordinates = rest.coordinates.clone();
        let counts = rest.counts.clone();
        drop(rest);
        for place in &self.places {
            let entry = lock(&place.entry);
            let Some(entry) = entry.counted.as_ref().filter(|it| it.counts.count > 0) else { continue };
            for coordinate in &entry.coordinates {
                *coordinates.entry(coordinate.clone()).or_default() += entry.counts.count;
            }
            operations.push(entry.clone());
        }
        let key = |it: &CountedOperation| (Reverse(it.counts.count), it.operation.hash.clone());
        operations.sort_by_cached_key(key);
        Usage { operations, rest: counts, coordinates }
    }

    /// Entry for a new `operation`: an unused one, else that of the least frequent operation.
    fn place_for(&self, known: &mut HashMap<OperationName, usize>, operation: OperationName) -> usize {
        let least = self.places.iter().enumerate().min_by_key(|it| it.1.count.load(Ordering::Relaxed));
        let at = if known.len() < self.places.len() { known.len() } else { least.map_or(0, |it| it.0) };
        let place = &self.places[at];
        let mut entry = lock(&place.entry);
        if let Some(old) = entry.counted.take() {
            known.remove(&old.operation);
            entry.age = entry.age.wrapping_add(1);
            let mut rest = lock(&self.rest);
            rest.counts.add(&old.counts);
            for coordinate in old.coordinates.into_iter().filter(|_| old.counts.count > 0) {
                *rest.coordinates.entry(coordinate).or_default() += old.counts.count;
            }
        }
        place.count.store(0, Ordering::Relaxed);
        place.slow_us.store(0, Ordering::Relaxed);
        entry.samples = OperationSamples::default();
        known.insert(operation.clone(), at);
        let counts = OperationCounts::none();
        entry.counted = Some(CountedOperation { operation, coordinates: Vec::new(), counts });
        at
    }
}

impl OperationTable {
    /// The number of an operation for which a plan is made.
    pub fn number(&self, observed: &ObservedOperation<'_>) -> u64 {
        let operation = OperationName::of(observed);
        let mut known = lock(&self.known);
        let at = match known.get(&operation) {
            Some(at) => *at,
            None => self.place_for(&mut known, operation),
        };
        let mut entry = lock(&self.places[at].entry);
        if entry.samples.text.is_none() {
            entry.samples.text = mask_values(observed.text);
        }
        if let Some(counted) = &mut entry.counted {
            let new = observed.coordinates.iter().filter(|it| !counted.coordinates.contains(it));
            let new: Vec<String> = new.cloned().collect();
            counted.coordinates.extend(new);
        }
        u64::from(entry.age) << 32 | at as u64
    }
}

/// The label of `kept` in pages.
pub const KEPT: [(Kept, &str); 3] = [(Kept::Hit, "hit"), (Kept::Joined, "joined"), (Kept::Made, "made")];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::response::Timing;
    use std::collections::BTreeSet;

    fn number(table: &OperationTable, text: &str, coordinates: &[&str]) -> u64 {
        let coordinates: BTreeSet<String> = coordinates.iter().map(|it| (*it).to_owned()).collect();
        let kind = OperationKind::Query;
        table.number(&ObservedOperation { text, name: None, kind, coordinates: &coordinates })
    }

    fn execution(operation: u64, has_errors: bool) -> Execution {
        let timing = Timing { plan_hit: true, execute: Duration::from_micros(30), ..Timing::default() };
        Execution { operation: Some(operation), timing, has_errors, ..Execution::default() }
    }

    fn check(table: &OperationTable, counts: &[u64], rest: u64, coordinates: &[(&str, u64)]) {
        let usage = table.usage();
        let found: Vec<u64> = usage.operations.iter().map(|it| it.counts.count).collect();
        let fields: Vec<(&str, u64)> = usage.coordinates.iter().map(|it| (it.0.as_str(), *it.1)).collect();
        assert_eq!((found.as_slice(), usage.rest.count, fields.as_slice()), (counts, rest, coordinates));
    }

    #[test]
    fn plans_of_one_document_are_one_operation() {
        let table = OperationTable::with_places(2);
        let one = number(&table, "{a}", &["Query.a"]);
        assert_eq!(one, number(&table, "{a}", &["Query.a", "Query.a(x:)"]));
        assert_ne!(one, number(&table, "{b}", &["Query.b"]));
        table.note(&execution(one, true), Duration::from_micros(50));
        table.note(&execution(one, false), Duration::from_millis(2));
        check(&table, &[2], 0, &[("Query.a", 2), ("Query.a(x:)", 2)]);
        let usage = table.usage();
        let CountedOperation { operation: name, counts, .. } = &usage.operations[0];
        assert_eq!((&*name.hash, counts.errors, counts.overhead_us), ("460c3a93211614ac", 1, 1990));
        assert_eq!((counts.percentile_us(50.0), counts.percentile_us(99.0)), (50, 2007));
    }

    #[test]
    fn samples_have_the_text_without_values_errors_and_the_slowest() {
        let table = OperationTable::with_places(1);
        let text = "{ a(id: 7) }";
        let one = number(&table, text, &["Query.a"]);
        let hash = table.name(one).expect("it has its place").hash;
        let failed = |path: Option<&str>| Execution {
            code: Some("X".into()),
            path: path.map(Into::into),
            ..execution(one, true)
        };
        table.note(&failed(Some("a.b")), Duration::ZERO);
        table.note(&failed(Some("a.b")), Duration::ZERO);
        table.note(&failed(None), Duration::ZERO);
        assert!(!table.is_slowest(one, Duration::from_micros(SLOW_US - 1)));
        assert!(table.is_slowest(one, Duration::from_micros(SLOW_US)));
        let ms = |it| Duration::from_millis(it);
        assert!(table.is_slowest(one, ms(20)));
        let slow = SlowExecution { total_us: 20_000, ..SlowExecution::default() };
        table.keep_slowest(one, slow.clone());
        assert!(!table.is_slowest(one, ms(21)) && table.is_slowest(one, ms(26)));
        let samples = table.samples("", &hash).expect("it is known");
        assert_eq!(samples.text.as_deref(), Some("{ a(id: 0) }"));
        let errors: Vec<_> =
            samples.errors.iter().map(|it| (&*it.code, it.path.as_deref(), it.count)).collect();
        assert_eq!(errors, [("X", None, 1), ("X", Some("a.b"), 2)]);
        assert_eq!(samples.slowest, Some(slow));
        let _ = number(&table, "{ b }", &[]);
        assert!(table.samples("", &hash).is_none(), "another operation has the place");
        table.keep_slowest(one, SlowExecution::default());
        let other = table.name(1 << 32).expect("it has the place").hash;
        let samples = table.samples("", &other).expect("it is known");
        assert!(samples.slowest.is_none() && samples.errors.is_empty());
    }

    #[test]
    fn a_flood_of_documents_displaces_itself() {
        let table = OperationTable::with_places(3);
        let often = number(&table, "{often}", &["Query.often"]);
        (0..9).for_each(|_| table.note(&execution(often, false), Duration::ZERO));
        for at in 0..100 {
            let once = number(&table, &format!("{{a{at}}}"), &["Query.a"]);
            table.note(&execution(once, false), Duration::ZERO);
        }
        check(&table, &[9, 1, 1], 98, &[("Query.a", 100), ("Query.often", 9)]);
    }

    #[test]
    fn a_plan_that_outlives_its_place_counts_with_the_rest() {
        let table = OperationTable::with_places(1);
        let old = number(&table, "{a}", &[]);
        let new = number(&table, "{b}", &[]);
        assert!(table.name(old).is_none() && table.name(new).is_some());
        table.note(&execution(old, false), Duration::ZERO);
        check(&table, &[], 1, &[]);
    }
}

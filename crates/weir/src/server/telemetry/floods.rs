//! Limits repeated log lines: a few per second are written, the rest is summarized in one line.
//!
//! Lines are equal if they come from one place of the program and differ only in what every request has of its own: its id, times, sizes.
//! Lines of the access log are never held back.
//!
//! **Invariant:** each line is written or in a sum. What is remembered is bounded: beyond that, lines of one place are equal.
//!
//! **Cost:** a hash of a line's fields and a lock; the access log pays neither.

use super::ACCESS;
use std::collections::HashMap;
use std::fmt::{self, Write};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// Equal lines written per second.
const WRITTEN_MAX: u32 = 10;
/// Maximum number of distinct lines that are tracked.
const KINDS_MAX: usize = 1024;
/// Length of the message prefix that a summary repeats, in bytes.
const WORDS_BYTES_MAX: usize = 120;
/// Suffixes and names of fields in which equal lines may differ.
const OWN_ENDS: [&str; 4] = ["_us", "_ms", "bytes", "attempts"];
const OWN: [&str; 5] = ["request_id", "trace_id", "span_id", "address", "times"];

/// Tracker of log lines.
#[derive(Clone, Debug)]
pub(super) struct Floods(Arc<FloodTable>);

#[derive(Debug)]
struct FloodTable {
    started: Instant,
    kinds: Mutex<HashMap<u64, Flood>>,
}

/// Equal lines of one second.
#[derive(Debug)]
struct Flood {
    second: u64,
    written: u32,
    held: u64,
    words: String,
}

/// Lines that were suppressed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) lines: u64,
    /// Message of the lines.
    pub(super) words: String,
}

/// Key that tells a line from others.
#[derive(Clone, Copy)]
struct LineHash {
    /// Place and fields.
    kind: u64,
    /// Place in the program.
    place: u64,
}

impl Floods {
    pub(super) fn new() -> Self {
        Self(Arc::new(FloodTable { started: Instant::now(), kinds: Mutex::default() }))
    }

    fn kinds(&self) -> MutexGuard<'_, HashMap<u64, Flood>> {
        self.0.kinds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn second(&self) -> u64 {
        self.0.started.elapsed().as_secs()
    }

    /// Counts a line of `place`; false if it must be suppressed.
    fn note(&self, line: LineHash, second: u64, words: impl FnOnce() -> String) -> bool {
        let LineHash { kind, place } = line;
        let mut kinds = self.kinds();
        let kind = if kinds.len() < KINDS_MAX || kinds.contains_key(&kind) { kind } else { place };
        let flood =
            kinds.entry(kind).or_insert_with(|| Flood { second, written: 0, held: 0, words: words() });
        // Keep counting until the summary is written.
        if flood.second != second && flood.held == 0 {
            (flood.second, flood.written) = (second, 0);
        }
        let is_written = flood.written < WRITTEN_MAX && flood.held == 0;
        flood.written += u32::from(is_written);
        flood.held += u64::from(!is_written);
        is_written
    }

    /// Takes the summaries of past seconds.
    pub(super) fn take(&self) -> Vec<Held> {
        self.take_at(self.second())
    }

    fn take_at(&self, second: u64) -> Vec<Held> {
        let mut held = Vec::new();
        self.kinds().retain(|_, flood| {
            if flood.second < second && flood.held > 0 {
                held.push(Held { lines: flood.held, words: std::mem::take(&mut flood.words) });
            }
            flood.second >= second
        });
        held
    }
}

impl<S: Subscriber> Layer<S> for Floods {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let metadata = event.metadata();
        if metadata.target() == ACCESS {
            return true;
        }
        let mut hash = DefaultHasher::new();
        metadata.callsite().hash(&mut hash);
        let place = hash.finish();
        let mut fields = FieldHash(hash);
        event.record(&mut fields);
        self.note(LineHash { kind: fields.0.finish(), place }, self.second(), || {
            let mut words = Words(String::new());
            event.record(&mut words);
            words.0
        })
    }
}

/// Hashes the fields that make lines equal.
struct FieldHash(DefaultHasher);

impl Write for FieldHash {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

impl Visit for FieldHash {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let name = field.name();
        if OWN.contains(&name) || OWN_ENDS.iter().any(|it| name.ends_with(it)) {
            return;
        }
        name.hash(&mut self.0);
        // `write!` to a hasher cannot fail.
        let _ = write!(self, "{value:?}");
        self.0.write_u8(0xff);
    }
}

/// Captures the message.
struct Words(String);

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            // `write!` to a string cannot fail.
            let _ = write!(self.0, "{value:?}");
            self.0.truncate(self.0.floor_char_boundary(WORDS_BYTES_MAX));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use tracing_subscriber::layer::SubscriberExt;

    #[test]
    fn a_flood_is_a_few_lines_and_a_sum() {
        let floods = Floods::new();
        let note = |kind, second| floods.note(LineHash { kind, place: 0 }, second, || format!("kind {kind}"));
        let written = (0..1000).filter(|_| note(1, 0)).count();
        assert!(written == 10 && note(2, 0), "another kind is written");
        assert_eq!(floods.take_at(0), [], "the second is not over");
        assert!(!note(1, 1), "what follows belongs to the sum, so that nothing is lost");
        assert_eq!(floods.take_at(1), [Held { lines: 991, words: "kind 1".into() }]);
        assert!(note(1, 1) && floods.take_at(2).is_empty());
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let floods = Floods::new();
        let count = |from: u64| {
            (from..from + 2000)
                .filter(|it| floods.note(LineHash { kind: *it + 7, place: 3 }, 0, String::new))
                .count()
        };
        let written = count(0);
        assert!(written < KINDS_MAX + 20, "{written}");
        assert!(floods.kinds().len() <= KINDS_MAX + 1);
        let held: u64 = floods.take_at(1).iter().map(|it| it.lines).sum();
        assert_eq!(held + written as u64, 2000);
    }

    /// Counts the lines that arrive.
    #[derive(Clone, Default)]
    struct Arrived(Arc<AtomicU32>);

    impl<S: Subscriber> Layer<S> for Arrived {
        fn on_event(&self, _: &Event<'_>, _: Context<'_, S>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn lines_are_equal_but_for_what_each_request_has_of_its_own() {
        let check = |log: &dyn Fn(u32), expected: u32| {
            let arrived = Arrived::default();
            let floods = Floods::new();
            let all = tracing_subscriber::registry().with(arrived.clone()).with(floods.clone());
            tracing::subscriber::with_default(all, || (0..50).for_each(log));
            // A second may end meanwhile.
            let held: u64 = floods.take_at(u64::MAX).iter().map(|it| it.lines).sum();
            let arrived = arrived.0.load(Ordering::Relaxed);
            assert!((expected..=expected + 10).contains(&arrived), "{arrived} of 50");
            assert_eq!(u64::from(arrived) + held, 50);
        };
        check(&|it| tracing::warn!(request_id = it, took_ms = it, call = "a", "a service failed"), 10);
        check(&|it| tracing::warn!(trace_id = it, span_id = it, call = "a", "a service failed"), 10);
        check(&|it| tracing::warn!(request_id = 1, call = it, "a service failed"), 50);
        check(&|it| tracing::info!(target: "weir::access", request_id = it, "request"), 50);
    }
}

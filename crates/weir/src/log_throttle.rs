//! Limits repeated log lines to one per second or minute, with the number of events.
//!
//! **Invariant:** each event is in the number of one line, or waits for the next.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Pauses between log lines.
const SECOND_MS: u64 = 1000;
const MINUTE_MS: u64 = 60_000;

/// Passes one log line per pause, across threads, and counts suppressed ones.
#[derive(Debug)]
pub(crate) struct LogThrottle {
    started: Instant,
    due_ms: AtomicU64,
    held: AtomicU64,
    pause_ms: u64,
}

impl LogThrottle {
    /// A throttle with a pause of a second.
    pub(crate) fn every_second() -> Self {
        Self::with_pause(SECOND_MS)
    }

    /// A throttle with a pause of a minute.
    pub(crate) fn every_minute() -> Self {
        Self::with_pause(MINUTE_MS)
    }

    fn with_pause(pause_ms: u64) -> Self {
        Self { started: Instant::now(), due_ms: AtomicU64::new(0), held: AtomicU64::new(0), pause_ms }
    }

    /// Counts an event. Returns the number of events since the last log line, or `None` during the pause.
    pub(crate) fn note(&self) -> Option<u64> {
        self.note_at(u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX - MINUTE_MS))
    }

    fn note_at(&self, now_ms: u64) -> Option<u64> {
        self.held.fetch_add(1, Ordering::Relaxed);
        let due_ms = self.due_ms.load(Ordering::Relaxed);
        if now_ms < due_ms {
            return None;
        }
        let next_ms = now_ms + self.pause_ms;
        self.due_ms.compare_exchange(due_ms, next_ms, Ordering::Relaxed, Ordering::Relaxed).ok()?;
        Some(self.held.swap(0, Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_of_a_second_are_one_line_with_their_number() {
        let seldom = LogThrottle::every_second();
        let lines: Vec<_> = (0..50).filter_map(|it| seldom.note_at(it * 50)).collect();
        assert_eq!(lines, [1, 20, 20]);
    }
}

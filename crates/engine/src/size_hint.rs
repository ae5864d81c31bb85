//! The size of the last answer, as a guess for the next.
//!
//! **Cost:** a load per answer; a store only if the size changed much, so that processors do not fight for it.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of the last answer of something prepared.
#[derive(Debug, Default)]
pub struct SizeHint(AtomicUsize);

impl SizeHint {
    /// Room for an answer like the last and for `more` bytes.
    #[must_use]
    pub fn room(&self, more: usize) -> usize {
        let last = self.0.load(Ordering::Relaxed);
        last + last / 8 + more
    }

    /// Notes that an answer had `bytes`.
    pub fn note(&self, bytes: usize) {
        let last = self.0.load(Ordering::Relaxed);
        if bytes > last || bytes < last / 2 {
            self.0.store(bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guess_grows_at_once_and_shrinks_by_halves() {
        let hint = SizeHint::default();
        assert_eq!(hint.room(8), 8);
        for (bytes, expected) in [(800, 908), (700, 908), (400, 908), (399, 456), (500, 570)] {
            hint.note(bytes);
            assert_eq!(hint.room(8), expected, "{bytes}");
        }
    }
}

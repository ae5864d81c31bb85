//! Size of the last answer, as an estimate for the next one.
//!
//! **Cost:** a load per answer; a store only if the size changed much, so that processors do not fight for it.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Room that is not worth giving back.
const SLACK: usize = 1024;

/// Bytes of the last answer of something prepared.
#[derive(Debug, Default)]
pub struct SizeHint(AtomicUsize);

impl SizeHint {
    /// Room for an answer like the last and for `more` bytes.
    pub fn room(&self, more: usize) -> usize {
        let last = self.0.load(Ordering::Relaxed);
        last + last / 8 + more
    }

    /// Records the size of an answer and returns its `bytes`, shrunk if their capacity is more than twice their length. `extra` bytes
    /// are not counted, as the next answer reserves room for them anyway.
    pub fn record_size(&self, mut bytes: Vec<u8>, extra: usize) -> Vec<u8> {
        let size = bytes.len().saturating_sub(extra);
        let last = self.0.load(Ordering::Relaxed);
        if size > last || size < last / 2 {
            self.0.store(size, Ordering::Relaxed);
        }
        if bytes.capacity() / 2 > bytes.len() + SLACK {
            bytes.shrink_to_fit();
        }
        bytes
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
            assert_eq!(hint.record_size(vec![b'x'; bytes + 5], 5).len(), bytes + 5);
            assert_eq!(hint.room(8), expected, "{bytes}");
        }
    }

    #[test]
    fn a_small_answer_gives_the_room_of_a_large_one_back() {
        let hint = SizeHint::default();
        for (len, room, kept) in
            [(10, 1_000_000, 10..2000), (10, 500, 500..501), (400_000, 500_000, 500_000..500_001)]
        {
            let mut bytes = Vec::with_capacity(room);
            bytes.resize(len, b'x');
            assert!(kept.contains(&hint.record_size(bytes, 0).capacity()), "{len} of {room}");
        }
    }
}

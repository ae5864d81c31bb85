//! Cuts the keys of a table into ranges, of about as many bytes of the answer each.
//!
//! **Invariant:** the ranges follow each other without gaps, from the smallest integer to the greatest: keys that came after the borders
//! were read lie in the first or the last one.

/// Bytes of the answer that a range should have.
const RANGE_BYTES: u64 = 128 << 10;

/// Number of keys in the first range: little is known yet.
const FIRST_KEYS: u64 = 64;

/// Keys that are not given out yet.
#[derive(Debug)]
pub(super) struct Cuts {
    /// Start of the next range; `None`: all are given out.
    next: Option<i64>,
    /// The least key and the greatest one, when the borders were read.
    least: i64,
    greatest: i64,
    /// Number of keys of the next range.
    keys: u64,
}

impl Cuts {
    pub(super) const fn new(least: i64, greatest: i64) -> Self {
        Self { next: Some(i64::MIN), least, greatest, keys: FIRST_KEYS }
    }

    /// The next range: its first key and its last one.
    pub(super) fn take(&mut self) -> Option<(i64, i64)> {
        let first = self.next?;
        let last = first.max(self.least).saturating_add_unsigned(self.keys - 1);
        let last = if last >= self.greatest { i64::MAX } else { last };
        self.next = last.checked_add(1);
        Some((first, last))
    }

    /// Notes that a range of `keys` keys became `bytes` bytes: the next ones have more keys, or fewer.
    pub(super) fn fit(&mut self, (first, last): (i64, i64), bytes: u64) {
        let keys = last.min(self.greatest).abs_diff(first.max(self.least)).saturating_add(1);
        let fitting = u128::from(keys) * u128::from(RANGE_BYTES) / u128::from(bytes.max(1));
        let fitting = u64::try_from(fitting).unwrap_or(u64::MAX);
        self.keys = fitting.clamp(keys / 8, keys.saturating_mul(8)).max(1);
    }

    pub(super) const fn are_all_taken(&self) -> bool {
        self.next.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ranges of keys between two borders, of which each becomes `bytes` bytes.
    fn check(least: i64, greatest: i64, bytes: u64) -> usize {
        let mut cuts = Cuts::new(least, greatest);
        let mut expected = i64::MIN;
        let mut count = 0;
        while let Some((first, last)) = cuts.take() {
            assert_eq!(first, expected);
            assert!(first <= last);
            count += 1;
            if last == i64::MAX {
                assert!(cuts.are_all_taken());
                return count;
            }
            expected = last + 1;
            cuts.fit((first, last), bytes);
        }
        panic!("the last range has no end")
    }

    #[test]
    fn ranges_cover_all_keys_once() {
        assert_eq!(check(1, 1, 0), 1);
        assert_eq!(check(1, 64, 9), 1);
        assert_eq!(check(-70, 63, RANGE_BYTES), 3);
        assert_eq!(check(i64::MAX - 1, i64::MAX, 7), 1);
        assert_eq!(check(i64::MIN, i64::MIN, 7), 1);
        check(1, 5000, u64::MAX);
    }

    #[test]
    fn wide_gaps_are_passed_in_few_ranges() {
        assert!(check(i64::MIN, i64::MAX, 0) < 50);
    }
}

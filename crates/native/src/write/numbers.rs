//! Numbers of very many objects in little memory: each as its distance from the one before, mostly one byte.
//!
//! **Invariant:** they come out as they went in, each once.
//!
//! **Cost:** a byte for each object where all of a type are meant, up to ten where they lie far apart.

/// A compact list of numbers of objects, in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    distances: Vec<u8>,
    /// The last one that went in.
    last: i64,
    /// Number of inserted numbers.
    pub(super) count: usize,
    /// Read position: byte offset, and the last number.
    taken: (usize, i64),
}

impl Numbers {
    /// Adds one.
    pub(super) fn push(&mut self, id: i64) {
        let distance = id.wrapping_sub(self.last);
        let mut left = ((distance << 1) ^ (distance >> 63)).cast_unsigned();
        while left >= 0x80 {
            self.distances.push(left as u8 | 0x80);
            left >>= 7;
        }
        self.distances.push(left as u8);
        self.last = id;
        self.count += 1;
    }

    /// Size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.distances.len()
    }

    /// True if all were read.
    pub(super) fn is_empty(&self) -> bool {
        self.taken.0 == self.distances.len()
    }

    /// Takes out the next ones, at most `count`.
    pub(super) fn take(&mut self, count: usize) -> impl Iterator<Item = i64> {
        std::iter::from_fn(|| {
            let mut at = self.taken.0;
            let mut left = 0;
            let mut shift = 0;
            loop {
                let byte = *self.distances.get(at)?;
                at += 1;
                left |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    break;
                }
            }
            let distance = (left >> 1).cast_signed() ^ -(left & 1).cast_signed();
            self.taken = (at, self.taken.1.wrapping_add(distance));
            Some(self.taken.1)
        })
        .take(count)
    }

    /// Puts all back that were taken out.
    pub(super) fn rewind(&mut self) {
        self.taken = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_out_as_they_went_in() {
        let all = [1, 2, 3, 130, 129, i64::MAX, 7, i64::MIN, 0];
        let mut numbers = Numbers::default();
        all.iter().for_each(|it| numbers.push(*it));
        assert_eq!(numbers.take(4).collect::<Vec<_>>(), all[..4]);
        assert_eq!(numbers.take(100).collect::<Vec<_>>(), all[4..]);
        assert!(numbers.is_empty());
        numbers.rewind();
        assert_eq!(numbers.take(100).collect::<Vec<_>>(), all);
    }
}

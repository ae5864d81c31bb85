//! Keys of cached answers.
//!
//! A key is bytes, whole: the source and all parts of the rendered request, each behind its length. Two requests have
//! one key only if they are the same request, as keys are compared byte by byte; a digest is made of them only for the
//! name in a second level, where it is one of SHA-256 and checked again in the value.
//!
//! **Invariant:** a key holds every header that its call sends, so what depends on one of them is kept apart.
//!
//! **Cost:** made in memory that is used again; looking one up allocates nothing.

/// Bytes that tell one request from all others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Key {
    bytes: Vec<u8>,
}

impl Key {
    /// Begins anew, with the first part.
    pub fn begin(&mut self, part: &[u8]) {
        self.bytes.clear();
        self.part(part);
    }

    /// Adds a part. Behind its length, so that no two lists of parts come to the same bytes.
    pub fn part(&mut self, part: &[u8]) {
        self.bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        self.bytes.extend_from_slice(part);
    }

    /// Current length, for [`Key::cut`].
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// True for a key without parts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Takes away what was added since it was `len` long.
    pub fn cut(&mut self, len: usize) {
        self.bytes.truncate(len);
    }

    /// All of it.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(parts: &[&str]) -> Key {
        let mut key = Key::default();
        key.begin(parts[0].as_bytes());
        parts[1..].iter().for_each(|part| key.part(part.as_bytes()));
        key
    }

    #[test]
    fn parts_that_come_to_the_same_text_are_different_keys() {
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert_ne!(key(&["a", ""]), key(&["a"]));
        assert_eq!(key(&["a", "b"]), key(&["a", "b"]));
    }

    #[test]
    fn what_was_added_can_be_taken_away() {
        let mut cut = key(&["a"]);
        let len = cut.len();
        cut.part(b"b");
        cut.cut(len);
        assert_eq!(cut, key(&["a"]));
    }
}

//! Keys of cached answers.
//!
//! A key is bytes, whole: the source and all parts of the rendered request, each behind its length. Two requests have
//! one key only if they are the same request, as keys are compared byte by byte; a digest is made of them only for the
//! name in a second level, where it is one of SHA-256 and checked again in the value.
//!
//! **Invariant:** a key holds every header that its call sends, so what depends on one of them is kept apart. Equal keys have
//! equal hashes, however they were made.
//!
//! **Cost:** made in memory that is used again; looking one up allocates nothing. A key is hashed once; the keys of a batch
//! share the hash of their prefix.

use weir_engine::keys::KeyRef;

/// Size of the length before each part, in bytes.
const LENGTH_BYTES: usize = size_of::<u64>();

/// Bytes that identify a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Key {
    bytes: Vec<u8>,
    /// Offset of the last part, including its length.
    last: usize,
}

impl Key {
    /// Restarts the key with its first part.
    pub fn begin(&mut self, part: &[u8]) {
        self.bytes.clear();
        self.part(part);
    }

    /// Appends a part with its length in front, so that different lists of parts never have equal bytes.
    pub fn part(&mut self, part: &[u8]) {
        self.last = self.bytes.len();
        self.bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        self.bytes.extend_from_slice(part);
    }

    /// The key with its hash, combined from the hash of the last part and that of all before it.
    pub fn to_key_ref(&self) -> KeyRef<'_> {
        let (before, last) = self.bytes.split_at(self.last);
        let last = last.get(LENGTH_BYTES..).unwrap_or_default();
        KeyRef::of_parts(KeyRef::of(before), KeyRef::of(last), &self.bytes)
    }

    /// The key as the prefix of a batch's keys: see `BatchKeys`.
    pub fn prefix(&self) -> KeyRef<'_> {
        KeyRef::of(&self.bytes)
    }
}

/// The keys of a batch: a prefix and an id each.
pub(super) struct BatchKeys<'p> {
    prefix: KeyRef<'p>,
    key: Key,
}

impl<'p> BatchKeys<'p> {
    pub(super) fn new(prefix: KeyRef<'p>) -> Self {
        Self { prefix, key: Key { bytes: prefix.bytes().to_vec(), last: 0 } }
    }

    /// Key of `id`; its hash combines those of the prefix and the id.
    pub(super) fn of(&mut self, id: KeyRef<'_>) -> KeyRef<'_> {
        self.key.bytes.truncate(self.prefix.bytes().len());
        self.key.part(id.bytes());
        KeyRef::of_parts(self.prefix, id, &self.key.bytes)
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
    fn the_key_of_an_id_is_that_of_its_prefix_and_itself() {
        let prefix = key(&["a", "b"]);
        let mut batch = BatchKeys::new(prefix.prefix());
        for id in ["1", "", "22"] {
            assert_eq!(batch.of(KeyRef::of(id.as_bytes())), key(&["a", "b", id]).to_key_ref());
        }
    }
}

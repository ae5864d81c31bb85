//! Keys by their bytes. A key is hashed once; the hash travels with the key to every table that holds it.
//!
//! [`KeyRef`] is borrowed bytes and their hash, [`SharedKey`] owns them. [`KeyMap`] is a table of keys, [`KeyList`] a list,
//! [`Interner`] numbers distinct keys in the order of their first occurrence. A table of another crate takes both kinds of keys with
//! [`CarriedHash`].
//!
//! **Invariant:** all hashes of a process come from one random state, so equal keys have equal hashes in all tables, and no
//! client can choose keys that collide.
//!
//! **Cost:** a look-up is a comparison of bytes; a table that grows does not hash its keys again.

use foldhash::quality::RandomState;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock};

static STATE: LazyLock<RandomState> = LazyLock::new(RandomState::default);

#[cfg(debug_assertions)]
thread_local! {
    static HASHED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Number of keys that this thread has hashed. Debug builds only: tests assert differences of it.
#[cfg(debug_assertions)]
pub fn hashed_by_this_thread() -> u64 {
    HASHED.get()
}

/// Hash of `key`. The only place where bytes of a key are hashed.
pub(crate) fn hash_of<T: Hash>(key: &[T]) -> u64 {
    #[cfg(debug_assertions)]
    HASHED.set(HASHED.get() + 1);
    STATE.hash_one(key)
}

/// Bytes of a key and their hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRef<'k> {
    hash: u64,
    bytes: &'k [u8],
}

impl<'k> KeyRef<'k> {
    /// Hashes `bytes`.
    pub fn of(bytes: &'k [u8]) -> Self {
        Self { hash: hash_of(bytes), bytes }
    }

    /// The key `bytes` of two parts whose hashes are known. Keys made by this function equal no keys made by [`KeyRef::of`].
    pub fn of_parts(first: KeyRef<'_>, last: KeyRef<'_>, bytes: &'k [u8]) -> Self {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let product = u128::from(first.hash.rotate_left(32) ^ last.hash) * u128::from(ODD);
        Self { hash: (product as u64) ^ (product >> 64) as u64, bytes }
    }

    /// The bytes.
    pub fn bytes(&self) -> &'k [u8] {
        self.bytes
    }
}

impl Hash for KeyRef<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// A key that several tables and tasks hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedKey {
    hash: u64,
    bytes: Arc<[u8]>,
}

impl SharedKey {
    /// Borrows the key.
    pub fn as_key_ref(&self) -> KeyRef<'_> {
        KeyRef { hash: self.hash, bytes: &self.bytes }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl From<KeyRef<'_>> for SharedKey {
    fn from(key: KeyRef<'_>) -> Self {
        Self { hash: key.hash, bytes: key.bytes.into() }
    }
}

impl Hash for SharedKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl quick_cache::Equivalent<SharedKey> for KeyRef<'_> {
    fn equivalent(&self, key: &SharedKey) -> bool {
        *self == key.as_key_ref()
    }
}

/// Hasher of tables whose keys carry their hash.
#[derive(Clone, Copy, Debug, Default)]
pub struct CarriedHash;

/// State of [`CarriedHash`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Carried(u64);

impl BuildHasher for CarriedHash {
    type Hasher = Carried;

    fn build_hasher(&self) -> Carried {
        Carried::default()
    }
}

impl Hasher for Carried {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash_of(bytes);
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// A table from keys to values.
#[derive(Debug)]
pub struct KeyMap<V>(HashTable<(SharedKey, V)>);

impl<V> Default for KeyMap<V> {
    fn default() -> Self {
        Self(HashTable::new())
    }
}

impl<V> KeyMap<V> {
    /// The value of `key`.
    pub fn get(&self, key: KeyRef<'_>) -> Option<&V> {
        self.0.find(key.hash, |it| it.0.as_key_ref() == key).map(|it| &it.1)
    }

    /// Inserts a key that is not in the table.
    pub fn insert_new(&mut self, key: SharedKey, value: V) {
        self.0.insert_unique(key.hash, (key, value), |it| it.0.hash);
    }

    /// Removes `key`.
    pub fn remove(&mut self, key: KeyRef<'_>) {
        if let Ok(found) = self.0.find_entry(key.hash, |it| it.0.as_key_ref() == key) {
            found.remove();
        }
    }
}

/// The index of the shard of `key`, of `parts` shards with a lock each.
pub(crate) fn part_of(key: KeyRef<'_>, parts: usize) -> usize {
    // A table uses the lowest and the highest bits.
    (key.hash >> 32) as usize % parts
}

#[derive(Clone, Copy, Debug)]
struct Known {
    hash: u64,
    /// End of the key in [`KeyList::units`].
    end: usize,
}

/// Keys and their hashes, one after another in one buffer. A key is a slice of bytes or of other units.
#[derive(Debug)]
pub struct KeyList<T = u8> {
    /// All keys, and behind them the key that is being written.
    units: Vec<T>,
    known: Vec<Known>,
}

impl<T> Default for KeyList<T> {
    fn default() -> Self {
        Self { units: Vec::new(), known: Vec::new() }
    }
}

impl<T: Copy + Eq + Hash> KeyList<T> {
    /// Number of keys.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// True if there are no keys.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Makes room for `keys` more keys of `units` units together.
    pub fn reserve(&mut self, keys: usize, units: usize) {
        self.units.reserve(units);
        self.known.reserve(keys);
    }

    /// The buffer to whose end the next key is written.
    pub fn write(&mut self) -> &mut Vec<T> {
        &mut self.units
    }

    /// Takes back the units written since the last key.
    pub fn discard(&mut self) {
        self.units.truncate(self.end());
    }

    /// Adds the written key.
    pub fn push_written(&mut self) {
        let hash = hash_of(self.written_units());
        self.add(hash);
    }

    fn add(&mut self, hash: u64) {
        self.known.push(Known { hash, end: self.units.len() });
    }

    fn written_units(&self) -> &[T] {
        &self.units[self.end()..]
    }

    /// End of the last key.
    fn end(&self) -> usize {
        self.known.last().map_or(0, |it| it.end)
    }

    fn units_of(&self, at: usize) -> &[T] {
        &self.units[if at == 0 { 0 } else { self.known[at - 1].end }..self.known[at].end]
    }
}

impl KeyList {
    /// Adds `key`.
    pub fn push(&mut self, key: KeyRef<'_>) {
        self.discard();
        self.units.extend_from_slice(key.bytes);
        self.add(key.hash);
    }

    /// The key at this place.
    pub fn key(&self, at: usize) -> KeyRef<'_> {
        KeyRef { hash: self.known[at].hash, bytes: self.units_of(at) }
    }

    /// All keys.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = KeyRef<'_>> {
        (0..self.len()).map(|at| self.key(at))
    }
}

/// Numbers distinct keys: 0, 1, 2 … in the order of their first occurrence.
#[derive(Debug)]
pub struct Interner<T = u8> {
    /// By number.
    list: KeyList<T>,
    table: HashTable<u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { list: KeyList::default(), table: HashTable::new() }
    }
}

impl<T: Copy + Eq + Hash> Interner<T> {
    /// Makes room for `keys` more keys of `units` units together.
    pub fn reserve(&mut self, keys: usize, units: usize) {
        self.list.reserve(keys, units);
        self.table.reserve(keys, |&at| self.list.known[at as usize].hash);
    }

    /// Number of distinct keys.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// True if there are no keys.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The buffer to whose end a key is written, for [`Interner::intern_written`].
    pub fn write(&mut self) -> &mut Vec<T> {
        self.list.write()
    }

    /// Takes back the units written since the last key.
    pub fn discard(&mut self) {
        self.list.discard();
    }

    /// The number of the key written by [`Interner::write`]; true if the key is new.
    pub fn intern_written(&mut self) -> (u32, bool) {
        let Self { list, table } = self;
        let written = list.written_units();
        let hash = hash_of(written);
        if let Some(&number) = table.find(hash, |&at| list.units_of(at as usize) == written) {
            list.discard();
            return (number, false);
        }
        (self.add(hash), true)
    }

    /// Numbers the key that is written, which is a new one.
    fn add(&mut self, hash: u64) -> u32 {
        let number = self.list.len() as u32;
        self.list.add(hash);
        self.table.insert_unique(hash, number, |&at| self.list.known[at as usize].hash);
        number
    }
}

impl Interner {
    /// The number of `key`; true if the key is new.
    pub fn intern(&mut self, key: KeyRef<'_>) -> (u32, bool) {
        if let Some(number) = self.find(key) {
            return (number, false);
        }
        self.list.discard();
        self.list.write().extend_from_slice(key.bytes);
        (self.add(key.hash), true)
    }

    /// The number of `key`, if it is known.
    pub fn find(&self, key: KeyRef<'_>) -> Option<u32> {
        self.table.find(key.hash, |&at| self.list.units_of(at as usize) == key.bytes).copied()
    }

    /// The key with this number.
    pub fn key(&self, number: u32) -> KeyRef<'_> {
        self.list.key(number as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_have_one_number_in_whichever_way_they_come() {
        let mut keys = Interner::default();
        keys.write().extend(b"one");
        assert_eq!(keys.intern_written(), (0, true));
        assert_eq!(keys.intern(KeyRef::of(b"two")), (1, true));
        assert_eq!(keys.intern(KeyRef::of(b"one")), (0, false));
        keys.write().extend(b"tw");
        keys.discard();
        keys.write().extend(b"two");
        assert_eq!(keys.intern_written(), (1, false));
        assert_eq!((keys.len(), keys.key(0).bytes(), keys.key(1).bytes()), (2, &b"one"[..], &b"two"[..]));
        assert_eq!((keys.find(KeyRef::of(b"two")), keys.find(KeyRef::of(b""))), (Some(1), None));
    }

    #[cfg(debug_assertions)]
    #[test]
    fn a_table_that_grows_hashes_no_key_again() {
        let mut keys = Interner::default();
        let mut map = KeyMap::default();
        let before = hashed_by_this_thread();
        for number in 0..1000_u32 {
            let bytes = number.to_le_bytes();
            let key = KeyRef::of(&bytes);
            assert_eq!(keys.intern(key), (number, true));
            map.insert_new(key.into(), number);
            assert_eq!(map.get(key), Some(&number));
            if number % 2 == 0 {
                map.remove(key);
                assert_eq!(map.get(key), None);
            }
        }
        assert_eq!(hashed_by_this_thread() - before, 1000);
    }

    #[test]
    fn a_cache_finds_an_owned_key_by_a_borrowed_one() {
        type Cache = quick_cache::unsync::Cache<SharedKey, u8, quick_cache::UnitWeighter, CarriedHash>;
        let mut cache = Cache::with(8, 8, quick_cache::UnitWeighter, CarriedHash, Default::default());
        let first = KeyRef::of(b"a");
        let last = KeyRef::of(b"b");
        let key = KeyRef::of_parts(first, last, b"ab");
        cache.insert(key.into(), 1);
        assert_eq!(cache.get(&key), Some(&1));
        assert_eq!(cache.get(&KeyRef::of_parts(last, first, b"ba")), None);
    }
}

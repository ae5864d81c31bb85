//! Opaque cursors: a key as text, with a checksum over it and the name of its connection.
//!
//! **Invariant:** `read` gives the key that `write` got, or nothing.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Digits of the checksum.
const CHECKSUM_LEN: usize = 8;

/// A key by which a list is ordered, unique in the list: a number, a text, or a tuple of them.
/// [`connection!`](crate::connection!) has an example.
pub trait CursorKey: Sized {
    /// Appends its parts.
    fn write(&self, parts: &mut Vec<String>);
    /// Takes its parts.
    fn read(parts: &mut dyn Iterator<Item = &str>) -> Option<Self>;
}

macro_rules! parsed {
    ($($rust:ty),*) => { $(
        impl CursorKey for $rust {
            fn write(&self, parts: &mut Vec<String>) {
                parts.push(self.to_string());
            }
            fn read(parts: &mut dyn Iterator<Item = &str>) -> Option<Self> {
                parts.next()?.parse().ok()
            }
        }
    )* };
}
parsed!(i32, i64, String);

impl<A: CursorKey, B: CursorKey> CursorKey for (A, B) {
    fn write(&self, parts: &mut Vec<String>) {
        self.0.write(parts);
        self.1.write(parts);
    }
    fn read(parts: &mut dyn Iterator<Item = &str>) -> Option<Self> {
        Some((A::read(parts)?, B::read(parts)?))
    }
}

/// FNV-1a of 32 bits.
fn checksum(connection: &str, key: &str) -> String {
    let bytes = connection.bytes().chain([0]).chain(key.bytes());
    let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{hash:08x}")
}

/// Joins the parts, each prefixed with its length.
fn join_with_lengths(parts: &[String]) -> String {
    parts.iter().map(|it| format!("{}:{it}", it.len())).collect()
}

fn split(mut text: &str) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    while !text.is_empty() {
        let (len, rest) = text.split_once(':')?;
        let (part, rest) = rest.split_at_checked(len.parse().ok()?)?;
        parts.push(part);
        text = rest;
    }
    Some(parts)
}

/// The cursor of `key` in `connection`.
pub(super) fn write<K: CursorKey>(connection: &str, key: &K) -> String {
    let mut parts = Vec::new();
    key.write(&mut parts);
    let key = join_with_lengths(&parts);
    URL_SAFE_NO_PAD.encode(checksum(connection, &key) + &key)
}

/// The key of a cursor that `connection` wrote.
pub(super) fn read<K: CursorKey>(connection: &str, text: &str) -> Option<K> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
    let (sum, key) = text.split_at_checked(CHECKSUM_LEN)?;
    if sum != checksum(connection, key) {
        return None;
    }
    let mut parts = split(key)?.into_iter();
    let key = K::read(&mut parts)?;
    parts.next().is_none().then_some(key)
}

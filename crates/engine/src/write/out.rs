//! The buffer a response is written into: keys, numbers, escaped strings, and taking them back.
//!
//! Every member of an object or list ends with `,`; the closer overwrites the last one. A null that bubbles
//! truncates to the mark where its nullable parent began.
//!
//! **Cost:** no allocation once the buffer has grown to its answer; a key is one 32-byte store.

use crate::plan::shape::Key;

/// The buffer.
#[derive(Debug, Default)]
pub struct Out {
    bytes: Vec<u8>,
}

impl Out {
    /// Wraps `bytes`, which may hold something already.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }
    /// The bytes so far.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
    /// The bytes so far.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
    /// The number of bytes so far: a mark for [`Out::truncate`].
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }
    /// Whether nothing was written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
    /// Takes back all after `mark`.
    pub fn truncate(&mut self, mark: usize) {
        self.bytes.truncate(mark);
    }
    /// `"title":`.
    #[inline]
    pub fn key(&mut self, key: &Key) {
        self.bytes.extend_from_slice(key.bytes());
    }
    /// Bytes that are JSON already.
    #[inline]
    pub fn raw(&mut self, json: &[u8]) {
        self.bytes.extend_from_slice(json);
    }
    /// `,` after a member.
    #[inline]
    pub fn comma(&mut self) {
        self.bytes.push(b',');
    }
    /// `{` or `[`.
    #[inline]
    pub fn open(&mut self, bracket: u8) {
        self.bytes.push(bracket);
    }
    /// `}` or `]`, in the place of the last comma if there is one.
    #[inline]
    pub fn close(&mut self, bracket: u8) {
        match self.bytes.last_mut() {
            Some(last) if *last == b',' => *last = bracket,
            Some(_) | None => self.bytes.push(bracket),
        }
    }
    /// An integer.
    #[inline]
    pub fn int(&mut self, value: i64) {
        self.bytes.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }
    /// A finite number by its shortest digits; `false` (and nothing written) if it is not finite.
    #[inline]
    pub fn float(&mut self, value: f64) -> bool {
        if value.is_finite() {
            self.bytes.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
        }
        value.is_finite()
    }
    /// `true` or `false`.
    #[inline]
    pub fn bool(&mut self, value: bool) {
        self.raw(if value { b"true" } else { b"false" });
    }
    /// `null`.
    #[inline]
    pub fn null(&mut self) {
        self.raw(b"null");
    }
    /// A JSON string with its quotes. Source: RFC 8259, section 7.
    pub fn string(&mut self, text: &str) {
        self.bytes.push(b'"');
        let bytes = text.as_bytes();
        let mut clean = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            if byte >= 0x20 && byte != b'"' && byte != b'\\' {
                continue;
            }
            self.bytes.extend_from_slice(&bytes[clean..at]);
            clean = at + 1;
            let hex = b"0123456789abcdef";
            match byte {
                b'"' => self.raw(b"\\\""),
                b'\\' => self.raw(b"\\\\"),
                b'\n' => self.raw(b"\\n"),
                b'\r' => self.raw(b"\\r"),
                b'\t' => self.raw(b"\\t"),
                8 => self.raw(b"\\b"),
                12 => self.raw(b"\\f"),
                _ => self.raw(&[
                    b'\\',
                    b'u',
                    b'0',
                    b'0',
                    hex[usize::from(byte >> 4)],
                    hex[usize::from(byte & 15)],
                ]),
            }
        }
        self.bytes.extend_from_slice(&bytes[clean..]);
        self.bytes.push(b'"');
    }
}

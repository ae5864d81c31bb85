//! A statement as a plan keeps it, and the values one request binds to it.
//!
//! Values travel in text format, so that a string fits every type and no digit is touched; they are written once, in the form in
//! which they go to the server.
//!
//! **Cost:** a request with up to `INLINE_BYTES` bytes of values allocates nothing.

use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of values that need no allocation.
const INLINE_BYTES: usize = 64;

/// The bytes of values while they are written.
pub type Buffer = SmallVec<[u8; INLINE_BYTES]>;

/// How a value of a result column travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i16)]
pub enum Format {
    /// PostgreSQL's own text.
    Text = 0,
    /// The type's binary form.
    Binary = 1,
}

/// A statement's text and what is needed to bind and read it.
#[derive(Debug)]
pub struct Statement {
    /// Its number in this process: connections know by it what they have prepared, the lane what is equal.
    pub id: u64,
    /// The text, parameters written `$1`, `$2`, ….
    pub sql: Box<str>,
    /// OID of each parameter's type; 0 lets PostgreSQL infer it.
    pub parameters: Box<[u32]>,
    /// How each result column travels.
    pub formats: Box<[Format]>,
    /// OID of each result column's type as the server describes it, a domain by its base: looked at whenever a connection
    /// prepares the statement, so that no value is decoded as what it is no longer. Empty: not looked at.
    pub columns: Box<[u32]>,
    /// The same question for many at once. Its parameter i is an array literal of the originals' parameter i; result column 0
    /// is the ordinal of the asker (int8, from 1), the original's columns follow; at most one row for each asker.
    pub merged: Option<Arc<Self>>,
}

impl Statement {
    /// Gives the statement a number of its own.
    #[must_use]
    pub fn new(
        sql: impl Into<Box<str>>,
        parameters: impl Into<Box<[u32]>>,
        formats: impl Into<Box<[Format]>>,
        columns: impl Into<Box<[u32]>>,
        merged: Option<Arc<Self>>,
    ) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let (sql, parameters) = (sql.into(), parameters.into());
        Arc::new(Self { id, sql, parameters, formats: formats.into(), columns: columns.into(), merged })
    }
}

/// Values of one request, in the wire's form: a length of four bytes (-1 is null) and the bytes of each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Parameters {
    bytes: Buffer,
    count: u32,
}

impl Parameters {
    /// No values yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a null.
    pub fn push_null(&mut self) {
        self.bytes.extend_from_slice(&(-1_i32).to_be_bytes());
        self.count += 1;
    }

    /// Adds a value in text format.
    pub fn push(&mut self, value: &[u8]) {
        self.push_with(|bytes| bytes.extend_from_slice(value));
    }

    /// Adds the value that `write` appends; it must touch nothing before.
    pub fn push_with<T>(&mut self, write: impl FnOnce(&mut Buffer) -> T) -> T {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        let written = write(&mut self.bytes);
        // A value beyond two gigabytes cannot come: requests are bounded far below.
        let length = i32::try_from(self.bytes.len() - start - 4).unwrap_or(i32::MAX);
        self.bytes[start..start + 4].copy_from_slice(&length.to_be_bytes());
        self.count += 1;
        written
    }

    /// How many values there are.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The values as they travel, without their count.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The values again: `None` is null.
    pub fn iter(&self) -> impl Iterator<Item = Option<&[u8]>> {
        super::rows::Columns::new(&self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_they_travel() {
        let mut parameters = Parameters::new();
        parameters.push(b"42");
        parameters.push_null();
        parameters.push(b"");
        let answer = parameters.push_with(|bytes| {
            bytes.extend_from_slice(b"{1,2}");
            7
        });
        assert_eq!(answer, 7);
        assert_eq!(parameters.count(), 4);
        assert_eq!(
            parameters.as_bytes(),
            b"\x00\x00\x00\x0242\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x05{1,2}"
        );
        let values: Vec<_> = parameters.iter().collect();
        assert_eq!(values, [Some(&b"42"[..]), None, Some(b""), Some(b"{1,2}")]);
    }

    #[test]
    fn every_statement_has_its_own_number() {
        let [one, other] = [(); 2].map(|()| Statement::new("SELECT 1", [], [Format::Binary], [23], None));
        assert_ne!(one.id, other.id);
    }
}

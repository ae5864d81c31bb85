//! Messages to the server, and the fields of those that come back.
//!
//! **Cost:** binding copies the parameters, which are in the wire's form already, once.

use crate::error::Error;
use crate::protocol::statement::{Format, Parameters, Statement};
use bytes::{BufMut, BytesMut};
use std::io::Write;
use weir_relational::catalog::postgres_types::oid;

/// The name of a statement or a portal on its connection.
pub(crate) struct Name {
    bytes: [u8; 24],
    length: usize,
}

impl Name {
    /// The name of a statement by its number.
    pub(crate) fn of(id: u64) -> Self {
        Self::from_number('s', id)
    }

    /// The name of a portal by its number.
    pub(crate) fn of_portal(number: u32) -> Self {
        Self::from_number('p', u64::from(number))
    }

    fn from_number(letter: char, number: u64) -> Self {
        let mut name = Self { bytes: [0; 24], length: 0 };
        let mut rest = &mut name.bytes[..];
        // Twenty digits and a letter fit.
        let left = write!(rest, "{letter}{number}").map_or(0, |()| rest.len());
        name.length = name.bytes.len() - left;
        name
    }

    /// No name: the statement or portal lives until the next.
    pub(crate) const NONE: Self = Self { bytes: [0; 24], length: 0 };

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Appends a message: its tag, its length, and the body that `write` appends.
fn message(out: &mut BytesMut, tag: u8, write: impl FnOnce(&mut BytesMut)) {
    out.put_u8(tag);
    let start = out.len();
    out.put_u32(0);
    write(out);
    // Statements and parameters are bounded far below four gigabytes.
    let length = u32::try_from(out.len() - start).unwrap_or(u32::MAX);
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

fn text(out: &mut BytesMut, text: &[u8]) {
    out.put_slice(text);
    out.put_u8(0);
}

/// A count of two bytes, which the protocol reads without sign.
fn count(out: &mut BytesMut, count: usize) {
    out.put_u16(u16::try_from(count).unwrap_or(u16::MAX));
}

/// Has a statement parsed; with `describe` the server also reports its result columns.
pub(crate) fn parse(out: &mut BytesMut, name: &Name, statement: &Statement) {
    message(out, b'P', |out| {
        text(out, name.as_bytes());
        text(out, statement.sql.as_bytes());
        count(out, statement.parameters.len());
        statement.parameters.iter().for_each(|oid| out.put_u32(*oid));
    });
    if !statement.columns.is_empty() {
        message(out, b'D', |out| {
            out.put_u8(b'S');
            text(out, name.as_bytes());
        });
    }
}

/// Binds `parameters` to the statement `name`, as the portal `portal`.
///
/// # Errors
/// More than 65,535 parameters.
pub(crate) fn bind(
    out: &mut BytesMut,
    portal: &Name,
    name: &Name,
    parameters: &Parameters,
    formats: &[Format],
) -> Result<(), Error> {
    if parameters.count() > u32::from(u16::MAX) {
        return Err(Error::Protocol("a statement has more than 65,535 parameters".into()));
    }
    message(out, b'B', |out| {
        text(out, portal.as_bytes());
        text(out, name.as_bytes());
        // No formats: all parameters are texts.
        out.put_u16(0);
        count(out, parameters.count() as usize);
        out.put_slice(parameters.as_bytes());
        result_formats(out, formats);
    });
    Ok(())
}

/// Has rows of a portal given: the next `rows_max`, or with 0 all.
pub(crate) fn execute(out: &mut BytesMut, portal: &Name, rows_max: u32) {
    message(out, b'E', |out| {
        text(out, portal.as_bytes());
        out.put_u32(rows_max);
    });
}

/// One format stands for all columns when they are alike.
fn result_formats(out: &mut BytesMut, formats: &[Format]) {
    match formats.split_first() {
        None => out.put_u16(0),
        Some((first, rest)) if rest.iter().all(|it| it == first) => {
            out.put_u16(1);
            out.put_i16(*first as i16);
        }
        Some(_) => {
            count(out, formats.len());
            formats.iter().for_each(|it| out.put_i16(*it as i16));
        }
    }
}

/// Forgets a prepared statement.
pub(crate) fn close(out: &mut BytesMut, name: &Name) {
    message(out, b'C', |out| {
        out.put_u8(b'S');
        text(out, name.as_bytes());
    });
}

/// Makes the server send what it has answered so far.
pub(crate) fn flush(out: &mut BytesMut) {
    message(out, b'H', |_| {});
}

/// Ends a batch: the server answers that it is ready, and recovers from an error.
pub(crate) fn sync(out: &mut BytesMut) {
    message(out, b'S', |_| {});
}

/// Number of affected rows: the last word of the command tag, `INSERT 0 3`.
pub(crate) fn read_affected_rows(body: &[u8]) -> u64 {
    let tag = body.strip_suffix(&[0]).unwrap_or(body);
    let digits = tag.rsplit(|it| *it == b' ').next().unwrap_or_default();
    digits
        .iter()
        .try_fold(0_u64, |sum, it| match it {
            b'0'..=b'9' => sum.checked_mul(10)?.checked_add(u64::from(it - b'0')),
            _ => None,
        })
        .unwrap_or(0)
}

/// True if a row description has the types `expected`; 0 is any.
pub(crate) fn has_columns(body: &[u8], expected: &[u32]) -> bool {
    let is_one = |(found, expected): (&u32, &u32)| *expected == 0 || alike(*found) == alike(*expected);
    oids(body).is_some_and(|found| found.len() == expected.len() && found.iter().zip(expected).all(is_one))
}

/// One type for all types with the same wire format.
fn alike(ty: u32) -> u32 {
    match ty {
        oid::VARCHAR | oid::BPCHAR | oid::NAME => oid::TEXT,
        other => other,
    }
}

/// The names in a description of result columns.
pub(crate) fn names(body: &[u8]) -> Vec<String> {
    let Some((count, mut rest)) = body.split_first_chunk::<2>() else { return Vec::new() };
    let name = |_| {
        let end = memchr::memchr(0, rest)?;
        let name = String::from_utf8_lossy(&rest[..end]).into_owned();
        rest = rest.get(end + 19..)?;
        Some(name)
    };
    (0..u16::from_be_bytes(*count)).map_while(name).collect()
}

/// Names and numbers of types in a description of result columns.
pub(crate) fn columns(body: &[u8]) -> Vec<(String, u32)> {
    names(body).into_iter().zip(oids(body).unwrap_or_default()).collect()
}

/// The types in a description of result columns: each a name, table, column number, type, length, modifier and format.
fn oids(body: &[u8]) -> Option<Vec<u32>> {
    let (count, mut rest) = body.split_first_chunk::<2>()?;
    (0..u16::from_be_bytes(*count))
        .map(|_| {
            let end = memchr::memchr(0, rest)?;
            let fields = rest.get(end + 1..end + 19)?;
            rest = &rest[end + 19..];
            fields[6..10].try_into().ok().map(u32::from_be_bytes)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_parsed_bound_and_executed_in_three_messages() {
        let statement = Statement::new("SELECT $1", [25], [Format::Binary; 3], [], None);
        let mut parameters = Parameters::new();
        parameters.push(b"7");
        let mut out = BytesMut::new();
        parse(&mut out, &Name::of(12), &statement);
        assert_eq!(out.split(), &b"P\0\0\0\x18s12\0SELECT $1\0\0\x01\0\0\0\x19"[..]);
        bind(&mut out, &Name::NONE, &Name::of(12), &parameters, &statement.formats).unwrap();
        assert_eq!(out.split(), &b"B\0\0\0\x16\0s12\0\0\0\0\x01\0\0\0\x017\0\x01\0\x01"[..]);
        execute(&mut out, &Name::NONE, 0);
        assert_eq!(out.split(), &b"E\0\0\0\x09\0\0\0\0\0"[..]);
        execute(&mut out, &Name::of_portal(3), 258);
        assert_eq!(out.split(), &b"E\0\0\0\x0bp3\0\0\0\x01\x02"[..]);
        sync(&mut out);
        assert_eq!(out.split(), &b"S\0\0\0\x04"[..]);
    }

    #[test]
    fn formats_that_differ_are_all_said() {
        let mut out = BytesMut::new();
        result_formats(&mut out, &[Format::Binary, Format::Text]);
        assert_eq!(out.split(), &b"\0\x02\0\x01\0\0"[..]);
    }

    #[test]
    fn a_tag_ends_with_the_number_of_rows() {
        let tags = [&b"INSERT 0 3\0"[..], b"SELECT 12\0", b"BEGIN\0", b"\0", b"X 99999999999999999999999\0"];
        assert_eq!(tags.map(read_affected_rows), [3, 12, 0, 0, 0]);
    }

    #[test]
    fn columns_are_known_by_their_types() {
        let mut body = b"\0\x02".to_vec();
        for (name, oid) in [("a", 23_u32), ("b", 25)] {
            body.extend_from_slice(name.as_bytes());
            body.extend_from_slice(&[0; 7]);
            body.extend_from_slice(&oid.to_be_bytes());
            body.extend_from_slice(&[0; 8]);
        }
        assert!(has_columns(&body, &[23, 25]));
        assert!(has_columns(&body, &[0, 1043]));
        assert!(!has_columns(&body, &[23]));
        assert!(!has_columns(&body, &[23, 20]));
        assert!(!has_columns(&body[..12], &[23, 25]));
    }
}

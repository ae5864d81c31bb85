//! Rows as they came: whole messages of the wire, walked in place.
//!
//! **Invariant:** lengths of messages were checked when they were read; lengths of columns are checked here, and a row that
//! lies about them ends early instead of reading its neighbour.
//!
//! **Cost:** a clone counts a reference up; nothing is copied or allocated for a row.

use bytes::Bytes;
use smallvec::SmallVec;
use std::ops::Range;

/// The tag of the messages that are rows.
const DATA_ROW: u8 = b'D';
/// Tag and length of a message.
const HEADER_BYTES: usize = 5;

/// The answer of one statement.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    messages: Bytes,
    /// Number of leading columns that are not the asker's.
    hidden: u8,
    /// Number of rows that a write changed or a read returned.
    pub affected: u64,
}

impl Rows {
    /// `messages`: whole messages, one after another; those that are no rows are passed over.
    pub fn new(messages: Bytes, affected: u64) -> Self {
        Self { messages, hidden: 0, affected }
    }

    /// The rows in the order in which they came.
    #[inline]
    pub fn iter(&self) -> RowsIter<'_> {
        RowsIter { rest: &self.messages[..], hidden: self.hidden }
    }

    /// The rows of each asker of a merged statement: the first column says whose a row is, from 1.
    pub(crate) fn split_merged(&self, askers: usize, is_binary: bool) -> Vec<Self> {
        // Runs of whole messages, one where an asker's rows stand together.
        let mut runs: Vec<SmallVec<[Range<usize>; 1]>> = vec![SmallVec::new(); askers];
        let mut counts = vec![0; askers];
        let mut from = 0;
        while let Some((tag, body, rest)) = split(&self.messages[from..]) {
            let to = self.messages.len() - rest.len();
            let ordinal = (tag == DATA_ROW).then(|| Row::new(body, 0).column(0).flatten()).flatten();
            let place = ordinal.and_then(|it| ordinal_of(it, is_binary)).and_then(|it| it.checked_sub(1));
            if let Some((at, runs)) = place.and_then(|it| Some((it, runs.get_mut(it)?))) {
                counts[at] += 1;
                match runs.last_mut().filter(|it| it.end == from) {
                    Some(last) => last.end = to,
                    None => runs.push(from..to),
                }
            }
            from = to;
        }
        let part = |(runs, affected)| Self { messages: self.concat_runs(runs), hidden: 1, affected };
        runs.iter().map(SmallVec::as_slice).zip(counts).map(part).collect()
    }

    /// Concatenates the messages of `runs`; one run is shared without a copy.
    fn concat_runs(&self, runs: &[Range<usize>]) -> Bytes {
        match runs {
            [] => Bytes::new(),
            [run] => self.messages.slice(run.clone()),
            runs => {
                runs.iter().flat_map(|it| &self.messages[it.clone()]).copied().collect::<Vec<u8>>().into()
            }
        }
    }

    /// Bytes on the wire.
    pub fn bytes_len(&self) -> usize {
        self.messages.len()
    }
}

/// An int8.
fn ordinal_of(value: &[u8], is_binary: bool) -> Option<usize> {
    if is_binary {
        usize::try_from(i64::from_be_bytes(value.try_into().ok()?)).ok()
    } else {
        std::str::from_utf8(value).ok()?.parse().ok()
    }
}

/// Walks the rows of an answer.
#[derive(Clone, Debug)]
pub struct RowsIter<'r> {
    rest: &'r [u8],
    hidden: u8,
}

impl<'r> Iterator for RowsIter<'r> {
    type Item = Row<'r>;

    #[inline]
    fn next(&mut self) -> Option<Row<'r>> {
        loop {
            let (tag, body, after) = split(self.rest)?;
            self.rest = after;
            if tag == DATA_ROW {
                return Some(Row::new(body, self.hidden));
            }
        }
    }
}

/// Splits off the first message of `bytes`: its tag, its body, and the rest. `None` if the message is incomplete.
#[inline]
pub fn split(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, a, b, c, d], rest) = bytes.split_first_chunk::<HEADER_BYTES>()?;
    let length = (u32::from_be_bytes([a, b, c, d]) as usize).checked_sub(4)?;
    let (body, after) = rest.split_at_checked(length)?;
    Some((tag, body, after))
}

#[derive(Clone, Copy, Debug)]
pub struct Row<'r> {
    columns: Columns<'r>,
}

impl<'r> Row<'r> {
    /// `body`: of a message that is a row.
    #[inline]
    fn new(body: &'r [u8], hidden: u8) -> Self {
        let mut columns = Columns::new(body.get(2..).unwrap_or_default());
        for _ in 0..hidden {
            columns.next();
        }
        Self { columns }
    }

    /// Columns of the row in order: `None` is null.
    #[inline]
    pub fn columns(&self) -> Columns<'r> {
        self.columns
    }

    /// Column `at`, from 0: the outer `None` if there is none. Walks those before it.
    pub fn column(&self, at: usize) -> Option<Option<&'r [u8]>> {
        self.columns().nth(at)
    }
}

/// Walks values that are each a length of four bytes (-1 is null) and the bytes.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'r>(&'r [u8]);

impl<'r> Columns<'r> {
    #[inline]
    pub(crate) fn new(bytes: &'r [u8]) -> Self {
        Self(bytes)
    }

    /// The columns after the first `count` bytes. `count` has to end at a column's border.
    #[inline]
    pub(crate) fn skip_bytes(self, count: usize) -> Self {
        Self(self.0.get(count..).unwrap_or_default())
    }

    #[inline]
    pub(crate) const fn bytes_len(self) -> usize {
        self.0.len()
    }
}

impl<'r> Iterator for Columns<'r> {
    type Item = Option<&'r [u8]>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (length, rest) = self.0.split_first_chunk::<4>()?;
        let length = i32::from_be_bytes(*length);
        let Ok(length) = usize::try_from(length) else {
            self.0 = rest;
            return Some(None);
        };
        let Some((value, rest)) = rest.split_at_checked(length) else {
            self.0 = &[];
            return None;
        };
        self.0 = rest;
        Some(Some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message that is a row of `values`.
    fn row(values: &[Option<&str>]) -> Vec<u8> {
        let mut body = u16::try_from(values.len()).unwrap().to_be_bytes().to_vec();
        for value in values {
            let length = value.map_or(-1, |it| i32::try_from(it.len()).unwrap());
            body.extend_from_slice(&length.to_be_bytes());
            body.extend_from_slice(value.unwrap_or_default().as_bytes());
        }
        message(DATA_ROW, &body)
    }

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let mut message = vec![tag];
        message.extend_from_slice(&u32::try_from(body.len() + 4).unwrap().to_be_bytes());
        message.extend_from_slice(body);
        message
    }

    fn check(rows: &Rows, expected: &str) {
        let show =
            |value: Option<&[u8]>| value.map_or("-".into(), |it| String::from_utf8_lossy(it).into_owned());
        let lines: Vec<String> =
            rows.iter().map(|row| row.columns().map(show).collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(lines.join("|"), expected);
    }

    #[test]
    fn rows_and_their_columns_come_in_order() {
        let bytes = [row(&[Some("1"), None, Some("")]), row(&[Some("2"), Some("x"), None])].concat();
        let rows = Rows::new(bytes.into(), 2);
        check(&rows, "1 - |2 x -");
        let first = rows.iter().next().unwrap();
        assert_eq!(first.column(0), Some(Some(&b"1"[..])));
        assert_eq!(first.column(1), Some(None));
        assert_eq!(first.column(3), None);
    }

    #[test]
    fn notices_between_rows_are_passed_over() {
        let bytes = [row(&[Some("1")]), message(b'N', b"SNOTICE\0\0"), row(&[Some("2")])].concat();
        check(&Rows::new(bytes.into(), 2), "1|2");
    }

    #[test]
    fn each_asker_of_a_merged_statement_gets_its_rows_without_the_ordinal() {
        let bytes = [row(&[Some("3"), Some("x"), None]), row(&[Some("1"), Some("y"), Some("z")])].concat();
        let parts = Rows::new(bytes.into(), 2).split_merged(3, false);
        ["y z", "", "x -"].iter().zip(&parts).for_each(|(expected, rows)| check(rows, expected));
        assert_eq!(parts.iter().map(|it| it.affected).collect::<Vec<_>>(), [1, 0, 1]);
        let rows = ["1 a", "1 b", "2 c", "1 d", "2 e", "2 f"].map(|it| {
            let (of, value) = it.split_once(' ').unwrap();
            [row(&[Some(of), Some(value)]), message(b'N', b"SNOTICE\0\0")].concat()
        });
        let parts = Rows::new(rows.concat().into(), 6).split_merged(2, false);
        ["a|b|d", "c|e|f"].iter().zip(&parts).for_each(|(expected, rows)| check(rows, expected));
        assert_eq!(parts.iter().map(|it| it.affected).collect::<Vec<_>>(), [3, 3]);
        let foreign = row(&[Some("\0\0\0\0\0\0\0\x09"), Some("x")]);
        check(&Rows::new(foreign.into(), 1).split_merged(1, true)[0], "");
    }

    #[test]
    fn a_row_that_lies_about_a_length_ends_early() {
        let mut bytes = row(&[Some("1"), Some("22")]);
        let at = bytes.len() - 3;
        bytes[at] = 9;
        check(&Rows::new(bytes.into(), 1), "1");
        check(&Rows::new(row(&[Some("1")])[..8].to_vec().into(), 1), "");
    }
}

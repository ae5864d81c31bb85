//! Reads JSON text into the tape: one loop over values, containers that are open on a stack of places.
//!
//! **Invariant:** what is open in [`Reader::open`] is what the bytes before [`Reader::at`] opened and did not close.
//!
//! **Cost:** one pass; strings are searched a word at a time.
//! Source: RFC 8259.

use super::{JsonError, JsonErrorKind, JsonKind, JsonNode};
use crate::string_value;
use std::collections::HashSet;

/// Beyond this many members keys are hashed, not compared with each other.
const COMPARED_MAX: usize = 8;

/// What is being read.
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    pub(super) at: usize,
    pub(super) nodes: Vec<JsonNode>,
    pub(super) open: Vec<u32>,
    pub(super) depth_max: u32,
}

type Read<T> = Result<T, JsonError>;

impl<'t> Reader<'t> {
    fn error<T>(&self, kind: JsonErrorKind) -> Read<T> {
        Err(JsonError { kind, at: self.at as u32 })
    }

    /// The byte there cannot stand there, or there is none.
    fn unexpected<T>(&self) -> Read<T> {
        let ended = self.at >= self.bytes.len();
        self.error(if ended { JsonErrorKind::UnexpectedEnd } else { JsonErrorKind::UnexpectedByte })
    }

    fn skip_spaces(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// One value with spaces around it, and nothing else.
    pub(super) fn document(&mut self) -> Read<()> {
        self.skip_spaces();
        loop {
            // A value begins here.
            let opened = self.value()?;
            if opened && !self.close_empty()? {
                continue;
            }
            if !self.after_value()? {
                break;
            }
        }
        if self.at < self.bytes.len() { self.error(JsonErrorKind::TrailingBytes) } else { Ok(()) }
    }

    /// Reads a scalar, or the opening bracket of a container; says whether it was a bracket.
    fn value(&mut self) -> Read<bool> {
        match self.bytes.get(self.at) {
            Some(b'{') => self.begin(JsonKind::Object).map(|()| true),
            Some(b'[') => self.begin(JsonKind::Array).map(|()| true),
            Some(b'"') => self.string().map(|()| false),
            Some(b'-' | b'0'..=b'9') => self.number().map(|()| false),
            Some(b't') => self.word("true", JsonKind::True).map(|()| false),
            Some(b'f') => self.word("false", JsonKind::False).map(|()| false),
            Some(b'n') => self.word("null", JsonKind::Null).map(|()| false),
            _ => self.unexpected(),
        }
    }

    fn push(&mut self, kind: JsonKind, start: usize, end: usize) {
        let next = self.nodes.len() as u32 + 1;
        self.nodes.push(JsonNode { kind, start: start as u32, end: end as u32, next });
    }

    fn begin(&mut self, kind: JsonKind) -> Read<()> {
        if self.open.len() >= self.depth_max as usize {
            return self.error(JsonErrorKind::TooDeep);
        }
        self.open.push(self.nodes.len() as u32);
        self.push(kind, self.at, self.at);
        self.at += 1;
        Ok(())
    }

    /// After an opening bracket: closes the container if it is empty, else reads up to its first value.
    fn close_empty(&mut self) -> Read<bool> {
        self.skip_spaces();
        let object = matches!(self.innermost(), Some((_, JsonKind::Object)));
        match self.bytes.get(self.at) {
            Some(b'}') if object => self.close().map(|()| true),
            Some(b']') if !object => self.close().map(|()| true),
            _ if object => self.key().map(|()| false),
            _ => Ok(false),
        }
    }

    fn innermost(&self) -> Option<(usize, JsonKind)> {
        let place = *self.open.last()? as usize;
        Some((place, self.nodes[place].kind))
    }

    /// After a value: closes the containers that end there and reads up to the next value; `false` at the end.
    fn after_value(&mut self) -> Read<bool> {
        loop {
            self.skip_spaces();
            let Some((_, kind)) = self.innermost() else {
                return Ok(false);
            };
            let object = kind == JsonKind::Object;
            match self.bytes.get(self.at) {
                Some(b',') => {
                    self.at += 1;
                    self.skip_spaces();
                    if object {
                        self.key()?;
                    }
                    return Ok(true);
                }
                Some(b'}') if object => self.close()?,
                Some(b']') if !object => self.close()?,
                _ => return self.unexpected(),
            }
        }
    }

    /// `"key":` up to the value.
    fn key(&mut self) -> Read<()> {
        if self.bytes.get(self.at) != Some(&b'"') {
            return self.unexpected();
        }
        self.string()?;
        self.skip_spaces();
        if self.bytes.get(self.at) != Some(&b':') {
            return self.unexpected();
        }
        self.at += 1;
        self.skip_spaces();
        Ok(())
    }

    fn close(&mut self) -> Read<()> {
        self.at += 1;
        let Some((place, kind)) = self.innermost() else {
            return self.unexpected();
        };
        self.open.pop();
        let next = self.nodes.len() as u32;
        self.nodes[place].end = self.at as u32;
        self.nodes[place].next = next;
        if kind == JsonKind::Object { self.check_keys(place) } else { Ok(()) }
    }

    /// Two equal keys in the object at `place` are an error at the second.
    fn check_keys(&self, place: usize) -> Read<()> {
        let nodes = &self.nodes;
        let end = nodes[place].next as usize;
        let after = |key: usize| Some(nodes[key + 1].next as usize).filter(|&key| key < end);
        let keys = || std::iter::successors(Some(place + 1).filter(|&key| key < end), move |&key| after(key));
        let duplicate = |key: usize| JsonError { kind: JsonErrorKind::DuplicateKey, at: nodes[key].start };
        let text = |key: usize| super::string(self.text, nodes[key]);
        if keys().nth(COMPARED_MAX).is_some() {
            let mut seen = HashSet::new();
            return keys()
                .try_for_each(|key| if seen.insert(text(key)) { Ok(()) } else { Err(duplicate(key)) });
        }
        for (number, key) in keys().enumerate().skip(1) {
            if keys().take(number).any(|earlier| text(earlier) == text(key)) {
                return Err(duplicate(key));
            }
        }
        Ok(())
    }

    fn word(&mut self, word: &str, kind: JsonKind) -> Read<()> {
        for expected in word.bytes() {
            if self.bytes.get(self.at) != Some(&expected) {
                return self.unexpected();
            }
            self.at += 1;
        }
        self.push(kind, self.at - word.len(), self.at);
        Ok(())
    }

    fn number(&mut self) -> Read<()> {
        let start = self.at;
        self.at += usize::from(self.bytes[start] == b'-');
        if self.bytes.get(self.at) == Some(&b'0') {
            self.at += 1;
            if matches!(self.bytes.get(self.at), Some(b'0'..=b'9')) {
                return self.error(JsonErrorKind::BadNumber);
            }
        } else {
            self.digits()?;
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.bytes.get(self.at), Some(b'+' | b'-')));
            self.digits()?;
        }
        self.push(JsonKind::Number, start, self.at);
        Ok(())
    }

    /// At least one digit.
    fn digits(&mut self) -> Read<()> {
        let start = self.at;
        while matches!(self.bytes.get(self.at), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { self.error(JsonErrorKind::BadNumber) }
    }

    fn string(&mut self) -> Read<()> {
        self.at += 1;
        let start = self.at;
        let mut escapes = false;
        loop {
            match self.bytes.get(self.at) {
                None => return self.unexpected(),
                Some(b'"') => break,
                Some(b'\\') => {
                    escapes = true;
                    self.escape()?;
                }
                Some(0..0x20) => return self.error(JsonErrorKind::ControlCharacter),
                Some(_) => self.at += 1 + plain(&self.bytes[self.at + 1..]),
            }
        }
        self.push(JsonKind::String { escapes }, start, self.at);
        self.at += 1;
        Ok(())
    }

    fn escape(&mut self) -> Read<()> {
        // The one escape of GraphQL that JSON does not have.
        let braced = self.bytes[self.at..].starts_with(br"\u{");
        match string_value::escape(self.bytes, self.at) {
            Some((_, size)) if !braced => {
                self.at += size;
                Ok(())
            }
            _ => {
                let rest = &self.bytes[self.at..];
                let digits = rest.get(2..6).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
                let surrogate = rest.starts_with(br"\u") && digits;
                self.error(if surrogate { JsonErrorKind::LoneSurrogate } else { JsonErrorKind::BadEscape })
            }
        }
    }
}

/// How many bytes `bytes` begins with that end or break no string: neither `"`, `\` nor control characters. What is
/// left at the end, short of a word, is not counted.
#[inline]
fn plain(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 0xFF;
    // The high bit of each byte that is zero; of bytes above such a one it may be wrong.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word;
    let mut count = 0;
    for chunk in bytes.chunks_exact(8) {
        let word = chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let stops = zeros(word ^ (ONES * 0x22)) | zeros(word ^ (ONES * 0x5C)) | control;
        let stops = stops & (ONES * 0x80);
        if stops != 0 {
            return count + stops.trailing_zeros() as usize / 8;
        }
        count += 8;
    }
    count
}

//! The buffer a response is written into: keys, numbers, escaped strings, and taking them back.
//!
//! Every member of an object or list ends with `,`; the closer overwrites the last one. A null that bubbles
//! truncates to the mark where its nullable parent began.
//!
//! **Cost:** no allocation once the buffer has grown to its answer; a key is one 32-byte store, a member one
//! capacity check.

use super::raw;
use crate::answer::output_plan::ResponseKey;

/// The most bytes copied in one go. The GNU C library before 2.39 uses `rep movsb` for longer copies (from 4096 bytes on where there is
/// AVX). AMD's Zen 3 and 4 execute it at one to two bytes per cycle if both addresses are alike modulo a page.
/// Source: <https://sourceware.org/bugzilla/show_bug.cgi?id=30994>.
const COPY_MAX: usize = 2048;

/// The buffer.
#[derive(Debug, Default)]
pub struct Out {
    bytes: Vec<u8>,
}

impl Out {
    /// Wraps `bytes`, which may hold something already.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }
    /// The bytes so far.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
    /// The bytes so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
    /// The number of bytes so far: a mark for [`Out::truncate`].
    pub fn len(&self) -> usize {
        self.bytes.len()
    }
    /// True if nothing was written.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
    /// Takes back all after `mark`.
    #[inline]
    pub fn truncate(&mut self, mark: usize) {
        self.bytes.truncate(mark);
    }
    /// Makes room for `more` bytes at once.
    #[inline]
    pub fn reserve(&mut self, more: usize) {
        self.bytes.reserve(more);
    }
    /// `"title":`.
    #[inline]
    pub fn key(&mut self, key: &ResponseKey) {
        raw::key(&mut self.bytes, key);
    }
    /// Bytes that are JSON already.
    #[inline]
    pub fn raw(&mut self, json: &[u8]) {
        if json.len() <= COPY_MAX {
            return self.bytes.extend_from_slice(json);
        }
        self.bytes.reserve(json.len());
        json.chunks(COPY_MAX).for_each(|it| self.bytes.extend_from_slice(it));
    }
    /// `source[start..end]`, JSON already: faster than [`Out::raw`] for short spans of a long source.
    #[inline]
    pub fn span(&mut self, source: &[u8], start: usize, end: usize) {
        if end.saturating_sub(start) > COPY_MAX {
            return self.raw(&source[start..end]);
        }
        raw::span(&mut self.bytes, source, start, end);
    }
    /// Repeats bytes that were written before: `range` of [`Out::bytes`].
    pub fn repeat_range(&mut self, range: std::ops::Range<usize>) {
        self.bytes.extend_from_within(range);
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
        raw::int(&mut self.bytes, value);
    }
    /// A finite number by its shortest digits; `false` (and nothing written) if it is not finite.
    #[inline]
    pub fn float(&mut self, value: f64) -> bool {
        if value.is_finite() {
            raw::float(&mut self.bytes, value);
        }
        value.is_finite()
    }
    /// `true` or `false`.
    #[inline]
    pub fn bool(&mut self, value: bool) {
        if value {
            raw::word(&mut self.bytes, b"true,   ", 4)
        } else {
            raw::word(&mut self.bytes, b"false,  ", 5)
        }
    }
    /// `null`.
    #[inline]
    pub fn null(&mut self) {
        raw::word(&mut self.bytes, b"null,   ", 4);
    }
    /// A JSON string with its quotes. Source: RFC 8259, section 7.
    #[inline]
    pub fn string(&mut self, text: &str) {
        raw::text(&mut self.bytes, text.as_bytes());
    }
    /// Writes a string like [`Out::string`], for text whose source promises UTF-8.
    #[inline]
    pub fn text(&mut self, text: &[u8]) {
        raw::text(&mut self.bytes, text);
    }

    /// `"stock":12,`.
    #[inline]
    pub fn member_int(&mut self, key: &ResponseKey, value: i64) {
        raw::member_int(&mut self.bytes, key, value);
    }
    /// `"price":1.5,`; `false` (and nothing written) if it is not finite.
    #[inline]
    pub fn member_float(&mut self, key: &ResponseKey, value: f64) -> bool {
        if value.is_finite() {
            raw::member_float(&mut self.bytes, key, value);
        }
        value.is_finite()
    }
    /// `"active":true,`.
    #[inline]
    pub fn member_bool(&mut self, key: &ResponseKey, value: bool) {
        let (word, len) = if value { (b"true,   ", 5) } else { (b"false,  ", 6) };
        raw::member_word(&mut self.bytes, key, word, len);
    }
    /// `"note":null,`.
    #[inline]
    pub fn member_null(&mut self, key: &ResponseKey) {
        raw::member_word(&mut self.bytes, key, b"null,   ", 5);
    }
    /// `"title":"Big Ones",`, escaped; UTF-8 is the source's promise.
    #[inline]
    pub fn member_text(&mut self, key: &ResponseKey, text: &[u8]) {
        raw::member_text(&mut self.bytes, key, text);
    }
    /// `"title":"Big Ones",`, escaped, of a source that does not promise UTF-8; `false` (and nothing written) if the text is none.
    #[inline]
    pub fn member_unchecked(&mut self, key: &ResponseKey, text: &[u8]) -> bool {
        raw::member_unchecked(&mut self.bytes, key, text)
    }
    /// `"name":"Album",` where `source[start..end]` needs no escapes: faster than [`Out::member_text`].
    #[inline]
    pub fn member_plain(&mut self, key: &ResponseKey, source: &[u8], start: usize, end: usize) {
        raw::member_plain(&mut self.bytes, key, source, start, end);
    }
    /// `"tracks":[` or `"artist":{`.
    #[inline]
    pub fn member_open(&mut self, key: &ResponseKey, bracket: u8) {
        raw::member_word(&mut self.bytes, key, &[bracket; 8], 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(write: impl Fn(&mut Out), expected: &str) {
        let mut out = Out::default();
        write(&mut out);
        assert_eq!(std::str::from_utf8(out.bytes()).unwrap(), expected);
    }

    #[test]
    fn members_end_with_commas_and_closers_take_the_last_one() {
        let key = ResponseKey::new("k");
        check(
            |out| {
                out.open(b'{');
                out.member_int(&key, -12);
                out.member_text(&key, b"a\"b");
                out.member_bool(&key, true);
                out.member_bool(&key, false);
                out.member_null(&key);
                assert!(out.member_float(&key, 0.5));
                out.member_open(&key, b'[');
                out.close(b']');
                out.comma();
                out.close(b'}');
            },
            r#"{"k":-12,"k":"a\"b","k":true,"k":false,"k":null,"k":0.5,"k":[]}"#,
        );
    }

    #[test]
    fn a_key_longer_than_one_store_is_whole() {
        let name = "a_name_that_is_quite_a_bit_longer_than_thirty_two_bytes";
        for len in 26..=name.len() {
            check(
                |out| out.member_int(&ResponseKey::new(&name[..len]), 1),
                &format!("\"{}\":1,", &name[..len]),
            );
        }
    }

    #[test]
    fn what_is_not_finite_is_not_written() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            check(|out| assert!(!out.float(value) && !out.member_float(&ResponseKey::new("k"), value)), "");
        }
    }

    #[test]
    fn long_bytes_are_copied_whole() {
        let long: String = (0..2000).map(|it| format!("{it},")).collect();
        for len in [COPY_MAX - 1, COPY_MAX, COPY_MAX + 1, 2 * COPY_MAX, long.len()] {
            check(|out| out.raw(&long.as_bytes()[..len]), &long[..len]);
            check(|out| out.span(long.as_bytes(), long.len() - len, long.len()), &long[long.len() - len..]);
        }
    }

    #[test]
    fn written_bytes_can_be_taken_back_and_repeated() {
        check(
            |out| {
                out.string("ab");
                let mark = out.len();
                out.int(5);
                out.truncate(mark);
                out.repeat_range(0..mark);
                out.null();
                out.bool(true);
                out.bool(false);
            },
            r#""ab""ab"nulltruefalse"#,
        );
    }
}

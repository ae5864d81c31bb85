//! Reads JSON text into the tape: one loop over values, containers that are open on a stack.
//!
//! Objects of a list mostly have the keys of the previous object, in its order. So each open container remembers a similar earlier
//! one, and a key is first compared with the next key there: an equal key needs no search for its end, and while all keys follow
//! that order no key can be a duplicate.
//!
//! **Invariant:** what is open in [`JsonReader::open`] is what the bytes before `at` opened and did not close.
//!
//! **Cost:** one pass; strings are searched a word at a time.
//! Source: RFC 8259.

use super::{JsonError, JsonErrorKind, JsonKind, JsonNode};
use crate::string_value;
use std::collections::HashSet;

/// Beyond this many members, and where a key has escapes, keys are hashed, not compared with each other.
const COMPARED_MAX: usize = 32;

/// Objects whose keys are known to differ, of as many kinds as a list commonly has.
const KNOWN_MAX: usize = 4;

/// Number of members of the previous object that are compared with the next key: some may be missing.
const FOLLOWED_MAX: usize = 3;

/// State of the reader. The position `at` is passed from call to call instead of stored, so that it stays in a register.
pub(super) struct JsonReader<'t> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    pub(super) nodes: Vec<JsonNode>,
    /// The open containers, innermost last.
    pub(super) open: Vec<OpenContainer>,
    pub(super) depth_max: u32,
    pub(super) known: Known,
    /// Why reading ended early.
    pub(super) error: Option<JsonError>,
}

/// An open container. Indexes refer to nodes of complete values; 0 means none, as the first node is completed last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OpenContainer {
    /// Node of the container.
    place: u32,
    is_object: bool,
    /// True while the keys of the object follow the order of its model, the similar earlier object.
    is_alike: bool,
    /// In an array: the earlier item that the next one probably resembles. In an object: the key that the next one probably equals.
    next: u32,
    /// End of the model's nodes.
    end: u32,
}

/// Objects whose keys were found to differ: most objects have the keys of one before them.
#[derive(Default)]
pub(super) struct Known {
    /// Their nodes; 0 where there is none, as the first node has no object before it.
    places: [u32; KNOWN_MAX],
    next: usize,
}

/// The position to continue at; `None` after an error, which is in [`JsonReader::error`].
type Read = Option<usize>;

impl<'t> JsonReader<'t> {
    #[cold]
    fn fail(&mut self, kind: JsonErrorKind, at: usize) -> Read {
        self.error = Some(JsonError { kind, at: at as u32 });
        None
    }

    /// Reports an unexpected byte, or an unexpected end.
    #[cold]
    fn fail_unexpected(&mut self, at: usize) -> Read {
        let ended = at >= self.bytes.len();
        self.fail(if ended { JsonErrorKind::UnexpectedEnd } else { JsonErrorKind::UnexpectedByte }, at)
    }

    #[inline]
    fn byte(&self, at: usize) -> u8 {
        // No text has a zero byte where one is looked for.
        self.bytes.get(at).copied().unwrap_or(0)
    }

    #[inline]
    fn after_spaces(&self, mut at: usize) -> usize {
        while matches!(self.byte(at), b' ' | b'\n' | b'\r' | b'\t') {
            at += 1;
        }
        at
    }

    /// One value with spaces around it, and nothing else.
    pub(super) fn document(&mut self, at: usize) -> Read {
        let mut at = self.after_spaces(at);
        // Around the value is something like an array: no key stands before it.
        let mut inner = OpenContainer::default();
        loop {
            let mut like = inner.next;
            if inner.is_object {
                at = self.key(at, &mut inner, &mut like)?;
            }
            let byte = self.byte(at);
            at = match byte {
                b'"' => self.string(at)?,
                b'-' | b'0'..=b'9' => self.number(at)?,
                b'{' | b'[' => {
                    at = self.begin(at, byte == b'{', like, &mut inner)?;
                    if self.byte(at) != closing_bracket(&inner) {
                        continue;
                    }
                    self.close(at, &mut inner)?
                }
                _ => self.word(at)?,
            };
            at = self.after_spaces(at);
            while self.byte(at) != b',' || self.open.is_empty() {
                if self.open.is_empty() {
                    let is_end = at == self.bytes.len();
                    return if is_end { Some(at) } else { self.fail(JsonErrorKind::TrailingBytes, at) };
                }
                if self.byte(at) != closing_bracket(&inner) {
                    return self.fail_unexpected(at);
                }
                at = self.close(at, &mut inner)?;
                at = self.after_spaces(at);
            }
            at = self.after_spaces(at + 1);
        }
    }

    #[inline]
    fn push(&mut self, kind: JsonKind, start: usize, end: usize) {
        let next = self.nodes.len() as u32 + 1;
        self.nodes.push(JsonNode { kind, start: start as u32, end: end as u32, next });
    }

    /// An opening bracket, up to what follows.
    #[inline]
    fn begin(&mut self, at: usize, is_object: bool, like: u32, inner: &mut OpenContainer) -> Read {
        if self.open.len() >= self.depth_max as usize {
            return self.fail(JsonErrorKind::TooDeep, at);
        }
        let kind = if is_object { JsonKind::Object } else { JsonKind::Array };
        let model =
            self.nodes.get(like as usize).filter(|it| like > 0 && it.kind == kind && it.next > like + 1);
        let (next, end) = model.map_or((0, 0), |it| (like + 1, it.next));
        self.open.push(*inner);
        *inner = OpenContainer { place: self.nodes.len() as u32, is_object, is_alike: next > 0, next, end };
        self.push(kind, at, at);
        Some(self.after_spaces(at + 1))
    }

    /// `"key":` up to the value. What the value is likely like goes to `like`.
    #[inline]
    fn key(&mut self, mut at: usize, object: &mut OpenContainer, like: &mut u32) -> Read {
        *like = if object.next > 0 { self.expected_key(at, object) } else { 0 };
        if *like > 0 {
            let key = self.nodes[*like as usize - 1];
            let end = at + 1 + (key.end - key.start) as usize;
            self.push(key.kind, at + 1, end);
            at = end + 1;
        } else {
            object.is_alike = false;
            if self.byte(at) != b'"' {
                return self.fail_unexpected(at);
            }
            at = self.string(at)?;
        }
        if self.byte(at) != b':' {
            at = self.after_spaces(at);
            if self.byte(at) != b':' {
                return self.fail_unexpected(at);
            }
        }
        Some(self.after_spaces(at + 1))
    }

    /// The value of the key that stands here, in what `object` is like; 0 if it is not there.
    #[inline]
    fn expected_key(&self, at: usize, object: &mut OpenContainer) -> u32 {
        let mut key = object.next;
        for _ in 0..FOLLOWED_MAX {
            let node = &self.nodes[key as usize];
            let after = self.nodes[key as usize + 1].next;
            let next = if after < object.end { after } else { 0 };
            // With its quotes: no longer key is meant.
            if is_same(self.bytes, node.start as usize - 1, at, (node.end - node.start) as usize + 2) {
                object.next = next;
                return key + 1;
            }
            if next == 0 {
                break;
            }
            key = next;
        }
        0
    }

    /// The closing bracket of `inner`.
    #[inline]
    fn close(&mut self, at: usize, inner: &mut OpenContainer) -> Read {
        let Some(outer) = self.open.pop() else { return self.fail_unexpected(at) };
        let closed = std::mem::replace(inner, outer);
        let next = self.nodes.len() as u32;
        let node = &mut self.nodes[closed.place as usize];
        node.end = at as u32 + 1;
        node.next = next;
        if !inner.is_object {
            inner.next = closed.place;
        }
        // Two keys take four nodes.
        if closed.is_object && !closed.is_alike && next > closed.place + 4 {
            self.check_keys(closed.place as usize)?;
        }
        Some(at + 1)
    }

    /// Two equal keys in the object at `place` are an error at the second.
    fn check_keys(&mut self, place: usize) -> Option<()> {
        if self.known.places.iter().any(|&known| known != 0 && self.has_keys_of(known as usize, place)) {
            return Some(());
        }
        if let Err(error) = self.compare_keys(place) {
            self.error = Some(error);
            return None;
        }
        self.known.places[self.known.next] = place as u32;
        self.known.next = (self.known.next + 1) % KNOWN_MAX;
        Some(())
    }

    /// True if both objects have the same keys in the same notation and order.
    fn has_keys_of(&self, known: usize, place: usize) -> bool {
        let nodes = &self.nodes;
        let ends = (nodes[known].next as usize, nodes[place].next as usize);
        let text = |key: usize| &self.bytes[nodes[key].start as usize..nodes[key].end as usize];
        let mut theirs = known + 1;
        let mut own = place + 1;
        while theirs < ends.0 && own < ends.1 && text(theirs) == text(own) {
            theirs = nodes[theirs + 1].next as usize;
            own = nodes[own + 1].next as usize;
        }
        theirs >= ends.0 && own >= ends.1
    }

    fn compare_keys(&self, place: usize) -> Result<(), JsonError> {
        let nodes = &self.nodes;
        let end = nodes[place].next as usize;
        let after = |key: usize| Some(nodes[key + 1].next as usize).filter(|&key| key < end);
        let keys = || std::iter::successors(Some(place + 1).filter(|&key| key < end), move |&key| after(key));
        let duplicate = |key: usize| JsonError { kind: JsonErrorKind::DuplicateKey, at: nodes[key].start };
        let mut texts = [""; COMPARED_MAX];
        for (number, key) in keys().enumerate() {
            let is_plain = matches!(nodes[key].kind, JsonKind::String { escapes: false });
            if number == COMPARED_MAX || !is_plain {
                let mut seen = HashSet::new();
                let mut is_new = |key: &usize| seen.insert(super::string(self.text, nodes[*key]));
                return keys().find(|key| !is_new(key)).map_or(Ok(()), |key| Err(duplicate(key)));
            }
            let text = &self.text[nodes[key].start as usize..nodes[key].end as usize];
            if texts[..number].contains(&text) {
                return Err(duplicate(key));
            }
            texts[number] = text;
        }
        Ok(())
    }

    #[inline]
    fn word(&mut self, at: usize) -> Read {
        let (word, kind) = match self.byte(at) {
            b't' => ("true", JsonKind::True),
            b'f' => ("false", JsonKind::False),
            b'n' => ("null", JsonKind::Null),
            _ => return self.fail_unexpected(at),
        };
        let end = at + word.len();
        if self.bytes.get(at..end) != Some(word.as_bytes()) {
            let same = word.bytes().zip(&self.bytes[at..]).take_while(|(expected, byte)| *expected == **byte);
            return self.fail_unexpected(at + same.count());
        }
        self.push(kind, at, end);
        Some(end)
    }

    #[inline]
    fn number(&mut self, start: usize) -> Read {
        let mut at = start + usize::from(self.byte(start) == b'-');
        if self.byte(at) == b'0' {
            at += 1;
            if self.byte(at).is_ascii_digit() {
                return self.fail(JsonErrorKind::BadNumber, at);
            }
        } else {
            at = self.digits(at)?;
        }
        if self.byte(at) == b'.' {
            at = self.digits(at + 1)?;
        }
        if matches!(self.byte(at), b'e' | b'E') {
            at += 1;
            at = self.digits(at + usize::from(matches!(self.byte(at), b'+' | b'-')))?;
        }
        self.push(JsonKind::Number, start, at);
        Some(at)
    }

    /// At least one digit.
    #[inline]
    fn digits(&mut self, start: usize) -> Read {
        let mut at = start;
        while self.byte(at).wrapping_sub(b'0') < 10 {
            at += 1;
        }
        if at > start { Some(at) } else { self.fail(JsonErrorKind::BadNumber, at) }
    }

    /// A string with its quotes, of which the first stands at `quote`.
    #[inline]
    fn string(&mut self, quote: usize) -> Read {
        let start = quote + 1;
        let mut at = start + string_value::plain_prefix(&self.bytes[start..]);
        let mut escapes = false;
        while self.byte(at) != b'"' {
            (at, escapes) = self.read_irregular(at, escapes)?;
        }
        self.push(JsonKind::String { escapes }, start, at);
        Some(at + 1)
    }

    /// Within a string, what is neither plain nor its end, or too near to the text's end to be seen as plain; and what is
    /// plain after it.
    #[cold]
    fn read_irregular(&mut self, mut at: usize, mut escapes: bool) -> Option<(usize, bool)> {
        at = match self.bytes.get(at) {
            None => self.fail_unexpected(at)?,
            Some(b'\\') => {
                escapes = true;
                self.escape(at)?
            }
            Some(0..0x20) => self.fail(JsonErrorKind::ControlCharacter, at)?,
            Some(_) => at + 1,
        };
        Some((at + string_value::plain_prefix(&self.bytes[at..]), escapes))
    }

    fn escape(&mut self, at: usize) -> Read {
        // The one escape of GraphQL that JSON does not have.
        let braced = self.bytes[at..].starts_with(br"\u{");
        match string_value::escape(self.bytes, at) {
            Some((_, size)) if !braced => Some(at + size),
            _ => {
                let rest = &self.bytes[at..];
                let digits = rest.get(2..6).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
                let surrogate = rest.starts_with(br"\u") && digits;
                self.fail(if surrogate { JsonErrorKind::LoneSurrogate } else { JsonErrorKind::BadEscape }, at)
            }
        }
    }
}

#[inline]
const fn closing_bracket(inner: &OpenContainer) -> u8 {
    if inner.is_object { b'}' } else { b']' }
}

/// True if `len` bytes are equal at both positions; false if one has fewer.
#[inline]
fn is_same(bytes: &[u8], one: usize, other: usize, len: usize) -> bool {
    match (bytes.get(one..one + len), bytes.get(other..other + len)) {
        (Some(one), Some(other)) => is_same_name(one, other),
        (None, _) | (_, None) => false,
    }
}

/// True if the names are equal. Two words show it of short ones, for which a call of the general comparison takes twice as long.
#[inline]
pub fn is_same_name(one: &[u8], other: &[u8]) -> bool {
    fn ends<const WORD: usize>(name: &[u8]) -> Option<(&[u8; WORD], &[u8; WORD])> {
        Some((name.first_chunk()?, name.last_chunk()?))
    }
    if one.len() != other.len() {
        return false;
    }
    match one.len() {
        8..=16 => ends::<8>(one) == ends::<8>(other),
        4..8 => ends::<4>(one) == ends::<4>(other),
        _ => one == other,
    }
}

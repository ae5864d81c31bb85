//! A JSON text with its parsed tape.
//!
//! **Cost:** a text is read once, when it comes; serving it again borrows the text and the tape. The answers of a batch that no cache
//! keeps share its tape if they are most of it; otherwise, and where one is kept, each is a copy, as it would keep all of the batch alive.

use bytes::Bytes;
use std::cell::RefCell;
use std::sync::Arc;
use weir_language::json::{Json, JsonBuffer, JsonError, JsonErrorKind, JsonKind, JsonNode};

/// Longest parse buffer that a thread keeps, in nodes.
const KEPT_NODES_MAX: usize = 64 * 1024;

thread_local! {
    /// Parse buffer: the length of a tape is known only after parsing.
    static READ_IN: RefCell<JsonBuffer> = RefCell::default();
}

/// A parsed JSON text, or one value of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tape {
    whole: Arc<TapeText>,
    /// Node of the value.
    at: u32,
}

#[derive(Debug, PartialEq, Eq)]
struct TapeText {
    text: Box<str>,
    nodes: Box<[JsonNode]>,
}

/// A body that is no JSON.
#[derive(Debug)]
pub struct Unread {
    /// The first place where it is not JSON.
    pub error: JsonError,
    /// The body again.
    pub body: Vec<u8>,
}

impl Tape {
    /// Reads `body`, with at most `depth_max` brackets open at once.
    ///
    /// # Errors
    /// It is no JSON.
    pub fn parse(body: Bytes, depth_max: u32) -> Result<Self, Unread> {
        // Bytes that nobody else holds are taken over, not copied.
        let text = String::from_utf8(Vec::from(body)).map_err(|bad| {
            let at = bad.utf8_error().valid_up_to() as u32;
            Unread { error: JsonError { kind: JsonErrorKind::BadUtf8, at }, body: bad.into_bytes() }
        })?;
        match parse_nodes(&text, depth_max) {
            Ok(nodes) => Ok(Self::of(text.into(), nodes)),
            Err(error) => Err(Unread { error, body: text.into_bytes() }),
        }
    }

    fn of(text: Box<str>, nodes: Box<[JsonNode]>) -> Self {
        Self { whole: Arc::new(TapeText { text, nodes }), at: 0 }
    }

    /// A cursor whose root is the value.
    pub fn json(&self) -> Json<'_> {
        Json::from_part(&self.whole.text, &self.whole.nodes, self.at)
    }

    /// The bytes as received; of a part those of its value.
    pub fn text(&self) -> &str {
        match self.at {
            0 => &self.whole.text,
            at => self.raw(at),
        }
    }

    fn raw(&self, at: u32) -> &str {
        let TapeText { text, nodes } = &*self.whole;
        let node = nodes[at as usize];
        let quote = u32::from(matches!(node.kind, JsonKind::String { .. }));
        &text[(node.start - quote) as usize..(node.end + quote) as usize]
    }

    /// True if the values at `parts` are at least half of the memory that they would keep alive by sharing it.
    pub fn is_mostly(&self, parts: impl Iterator<Item = u32>) -> bool {
        let TapeText { text, nodes } = &*self.whole;
        let bytes = parts.map(|at| {
            let node = &nodes[at as usize];
            (node.end - node.start) as usize + (node.next - at) as usize * size_of::<JsonNode>()
        });
        bytes.sum::<usize>() * 2 >= text.len() + size_of_val(&**nodes)
    }

    /// The value at node `at`, in the memory of this tape, all of which it keeps alive.
    pub fn share_part(&self, at: u32) -> Self {
        Self { whole: Arc::clone(&self.whole), at }
    }

    /// The value at node `at` as a separate text, for what outlives this tape.
    pub fn copy_part(&self, at: u32) -> Self {
        let TapeText { text, nodes } = &*self.whole;
        let raw = self.raw(at);
        let nodes = &nodes[at as usize..nodes[at as usize].next as usize];
        // A string's text lies inside its quotes, while its node starts after the first quote.
        let start = (raw.as_ptr() as usize - text.as_ptr() as usize) as u32;
        let moved = |node: &JsonNode| JsonNode {
            kind: node.kind,
            start: node.start - start,
            end: node.end - start,
            next: node.next - at,
        };
        Self::of(raw.into(), nodes.iter().map(moved).collect())
    }

    pub(crate) fn bytes_held(&self) -> usize {
        size_of::<TapeText>() + self.whole.text.len() + size_of_val(&*self.whole.nodes)
    }
}

fn parse_nodes(text: &str, depth_max: u32) -> Result<Box<[JsonNode]>, JsonError> {
    READ_IN.with_borrow_mut(|buffer| {
        let json = Json::parse_text_in(std::mem::take(buffer), text, depth_max)?;
        let nodes = Box::from(&*json.nodes);
        if json.nodes.len() <= KEPT_NODES_MAX {
            *buffer = json.into_buffer();
        }
        Ok(nodes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_share_a_tape_that_holds_little_else() {
        let junk = "0,".repeat(1_000);
        let text = format!(r#"[{{"id":1,"name":"n1"}},{{"id":2,"name":"n2"}},{{"id":3,"junk":[{junk}0]}}]"#);
        let tape = Tape::parse(text.into(), 8).unwrap();
        let items: Vec<u32> = tape.json().root().items().map(|it| it.at).collect();
        assert_eq!(items.len(), 3);
        assert!(tape.is_mostly(items.iter().copied()));
        assert!(tape.is_mostly(items[2..].iter().copied()));
        assert!(!tape.is_mostly(items[..2].iter().copied()));
        assert!(!tape.is_mostly(std::iter::empty()));
    }

    #[test]
    fn a_part_of_a_tape_reads_like_a_text_of_its_own() {
        let text = br#" {"a":[{"id":1,"name":"x\u0041"},"sol\n",[],-0.10,null], "b":{}}"#;
        let tape = Tape::parse(Bytes::from_static(text), 8).unwrap();
        for at in 0..tape.whole.nodes.len() as u32 {
            let copy = tape.copy_part(at);
            assert_eq!(copy, Tape::parse(Bytes::from(copy.text().to_owned()), 8).unwrap(), "{at}");
            let part = if at == 0 { tape.clone() } else { tape.share_part(at) };
            assert_eq!(part.text().trim(), copy.text(), "{at}");
            assert_eq!(part.json().root().raw(), copy.json().root().raw(), "{at}");
            let members =
                |it: &Tape| it.json().root().members().map(|it| it.1.raw().to_owned()).collect::<Vec<_>>();
            assert_eq!(members(&part), members(&copy), "{at}");
        }
        assert_eq!(tape.copy_part(2).text(), r#"[{"id":1,"name":"x\u0041"},"sol\n",[],-0.10,null]"#);
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_place() {
        let check = |body: &'static [u8], at| {
            let unread = Tape::parse(Bytes::from_static(body), 8).unwrap_err();
            assert_eq!((unread.error.at, &*unread.body), (at, body));
        };
        check(b"<html>", 0);
        check(b"\"\xff\"", 1);
        assert!(Tape::parse(Bytes::from_static(b"[[[]]]"), 2).is_err());
    }
}

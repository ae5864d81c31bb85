//! A JSON text with its parsed tape.
//!
//! **Cost:** a text is read once, when it comes; serving it again borrows the text and the tape.

use bytes::Bytes;
use std::cell::RefCell;
use weir_language::json::{Json, JsonBuffer, JsonError, JsonNode, JsonRef};

/// Longest parse buffer that a thread keeps, in nodes.
const KEPT_NODES_MAX: usize = 64 * 1024;

thread_local! {
    /// Parse buffer: the length of a tape is known only after parsing.
    static READ_IN: RefCell<JsonBuffer> = RefCell::default();
}

/// A parsed JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tape {
    text: Box<str>,
    nodes: Box<[JsonNode]>,
}

impl Tape {
    /// Reads `body`, with at most `depth_max` brackets open at once.
    ///
    /// # Errors
    /// The first place where it is not JSON.
    pub fn parse(body: Bytes, depth_max: u32) -> Result<Self, JsonError> {
        let nodes = nodes(&body, depth_max)?;
        Ok(Self::of(body, nodes))
    }

    /// `body` with its tape.
    fn of(body: Bytes, nodes: Box<[JsonNode]>) -> Self {
        // `parse` checked that the bytes are UTF-8. `Vec::from` copies only if the bytes are shared.
        let text = String::from_utf8(Vec::from(body)).unwrap_or_default();
        Self { text: text.into(), nodes }
    }

    /// A cursor to the root value.
    pub fn json(&self) -> Json<'_> {
        Json::from_nodes(&self.text, &self.nodes)
    }

    /// The bytes as received.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The value at node `at` as a separate text.
    pub fn part(&self, at: u32) -> Self {
        let json = self.json();
        let raw = JsonRef { json: &json, at }.raw();
        let nodes = &self.nodes[at as usize..self.nodes[at as usize].next as usize];
        // A string's text lies inside its quotes, while its node starts after the first quote.
        let start = (raw.as_ptr() as usize - self.text.as_ptr() as usize) as u32;
        let moved = |node: &JsonNode| JsonNode {
            kind: node.kind,
            start: node.start - start,
            end: node.end - start,
            next: node.next - at,
        };
        Self { text: raw.into(), nodes: nodes.iter().map(moved).collect() }
    }

    pub(crate) fn bytes_held(&self) -> usize {
        self.text.len() + size_of_val(&*self.nodes)
    }
}

fn nodes(body: &[u8], depth_max: u32) -> Result<Box<[JsonNode]>, JsonError> {
    READ_IN.with_borrow_mut(|buffer| {
        let json = Json::parse_in(std::mem::take(buffer), body, depth_max)?;
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
    fn a_part_of_a_tape_reads_like_a_text_of_its_own() {
        let text = br#" {"a":[{"id":1,"name":"x\u0041"},"sol\n",[],-0.10,null], "b":{}}"#;
        let tape = Tape::parse(Bytes::from_static(text), 8).unwrap();
        for at in 0..tape.nodes.len() as u32 {
            let part = tape.part(at);
            assert_eq!(part, Tape::parse(Bytes::from(part.text.to_string()), 8).unwrap(), "{at}");
        }
        assert_eq!(tape.part(2).text(), r#"[{"id":1,"name":"x\u0041"},"sol\n",[],-0.10,null]"#);
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_place() {
        assert_eq!(Tape::parse(Bytes::from_static(b"<html>"), 8).unwrap_err().at, 0);
        assert!(Tape::parse(Bytes::from_static(b"[[[]]]"), 2).is_err());
    }
}

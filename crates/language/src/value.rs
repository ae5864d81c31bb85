//! Coerced input: a flat tape of nodes, the same for literals and for variables.
//!
//! A value is a node and, for lists and objects, the nodes that follow it up to `end`. Walking is a loop,
//! skipping is one addition, and nothing is allocated per value. Texts (strings, digits, JSON) lie in one
//! string beside the nodes.
//!
//! **Invariant:** `end` of a list or object is one past its last node; in an object each member is a
//! [`Node::Key`] and its value, in the order of the input type's fields, or as written where the type is a sequence.

pub mod json;

use crate::ids::{EnumValueId, InputId};

/// A run of bytes in [`Values::text`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextSpan {
    /// First byte.
    pub start: u32,
    /// One past the last.
    pub end: u32,
}

/// One node of the tape: sixteen bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Node {
    /// A variable that was not sent and has no default. Only at the top of a variable.
    Absent,
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// `Int`, or any integer scalar that fits.
    Int(i64),
    /// An `Int` written as a string, which only the lenient reading takes: a limit of rows refuses it.
    QuotedInt(i64),
    /// `Float`.
    Float(f64),
    /// A decimal scalar: the digits as sent.
    Number(TextSpan),
    /// Any scalar whose input is text (`String`, `ID`, dates …), decoded.
    Text(TextSpan),
    /// A scalar that takes any JSON: the JSON text itself.
    Json(TextSpan),
    /// A value of an enum.
    Enum(EnumValueId),
    /// A list: `len` items, each a value.
    List {
        /// Items.
        len: u32,
        /// One past the last node.
        end: u32,
    },
    /// An input object: `len` members.
    Object {
        /// Members.
        len: u32,
        /// One past the last node.
        end: u32,
    },
    /// The field of the input object that the next value belongs to.
    Key(InputId),
    /// In the arguments of a plan only: the variable with this number stands here.
    Variable(u32),
    /// In the arguments of a plan only: this column of the parent's keys stands here.
    Parent(u32),
}

/// A tape of coerced values.
#[derive(Clone, Debug, Default)]
pub struct Values {
    /// The nodes, in document order.
    pub nodes: Vec<Node>,
    /// The text that [`TextSpan`]s point into.
    pub text: String,
}

impl TextSpan {
    fn to_bits(self) -> u64 {
        u64::from(self.start) << 32 | u64::from(self.end)
    }
}

impl Values {
    /// The text under `span`.
    pub fn str(&self, span: TextSpan) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// Appends `text` and says where it is.
    pub fn push_text(&mut self, text: &str) -> TextSpan {
        let start = self.text.len() as u32;
        self.text.push_str(text);
        TextSpan { start, end: self.text.len() as u32 }
    }

    /// Forgets everything but the room.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.text.clear();
    }

    /// Appends the value at `at` of `other`, with its texts.
    pub fn push_copy(&mut self, other: &Self, at: usize) {
        let shift = (self.nodes.len() as u32).wrapping_sub(at as u32);
        for node in &other.nodes[at..other.end(at)] {
            let copy = match *node {
                Node::List { len, end } => Node::List { len, end: end.wrapping_add(shift) },
                Node::Object { len, end } => Node::Object { len, end: end.wrapping_add(shift) },
                Node::Number(span) => Node::Number(self.push_text(other.str(span))),
                Node::Text(span) => Node::Text(self.push_text(other.str(span))),
                Node::Json(span) => Node::Json(self.push_text(other.str(span))),
                leaf @ (Node::Absent
                | Node::Null
                | Node::Bool(_)
                | Node::Int(_)
                | Node::QuotedInt(_)
                | Node::Float(_)
                | Node::Enum(_)
                | Node::Key(_)
                | Node::Variable(_)
                | Node::Parent(_)) => leaf,
            };
            self.nodes.push(copy);
        }
    }

    /// One past the last node of the value at `at`.
    pub fn end(&self, at: usize) -> usize {
        match self.nodes[at] {
            Node::List { end, .. } | Node::Object { end, .. } => end as usize,
            Node::Absent
            | Node::Null
            | Node::Bool(_)
            | Node::Int(_)
            | Node::QuotedInt(_)
            | Node::Float(_)
            | Node::Number(_)
            | Node::Text(_)
            | Node::Json(_)
            | Node::Enum(_)
            | Node::Key(_)
            | Node::Variable(_)
            | Node::Parent(_) => at + 1,
        }
    }

    /// The places of the items of the list at `at`; nothing if it is no list.
    pub fn items(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let (mut next, end) = match self.nodes[at] {
            Node::List { end, .. } => (at + 1, end as usize),
            _ => (at, at),
        };
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let item = next;
                next = self.end(item);
                item
            })
        })
    }

    /// The members of the object at `at`: field and place of its value; nothing if it is no object.
    pub fn members(&self, at: usize) -> impl Iterator<Item = (InputId, usize)> + '_ {
        let (mut next, end) = match self.nodes[at] {
            Node::Object { end, .. } => (at + 1, end as usize),
            _ => (at, at),
        };
        std::iter::from_fn(move || {
            while next < end {
                let key = next;
                next = self.end(key + 1);
                if let Node::Key(input) = self.nodes[key] {
                    return Some((input, key + 1));
                }
            }
            None
        })
    }
}

/// The variables of one request, coerced: variable `i` is the value at `starts[i]`.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    /// The tape of all of them.
    pub values: Values,
    /// Start of each variable's value, in the order of the operation's definitions.
    pub starts: Vec<u32>,
}

impl Variables {
    /// Forgets everything but the room, for the next request.
    pub fn clear(&mut self) {
        self.values.clear();
        self.starts.clear();
    }

    /// The first node of variable `number`.
    pub fn node(&self, number: u32) -> Node {
        self.values.nodes[self.starts[number as usize] as usize]
    }

    /// Appends bytes that tell these values from all others of the same operation; that of the variable `but`, a single
    /// node, is passed over.
    pub fn write_key(&self, but: Option<u32>, out: &mut Vec<u8>) {
        let nodes = &self.values.nodes;
        let at = but.map_or(nodes.len(), |number| self.starts[number as usize] as usize);
        let after = (at + 1).min(nodes.len());
        for node in nodes[..at].iter().chain(&nodes[after..]) {
            let (kind, what) = match *node {
                Node::Absent => (0, 0),
                Node::Null => (1, 0),
                Node::Bool(value) => (2, u64::from(value)),
                Node::Int(value) => (3, value.cast_unsigned()),
                Node::QuotedInt(value) => (4, value.cast_unsigned()),
                Node::Float(value) => (5, value.to_bits()),
                Node::Number(span) => (6, span.to_bits()),
                Node::Text(span) => (7, span.to_bits()),
                Node::Json(span) => (8, span.to_bits()),
                Node::Enum(value) => (9, u64::from(value.0)),
                Node::List { len, end } => (10, TextSpan { start: len, end }.to_bits()),
                Node::Object { len, end } => (11, TextSpan { start: len, end }.to_bits()),
                Node::Key(input) => (12, u64::from(input.0)),
                Node::Variable(number) => (13, u64::from(number)),
                Node::Parent(number) => (14, u64::from(number)),
            };
            out.push(kind);
            out.extend_from_slice(&what.to_le_bytes());
        }
        out.push(u8::MAX);
        out.extend_from_slice(&(self.values.text.len() as u32).to_le_bytes());
        out.extend_from_slice(self.values.text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(values: &[&str]) -> Vec<u8> {
        let mut variables = Variables::default();
        for value in values {
            variables.starts.push(variables.values.nodes.len() as u32);
            let text = variables.values.push_text(value);
            variables.values.nodes.push(Node::Text(text));
        }
        let mut key = Vec::new();
        variables.write_key(None, &mut key);
        key
    }

    #[test]
    fn equal_values_have_one_key_and_others_have_others() {
        assert_eq!(key(&["a", "bc"]), key(&["a", "bc"]));
        assert_ne!(key(&["a", "bc"]), key(&["ab", "c"]));
        assert_ne!(key(&["a", "bc"]), key(&["a"]));
    }
}

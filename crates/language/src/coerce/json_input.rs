//! The JSON tape as input: what variables are read from, and how their values are shown in errors.

use super::Reading;
use super::fault_messages::{Why, list_mark, object_mark, short};
use super::input_walk::{InputMember, Look, Tree};
use super::scalar_readers::{self, Leaf};
use crate::json::{Json, JsonKind, JsonRef};
use crate::string_value;
use crate::type_system::ScalarReader;
use crate::value::{Node, TextSpan, Values};
use std::borrow::Cow;

/// A tape; a place is the number of a node.
pub(super) struct Tape<'j> {
    pub(super) json: &'j Json<'j>,
    pub(super) reading: Reading,
}

impl<'j> Tape<'j> {
    fn value(&self, at: u32) -> JsonRef<'j> {
        JsonRef { json: self.json, at }
    }

    fn next(&self, at: u32) -> u32 {
        self.json.nodes[at as usize].next
    }

    /// Hasura's name for the kind of this value.
    pub(super) fn kind_name(&self, at: u32) -> &'static str {
        let value = self.value(at);
        match value.kind() {
            JsonKind::Null => "null",
            JsonKind::True | JsonKind::False => "a boolean",
            JsonKind::Number if value.raw().contains(['.', 'e', 'E']) => "a float",
            JsonKind::Number => "an integer",
            JsonKind::String { .. } => "a string",
            JsonKind::Object => "an object",
            JsonKind::Array => "a list",
        }
    }

    /// The value at `at` for messages: a leaf as it was sent, cut when it is long; for a list or object only its kind.
    pub(super) fn show(&self, at: u32) -> Cow<'_, str> {
        let value = self.value(at);
        match value.kind() {
            JsonKind::Object => object_mark(value.members().next().is_none()).into(),
            JsonKind::Array => list_mark(value.items().next().is_none()).into(),
            JsonKind::Null
            | JsonKind::True
            | JsonKind::False
            | JsonKind::Number
            | JsonKind::String { .. } => short(value.raw()),
        }
    }
}

impl Tree for Tape<'_> {
    fn look(&self, at: u32) -> Look {
        let value = self.value(at);
        match value.kind() {
            JsonKind::Null => Look::Null,
            JsonKind::Array => Look::List { first: at + 1, len: value.items().count() as u32 },
            JsonKind::Object => Look::Object { first: at + 1, end: self.next(at) },
            JsonKind::True | JsonKind::False | JsonKind::Number | JsonKind::String { .. } => Look::Leaf,
        }
    }

    fn item_after(&self, at: u32) -> u32 {
        self.next(at)
    }

    fn member(&self, at: u32) -> InputMember<'_> {
        let key = self.value(at).as_str().unwrap_or_default();
        InputMember { key, value: at + 1, next: self.next(at + 1) }
    }

    fn scalar(&self, at: u32, reader: ScalarReader, out: &mut Values) -> Result<Node, Why> {
        let value = self.value(at);
        if reader == ScalarReader::Json {
            return Ok(Node::Json(out.push_text(value.raw())));
        }
        if let (
            JsonKind::String { escapes: true },
            ScalarReader::String | ScalarReader::Id | ScalarReader::Text | ScalarReader::Moment,
        ) = (value.kind(), reader)
        {
            // Decode in place: a text with escapes needs no allocation of its own either.
            let start = out.text.len() as u32;
            let raw = value.raw();
            string_value::unescape_to(&raw[1..raw.len() - 1], &mut out.text);
            return Ok(Node::Text(TextSpan { start, end: out.text.len() as u32 }));
        }
        let leaf = match value.kind() {
            JsonKind::True => Leaf::Bool(true),
            JsonKind::False => Leaf::Bool(false),
            JsonKind::Number => Leaf::Number(value.raw()),
            JsonKind::String { .. } => Leaf::Text(value.as_str().unwrap_or_default()),
            JsonKind::Null | JsonKind::Object | JsonKind::Array => Leaf::Other,
        };
        scalar_readers::read(&leaf, reader, self.reading, out)
    }

    fn enum_name(&self, at: u32) -> Option<Cow<'_, str>> {
        self.value(at).as_str()
    }
}

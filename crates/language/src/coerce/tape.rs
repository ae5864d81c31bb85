//! The JSON tape as input: what variables are read from, and how their values are shown in errors.

use super::Reading;
use super::scalar::{self, Leaf};
use super::walk::{Look, Member, Tree};
use super::words::{SHOWN_BYTES_MAX, Why, short};
use crate::json::{Json, JsonKind, JsonRef};
use crate::schema::ScalarReader;
use crate::string_value;
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

    /// What Hasura calls a value of this kind.
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

    /// The value at `at` in the form of graphql-js's `inspect`, cut when it is long.
    pub(super) fn inspect(&self, at: u32) -> String {
        let mut out = String::new();
        self.inspect_to(at, 0, &mut out);
        short(&out).into_owned()
    }

    /// Goes three levels deep and stops when enough is shown, so its cost does not depend on the input.
    fn inspect_to(&self, at: u32, depth: u32, out: &mut String) {
        const DEPTH_MAX: u32 = 1;
        const ITEMS_MAX: usize = 10;
        let value = self.value(at);
        match value.kind() {
            JsonKind::Object if value.members().next().is_none() => out.push_str("{}"),
            JsonKind::Array if value.items().next().is_none() => out.push_str("[]"),
            JsonKind::Object if depth > DEPTH_MAX => out.push_str("[Object]"),
            JsonKind::Array if depth > DEPTH_MAX => out.push_str("[Array]"),
            JsonKind::Object => {
                out.push_str("{ ");
                for (number, (key, value)) in value.members().enumerate() {
                    if out.len() > SHOWN_BYTES_MAX {
                        return;
                    }
                    out.push_str(if number > 0 { ", " } else { "" });
                    out.extend([&*short(&key), ": "]);
                    self.inspect_to(value.at, depth + 1, out);
                }
                out.push_str(" }");
            }
            JsonKind::Array => {
                out.push('[');
                for (number, item) in value.items().take(ITEMS_MAX).enumerate() {
                    out.push_str(if number > 0 { ", " } else { "" });
                    self.inspect_to(item.at, depth + 1, out);
                }
                match value.items().count().saturating_sub(ITEMS_MAX) {
                    0 => out.push(']'),
                    1 => out.push_str(", ... 1 more item]"),
                    more => out.push_str(&format!(", ... {more} more items]")),
                }
            }
            JsonKind::Null
            | JsonKind::True
            | JsonKind::False
            | JsonKind::Number
            | JsonKind::String { .. } => out.push_str(&short(value.raw())),
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

    fn member(&self, at: u32) -> Member<'_> {
        let key = self.value(at).as_str().unwrap_or_default();
        Member { key, value: at + 1, next: self.next(at + 1) }
    }

    fn scalar(&self, at: u32, reader: ScalarReader, out: &mut Values) -> Result<Node, Why> {
        let value = self.value(at);
        if reader == ScalarReader::Json {
            return Ok(Node::Json(out.push_text(value.raw())));
        }
        if let (
            JsonKind::String { escapes: true },
            ScalarReader::String | ScalarReader::Id | ScalarReader::Text,
        ) = (value.kind(), reader)
        {
            // Decoded in place: a text with escapes costs no allocation of its own either.
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
        scalar::read(&leaf, reader, self.reading, out)
    }

    fn enum_name(&self, at: u32) -> Option<Cow<'_, str>> {
        self.value(at).as_str()
    }
}

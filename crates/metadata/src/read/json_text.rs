//! JSON text to nodes with places.
//!
//! **Cost:** linear in the text, also where all of it is one line.

use super::Wrong;
use super::yaml::{Budget, add};
use crate::json::is_number;
use crate::tree::{Member, Node, Place, Value};
use hashbrown::HashSet;
use std::sync::Arc;

/// Reads `text`, the file of index `file`.
pub(super) fn parse(text: &str, file: u32, budget: &mut Budget) -> Result<Node, Wrong> {
    let mut reader = TextReader { text, at: 0, line: 1, column: 1, counted: 0, file, budget };
    let node = reader.node(0)?;
    reader.space();
    match reader.peek() {
        None => Ok(node),
        Some(_) => Err(reader.wrong("the value ends here; more text follows")),
    }
}

struct TextReader<'t> {
    text: &'t str,
    at: usize,
    line: u32,
    /// Column of `counted`, a place of the line before `at`.
    column: u32,
    counted: usize,
    file: u32,
    budget: &'t mut Budget,
}

impl TextReader<'_> {
    fn place(&mut self) -> Place {
        // A backslash may be the last character of the text.
        let skipped_text = self.text.get(self.counted..self.at).unwrap_or_default();
        self.column += skipped_text.chars().count() as u32;
        self.counted = self.counted.max(self.at);
        Place { file: self.file, line: self.line, column: self.column }
    }

    fn wrong(&mut self, message: &str) -> Wrong {
        Wrong { place: self.place(), message: message.to_owned() }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while let Some(byte @ (b' ' | b'\n' | b'\r' | b'\t')) = self.peek() {
            self.at += 1;
            if byte == b'\n' {
                self.line += 1;
                (self.column, self.counted) = (1, self.at);
            }
        }
    }

    /// Takes `byte` after white space, if it is next.
    fn takes(&mut self, byte: u8) -> bool {
        self.space();
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn node(&mut self, depth: usize) -> Result<Node, Wrong> {
        self.space();
        let place = self.place();
        self.budget.node(place, depth)?;
        let value = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => Value::Text(self.string()?),
            Some(_) => self.word()?,
            None => return Err(self.wrong("the text ends where a value is expected")),
        };
        Ok(Node::new(place, value))
    }

    fn object(&mut self, depth: usize) -> Result<Value, Wrong> {
        self.at += 1;
        let mut members: Vec<Member> = Vec::new();
        let mut keys = HashSet::new();
        if self.takes(b'}') {
            return Ok(Value::Object(members));
        }
        loop {
            self.space();
            let place = self.place();
            if self.peek() != Some(b'"') {
                return Err(self.wrong("a key in quotes is expected"));
            }
            let key = self.string()?;
            if !self.takes(b':') {
                return Err(self.wrong("a colon is expected"));
            }
            let node = self.node(depth + 1)?;
            add(&mut members, &mut keys, Member { key, place, node })?;
            if self.takes(b'}') {
                members.shrink_to_fit();
                return Ok(Value::Object(members));
            }
            if !self.takes(b',') {
                return Err(self.wrong("a comma or `}` is expected"));
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, Wrong> {
        self.at += 1;
        let mut items = Vec::new();
        if self.takes(b']') {
            return Ok(Value::List(items));
        }
        loop {
            items.push(self.node(depth + 1)?);
            if self.takes(b']') {
                items.shrink_to_fit();
                return Ok(Value::List(items));
            }
            if !self.takes(b',') {
                return Err(self.wrong("a comma or `]` is expected"));
            }
        }
    }

    /// A string, whose escapes `serde_json` resolves.
    fn string(&mut self) -> Result<Arc<str>, Wrong> {
        let place = self.place();
        let start = self.at;
        let mut has_escape = false;
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => (self.at, has_escape) = (self.at + 2, true),
                Some(byte) if byte >= b' ' => self.at += 1,
                Some(_) | None => return Err(self.wrong("the string does not end on its line")),
            }
        }
        self.at += 1;
        let text = self.text;
        let written = text.get(start..self.at).unwrap_or_default();
        if !has_escape {
            return Ok(self.budget.text(&written[1..written.len() - 1]));
        }
        let read: String = serde_json::from_str(written).map_err(|_| {
            let message = "the string holds an escape that JSON does not know".to_owned();
            Wrong { place, message }
        })?;
        Ok(self.budget.text(&read))
    }

    fn word(&mut self) -> Result<Value, Wrong> {
        let rest = &self.text[self.at..];
        let length = rest.find(|it: char| !(it.is_ascii_alphanumeric() || "+-._".contains(it)));
        let word = &rest[..length.unwrap_or(rest.len())];
        let value = match word {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            digits if is_number(digits) => Value::Number(digits.into()),
            _ => return Err(self.wrong("a value of JSON is expected")),
        };
        self.at += word.len();
        Ok(value)
    }
}

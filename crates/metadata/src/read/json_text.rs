//! JSON text to nodes with places.

use super::Wrong;
use super::yaml::{Budget, add};
use crate::json::is_number;
use crate::tree::{Member, Node, Place, Value};

/// Reads `text`, the file of index `file`.
pub(super) fn parse(text: &str, file: u32, budget: &mut Budget) -> Result<Node, Wrong> {
    let mut reader = TextReader { text, at: 0, line: 1, line_start: 0, file, budget };
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
    line_start: usize,
    file: u32,
    budget: &'t mut Budget,
}

impl TextReader<'_> {
    fn place(&self) -> Place {
        let column = self.text[self.line_start..self.at].chars().count() as u32 + 1;
        Place { file: self.file, line: self.line, column }
    }

    fn wrong(&self, message: &str) -> Wrong {
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
                self.line_start = self.at;
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
            Some(b'"') => Value::Text(self.string()?.into()),
            Some(_) => self.word()?,
            None => return Err(self.wrong("the text ends where a value is expected")),
        };
        Ok(Node::new(place, value))
    }

    fn object(&mut self, depth: usize) -> Result<Value, Wrong> {
        self.at += 1;
        let mut members: Vec<Member> = Vec::new();
        let mut keys = std::collections::HashSet::new();
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
            add(&mut members, &mut keys, Member { key: key.into(), place, node })?;
            if self.takes(b'}') {
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
                return Ok(Value::List(items));
            }
            if !self.takes(b',') {
                return Err(self.wrong("a comma or `]` is expected"));
            }
        }
    }

    /// A string, whose escapes `serde_json` resolves.
    fn string(&mut self) -> Result<String, Wrong> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(byte) if byte >= b' ' => self.at += 1,
                Some(_) | None => return Err(self.wrong("the string does not end on its line")),
            }
        }
        self.at += 1;
        let written = self.text.get(start..self.at).unwrap_or_default();
        serde_json::from_str(written).map_err(|_| {
            self.at = start;
            self.wrong("the string holds an escape that JSON does not know")
        })
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

//! Nodes of a document with their places.
//!
//! **Cost:** 40 bytes for a node, 72 for a member; keys and short texts stand once for the whole document.

use std::sync::Arc;

/// File, line and column of a node; line and column from 1, line 0 where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Index among the files that were read.
    pub file: u32,
    pub line: u32,
    /// Column, in characters.
    pub column: u32,
}

/// A value and its place.
#[derive(Clone, Default)]
pub struct Node {
    /// The place of its first character.
    pub place: Place,
    pub value: Value,
    /// True if a variable of the environment is part of the value: messages do not show it.
    pub is_filled: bool,
}

/// Kinds of values.
#[derive(Clone, Default)]
pub enum Value {
    /// Nothing.
    #[default]
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// Digits of a number of JSON.
    Number(Box<str>),
    Text(Arc<str>),
    /// `!include` as a tag; the text is the file.
    Include(Box<str>),
    /// An included file that cannot be read, with the reason and its place.
    Broken(Box<str>),
    List(Vec<Node>),
    /// An object in the order of the file; no key stands twice.
    Object(Vec<Member>),
}

/// A member of an object.
#[derive(Clone)]
pub struct Member {
    /// Key of the member.
    pub key: Arc<str>,
    /// The place of the key.
    pub place: Place,
    /// Value of the member.
    pub node: Node,
}

impl Node {
    /// A node.
    pub fn new(place: Place, value: Value) -> Self {
        Self { place, value, is_filled: false }
    }

    /// The member called `key`, if it is an object that has one.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Object(members) => members.iter().find(|it| &*it.key == key).map(|it| &it.node),
            _ => None,
        }
    }

    /// The item at `at`, if it is a list that has one.
    pub fn item(&self, at: usize) -> Option<&Node> {
        match &self.value {
            Value::List(items) => items.get(at),
            _ => None,
        }
    }

    /// Words for its kind.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::Text(_) | Value::Include(_) => "a string",
            Value::Broken(_) => "a broken file",
            Value::List(_) => "a list",
            Value::Object(_) => "an object",
        }
    }
}

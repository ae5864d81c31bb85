//! JSON values of templates. A copy of a value is a copy of a pointer.

use std::sync::Arc;
use weir_language::json::{JsonKind, JsonRef, quote};

/// A JSON value.
#[derive(Clone, Debug)]
pub enum Value {
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// Digits, as JSON writes them.
    Number(Arc<str>),
    Text(Arc<str>),
    /// A list.
    Array(Arc<[Value]>),
    /// Members in their order; no key stands twice.
    Object(Arc<Members>),
}

/// Members of an object.
#[derive(Clone, Debug, Default)]
pub struct Members {
    members: Vec<(Arc<str>, Value)>,
    /// Places of the members by key; empty while they are few.
    places: std::collections::HashMap<Arc<str>, usize>,
}

/// Number of members up to which they are looked through.
const FEW: usize = 8;

impl Members {
    /// Adds a member; one that has the key already gets the value.
    pub fn insert(&mut self, key: Arc<str>, value: Value) {
        match self.place(&key) {
            Some(at) => self.members[at].1 = value,
            None => {
                self.members.push((key, value));
                match self.members.len() {
                    count if count <= FEW => {}
                    count if count == FEW + 1 => {
                        let keys = self.members.iter().enumerate();
                        self.places = keys.map(|(at, it)| (Arc::clone(&it.0), at)).collect();
                    }
                    count => {
                        let key = Arc::clone(&self.members[count - 1].0);
                        self.places.insert(key, count - 1);
                    }
                }
            }
        }
    }

    fn place(&self, key: &str) -> Option<usize> {
        if self.members.len() <= FEW {
            self.members.iter().position(|it| &*it.0 == key)
        } else {
            self.places.get(key).copied()
        }
    }

    /// The member called `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.place(key).map(|at| &self.members[at].1)
    }

    /// All members in their order.
    pub fn iter(&self) -> std::slice::Iter<'_, (Arc<str>, Value)> {
        self.members.iter()
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// True without members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

impl FromIterator<(Arc<str>, Value)> for Members {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, Value)>>(members: I) -> Self {
        let mut made = Self::default();
        members.into_iter().for_each(|(key, value)| made.insert(key, value));
        made
    }
}

/// A text that would be longer than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl Value {
    pub fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    pub fn object<'k>(members: impl IntoIterator<Item = (&'k str, Value)>) -> Self {
        Self::Object(Arc::new(members.into_iter().map(|(key, value)| (key.into(), value)).collect()))
    }

    /// Reads a value of a tape. Its depth is that of the tape, which has a limit.
    pub fn from_json(json: JsonRef<'_>) -> Self {
        match json.kind() {
            JsonKind::Null => Self::Null,
            JsonKind::True => Self::Bool(true),
            JsonKind::False => Self::Bool(false),
            JsonKind::Number => Self::Number(json.as_number().unwrap_or("0").into()),
            JsonKind::String { .. } => Self::text(&json.as_str().unwrap_or_default()),
            JsonKind::Array => Self::Array(json.items().map(Self::from_json).collect()),
            JsonKind::Object => {
                let members = json.members().map(|(key, value)| (Arc::from(&*key), Self::from_json(value)));
                Self::Object(Arc::new(members.collect()))
            }
        }
    }

    /// Kriti's name of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "Null",
            Self::Bool(_) => "Boolean",
            Self::Number(_) => "Number",
            Self::Text(_) => "String",
            Self::Array(_) => "Array",
            Self::Object(_) => "Object",
        }
    }

    /// Appends the value as JSON text, as long as `out` has no more than `bytes_max` bytes.
    /// # Errors
    /// The text is longer: parts that are shared in memory are repeated in it.
    pub fn write_json(&self, bytes_max: usize, out: &mut String) -> Result<(), TooLong> {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(true) => out.push_str("true"),
            Self::Bool(false) => out.push_str("false"),
            Self::Number(digits) => out.push_str(digits),
            Self::Text(text) => quote(text, out),
            Self::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    item.write_json(bytes_max, out)?;
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (at, (key, value)) in members.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    quote(key, out);
                    out.push(':');
                    value.write_json(bytes_max, out)?;
                }
                out.push('}');
            }
        }
        if out.len() > bytes_max { Err(TooLong) } else { Ok(()) }
    }
}

//! Values during evaluation, borrowed from the answer's tape until something changes them.
//!
//! **Invariant:** [`Value::Json`] is an object or a list; scalars of a tape are taken apart at once. Digits stay text.

use std::borrow::Cow;
use weir_language::json::{Json, JsonKind, JsonRef};

/// A value. Missing differs from null: missing members are omitted from output.
#[derive(Clone, Debug)]
pub enum Value<'v> {
    /// No value.
    Missing,
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// Digits, as JSON writes them.
    Number(Cow<'v, str>),
    /// A decoded text.
    Text(Cow<'v, str>),
    /// A list created by the evaluation.
    Array(Vec<Value<'v>>),
    /// An object created by the evaluation.
    Object(Vec<(Cow<'v, str>, Value<'v>)>),
    /// An object or list on a tape.
    Json(JsonRef<'v>),
}

impl<'v> Value<'v> {
    /// Converts the value at `json`.
    pub fn of(json: JsonRef<'v>) -> Self {
        match json.kind() {
            JsonKind::Null => Self::Null,
            JsonKind::True => Self::Bool(true),
            JsonKind::False => Self::Bool(false),
            JsonKind::Number => Self::Number(Cow::Borrowed(json.raw())),
            JsonKind::String { .. } => json.as_str().map_or(Self::Missing, Self::Text),
            JsonKind::Object | JsonKind::Array => Self::Json(json),
        }
    }

    /// Parses JSON text to an owned value.
    pub fn read(text: &str, depth_max: u32) -> Option<Value<'static>> {
        let json = Json::parse(text.as_bytes(), depth_max).ok()?;
        Some(Value::of(json.root()).into_owned())
    }

    /// An owned copy. Recursion is bounded by the nesting of tapes and expressions.
    pub fn into_owned(self) -> Value<'static> {
        let own = |text: Cow<'v, str>| Cow::Owned(text.into_owned());
        match self {
            Self::Missing => Value::Missing,
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(value),
            Self::Number(digits) => Value::Number(own(digits)),
            Self::Text(text) => Value::Text(own(text)),
            Self::Array(items) => Value::Array(items.into_iter().map(Value::into_owned).collect()),
            Self::Object(members) => Value::Object(
                members.into_iter().map(|(key, value)| (own(key), value.into_owned())).collect(),
            ),
            Self::Json(json) if json.is_array() => {
                Value::Array(json.items().map(|item| Value::of(item).into_owned()).collect())
            }
            Self::Json(json) => {
                let own = |(key, value): (Cow<'v, str>, JsonRef<'v>)| {
                    (Cow::Owned(key.into_owned()), Value::of(value).into_owned())
                };
                Value::Object(json.members().map(own).collect())
            }
        }
    }

    /// True if the value is missing or null.
    pub const fn is_nothing(&self) -> bool {
        matches!(self, Self::Missing | Self::Null)
    }

    /// True if the value is missing.
    pub const fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    /// True for an object.
    pub fn is_object(&self) -> bool {
        match self {
            Self::Object(_) => true,
            Self::Json(json) => json.is_object(),
            Self::Missing | Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) | Self::Array(_) => {
                false
            }
        }
    }

    /// The value as a list item: missing becomes null.
    #[must_use]
    pub fn or_null(self) -> Self {
        if self.is_missing() { Self::Null } else { self }
    }

    /// Number of values it contains: the cost of visiting all of them.
    pub fn weight(&self) -> usize {
        match self {
            Self::Missing | Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) => 1,
            Self::Array(items) => 1 + items.iter().map(Value::weight).sum::<usize>(),
            Self::Object(members) => 1 + members.iter().map(|it| 1 + it.1.weight()).sum::<usize>(),
            Self::Json(json) => (json.json.nodes[json.at as usize].next - json.at) as usize,
        }
    }

    /// An estimate of its size as JSON, in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Missing | Self::Null | Self::Bool(_) => 5,
            Self::Number(text) | Self::Text(text) => text.len() + 2,
            Self::Array(items) => 2 + items.iter().map(|it| it.bytes() + 1).sum::<usize>(),
            Self::Object(members) => {
                2 + members.iter().map(|it| it.0.len() + it.1.bytes() + 4).sum::<usize>()
            }
            Self::Json(json) => json.raw().len(),
        }
    }

    /// The items of a list.
    pub fn items(&self) -> Option<Vec<Value<'v>>> {
        match self {
            Self::Array(items) => Some(items.clone()),
            Self::Json(json) if json.is_array() => Some(json.items().map(Value::of).collect()),
            Self::Missing
            | Self::Null
            | Self::Bool(_)
            | Self::Number(_)
            | Self::Text(_)
            | Self::Object(_)
            | Self::Json(_) => None,
        }
    }

    /// The members of an object.
    pub fn members(&self) -> Option<Vec<(Cow<'v, str>, Value<'v>)>> {
        match self {
            Self::Object(members) => Some(members.clone()),
            Self::Json(json) if json.is_object() => {
                Some(json.members().map(|(key, value)| (key, Value::of(value))).collect())
            }
            Self::Missing
            | Self::Null
            | Self::Bool(_)
            | Self::Number(_)
            | Self::Text(_)
            | Self::Array(_)
            | Self::Json(_) => None,
        }
    }

    /// The member `key`. For a list: the list of its items' members, null where an item has none.
    pub fn get(&self, key: &str) -> Value<'v> {
        match self {
            Self::Object(members) => {
                members.iter().find(|it| it.0 == key).map_or(Value::Missing, |it| it.1.clone())
            }
            Self::Json(json) if json.is_object() => json.get(key).map_or(Value::Missing, Value::of),
            Self::Array(items) => Value::Array(items.iter().map(|item| item.get(key).or_null()).collect()),
            Self::Json(json) => {
                Value::Array(json.items().map(|item| Value::of(item).get(key).or_null()).collect())
            }
            Self::Missing | Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) => Value::Missing,
        }
    }

    /// Kind of the value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Missing => "nothing",
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::Array(_) => "a list",
            Self::Object(_) => "an object",
            Self::Json(json) if json.is_array() => "a list",
            Self::Json(_) => "an object",
        }
    }

    /// Appends the value as JSON. Missing is null, and omitted as a member. Values of a tape are copied as written.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Missing | Self::Null => out.extend_from_slice(b"null"),
            Self::Bool(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
            Self::Number(digits) => out.extend_from_slice(digits.as_bytes()),
            Self::Text(text) => write_text(text, out),
            Self::Json(json) => out.extend_from_slice(json.raw().as_bytes()),
            Self::Array(items) => list(items.iter(), out, Value::write),
            Self::Object(members) => {
                let members = members.iter().filter(|it| !it.1.is_missing());
                object(members.map(|it| (&*it.0, &it.1)), out, Value::write);
            }
        }
    }

    /// Appends the value as JSON without the whitespace of tapes.
    pub fn write_compact(&self, out: &mut Vec<u8>) {
        match (self, self.items(), self.members()) {
            (_, Some(items), _) => list(items.iter(), out, Value::write_compact),
            (_, _, Some(members)) => {
                let members = members.iter().filter(|it| !it.1.is_missing());
                object(members.map(|it| (&*it.0, &it.1)), out, Value::write_compact);
            }
            (leaf, None, None) => leaf.write(out),
        }
    }
}

fn list<'i, 'v: 'i>(
    items: impl Iterator<Item = &'i Value<'v>>,
    out: &mut Vec<u8>,
    write: fn(&Value<'v>, &mut Vec<u8>),
) {
    out.push(b'[');
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(b']');
}

fn object<'i, 'v: 'i>(
    members: impl Iterator<Item = (&'i str, &'i Value<'v>)>,
    out: &mut Vec<u8>,
    write: fn(&Value<'v>, &mut Vec<u8>),
) {
    out.push(b'{');
    for (at, (key, value)) in members.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_text(key, out);
        out.push(b':');
        write(value, out);
    }
    out.push(b'}');
}

/// Appends `text` as a JSON string. Source: RFC 8259, section 7.
pub(crate) fn write_text(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        let short = match byte {
            b'"' => b'"',
            b'\\' => b'\\',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0..0x20 => b'u',
            _ => continue,
        };
        out.extend_from_slice(&text.as_bytes()[plain..at]);
        out.extend_from_slice(&[b'\\', short]);
        if short == b'u' {
            out.extend_from_slice(format!("{byte:04x}").as_bytes());
        }
        plain = at + 1;
    }
    out.extend_from_slice(&text.as_bytes()[plain..]);
    out.push(b'"');
}

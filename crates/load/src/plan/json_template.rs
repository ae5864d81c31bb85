//! Values inside of JSON by path, and JSON made from a template.
//!
//! **Invariant:** a value found keeps its digits and bytes.

use crate::notation::expression::{Expression, Known, Value};
use crate::notation::expression_text::{Piece, pieces, write_json, write_text};
use crate::notation::yaml::{Mistake, Tree};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_saphyr::{Location, Spanned};
use std::fmt;

/// A path such as `data.matches[0].id`; `$.` in front is allowed, `.0.` is `[0]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonPath {
    text: String,
    keys: Vec<String>,
}

impl JsonPath {
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let inner = text.strip_prefix("$.").or_else(|| text.strip_prefix('$')).unwrap_or(text);
        let spread = inner.replace('[', ".").replace(']', "");
        let keys: Vec<String> = spread.split('.').filter(|it| !it.is_empty()).map(str::to_owned).collect();
        if spread.contains(['*', '?', '(']) || keys.is_empty() {
            return Err(format!("`{text}` is no path; write one as `data.matches[0].id`"));
        }
        Ok(Self { text: text.to_owned(), keys })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The value there.
    pub(crate) fn find<'b>(&self, body: &'b [u8]) -> Option<&'b str> {
        let mut found: &RawValue = serde_json::from_slice(body).ok()?;
        for key in &self.keys {
            let mut reader = serde_json::Deserializer::from_str(found.get());
            found = Child(key).deserialize(&mut reader).ok()??;
        }
        Some(found.get())
    }
}

/// Reads the value of one key or index of an object or list.
struct Child<'k>(&'k str);

impl<'de> DeserializeSeed<'de> for Child<'_> {
    type Value = Option<&'de RawValue>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Child<'_> {
    type Value = Option<&'de RawValue>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            if key == self.0 {
                found = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let wanted = self.0.parse::<usize>().ok();
        let mut found = None;
        let mut at = 0;
        loop {
            let more = if Some(at) == wanted {
                found = list.next_element()?;
                found.is_some()
            } else {
                list.next_element::<IgnoredAny>()?.is_some()
            };
            if !more {
                return Ok(found);
            }
            at += 1;
        }
    }
}

/// A captured value as expressions have it: scalars by their type, all else as it stands.
pub(crate) fn parse_captured(raw: &str) -> Value<'static> {
    if let Ok(number) = raw.parse::<i64>() {
        return Value::Int(number);
    }
    match raw {
        "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ if raw.starts_with('"') => match serde_json::from_str::<String>(raw) {
            Ok(text) => Value::Text(text.into()),
            Err(_) => Value::Json(raw.to_owned().into()),
        },
        _ => Value::Json(raw.to_owned().into()),
    }
}

/// One step of writing JSON.
#[derive(Debug)]
enum JsonPart<N> {
    Bytes(Vec<u8>),
    Value(Expression<N>),
    Text(Vec<Piece<N>>),
}

/// JSON with expressions in it.
#[derive(Debug)]
pub(crate) struct JsonTemplate<N>(Vec<JsonPart<N>>);

impl<N> Default for JsonTemplate<N> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// The meaning of names, and the number of calls so far.
pub(crate) struct Naming<'n, N> {
    pub resolve: &'n dyn Fn(&str) -> Result<N, String>,
    pub calls: &'n mut u64,
}

impl<N> Naming<'_, N> {
    pub(crate) fn pieces(&mut self, text: &str, place: Location) -> Result<Vec<Piece<N>>, Mistake> {
        pieces(text, place, self.resolve, self.calls)
    }
}

impl<N> JsonTemplate<N> {
    /// Appends JSON that is the same each time.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        if let Some(JsonPart::Bytes(last)) = self.0.last_mut() {
            last.extend_from_slice(bytes);
        } else {
            self.0.push(JsonPart::Bytes(bytes.to_vec()));
        }
    }

    /// Appends a scalar.
    pub(crate) fn scalar(&mut self, value: &Value<'_>) {
        let mut bytes = Vec::new();
        write_json(value, &mut bytes);
        self.bytes(&bytes);
    }

    /// Appends a value of a plan.
    pub(crate) fn tree(
        &mut self,
        tree: &Tree,
        place: Location,
        naming: &mut Naming<'_, N>,
    ) -> Result<(), Mistake> {
        match tree {
            Tree::Null => self.scalar(&Value::Null),
            Tree::Bool(it) => self.scalar(&Value::Bool(*it)),
            Tree::Int(it) => self.scalar(&Value::Int(*it)),
            Tree::Decimal(it) => self.scalar(&Value::Decimal(*it)),
            Tree::Text(it) => self.text(it, place, naming)?,
            Tree::List(items) => {
                self.bytes(b"[");
                for (at, item) in items.iter().enumerate() {
                    self.bytes(if at > 0 { b"," } else { b"" });
                    self.tree(&item.value, item.referenced, naming)?;
                }
                self.bytes(b"]");
            }
            Tree::Map(pairs) => self.object(pairs, naming)?,
        }
        Ok(())
    }

    /// Appends an object.
    pub(crate) fn object(
        &mut self,
        pairs: &[(Spanned<String>, Spanned<Tree>)],
        naming: &mut Naming<'_, N>,
    ) -> Result<(), Mistake> {
        self.bytes(b"{");
        for (at, (key, value)) in pairs.iter().enumerate() {
            self.bytes(if at > 0 { b"," } else { b"" });
            self.scalar(&Value::Text(key.value.as_str().into()));
            self.bytes(b":");
            self.tree(&value.value, value.referenced, naming)?;
        }
        self.bytes(b"}");
        Ok(())
    }

    /// An expression alone keeps its type.
    fn text(&mut self, text: &str, place: Location, naming: &mut Naming<'_, N>) -> Result<(), Mistake> {
        let mut pieces = naming.pieces(text, place)?;
        match pieces.pop() {
            None => self.scalar(&Value::Text("".into())),
            Some(Piece::Plain(it)) if pieces.is_empty() => self.scalar(&Value::Text(it.into())),
            Some(Piece::Value(it)) if pieces.is_empty() => self.0.push(JsonPart::Value(it)),
            Some(last) => {
                pieces.push(last);
                self.0.push(JsonPart::Text(pieces));
            }
        }
        Ok(())
    }

    /// True if it is the same each time.
    pub(crate) fn is_constant(&self) -> bool {
        self.0.iter().all(|it| matches!(it, JsonPart::Bytes(_)))
    }

    /// Appends the JSON with the values of now.
    pub(crate) fn write(&self, known: &dyn Known<N>, out: &mut Vec<u8>) {
        for part in &self.0 {
            match part {
                JsonPart::Bytes(it) => out.extend_from_slice(it),
                JsonPart::Value(it) => write_json(&it.value(known), out),
                JsonPart::Text(pieces) => {
                    let mut text = String::new();
                    write_text(pieces, known, &mut text);
                    write_json(&Value::Text(text.into()), out);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_finds_a_value_with_its_digits() {
        let body =
            br#"{"data": {"matches": [{"id": 1}, {"id": 12345678901234567890.10, "a\"b": "x"}], "n": null}}"#;
        let check = |path: &str, expected: Option<&str>| {
            assert_eq!(JsonPath::read(path).expect("a path").find(body), expected, "{path}");
        };
        check("data.matches[1].id", Some("12345678901234567890.10"));
        check("$.data.matches.0", Some(r#"{"id": 1}"#));
        check("data.matches[1].a\"b", Some("\"x\""));
        check("data.n", Some("null"));
        check("data.n.x", None);
        check("data.matches[2]", None);
        check("data.matches.x", None);
        check("other", None);
        assert!(JsonPath::read("data.*.id").is_err());
        assert!(JsonPath::read("$").is_err());
    }

    #[test]
    fn a_captured_value_is_written_as_it_was() {
        for text in ["12345678901234567890.10", "7", "\"a\\\"b\"", "[1,2.50]", "null", "true"] {
            let mut out = Vec::new();
            write_json(&parse_captured(text), &mut out);
            assert_eq!(String::from_utf8(out).expect("JSON is text"), text);
        }
    }
}

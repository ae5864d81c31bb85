//! Values inside of JSON, found by a path.
//!
//! **Invariant:** a value found keeps its digits and bytes.

use crate::notation::expression::Value;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::expression_text::write_json;

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

//! Types of GraphQL as texts, such as `[Line!]!`, in entries of actions.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use weir_language::wraps::Wraps;

/// A type as GraphQL writes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TypeText {
    /// The named type inside.
    pub name: String,
    /// Brackets and exclamation marks around the name.
    pub wraps: Wraps,
}

impl TypeText {
    /// Reads `text`; white space between its marks has no meaning.
    /// # Errors
    /// The text is no type, in Hasura's words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let invalid = || format!("not a valid GraphQL type: {text}");
        let plain: String = text.chars().filter(|it| !it.is_ascii_whitespace()).collect();
        let inner = plain.trim_start_matches('[');
        let lists = plain.len() - inner.len();
        let name_end = inner.find(['!', ']']).unwrap_or(inner.len());
        let (name, marks) = inner.split_at(name_end);
        if !crate::names::is_name(name) {
            return Err(invalid());
        }
        let mut wraps = Wraps::default();
        let mut is_marked = false;
        let mut closed = 0;
        for mark in marks.bytes() {
            match mark {
                b'!' if !is_marked => (wraps, is_marked) = (wraps.non_null(), true),
                b']' => {
                    closed += 1;
                    (wraps, is_marked) = (wraps.list().ok_or_else(invalid)?, false);
                }
                _ => return Err(invalid()),
            }
        }
        if closed == lists { Ok(Self { name: name.to_owned(), wraps }) } else { Err(invalid()) }
    }
}

impl fmt::Display for TypeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.wraps.write(&self.name, &mut out);
        f.write_str(&out)
    }
}

impl<'de> Deserialize<'de> for TypeText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl Serialize for TypeText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_written_as_they_are_read() {
        for text in ["Int", "Int!", "[Int]", "[Int!]!", "[[Line]!]"] {
            assert_eq!(TypeText::parse(text).expect("a type").to_string(), text);
        }
        assert_eq!(TypeText::parse(" [ Int ! ] ").expect("a type").to_string(), "[Int!]");
    }

    #[test]
    fn texts_that_are_no_type_are_refused() {
        let deep = format!("{}Int{}", "[".repeat(16), "]".repeat(16));
        for text in
            ["", "!", "[Int", "Int]", "Int!!", "[Int]]", "In t!x", "Int } type B { a: Int", "__Type", &deep]
        {
            assert!(TypeText::parse(text).is_err(), "{text}");
        }
    }
}

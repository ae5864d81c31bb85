//! Names of tables and functions, with a schema or without.

use crate::json::{Json, Members};
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt;

/// Forms of a name, in messages.
const FORMS: &str = "a table: its name, or an object with `name` and `schema`";

/// A table by name: `Album`, or with its schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum TableName {
    /// The name alone.
    Name(String),
    /// Name with the schema.
    Qualified(QualifiedName),
}

/// A table's schema and name.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QualifiedName {
    /// The table.
    pub name: String,
    /// The database's schema, or empty for the only one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub schema: String,
}

/// Reads a text or an object. An untagged enum would read a list as the members of the object.
struct NameVisitor;

impl<'de> Visitor<'de> for NameVisitor {
    type Value = TableName;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(FORMS)
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<TableName, E> {
        Ok(TableName::Name(name.to_owned()))
    }

    // Without an unknown key the name could be that of another table, so the whole name is refused.
    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<TableName, A::Error> {
        let qualified = QualifiedName::deserialize(MapAccessDeserializer::new(members));
        qualified.map(TableName::Qualified).map_err(|_| A::Error::custom(FORMS))
    }
}

impl<'de> Deserialize<'de> for TableName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameVisitor)
    }
}

/// `schema.name`, or `name` without a schema: no two names have one text.
pub(crate) fn join_parts(schema: &str, name: &str) -> String {
    let name = quote_part(name);
    if schema.is_empty() { name.into_owned() } else { format!("{}.{name}", quote_part(schema)) }
}

/// Puts a part that could be taken for several into quotation marks.
fn quote_part(part: &str) -> Cow<'_, str> {
    if part.contains(['.', '"']) { format!("\"{}\"", part.replace('"', "\"\"")).into() } else { part.into() }
}

impl TableName {
    /// The name in messages: with its schema, unless that is `public`.
    pub(crate) fn display_name(&self) -> String {
        match self.parts() {
            ("public", name) => join_parts("", name),
            (schema, name) => join_parts(schema, name),
        }
    }

    /// The name in `json`: a text, or an object with `name` and perhaps `schema`.
    pub fn of_json(json: &Json) -> Option<Self> {
        let name = json.get("name").and_then(Json::text);
        let schema = json.get("schema").and_then(Json::text).unwrap_or_default();
        match (json.text(), name) {
            (Some(name), _) => Some(Self::Name(name.to_owned())),
            (None, Some(name)) => {
                Some(Self::Qualified(QualifiedName { schema: schema.to_owned(), name: name.to_owned() }))
            }
            (None, None) => None,
        }
    }

    pub(crate) fn into_json(self) -> Json {
        let text = |it: String| Json::Text(it.into());
        match self {
            Self::Name(name) => text(name),
            Self::Qualified(QualifiedName { schema, name }) => {
                Json::Object(Members(vec![("schema".into(), text(schema)), ("name".into(), text(name))]))
            }
        }
    }

    /// Gives a name without a schema this one.
    pub fn in_schema(&mut self, schema: &str) {
        let (own, name) = self.parts();
        if own.is_empty() {
            *self = Self::Qualified(QualifiedName { schema: schema.to_owned(), name: name.to_owned() });
        }
    }

    /// Removes `schema`, if it has this one.
    pub fn out_of_schema(&mut self, schema: &str) {
        let (own, name) = self.parts();
        if own == schema {
            *self = Self::Name(name.to_owned());
        }
    }

    /// Schema (or empty) and name.
    pub fn parts(&self) -> (&str, &str) {
        match self {
            Self::Name(name) => ("", name),
            Self::Qualified(qualified) => (&qualified.schema, &qualified.name),
        }
    }
}

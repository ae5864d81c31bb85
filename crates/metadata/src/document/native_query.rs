//! Native queries: statements of the owner, with named arguments, that give rows of a logical model.
//!
//! `code` is cut into texts and arguments here ([`NativeQueryEntry::parts`]), so that no later step sees a name within a text.
//!
//! **Invariant:** an argument is a part of its own: its value is never put into a text.

use super::logical_model::LogicalField;
use super::parts::object::read_object;
use super::table::RelationshipEntry;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A native query.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NativeQueryEntry {
    /// The arguments by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<BTreeMap<String, NativeArgument>>,
    /// Relationships to many rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array_relationships: Option<Vec<RelationshipEntry>>,
    /// The statement, arguments written `{{name}}`.
    pub code: String,
    /// Description of its root field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Relationships to one row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object_relationships: Option<Vec<RelationshipEntry>>,
    /// The rows.
    pub returns: Returns,
    pub root_field_name: String,
    /// The kind, of which there is one. Exports leave it out.
    #[serde(rename = "type", default, skip_serializing)]
    pub kind: Option<NativeQueryKind>,
}

/// Kind of a native query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NativeQueryKind {
    /// A statement.
    Query,
}

/// The rows of a native query.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged, expecting = "the name of a logical model, or an object with `fields`")]
pub enum Returns {
    /// Rows of the model with this name.
    Model(String),
    /// Rows of a model without a name, which only the admin sees.
    Inline(#[serde(deserialize_with = "read_object")] InlineModel),
}

/// A model without a name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct InlineModel {
    /// The columns.
    pub fields: Vec<LogicalField>,
}

/// An argument of a native query.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NativeArgument {
    /// Description of the argument.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// It may be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nullable: Option<bool>,
    /// The database's name for its type.
    #[serde(rename = "type")]
    pub ty: String,
}

/// A part of a native query's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodePart {
    /// SQL of the owner.
    Text(String),
    /// The value of the argument with this name.
    Argument(String),
}

impl NativeQueryEntry {
    /// The code in parts, without blanks and semicolons at its end.
    /// # Errors
    /// A brace is not closed; an argument is used and not declared, or the other way round.
    pub fn parts(&self) -> Result<Vec<CodePart>, String> {
        let parts = split(&self.code)?;
        let used: BTreeSet<&str> = parts
            .iter()
            .filter_map(|it| match it {
                CodePart::Argument(name) => Some(name.as_str()),
                CodePart::Text(_) => None,
            })
            .collect();
        let declared: BTreeSet<&str> =
            self.arguments.iter().flat_map(BTreeMap::keys).map(String::as_str).collect();
        let list = |names: Vec<&&str>| names.into_iter().copied().collect::<Vec<_>>().join(", ");
        let undeclared: Vec<&&str> = used.difference(&declared).collect();
        if !undeclared.is_empty() {
            return Err(format!(
                "The following columns are used in the query, but are not declared as arguments: {}",
                list(undeclared)
            ));
        }
        let unused: Vec<&&str> = declared.difference(&used).collect();
        if !unused.is_empty() {
            return Err(format!(
                "The following columns are declared as arguments, but are not used in the query: {}",
                list(unused)
            ));
        }
        Ok(parts)
    }

    /// Relationships to one row and to many, each list with its key.
    pub fn relationships(&self) -> impl Iterator<Item = (&'static str, &RelationshipEntry)> {
        let objects = self.object_relationships.iter().flatten().map(|it| ("object_relationships", it));
        let arrays = self.array_relationships.iter().flatten().map(|it| ("array_relationships", it));
        objects.chain(arrays)
    }
}

/// Cuts `code` at its arguments.
fn split(code: &str) -> Result<Vec<CodePart>, String> {
    let mut rest = code.trim_end_matches(|it: char| it == ';' || it.is_whitespace());
    let mut parts = Vec::new();
    while let Some((text, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").ok_or("Found '{{' without a matching closing '}}'")?;
        parts.extend((!text.is_empty()).then(|| CodePart::Text(text.to_owned())));
        parts.push(CodePart::Argument(name.to_owned()));
        rest = after;
    }
    parts.extend((!rest.is_empty()).then(|| CodePart::Text(rest.to_owned())));
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(code: &str, arguments: &[&str]) -> NativeQueryEntry {
        let argument = |name: &&str| {
            ((*name).to_owned(), NativeArgument { description: None, nullable: None, ty: "text".into() })
        };
        NativeQueryEntry {
            arguments: Some(arguments.iter().map(argument).collect()),
            array_relationships: None,
            code: code.into(),
            description: None,
            object_relationships: None,
            returns: Returns::Model("m".into()),
            root_field_name: "q".into(),
            kind: None,
        }
    }

    #[test]
    fn the_kind_may_be_said_and_is_not_written() {
        let text = r#"{"type":"query","code":"SELECT 1","returns":"m","root_field_name":"q"}"#;
        let entry: NativeQueryEntry = crate::read::entry(text).expect("it is one");
        let written = serde_json::to_string(&entry).expect("it is written");
        assert_eq!(written, r#"{"code":"SELECT 1","returns":"m","root_field_name":"q"}"#);
        assert!(crate::read::entry::<NativeQueryEntry>(&text.replace("query\"", "mutation\"")).is_err());
    }

    #[test]
    fn code_is_cut_at_its_arguments() {
        let text = |it: &str| CodePart::Text(it.into());
        let argument = |it: &str| CodePart::Argument(it.into());
        let parts = entry("SELECT {{a}}, {{b}} + {{a}} ; \n;", &["a", "b"]).parts();
        let expected =
            [text("SELECT "), argument("a"), text(", "), argument("b"), text(" + "), argument("a")];
        assert_eq!(parts.expect("it is sound"), expected);
        assert_eq!(entry("SELECT 1", &[]).parts(), Ok(vec![text("SELECT 1")]));
    }

    #[test]
    fn arguments_that_are_used_and_declared_are_the_same() {
        let message = |code, arguments: &[&str]| entry(code, arguments).parts().expect_err("it is wrong");
        assert_eq!(
            message("SELECT {{b}}, {{ a }}, {{c}}", &["c", "a"]),
            "The following columns are used in the query, but are not declared as arguments:  a , b"
        );
        assert_eq!(
            message("SELECT {{a}}", &["a", "d", "c"]),
            "The following columns are declared as arguments, but are not used in the query: c, d"
        );
        assert_eq!(message("SELECT {{a", &["a"]), "Found '{{' without a matching closing '}}'");
    }

    #[test]
    fn a_native_query_is_written_as_it_was_read() {
        let json = r#"{"arguments":{"a":{"description":"d","nullable":false,"type":"integer"}},"array_relationships":[],"code":"SELECT {{a}}","object_relationships":[{"name":"r","using":{"manual_configuration":{"column_mapping":{"a":"b"},"insertion_order":null,"remote_native_query":"q"}}}],"returns":{"fields":[{"name":"x","type":"text"}]},"root_field_name":"q"}"#;
        let entry: NativeQueryEntry = serde_json::from_str(json).expect("it is read");
        assert_eq!(serde_json::to_string(&entry).expect("it is written"), json);
    }
}

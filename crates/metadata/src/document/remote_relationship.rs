//! Relationships to another source: to a table or a remote schema, from a table or a type of a remote schema.

use super::table_name::TableName;
use crate::json::Json;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One of `remote_relationships` of a table, or of `relationships` of a type of a remote schema.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RemoteRelationshipEntry {
    /// Target and keys.
    pub definition: RemoteDefinition,
    /// The field's name.
    pub name: String,
}

/// `definition`: exactly one of `to_source`, `to_remote_schema`, and the older form of the latter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct RemoteDefinition {
    /// The older form: columns and scalar computed fields of the table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hasura_fields: Option<Vec<String>>,
    /// The older form: the field that is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote_field: Option<Json>,
    /// The older form: the remote schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote_schema: Option<String>,
    /// To a field of a remote schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_remote_schema: Option<ToRemoteSchema>,
    /// To a table of another source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_source: Option<ToSource>,
}

/// `to_source`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ToSource {
    /// Theirs by ours.
    pub field_mapping: BTreeMap<String, String>,
    /// One row or many.
    pub relationship_type: RelationshipType,
    /// The other source.
    pub source: String,
    /// The other table.
    pub table: TableName,
}

/// Number of rows that a relationship leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RelationshipType {
    /// One row or none.
    Object,
    /// A list of rows.
    Array,
}

/// `to_remote_schema`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ToRemoteSchema {
    /// Fields whose values `$name` stands for.
    pub lhs_fields: Vec<String>,
    /// The field that is asked: one member per level, with `arguments` and, for a level below, `field`.
    pub remote_field: Json,
    pub remote_schema: String,
}

/// The target of a relationship.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteTarget<'d> {
    /// A table.
    Source(&'d ToSource),
    /// A field of a remote schema.
    RemoteSchema {
        /// The remote schema.
        name: &'d str,
        /// Fields whose values `$name` stands for.
        lhs_fields: &'d [String],
        /// See [`ToRemoteSchema::remote_field`].
        remote_field: &'d Json,
    },
}

/// One level of `remote_field`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteFieldStep<'d> {
    /// The field.
    pub name: &'d str,
    /// Arguments of the field by name; texts that begin with `$` stand for fields of the parent. `None`: there are none.
    pub arguments: Option<&'d Json>,
}

/// Levels that `remote_field` may have.
const LEVELS_MAX: usize = 32;

impl RemoteDefinition {
    /// The target.
    /// # Errors
    /// None of the forms is there, or more than one of them.
    pub fn target(&self) -> Result<RemoteTarget<'_>, &'static str> {
        let old = (&self.remote_schema, &self.hasura_fields, &self.remote_field);
        match (&self.to_source, &self.to_remote_schema, old) {
            (Some(source), None, (None, None, None)) => Ok(RemoteTarget::Source(source)),
            (None, Some(remote), (None, None, None)) => Ok(RemoteTarget::RemoteSchema {
                name: &remote.remote_schema,
                lhs_fields: &remote.lhs_fields,
                remote_field: &remote.remote_field,
            }),
            (None, None, (Some(name), Some(lhs_fields), Some(remote_field))) => {
                Ok(RemoteTarget::RemoteSchema { name, lhs_fields, remote_field })
            }
            _ => Err(
                "expected one of `to_source`, `to_remote_schema`, and `remote_schema` with `hasura_fields` and `remote_field`",
            ),
        }
    }
}

impl<'d> RemoteTarget<'d> {
    /// The fields of the parent that the relationship reads, by the names that its source gives them.
    pub fn lhs_fields(&self) -> Vec<&'d str> {
        match *self {
            Self::Source(source) => source.field_mapping.keys().map(String::as_str).collect(),
            Self::RemoteSchema { lhs_fields, .. } => lhs_fields.iter().map(String::as_str).collect(),
        }
    }
}

/// The levels of `remote_field`, outermost first.
/// # Errors
/// A level that is no object with one member, in Hasura's words; or too many levels.
pub fn remote_field_steps(remote_field: &Json) -> Result<Vec<RemoteFieldStep<'_>>, String> {
    let mut steps = Vec::new();
    let mut below = Some(remote_field);
    while let Some(level) = below {
        let Json::Object(members) = level else {
            return Err("a level of `remote_field` is an object".into());
        };
        let (name, call) = match members.0.as_slice() {
            [(name, call)] => (name, call),
            [] => return Err("Expecting one single mapping, received none.".into()),
            _ => return Err("Expecting one single mapping, received too many.".into()),
        };
        let Json::Object(call) = call else { return Err(format!("`{name}` of `remote_field` is an object")) };
        if let Some((other, _)) = call.0.iter().find(|it| !matches!(&*it.0, "arguments" | "field")) {
            return Err(format!("`{name}` of `remote_field` has `arguments` and `field`, not `{other}`"));
        }
        let arguments = call.get("arguments").filter(|it| !matches!(it, Json::Null));
        if arguments.is_some_and(|it| !matches!(it, Json::Object(_))) {
            return Err(format!("`arguments` of `{name}` are an object"));
        }
        steps.push(RemoteFieldStep { name, arguments });
        if steps.len() > LEVELS_MAX {
            return Err(format!("`remote_field` has more than {LEVELS_MAX} levels"));
        }
        below = call.get("field").filter(|it| !matches!(it, Json::Null));
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{deserialize::Reader, tree};
    use std::path::Path;

    fn read(text: &str) -> Json {
        // A text that begins with a bracket would be read as JSON.
        let node = tree(&format!("# YAML\n{text}"), Path::new("a.yaml")).expect("it is YAML");
        Json::deserialize(Reader::new(&node)).expect("it is JSON")
    }

    fn check(text: &str, expected: Result<&[&str], &str>) {
        let json = read(text);
        let steps = remote_field_steps(&json).map(|it| it.iter().map(|it| it.name).collect::<Vec<_>>());
        assert_eq!(steps.as_deref().map_err(String::as_str), expected, "{text}");
    }

    #[test]
    fn a_level_has_one_field() {
        check("{user: {arguments: {id: $id}}}", Ok(&["user"]));
        check("{a: {field: {b: {arguments: {}, field: null}}}}", Ok(&["a", "b"]));
        check("{}", Err("Expecting one single mapping, received none."));
        check("{a: {}, b: {}}", Err("Expecting one single mapping, received too many."));
        check("{a: {field: {}}}", Err("Expecting one single mapping, received none."));
        check(
            "{a: {argument: {}}}",
            Err("`a` of `remote_field` has `arguments` and `field`, not `argument`"),
        );
        check("{a: {arguments: []}}", Err("`arguments` of `a` are an object"));
        check("{a: []}", Err("`a` of `remote_field` is an object"));
        check("[]", Err("a level of `remote_field` is an object"));
    }

    #[test]
    fn a_definition_has_one_target() {
        let definition = |text: &str| -> RemoteDefinition {
            let node = tree(&format!("# YAML\n{text}"), Path::new("a.yaml")).expect("it is YAML");
            RemoteDefinition::deserialize(Reader::new(&node)).expect("it is a definition")
        };
        let old = definition(
            "{remote_schema: pay, hasura_fields: [id], remote_field: {bill: {arguments: {id: $id}}}}",
        );
        assert_eq!(old.target().expect("it has a target").lhs_fields(), ["id"]);
        let to_source = "to_source: {source: b, table: t, relationship_type: object, field_mapping: {x: y}}";
        let table = definition(&format!("{{{to_source}}}"));
        assert_eq!(table.target().expect("it has a target").lhs_fields(), ["x"]);
        for text in ["{}", "{remote_schema: pay}", &format!("{{{to_source}, remote_schema: pay}}")] {
            assert!(definition(text).target().is_err(), "{text}");
        }
    }
}

//! Entries for tables in the keys of Hasura's metadata v3.
//!
//! A key that is not supported yet is an error, unless its value is empty. Unknown keys
//! are errors too.

use serde::de::{Error, IgnoredAny};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// A table as it is to be served.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "keys that have to be empty hold nothing")]
pub struct TableEntry {
    /// The table.
    pub table: TableName,
    /// True if its rows are the values of an enum.
    #[serde(default)]
    pub is_enum: bool,
    /// Names and comments.
    #[serde(default)]
    pub configuration: Configuration,
    /// Relationships to one row.
    #[serde(default)]
    pub object_relationships: Vec<RelationshipEntry>,
    /// Relationships to many rows.
    #[serde(default)]
    pub array_relationships: Vec<RelationshipEntry>,
    /// Functions that take its rows.
    #[serde(default)]
    pub computed_fields: Vec<ComputedFieldEntry>,
    #[serde(default, deserialize_with = "unsupported::remote_relationships")]
    remote_relationships: (),
    #[serde(default, deserialize_with = "unsupported::select_permissions")]
    select_permissions: (),
    #[serde(default, deserialize_with = "unsupported::insert_permissions")]
    insert_permissions: (),
    #[serde(default, deserialize_with = "unsupported::update_permissions")]
    update_permissions: (),
    #[serde(default, deserialize_with = "unsupported::delete_permissions")]
    delete_permissions: (),
    #[serde(default, deserialize_with = "unsupported::event_triggers")]
    event_triggers: (),
    #[serde(default, deserialize_with = "unsupported::apollo_federation_config")]
    apollo_federation_config: (),
}

/// Readers of the keys that nothing serves yet: they accept what is empty.
mod unsupported {
    use super::{Deserialize, Deserializer, Error, IgnoredAny};

    fn empty<'de, D: Deserializer<'de>>(deserializer: D, key: &str) -> Result<(), D::Error> {
        match Option::<Vec<IgnoredAny>>::deserialize(deserializer) {
            Ok(list) if list.as_ref().is_none_or(Vec::is_empty) => Ok(()),
            Ok(_) | Err(_) => Err(D::Error::custom(format_args!(
                "`{key}` is not supported yet: it has to be empty or left out"
            ))),
        }
    }

    macro_rules! keys {
        ($($key:ident),*) => { $(
            pub(super) fn $key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
                empty(deserializer, stringify!($key))
            }
        )* };
    }
    keys!(
        remote_relationships,
        select_permissions,
        insert_permissions,
        update_permissions,
        delete_permissions,
        event_triggers,
        apollo_federation_config
    );
}

/// A table by name: `Album`, or with its schema.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(untagged, expecting = "a table: its name, or an object with `name` and `schema`")]
pub enum TableName {
    /// The name alone.
    Name(String),
    /// With its schema.
    Qualified(QualifiedName),
}

/// A table's schema and name.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct QualifiedName {
    /// The database's schema, or empty for the only one.
    #[serde(default)]
    pub schema: String,
    /// The table.
    pub name: String,
}

impl TableName {
    /// Schema (or empty) and name.
    #[must_use]
    pub fn parts(&self) -> (&str, &str) {
        match self {
            Self::Name(name) => ("", name),
            Self::Qualified(qualified) => (&qualified.schema, &qualified.name),
        }
    }
}

/// `configuration` of a table.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Configuration {
    /// The base name of types and root fields.
    pub custom_name: Option<String>,
    /// Names of single root fields.
    pub custom_root_fields: RootFieldEntries,
    /// By the database's column name.
    pub column_config: BTreeMap<String, ColumnConfig>,
    /// The older form: GraphQL names by the database's names.
    pub custom_column_names: BTreeMap<String, String>,
    /// A description of the table, instead of the database's; an empty one is none.
    pub comment: Option<String>,
}

/// `column_config` of one column.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ColumnConfig {
    /// Its GraphQL name.
    pub custom_name: Option<String>,
    /// Its description, instead of the usual one; an empty one is none.
    pub comment: Option<String>,
}

/// `custom_root_fields`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct RootFieldEntries {
    pub select: Option<RootFieldEntry>,
    pub select_by_pk: Option<RootFieldEntry>,
    pub select_aggregate: Option<RootFieldEntry>,
    pub select_group_by: Option<RootFieldEntry>,
    /// Kept for the day subscriptions are served; names nothing yet.
    pub select_stream: Option<RootFieldEntry>,
    pub insert: Option<RootFieldEntry>,
    pub insert_one: Option<RootFieldEntry>,
    pub update: Option<RootFieldEntry>,
    pub update_by_pk: Option<RootFieldEntry>,
    pub update_many: Option<RootFieldEntry>,
    pub delete: Option<RootFieldEntry>,
    pub delete_by_pk: Option<RootFieldEntry>,
}

/// One root field: its name, or its name and comment.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a root field: its name, or an object with `name` and `comment`")]
pub enum RootFieldEntry {
    /// The name alone.
    Name(String),
    /// Both.
    Full(FullRootField),
}

/// Name and comment of a root field.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FullRootField {
    /// The field's name, if it differs from the rule.
    pub name: Option<String>,
    /// Its description, instead of the usual one; an empty one is none.
    pub comment: Option<String>,
}

/// A function that is to be served.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionEntry {
    /// The function, named as tables are.
    pub function: TableName,
    /// Names, the session and the root.
    #[serde(default)]
    pub configuration: FunctionConfiguration,
    /// The description of the field of its rows, instead of the database's; an empty one is none.
    #[serde(default)]
    pub comment: Option<String>,
}

/// `configuration` of a function.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FunctionConfiguration {
    /// The base name of its root fields and of the type of its arguments.
    pub custom_name: Option<String>,
    /// Names of single root fields.
    pub custom_root_fields: FunctionRootFields,
    /// The argument that takes the session; clients do not see it.
    pub session_argument: Option<String>,
    /// On which root it stands.
    pub exposed_as: Option<ExposedAs>,
}

/// `custom_root_fields` of a function.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FunctionRootFields {
    /// Its rows.
    pub function: Option<String>,
    /// Aggregates over them.
    pub function_aggregate: Option<String>,
}

/// A field that a function makes of a row.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComputedFieldEntry {
    /// The field's name.
    pub name: String,
    /// The function.
    pub definition: ComputedFieldDefinition,
    /// Its description, instead of the function's; an empty one is none.
    #[serde(default)]
    pub comment: Option<String>,
}

/// `definition` of a computed field.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComputedFieldDefinition {
    /// The function, named as tables are.
    pub function: TableName,
    /// The argument that takes the row; else the first one.
    #[serde(default)]
    pub table_argument: Option<String>,
    /// The argument that takes the session; clients do not see it.
    #[serde(default)]
    pub session_argument: Option<String>,
}

/// On which root a function stands.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum ExposedAs {
    /// `query_root`.
    Query,
    /// `mutation_root`.
    Mutation,
}

/// A relationship.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelationshipEntry {
    /// The field's name.
    pub name: String,
    /// The condition on related rows.
    pub using: Using,
    /// The description of its field, instead of the usual one; an empty one is none.
    #[serde(default)]
    pub comment: Option<String>,
}

/// The condition on related rows: exactly one of both.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Using {
    /// By a foreign key.
    pub foreign_key_constraint_on: Option<ForeignKeyOn>,
    /// By columns that are equal.
    pub manual_configuration: Option<Manual>,
}

/// The columns of a foreign key.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "the foreign key's column, a list of its columns, or an object with `table` and `columns`"
)]
pub enum ForeignKeyOn {
    /// A column of this table.
    Column(String),
    /// Columns of this table.
    Columns(Vec<String>),
    /// Columns of the other table.
    Remote(RemoteKey),
}

/// A foreign key of another table that points here.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoteKey {
    /// The other table.
    pub table: TableName,
    /// Its column.
    #[serde(default)]
    pub column: Option<String>,
    /// Its columns.
    #[serde(default)]
    pub columns: Vec<String>,
}

/// `manual_configuration`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manual {
    /// The other table.
    pub remote_table: TableName,
    /// Theirs by ours.
    pub column_mapping: BTreeMap<String, String>,
    /// In which order nested inserts go.
    #[serde(default)]
    pub insertion_order: Option<InsertionOrder>,
}

/// The order of nested inserts along a manual object relationship.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum InsertionOrder {
    /// The related row first.
    BeforeParent,
    /// The related row last.
    AfterParent,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: Result<&str, &str>) {
        match serde_json::from_str::<TableEntry>(json) {
            Ok(entry) => assert_eq!(Ok(entry.table.parts().1), expected, "{json}"),
            Err(error) => {
                let error = error.to_string();
                let part = expected.expect_err(&error);
                assert!(error.contains(part), "{json}: {error}");
            }
        }
    }

    #[test]
    fn entries_of_metadata_v3_are_read() {
        check(r#"{"table": "Album"}"#, Ok("Album"));
        check(
            r#"{"table": {"schema": "public", "name": "Album"}, "is_enum": false, "select_permissions": [],
            "configuration": {"custom_name": "Record", "custom_root_fields": {"select": "records",
            "insert": {"name": "addRecords", "comment": "adds"}}, "comment": "c", "custom_column_names": {"a": "b"},
            "column_config": {"Title": {"custom_name": "title", "comment": "the title"}}},
            "object_relationships": [{"name": "a", "using": {"foreign_key_constraint_on": "ArtistId"}},
              {"name": "b", "using": {"foreign_key_constraint_on": ["x", "y"]}},
              {"name": "c", "using": {"foreign_key_constraint_on": {"table": "t", "column": "x"}}}],
            "array_relationships": [{"name": "t", "using": {"manual_configuration": {"remote_table": "Track",
              "column_mapping": {"AlbumId": "AlbumId"}, "insertion_order": null}}}]}"#,
            Ok("Album"),
        );
    }

    #[test]
    fn what_is_not_served_or_not_known_is_an_error() {
        check(
            r#"{"table": "a", "select_permissions": [{"role": "u"}]}"#,
            Err("`select_permissions` is not supported yet"),
        );
        check(r#"{"table": "a", "colour": 1}"#, Err("unknown field `colour`"));
        check(r#"{"table": {"nom": "a"}}"#, Err("a table: its name"));
        check(r#"{"table": "a", "configuration": {"custom_nam": "b"}}"#, Err("unknown field `custom_nam`"));
    }
}

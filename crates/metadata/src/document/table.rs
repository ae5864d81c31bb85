//! Tables that are tracked, in the keys of Hasura's metadata v3. Unknown keys are errors.
//!
//! **Invariant:** the members of a type stand in the order in which Hasura writes them, which most often is that of the alphabet.

use super::event_trigger::EventTriggerEntry;
use super::is_default;
use super::parts::object::read_object;
use super::permission::{
    self, DeletePermission, InsertPermission, PermissionEntry, SelectPermission, UpdatePermission,
};
use super::remote_relationship::RemoteRelationshipEntry;
use crate::json::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

pub use super::table_name::{QualifiedName, TableName};

/// A table as it is to be served.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableEntry {
    pub table: TableName,
    /// True if its rows are the values of an enum.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_enum: bool,
    /// Names and comments.
    #[serde(default, skip_serializing_if = "is_default")]
    pub configuration: Configuration,
    /// Relationships to one row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub object_relationships: Vec<RelationshipEntry>,
    /// Relationships to many rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub array_relationships: Vec<RelationshipEntry>,
    /// Functions that take its rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub computed_fields: Vec<ComputedFieldEntry>,
    /// Relationships to other sources and remote schemas.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub remote_relationships: Vec<RemoteRelationshipEntry>,
    /// Roles that may insert rows.
    #[serde(
        default,
        deserialize_with = "permission::deserialize_shared",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub insert_permissions: Vec<PermissionEntry<InsertPermission>>,
    /// Roles that may read rows.
    #[serde(
        default,
        deserialize_with = "permission::deserialize_shared",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub select_permissions: Vec<PermissionEntry<SelectPermission>>,
    /// Roles that may change rows.
    #[serde(
        default,
        deserialize_with = "permission::deserialize_shared",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub update_permissions: Vec<PermissionEntry<UpdatePermission>>,
    /// Roles that may delete rows.
    #[serde(
        default,
        deserialize_with = "permission::deserialize_shared",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub delete_permissions: Vec<PermissionEntry<DeletePermission>>,
    /// Changes of rows that are told to webhooks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub event_triggers: Vec<EventTriggerEntry>,
    /// Makes the table's rows entities of a federation, if the configuration has `federation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apollo_federation_config: Option<ApolloFederationConfig>,
    /// Not supported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub logical_model: Option<Json>,
}

/// Switches a table on for federation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApolloFederationConfig {
    /// Hasura's name for the only version that there is.
    pub enable: FederationVersion,
}

/// Versions of `apollo_federation_config`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FederationVersion {
    /// The primary key is the key of the entity.
    V1,
}

impl TableEntry {
    /// True if its rows are entities of a federation.
    pub fn is_entity(&self) -> bool {
        self.apollo_federation_config.is_some()
    }

    /// An entry that says nothing but the table.
    pub fn new(table: TableName) -> Self {
        Self {
            table,
            is_enum: false,
            configuration: Configuration::default(),
            object_relationships: Vec::new(),
            array_relationships: Vec::new(),
            computed_fields: Vec::new(),
            remote_relationships: Vec::new(),
            insert_permissions: Vec::new(),
            select_permissions: Vec::new(),
            update_permissions: Vec::new(),
            delete_permissions: Vec::new(),
            event_triggers: Vec::new(),
            apollo_federation_config: None,
            logical_model: None,
        }
    }
}

impl TableEntry {
    /// Names without a schema are of `schema` then.
    pub fn in_schema(&mut self, schema: &str) {
        self.each_name(|it| it.in_schema(schema));
    }

    /// Removes `schema` from the names that have it, for a database without schemas.
    pub fn out_of_schema(&mut self, schema: &str) {
        self.each_name(|it| it.out_of_schema(schema));
    }

    fn each_name(&mut self, mut change: impl FnMut(&mut TableName)) {
        change(&mut self.table);
        for entry in self.object_relationships.iter_mut().chain(&mut self.array_relationships) {
            if let Some(ForeignKeyOn::Remote(key)) = &mut entry.using.foreign_key_constraint_on {
                change(&mut key.table);
            }
            if let Some(table) =
                entry.using.manual_configuration.as_mut().and_then(|it| it.remote_table.as_mut())
            {
                change(table);
            }
        }
        self.computed_fields.iter_mut().for_each(|it| change(&mut it.definition.function));
        self.each_condition(names_table, |it| each_table(it, &mut change));
    }

    /// Runs `change` on the conditions of the permissions that have one for which `concerns` holds.
    pub(crate) fn each_condition(
        &mut self,
        concerns: impl Fn(&Json) -> bool,
        mut change: impl FnMut(&mut Json),
    ) {
        permission::each_condition(&mut self.insert_permissions, &concerns, &mut change);
        permission::each_condition(&mut self.select_permissions, &concerns, &mut change);
        permission::each_condition(&mut self.update_permissions, &concerns, &mut change);
        permission::each_condition(&mut self.delete_permissions, &concerns, &mut change);
    }

    /// The roles with permissions, some of them more than once.
    pub fn roles(&self) -> impl Iterator<Item = &str> {
        let reads = self.select_permissions.iter().map(|it| it.role.as_str());
        let inserts = self.insert_permissions.iter().map(|it| it.role.as_str());
        let updates = self.update_permissions.iter().map(|it| it.role.as_str());
        let deletes = self.delete_permissions.iter().map(|it| it.role.as_str());
        reads.chain(inserts).chain(updates).chain(deletes)
    }

    /// Drops permissions that need the approval of a webhook, because Weir calls none.
    pub fn drop_validated(&mut self) {
        self.insert_permissions.retain(|it| it.permission.validate_input.is_none());
        self.update_permissions.retain(|it| it.permission.validate_input.is_none());
        self.delete_permissions.retain(|it| it.permission.validate_input.is_none());
    }
}

/// True if a condition names a table by `_exists`.
fn names_table(condition: &Json) -> bool {
    match condition {
        Json::List(items) => items.iter().any(names_table),
        Json::Object(members) => {
            members.0.iter().any(|(key, value)| matches!(&**key, "_table" | "$table") || names_table(value))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => false,
    }
}

/// Runs `change` on the tables that `_exists` names in a condition.
pub(crate) fn each_table(condition: &mut Json, change: &mut impl FnMut(&mut TableName)) {
    match condition {
        Json::List(items) => items.iter_mut().for_each(|it| each_table(it, change)),
        Json::Object(members) => {
            for (key, value) in &mut members.0 {
                match (&**key, TableName::of_json(value)) {
                    ("_table" | "$table", Some(mut table)) => {
                        let before = table.clone();
                        change(&mut table);
                        // Text of the same table may have another order.
                        if table != before {
                            *value = table.into_json();
                        }
                    }
                    _ => each_table(value, change),
                }
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => {}
    }
}

/// `configuration` of a table.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Configuration {
    /// Settings of columns, by their names in the database.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub column_config: BTreeMap<String, ColumnConfig>,
    /// A description of the table, instead of the database's; an empty one is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// The older form: GraphQL names by the database's names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub custom_column_names: BTreeMap<String, String>,
    /// The base name of types and root fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_name: Option<String>,
    /// Names of single root fields.
    #[serde(skip_serializing_if = "is_default")]
    pub custom_root_fields: RootFieldEntries,
}

/// `column_config` of one column.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ColumnConfig {
    /// Description of the column's field, instead of the default; an empty text removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// GraphQL name of the column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_name: Option<String>,
}

/// `custom_root_fields`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct RootFieldEntries {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete: Option<RootFieldEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete_by_pk: Option<RootFieldEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insert: Option<RootFieldEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insert_one: Option<RootFieldEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub select: Option<RootFieldEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub select_aggregate: Option<RootFieldEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub select_by_pk: Option<RootFieldEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub select_group_by: Option<RootFieldEntry>,
    /// Name of the subscription field that streams rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub select_stream: Option<RootFieldEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update: Option<RootFieldEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_by_pk: Option<RootFieldEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_many: Option<RootFieldEntry>,
}

/// One root field: its name, or its name and comment.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged, expecting = "a root field: its name, or an object with `name` and `comment`")]
pub enum RootFieldEntry {
    /// The name alone.
    Name(String),
    /// Both.
    Full(#[serde(deserialize_with = "read_object")] FullRootField),
}

/// Name and comment of a root field.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FullRootField {
    /// Description of the root field, instead of the default; an empty text removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// The field's name, if it differs from the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A field that a function makes of a row.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComputedFieldEntry {
    /// The field's name.
    pub name: String,
    /// The function.
    pub definition: ComputedFieldDefinition,
    /// Description of the computed field, instead of the function's; an empty text removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// `definition` of a computed field.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComputedFieldDefinition {
    /// The function, named as tables are.
    pub function: TableName,
    /// The argument that takes the session; clients do not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_argument: Option<String>,
    /// The argument that takes the row; else the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_argument: Option<String>,
}

/// A relationship.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RelationshipEntry {
    /// The field's name.
    pub name: String,
    /// The condition on related rows.
    pub using: Using,
    /// The description of its field, instead of the usual one; an empty one is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// The condition on related rows: exactly one of both.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Using {
    /// A foreign key defines the relationship.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign_key_constraint_on: Option<ForeignKeyOn>,
    /// Pairs of equal columns define the relationship.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manual_configuration: Option<Manual>,
}

/// The columns of a foreign key.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize, JsonSchema)]
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
    Remote(#[serde(deserialize_with = "read_object")] RemoteKey),
}

/// A foreign key of another table that points here, by one of `column` and `columns`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoteKey {
    /// Column of the other table's foreign key, or a list of columns.
    #[serde(
        default,
        deserialize_with = "one_or_more",
        serialize_with = "one_alone",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(with = "OneOrMore")]
    pub column: Vec<String>,
    /// Columns of the other table's foreign key.
    #[serde(default, deserialize_with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "OneOrMore")]
    pub columns: Vec<String>,
    /// The other table.
    pub table: TableName,
}

/// A column or a list of columns.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a column or a list of columns")]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

/// Reads a text or a list of texts.
fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(match OneOrMore::deserialize(deserializer)? {
        OneOrMore::One(column) => vec![column],
        OneOrMore::More(columns) => columns,
    })
}

fn one_alone<S: Serializer>(columns: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    match columns {
        [one] => serializer.serialize_str(one),
        several => serializer.collect_seq(several),
    }
}

/// `manual_configuration`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Manual {
    /// Theirs by ours.
    pub column_mapping: BTreeMap<String, String>,
    /// Order of nested inserts; always written.
    #[serde(default)]
    pub insertion_order: Option<InsertionOrder>,
    /// Instead of a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub remote_native_query: Option<String>,
    /// The other table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_table: Option<TableName>,
}

/// The order of nested inserts along a manual object relationship.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InsertionOrder {
    /// The related row first.
    BeforeParent,
    /// The related row last.
    AfterParent,
}

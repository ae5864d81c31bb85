//! Types of the arguments and answers of actions.

use super::remote_relationship::{RelationshipType, ToSource};
use super::table_name::TableName;
use super::type_text::TypeText;
use crate::json::{Json, Members};
use serde::{Deserialize, Serialize};

/// `custom_types`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct CustomTypes {
    /// Input objects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub input_objects: Vec<InputObjectType>,
    /// Objects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<ObjectType>,
    /// Scalars.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scalars: Vec<ScalarType>,
    /// Enums.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub enums: Vec<EnumType>,
}

/// One of `input_objects`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct InputObjectType {
    /// Name of the type.
    pub name: String,
    /// Description of the type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Fields of the type.
    pub fields: Vec<InputField>,
}

/// A field of an input object.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct InputField {
    /// Name of the field.
    pub name: String,
    /// Type of the field.
    #[serde(rename = "type")]
    pub ty: TypeText,
    /// Description of the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// One of `objects`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectType {
    /// Name of the type.
    pub name: String,
    /// Description of the type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Fields of the type.
    pub fields: Vec<ObjectField>,
    /// Relationships to tables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relationships: Vec<TypeRelationship>,
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectField {
    /// Name of the field.
    pub name: String,
    /// Type of the field.
    #[serde(rename = "type")]
    pub ty: TypeText,
    /// Description of the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Arguments, which no field may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Json>,
}

/// One of `relationships`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TypeRelationship {
    /// Columns of the table by fields of the type.
    pub field_mapping: Members,
    /// Name of the field.
    pub name: String,
    pub remote_table: TableName,
    /// The source that has the table.
    #[serde(default = "default_source")]
    pub source: String,
    /// One row, or a list of them.
    #[serde(rename = "type")]
    pub kind: RelationshipType,
}

impl TypeRelationship {
    /// The table and how its rows are found; columns that are no texts are left out.
    pub fn target(&self) -> ToSource {
        let mapped = self.field_mapping.0.iter();
        let mapped =
            mapped.filter_map(|(field, column)| Some((field.to_string(), column.text()?.to_owned())));
        ToSource {
            field_mapping: mapped.collect(),
            relationship_type: self.kind,
            source: self.source.clone(),
            table: self.remote_table.clone(),
        }
    }
}

/// One of `scalars`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ScalarType {
    /// Name of the type.
    pub name: String,
    /// Description of the type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// One of `enums`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct EnumType {
    /// Name of the type.
    pub name: String,
    /// Description of the type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub values: Vec<EnumTypeValue>,
}

/// A value of an enum.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct EnumTypeValue {
    pub value: String,
    /// Description of the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// True if clients should not use it any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_deprecated: Option<bool>,
}

fn default_source() -> String {
    "default".to_owned()
}

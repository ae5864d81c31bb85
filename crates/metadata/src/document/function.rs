//! Functions of the database.

use super::is_default;
use super::permission::FunctionPermission;
use super::table::TableName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A function that is to be served.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FunctionEntry {
    /// The function, named as tables are.
    pub function: TableName,
    /// Names, the session and the root.
    #[serde(default, skip_serializing_if = "is_default")]
    pub configuration: FunctionConfiguration,
    /// Roles that may call it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<FunctionPermission>,
    /// The description of the field of its rows, instead of the database's; an empty one is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// `configuration` of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FunctionConfiguration {
    /// The base name of its root fields and of the type of its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_name: Option<String>,
    /// Names of single root fields.
    #[serde(skip_serializing_if = "is_default")]
    pub custom_root_fields: FunctionRootFields,
    /// On which root it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exposed_as: Option<ExposedAs>,
    /// Rows it gives, where the database does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<FunctionResponse>,
    /// The argument that takes the session; clients do not see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_argument: Option<String>,
}

/// `response` of a function.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FunctionResponse {
    /// `table`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The table whose rows it gives.
    pub table: TableName,
}

/// `custom_root_fields` of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FunctionRootFields {
    /// Name of the root field that returns the function's rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Aggregates over them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function_aggregate: Option<String>,
}

/// On which root a function stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExposedAs {
    /// `query_root`.
    Query,
    /// `mutation_root`.
    Mutation,
}

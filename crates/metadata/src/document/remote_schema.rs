//! GraphQL servers whose schemas are a part of the API.

use super::is_default;
use super::remote_relationship::RemoteRelationshipEntry;
use super::webhook::{HeaderEntry, WebhookAddress};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Time that a server may take where an entry says none, in seconds.
pub const TIMEOUT_S: u32 = 60;

/// One of `remote_schemas`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RemoteSchemaEntry {
    /// Name of the remote schema.
    pub name: String,
    /// Address, headers and names.
    pub definition: RemoteSchemaDefinition,
    /// Comment of the remote schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Parts that roles see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<RemoteSchemaPermission>,
    /// Fields of its types that others answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remote_relationships: Vec<TypeRelationships>,
}

/// `definition` of a remote schema.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct RemoteSchemaDefinition {
    /// The address, in which `{{NAME}}` is a variable of the environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Name of the variable with the address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url_from_env: Option<String>,
    /// Time that the server may take, in seconds; without it [`TIMEOUT_S`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
    /// Names of its types and fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub customization: Option<RemoteCustomization>,
    /// Headers of each call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<Vec<HeaderEntry>>,
    /// True if the client's headers go along.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forward_client_headers: Option<bool>,
}

impl RemoteSchemaDefinition {
    /// The address.
    /// # Errors
    /// None or both of its keys are there: Hasura's words.
    pub fn address(&self) -> Result<WebhookAddress, &'static str> {
        match (&self.url, &self.url_from_env) {
            (Some(url), None) => Ok(WebhookAddress::Template(url.clone())),
            (None, Some(name)) => Ok(WebhookAddress::FromEnv(name.clone())),
            (Some(_), Some(_)) => Err("both `url` and `url_from_env` can't be present"),
            (None, None) => Err("both `url` and `url_from_env` can't be empty"),
        }
    }
}

/// `customization`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct RemoteCustomization {
    /// Field of the roots that holds its root fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_fields_namespace: Option<String>,
    /// Names of its types.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub type_names: Option<RemoteNames>,
    /// Names of the fields of its types.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub field_names: Vec<RemoteFieldNames>,
}

/// `type_names`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct RemoteNames {
    /// Names by those of the server.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub mapping: BTreeMap<String, String>,
    /// Put before names without a mapping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// Put behind names without a mapping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suffix: Option<String>,
}

/// One of `field_names`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RemoteFieldNames {
    /// The server's name of the type.
    pub parent_type: String,
    /// Names by those of the server.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mapping: BTreeMap<String, String>,
    /// Put before names without a mapping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// Put behind names without a mapping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suffix: Option<String>,
}

/// One of `permissions`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RemoteSchemaPermission {
    pub role: String,
    /// The part that the role sees.
    pub definition: RolePart,
    /// Comment of the permission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// `definition` of a permission.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RolePart {
    /// The part as SDL, in the server's names.
    pub schema: String,
}

/// One of `remote_relationships`: those of a type.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TypeRelationships {
    /// The server's name of the type.
    pub type_name: String,
    /// The relationships.
    #[serde(default, skip_serializing_if = "is_default")]
    pub relationships: Vec<RemoteRelationshipEntry>,
}

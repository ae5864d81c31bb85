//! Entries around the API: roles, collections of queries, endpoints, limits.

use super::is_default;
use crate::json::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One of `inherited_roles`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct InheritedRole {
    /// The role that is made.
    pub role_name: String,
    /// The roles it is made of.
    pub role_set: Vec<String>,
}

/// One of `query_collections`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueryCollection {
    /// Name of the collection.
    pub name: String,
    /// Comment of the collection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Queries of the collection.
    pub definition: QueryList,
}

/// `definition` of a collection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueryList {
    pub queries: Vec<NamedQuery>,
}

/// A query with a name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamedQuery {
    /// Name of the query, unique within the collection.
    pub name: String,
    /// The document, with its fragments.
    pub query: String,
}

/// One of `allowlist`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllowlistEntry {
    /// The collection that is allowed.
    pub collection: String,
    /// Roles that may run the queries; without it all roles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<AllowlistScope>,
}

/// `scope` of an entry of the allow list.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllowlistScope {
    /// True for every role.
    pub global: bool,
    /// The roles, if it is not for every one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<String>>,
}

/// One of `rest_endpoints`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestEndpoint {
    /// Comment of the endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// The query that it runs.
    pub definition: EndpointDefinition,
    /// Methods it answers.
    pub methods: Vec<Method>,
    /// Name of the endpoint.
    pub name: String,
    /// Path below `/api/rest/`, with `:name` for variables.
    pub url: String,
}

/// `definition` of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndpointDefinition {
    pub query: StoredQuery,
}

/// A query of a collection.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StoredQuery {
    pub collection_name: String,
    pub query_name: String,
}

/// Methods of endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs)]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// `graphql_schema_introspection`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct SchemaIntrospection {
    /// Roles that may not introspect.
    pub disabled_for_roles: Vec<String>,
}

/// `api_limits`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ApiLimits {
    /// True switches all of them off.
    #[serde(skip_serializing_if = "is_default")]
    pub disabled: bool,
    /// Depth of operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth_limit: Option<Limit>,
    /// Fields of operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_limit: Option<Limit>,
    /// Duration of operations, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<Limit>,
    /// Requests of one list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_limit: Option<Limit>,
    /// Requests per minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<RateLimit>,
}

/// A limit with exceptions.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Limit of every role that is not in `per_role`.
    pub global: u32,
    /// Limits by role.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub per_role: BTreeMap<String, u32>,
}

/// `rate_limit`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    /// Limit of every role that is not in `per_role`.
    pub global: Rate,
    /// Limits by role.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub per_role: BTreeMap<String, Rate>,
}

/// A rate.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Requests per minute.
    pub max_reqs_per_min: u32,
    /// Callers are told apart by `"IP"` or a list of session variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unique_params: Option<Json>,
}

//! `operations`: queries that the operator keeps, the allow list and the endpoints made of them.

use super::published;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_metadata::document::api::{AllowlistEntry, QueryCollection, RestEndpoint};

/// `operations`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Operations {
    /// True lets roles other than admin send only documents of the collections in `allowlist`, here and in the metadata.
    pub allow_list: bool,
    /// Queries by name, in the keys of Hasura's `query_collections`.
    #[serde(skip_serializing)]
    #[schemars(schema_with = "published::collections")]
    pub collections: Vec<QueryCollection>,
    /// Collections whose queries are allowed, for everyone or for some roles.
    #[serde(skip_serializing)]
    #[schemars(schema_with = "published::allowlist")]
    pub allowlist: Vec<AllowlistEntry>,
    /// Paths below `/api/rest/` that run a query of a collection, in the keys of Hasura's metadata v3.
    #[serde(skip_serializing)]
    #[schemars(schema_with = "published::rest_endpoints")]
    pub rest_endpoints: Vec<RestEndpoint>,
    /// Roles that may not introspect.
    pub introspection_disabled_for_roles: Vec<String>,
}

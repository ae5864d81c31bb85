//! Types of the entries of version 3, each with every key.
//!
//! Entries that Weir does not run yet are kept as they are, for [`crate::check::find_unsupported`].

pub mod action;
pub mod api;
pub mod cron_trigger;
pub mod custom_types;
pub mod customization;
pub mod event_trigger;
pub mod function;
pub mod logical_model;
pub mod native_query;
pub mod parts;
pub mod permission;
pub mod remote_relationship;
pub mod remote_schema;
pub mod source;
pub mod table;

pub use parts::{table_name, type_text, webhook};

use crate::json::Json;
use action::ActionEntry;
use api::{AllowlistEntry, ApiLimits, InheritedRole, QueryCollection, RestEndpoint, SchemaIntrospection};
use cron_trigger::CronTriggerEntry;
use custom_types::CustomTypes;
use remote_relationship::ToSource;
use remote_schema::RemoteSchemaEntry;
use serde::{Deserialize, Serialize};
use source::SourceEntry;

/// The whole document.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Metadata {
    /// Always 3: older ones are read as such.
    pub version: u32,
    #[serde(serialize_with = "source::serialize_list")]
    pub sources: Vec<SourceEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remote_schemas: Vec<RemoteSchemaEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<ActionEntry>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub custom_types: CustomTypes,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cron_triggers: Vec<CronTriggerEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub query_collections: Vec<QueryCollection>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowlist: Vec<AllowlistEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rest_endpoints: Vec<RestEndpoint>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inherited_roles: Vec<InheritedRole>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub api_limits: ApiLimits,
    #[serde(default, skip_serializing_if = "says_nothing")]
    pub metrics_config: Option<Json>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub graphql_schema_introspection: SchemaIntrospection,
    #[serde(default, skip_serializing_if = "says_nothing")]
    pub network: Option<Json>,
    #[serde(default, skip_serializing_if = "says_nothing")]
    pub opentelemetry: Option<Json>,
    #[serde(default, skip_serializing_if = "says_nothing")]
    pub backend_configs: Option<Json>,
}

impl Default for Metadata {
    fn default() -> Self {
        Self {
            version: 3,
            sources: Vec::new(),
            remote_schemas: Vec::new(),
            actions: Vec::new(),
            custom_types: CustomTypes::default(),
            cron_triggers: Vec::new(),
            query_collections: Vec::new(),
            allowlist: Vec::new(),
            rest_endpoints: Vec::new(),
            inherited_roles: Vec::new(),
            api_limits: ApiLimits::default(),
            metrics_config: None,
            graphql_schema_introspection: SchemaIntrospection::default(),
            network: None,
            opentelemetry: None,
            backend_configs: None,
        }
    }
}

impl Metadata {
    /// Tables of sources that relationships of tables and of types of remote schemas lead to.
    pub(crate) fn remote_targets_mut(&mut self) -> impl Iterator<Item = &mut ToSource> {
        let of_tables = self.sources.iter_mut().flat_map(|it| &mut it.tables);
        let of_tables = of_tables.flat_map(|it| &mut it.remote_relationships);
        let of_types = self.remote_schemas.iter_mut().flat_map(|it| &mut it.remote_relationships);
        let of_types = of_types.flat_map(|it| &mut it.relationships);
        of_tables.chain(of_types).filter_map(|it| it.definition.to_source.as_mut())
    }
}

/// True if a part is missing, or has no entries: the command line sends all parts.
fn says_nothing(part: &Option<Json>) -> bool {
    part.as_ref().is_none_or(has_no_entries)
}

fn has_no_entries(json: &Json) -> bool {
    match json {
        Json::Null => true,
        Json::List(items) => items.is_empty(),
        Json::Object(members) => members.0.iter().all(|it| has_no_entries(&it.1)),
        Json::Bool(_) | Json::Number(_) | Json::Text(_) => false,
    }
}

/// True if `value` says nothing.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

//! `operations`: queries that the operator keeps, the allow list and the endpoints made of them.

mod mcp;

pub use mcp::{Mcp, McpAuthorization, SchemaTool, ToolOverride};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use weir_metadata::document::api::{AllowlistEntry, QueryCollection, RestEndpoint};

/// `operations`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Operations {
    /// True lets roles other than admin send only documents of the collections in `allowlist`, here and in the metadata.
    pub allow_list: bool,
    /// Queries by name, in the keys of Hasura's `query_collections`.
    #[serde(skip_serializing)]
    pub collections: Vec<QueryCollection>,
    /// Collections whose queries are allowed, for everyone or for some roles.
    #[serde(skip_serializing)]
    pub allowlist: Vec<AllowlistEntry>,
    /// Paths below `/api/rest/` that run a query of a collection, in the keys of Hasura's metadata v3.
    #[serde(skip_serializing)]
    pub rest_endpoints: Vec<RestEndpoint>,
    /// Roles that may not introspect.
    pub introspection_disabled_for_roles: Vec<String>,
    /// Documents that clients name by an identifier.
    pub persisted: Persisted,
    /// Saved operations as tools of agents.
    pub mcp: Mcp,
}

impl Operations {
    /// Checks that settings do not contradict each other.
    /// # Errors
    /// The first contradiction, and how to resolve it.
    pub(super) fn check(&self) -> Result<(), String> {
        self.persisted.check()?;
        self.mcp.check()
    }
}

/// `operations.persisted`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Persisted {
    /// Manifests and folders of documents.
    pub files: Vec<PersistedFile>,
    /// True runs stored documents alone; the role admin may send any text.
    pub require_id: bool,
    /// True logs and counts requests that send a text which `require_id` would refuse.
    pub log_texts: bool,
    /// Further names of the member `documentId` of a request, as `doc_id`.
    pub id_members: Vec<Box<str>>,
    /// Automatic persisted queries: texts that clients store themselves, by their hash.
    pub apq: Apq,
    /// Roles for which plans are made before a configuration is served. Without the key all that may send a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up_roles: Option<Vec<String>>,
    /// Longest time for making plans before a configuration is served, in milliseconds; 0 makes none.
    pub warm_up_ms_max: u32,
    /// True lets shared caches keep public answers to a GET by identifier of callers without credentials.
    pub shared_caches: bool,
    /// Upper bound of documents.
    pub documents_max: u32,
    /// Upper bound of the size of all files, in bytes.
    pub bytes_max: u64,
}

impl Default for Persisted {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            require_id: false,
            log_texts: false,
            id_members: Vec::new(),
            apq: Apq::default(),
            warm_up_roles: None,
            warm_up_ms_max: 10_000,
            shared_caches: false,
            documents_max: 20_000,
            bytes_max: 64 << 20,
        }
    }
}

/// One of `operations.persisted.files`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PersistedFile {
    /// A manifest of Apollo, Relay or GraphQL Code Generator, or a folder of `.graphql` files and manifests; relative to the configuration.
    pub path: PathBuf,
    /// Collection to which the documents belong, for `allowlist` and `rest_endpoints`; without the key the name of the file or folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collection: Option<String>,
}

/// `operations.persisted.apq`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Apq {
    /// True takes texts with their hash and answers the hash alone from then on. Without the key: true unless `require_id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Size of the texts in this process, in bytes.
    pub bytes_max: u64,
    /// Lifetime of a text in `cache.redis`, in seconds.
    pub redis_ttl_s: u32,
}

impl Default for Apq {
    fn default() -> Self {
        const DAY_S: u32 = 86_400;
        Self { enabled: None, bytes_max: 16 << 20, redis_ttl_s: 7 * DAY_S }
    }
}

impl Persisted {
    /// True if clients may store texts.
    pub(crate) fn has_apq(&self) -> bool {
        self.apq.enabled.unwrap_or(!self.require_id)
    }

    /// Checks that settings do not contradict each other.
    /// # Errors
    /// The first contradiction, and how to resolve it.
    fn check(&self) -> Result<(), String> {
        if self.require_id && self.apq.enabled == Some(true) {
            return Err("`operations.persisted`: `require_id` and `apq.enabled` exclude each other, as any client could store any text; \
                        leave out one"
                .into());
        }
        const TAKEN: [&str; 4] = ["query", "operationName", "variables", "extensions"];
        match self.id_members.iter().find(|it| it.is_empty() || TAKEN.contains(&&***it)) {
            Some(name) => {
                Err(format!("`operations.persisted.id_members`: `{name}` is the name of another member"))
            }
            None => Ok(()),
        }
    }
}

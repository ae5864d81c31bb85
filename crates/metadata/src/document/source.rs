//! Sources and their connections.

use super::customization::Customization;
use super::function::FunctionEntry;
use super::is_default;
use super::logical_model::LogicalModelEntry;
use super::native_query::NativeQueryEntry;
use super::parts::object::read_object;
use super::table::TableEntry;
use crate::json::Json;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

/// A database with its tables and functions.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SourceEntry {
    /// Name of the source.
    pub name: String,
    /// Kind of database.
    #[serde(default)]
    pub kind: SourceKind,
    /// Tables that are tracked.
    pub tables: Vec<TableEntry>,
    /// Functions that are tracked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<FunctionEntry>,
    /// Statements that are tracked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub native_queries: Vec<NativeQueryEntry>,
    /// Stored procedures, which no database that is served has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stored_procedures: Vec<Json>,
    /// The rows of native queries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logical_models: Vec<LogicalModelEntry>,
    /// Connection of the source. Without it the server's configuration applies, as in metadata versions 1 and 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<SourceConfiguration>,
    /// Names of its types and root fields.
    #[serde(default, skip_serializing_if = "is_default")]
    pub customization: Customization,
    /// Comments in statements. Not supported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_tags: Option<Json>,
    /// Not needed: Weir's probes look at every source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health_check: Option<Json>,
    /// All other members of a source of a kind that is not served; they are written where they stood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unserved: Option<Json>,
}

/// The key under which the members of a source that is not served stand while it is read and written: their shapes are not known.
pub(crate) const UNSERVED: &str = "unserved";

/// A source as it is written: one that is not served has its members back.
struct WrittenSource<'s>(&'s SourceEntry);

impl Serialize for WrittenSource<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(Json::Object(members)) = &self.0.unserved else { return self.0.serialize(serializer) };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.0.name)?;
        map.serialize_entry("kind", &self.0.kind)?;
        for (key, value) in &members.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

pub(super) fn serialize_list<S: Serializer>(
    sources: &[SourceEntry],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(sources.iter().map(WrittenSource))
}

impl SourceEntry {
    /// A source that says nothing but its name.
    pub fn new(name: String) -> Self {
        Self {
            name,
            kind: SourceKind::default(),
            configuration: None,
            tables: Vec::new(),
            functions: Vec::new(),
            native_queries: Vec::new(),
            stored_procedures: Vec::new(),
            logical_models: Vec::new(),
            customization: Customization::default(),
            query_tags: None,
            health_check: None,
            unserved: None,
        }
    }
}

impl SourceConfiguration {
    /// A connection and nothing beside it.
    pub fn new(connection_info: ConnectionInfo) -> Self {
        let read_replicas = Vec::new();
        let connection_set = Vec::new();
        Self {
            connection_info,
            read_replicas,
            extensions_schema: None,
            connection_template: None,
            connection_set,
        }
    }
}

/// `kind` of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "String", into = "String")]
pub enum SourceKind {
    /// PostgreSQL.
    #[default]
    Postgres,
    Citus,
    /// CockroachDB.
    Cockroach,
    /// A file of SQLite's: a kind of Weir's own.
    Sqlite,
    /// Another, which Weir does not serve.
    Other(String),
}

impl From<String> for SourceKind {
    fn from(kind: String) -> Self {
        match kind.as_str() {
            "postgres" | "pg" => Self::Postgres,
            "citus" => Self::Citus,
            "cockroach" => Self::Cockroach,
            "sqlite" => Self::Sqlite,
            _ => Self::Other(kind),
        }
    }
}

impl From<SourceKind> for String {
    fn from(kind: SourceKind) -> Self {
        match kind {
            SourceKind::Postgres => "postgres".into(),
            SourceKind::Citus => "citus".into(),
            SourceKind::Cockroach => "cockroach".into(),
            SourceKind::Sqlite => "sqlite".into(),
            SourceKind::Other(kind) => kind,
        }
    }
}

/// `configuration` of a source.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SourceConfiguration {
    /// The server.
    pub connection_info: ConnectionInfo,
    /// Not supported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connection_set: Vec<Json>,
    /// Not supported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_template: Option<Json>,
    /// The schema of extensions' functions, which Weir does not need.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extensions_schema: Option<String>,
    /// Not supported here: `sources[].postgres.replicas` in weir.yaml.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_replicas: Vec<Json>,
}

/// `connection_info`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ConnectionInfo {
    /// The address.
    pub database_url: DatabaseUrl,
    /// The level of transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation_level: Option<IsolationLevel>,
    /// Connections.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pool_settings: PoolSettings,
    /// Certificates. Not supported here: in the address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssl_configuration: Option<Json>,
    /// Weir finds out by itself whether statements can be prepared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_prepared_statements: Option<bool>,
}

/// `isolation_level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum IsolationLevel {
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// `pool_settings`; times in seconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct PoolSettings {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_lifetime: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_timeout: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_connections: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool_timeout: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retries: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_max_connections: Option<u32>,
}

/// `database_url`, which is never printed.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(
    untagged,
    expecting = "an address is a string, or an object with one of `from_env`, `connection_parameters` and `dynamic_from_file`"
)]
pub enum DatabaseUrl {
    /// The address itself.
    Text(String),
    /// In a variable of the environment.
    FromEnv(#[serde(deserialize_with = "read_object")] UrlFromEnv),
    /// In parts.
    Parameters(#[serde(deserialize_with = "read_object")] UrlFromParameters),
    File(#[serde(deserialize_with = "read_object")] UrlFromFile),
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FromEnv(from) => write!(f, "DatabaseUrl({})", from.from_env),
            Self::Text(_) | Self::Parameters(_) | Self::File(_) => f.write_str("DatabaseUrl(…)"),
        }
    }
}

/// An address in a variable of the environment.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct UrlFromEnv {
    /// The variable.
    pub from_env: String,
}

/// An address in parts.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct UrlFromParameters {
    /// The parts.
    pub connection_parameters: ConnectionParameters,
}

/// An address in a file.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct UrlFromFile {
    pub dynamic_from_file: String,
}

/// `connection_parameters`.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct ConnectionParameters {
    pub database: String,
    pub host: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    pub port: u16,
    pub username: String,
}

impl DatabaseUrl {
    /// The address; `environment` and `file` give texts of variables and files.
    /// # Errors
    /// The variable or file is not there.
    pub fn resolve(
        &self,
        environment: impl Fn(&str) -> Option<String>,
        file: impl Fn(&str) -> Result<String, String>,
    ) -> Result<String, String> {
        match self {
            Self::Text(url) => Ok(url.clone()),
            Self::FromEnv(from) => environment(&from.from_env)
                .ok_or_else(|| format!("environment variable '{}' not set", from.from_env)),
            Self::File(from) => file(&from.dynamic_from_file).map(|it| it.trim().to_owned()),
            Self::Parameters(from) => {
                let ConnectionParameters { host, port, username, password, database } =
                    &from.connection_parameters;
                let password =
                    password.as_ref().map_or_else(String::new, |it| format!(":{}", percent_encode(it)));
                Ok(format!(
                    "postgres://{}{password}@{host}:{port}/{}",
                    percent_encode(username),
                    percent_encode(database)
                ))
            }
        }
    }
}

/// Percent-encodes `text` as one part of a URL.
fn percent_encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

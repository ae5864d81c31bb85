//! Keys of `weir.yaml` and their defaults.
//!
//! Each struct is one block; [`document::load`] reads it, [`published`] is its JSON schema. Every key has a default.
//!
//! **Invariant:** an unknown key is an error, never ignored.

mod apis;
pub mod auth;
mod cors;
pub mod document;
mod environment;
mod events;
mod limits;
pub mod listen;
mod live;
mod operations;
pub mod published;
pub mod source;
pub(crate) mod state;
mod tracing;
mod webhooks;

pub use apis::{Federation, Mirror, Relay};
pub use auth::{Auth, AuthWebhook, ClaimPath, ClaimSource, ClaimsFormat, Jwt, JwtAlgorithm, OneOrMany};
pub use auth::{TokenHeader, TokenHeaderKind, WebhookMode};
pub(crate) use cors::OriginPattern;
pub use cors::{Cors, CorsPath};
pub use environment::Environment;
pub use events::{ActionDelivery, EventDelivery, Events};
pub(crate) use limits::RateKey;
use limits::refuse_zeros;
pub use limits::{CostLimits, CostList, CostMode, CostWeight, Limits, Rate};
pub use listen::{Listen, Tls};
pub use live::LiveOptions;
pub use operations::{
    Apq, Mcp, McpAuthorization, Operations, Persisted, PersistedFile, SchemaTool, ToolOverride,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use source::described::Described;
pub use source::embedded::EmbeddedSources;
pub use source::service::{Service, ServiceErrors, ServiceTls};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
pub use tracing::Tracing;
pub use webhooks::Webhooks;
use weir_engine::live::LiveSettings;
use weir_http::cache::Address;
use weir_metadata::Json;
use weir_metadata::document::api::InheritedRole;
use weir_metadata::document::customization::{Customization, NamingConvention};
use weir_metadata::document::function::FunctionEntry;
use weir_metadata::document::table::TableEntry;

/// The whole file.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Address to listen on: `address:port`, `name:port`, or a port of 127.0.0.1. Off loopback an admin secret is required.
    pub listen: Listen,
    /// Separate address for metrics, health probes and explain; without the key they are on `listen`.
    pub admin_listen: Option<Listen>,
    /// Callers with this secret in `x-hasura-admin-secret` or `x-weir-admin-secret` are the admin. Best taken from the environment: `${WEIR_ADMIN_SECRET}`.
    pub admin_secret: Option<Secret>,
    /// Other ways to say who calls, and further admin secrets.
    pub auth: Auth,
    /// True opens the console and explain to everyone. Without the key: true if all listeners are on loopback.
    pub dev: Option<bool>,
    /// Worker threads; without the key one per core.
    pub threads: Option<u16>,
    /// HTTPS instead of HTTP.
    pub tls: Option<Tls>,
    /// Web pages of other origins that may call.
    pub cors: Cors,
    /// Content and format of the log.
    pub log: Log,
    /// Traces for a collector of OpenTelemetry.
    pub tracing: Tracing,
    /// Limits of requests and documents.
    pub limits: Limits,
    /// Sizes of caches.
    pub cache: Cache,
    /// Compression of answers.
    pub compression: Compression,
    /// Hasura's metadata: a folder as its CLI writes it, or a file. Sources of `sources` with the same name overrule addresses and add settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<PathBuf>,
    /// The database of asynchronous actions and scheduled events: `postgres://…` or `sqlite:FILE`. Default: source `default` if it is a
    /// PostgreSQL, else a file beside the metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Roles made of others: `{role_name, role_set}`, in the keys of Hasura's metadata; those of the metadata come beside.
    #[schemars(with = "Vec<serde_json::Value>")]
    pub inherited_roles: Vec<InheritedRole>,
    /// Rule for generated names of databases whose `customization` says none: `hasura-default` or `graphql-default`.
    #[schemars(with = "Option<String>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub naming_convention: Option<NamingConvention>,
    /// False if a function that reads needs a permission of its own beside that on its table. Default: true.
    pub infer_function_permissions: Option<bool>,
    /// Interval at which the servers of remote schemas are asked for changes of their schemas, in seconds. Without the key never.
    pub remote_schema_poll_s: Option<u32>,
    /// True if native queries are served without a look at the columns that they give.
    pub disable_native_query_validation: bool,
    /// True if a variable that is not sent is absent over Hasura's protocol, not null.
    pub no_null_unbound_variable_default: bool,
    /// Queries that the operator keeps, the allow list and the REST endpoints made of them.
    pub operations: Operations,
    /// The API in Relay's form: connections with cursors, identifiers of rows.
    pub relay: Relay,
    /// Makes the graph a subgraph: `_service`, `_entities`.
    pub federation: Option<Federation>,
    /// A canary that gets a share of the queries too, and whose answers are compared.
    pub mirror: Option<Mirror>,
    /// Subscriptions.
    pub live: LiveOptions,
    /// Event triggers of databases: `serve`, `take_over`, or `off`.
    pub events: Events,
    /// The databases and services to serve.
    pub sources: Vec<Source>,
    /// The metadata that was read.
    #[serde(skip)]
    pub described: Option<Arc<Described>>,
    /// Sources of the program that embeds the server; they are served beside `sources`.
    #[serde(skip)]
    pub embedded: EmbeddedSources,
    /// True or false overrules `stringify_numeric_types` of all sources.
    #[serde(skip)]
    pub stringify_numeric_types: Option<bool>,
    /// Calls of webhooks.
    #[serde(skip)]
    pub webhooks: Webhooks,
    /// Delivery of events.
    #[serde(skip)]
    pub event_delivery: EventDelivery,
    /// Calls of asynchronous actions.
    #[serde(skip)]
    pub action_delivery: ActionDelivery,
    /// Settings of the environment that have no effect, in words.
    #[serde(skip)]
    pub notes: Vec<String>,
    /// Lines and columns of the entries in the file.
    #[serde(skip)]
    pub places: document::places::Places,
}

impl Config {
    /// Limits and intervals of subscriptions.
    pub(crate) fn live_settings(&self) -> LiveSettings {
        self.live.settings(self.limits.request_s)
    }
}

/// A text that is never printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Keeps `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
    /// The text, for comparing only.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// `log`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// Lines for people or JSON for machines.
    pub format: LogFormat,
    /// `error`, `warn`, `info`, `debug`, `trace`, or directives as `weir=debug,info`.
    pub level: String,
    /// True logs each request.
    pub access: bool,
    /// Slower operations are logged, in milliseconds.
    pub slow_ms: u32,
}

impl Default for Log {
    fn default() -> Self {
        Self { format: LogFormat::Text, level: "info".into(), access: false, slow_ms: 1000 }
    }
}

/// `log.format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// One line of text per event.
    Text,
    /// One JSON object per event.
    Json,
}

/// `cache`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cache {
    /// Size of the plan cache, in bytes.
    pub plan_bytes_max: usize,
    /// Answers up to this many bytes are sent whole; longer ones in chunks.
    pub hold_back_bytes: usize,
    /// Size of the cache of whole answers, in bytes; 0 turns it off.
    pub responses_bytes_max: usize,
    /// Size of the cache of services' answers, in bytes.
    pub bytes_max: u64,
    /// A Redis or Valkey that shares services' answers with other processes: `redis://host:6379/0`, or
    /// `redis-cluster://host:6379,host:6379`; `rediss` in place of `redis` with TLS, and `user:password@` if need be.
    pub redis: Option<Secret>,
    /// Prefix of all names in Redis; processes that serve the same sources share one.
    pub namespace: String,
    /// Timeout of a call to Redis, in milliseconds.
    pub redis_ms_max: u16,
}

impl Default for Cache {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        Self {
            plan_bytes_max: 32 * MIB,
            hold_back_bytes: 256 * 1024,
            responses_bytes_max: 64 * MIB,
            bytes_max: 256 * MIB as u64,
            redis: None,
            namespace: "weir".into(),
            redis_ms_max: 5,
        }
    }
}

/// `compression`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Compression {
    /// True compresses answers for clients that accept it.
    pub enabled: bool,
    /// Shorter answers are not compressed, in bytes.
    pub bytes_min: usize,
}

impl Default for Compression {
    fn default() -> Self {
        Self { enabled: true, bytes_min: 1024 }
    }
}

/// One of `sources`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// A short name for logs, metrics and explanations.
    pub name: String,
    /// Kind of the database; without the key taken from `url`.
    #[serde(default)]
    pub kind: Option<SourceKind>,
    /// Address of the database: `postgres://user@host/database`, `sqlite:chinook.db`, or a file name relative to the
    /// configuration.
    #[serde(default)]
    pub url: String,
    /// Instead of `url`: a file of GraphQL types, as `shop.graphql`. Weir creates the database and its API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<PathBuf>,
    /// Instead of `url`: a file of services, as `services.graphql`. Its `@source` and `@connect` describe the calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Values of `$config` in `file`: texts, numbers, booleans, lists and objects.
    #[serde(default, skip_serializing)]
    #[schemars(schema_with = "published::settings")]
    pub config: BTreeMap<String, Json>,
    /// Variables of the environment that `$env` may read in `file`; without the key all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<Vec<String>>,
    /// Replacements of settings in `file`, by the name of a `@source`, or the prefix of a `@graphql` or `@grpc`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub services: BTreeMap<String, Service>,
    /// A file of certificates in PEM that are trusted for the services of `file`, besides the system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<PathBuf>,
    /// Address of the store of `native`: `postgres://…` or a file of SQLite's; without the key `shop.weir.db` beside `shop.graphql`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
    /// For development: clients of `native` are told why a change was denied, and that a key is taken by an object they do not see.
    #[serde(default)]
    pub tell_denials: bool,
    /// Settings of a PostgreSQL source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub postgres: Option<source::postgres::Postgres>,
    /// True serves only tables that have an entry in `tables`, with the relationships that their entries name.
    #[serde(default)]
    pub tracked_only: bool,
    /// True gives every table the field `_group_by`; without the key true unless `tracked_only`.
    #[serde(default)]
    pub group_by: Option<bool>,
    /// Native queries and logical models, which the metadata has.
    #[serde(skip)]
    pub native_queries: source::native_queries::NativeQueries,
    /// Place of the source in the file.
    #[serde(skip)]
    pub of_file: Option<usize>,
    /// Roles made of others, as the configuration has them for all sources.
    #[serde(skip)]
    pub inherited_roles: Vec<InheritedRole>,
    /// Roles with permissions, in any source.
    #[serde(skip)]
    pub roles: Vec<String>,
    /// True if functions that read need permissions of their own.
    #[serde(skip)]
    pub explicit_functions: bool,
    /// Place of the source in the metadata that describes it.
    #[serde(skip)]
    pub of_metadata: Option<usize>,
    /// Ways into its tables for relationships of the metadata.
    #[serde(skip)]
    pub lookups: source::lookups::Lookups,
    /// Rule for default relationship names.
    #[serde(default)]
    pub relationship_names: RelationshipNames,
    /// GraphQL type of INTEGER columns.
    #[serde(default)]
    pub integers: Integers,
    /// Answer of `update_…_by_pk` and `delete_…_by_pk` if no row has the key.
    #[serde(default)]
    pub missing_row: MissingRow,
    /// Messages for clients when a constraint is violated, by the constraint's name: `Album_pkey`, `Artist_Name_key`,
    /// `Album_Title_not_null`, or the name of a CHECK.
    #[serde(default)]
    pub constraint_messages: BTreeMap<String, String>,
    /// Prefixes and suffixes of the names of its types and root fields, for graphs of several sources, in the keys of
    /// Hasura's metadata v3.
    #[serde(default, skip_serializing)]
    pub customization: Customization,
    /// Tables that differ from the defaults, in the keys of Hasura's metadata v3.
    #[serde(default, skip_serializing)]
    pub tables: Vec<TableEntry>,
    /// Functions of a PostgreSQL database that are served as root fields, in the keys of Hasura's metadata v3.
    #[serde(default, skip_serializing)]
    pub functions: Vec<FunctionEntry>,
}

/// `sources[].relationship_names`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RelationshipNames {
    /// `Album_Artist`, `Artist_Albums`.
    #[default]
    Long,
    /// `Artist`, `Albums`.
    Short,
    /// Names that Hasura's console suggests: `author` from the column `author_id`, `articles` from the name of the referencing table.
    Hasura,
}

/// `sources[].integers`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Integers {
    /// The declared type: `INTEGER` is `Int`, and a value beyond 32 bits is a field error; `BIGINT` is `bigint`.
    #[default]
    Declared,
    /// Always `bigint`.
    Bigint,
}

/// `sources[].missing_row`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MissingRow {
    /// Null; the mutation continues.
    #[default]
    Allow,
    /// The error `ROW_NOT_FOUND`; the mutation is rolled back.
    Error,
}

/// `sources[].kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// A file, opened by the embedded SQLite.
    Sqlite,
    /// A PostgreSQL server, or a database with its protocol.
    Postgres,
}

impl Source {
    /// True for a source that is a database with tracked tables.
    pub const fn has_tables(&self) -> bool {
        self.native.is_none() && self.file.is_none()
    }
}

impl Config {
    /// All addresses to listen on.
    pub fn listeners(&self) -> impl Iterator<Item = SocketAddr> {
        std::iter::once(self.listen).chain(self.admin_listen).map(|it| it.0)
    }

    /// Number of threads that serve requests.
    pub fn worker_threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(cores, usize::from).max(1)
    }

    /// True if callers without credentials are not the admin.
    pub fn has_secret(&self) -> bool {
        self.admin_secret.is_some() || !self.auth.admin_secrets.is_empty()
    }

    /// True if only processes of this machine can connect.
    pub fn is_local(&self) -> bool {
        self.listeners().all(|it| it.ip().is_loopback())
    }

    /// True if the console and explain are open to everyone who can connect.
    pub fn is_dev(&self) -> bool {
        self.dev.unwrap_or_else(|| self.is_local())
    }

    /// Checks that settings do not contradict each other.
    /// # Errors
    /// The first contradiction, and how to resolve it.
    pub fn check(&self) -> Result<(), String> {
        if !self.has_secret()
            && let Some(open) = self.listeners().find(|it| !it.ip().is_loopback())
        {
            return Err(format!(
                "refusing to listen on {open} without an admin secret: everyone who can reach it would be admin; \
                 set `admin_secret` (or WEIR_ADMIN_SECRET), or listen on 127.0.0.1"
            ));
        }
        if self.admin_secret.as_ref().is_some_and(|it| it.expose().trim().is_empty()) {
            return Err("the admin secret is blank; leave out `admin_secret` (or WEIR_ADMIN_SECRET) or give it a value".into());
        }
        self.cors.check()?;
        self.operations.check()?;
        if self.operations.mcp.authorization.is_some()
            && (self.auth.jwt.is_empty() || self.auth.jwt.iter().any(|it| it.audience.is_none()))
        {
            let words = "`operations.mcp.authorization` needs `auth.jwt` with an `audience`: a token for another server must not count";
            return Err(words.into());
        }
        self.tracing.check()?;
        self.check_zeros()?;
        self.limits.check(self.cache.redis.is_some())?;
        self.mirror.as_ref().map_or(Ok(()), Mirror::check)?;
        if let Some(redis) = &self.cache.redis {
            Address::parse(redis.expose()).map_err(|wrong| format!("`cache.redis` {wrong}"))?;
        }
        if let Some(place) = self.sources.iter().position(|it| it.name.trim().is_empty()) {
            return Err(format!("`sources[{place}].name` is blank; give each source a name"));
        }
        for (place, source) in self.sources.iter().enumerate() {
            for (name, service) in &source.services {
                let fail = |message: String| format!("`sources[{place}].services.{name}`: {message}");
                service.check().map_err(fail)?;
            }
        }
        if let Some(name) = &self.relay.source
            && !self.sources.iter().any(|it| it.name == *name && it.has_tables())
        {
            return Err(format!("`relay.source` is `{name}`, which is the name of no database of `sources`"));
        }
        let mut names: Vec<&str> = self.sources.iter().map(|it| it.name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|it| it[0] == it[1]) {
            Some(twice) => Err(format!("two sources are named `{}`; give each its own name", twice[0])),
            None => Ok(()),
        }
    }

    /// Refuses limits of zero, except where zero turns a feature off.
    fn check_zeros(&self) -> Result<(), String> {
        let mut blocks = vec![("limits".to_owned(), serde_json::to_value(&self.limits))];
        for (place, source) in self.sources.iter().enumerate() {
            if let Some(block) = &source.postgres {
                blocks.push((format!("sources[{place}].postgres"), serde_json::to_value(block)));
            }
        }
        refuse_zeros(blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(config: Config, expected: Result<(), &str>) {
        match (config.check(), expected) {
            (Ok(()), Ok(())) => {}
            (Err(message), Err(part)) => assert!(message.contains(part), "{message}"),
            (found, wanted) => panic!("{found:?} instead of {wanted:?}"),
        }
    }

    fn open(secret: Option<&str>) -> Config {
        Config {
            listen: Listen(SocketAddr::from(([0, 0, 0, 0], 8080))),
            admin_secret: secret.map(Secret::new),
            ..Config::default()
        }
    }

    #[test]
    fn an_open_listener_needs_a_secret() {
        check(open(None), Err("without an admin secret"));
        check(open(Some("s3cret")), Ok(()));
        for blank in ["", " ", "\t\n"] {
            check(open(Some(blank)), Err("the admin secret is blank"));
        }
    }

    #[test]
    fn a_source_has_a_name_of_its_own() {
        let named = |names: &[&str]| {
            let source = |name: &&str| Source { name: (*name).into(), ..Source::default() };
            Config { sources: names.iter().map(source).collect(), ..Config::default() }
        };
        check(named(&["a", "b"]), Ok(()));
        check(named(&["a", "a"]), Err("two sources are named `a`"));
        for blank in ["", " "] {
            check(named(&["a", blank]), Err("`sources[1].name` is blank"));
        }
    }

    #[test]
    fn a_bound_that_refuses_everything_is_refused() {
        let of = |change: fn(&mut Limits)| {
            let mut config = Config::default();
            change(&mut config.limits);
            config
        };
        check(of(|it| it.depth_max = 0), Err("`limits.depth_max` is 0"));
        check(of(|it| it.request_s = 0), Err("`limits.request_s` is 0"));
        check(of(|it| it.statement_s = 0), Err("`limits.statement_s` is 0"));
        check(of(|it| it.aliases_max = 0), Ok(()));
        check(of(|it| it.wrong_secrets_per_minute = 0), Ok(()));
        let of = |block: source::postgres::Postgres| {
            let source = Source { postgres: Some(block), ..Source::default() };
            Config { sources: vec![source], ..Config::default() }
        };
        let default = source::postgres::Postgres::default;
        let block = source::postgres::Postgres { sessions_max: 0, ..default() };
        check(of(block), Err("`sources[0].postgres.sessions_max` is 0"));
        let block = source::postgres::Postgres { decoding_log_mb_max: 0, ..default() };
        check(of(block), Err("`sources[0].postgres.decoding_log_mb_max` is 0"));
    }

    #[test]
    fn a_header_of_a_service_has_one_spelling() {
        let headers = ["X-Key", "x-other", "x-key"].map(|it| (it.to_owned(), Secret::new("hush")));
        let service = Service { headers: headers.into(), ..Service::default() };
        let source =
            Source { name: "a".into(), services: [("b".to_owned(), service)].into(), ..Source::default() };
        let config = Config { sources: vec![source], ..Config::default() };
        check(config, Err("`sources[0].services.b`: `headers`: `X-Key` and `x-key` are one header"));
    }

    #[test]
    fn a_redis_has_an_address() {
        let config = |redis: &str| Config {
            cache: Cache { redis: Some(Secret::new(redis)), ..Cache::default() },
            ..Config::default()
        };
        check(config("redis://cache:6379/1"), Ok(()));
        check(config("redis-cluster://u:p@a:6379,b:6379"), Ok(()));
        check(config("cache:6379"), Err("`cache.redis` is no address of a Redis"));
    }

    #[test]
    fn only_loopback_is_dev_by_itself() {
        assert!(Config::default().is_dev());
        assert!(!open(Some("s")).is_dev());
        assert!(Config { dev: Some(true), ..open(Some("s")) }.is_dev());
    }

    #[test]
    fn a_secret_is_never_printed() {
        assert!(!format!("{:?}", open(Some("s3cret"))).contains("s3cret"));
    }
}

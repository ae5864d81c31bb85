//! Files of services, opened as sources of the graph.
//!
//! One cache in the process holds the services' answers, so that a reload keeps them.

use super::known_sources;
use super::known_sources::{KnownContents, KnownSources};
use crate::config;
use crate::config::Source;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use weir_engine::compose::Join;
use weir_engine::source::{FieldResolver, Source as EngineSource, Tag};
use weir_engine::tag_versions::{Change, ChangeListener, InvalidationSink, TagVersions};
use weir_http::cache::{Address, Cache, CacheSettings, Clock, Counts, RemoteSettings};
use weir_http::graphql::GraphqlSource;
use weir_http::grpc::GrpcSource;
use weir_http::passthrough::{OpenError, Server};
use weir_http::sdl;
use weir_http::selection::value::Value;
use weir_http::source::{self, HttpSource, Options, RemoteServer};
use weir_language::schema::{FieldId, Schema};
use weir_metadata::Json;

/// Maximum time to wait for another process's call of a service.
const PATIENCE: Duration = Duration::from_millis(30);

/// The process's cache of service answers, with its settings.
static CACHE: Mutex<Option<(config::Cache, Arc<Cache>)>> = Mutex::new(None);

/// The process's registry of invalidations.
pub(crate) fn changes() -> Arc<TagVersions> {
    static CHANGES: LazyLock<Arc<TagVersions>> = LazyLock::new(Arc::default);
    Arc::clone(&CHANGES)
}

/// Returns the cache for `wanted`. Entries are kept unless the settings changed.
/// # Errors
/// The address of the second level is invalid, or no thread can be started.
pub(crate) fn keep(wanted: &config::Cache) -> Result<Arc<Cache>, String> {
    let mut kept = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    let is_same = |made: &config::Cache| {
        (made.bytes_max, made.redis_ms_max) == (wanted.bytes_max, wanted.redis_ms_max)
            && (&made.redis, &made.namespace) == (&wanted.redis, &wanted.namespace)
    };
    if let Some((_, cache)) = kept.as_ref().filter(|(made, _)| is_same(made)) {
        return Ok(Arc::clone(cache));
    }
    let remote = wanted.redis.as_ref().map(|redis| {
        let address = Address::parse(redis.expose())?;
        let namespace = &*wanted.namespace;
        let budget = Duration::from_millis(wanted.redis_ms_max.into());
        Ok::<_, String>(RemoteSettings { address, namespace: namespace.into(), budget, patience: PATIENCE })
    });
    let remote = remote.transpose().map_err(|wrong| format!("`cache.redis` {wrong}"))?;
    let bytes_max = wanted.bytes_max;
    let changes = changes();
    let settings = CacheSettings { bytes_max, clock: Clock::system(), remote, changes: Arc::clone(&changes) };
    let cache = Arc::new(Cache::new(settings).map_err(|cause| format!("the cache of services: {cause}"))?);
    let others: Arc<dyn InvalidationSink> = Arc::clone(&cache) as Arc<dyn InvalidationSink>;
    changes.set_remote_sink(Arc::downgrade(&others));
    *kept = Some((wanted.clone(), Arc::clone(&cache)));
    Ok(cache)
}

/// A reserved tag: another process changed the configuration.
const CONFIGURATION: &str = "\0configuration";

/// Notifies other processes behind `cache.redis` that configuration files were written.
pub(crate) fn notify_configuration_change() {
    let kept = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, cache)) = kept.as_ref() {
        cache.invalidate_rows(&Tag(CONFIGURATION.into()), &[]);
    }
}

/// Listens for configuration changes by other processes.
#[derive(Debug, Default)]
pub(crate) struct ConfigurationListener(Notify);

impl ConfigurationListener {
    /// Starts a listener.
    pub(crate) fn start() -> Arc<Self> {
        let listener = Arc::new(Self::default());
        let weak: Weak<Self> = Arc::downgrade(&listener);
        changes().listen(weak);
        listener
    }

    /// Waits for the next notification.
    pub(crate) async fn await_change(&self) {
        self.0.notified().await;
    }
}

impl ChangeListener for ConfigurationListener {
    fn on_change(&self, change: &Change<'_>) {
        if change.tag == CONFIGURATION {
            self.0.notify_one();
        }
    }

    /// Concerns data; configuration files are watched separately.
    fn on_unknown_change(&self) {}

    fn on_unconfirmed_change(&self, _: &Change<'_>) {}
}

/// Counters of the cache, if it exists.
pub(crate) fn counts() -> Option<Counts> {
    let kept = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    kept.as_ref().map(|(_, cache)| cache.counts())
}

/// Converts a setting for selections. Recursion is bounded by the reader of the file.
fn value(setting: &Json) -> Value<'static> {
    match setting {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(digits) => Value::Number(digits.to_string().into()),
        Json::Text(text) => Value::Text(text.to_string().into()),
        Json::List(items) => Value::Array(items.iter().map(value).collect()),
        Json::Object(members) => {
            Value::Object(members.0.iter().map(|(key, it)| (key.to_string().into(), value(it))).collect())
        }
    }
}

/// Opens the file of services at `path` as `source`, without making calls.
/// # Errors
/// The file cannot be read; or all mistakes, with locations.
pub fn open(source: &Source, path: &Path, cache: &Arc<Cache>) -> Result<HttpSource, String> {
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|cause| format!("{file}: {cause}"))?;
    let env = |name: &str| std::env::var(name).ok();
    let services = source.services.iter().map(|(name, it)| (name.clone(), it.to_overrides())).collect();
    let config = source.config.iter().map(|(name, it)| (name.clone(), value(it))).collect();
    let options = Options {
        name: &source.name,
        cache: Arc::clone(cache),
        config: &config,
        env: &env,
        env_allowed: source.env.as_deref(),
        services: &services,
        ca: source.ca.as_deref(),
        embedding: None,
    };
    source::open(&text, &file, &options).map_err(|mistakes| {
        let lines = mistakes.iter().map(ToString::to_string);
        lines.collect::<Vec<_>>().join("\n")
    })
}

/// GraphQL and gRPC servers in a file of services.
#[derive(Default)]
pub(crate) struct Servers {
    /// Servers that are open.
    pub(crate) open: Vec<Arc<dyn EngineSource>>,
    /// Servers that do not answer.
    pub(crate) down: Vec<DownServer>,
    /// Schemas of servers that answered, now or before.
    pub(crate) known: KnownSources,
}

/// A server that does not answer.
pub(crate) struct DownServer {
    pub(crate) name: String,
    /// The reason, for the operator.
    pub(crate) message: String,
    /// True if its last known schema is served.
    pub(crate) is_known: bool,
}

/// Opens the servers named by the file of `source` at `path`. GraphQL servers are introspected; one that does not answer is served with
/// its schema from `before`.
/// # Errors
/// Mistakes in the file, with locations.
pub(crate) fn servers(
    source: &HttpSource,
    path: &Path,
    before: Option<&KnownSources>,
) -> Result<Servers, String> {
    let file = path.display().to_string();
    let told = |mistakes: &[sdl::Mistake]| {
        let lines = mistakes.iter().map(ToString::to_string);
        lines.collect::<Vec<_>>().join("\n")
    };
    let named = source.servers(&file).map_err(|it| told(&it))?;
    let mut servers = Servers::default();
    for server in named {
        let (name, at, opened) = match server {
            RemoteServer::Graphql(server, at) => {
                let name = server.name.to_string();
                let opened = graphql(server, before, &mut servers);
                (name, at, opened)
            }
            RemoteServer::Grpc(server, proto, at) => {
                let name = server.name.to_string();
                let beside = path.parent().unwrap_or(Path::new("")).join(&*proto);
                let opened =
                    GrpcSource::open(server, &beside).map(|it| Arc::new(it) as Arc<dyn EngineSource>);
                (name, at, opened)
            }
        };
        match opened {
            Ok(opened) => servers.open.push(opened),
            Err(OpenError::Unavailable(message)) => {
                servers.down.push(DownServer { name, message, is_known: false });
            }
            Err(OpenError::Unfit(words)) => return Err(format!("{file}:{}:{}: {words}", at.line, at.column)),
        }
    }
    // If a server is down with an unknown schema, tags and guards cannot be checked.
    if servers.down.iter().all(|it| it.is_known) {
        let is_there = |ty: &str| servers.open.iter().any(|it| it.schema().type_by_name(ty).is_some());
        let lost = source.unmatched_tags(&file, &is_there);
        if !lost.is_empty() {
            return Err(told(&lost));
        }
        let schemas: Vec<_> = servers.open.iter().map(|it| (it.name(), &**it.schema())).collect();
        let lost = source.unmatched_guards(&file, &schemas);
        if !lost.is_empty() {
            return Err(told(&lost));
        }
    }
    Ok(servers)
}

/// Opens a GraphQL server, with its last known schema if it does not answer.
fn graphql(
    server: Server,
    before: Option<&KnownSources>,
    servers: &mut Servers,
) -> Result<Arc<dyn EngineSource>, OpenError> {
    let key = known_sources::server_key(&server);
    let made = match (ask(server.clone()), before.and_then(|it| it.get(&key))) {
        (Err(OpenError::Unavailable(message)), Some(KnownContents::Graphql(told))) => {
            servers.down.push(DownServer { name: server.name.to_string(), message, is_known: true });
            GraphqlSource::from_introspection(server, told.clone())?
        }
        (asked, _) => asked?,
    };
    servers.known.insert(key, KnownContents::Graphql(made.introspection().clone()));
    Ok(Arc::new(made))
}

/// Introspects a GraphQL server on a new thread, as the caller may be inside a runtime.
pub(crate) fn ask(server: Server) -> Result<GraphqlSource, OpenError> {
    let asked = std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| OpenError::Unavailable(error.to_string()))?;
            runtime.block_on(GraphqlSource::open(server))
        });
        asking.join()
    });
    asked.unwrap_or_else(|_| Err(OpenError::Unavailable("asking for the schema panicked".into())))
}

/// A `@join` of a file of services.
#[derive(Clone, Debug)]
pub struct Joined {
    file: String,
    join: sdl::Join,
}

/// Joins of `source`, whose file is at `path`.
pub fn joins(source: &HttpSource, path: &Path) -> Vec<Joined> {
    let file = path.display().to_string();
    source.joins().iter().map(|join| Joined { file: file.clone(), join: join.clone() }).collect()
}

impl Joined {
    /// Resolves the join in the graph of `sources`.
    /// # Errors
    /// No source has the target field, or its type differs; with the location.
    pub(crate) fn resolve(&self, sources: &[Arc<dyn EngineSource>]) -> Result<Join, String> {
        let Self { file, join } = self;
        let wrong =
            |reason: String| format!("{file}:{}:{}: {reason}", join.location.line, join.location.column);
        let found = sources.iter().find_map(|source| Some((source, target(&**source, &join.target)?)));
        let (source, field) = found.ok_or_else(|| {
            wrong(format!("`@join(field: \"{}\")`: no source has a query field of that name", join.target))
        })?;
        let ty = plain(&source.schema().type_text(source.schema().field(field).ty));
        if ty != plain(&join.ty) {
            return Err(wrong(format!(
                "`{}.{}` is of type `{}`, and the field `{}` that answers it of `{ty}`",
                join.on, join.name, join.ty, join.target
            )));
        }
        Ok(Join {
            on: join.on.to_string(),
            name: join.name.to_string(),
            description: join.description.to_string(),
            source: source.name().to_owned(),
            target: join.target.to_string(),
            arguments: join.arguments.to_string(),
        })
    }
}

/// The query field `name` of `source`, if clients may see it.
fn target(source: &dyn EngineSource, name: &str) -> Option<FieldId> {
    let schema: &Schema = source.schema();
    let field = schema.field_by_name(schema.query, name)?;
    source.field_resolver().is_none_or(|it: &dyn FieldResolver| !it.is_hidden(field)).then_some(field)
}

/// A type without its non-null marks: a joined field may always be null.
fn plain(ty: &str) -> String {
    ty.replace('!', "")
}

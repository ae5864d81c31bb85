//! Opens the configured sources and composes them to one graph.

mod actions;
mod cron_triggers;
pub(crate) mod custom;
pub(crate) mod databases;
mod event_triggers;
mod kind;
pub(crate) mod known_sources;
pub mod native;
mod remote_joins;
mod remote_roles;
mod remote_schemas;
pub(crate) mod remote_watch;
pub mod services;
pub(crate) mod stored_calls;

use crate::config::source::address;
use crate::config::source::address::Address;
use crate::config::{Config, Described, Federation, Source};
use databases::{OpenPostgres, Unopened, postgres, sqlite, unreached_postgres, unreached_sqlite};
use known_sources::{KnownContents, KnownSources};
use native::{AuthSettings, Native};
use remote_joins::{RemoteJoin, TableField, table_joins};
use remote_watch::WatchedRemote;
use services::{Joined, Servers};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use stored_calls::StoredCalls;
use weir_database::postgres::PostgresSource;
use weir_engine::compose::{ComposeError, Graph, Join};
use weir_engine::memory::Memory;
use weir_engine::source::Source as EngineSource;
use weir_events::capture::postgres::WideNumbers;
use weir_events::schedule::CronTrigger;
use weir_events::service::{EventDatabase, EventSource};
use weir_hasura::model::Entities;
use weir_hasura::open::{OpenedFile, RemoteField, Served};
use weir_language::schema::build::SchemaBuilder;
use weir_metadata::document::customization::Customization;
use weir_metadata::document::remote_schema::RemoteSchemaEntry;
use weir_native::store;
use weir_postgres::Watch;
use weir_relational::catalog::{Catalog, Warning};
use weir_relational::dialect::flavour::Flavour;

mod findings;

pub(crate) use event_triggers::EventEntry;
pub(crate) use findings::Misfit;
pub use findings::{Down, Findings};

/// Timeout of connecting to a server on a reload, because the other sources wait for it.
const CONNECT_MAX: Duration = Duration::from_secs(2);

/// Maximum number of name clashes in a message. A table in two sources clashes in about thirty names.
const CLASHES_SHOWN_MAX: usize = 3;

/// Opens all sources and composes those that are available, or known from `before`.
/// # Errors
/// All problems, one line each.
pub(crate) fn graph(config: &Config, before: Option<&KnownSources>) -> Result<(Graph, Opened), String> {
    if config.sources.is_empty() && config.described.is_none() && config.embedded.0.is_empty() {
        return Err("there is nothing to serve: `sources` is empty; add one, as in\n  sources:\n    - name: chinook\n      \
                    url: sqlite:chinook.db"
            .into());
    }
    let mut opened = open_all(config, before)?;
    opened.cron_triggers = cron_triggers::resolve(config, &mut opened.findings)?;
    let (others, fields) = (opened.sources.clone(), std::mem::take(&mut opened.table_fields));
    let known = (before, &mut opened.known);
    let remotes = remote_schemas::open(config, (&others, &fields), known, &mut opened.findings)?;
    opened.sources.extend(remotes.sources);
    opened.remote_joins.extend(remotes.joins);
    opened.remotes = remotes.watched;
    if let Some((actions, stored)) = actions::open(config, &opened.sources, &mut opened.findings)? {
        opened.stored_calls = stored;
        opened.remote_joins.extend(actions::joins(config, &actions, &opened.sources));
        opened.sources.push(actions);
    }
    let graph = opened.compose_consistent(config)?;
    Ok((graph, opened))
}

/// Placeholder while no source is available; no request reaches it.
fn empty_source() -> Result<Arc<dyn EngineSource>, String> {
    let mut builder = SchemaBuilder::new();
    let query = builder.object("query_root", "");
    builder.query(query).may_lack_queries();
    let schema = builder.build().map_err(|_| "the schema without sources is unsound".to_owned())?;
    Ok(Arc::new(Memory::new("nothing", Arc::new(schema))))
}

/// Open sources, with problems.
#[derive(Default)]
pub struct Opened {
    /// In the order of the configuration.
    pub sources: Vec<Arc<dyn EngineSource>>,
    /// Fields resolved by other sources.
    pub joins: Vec<Joined>,
    /// Relationships of the metadata to other sources.
    pub remote_joins: Vec<RemoteJoin>,
    /// Remote schemas.
    pub(crate) remotes: Vec<WatchedRemote>,
    /// Fields of tables that other sources answer.
    table_fields: Vec<TableField>,
    /// Problems for the operator.
    pub findings: Findings,
    /// Databases whose schema is watched.
    pub(crate) watches: Vec<Watch>,
    /// Native sources with pending indexes.
    pub(crate) building: Vec<Native>,
    /// Databases with event triggers, or that may have had some.
    pub(crate) events: Vec<EventSource>,
    /// Event triggers of the metadata.
    pub(crate) event_entries: Vec<EventEntry>,
    /// Authorization settings of native sources, by source.
    pub(crate) native_auth: Vec<(String, AuthSettings)>,
    /// Cron triggers of the metadata.
    pub(crate) cron_triggers: Vec<CronTrigger>,
    /// Asynchronous actions.
    pub(crate) stored_calls: Option<StoredCalls>,
    /// Contents for the next generation.
    pub(crate) known: KnownSources,
}

/// An open source.
struct Made {
    source: Arc<dyn EngineSource>,
    /// Servers that its file names.
    servers: Servers,
    joins: Vec<Joined>,
    warnings: Vec<Warning>,
    /// Notes about its database.
    notes: Vec<String>,
    watch: Option<Watch>,
    building: Option<Native>,
    auth: Option<AuthSettings>,
    /// The database, if event triggers can stand on its tables.
    events: Option<EventDatabase>,
    /// Contents of a database, read now or known from before.
    contents: Option<KnownContents>,
    /// Fields of its tables that other sources answer.
    remote_fields: Vec<RemoteField>,
    /// Reason why it serves its last known contents.
    unreached: Option<Unopened>,
}

impl Made {
    /// A database without further parts.
    fn database(source: Arc<dyn EngineSource>, warnings: Vec<Warning>, watch: Option<Watch>) -> Self {
        Self {
            source,
            servers: Servers::default(),
            joins: Vec::new(),
            warnings,
            notes: Vec::new(),
            watch,
            building: None,
            auth: None,
            events: None,
            contents: None,
            remote_fields: Vec::new(),
            unreached: None,
        }
    }

    /// A database that is down, built from its known `contents`.
    fn from_known_contents<S: EngineSource + 'static>(
        served: Served<S>,
        contents: KnownContents,
        reason: Unopened,
    ) -> Self {
        let Served { source, warnings, remote_fields } = served;
        let contents = Some(contents);
        let unreached = Some(reason);
        Self { contents, unreached, remote_fields, ..Self::database(Arc::new(source), warnings, None) }
    }
}

/// Opens every source of `config`. One that is down does not block the others: it is served from its contents in `before`, or left out. At
/// startup there is no `before`.
/// # Errors
/// The first source that can never be opened as configured.
pub(crate) fn open_all(config: &Config, before: Option<&KnownSources>) -> Result<Opened, String> {
    let mut opened = Opened::default();
    if config.cache.redis.is_some() {
        // The cache is needed without services too, since changes are published to other processes.
        services::keep(&config.cache)?;
    }
    opened.findings.warnings.extend_from_slice(&config.notes);
    if let Some(described) = &config.described {
        opened.findings.unsupported.extend(described.unsupported.iter().map(ToString::to_string));
        opened.findings.warnings.extend(described.different.iter().map(ToString::to_string));
        described.inconsistent.iter().for_each(|it| opened.findings.leave_out(it.clone()));
    }
    for (place, source) in config.sources.iter().enumerate() {
        let name = &source.name;
        match open(source, config, before) {
            Ok(made) => opened.take(config, place, made),
            Err(Unopened::Wrong(message))
                if let Some((described, at)) = config.described.as_ref().zip(source.of_metadata) =>
            {
                opened.findings.leave_out(described.inconsistent(&Described::path(at, &[]), &message));
            }
            Err(Unopened::Wrong(message)) => return Err(format!("source `{name}`: {message}")),
            Err(unopened @ (Unopened::Down(_) | Unopened::Closed(_))) => {
                opened.findings.down.push(Down::new(name, &unopened, false));
            }
        }
    }
    opened.sources.extend(config.embedded.0.iter().cloned());
    opened.remote_joins = table_joins(config, &opened.table_fields, &opened.sources);
    match opened.findings.down.first() {
        Some(first) if opened.sources.is_empty() && opened.findings.down.iter().all(|it| it.is_closed) => {
            Err(first.to_string())
        }
        Some(_) | None => Ok(opened),
    }
}

impl Opened {
    /// Composes the sources. A remote schema that clashes with others is left out, and so is a relationship that does not fit.
    fn compose_consistent(&mut self, config: &Config) -> Result<Graph, String> {
        let is_part = self.findings.leaves_out_sources();
        loop {
            let sources = if self.sources.is_empty() { vec![empty_source()?] } else { self.sources.clone() };
            let mut joins = self.joins.clone();
            if is_part {
                // Joins to a source that is down are left out until it is available.
                joins.retain(|it| it.resolve(&sources).is_ok());
            }
            let joins = resolve_joins(&sources, &joins, &self.remote_joins)?;
            match compose_with(sources, &joins, config.federation.as_ref(), is_part) {
                Ok(graph) => {
                    self.warn_of_empty_subgraph(config, &graph);
                    return Ok(graph);
                }
                Err(errors) if self.leave_out_clashing(config, &errors) => {}
                Err(errors) => return Err(describe_errors(&errors)),
            }
        }
    }

    fn warn_of_empty_subgraph(&mut self, config: &Config, graph: &Graph) {
        if let Some(Federation { role, .. }) = &config.federation
            && graph.is_subgraph_empty()
        {
            self.findings.warnings.push(format!(
                "`federation.role`: the role `{role}` sees nothing, and so the subgraph is empty: give it permissions, or mend its name"
            ));
        }
    }

    /// Leaves out remote schemas and relationships that are the cause of `errors`; false if there are none.
    fn leave_out_clashing(&mut self, config: &Config, errors: &[ComposeError]) -> bool {
        let Some(described) = &config.described else { return false };
        let mut has_changed = false;
        for error in errors {
            let (path, name) = match error {
                ComposeError::Join { place, .. } => {
                    let is_named = |it: &RemoteJoin| format!("{}.{}", it.join.on, it.join.name) == *place;
                    let Some(at) = self.remote_joins.iter().position(is_named) else { continue };
                    (self.remote_joins.remove(at).path, None)
                }
                ComposeError::TypeTwice { second, .. }
                | ComposeError::ScalarReaders { second, .. }
                | ComposeError::RootFieldTwice { second, .. } => {
                    let schemas = &described.loaded.document.remote_schemas;
                    let own = |it: &RemoteSchemaEntry| remote_schemas::source_name(&it.name) == *second;
                    let Some(at) = schemas.iter().position(own) else { continue };
                    (vec!["remote_schemas".into(), at.into()], Some(second))
                }
                ComposeError::SourceNames { .. }
                | ComposeError::Extension { .. }
                | ComposeError::Hint { .. }
                | ComposeError::Cost { .. }
                | ComposeError::Schema { .. } => continue,
            };
            let reason = remote_schemas::clash_words(error);
            self.findings.leave_out(described.inconsistent(&path, &reason));
            if let Some(name) = name {
                self.sources.retain(|it| it.name() != name);
                self.remote_joins.retain(|it| it.join.source != *name);
            }
            has_changed = true;
        }
        let sources = &self.sources;
        self.remote_joins
            .retain(|it| sources.iter().any(|source| source.schema().type_by_name(&it.join.on).is_some()));
        has_changed
    }

    /// Adds `made`, the source at index `place` of `config`.
    fn take(&mut self, config: &Config, place: usize, made: Made) {
        let entry = &config.sources[place];
        let Made { source, servers, joins, mut warnings, notes, watch, building, auth, events, .. } = made;
        let (contents, unreached) = (made.contents, made.unreached);
        let name = &entry.name;
        if let Some(database) = events {
            let (events, wrong) = event_triggers::read(entry, config, database, contents.as_ref());
            self.events.extend(events);
            warnings.extend(wrong);
            self.event_entries.extend(event_triggers::list_entries(entry, config));
        } else {
            warnings.extend(event_triggers::refuse_all(entry));
        }
        self.findings.notes.extend(notes.iter().map(|it| format!("source `{name}`: {it}")));
        self.native_auth.extend(auth.map(|it| (name.clone(), it)));
        self.sources.push(source);
        self.sources.extend(servers.open);
        let down = servers.down.into_iter();
        let down = down.map(|it| Down::new(&it.name, &Unopened::Down(it.message), it.is_known));
        self.findings.down.extend(down);
        self.findings.down.extend(unreached.map(|it| Down::new(name, &it, true)));
        self.known.extend(servers.known);
        if let Some(contents) = contents {
            self.known.insert(known_sources::address_key(entry), contents);
        }
        self.joins.extend(joins);
        self.table_fields.extend(made.remote_fields.into_iter().map(|it| (place, it)));
        self.watches.extend(watch);
        self.building.extend(building);
        warnings.into_iter().for_each(|it| self.findings.add(config, place, it));
    }
}

/// Composes open sources with `joins` of files of services and `more` joins between them.
/// # Errors
/// All conflicts, one line each; at most `CLASHES_SHOWN_MAX` of a kind.
pub fn compose(
    sources: Vec<Arc<dyn EngineSource>>,
    joins: &[Joined],
    more: &[RemoteJoin],
    federation: Option<&Federation>,
) -> Result<Graph, String> {
    let joins = resolve_joins(&sources, joins, more)?;
    compose_with(sources, &joins, federation, false).map_err(|errors| describe_errors(&errors))
}

fn resolve_joins(
    sources: &[Arc<dyn EngineSource>],
    joins: &[Joined],
    more: &[RemoteJoin],
) -> Result<Vec<Join>, String> {
    let (resolved, wrong): (Vec<_>, Vec<_>) =
        joins.iter().map(|it| it.resolve(sources)).partition(Result::is_ok);
    let wrong: Vec<String> = wrong.into_iter().filter_map(Result::err).collect();
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    Ok(resolved.into_iter().flatten().chain(more.iter().map(|it| it.join.clone())).collect())
}

fn compose_with(
    sources: Vec<Arc<dyn EngineSource>>,
    joins: &[Join],
    federation: Option<&Federation>,
    is_part: bool,
) -> Result<Graph, Vec<ComposeError>> {
    if let Some(federation) = federation {
        return Graph::compose_subgraph(sources, joins, &federation.settings(), is_part);
    }
    if is_part { Graph::compose_some(sources, joins) } else { Graph::compose(sources, joins) }
}

/// All conflicts, one line each; at most [`CLASHES_SHOWN_MAX`] of a kind.
fn describe_errors(errors: &[ComposeError]) -> String {
    let mut counts = HashMap::new();
    let shown = errors.iter().filter(|it| {
        let count = counts.entry(std::mem::discriminant(*it)).or_insert(0);
        *count += 1;
        *count <= CLASHES_SHOWN_MAX
    });
    let mut lines: Vec<String> = shown.map(ToString::to_string).collect();
    if lines.len() < errors.len() {
        lines.push(format!("and {} more like these", errors.len() - lines.len()));
    }
    lines.join("\n")
}

/// Opens one source.
fn open(source: &Source, config: &Config, before: Option<&KnownSources>) -> Result<Made, Unopened> {
    let federated = config.federation.as_ref().map(|_| {
        let is_listed = source.tracked_only || source.of_metadata.is_some();
        let entities = if is_listed { Entities::Listed } else { Entities::All };
        Source { lookups: source.lookups.clone().with_entities(entities), ..source.clone() }
    });
    let source = federated.as_ref().unwrap_or(source);
    let address = match (&source.native, &source.file) {
        (Some(path), None) if source.url.is_empty() => Address::Native(path.clone()),
        (None, Some(path)) if source.url.is_empty() => Address::Services(path.clone()),
        (None, None) => address::parse(&source.url)?,
        (Some(_), _) | (_, Some(_)) => {
            return Err(Unopened::Wrong("`native`, `file` and `url` exclude each other; leave one".into()));
        }
    };
    kind::check(source, &address)?;
    match address {
        Address::Sqlite(path) => open_sqlite(source, &path, config, before),
        Address::Postgres(url) => open_postgres(source, &url, config, before),
        Address::Native(_) | Address::Services(_) if source.customization != Customization::default() => {
            let message =
                "`customization` is for databases: leave it out, names are what the types in the file say";
            Err(Unopened::Wrong(message.into()))
        }
        Address::Native(path) => native(source, &path, config, before),
        Address::Services(path) => {
            let made = services::open(source, &path, &services::keep(&config.cache)?)?;
            let servers = services::servers(&made, &path, before)?;
            let joins = services::joins(&made, &path);
            let notes = made.mapping().notes.iter();
            let warnings = notes.map(|it| Warning::new(it.place(), it.message.clone())).collect();
            Ok(Made { servers, joins, ..Made::database(Arc::new(made), warnings, None) })
        }
    }
}

/// Opens a SQLite file. A file that was served before and is missing counts as down; otherwise the configuration is wrong.
fn open_sqlite(
    source: &Source,
    path: &Path,
    config: &Config,
    before: Option<&KnownSources>,
) -> Result<Made, Unopened> {
    let opened = if path.is_file() {
        sqlite(source, path, &config.limits)
    } else {
        Err(Unopened::Down(format!(
            "there is no file {}; name the database to serve (`url` in weir.yaml), or see a sample: `weir demo`",
            path.display()
        )))
    };
    let reason = match opened {
        Ok(OpenedFile { source: made, warnings, contents, remote_fields }) => {
            let contents = Some(KnownContents::Sqlite(Arc::new(contents)));
            let events = Some(EventDatabase::Sqlite(made.shared_writer()));
            return Ok(Made {
                contents,
                events,
                remote_fields,
                ..Made::database(Arc::new(made), warnings, None)
            });
        }
        Err(wrong @ Unopened::Wrong(_)) => return Err(wrong),
        Err(reason) => reason,
    };
    match before.and_then(|it| it.get(&known_sources::address_key(source))) {
        Some(KnownContents::Sqlite(contents)) => {
            let served = unreached_sqlite(source, path, &config.limits, contents)?;
            let contents = KnownContents::Sqlite(Arc::clone(contents));
            let events = Some(EventDatabase::Sqlite(served.source.shared_writer()));
            Ok(Made { events, ..Made::from_known_contents(served, contents, reason) })
        }
        Some(_) | None => Err(Unopened::Wrong(reason.to_string())),
    }
}

fn open_postgres(
    source: &Source,
    url: &str,
    config: &Config,
    before: Option<&KnownSources>,
) -> Result<Made, Unopened> {
    let reason = match postgres(source, url, config, before.map(|_| CONNECT_MAX)) {
        Ok(OpenPostgres { source: made, watch, warnings, contents, remote_fields }) => {
            let notes = notes(&made);
            let contents = Some(KnownContents::Postgres(Arc::new(contents)));
            let events = event_database(source, url, config, &made)?;
            return Ok(Made {
                notes,
                contents,
                events,
                remote_fields,
                ..Made::database(Arc::new(made), warnings, watch)
            });
        }
        Err(wrong @ Unopened::Wrong(_)) => return Err(wrong),
        Err(reason) => reason,
    };
    match before.and_then(|it| it.get(&known_sources::address_key(source))) {
        Some(KnownContents::Postgres(contents)) => {
            let served = unreached_postgres(source, url, config, contents)?;
            let contents = KnownContents::Postgres(Arc::clone(contents));
            let events = event_database(source, url, config, &served.source)?;
            Ok(Made { events, ..Made::from_known_contents(served, contents, reason) })
        }
        Some(_) | None => Err(reason),
    }
}

/// The database of `source` for its events; `None` for compatible databases, which have no such triggers.
fn event_database(
    source: &Source,
    url: &str,
    config: &Config,
    made: &PostgresSource,
) -> Result<Option<EventDatabase>, Unopened> {
    if made.flavour() != Flavour::Postgres {
        return Ok(None);
    }
    let is_text = source.postgres.as_ref().is_some_and(|it| it.stringify_numeric_types);
    let numbers = if is_text { WideNumbers::Texts } else { WideNumbers::Numbers };
    Ok(Some(EventDatabase::Postgres(Box::new(databases::settings(source, url, config)?), numbers)))
}

/// Creates or migrates a native store and opens it. One that is down is served if its last known tables match the types.
fn native(
    source: &Source,
    path: &Path,
    config: &Config,
    before: Option<&KnownSources>,
) -> Result<Made, Unopened> {
    let known = match before.and_then(|it| it.get(&known_sources::address_key(source))) {
        Some(KnownContents::Native(known)) => Some(known),
        Some(_) | None => None,
    };
    let connect_max = before.map_or(Duration::MAX, |_| CONNECT_MAX);
    let native = Native { tells_denials: source.tell_denials, ..Native::new(path, source.store.as_deref())? };
    let open = || {
        let types = native.types()?;
        let warnings =
            types.warnings.iter().map(|it| Warning::new(native.format_place(it.place), it.message.clone()));
        let mut warnings: Vec<Warning> = warnings.collect();
        let hasty = native.connecting_within(connect_max);
        let migrated = hasty.migrate(&types, &[]);
        let found = migrated.and_then(|_| Ok((hasty.unfinished_indexes(&types)?, hasty.schema()?)));
        let (types, building, unreached) = match (found, known) {
            (Ok((building, schema)), _) => (types.in_schema(&schema), building, None),
            (Err(store::Error::Unreachable(message)), Some(known)) => {
                let down = Unopened::Down(message);
                match types_in_known_schema(types, &known.0) {
                    Some(types) => (types, known.1.clone(), Some(down)),
                    None => return Err(down),
                }
            }
            (Err(error), _) => return Err(classify_store_error(error, path)),
        };
        let catalog = types.layout.relations.catalog.clone();
        let waiting = building.iter().filter_map(|it| Some((it, it.waits_for?)));
        warnings.extend(waiting.map(|(it, mend)| {
            Warning::new(native.sdl.display().to_string(), format!("index `{}` waits for {mend}", it.name))
        }));
        let is_building = building.iter().any(|it| it.waits_for.is_none());
        let customs = types.customs.clone();
        let (opened, auth) = match unreached {
            None => native.open(&source.name, types, &building, &config.limits)?,
            Some(_) => native.open_unreached(&source.name, types, &building, &config.limits)?,
        };
        let mut servers = Servers::default();
        if !customs.is_empty() {
            let cache = services::keep(&config.cache)?;
            let notes = custom::introspect(path, &customs, &cache, &services::ask)?;
            warnings.extend(notes.into_iter().map(|it| Warning::new(path.display().to_string(), it)));
            let custom = custom::open(&source.name, path, &customs, cache, auth.line.is_some())?;
            servers.open.push(custom);
        }
        let contents = Some(KnownContents::Native(Arc::new((catalog, building))));
        // Indexes of a store that is down are built when it is available again.
        let building = (is_building && unreached.is_none()).then(|| native.clone());
        let auth = Some(auth);
        Ok(Made { servers, building, auth, contents, unreached, ..Made::database(opened, warnings, None) })
    };
    // A new thread, because the caller may be inside another runtime.
    let opened = std::thread::scope(|scope| scope.spawn(open).join());
    opened.map_err(|_| "opening the store panicked".to_owned())?
}

/// `types` with their tables in the schema of `known`; `None` if the tables differ.
fn types_in_known_schema(types: store::Types, known: &Catalog) -> Option<store::Types> {
    let schema = known.tables.first().map_or("", |it| it.schema.as_str());
    Some(types.in_schema(schema)).filter(|it| it.layout.relations.catalog == *known)
}

/// Notes about an open database.
fn notes(made: &PostgresSource) -> Vec<String> {
    let flavour = made.flavour();
    let bound = format!("{}: {}", flavour.name(), made.connection_bound());
    std::iter::once(bound).chain(flavour.differences().iter().map(ToString::to_string)).collect()
}

fn classify_store_error(error: store::Error, path: &Path) -> Unopened {
    match error {
        store::Error::Unreachable(message) => Unopened::Down(message),
        store::Error::Refused(_) => {
            Unopened::Wrong(format!("{error}\nsee `weir migrate {} --plan`", path.display()))
        }
        store::Error::Database(_)
        | store::Error::Unfit(_)
        | store::Error::Missing
        | store::Error::Foreign { .. }
        | store::Error::Format { .. }
        | store::Error::Stored(_)
        | store::Error::Changed => Unopened::Wrong(error.to_string()),
    }
}

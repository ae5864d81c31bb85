//! From the sources of a configuration to one graph.

mod kind;

use crate::address::{self, Address};
use crate::config::{Config, Described, Source};
use crate::custom;
use crate::databases::{Unopened, postgres, sqlite};
use crate::native::{AuthSettings, Native};
use crate::services::{self, Joined, Servers};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use weir_engine::compose::{Graph, Join};
use weir_engine::memory::Memory;
use weir_engine::source::Source as EngineSource;
use weir_language::schema::build::SchemaBuilder;
use weir_metadata::document::customization::Customization;
use weir_native::store;
use weir_postgres::Watch;
use weir_relational::catalog::Warning;
use weir_sql::postgres::PostgresSource;

mod findings;

pub(crate) use findings::Misfit;
pub use findings::{Down, Findings};

/// A table that two sources have is some thirty names that clash; so many tell the story.
const CLASHES_SHOWN_MAX: usize = 3;

/// Opens every source and makes one graph of those that are there.
/// # Errors
/// All that is in the way, one line each.
pub fn graph(config: &Config) -> Result<(Graph, Opened), String> {
    if config.sources.is_empty() && config.described.is_none() && config.embedded.0.is_empty() {
        return Err("there is nothing to serve: `sources` is empty; add one, as in\n  sources:\n    - name: chinook\n      \
                    url: sqlite:chinook.db"
            .into());
    }
    let opened = open_all(config)?;
    let sources = match opened.sources.is_empty() {
        true => vec![nothing()?],
        false => opened.sources.clone(),
    };
    let mut joins = opened.joins.clone();
    if !opened.findings.down.is_empty() {
        // Joins to fields of a source that is down are left out until it is up.
        joins.retain(|it| it.resolve(&sources).is_ok());
    }
    Ok((compose(sources, &joins, &opened.findings.down)?, opened))
}

/// Stands in while no source is there; no request gets to it.
fn nothing() -> Result<Arc<dyn EngineSource>, String> {
    let mut builder = SchemaBuilder::new();
    let query = builder.object("query_root", "");
    builder.query(query).may_lack_queries();
    let schema = builder.build().map_err(|_| "the schema without sources is unsound".to_owned())?;
    Ok(Arc::new(Memory::new("nothing", Arc::new(schema))))
}

/// Sources that are open, and what of them is not served.
#[derive(Default)]
pub struct Opened {
    /// In the order of the configuration.
    pub sources: Vec<Arc<dyn EngineSource>>,
    /// Fields of services that other sources answer.
    pub joins: Vec<Joined>,
    /// For the operator.
    pub findings: Findings,
    /// Databases whose schema is watched.
    pub(crate) watches: Vec<Watch>,
    /// Native sources with indexes that are to be built.
    pub(crate) building: Vec<Native>,
    /// Rules on callers in the texts of native sources, by the sources' names.
    pub(crate) native_auth: Vec<(String, AuthSettings)>,
}

/// A source that is open.
struct Made {
    source: Arc<dyn EngineSource>,
    /// The servers that its text names.
    servers: Servers,
    joins: Vec<Joined>,
    warnings: Vec<Warning>,
    /// Bounds and promises of its database.
    notes: Vec<String>,
    watch: Option<Watch>,
    building: Option<Native>,
    auth: Option<AuthSettings>,
}

impl Made {
    /// A database and nothing beside it.
    fn database(source: Arc<dyn EngineSource>, warnings: Vec<Warning>, watch: Option<Watch>) -> Self {
        let (servers, joins, notes, building) = (Servers::default(), Vec::new(), Vec::new(), None);
        Self { source, servers, joins, warnings, notes, watch, building, auth: None }
    }
}

/// Opens every source of `config`. One that does not let Weir in keeps no other from being served.
/// # Errors
/// The first that cannot be opened, now or later, by name.
pub fn open_all(config: &Config) -> Result<Opened, String> {
    let mut opened = Opened::default();
    if config.cache.redis.is_some() {
        // Also without services: what is changed here is told to other processes.
        services::keep(&config.cache)?;
    }
    opened.findings.warnings.extend_from_slice(&config.notes);
    if let Some(described) = &config.described {
        opened.findings.unsupported.extend(described.unsupported.iter().map(ToString::to_string));
        described.inconsistent.iter().for_each(|it| opened.findings.leave_out(it.clone()));
    }
    for (place, source) in config.sources.iter().enumerate() {
        let name = &source.name;
        match open(source, config) {
            Ok(Made { source, servers, joins, warnings, notes, watch, building, auth }) => {
                opened.findings.notes.extend(notes.iter().map(|it| format!("source `{name}`: {it}")));
                opened.native_auth.extend(auth.map(|it| (name.clone(), it)));
                opened.sources.push(source);
                opened.sources.extend(servers.open);
                let down = servers.down.into_iter();
                let down = down.map(|(name, message)| Down { name, message, is_closed: false });
                opened.findings.down.extend(down);
                opened.joins.extend(joins);
                opened.watches.extend(watch);
                opened.building.extend(building);
                warnings.into_iter().for_each(|it| opened.findings.add(config, place, it));
            }
            Err(Unopened::Down(message)) => {
                opened.findings.down.push(Down { name: name.clone(), message, is_closed: false });
            }
            Err(Unopened::Closed(message)) => {
                opened.findings.down.push(Down { name: name.clone(), message, is_closed: true });
            }
            Err(Unopened::Wrong(message))
                if let Some((described, at)) = config.described.as_ref().zip(source.of_metadata) =>
            {
                opened.findings.leave_out(described.inconsistent(&Described::path(at, &[]), &message));
            }
            Err(Unopened::Wrong(message)) => return Err(format!("source `{name}`: {message}")),
        }
    }
    opened.sources.extend(config.embedded.0.iter().cloned());
    match opened.findings.down.first() {
        Some(first) if opened.sources.is_empty() && opened.findings.down.iter().all(|it| it.is_closed) => {
            Err(first.to_string())
        }
        Some(_) | None => Ok(opened),
    }
}

/// One graph of sources that are open, with `joins` between them. While some are `down`, what is said of their types waits for them.
/// # Errors
/// All conflicts between the sources, one line each; of each kind the first `CLASHES_SHOWN_MAX`.
pub fn compose(
    sources: Vec<Arc<dyn EngineSource>>,
    joins: &[Joined],
    down: &[Down],
) -> Result<Graph, String> {
    let (resolved, wrong): (Vec<_>, Vec<_>) =
        joins.iter().map(|it| it.resolve(&sources)).partition(Result::is_ok);
    let wrong: Vec<String> = wrong.into_iter().filter_map(Result::err).collect();
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    let joins: Vec<Join> = resolved.into_iter().flatten().collect();
    let graph =
        if down.is_empty() { Graph::compose(sources, &joins) } else { Graph::compose_some(sources, &joins) };
    graph.map_err(|errors| {
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
    })
}

/// Opens one source; `threads` will ask it.
fn open(source: &Source, config: &Config) -> Result<Made, Unopened> {
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
        Address::Sqlite(path) => {
            if !path.is_file() {
                let file = path.display();
                return Err(Unopened::Wrong(format!(
                    "there is no file {file}; name the database to serve (`url` in weir.yaml), or see a sample: `weir demo`"
                )));
            }
            let (made, warnings) = sqlite(source, &path, &config.limits)?;
            Ok(Made::database(Arc::new(made), warnings, None))
        }
        Address::Postgres(url) => {
            let (made, watch, warnings) = postgres(source, &url, config)?;
            let notes = notes(&made);
            Ok(Made { notes, ..Made::database(Arc::new(made), warnings, watch) })
        }
        Address::Native(_) | Address::Services(_) if source.customization != Customization::default() => {
            let message =
                "`customization` is for databases: leave it out, names are what the types in the file say";
            Err(Unopened::Wrong(message.into()))
        }
        Address::Native(path) => native(source, &path, config),
        Address::Services(path) => {
            let made = services::open(source, &path, &services::keep(&config.cache)?)?;
            let (servers, joins) = (services::servers(&made, &path)?, services::joins(&made, &path));
            let notes = made.mapping().notes.iter();
            let warnings = notes.map(|it| Warning::new(it.place(), it.message.clone())).collect();
            Ok(Made {
                source: Arc::new(made),
                servers,
                joins,
                warnings,
                notes: Vec::new(),
                watch: None,
                building: None,
                auth: None,
            })
        }
    }
}

/// Makes or migrates the store of a text of types and opens it for serving.
fn native(source: &Source, path: &Path, config: &Config) -> Result<Made, Unopened> {
    let native = Native { tells_denials: source.tell_denials, ..Native::new(path, source.store.as_deref())? };
    let open = || {
        let types = native.types()?;
        let warnings = types.warnings.iter().map(|it| Warning::new(native.at(it.place), it.message.clone()));
        let mut warnings: Vec<Warning> = warnings.collect();
        native.migrate(&types, &[]).map_err(|error| unopened(error, path))?;
        let building = native.building(&types).map_err(|error| unopened(error, path))?;
        let waiting = building.iter().filter_map(|it| Some((it, it.waits_for?)));
        warnings.extend(waiting.map(|(it, mend)| {
            Warning::new(native.sdl.display().to_string(), format!("index `{}` waits for {mend}", it.name))
        }));
        let is_building = building.iter().any(|it| it.waits_for.is_none());
        let customs = types.customs.clone();
        let (opened, auth) = native.open(&source.name, types, &building, &config.limits)?;
        let mut servers = Servers::default();
        if !customs.is_empty() {
            let cache = services::keep(&config.cache)?;
            let notes = custom::introspect(path, &customs, &cache, &services::ask)?;
            warnings.extend(notes.into_iter().map(|it| Warning::new(path.display().to_string(), it)));
            let custom = custom::open(&source.name, path, &customs, cache, auth.line.is_some())?;
            servers.open.push(custom);
        }
        let native = is_building.then(|| native.clone());
        Ok(Made {
            source: opened,
            servers,
            joins: Vec::new(),
            warnings,
            notes: Vec::new(),
            watch: None,
            building: native,
            auth: Some(auth),
        })
    };
    // A thread of its own, as this may be called where another runtime runs.
    let opened = std::thread::scope(|scope| scope.spawn(open).join());
    opened.map_err(|_| "opening the store panicked".to_owned())?
}

/// The bounds and promises of an open database.
fn notes(made: &PostgresSource) -> Vec<String> {
    let flavour = made.flavour();
    let bound = format!("{}: {}", flavour.name(), made.connection_bound());
    std::iter::once(bound).chain(flavour.promises().iter().map(ToString::to_string)).collect()
}

fn unopened(error: store::Error, path: &Path) -> Unopened {
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

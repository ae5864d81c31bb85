//! Opens databases by their addresses.

use crate::config::source::address;
use crate::config::source::address::Address;
use crate::config::source::postgres::Postgres;
use crate::config::{Config, Integers, Limits, MissingRow, RelationshipNames, Source};
use std::path::Path;
use std::time::{Duration, Instant};
use weir_database::contents::Contents;
use weir_database::postgres::{PostgresContents, PostgresReadError, PostgresSource};
use weir_database::sqlite::{SqliteOpenError, SqliteSource};
use weir_hasura::model::{self, Groups, Model, ModelOptions, Track};
use weir_hasura::open::{
    OpenError, OpenedFile, PostgresOptions, RemoteField, Served, SqliteSourceOptions, open_sqlite,
    read_postgres, serve_postgres, serve_unread_sqlite, track,
};
use weir_metadata::document::table::TableEntry;
use weir_postgres::{Settings, Watch, pooler};
use weir_relational::catalog::{Catalog, Warning};
use weir_relational::dialect::sqlite_type;
use weir_sqlite::connection::Tuning;
use weir_sqlite::introspect::SqliteOptions;

/// Timeout of reading a server's catalog.
const OPEN_MAX: Duration = Duration::from_secs(30);

/// Reason why a source is not open.
pub(crate) enum Unopened {
    /// Unreachable; a retry may help.
    Down(String),
    /// The server refuses access until its configuration, or ours, changes.
    Closed(String),
    /// The configuration or the database must change.
    Wrong(String),
}

impl std::fmt::Display for Unopened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Down(message) | Self::Closed(message) | Self::Wrong(message)) = self;
        f.write_str(message)
    }
}

impl From<String> for Unopened {
    fn from(message: String) -> Self {
        Self::Wrong(message)
    }
}

/// Options of the API model, from the configuration of `source`.
fn model_options(source: &Source) -> ModelOptions<'_> {
    ModelOptions {
        track: if source.tracked_only { Track::Listed } else { Track::All },
        groups: if source.group_by.unwrap_or(!source.tracked_only) { Groups::All } else { Groups::Named },
        relationship_names: match source.relationship_names {
            RelationshipNames::Long => model::RelationshipNames::Long,
            RelationshipNames::Short => model::RelationshipNames::Short,
            RelationshipNames::Hasura => model::RelationshipNames::Hasura,
        },
        tables: &source.tables,
        functions: &source.functions,
        native_queries: &source.native_queries.queries,
        logical_models: &source.native_queries.models,
        natives: None,
        trusts_natives: source.native_queries.are_trusted,
        missing_row: match source.missing_row {
            MissingRow::Allow => model::MissingRow::Null,
            MissingRow::Error => model::MissingRow::Error,
        },
        messages: Some(&source.constraint_messages),
        inherited_roles: &source.inherited_roles,
        roles: &source.roles,
        explicit_functions: source.explicit_functions,
        customization: Some(&source.customization),
        lookups: source.lookups.entries(),
        entities: source.lookups.entities(),
    }
}

/// Settings that suit a database.
pub(crate) struct Proposal {
    pub(crate) names: RelationshipNames,
    pub(crate) integers: Integers,
}

/// Time limit of the search for integers beyond 32 bits.
const INTEGERS_MAX: Duration = Duration::from_secs(10);

/// Columns of the SQLite database `source` whose integers exceed their type; empty for other databases.
pub(crate) fn find_wide_integers(source: &Source, limits: &Limits) -> Vec<String> {
    match address::parse(&source.url) {
        Ok(Address::Sqlite(path)) if source.integers == Integers::Declared && path.is_file() => {
            sqlite(source, &path, limits)
                .map_or_else(|_| Vec::new(), |it| it.source.find_wide_integers(INTEGERS_MAX))
        }
        Ok(_) | Err(_) => Vec::new(),
    }
}

/// Settings that suit the tables, columns and values of the database at `address`.
/// # Errors
/// The address is not a database, or it cannot be read.
pub(crate) fn propose(address: &Address) -> Result<Proposal, String> {
    let config = Config::of(address);
    let source = &config.sources[0];
    let (names, integers) = match address {
        Address::Sqlite(path) if !path.is_file() => {
            return Err(format!("there is no file {}", path.display()));
        }
        Address::Sqlite(path) => {
            let opened = sqlite(source, path, &config.limits).map_err(|it| it.to_string())?;
            let is_wide = !opened.source.find_wide_integers(INTEGERS_MAX).is_empty();
            let names = model::RelationshipNames::propose(opened.source.catalog());
            (names, if is_wide { Integers::Bigint } else { Integers::Declared })
        }
        Address::Postgres(url) => {
            let opened = postgres(source, url, &config, None).map_err(|it| it.to_string())?;
            (model::RelationshipNames::propose(opened.source.catalog()), Integers::Declared)
        }
        Address::Native(_) | Address::Services(_) => {
            return Err("name a database: `sqlite:FILE` or `postgres://…`".into());
        }
    };
    let names = match names {
        model::RelationshipNames::Long => RelationshipNames::Long,
        model::RelationshipNames::Short => RelationshipNames::Short,
        model::RelationshipNames::Hasura => RelationshipNames::Hasura,
    };
    Ok(Proposal { names, integers })
}

/// Tables that `source`, a database at `address`, serves, as metadata entries.
/// # Errors
/// The address is not a database, or it cannot be read.
pub(crate) fn entries(
    source: &Source,
    address: &Address,
    config: &Config,
) -> Result<Vec<TableEntry>, String> {
    Ok(read_model(source, address, config)?.entries(&source.tables))
}

/// The tables and functions of `source`, a database at `address`, tracked or not.
/// # Errors
/// It is no database, or cannot be read.
pub(crate) fn catalog(source: &Source, address: &Address, config: &Config) -> Result<Catalog, String> {
    Ok(read_model(source, address, config)?.relations.catalog)
}

/// Opens `source`, a database at `address`, and tracks its tables.
fn read_model(source: &Source, address: &Address, config: &Config) -> Result<Model, String> {
    let contents = match address {
        Address::Sqlite(path) if !path.is_file() => {
            return Err(format!("there is no file {}", path.display()));
        }
        Address::Sqlite(path) => sqlite(source, path, &config.limits).map_err(|it| it.to_string())?.contents,
        Address::Postgres(url) => {
            postgres(source, url, config, None).map_err(|it| it.to_string())?.contents.tables
        }
        Address::Native(_) | Address::Services(_) => return Err("it is no database".into()),
    };
    Ok(track(&contents, model_options(source)).model)
}

/// An open database server.
pub(crate) struct OpenPostgres {
    pub(crate) source: PostgresSource,
    /// Watch on its schema.
    pub(crate) watch: Option<Watch>,
    /// Parts that are not served.
    pub(crate) warnings: Vec<Warning>,
    pub(crate) contents: PostgresContents,
    /// Fields of its tables that other sources answer.
    pub(crate) remote_fields: Vec<RemoteField>,
}

/// Reads the catalog of a database server and opens it. `connect_max` overrides a longer timeout of the address.
pub(crate) fn postgres(
    source: &Source,
    url: &str,
    config: &Config,
    connect_max: Option<Duration>,
) -> Result<OpenPostgres, Unopened> {
    let keys = source.postgres.clone().unwrap_or_default();
    let settings = postgres_settings(&keys, url, config)?;
    let options = postgres_options(source, &keys);
    let open = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let reading = read_and_watch(&settings, options, keys.watch_ddl, connect_max);
        runtime.block_on(reading).map_err(|it| classify_open_error(OpenError::Database(it)))
    };
    // A new thread, because the caller may be inside another runtime.
    let read = std::thread::scope(|scope| scope.spawn(open).join());
    let ReadPostgres { contents, watch, mut warnings } =
        read.map_err(|_| "reading the database panicked".to_owned())??;
    let served = serve_postgres(&source.name, settings, options, &contents).map_err(classify_open_error)?;
    let Served { source: made, warnings: left_out, remote_fields } = served;
    warnings.extend(left_out);
    if keys.batch_mutations && made.has_shards() {
        return Err(Unopened::Wrong(BATCHED_SHARDS.to_owned()));
    }
    Ok(OpenPostgres { source: made, watch, warnings, contents, remote_fields })
}

/// Longest trial of a pooler.
const TRIAL_MAX: Duration = Duration::from_secs(30);

/// Describes the pooler in front of the PostgreSQL database `source`; empty for other sources, or if the database is not reached.
pub(crate) fn try_pooler(source: &Source, config: &Config) -> Vec<String> {
    let Ok(Address::Postgres(url)) = address::parse(&source.url) else { return Vec::new() };
    let keys = source.postgres.clone().unwrap_or_default();
    let Ok(settings) = postgres_settings(&keys, &url, config) else { return Vec::new() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let found = runtime.map(|it| it.block_on(pooler::find(&settings, Instant::now() + TRIAL_MAX)));
    found.ok().and_then(Result::ok).unwrap_or_default()
}

/// Serves a database server that is down from the `contents` it had.
pub(crate) fn unreached_postgres(
    source: &Source,
    url: &str,
    config: &Config,
    contents: &PostgresContents,
) -> Result<Served<PostgresSource>, Unopened> {
    let keys = source.postgres.clone().unwrap_or_default();
    let settings = postgres_settings(&keys, url, config)?;
    serve_postgres(&source.name, settings, postgres_options(source, &keys), contents)
        .map_err(classify_open_error)
}

/// Settings of the connections to `source`, a database server at `url`.
/// # Errors
/// The address or a setting is wrong.
pub(crate) fn settings(source: &Source, url: &str, config: &Config) -> Result<Settings, String> {
    postgres_settings(&source.postgres.clone().unwrap_or_default(), url, config)
}

fn postgres_settings(keys: &Postgres, url: &str, config: &Config) -> Result<Settings, String> {
    let mut settings = Settings::parse(url, |name| std::env::var(name).ok()).map_err(|it| it.0)?;
    keys.apply(&mut settings, config.worker_threads(), &config.limits)?;
    Ok(settings)
}

fn postgres_options<'o>(source: &'o Source, keys: &'o Postgres) -> PostgresOptions<'o> {
    let model = model_options(source);
    let stringify = keys.stringify_numeric_types;
    PostgresOptions { model, schemas: &keys.schemas, stringify }
}

fn classify_open_error(error: OpenError<PostgresReadError>) -> Unopened {
    match error {
        OpenError::Database(ref cause) => match cause.0.remedy() {
            Some(remedy) => Unopened::Closed(format!("{error}: {remedy}")),
            None => Unopened::Down(error.to_string()),
        },
        OpenError::Schema(_) => Unopened::Wrong(error.to_string()),
    }
}

/// A transaction shared by mutations of several tenants would hold connections to all their shards.
const BATCHED_SHARDS: &str = "`postgres.batch_mutations` does not go with distributed tables: mutations of different shards would share \
                              a transaction over all of them, which is slower than one each; remove the key";

/// Catalog of a database server, with its watch.
struct ReadPostgres {
    contents: PostgresContents,
    watch: Option<Watch>,
    warnings: Vec<Warning>,
}

/// Reads a database server, and watches its schema if configured and supported.
async fn read_and_watch(
    settings: &Settings,
    options: PostgresOptions<'_>,
    is_watched: bool,
    connect_max: Option<Duration>,
) -> Result<ReadPostgres, PostgresReadError> {
    let mut watch = None;
    let mut warnings = Vec::new();
    let mut hasty = settings.clone();
    hasty.connect_timeout = connect_max.unwrap_or(Duration::MAX).min(settings.connect_timeout);
    if is_watched {
        match Watch::begin(&hasty, options.schemas, Instant::now() + OPEN_MAX).await {
            Ok(begun) => watch = Some(begun),
            // Compatible databases lack some catalogs.
            Err(error) if error.sqlstate().is_some() => {
                let place = "watch_ddl".into();
                let reason = format!("it cannot be: {error}");
                warnings.push(Warning { place, reason, entry: Vec::new() });
            }
            Err(error) => return Err(PostgresReadError(error)),
        }
    }
    let contents = read_postgres(&hasty, options, OPEN_MAX).await?;
    Ok(ReadPostgres { contents, watch, warnings })
}

/// Reads a SQLite database, generates its API and opens it.
pub(crate) fn sqlite(source: &Source, path: &Path, limits: &Limits) -> Result<OpenedFile, Unopened> {
    let opened = open_sqlite(&source.name, path, sqlite_options(source, limits));
    opened.map_err(|error| classify_read_error(error, path))
}

/// Serves a SQLite file that cannot be read from the `contents` it had.
pub(crate) fn unreached_sqlite(
    source: &Source,
    path: &Path,
    limits: &Limits,
    contents: &Contents,
) -> Result<Served<SqliteSource>, Unopened> {
    let made = serve_unread_sqlite(&source.name, path, sqlite_options(source, limits), contents);
    made.map_err(|error| classify_read_error(error, path))
}

fn sqlite_options<'o>(source: &'o Source, limits: &Limits) -> SqliteSourceOptions<'o> {
    let integers = match source.integers {
        Integers::Declared => sqlite_type::Integers::Declared,
        Integers::Bigint => sqlite_type::Integers::BigInt,
    };
    let catalog = SqliteOptions { integers };
    let tuning = Tuning { statement_max: limits.statement_max(), ..Tuning::USUAL };
    SqliteSourceOptions { catalog, model: model_options(source), tuning }
}

fn classify_read_error(error: OpenError<SqliteOpenError>, path: &Path) -> Unopened {
    match error {
        OpenError::Database(SqliteOpenError::Sqlite(cause)) => {
            let words = format!("{} cannot be read: {cause}", path.display());
            match weir_sqlite::medium::find_remedy(path, &cause) {
                Some(remedy) => Unopened::Closed(format!("{words}: {remedy}")),
                None => Unopened::Down(words),
            }
        }
        OpenError::Database(SqliteOpenError::Thread(_)) => Unopened::Wrong(error.to_string()),
        OpenError::Schema(errors) => {
            let lines: Vec<&str> = errors.iter().map(|it| it.message.as_str()).collect();
            Unopened::Wrong(lines.join("\n"))
        }
    }
}

//! Opens databases by their addresses.

use crate::address::{self, Address};
use crate::config::postgres::Postgres;
use crate::config::{Config, Integers, Limits, MissingRow, RelationshipNames, Source};
use std::path::Path;
use std::time::{Duration, Instant};
use weir_metadata::document::table::TableEntry;
use weir_postgres::{Settings, Watch, pooler};
use weir_relational::catalog::{Catalog, Warning};
use weir_relational::dialect::sqlite_type;
use weir_sql::model::{self, Groups, ModelOptions, Track};
use weir_sql::postgres::source::OpenError;
use weir_sql::postgres::{self, Contents, PostgresSource};
use weir_sql::sqlite::{self, SqliteContents, SqliteSource};
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
        missing_row: match source.missing_row {
            MissingRow::Allow => model::MissingRow::Null,
            MissingRow::Error => model::MissingRow::Error,
        },
        messages: Some(&source.constraint_messages),
        inherited_roles: &source.inherited_roles,
        roles: &source.roles,
        explicit_functions: source.explicit_functions,
        customization: Some(&source.customization),
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
                .map_or_else(|_| Vec::new(), |it| it.0.find_wide_integers(INTEGERS_MAX))
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
            let (made, ..) = sqlite(source, path, &config.limits).map_err(|it| it.to_string())?;
            let is_wide = !made.find_wide_integers(INTEGERS_MAX).is_empty();
            (made.proposed_names(), if is_wide { Integers::Bigint } else { Integers::Declared })
        }
        Address::Postgres(url) => {
            let opened = postgres(source, url, &config, None).map_err(|it| it.to_string())?;
            (opened.source.proposed_names(), Integers::Declared)
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
    let of_file = |it: &SqliteSource| it.entries(&source.tables);
    read(source, address, config, of_file, |it| it.entries(&source.tables))
}

/// The tables and functions of `source`, a database at `address`, tracked or not.
/// # Errors
/// It is no database, or cannot be read.
pub(crate) fn catalog(source: &Source, address: &Address, config: &Config) -> Result<Catalog, String> {
    read(source, address, config, |it| it.catalog().clone(), |it| it.catalog().clone())
}

/// Opens `source`, a database at `address`, and reads it by `of_file` or `of_server`.
fn read<T>(
    source: &Source,
    address: &Address,
    config: &Config,
    of_file: impl FnOnce(&SqliteSource) -> T,
    of_server: impl FnOnce(&PostgresSource) -> T,
) -> Result<T, String> {
    match address {
        Address::Sqlite(path) if !path.is_file() => Err(format!("there is no file {}", path.display())),
        Address::Sqlite(path) => {
            let (made, ..) = sqlite(source, path, &config.limits).map_err(|it| it.to_string())?;
            Ok(of_file(&made))
        }
        Address::Postgres(url) => {
            let opened = postgres(source, url, config, None).map_err(|it| it.to_string())?;
            Ok(of_server(&opened.source))
        }
        Address::Native(_) | Address::Services(_) => Err("it is no database".into()),
    }
}

/// An open database server.
pub(crate) struct OpenPostgres {
    pub(crate) source: PostgresSource,
    /// Watch on its schema.
    pub(crate) watch: Option<Watch>,
    /// Parts that are not served.
    pub(crate) warnings: Vec<Warning>,
    pub(crate) contents: Contents,
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
        let reading = read_postgres(&settings, options, keys.watch_ddl, connect_max);
        runtime.block_on(reading).map_err(classify_open_error)
    };
    // A new thread, because the caller may be inside another runtime.
    let read = std::thread::scope(|scope| scope.spawn(open).join());
    let ReadPostgres { contents, watch, mut warnings } =
        read.map_err(|_| "reading the database panicked".to_owned())??;
    let (made, left_out) =
        PostgresSource::of(&source.name, settings, options, &contents).map_err(classify_open_error)?;
    warnings.extend(left_out);
    if keys.batch_mutations && made.has_shards() {
        return Err(Unopened::Wrong(BATCHED_SHARDS.to_owned()));
    }
    Ok(OpenPostgres { source: made, watch, warnings, contents })
}

/// Longest trial of a pooler.
const TRIAL_MAX: Duration = Duration::from_secs(30);

/// What stands between Weir and the PostgreSQL database `source`, found out by trying; nothing for other sources, or if it is not reached.
pub(crate) fn try_pooler(source: &Source, config: &Config) -> Vec<String> {
    let Ok(Address::Postgres(url)) = address::parse(&source.url) else { return Vec::new() };
    let keys = source.postgres.clone().unwrap_or_default();
    let Ok(settings) = postgres_settings(&keys, &url, config) else { return Vec::new() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let found = runtime.map(|it| it.block_on(pooler::find(&settings, Instant::now() + TRIAL_MAX)));
    found.ok().and_then(Result::ok).unwrap_or_default()
}

/// Serves a database server that is down from the `contents` it had. Also returns what is not served.
pub(crate) fn unreached_postgres(
    source: &Source,
    url: &str,
    config: &Config,
    contents: &Contents,
) -> Result<(PostgresSource, Vec<Warning>), Unopened> {
    let keys = source.postgres.clone().unwrap_or_default();
    let settings = postgres_settings(&keys, url, config)?;
    PostgresSource::of(&source.name, settings, postgres_options(source, &keys), contents)
        .map_err(classify_open_error)
}

fn postgres_settings(keys: &Postgres, url: &str, config: &Config) -> Result<Settings, String> {
    let mut settings = Settings::parse(url, |name| std::env::var(name).ok()).map_err(|it| it.0)?;
    keys.apply(&mut settings, config.worker_threads(), &config.limits)?;
    Ok(settings)
}

fn postgres_options<'o>(source: &'o Source, keys: &'o Postgres) -> postgres::source::Options<'o> {
    let model = model_options(source);
    let stringify = keys.stringify_numeric_types;
    postgres::source::Options { model, schemas: &keys.schemas, stringify }
}

fn classify_open_error(error: OpenError) -> Unopened {
    match error {
        OpenError::Database(ref cause) => match cause.remedy() {
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
    contents: Contents,
    watch: Option<Watch>,
    warnings: Vec<Warning>,
}

/// Reads a database server, and watches its schema if configured and supported.
async fn read_postgres(
    settings: &Settings,
    options: postgres::source::Options<'_>,
    is_watched: bool,
    connect_max: Option<Duration>,
) -> Result<ReadPostgres, OpenError> {
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
            Err(error) => return Err(OpenError::Database(error)),
        }
    }
    let contents = Contents::read(&hasty, options, OPEN_MAX).await?;
    Ok(ReadPostgres { contents, watch, warnings })
}

/// An open SQLite database, what is not served, and its contents.
pub(crate) type OpenSqlite = (SqliteSource, Vec<Warning>, SqliteContents);

/// Reads a SQLite database, generates its API and opens it.
pub(crate) fn sqlite(source: &Source, path: &Path, limits: &Limits) -> Result<OpenSqlite, Unopened> {
    let opened = SqliteSource::open_known(&source.name, path, sqlite_options(source, limits));
    opened.map_err(|error| classify_read_error(error, path))
}

/// Serves a SQLite file that cannot be read from the `contents` it had. Also returns what is not served.
pub(crate) fn unreached_sqlite(
    source: &Source,
    path: &Path,
    limits: &Limits,
    contents: &SqliteContents,
) -> Result<(SqliteSource, Vec<Warning>), Unopened> {
    let made = SqliteSource::without_connection(&source.name, path, sqlite_options(source, limits), contents);
    made.map_err(|error| classify_read_error(error, path))
}

fn sqlite_options<'o>(source: &'o Source, limits: &Limits) -> sqlite::SqliteSourceOptions<'o> {
    let integers = match source.integers {
        Integers::Declared => sqlite_type::Integers::Declared,
        Integers::Bigint => sqlite_type::Integers::BigInt,
    };
    let catalog = SqliteOptions { integers };
    let tuning = Tuning { statement_max: limits.statement_max(), ..Tuning::USUAL };
    sqlite::SqliteSourceOptions { catalog, model: model_options(source), tuning }
}

fn classify_read_error(error: sqlite::SqliteOpenError, path: &Path) -> Unopened {
    match error {
        sqlite::SqliteOpenError::Sqlite(cause) => {
            let words = format!("{} cannot be read: {cause}", path.display());
            match weir_sqlite::medium::find_remedy(path, &cause) {
                Some(remedy) => Unopened::Closed(format!("{words}: {remedy}")),
                None => Unopened::Down(words),
            }
        }
        sqlite::SqliteOpenError::Thread(_) => Unopened::Wrong(error.to_string()),
        sqlite::SqliteOpenError::Schema(errors) => {
            let lines: Vec<&str> = errors.iter().map(|it| it.message.as_str()).collect();
            Unopened::Wrong(lines.join("\n"))
        }
    }
}

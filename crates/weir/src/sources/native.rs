//! Native sources for the command line and the server: types and their store.
//!
//! A text `shop.graphql` has its store in `shop.weir.db` beside it, unless it is said to be elsewhere.

use super::custom;
use crate::config::document::load;
use crate::config::source::address;
use crate::config::source::types_file;
use crate::config::{Config, Limits, Source};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_database::postgres::PostgresSource;
use weir_database::sqlite::SqliteSource;
use weir_engine::source::Source as EngineSource;
use weir_language::report;
use weir_language::span::Location;
use weir_native::auth::TokenVariable;
use weir_native::layout::Database;
use weir_native::model::Authorization;
use weir_native::store::{self, Building, Pace, Place, Plan, Store, Types};
use weir_postgres::Settings;
use weir_sqlite::connection::Tuning;

/// Interval of log lines on the progress of an index.
const TELL: Duration = Duration::from_secs(5);

/// Timeout of connecting to a server.
const OPEN_MAX: Duration = Duration::from_secs(30);

/// A file of types and the location of its store.
#[derive(Clone, Debug)]
pub struct Native {
    /// The text's file.
    pub sdl: PathBuf,
    /// Location of the store.
    pub place: Place,
    /// True if clients get the reason of denied changes.
    pub tells_denials: bool,
}

/// Authorization settings in a file of types.
#[derive(Clone, Debug)]
pub struct AuthSettings {
    /// The `# Dgraph.Authorization` line.
    pub line: Option<Authorization>,
    /// Claims that rules use as values.
    pub variables: Vec<TokenVariable>,
}

/// New text of a file; deleted unless it is published.
pub(crate) struct Draft {
    path: PathBuf,
    of: PathBuf,
}

impl Draft {
    /// Replaces the file atomically.
    /// # Errors
    /// The file cannot be replaced.
    pub(crate) fn publish(self) -> std::io::Result<()> {
        std::fs::rename(&self.path, &self.of)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After `publish` the draft does not exist; other errors are not worth reporting.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Native {
    /// The types at `sdl`, with the store at the address `store`, or beside the file.
    /// # Errors
    /// The address is not valid for a store.
    pub fn new(sdl: &Path, store: Option<&str>) -> Result<Self, String> {
        let place = match store {
            None => Place::Sqlite(types_file::without_gz(sdl).with_extension("weir.db")),
            Some(url) if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
                let settings = Settings::parse(url, |name| std::env::var(name).ok()).map_err(|it| it.0)?;
                Place::Postgres(Box::new(settings))
            }
            Some(other) => match other.split_once("://") {
                Some((scheme, _)) => {
                    return Err(format!(
                        "a store is in PostgreSQL or in a file of SQLite's, not at `{scheme}://`"
                    ));
                }
                None => Place::Sqlite(PathBuf::from(other.strip_prefix("sqlite:").unwrap_or(other))),
            },
        };
        Ok(Self { sdl: sdl.to_owned(), place, tells_denials: false })
    }

    /// The native source of a configuration entry; `None` for other kinds.
    /// # Errors
    /// See [`Self::new`].
    pub fn of(source: &Source) -> Result<Option<Self>, String> {
        let new = |sdl| {
            let native = Self::new(sdl, source.store.as_deref())?;
            Ok(Self { tells_denials: source.tell_denials, ..native })
        };
        source.native.as_deref().map(new).transpose()
    }

    /// The store for a command, given a file of types, or a weir.yaml with one native source.
    /// # Errors
    /// `target` is neither, or the weir.yaml does not have exactly one native source.
    pub fn find(target: &str, store: Option<&str>) -> Result<Self, String> {
        let path = Path::new(target);
        if address::is_sdl(path) {
            return Self::new(path, store);
        }
        if !path.extension().is_some_and(|it| it == "yaml" || it == "yml") {
            return Err(format!(
                "`{target}` is no text of types; name a .graphql file, or a weir.yaml with a native source"
            ));
        }
        let config: Config = load::file(path, |_| {}).map_err(|error| error.to_string())?;
        let mut found = config.sources.iter().filter(|it| it.native.is_some());
        match (found.next(), found.next()) {
            (Some(source), None) => {
                let sdl = source.native.as_deref().unwrap_or(path);
                Self::new(sdl, store.or(source.store.as_deref()))
            }
            (None, _) => Err(format!("{target} has no native source; name the .graphql file")),
            (Some(_), Some(_)) => {
                Err(format!("{target} has several native sources; name the .graphql file and `--store`"))
            }
        }
    }

    /// Reads the types.
    /// # Errors
    /// The file cannot be read; or all mistakes, with locations.
    pub fn types(&self) -> Result<Types, String> {
        self.types_of(&types_file::read(&self.sdl)?)
    }

    /// Parses `sdl` in place of the file.
    /// # Errors
    /// All mistakes, with locations; the first without the word `error`, which the caller adds.
    pub fn types_of(&self, sdl: &str) -> Result<Types, String> {
        let read = Types::read(sdl, self.kind());
        let types = read.map_err(|errors| {
            let text = report::text(&self.sdl.display().to_string(), sdl, &errors);
            text.trim_end().trim_start_matches("error: ").to_owned()
        })?;
        custom::check(&self.sdl, &types.customs)?;
        Ok(types)
    }

    fn kind(&self) -> Database {
        self.place.kind()
    }

    /// Creates or migrates the store for `types`. Data loss must be listed in `allowed`.
    /// # Errors
    /// The store cannot be opened, or its data does not permit the migration.
    pub fn migrate(&self, types: &Types, allowed: &[String]) -> Result<Plan, store::Error> {
        let mut store = Store::open(&self.place)?;
        let plan = store.plan(types, allowed)?;
        store.migrate(types, &plan)?;
        Ok(plan)
    }

    /// Checks that the store in the file `path`, which may not exist, can be migrated to `types`.
    /// # Errors
    /// The store cannot be opened, or its data does not permit the migration.
    pub(crate) fn check_migration(&self, path: &Path, types: &Types) -> Result<(), store::Error> {
        if !path.exists() {
            return Ok(());
        }
        let plan = Store::open(&self.place)?.plan(types, &[])?;
        if plan.refusals.is_empty() { Ok(()) } else { Err(store::Error::Refused(plan.refusals)) }
    }

    /// Formats a location in the file.
    pub fn format_place(&self, place: Location) -> String {
        format!("{}:{}:{}", self.sdl.display(), place.line, place.column)
    }

    /// Pending indexes.
    /// # Errors
    /// The store cannot be opened.
    pub fn unfinished_indexes(&self, types: &Types) -> Result<Vec<Building>, store::Error> {
        Store::existing(&self.place)?.building(types)
    }

    /// Database schema of the store's tables.
    /// # Errors
    /// The store cannot be opened.
    pub fn schema(&self) -> Result<String, store::Error> {
        Store::existing(&self.place)?.schema()
    }

    /// Builds the pending indexes, calling `goes_on` between steps; `false` if it asked to stop.
    /// # Errors
    /// The store refused a statement.
    pub fn build(&self, goes_on: &dyn Fn() -> bool) -> Result<bool, store::Error> {
        let mut store = Store::existing(&self.place)?;
        let types = store.types()?.ok_or(store::Error::Missing)?;
        let mut told = Instant::now();
        let mut progress = |name: &str, done: u64, all: u64| {
            if told.elapsed() >= TELL {
                told = Instant::now();
                tracing::info!(index = name, done, all, "an index is built");
            }
            goes_on()
        };
        while store.build_next(&types, Pace::Beside, &mut progress)? {}
        Ok(goes_on())
    }

    /// Opens the store, which contains `types`, for serving. Must run on a thread without a runtime. Filters that require an index in
    /// `building` are refused; filters that it only speeds up scan all rows. Statements and answers obey `limits`.
    /// # Errors
    /// The store cannot be opened.
    pub fn open(
        &self,
        name: &str,
        types: Types,
        building: &[Building],
        limits: &Limits,
    ) -> Result<(Arc<dyn EngineSource>, AuthSettings), String> {
        let (style, auth) = self.style(name, types, building)?;
        Ok((self.serve(name, style, limits)?, auth))
    }

    /// Like [`Self::open`], for a store that had `types` and is down.
    /// # Errors
    /// The types make the schema invalid, or the store is a file, which cannot be opened.
    pub(crate) fn open_unreached(
        &self,
        name: &str,
        types: Types,
        building: &[Building],
        limits: &Limits,
    ) -> Result<(Arc<dyn EngineSource>, AuthSettings), String> {
        let (style, auth) = self.style(name, types, building)?;
        let source = match &self.place {
            Place::Sqlite(_) => self.serve(name, style, limits)?,
            Place::Postgres(settings) => {
                Arc::new(PostgresSource::without_connection(name, style, limit_settings(settings, limits)))
            }
        };
        Ok((source, auth))
    }

    /// This source with another timeout of connecting.
    pub(crate) fn connecting_within(&self, connect_max: Duration) -> Self {
        let mut hasty = self.clone();
        if let Place::Postgres(settings) = &mut hasty.place {
            settings.connect_timeout = settings.connect_timeout.min(connect_max);
        }
        hasty
    }

    /// API front end and authorization settings of `types`.
    fn style(
        &self,
        name: &str,
        types: Types,
        building: &[Building],
    ) -> Result<(Arc<weir_native::compile::Native>, AuthSettings), String> {
        let Types { mut model, layout, kind: database, .. } = types.exclude_indexes(building);
        let line = model.authorization.clone();
        if line.is_some() {
            model.authority = name.into();
        }
        let api = weir_native::api::generate(model).map_err(|errors| {
            let lines: Vec<&str> = errors.iter().map(|it| it.message.as_str()).collect();
            lines.join("\n")
        })?;
        let style = weir_native::compile::Native::new(api, layout, database);
        let style = if self.tells_denials { style.telling_denials() } else { style };
        let variables = style.token_variables().to_vec();
        Ok((Arc::new(style), AuthSettings { line, variables }))
    }

    fn serve(
        &self,
        name: &str,
        style: Arc<weir_native::compile::Native>,
        limits: &Limits,
    ) -> Result<Arc<dyn EngineSource>, String> {
        match &self.place {
            Place::Sqlite(path) => {
                let tuning = Tuning { statement_max: limits.statement_max(), ..Tuning::USUAL };
                let opened = SqliteSource::new(name, style, path, tuning);
                opened.map(|it| Arc::new(it) as Arc<dyn EngineSource>).map_err(|error| error.to_string())
            }
            Place::Postgres(settings) => {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let runtime = runtime.map_err(|error| error.to_string())?;
                let opening = PostgresSource::new(name, style, limit_settings(settings, limits), OPEN_MAX);
                let opened = runtime.block_on(opening);
                opened.map(|it| Arc::new(it) as Arc<dyn EngineSource>).map_err(|error| error.to_string())
            }
        }
    }

    /// Writes `sdl` to a synced draft beside the file.
    /// # Errors
    /// The draft cannot be written.
    pub(crate) fn draft(&self, sdl: &[u8]) -> std::io::Result<Draft> {
        let path = PathBuf::from(format!("{}.{}", self.sdl.display(), std::process::id()));
        let draft = Draft { path, of: self.sdl.clone() };
        let mut file = File::create(&draft.path)?;
        file.write_all(sdl)?;
        file.sync_all()?;
        Ok(draft)
    }

    /// File or database name of the store, for messages; without secrets.
    pub fn store_name(&self) -> String {
        match &self.place {
            Place::Sqlite(path) => path.display().to_string(),
            Place::Postgres(settings) => format!("the database `{}`", settings.database),
        }
    }
}

/// Settings of a store's server, within `limits`.
fn limit_settings(settings: &Settings, limits: &Limits) -> Settings {
    let mut settings = settings.clone();
    settings.limits.statement_timeout = limits.statement_max();
    limits.bound_streams(&mut settings.limits);
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sdl: &str, store: Option<&str>, expected: Result<&str, &str>) {
        let found = Native::new(Path::new(sdl), store).map(|it| it.store_name());
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(message), Err(part)) => assert!(message.contains(part), "{message}"),
            (found, _) => panic!("{sdl}: {found:?}"),
        }
    }

    #[test]
    fn a_store_is_beside_its_text_or_where_it_is_said_to_be() {
        check("a/shop.graphql", None, Ok("a/shop.weir.db"));
        check("a/g01.gql_schema.gz", None, Ok("a/g01.weir.db"));
        check("shop.graphql", Some("sqlite:other.db"), Ok("other.db"));
        check("shop.graphql", Some("postgres://ada:secret@h/shop"), Ok("the database `shop`"));
        check("shop.graphql", Some("mysql://h/shop"), Err("not at `mysql://`"));
    }
}

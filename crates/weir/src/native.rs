//! Native sources for the command line and the server: which text of types, which store, and how they come together.
//!
//! A text `shop.graphql` has its store in `shop.weir.db` beside it, unless it is said to be elsewhere.

use crate::address;
use crate::config::{Config, Limits, Source, load};
use crate::custom;
use crate::types_file;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::source::Source as EngineSource;
use weir_language::report;
use weir_language::span::Location;
use weir_native::auth::TokenVariable;
use weir_native::layout::Database;
use weir_native::model::Authorization;
use weir_native::store::{self, Building, Pace, Place, Plan, Store, Types};
use weir_postgres::Settings;
use weir_sql::postgres::PostgresSource;
use weir_sql::sqlite::SqliteSource;
use weir_sqlite::connection::Tuning;

/// Time between two log lines on the progress of an index.
const TELL: Duration = Duration::from_secs(5);

/// A server that has not answered after so long is not there.
const OPEN_MAX: Duration = Duration::from_secs(30);

/// A text of types and where its objects are.
#[derive(Clone, Debug)]
pub struct Native {
    /// The text's file.
    pub sdl: PathBuf,
    /// The store.
    pub place: Place,
    /// Clients are told of denied changes.
    pub tells_denials: bool,
}

/// The rules on callers in a text of types.
#[derive(Clone, Debug)]
pub struct AuthSettings {
    /// The line `# Dgraph.Authorization`.
    pub line: Option<Authorization>,
    /// Claims that rules read as values.
    pub variables: Vec<TokenVariable>,
}

/// A text that is to take the place of a file's, and is gone if it does not.
pub(crate) struct Draft {
    path: PathBuf,
    of: PathBuf,
}

impl Draft {
    /// Puts it in the place of the file, whole or not at all.
    /// # Errors
    /// The file cannot be replaced.
    pub(crate) fn publish(self) -> std::io::Result<()> {
        std::fs::rename(&self.path, &self.of)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // One that was published is gone; that another cannot be removed is the smaller trouble.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Native {
    /// The text at `sdl`, with its store at the address `store`, or beside it.
    /// # Errors
    /// The address is none of a store.
    pub fn new(sdl: &Path, store: Option<&str>) -> Result<Self, String> {
        let place = match store {
            None => Place::Sqlite(types_file::unpacked(sdl).with_extension("weir.db")),
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

    /// The native source of a configuration's entry; nothing if it is another kind.
    /// # Errors
    /// As [`Self::new`].
    pub fn of(source: &Source) -> Result<Option<Self>, String> {
        let new = |sdl| {
            let native = Self::new(sdl, source.store.as_deref())?;
            Ok(Self { tells_denials: source.tell_denials, ..native })
        };
        source.native.as_deref().map(new).transpose()
    }

    /// The store that a command names: by a file of types, or by a weir.yaml with one native source.
    /// # Errors
    /// `target` is neither, or the weir.yaml has no or several native sources.
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

    /// Reads the text.
    /// # Errors
    /// It cannot be read; or all that is wrong with it, with its places.
    pub fn types(&self) -> Result<Types, String> {
        self.types_of(&types_file::read(&self.sdl)?)
    }

    /// Reads `sdl` instead of the file's text.
    /// # Errors
    /// All errors, with their places; the first without the word `error`, which the caller adds.
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

    /// Makes or migrates the store so that it holds `types`; what would be lost has to be `allowed`.
    /// # Errors
    /// The store cannot be opened, or the data does not allow it.
    pub fn migrate(&self, types: &Types, allowed: &[String]) -> Result<Plan, store::Error> {
        let mut store = Store::open(&self.place)?;
        let plan = store.plan(types, allowed)?;
        store.migrate(types, &plan)?;
        Ok(plan)
    }

    /// Checks that the store in the file `path` could be migrated to `types`; one that is not there could be made.
    /// # Errors
    /// The store cannot be opened, or the data does not allow it.
    pub(crate) fn check_migration(&self, path: &Path, types: &Types) -> Result<(), store::Error> {
        if !path.exists() {
            return Ok(());
        }
        let plan = Store::open(&self.place)?.plan(types, &[])?;
        if plan.refusals.is_empty() { Ok(()) } else { Err(store::Error::Refused(plan.refusals)) }
    }

    /// A place of the text, for people.
    #[must_use]
    pub fn at(&self, place: Location) -> String {
        format!("{}:{}:{}", self.sdl.display(), place.line, place.column)
    }

    /// The indexes that are still to be built.
    /// # Errors
    /// The store cannot be opened.
    pub fn building(&self, types: &Types) -> Result<Vec<Building>, store::Error> {
        Store::existing(&self.place)?.building(types)
    }

    /// The schema in which the tables of the store are.
    /// # Errors
    /// The store cannot be opened.
    pub fn schema(&self) -> Result<String, store::Error> {
        Store::existing(&self.place)?.schema()
    }

    /// Builds the indexes that are still to be built; `goes_on` is asked between steps. `false` if it said no.
    /// # Errors
    /// The store refused.
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

    /// Opens the store, which holds `types`, for serving: on a thread where no runtime runs. Filters that need one of the
    /// indexes in `building` are not served, those it would make fast look at every row. Statements and answers
    /// are within `limits`.
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

    /// As [`Self::open`], of a store that held `types` and cannot be asked now.
    /// # Errors
    /// The types make no sound schema, or the store is a file, which cannot be opened.
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
                Arc::new(PostgresSource::unreached(name, style, bounded(settings, limits)))
            }
        };
        Ok((source, auth))
    }

    /// The native source at the same places, whose connections have at most so long to be made.
    pub(crate) fn connecting_within(&self, connect_max: Duration) -> Self {
        let mut hasty = self.clone();
        if let Place::Postgres(settings) = &mut hasty.place {
            settings.connect_timeout = settings.connect_timeout.min(connect_max);
        }
        hasty
    }

    /// The front end of `types`, and its rules on callers.
    fn style(
        &self,
        name: &str,
        types: Types,
        building: &[Building],
    ) -> Result<(Arc<weir_native::compile::Native>, AuthSettings), String> {
        let Types { mut model, layout, kind: database, .. } = types.without(building);
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
                let opening = PostgresSource::new(name, style, bounded(settings, limits), OPEN_MAX);
                let opened = runtime.block_on(opening);
                opened.map(|it| Arc::new(it) as Arc<dyn EngineSource>).map_err(|error| error.to_string())
            }
        }
    }

    /// Writes `sdl` beside the file, to the disk.
    /// # Errors
    /// It cannot be written.
    pub(crate) fn draft(&self, sdl: &[u8]) -> std::io::Result<Draft> {
        let path = PathBuf::from(format!("{}.{}", self.sdl.display(), std::process::id()));
        let draft = Draft { path, of: self.sdl.clone() };
        let mut file = File::create(&draft.path)?;
        file.write_all(sdl)?;
        file.sync_all()?;
        Ok(draft)
    }

    /// The store's file or database name, for messages; without secrets.
    #[must_use]
    pub fn shown(&self) -> String {
        match &self.place {
            Place::Sqlite(path) => path.display().to_string(),
            Place::Postgres(settings) => format!("the database `{}`", settings.database),
        }
    }
}

/// The settings of a store's server, within `limits`.
fn bounded(settings: &Settings, limits: &Limits) -> Settings {
    let mut settings = settings.clone();
    settings.limits.statement_timeout = limits.statement_max();
    limits.bound_streams(&mut settings.limits);
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sdl: &str, store: Option<&str>, expected: Result<&str, &str>) {
        let found = Native::new(Path::new(sdl), store).map(|it| it.shown());
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

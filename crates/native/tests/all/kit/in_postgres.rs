//! The same store in PostgreSQL, for tests that have the cluster of `postgres_kit` beside the kit.

use crate::kit::{answer, answer_to, engine};
use crate::postgres_kit::{Database, database};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use weir_database::postgres::PostgresSource;
use weir_engine::caller::Identity;
use weir_engine::engine::Engine;
use weir_native::compile::Native;
use weir_native::layout;
use weir_native::store::{Place, Store, Types, open_and_migrate};
use weir_postgres::Settings;

/// A served store in a database of its own.
pub(crate) struct Served {
    pub(crate) engine: Engine,
    pub(crate) database: Database,
    runtime: Runtime,
}

/// Serves a new store of the types `sdl`, filled by `sql`.
pub(crate) fn serve(sdl: &str, sql: &str) -> Served {
    serve_with(sdl, sql, |_| {})
}

/// As [`serve`], with other settings than the usual.
pub(crate) fn serve_with(sdl: &str, sql: &str, tune: impl FnOnce(&mut Settings)) -> Served {
    let database = database("");
    let mut settings = Settings::parse(&database.url(), |_| None).expect("a sound address");
    tune(&mut settings);
    serve_at(database, settings, sdl, sql)
}

/// Serves a store in `schema`, which the address names.
pub(crate) fn serve_in_schema(sdl: &str, schema: &str) -> Served {
    let database = database(&format!("CREATE SCHEMA {schema}"));
    let url = database.url();
    let mark = if url.contains('?') { '&' } else { '?' };
    let url = format!("{url}{mark}options=-csearch_path={schema}");
    let settings = Settings::parse(&url, |_| None).expect("a sound address");
    serve_at(database, settings, sdl, "")
}

fn serve_at(database: Database, settings: Settings, sdl: &str, sql: &str) -> Served {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("one starts");
    let types = Types::read(sdl, layout::Database::Postgres).expect("the types are sound");
    let place = Place::Postgres(Box::new(settings.clone()));
    open_and_migrate(&place, &types).expect("the store is made");
    let schema = Store::existing(&place).and_then(|mut it| it.schema()).expect("it says its schema");
    let types = types.in_schema(&schema);
    database.run(sql);
    let api = weir_native::api::generate(types.model).expect("the API is sound");
    let frontend = Arc::new(Native::new(api, types.layout, layout::Database::Postgres));
    let opening = PostgresSource::new("main", frontend, settings, Duration::from_secs(30));
    let source = runtime.block_on(opening).expect("it is served");
    Served { engine: engine(Arc::new(source)), database, runtime }
}

impl Served {
    /// The answer to `query` for a caller.
    pub(crate) fn ask_as(&self, query: &str, caller: &Identity) -> String {
        self.runtime.block_on(answer_to(&self.engine, query, "", caller))
    }

    /// The answer to `query`.
    pub(crate) fn ask(&self, query: &str, variables: &str) -> String {
        self.runtime.block_on(answer(&self.engine, query, variables))
    }
}

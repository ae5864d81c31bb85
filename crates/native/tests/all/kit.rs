//! A store of native types in a file of its own, served through the engine.

#![allow(unreachable_pub, reason = "a module of tests")]

pub(crate) mod in_postgres;

use crate::answer_kit::{execute, gather};
use crate::file_kit::DatabaseFile;
use rusqlite::Connection;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_database::sqlite::SqliteSource;
use weir_engine::caller::Identity;
use weir_engine::compose::Graph;
use weir_engine::engine::{Engine, Request, Settings};
use weir_engine::source::{Protocol, Source};
use weir_native::compile::Native;
use weir_native::layout::Database;
use weir_native::store::{Building, Place, Types, open_and_migrate};
use weir_sqlite::connection::Tuning;

/// A served store; the file goes with it.
pub struct Served {
    /// The engine over it.
    pub engine: Engine,
    /// A connection beside the source's own.
    pub beside: Connection,
    _file: DatabaseFile,
}

/// Serves a new store of the types `sdl`, filled by `sql`.
pub fn serve(sdl: &str, sql: &str) -> Served {
    serve_without(sdl, sql, &[])
}

/// As [`serve`], while indexes are built.
pub fn serve_without(sdl: &str, sql: &str, building: &[Building]) -> Served {
    let file = DatabaseFile::new();
    let types = Types::read(sdl, Database::Sqlite).expect("the types are sound");
    open_and_migrate(&Place::Sqlite(file.0.clone()), &types).expect("the store is made");
    let types = types.exclude_indexes(building);
    let beside = file.open();
    beside.execute_batch(sql).expect("the store is filled");
    let api = weir_native::api::generate(types.model).expect("the API is sound");
    let frontend = Arc::new(Native::new(api, types.layout, Database::Sqlite));
    let source = SqliteSource::new("main", frontend, &file.0, Tuning::USUAL).expect("the store is served");
    Served { engine: engine(Arc::new(source)), beside, _file: file }
}

/// An engine over one source.
pub fn engine(source: Arc<dyn Source>) -> Engine {
    let graph = Graph::compose(vec![source], &[]).expect("one source composes");
    let settings = Settings::STANDARD;
    Engine::new(graph, settings)
}

impl Served {
    /// The answer to `query`.
    pub fn ask(&self, query: &str, variables: &str) -> String {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("one starts");
        runtime.block_on(answer(&self.engine, query, variables))
    }

    /// The answer to `query` for a caller.
    pub fn ask_as(&self, query: &str, caller: &Identity) -> String {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("one starts");
        runtime.block_on(answer_to(&self.engine, query, "", caller))
    }

    /// Statements for `query`.
    pub fn explain(&self, query: &str) -> String {
        explain(&self.engine, query)
    }
}

/// Statements for `query`.
pub fn explain(engine: &Engine, query: &str) -> String {
    let request = Request::new(query, Instant::now() + Duration::from_secs(60));
    match engine.explain(request, &engine.caller(&Identity::admin())) {
        Ok(explained) => explained.steps.iter().map(|it| it.1.clone()).collect(),
        Err(error) => String::from_utf8_lossy(&error).into_owned(),
    }
}

/// The whole answer to `query`.
pub async fn answer(engine: &Engine, query: &str, variables: &str) -> String {
    answer_to(engine, query, variables, &Identity::admin()).await
}

/// The whole answer to `query` for a caller.
pub async fn answer_to(engine: &Engine, query: &str, variables: &str, caller: &Identity) -> String {
    let bytes = gather(execute(engine, caller, Protocol::GraphqlOverHttp, (query, variables)).await).await;
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

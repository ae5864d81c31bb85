//! A store of native types in a file of its own, served through the engine.

#![allow(unreachable_pub, reason = "a module of tests")]

pub(crate) mod in_postgres;

use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use weir_database::sqlite::SqliteSource;
use weir_engine::caller::Identity;
use weir_engine::compose::Graph;
use weir_engine::engine::{Body, Engine, Request, Settings};
use weir_engine::source::Source;
use weir_language::json::{Json, JsonRef};
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
    path: PathBuf,
}

impl Drop for Served {
    fn drop(&mut self) {
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", self.path.display()));
        }
    }
}

/// Serves a new store of the types `sdl`, filled by `sql`.
pub fn serve(sdl: &str, sql: &str) -> Served {
    serve_without(sdl, sql, &[])
}

/// As [`serve`], while indexes are built.
pub fn serve_without(sdl: &str, sql: &str, building: &[Building]) -> Served {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("weir-native-read-{}-{number}.db", std::process::id()));
    let types = Types::read(sdl, Database::Sqlite).expect("the types are sound");
    open_and_migrate(&Place::Sqlite(path.clone()), &types).expect("the store is made");
    let types = types.exclude_indexes(building);
    let beside = Connection::open(&path).expect("the store opens");
    beside.execute_batch(sql).expect("the store is filled");
    let api = weir_native::api::generate(types.model).expect("the API is sound");
    let frontend = Arc::new(Native::new(api, types.layout, Database::Sqlite));
    let source = SqliteSource::new("main", frontend, &path, Tuning::USUAL).expect("the store is served");
    Served { engine: engine(Arc::new(source)), beside, path }
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
    let json = (!variables.is_empty()).then(|| Json::parse(variables.as_bytes(), 400).expect("JSON"));
    let request = Request {
        variables: json.as_ref().map(|json| JsonRef { json, at: 0 }),
        ..Request::new(query, Instant::now() + Duration::from_secs(60))
    };
    let bytes = match engine.execute(request, &engine.caller(caller)).await.body {
        Body::Whole(bytes) => bytes,
        Body::Shared(bytes) => bytes.into(),
        Body::Increments { .. } => panic!("nothing is asked for in parts"),
        Body::Stream { mut head, mut rest } => {
            while let Some(chunk) = rest.recv().await {
                head.extend(chunk.expect("the source lives"));
            }
            head
        }
    };
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

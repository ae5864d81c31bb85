//! A copy of Chinook in a file of its own, served through the engine.

#![allow(dead_code, unreachable_pub, reason = "every test that has it uses a part of it")]

use crate::answer_kit::gather;
use crate::file_kit::DatabaseFile;
use rusqlite::Connection;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_database::sqlite::SqliteSource;
use weir_engine::caller::Identity;
use weir_engine::compose::{Graph, Join};
use weir_engine::engine::{Engine, Request, Settings};
use weir_engine::source::{Protocol, Source};
use weir_hasura::model::ModelOptions;
use weir_hasura::open::{OpenedFile, SqliteSourceOptions, open_sqlite};
use weir_language::json::{Json, JsonRef};
use weir_relational::catalog::Warning;
use weir_sqlite::connection::Tuning;
use weir_sqlite::introspect::SqliteOptions;

/// The demo's database.
pub const CHINOOK: &str = include_str!("../../../../examples/chinook/chinook.sql");

/// A served database; the file goes with it.
pub struct Served {
    /// The engine over it.
    pub engine: Engine,
    /// The source.
    pub source: Arc<SqliteSource>,
    /// A connection beside the source's own.
    pub beside: Connection,
    _file: DatabaseFile,
}

/// Serves a new database made by `sql`.
pub fn serve(sql: &str) -> Served {
    serve_as(sql, ModelOptions::default(), &[])
}

/// As [`serve`], with choices of its own and fields that hang below others.
pub fn serve_as(sql: &str, model: ModelOptions<'_>, joins: &[Join]) -> Served {
    serve_by(sql, model, joins, Tuning::USUAL)
}

/// As [`serve`], with other choices for its connections.
pub fn serve_tuned(sql: &str, tuning: Tuning) -> Served {
    serve_by(sql, ModelOptions::default(), &[], tuning)
}

fn serve_by(sql: &str, model: ModelOptions<'_>, joins: &[Join], tuning: Tuning) -> Served {
    serve_made(&|beside| beside.execute_batch(sql).unwrap(), model, joins, tuning).0
}

/// Serves a new database made by `sql` with choices of its own, and tells what cannot be served of it.
pub fn serve_warned(sql: &str, model: ModelOptions<'_>) -> (Served, Vec<Warning>) {
    serve_made(&|beside| beside.execute_batch(sql).unwrap(), model, &[], Tuning::USUAL)
}

/// Serves a new database as `make` makes it, and tells what cannot be served of it.
pub fn serve_file(make: &dyn Fn(&Connection)) -> (Served, Vec<Warning>) {
    serve_made(make, ModelOptions::default(), &[], Tuning::USUAL)
}

fn serve_made(
    make: &dyn Fn(&Connection),
    model: ModelOptions<'_>,
    joins: &[Join],
    tuning: Tuning,
) -> (Served, Vec<Warning>) {
    let file = DatabaseFile::new();
    let beside = file.fill("");
    make(&beside);
    let options = SqliteSourceOptions { catalog: SqliteOptions::default(), model, tuning };
    let OpenedFile { source, warnings, .. } = open_sqlite("main", &file.0, options).unwrap();
    let source = Arc::new(source);
    (Served { engine: engine(&source, 256 << 10, joins), source, beside, _file: file }, warnings)
}

/// An engine over `source` that holds back answers of up to `hold_back_bytes`.
pub fn engine<S: Source + 'static>(source: &Arc<S>, hold_back_bytes: usize, joins: &[Join]) -> Engine {
    engine_with(source, joins, Settings { hold_back_bytes, ..Settings::STANDARD })
}

/// An engine over `source` with settings of its own.
pub fn engine_with<S: Source + 'static>(source: &Arc<S>, joins: &[Join], settings: Settings) -> Engine {
    let graph = Graph::compose(vec![Arc::clone(source) as Arc<dyn Source>], joins).unwrap();
    Engine::new(graph, settings)
}

impl Served {
    /// The same, but answers of up to `hold_back_bytes` are held back whole.
    pub fn holding_back(mut self, hold_back_bytes: usize) -> Self {
        self.engine = engine(&self.source, hold_back_bytes, &[]);
        self
    }

    /// The whole answer to `query`, as bytes.
    pub fn bytes(&self, query: &str, variables: &str, protocol: Protocol, seconds: u64) -> Vec<u8> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let json = (!variables.is_empty()).then(|| Json::parse(variables.as_bytes(), 400).unwrap());
        let request = Request {
            variables: json.as_ref().map(|json| JsonRef { json, at: 0 }),
            protocol,
            ..Request::new(query, Instant::now() + Duration::from_secs(seconds))
        };
        runtime.block_on(async {
            gather(self.engine.execute(request, &self.engine.caller(&Identity::admin())).await.body).await
        })
    }

    /// The answer to `query` by the rules of GraphQL over HTTP.
    pub fn ask(&self, query: &str, variables: &str) -> String {
        String::from_utf8(self.bytes(query, variables, Protocol::GraphqlOverHttp, 60)).unwrap()
    }

    /// Result of plain SQL: one JSON text.
    pub fn plain(&self, sql: &str) -> serde_json::Value {
        let text: String = self.beside.query_row(sql, [], |row| row.get(0)).unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

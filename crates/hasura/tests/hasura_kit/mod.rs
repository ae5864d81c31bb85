//! A PostgreSQL database that is served with Hasura's API through the engine.

#![allow(dead_code, unreachable_pub, reason = "every test that has it uses a part of it")]

use crate::answer_kit::{gather, whole};
use crate::postgres_kit::Database;
use crate::postgres_kit::hand::{Hand, soon};
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_database::postgres::PostgresSource;
use weir_engine::caller::Identity;
use weir_engine::compose::Graph;
use weir_engine::consistency::Consistency;
use weir_engine::engine::{Body, Engine, Request, Settings as EngineSettings};
use weir_engine::source::{Headers, Protocol, Source};
use weir_hasura::model::{ModelOptions, RelationshipNames};
use weir_hasura::open::{PostgresOptions, open_postgres};
use weir_language::json::{Json, JsonRef};
use weir_postgres::Settings;

/// The headers of a request whose rows may be of the past.
struct Eventually;

impl Headers for Eventually {
    fn each<'h>(&'h self, _: &str, _: &mut dyn FnMut(&'h [u8])) {}

    fn consistency(&self) -> Consistency {
        Consistency::Eventual
    }
}

/// A served database.
pub struct Served {
    pub engine: Engine,
    pub source: Arc<PostgresSource>,
    pub database: Database,
}

/// Settings of an engine that holds back answers of up to `hold_back_bytes`.
pub fn engine_settings(hold_back_bytes: usize) -> EngineSettings {
    EngineSettings { hold_back_bytes, ..EngineSettings::STANDARD }
}

/// Serves the schema `public` of a database, with choices of its own.
pub async fn serve_as(database: Database, model: ModelOptions<'_>) -> Served {
    let settings = Settings::parse(&database.socket_url(), |_| None).unwrap();
    let options = PostgresOptions { model, schemas: &["public".to_owned()], stringify: false };
    let opened = open_postgres("main", settings, options, Duration::from_secs(60)).await;
    compose(database, opened.unwrap().0)
}

/// Opens the schemas of a database as the source `main`.
pub async fn open(database: &Database, schemas: &[&str], tune: impl FnOnce(&mut Settings)) -> PostgresSource {
    let mut settings = Settings::parse(&database.socket_url(), |_| None).unwrap();
    tune(&mut settings);
    let schemas: Vec<String> = schemas.iter().map(ToString::to_string).collect();
    let model = ModelOptions { relationship_names: RelationshipNames::Short, ..ModelOptions::default() };
    let options = PostgresOptions { model, schemas: &schemas, stringify: false };
    let opened = open_postgres("main", settings, options, Duration::from_secs(60)).await;
    opened.unwrap().0
}

/// Serves the schema `public` of a database.
pub async fn serve(database: Database) -> Served {
    serve_with(database, &["public"], |_| {}).await
}

/// Serves schemas of a database, with other settings than the usual.
pub async fn serve_with(database: Database, schemas: &[&str], tune: impl FnOnce(&mut Settings)) -> Served {
    let source = open(&database, schemas, tune).await;
    compose(database, source)
}

fn compose(database: Database, source: PostgresSource) -> Served {
    let source = Arc::new(source);
    let graph = Graph::compose(vec![Arc::clone(&source) as Arc<dyn Source>], &[]).unwrap();
    Served { engine: Engine::new(graph, engine_settings(256 << 10)), source, database }
}

impl Served {
    /// The body of the answer to `query`; `variables` is JSON or empty.
    pub async fn body(&self, query: &str, variables: &str, deadline: Instant) -> Body {
        self.body_in(Protocol::GraphqlOverHttp, query, variables, deadline).await
    }

    /// The same, to a client of `protocol`.
    async fn body_in(&self, protocol: Protocol, query: &str, variables: &str, deadline: Instant) -> Body {
        let json = (!variables.is_empty()).then(|| Json::parse(variables.as_bytes(), 400).unwrap());
        let request = Request {
            variables: json.as_ref().map(|json| JsonRef { json, at: 0 }),
            protocol,
            ..Request::new(query, deadline)
        };
        self.engine.execute(request, &self.engine.caller(&Identity::admin())).await.body
    }

    /// The answer to a query with variables.
    pub async fn ask_with(&self, query: &str, variables: &str) -> String {
        self.ask_in(Protocol::GraphqlOverHttp, query, variables).await
    }

    /// The same, for a client of `protocol`.
    pub async fn ask_in(&self, protocol: Protocol, query: &str, variables: &str) -> String {
        let bytes = gather(self.body_in(protocol, query, variables, soon()).await).await;
        String::from_utf8(bytes).unwrap()
    }

    /// The answer to a query whose rows may be of the past.
    pub async fn ask_eventually(&self, query: &str, deadline: Instant) -> String {
        let request = Request { headers: &Eventually, ..Request::new(query, deadline) };
        let caller = self.engine.caller(&Identity::admin());
        whole(self.engine.execute(request, &caller).await.body)
    }

    /// The answer to a query.
    pub async fn ask(&self, query: &str) -> String {
        self.ask_with(query, "").await
    }

    /// The code and the message of the only error.
    pub async fn error(&self, query: &str, variables: &str) -> String {
        let answer = self.ask_with(query, variables).await;
        let json: serde_json::Value = serde_json::from_str(&answer).unwrap();
        let error = &json["errors"][0];
        let text =
            |it: &serde_json::Value| it.as_str().unwrap_or_else(|| panic!("{query}: {answer}")).to_owned();
        format!("{}: {}", text(&error["extensions"]["code"]), text(&error["message"]))
    }

    /// Asks what waits for the lock 7, which is held: the deadline ends the answer and what runs for it.
    pub async fn ends_at_its_deadline(&self, query: &str) {
        let mut hand = self.hand().await;
        let mut beside = self.hand().await;
        hand.run("SELECT pg_advisory_lock(7)::text").await;
        let answer = whole(self.body(query, "", Instant::now() + Duration::from_millis(200)).await);
        assert!(answer.contains("TIMEOUT"), "{answer}");
        beside.until_blocked(0).await;
    }

    /// A hand beside it.
    pub async fn hand(&self) -> Hand {
        Hand::new(&self.database).await
    }
}

//! A known request allocates a fixed number of times, whatever the number of rows; a value of PostgreSQL not at all.
//!
//! A binary of its own, so that nothing else allocates while it counts. What SQLite itself takes is not counted; for
//! PostgreSQL all is, the connection's task runs on the same thread.

#[path = "../../engine/tests/answer_kit/mod.rs"]
mod answer_kit;
#[path = "../../engine/tests/counting/mod.rs"]
mod counting;
mod file_kit;
mod kit;
#[path = "../../engine/tests/port_kit/mod.rs"]
mod port_kit;
mod postgres_kit;

use futures_util::FutureExt;
use kit::{CHINOOK, serve};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use weir_database::postgres::values::decode::{Choices, Decoder};
use weir_engine::caller::{Claims, Identity, Token};
use weir_engine::engine::{Body, Engine, Request};
use weir_hasura::model::ModelOptions;
use weir_hasura::open::{PostgresOptions, open_postgres};
use weir_language::json::Json;
use weir_metadata::document::table::TableEntry;
use weir_postgres::Settings;
use weir_relational::catalog::postgres_types::{Types, oid};
use weir_relational::dialect::Floats;

/// Whom a test asks.
struct Asked {
    engine: Engine,
    /// Runtime that waits for answers that are not ready at once.
    runtime: Option<Runtime>,
}

impl Asked {
    fn sqlite(served: &kit::Served) -> Self {
        Self { engine: kit::engine(&served.source, 256 << 10, &[]), runtime: None }
    }

    fn postgres() -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let settings = Settings::parse(&postgres_kit::chinook().url(), |_| None).unwrap();
        let options = PostgresOptions {
            model: ModelOptions::default(),
            schemas: &["public".to_owned()],
            stringify: false,
        };
        let opening = open_postgres("main", settings, options, Duration::from_secs(60));
        let (source, _) = runtime.block_on(opening).unwrap();
        Self { engine: kit::engine(&Arc::new(source), 256 << 10, &[]), runtime: Some(runtime) }
    }

    /// Allocations of one request and the bytes of its answer.
    fn run(&self, query: &str, variables: &str) -> (usize, usize) {
        self.run_as(&Identity::admin(), query, variables)
    }

    fn run_as(&self, identity: &Identity, query: &str, variables: &str) -> (usize, usize) {
        let json = Json::parse(variables.as_bytes(), 100).unwrap();
        let request = Request {
            variables: Some(json.root()),
            ..Request::new(query, Instant::now() + Duration::from_secs(60))
        };
        let caller = self.engine.caller(identity);
        // Tokio itself boxes a long future that it blocks on, in builds for tests: that box is not the request's.
        let answering = Box::pin(self.engine.execute(request, &caller));
        let (allocations, response) = counting::count(|| match &self.runtime {
            Some(runtime) => runtime.block_on(answering),
            None => answering.now_or_never().expect("a short page is read at once"),
        });
        match response.body {
            Body::Whole(bytes) => (allocations, bytes.len()),
            Body::Shared(_) | Body::Stream { .. } | Body::Increments { .. } => {
                panic!("a short page does not stream")
            }
        }
    }

    /// The allocations of a request whose plan is cached and whose answer's size is known from the last time.
    fn check(&self, query: &str, variables: &str) -> (usize, usize) {
        for _ in 0..3 {
            self.run(query, variables);
        }
        let (allocations, bytes) = self.run(query, variables);
        assert!(allocations <= MOST, "{allocations} allocations for {query}");
        (allocations, bytes)
    }

    fn check_row_by_key(&self) {
        self.check("{ Album_by_pk(AlbumId: 1) { Title AlbumId } }", "{}");
        self.check("query ($id: Int!) { Album_by_pk(AlbumId: $id) { Title AlbumId } }", "{\"id\": 1}");
    }

    /// Many rows take as many allocations as few.
    fn check_rows(&self, few: &str, many: &str) {
        let (least, short) = self.check(few, "{}");
        let (most, long) = self.check(many, "{}");
        assert!(long > 50 * short, "{short} and {long} bytes");
        assert!(most <= least, "{most} for many rows, {least} for few");
    }
}

const MOST: usize = 8;
const ONE: &str = "{ Album(limit: 1) { AlbumId Title ArtistId } }";
const HUNDRED: &str = "{ Album(limit: 100) { AlbumId Title ArtistId } }";

#[test]
fn a_row_by_its_key_stays_within_the_bound() {
    Asked::sqlite(&serve(CHINOOK)).check_row_by_key();
    Asked::postgres().check_row_by_key();
}

#[test]
fn a_hundred_rows_allocate_no_more_than_one() {
    Asked::sqlite(&serve(CHINOOK)).check_rows(ONE, HUNDRED);
    Asked::postgres().check_rows(ONE, HUNDRED);
}

/// Of one album's artist, by a session variable.
const GRANTED: &str = r#"[{"table": "Album", "select_permissions": [{"role": "user", "permission": {
  "columns": "*", "filter": {"ArtistId": {"_eq": "X-Hasura-Artist"}}}}]}]"#;

#[test]
fn a_role_allocates_as_the_admin_does_and_its_bound_variables() {
    let tables: Vec<TableEntry> = serde_json::from_str(GRANTED).unwrap();
    let served = kit::serve_as(CHINOOK, ModelOptions { tables: &tables, ..ModelOptions::default() }, &[]);
    let claims = Claims::new([("x-hasura-artist".to_owned(), "1".to_owned())], Token::Absent);
    let user =
        Identity { role: "user".into(), claims: Arc::new(claims), is_backend: false, is_anonymous: false };
    let asked = Asked::sqlite(&served);
    let of = |identity: &Identity, query: &str| {
        for _ in 0..3 {
            asked.run_as(identity, query, "{}");
        }
        asked.run_as(identity, query, "{}")
    };
    let query = "{ Album(limit: 2, where: {ArtistId: {_eq: 1}}) { AlbumId Title ArtistId } }";
    let (admin, _) = of(&Identity::admin(), query);
    let (role, bytes) = of(&user, query);
    let (bare, same) = of(&user, "{ Album(limit: 2) { AlbumId Title ArtistId } }");
    assert_eq!(bytes, same);
    assert!(role <= admin + 1 && bare <= admin + 1, "{admin} for the admin, {role} and {bare} for the role");
}

#[test]
fn values_of_postgresql_are_read_without_allocating() {
    let floats = Floats::AsPostgres;
    let types = Types::builtin();
    let choices = Choices { utc: true, stringify: false, floats, utf8: true };
    // 12345.5: two groups before the point, one after it, one decimal.
    let numeric = [3_u16, 1, 0, 1, 1, 2345, 5000].map(u16::to_be_bytes).concat();
    let values: [(u32, &[u8]); 9] = [
        (oid::INT4, &7_i32.to_be_bytes()),
        (oid::TEXT, b"Big Ones"),
        (oid::BOOL, &[1]),
        (oid::TIMESTAMP, &600_000_000_123_456_i64.to_be_bytes()),
        (oid::TIMESTAMPTZ, &600_000_000_123_456_i64.to_be_bytes()),
        (oid::NUMERIC, &numeric),
        (oid::FLOAT8, &0.1_f64.to_be_bytes()),
        (oid::UUID, &[7; 16]),
        (oid::JSONB, b"\x01{}"),
    ];
    let mut scratch = Vec::with_capacity(64);
    for (oid, bytes) in values {
        let decoder = Decoder::new(&types, oid, choices);
        let (allocations, ok) = counting::count(|| decoder.read(bytes, &mut scratch).is_ok());
        assert_eq!((allocations, ok), (0, true), "type {oid}");
    }
}

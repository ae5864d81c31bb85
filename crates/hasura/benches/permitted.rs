//! Cost of permissions on the warm path: a role whose filter every asked row passes, beside the admin who writes the same condition.
//!
//! `cargo bench -p weir-hasura --bench permitted`: nanoseconds, the median of rounds that take turns, and how much longer the role takes.

#[path = "../../engine/tests/answer_kit/mod.rs"]
mod answer_kit;
#[path = "../tests/file_kit/mod.rs"]
mod file_kit;
#[path = "../tests/kit/mod.rs"]
mod kit;

use kit::Served;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use weir_engine::caller::{Claims, Identity, Token};
use weir_engine::engine::{Body, Request};
use weir_hasura::model::{ModelOptions, Track};
use weir_metadata::document::table::TableEntry;

const ROWS: &str = "
    CREATE TABLE note (id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, text TEXT NOT NULL, mark INTEGER);
    CREATE INDEX note_owner ON note (owner, id);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
    INSERT INTO note SELECT i, 1 + i % 2, 'note number ' || i, i % 7 FROM n;
";

const NOTE: &str = r#"[{"table": "note", "select_permissions": [{"role": "reader", "permission":
    {"columns": "*", "filter": {"owner": {"_eq": "X-Hasura-User-Id"}}}}]}]"#;

/// An operation of the role, and that of the admin for which the database gets the same statement.
const OPERATIONS: [(&str, &str, &str); 3] = [
    (
        "one row",
        "{ note(where: {id: {_eq: 7}}) { id text mark } }",
        "{ note(where: {id: {_eq: 7}, owner: {_eq: 2}}) { id text mark } }",
    ),
    ("by_pk", "{ note_by_pk(id: 7) { id text mark } }", "{ note_by_pk(id: 7) { id text mark } }"),
    (
        "list 100",
        "{ note(limit: 100, order_by: {id: asc}) { id text mark } }",
        "{ note(where: {owner: {_eq: 2}}, limit: 100, order_by: {id: asc}) { id text mark } }",
    ),
];

const ROUNDS: usize = 101;

fn reader() -> Identity {
    let session = [("x-hasura-user-id", "2"), ("x-hasura-role", "reader")];
    let session = session.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let claims = Arc::new(Claims::new(session, Token::Absent));
    Identity { role: "reader".into(), is_backend: false, is_anonymous: false, claims }
}

/// Asks `runs` times; gives the answer's length.
async fn ask(served: &Served, identity: &Identity, text: &str, runs: u32) -> usize {
    let mut length = 0;
    for _ in 0..runs {
        let request = Request::new(text, Instant::now() + Duration::from_secs(60));
        let response = served.engine.execute(request, &served.engine.caller(identity)).await;
        length = match black_box(response).body {
            Body::Whole(bytes) => bytes.len(),
            Body::Shared(bytes) => bytes.len(),
            Body::Stream { .. } | Body::Increments { .. } => 0,
        };
    }
    length
}

fn timed(runtime: &Runtime, served: &Served, (identity, text): (&Identity, &str), runs: u32) -> Duration {
    let started = Instant::now();
    runtime.block_on(ask(served, identity, text, runs));
    started.elapsed() / runs
}

fn main() {
    let tables: Vec<TableEntry> = serde_json::from_str(NOTE).expect("sound entries");
    let model = ModelOptions { track: Track::Listed, tables: &tables, ..ModelOptions::default() };
    let served = kit::serve_as(ROWS, model, &[]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let reader = reader();
    let admin = Identity::admin();
    for (name, restricted, plain) in OPERATIONS {
        let lengths = [(&reader, restricted), (&admin, plain)]
            .map(|(identity, text)| runtime.block_on(ask(&served, identity, text, 100)));
        assert_eq!(lengths[0], lengths[1], "{name}: the answers are equal");
        let runs = if name.starts_with("list") { 100 } else { 1000 };
        let mut role = Vec::new();
        let mut all = Vec::new();
        for _ in 0..ROUNDS {
            role.push(timed(&runtime, &served, (&reader, restricted), runs));
            all.push(timed(&runtime, &served, (&admin, plain), runs));
        }
        for times in [&mut role, &mut all] {
            times.sort_unstable();
        }
        let [role, all] = [&role, &all].map(|it| it[ROUNDS / 2].as_nanos() as i64);
        let more = 100.0 * (role - all) as f64 / all as f64;
        println!("{name:<9} role {role:>7} ns  admin {all:>7} ns  {more:>+6.1} %");
    }
}

//! Lists that several connections read side by side: the answer is that of one connection, whoever writes meanwhile.

use crate::fleet_kit::ann;
use crate::kit::{Served, serve_by};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::engine::{Body, Engine, Request};
use weir_engine::source::Protocol;
use weir_hasura::model::{ModelOptions, Track};
use weir_metadata::document::table::TableEntry;
use weir_sqlite::connection::Tuning;

/// Tables of each kind; `boat` is the one whose list can be cut.
const TABLES: &str = "
    CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT, owner TEXT, price REAL, crew INTEGER, version INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE sail (id INTEGER PRIMARY KEY, boat_id INTEGER REFERENCES boat (id), colour TEXT NOT NULL);
    CREATE INDEX sail_boat ON sail (boat_id);
    CREATE TABLE code (id INTEGER PRIMARY KEY, name TEXT) WITHOUT ROWID;
    CREATE TABLE word (id TEXT PRIMARY KEY, name TEXT);
    CREATE TABLE pair (id INTEGER, other INTEGER, PRIMARY KEY (id, other));
    INSERT INTO code VALUES (-1, 'a'), (5, 'b');
    INSERT INTO word VALUES ('x', 'a'), ('y', 'b');
    INSERT INTO pair VALUES (1, 2), (3, 4);
";

const PERMISSIONS: &str = r#"[
  {"table": "boat",
   "array_relationships": [{"name": "sails", "using": {"foreign_key_constraint_on": {"table": "sail", "column": "boat_id"}}}],
   "select_permissions": [
     {"role": "sailor", "permission": {"columns": ["id", "name", "price"], "filter": {"owner": {"_eq": "x-hasura-user"}}}}],
   "update_permissions": [{"role": "captain", "permission": {"columns": ["version"], "filter": {}}}]},
  {"table": "sail", "select_permissions": [{"role": "sailor", "permission": {"columns": ["colour"], "filter": {}}}]},
  {"table": "code"}, {"table": "word"}, {"table": "pair"}
]"#;

/// Serves the tables with `rows`, which are statements; lists are cut if keys span `range_keys_min` numbers.
fn serve(rows: &str, range_keys_min: u64) -> Served {
    let tables: Vec<TableEntry> = serde_json::from_str(PERMISSIONS).unwrap();
    let model = ModelOptions { track: Track::Listed, tables: &tables, ..ModelOptions::default() };
    let tuning = Tuning { range_keys_min, ..Tuning::USUAL };
    serve_by(&format!("{TABLES} BEGIN; {rows} COMMIT"), model, &[], tuning)
}

/// Answers that were read side by side.
fn count(served: &Served) -> u64 {
    served.source.shared_writer().database().answers_side_by_side()
}

/// The answer to `query` for `identity`; `None`: its source failed after the first part.
fn ask(engine: &Engine, identity: &Identity, query: &str) -> Option<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let request = Request {
        protocol: Protocol::GraphqlOverHttp,
        ..Request::new(query, Instant::now() + Duration::from_secs(60))
    };
    let bytes = runtime.block_on(async {
        match engine.execute(request, &engine.caller(identity)).await.body {
            Body::Whole(bytes) => Some(bytes),
            Body::Shared(bytes) => Some(bytes.into()),
            Body::Increments { .. } => panic!("nothing is asked for in parts"),
            Body::Stream { mut head, mut rest } => {
                while let Some(chunk) = rest.recv().await {
                    head.extend(chunk.ok()?);
                }
                Some(head)
            }
        }
    });
    bytes.map(|it| String::from_utf8(it).unwrap())
}

/// The answer to `query` for `identity`, read side by side. On a busy machine the readers may not come in time.
fn ask_in_ranges(served: &Served, identity: &Identity, query: &str) -> Option<String> {
    for _ in 0..1000 {
        let before = count(served);
        let answer = ask(&served.engine, identity, query);
        if count(served) > before {
            return answer;
        }
    }
    panic!("{query}: it is never read side by side")
}

/// `boats` boats from key `first` on, `gap` apart, with a sail for every third.
fn fleet(boats: i64, first: i64, gap: i64) -> String {
    let mut rows = String::new();
    for at in 0..boats {
        let id = first + at * gap;
        let owner = if at % 2 == 0 { "ann" } else { "ben" };
        writeln!(rows, "INSERT INTO boat VALUES ({id}, 'Boat {at}', '{owner}', {at}.25, {at}, 0);").unwrap();
        if at % 3 == 0 {
            writeln!(rows, "INSERT INTO sail (boat_id, colour) VALUES ({id}, 'red');").unwrap();
        }
    }
    rows
}

/// Lists that can be cut, and one whose items fail.
const CUT: [&str; 5] = [
    "{ boat { id name owner price crew } }",
    "{ boat(order_by: {id: asc}) { name } }",
    "{ boat(where: {crew: {_gt: 3}}) { id sails { colour } } }",
    "{ boat(where: {name: {_like: \"%1%\"}}) { id name } }",
    "{ boat(where: {id: {_gt: 0}}) { id } }",
];

/// Lists that stay on one connection.
const WHOLE: [&str; 8] = [
    "{ boat(order_by: {id: desc}) { id } }",
    "{ boat(order_by: {name: asc}) { id } }",
    "{ boat(limit: 5) { id } }",
    "{ boat(offset: 5) { id } }",
    "{ boat { id } sail { colour } }",
    "{ code { id name } }",
    "{ word { id name } }",
    "{ pair { id other } }",
];

#[test]
fn lists_by_key_are_cut_and_others_are_not() {
    let served = serve(&fleet(500, -100, 3), 0);
    let plain = serve(&fleet(500, -100, 3), u64::MAX);
    for query in &CUT[..4] {
        let expected = ask(&plain.engine, &Identity::admin(), query);
        assert_eq!(ask_in_ranges(&served, &Identity::admin(), query), expected, "{query}");
    }
    let before = count(&served);
    for query in WHOLE {
        assert_eq!(
            ask(&served.engine, &Identity::admin(), query),
            ask(&plain.engine, &Identity::admin(), query),
            "{query}"
        );
        assert_eq!(count(&served), before, "{query}");
    }
    assert_eq!(count(&plain), 0);
}

#[test]
fn a_small_table_is_read_by_one_connection_until_its_answer_was_long() {
    let served = serve(&fleet(20_000, 1, 1), 1 << 20);
    let query = "{ boat { id name owner price crew } }";
    let first = ask(&served.engine, &Identity::admin(), query);
    assert_eq!(count(&served), 0);
    assert_eq!(ask_in_ranges(&served, &Identity::admin(), query), first);
    // Another plan has no long answer yet.
    ask(&served.engine, &Identity::admin(), "{ boat { id } }").unwrap();
    assert_eq!(count(&served), 1);
}

#[test]
fn a_role_reads_its_rows_in_ranges() {
    let served = serve(&fleet(2000, 1, 1), 0);
    let plain = serve(&fleet(2000, 1, 1), u64::MAX);
    let query = "{ boat { id name price sails { colour } } }";
    let answer = ask_in_ranges(&served, &ann("sailor"), query).unwrap();
    assert_eq!(Some(&answer), ask(&plain.engine, &ann("sailor"), query).as_ref());
    let tree: serde_json::Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(tree["data"]["boat"].as_array().unwrap().len(), 1000);
}

/// A row of random values: key, text, number and integer, some of which no `Int` can be.
type Boat = (i64, Option<String>, Option<f64>, Option<i64>);

fn boats() -> impl Strategy<Value = Vec<Boat>> {
    let key = prop_oneof![-50_i64..3000, any::<i64>(), 1_000_000_i64..1_000_300];
    let crew = prop_oneof![8 => any::<i32>().prop_map(i64::from), 1 => any::<i64>()];
    let name = "[ -~é\"\\\\\u{1}]{0,30}";
    let row =
        (key, proptest::option::of(name), proptest::option::of(-1e6..1e6_f64), proptest::option::of(crew));
    proptest::collection::vec(row, 0..600)
}

#[test]
fn ranges_give_what_one_connection_gives() {
    let mut runner = TestRunner::new(Config { cases: 24, failure_persistence: None, ..Config::default() });
    let tested = runner.run(&boats(), |boats| {
        let served = serve("", 0);
        let plain = serve("", u64::MAX);
        for side in [&served, &plain] {
            side.beside.execute_batch("BEGIN").unwrap();
            for (id, name, price, crew) in &boats {
                let insert =
                    "INSERT OR IGNORE INTO boat (id, name, owner, price, crew) VALUES (?1, ?2, 'ann', ?3, ?4)";
                side.beside.execute(insert, rusqlite::params![id, name, price, crew]).unwrap();
                let sail = "INSERT INTO sail (boat_id, colour) SELECT ?1, ?2 WHERE ?1 % 2 = 0";
                side.beside.execute(sail, rusqlite::params![id, name.as_deref().unwrap_or("none")]).unwrap();
            }
            side.beside.execute_batch("COMMIT").unwrap();
        }
        for query in CUT {
            for identity in [Identity::admin(), ann("sailor")] {
                prop_assert_eq!(ask(&served.engine, &identity, query), ask(&plain.engine, &identity, query), "{}", query);
            }
        }
        if !boats.is_empty() {
            ask_in_ranges(&served, &Identity::admin(), CUT[0]);
        }
        Ok(())
    });
    tested.unwrap();
}

/// Asks for all boats while `write` runs again and again, and expects one version in each answer.
fn check_one_version(served: &Served, write: impl Fn() + Sync) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                write();
            }
        });
        for _ in 0..40 {
            let answer = ask(&served.engine, &Identity::admin(), "{ boat { version } }").unwrap();
            let tree: serde_json::Value = serde_json::from_str(&answer).unwrap();
            let versions: Vec<_> =
                tree["data"]["boat"].as_array().unwrap().iter().map(|it| it["version"].as_i64()).collect();
            assert_eq!(versions.len(), 3000);
            assert!(versions.iter().all(|it| *it == versions[0]), "rows of several states");
        }
        is_over.store(true, Ordering::Relaxed);
    });
    ask_in_ranges(served, &Identity::admin(), "{ boat { version } }").unwrap();
}

#[test]
fn all_ranges_are_of_one_state_while_another_process_writes() {
    let served = serve(&fleet(3000, 1, 1), 0);
    let path = served.source.shared_writer().database().path().to_owned();
    check_one_version(&served, || {
        let other = rusqlite::Connection::open(&path).unwrap();
        other.busy_timeout(Duration::from_secs(60)).unwrap();
        other.execute("UPDATE boat SET version = version + 1", []).unwrap();
    });
}

#[test]
fn all_ranges_are_of_one_state_while_a_mutation_commits() {
    let served = serve(&fleet(3000, 1, 1), 0);
    let update = "mutation { update_boat(where: {}, _inc: {version: 1}) { affected_rows } }";
    check_one_version(&served, || {
        let done = ask(&served.engine, &Identity::admin(), update).unwrap();
        assert_eq!(done, r#"{"data":{"update_boat":{"affected_rows":3000}}}"#);
    });
}

#[test]
fn clients_that_go_away_or_read_nothing_free_the_readers() {
    let served = serve(&fleet(30_000, 1, 1), 0).holding_back(1 << 10);
    let query = "{ boat { id name owner price crew } }";
    let expected = ask_in_ranges(&served, &Identity::admin(), query);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let caller = served.engine.caller(&Identity::admin());
    let kept = runtime.block_on(async {
        let mut kept = Vec::new();
        for at in 0..20 {
            let request = Request::new(query, Instant::now() + Duration::from_secs(60));
            let body = served.engine.execute(request, &caller).await.body;
            assert!(matches!(body, Body::Stream { .. }), "it is long enough to leave in chunks");
            if at % 5 == 0 {
                kept.push(body);
            }
        }
        kept
    });
    assert_eq!(ask(&served.engine, &Identity::admin(), query), expected);
    drop(kept);
    assert_eq!(ask(&served.engine, &Identity::admin(), query), expected);
}

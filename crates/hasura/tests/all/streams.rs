//! Streams over both databases: every row once, in the order of the cursor, across batches, changes and new subscriptions.

use crate::answer_kit::whole;
use crate::fleet_kit::{ann, both};
use crate::hasura_kit::serve as serve_postgres;
use crate::kit::{Served, serve, serve_as};
use crate::postgres_kit::database;
use crate::postgres_kit::release::{Release, on};
use proptest::prelude::*;
use std::time::{Duration, Instant};
use tokio::time::timeout;
use weir_engine::caller::Identity;
use weir_engine::compose::Join;
use weir_engine::engine::{Engine, Request};
use weir_engine::live::{LiveQueries, LiveSettings, Subscription};
use weir_hasura::model::{ModelOptions, Track};
use weir_language::json::{Json, JsonRef};
use weir_metadata::document::table::TableEntry;

/// Rows whose grades are equal by threes, and one without a grade.
const TABLES: &str = "CREATE TABLE event (id INTEGER PRIMARY KEY, grade INTEGER, note TEXT);
    CREATE INDEX event_grade ON event (grade);
    CREATE TABLE mark (id INTEGER PRIMARY KEY, event_id INTEGER NOT NULL REFERENCES event (id), name TEXT NOT NULL);
    INSERT INTO event VALUES (1, 1, 'a'), (2, 1, 'a'), (3, 1, 'a'), (4, 2, 'b'), (5, 2, 'b'), (6, 2, 'b'), (7, 3, 'c'), (8, NULL, 'c');
    INSERT INTO mark VALUES (1, 2, 'x'), (2, 2, 'y')";
const BY_ID: &str = "subscription ($after: Int!, $size: Int!) { event_stream(batch_size: $size, cursor: {initial_value: {id: $after}}) { id } }";

/// Longest wait for a result that has to come; a busy machine needs a part of it.
const PATIENCE: Duration = Duration::from_secs(60);

/// An engine with its streams.
#[derive(Clone, Copy)]
struct Asked<'a> {
    engine: &'a Engine,
    live: &'a LiveQueries,
}

impl Asked<'_> {
    async fn subscribe(self, query: &str, variables: &str) -> Subscription {
        self.live.subscribe(self.bound(query, variables).await).unwrap()
    }

    async fn bound(self, query: &str, variables: &str) -> weir_engine::bound_operation::BoundOperation {
        let json = (!variables.is_empty()).then(|| Json::parse(variables.as_bytes(), 100).unwrap());
        let variables = json.as_ref().map(|json| JsonRef { json, at: 0 });
        let request = Request { variables, ..Request::new(query, Instant::now() + PATIENCE) };
        let caller = self.engine.caller(&Identity::admin());
        self.engine.bind(request, &caller).await.unwrap_or_else(|it| panic!("{query}: {:?}", whole(it.body)))
    }

    /// The error of a subscription that is refused when it is planned.
    async fn refused(self, query: &str) -> String {
        let caller = self.engine.caller(&Identity::admin());
        let refused = self.engine.bind(Request::new(query, Instant::now() + PATIENCE), &caller).await;
        whole(refused.expect_err("it is refused").body)
    }

    async fn change(self, mutation: &str) {
        let request = Request::new(mutation, Instant::now() + PATIENCE);
        let made = self.engine.execute(request, &self.engine.caller(&Identity::admin())).await;
        assert!(!made.execution().has_errors, "{mutation}: {:?}", made.body);
    }

    async fn insert(self, id: u32, grade: u32) {
        let object = format!("{{id: {id}, grade: {grade}, note: \"n\"}}");
        self.change(&format!("mutation {{ insert_event_one(object: {object}) {{ id }} }}")).await;
    }
}

/// The body of the next batch.
async fn next(stream: &mut Subscription) -> String {
    let result = timeout(PATIENCE, stream.next()).await.expect("a batch comes").expect("the engine lives");
    String::from_utf8(result.body.to_vec()).unwrap()
}

/// The numbers of the rows of the next batch.
async fn ids(stream: &mut Subscription) -> Vec<u32> {
    let body = next(stream).await;
    let value: serde_json::Value = serde_json::from_str(&body).unwrap();
    let rows = value["data"]["event_stream"].as_array().unwrap_or_else(|| panic!("{body}"));
    rows.iter().map(|it| it["id"].as_u64().unwrap() as u32).collect()
}

fn sized(after: u32, size: u32) -> String {
    format!(r#"{{"after": {after}, "size": {size}}}"#)
}

/// Runs `test` on a runtime of its own.
fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

/// Runs `test` over both databases, and each release of PostgreSQL, with a hand that changes each beside the engine.
fn over_both(test: impl AsyncFn(Asked<'_>, &dyn Fn(&str))) {
    let served = serve(TABLES);
    run(async {
        let live = LiveQueries::of(&served.engine, LiveSettings::STANDARD);
        let beside = |sql: &str| served.beside.execute_batch(sql).unwrap();
        test(Asked { engine: &served.engine, live: &live }, &beside).await;
    });
    for release in [Release::Installed, Release::Eighteen] {
        on(release, || {
            run(async {
                let served = serve_postgres(database(TABLES)).await;
                let poll = Duration::from_millis(20);
                let settings = LiveSettings { poll, ..LiveSettings::STANDARD };
                let live = LiveQueries::of(&served.engine, settings);
                let beside = |sql: &str| drop(served.database.run(sql));
                test(Asked { engine: &served.engine, live: &live }, &beside).await;
            });
        });
    }
}

#[test]
fn full_batches_follow_each_other_and_the_stream_waits_for_more() {
    over_both(async |asked, beside| {
        let mut stream = asked.subscribe(BY_ID, &sized(0, 3)).await;
        assert_eq!(next(&mut stream).await, r#"{"data":{"event_stream":[{"id":1},{"id":2},{"id":3}]}}"#);
        assert_eq!(ids(&mut stream).await, [4, 5, 6]);
        assert_eq!(ids(&mut stream).await, [7, 8]);
        asked.insert(10, 4).await;
        assert_eq!(ids(&mut stream).await, [10]);
        beside("INSERT INTO event VALUES (11, 4, 'd'), (12, 4, 'd'), (13, 4, 'd'), (14, 4, 'd')");
        assert_eq!(ids(&mut stream).await, [11, 12, 13]);
        assert_eq!(ids(&mut stream).await, [14]);
        // A row behind the cursor is no news, one that moves ahead of it is.
        asked.insert(9, 4).await;
        asked.change("mutation { update_event_by_pk(pk_columns: {id: 1}, _set: {id: 20}) { id } }").await;
        assert_eq!(ids(&mut stream).await, [20]);
    });
}

#[test]
fn rows_with_equal_values_are_told_apart_by_the_primary_key() {
    over_both(async |asked, beside| {
        let query = "subscription ($c: [event_stream_cursor_input]!) { event_stream(batch_size: 2, cursor: $c) { id } }";
        let mut stream =
            asked.subscribe(query, r#"{"c": [{"initial_value": {"grade": 0}, "ordering": "ASC"}]}"#).await;
        let mut seen = Vec::new();
        while seen.len() < 7 {
            let batch = ids(&mut stream).await;
            assert!(batch.len() <= 2, "{batch:?}");
            seen.extend(batch);
        }
        assert_eq!(seen, [1, 2, 3, 4, 5, 6, 7], "a row without a grade never comes");
        // One that comes late with the value of the last row.
        beside("INSERT INTO event VALUES (9, 3, 'c')");
        assert_eq!(ids(&mut stream).await, [9]);
        // From inside of equal values, by the key beside them.
        let cursor = r#"{"c": [{"initial_value": {"grade": 1}}, {"initial_value": {"id": 2}}]}"#;
        let mut stream = asked.subscribe(query, cursor).await;
        assert_eq!(ids(&mut stream).await, [3, 4]);
        // By the value alone the rest of the equal ones is left out, as in Hasura.
        let mut stream = asked.subscribe(query, r#"{"c": {"initial_value": {"grade": 1}}}"#).await;
        assert_eq!(ids(&mut stream).await, [4, 5]);
    });
}

#[test]
fn a_stream_descends_filters_and_shows_what_is_below() {
    over_both(async |asked, _| {
        let query = "subscription { event_stream(batch_size: 3, cursor: {initial_value: {grade: 3}, ordering: DESC}, \
            where: {id: {_neq: 5}}) { id } }";
        let mut stream = asked.subscribe(query, "").await;
        assert_eq!(ids(&mut stream).await, [6, 4, 3]);
        assert_eq!(ids(&mut stream).await, [2, 1]);
    });
    let served = serve(TABLES);
    run(async {
        let live = &LiveQueries::of(&served.engine, LiveSettings::STANDARD);
        let query = "subscription { event_stream(batch_size: 1, cursor: {initial_value: {id: 1}}) \
            { note event_marks(order_by: {id: asc}) { name } } }";
        let mut stream = Asked { engine: &served.engine, live }.subscribe(query, "").await;
        let rows = r#"[{"note":"a","event_marks":[{"name":"x"},{"name":"y"}]}]"#;
        assert_eq!(next(&mut stream).await, format!(r#"{{"data":{{"event_stream":{rows}}}}}"#));
    });
}

#[test]
fn the_next_batch_is_read_when_the_last_was_taken() {
    let served = serve(TABLES);
    run(async {
        let live = &LiveQueries::of(&served.engine, LiveSettings::STANDARD);
        let asked = Asked { engine: &served.engine, live };
        let mut other = asked.subscribe("subscription { event_aggregate { aggregate { count } } }", "").await;
        let mut stream = asked.subscribe(BY_ID, &sized(0, 2)).await;
        assert_eq!(ids(&mut stream).await, [1, 2]);
        // The other one is read at each change; the stream, whose batch is not taken, is not.
        next(&mut other).await;
        for id in 20..25 {
            asked.insert(id, 9).await;
            next(&mut other).await;
        }
        let state = live.state();
        assert_eq!((state.subscriptions, state.operations), (2, 2));
        assert_eq!(state.results, 7, "six of the other, one batch: {state:?}");
        // A waiting client that gives up loses nothing.
        let mut seen = Vec::new();
        for _ in 0..3 {
            if let Some(batch) = futures_util::FutureExt::now_or_never(ids(&mut stream)) {
                seen.extend(batch);
            }
        }
        while seen.len() < 11 {
            seen.extend(ids(&mut stream).await);
        }
        assert_eq!(seen, [3, 4, 5, 6, 7, 8, 20, 21, 22, 23, 24]);
        drop((stream, other));
        assert_eq!((live.state().subscriptions, live.state().operations), (0, 0));
    });
}

#[test]
fn one_plan_serves_all_batches_and_subscribers() {
    let served = serve(TABLES);
    run(async {
        let live = &LiveQueries::of(&served.engine, LiveSettings::STANDARD);
        let asked = Asked { engine: &served.engine, live };
        let mut one = asked.subscribe(BY_ID, &sized(0, 1)).await;
        ids(&mut one).await;
        let before = served.source.renderings();
        let mut two = asked.subscribe(BY_ID, &sized(3, 2)).await;
        assert_eq!(ids(&mut two).await, [4, 5]);
        assert_eq!(ids(&mut two).await, [6, 7]);
        assert_eq!(ids(&mut one).await, [2]);
        assert_eq!(served.source.renderings(), before);
    });
}

#[test]
fn a_stream_goes_on_in_the_place_of_another() {
    let served = serve(TABLES);
    run(async {
        let old = LiveQueries::of(&served.engine, LiveSettings::STANDARD);
        let mut before = Asked { engine: &served.engine, live: &old }.subscribe(BY_ID, &sized(0, 3)).await;
        assert_eq!(ids(&mut before).await, [1, 2, 3]);
        let engine = crate::kit::engine(&served.source, 256 << 10, &[]);
        let new = LiveQueries::of(&engine, LiveSettings::STANDARD);
        let bound = Asked { engine: &engine, live: &new }.bound(BY_ID, &sized(0, 3)).await;
        drop(old);
        let mut after = new.subscribe_after(bound, &before).unwrap();
        assert_eq!(ids(&mut after).await, [4, 5, 6]);
        assert_eq!(ids(&mut after).await, [7, 8]);
    });
}

#[test]
fn rows_of_a_stream_are_joined_with_those_of_other_sources() {
    let join = Join {
        on: "event".into(),
        name: "same".into(),
        description: String::new(),
        source: "main".into(),
        target: "event_by_pk".into(),
        arguments: "(id: $this.id)".into(),
    };
    let served = serve_as(TABLES, ModelOptions::default(), &[join]);
    run(async {
        let live = &LiveQueries::of(&served.engine, LiveSettings::STANDARD);
        let query = "subscription { event_stream(batch_size: 4, cursor: {initial_value: {grade: 0}}) { note same { id } } }";
        let mut stream = Asked { engine: &served.engine, live }.subscribe(query, "").await;
        let row = |(id, note): (u32, &str)| format!(r#"{{"note":"{note}","same":{{"id":{id}}}}}"#);
        for rows in [[(1, "a"), (2, "a"), (3, "a"), (4, "b")].as_slice(), &[(5, "b"), (6, "b"), (7, "c")]] {
            let rows: Vec<String> = rows.iter().copied().map(row).collect();
            let expected = format!(r#"{{"data":{{"event_stream":[{}]}}}}"#, rows.join(","));
            assert_eq!(next(&mut stream).await, expected);
        }
    });
}

#[test]
fn what_is_no_cursor_is_refused_with_words() {
    over_both(async |asked, _| {
        for (arguments, words) in [
            ("batch_size: 1, cursor: []", "one streaming column field is expected"),
            ("batch_size: 1, cursor: [null]", "one streaming column field is expected"),
            ("batch_size: 1, cursor: {initial_value: {}}", "one streaming column field is expected"),
            ("batch_size: 1, cursor: {initial_value: {id: null}}", "null is none"),
            ("batch_size: 1, cursor: {initial_value: {id: 1, grade: 1}}", "give each column by an item"),
            (
                "batch_size: 1, cursor: [{initial_value: {id: 1}}, {initial_value: {id: 2}}]",
                "a cursor already",
            ),
            ("cursor: {initial_value: {id: 1}}", "batch_size"),
            ("batch_size: 1", "cursor"),
            ("batch_size: 0, cursor: {initial_value: {id: 1}}", "`batch_size` must be at least 1"),
            ("batch_size: -1, cursor: {initial_value: {id: 1}}", "`batch_size` must be at least 1"),
        ] {
            let refused =
                asked.refused(&format!("subscription {{ event_stream({arguments}) {{ id }} }}")).await;
            assert!(refused.contains(words), "{arguments}: {refused}");
        }
        let query = "query { event_stream(batch_size: 1, cursor: {initial_value: {id: 1}}) { id } }";
        assert!(asked.refused(query).await.contains("event_stream"));
        // An error that only a value shows is told once, and the stream stays.
        let mut stream = asked.subscribe(BY_ID, &sized(0, 3).replace("3}", "-1}")).await;
        let told = next(&mut stream).await;
        assert!(told.contains("expected a non-negative 32-bit integer"), "{told}");
        let mut stream = asked.subscribe(BY_ID, &sized(0, 0)).await;
        let told = next(&mut stream).await;
        assert!(told.contains("`batch_size` must be at least 1"), "{told}");
    });
}

#[tokio::test]
async fn a_row_that_is_committed_late_comes_before_the_rows_that_were_there_first() {
    let served = serve_postgres(database(TABLES)).await;
    let settings = LiveSettings {
        poll: Duration::from_millis(5),
        floor: Duration::from_millis(1),
        ..LiveSettings::STANDARD
    };
    let live = &LiveQueries::of(&served.engine, settings);
    let mut stream = Asked { engine: &served.engine, live }.subscribe(BY_ID, &sized(50, 10)).await;
    let mut slow = served.hand().await;
    let mut fast = served.hand().await;
    slow.run("BEGIN").await;
    slow.run("INSERT INTO event VALUES (100, 9, 'late')").await;
    fast.run("INSERT INTO event VALUES (101, 9, 'early')").await;
    let reads = live.state().reads;
    while live.state().reads < reads + 5 {
        assert!(futures_util::FutureExt::now_or_never(stream.next()).is_none(), "the early one waits");
        tokio::task::yield_now().await;
    }
    // Rows that come meanwhile wait for nothing that began after the first ones.
    fast.run("INSERT INTO event VALUES (102, 9, 'last')").await;
    slow.run("COMMIT").await;
    let mut seen = Vec::new();
    while seen.len() < 3 {
        seen.extend(ids(&mut stream).await);
    }
    assert_eq!(seen, [100, 101, 102]);
    // A transaction that is undone holds rows back as long as it runs, and no longer.
    slow.run("BEGIN").await;
    slow.run("INSERT INTO event VALUES (103, 9, 'never')").await;
    fast.run("INSERT INTO event VALUES (104, 9, 'early')").await;
    slow.run("ROLLBACK").await;
    assert_eq!(ids(&mut stream).await, [104]);
}

const GUARDED: &str = "CREATE TABLE note (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, words TEXT NOT NULL);
    INSERT INTO note VALUES (1, 'ann', 'c'), (2, 'ben', 'b'), (3, 'ann', 'b'), (4, 'ann', 'a')";
const GRANTS: &str = r#"[{"table": "note", "select_permissions": [
    {"role": "writer", "permission": {"columns": ["id", "words"], "filter": {"owner": {"_eq": "X-Hasura-User"}}}},
    {"role": "reader", "permission": {"columns": ["words"], "filter": {}, "limit": 1, "subscription_root_fields": ["select_stream"]}},
    {"role": "viewer", "permission": {"columns": ["id"], "filter": {}, "subscription_root_fields": ["select", "select_by_pk"]}}]}]"#;

#[test]
fn a_role_streams_its_rows_columns_and_numbers_of_rows() {
    let tables: Vec<TableEntry> = serde_json::from_str(GRANTS).unwrap();
    let options = ModelOptions { track: Track::Listed, tables: &tables, ..ModelOptions::default() };
    for fleet in both(GUARDED, options) {
        fleet.run(async {
            let engine = fleet.engine();
            let live = LiveQueries::of(engine, LiveSettings::STANDARD);
            let bind = async |role: &str, query: &str| {
                let caller = engine.caller(&ann(role));
                engine.bind(Request::new(query, Instant::now() + PATIENCE), &caller).await.map_err(|it| whole(it.body))
            };
            let by_id = "subscription { note_stream(batch_size: 2, cursor: {initial_value: {id: 0}}) { id } }";
            let by_words = "subscription { note_stream(batch_size: 9, cursor: {initial_value: {words: \"\"}}) { words } }";
            let mut stream = live.subscribe(bind("writer", by_id).await.unwrap()).unwrap();
            assert_eq!(next(&mut stream).await, r#"{"data":{"note_stream":[{"id":1},{"id":3}]}}"#);
            assert_eq!(next(&mut stream).await, r#"{"data":{"note_stream":[{"id":4}]}}"#);
            // The limit caps a batch; the primary key, which the role does not see, tells equal words apart.
            let mut stream = live.subscribe(bind("reader", by_words).await.unwrap()).unwrap();
            for words in ["a", "b", "b", "c"] {
                let expected = format!(r#"{{"data":{{"note_stream":[{{"words":"{words}"}}]}}}}"#);
                assert_eq!(next(&mut stream).await, expected);
            }
            for (role, query, words) in [
                ("reader", by_id, "'id'"),
                ("reader", "subscription { note { words } }", "'note'"),
                ("viewer", by_id, "'note_stream'"),
                ("nobody", by_id, "not supported by the schema"),
            ] {
                let refused = bind(role, query).await.unwrap_err().replace("\\\"", "'").replace('`', "'");
                assert!(refused.contains(words.trim_matches('\'')), "{role}: {refused}");
            }
            assert!(bind("viewer", "subscription { note { id } }").await.is_ok());
        });
    }
}

/// One step of the random test.
#[derive(Clone, Debug)]
enum Act {
    /// Rows through the engine.
    Insert(u32),
    /// Rows beside it, in one transaction.
    Beside(u32),
    /// Takes a batch, if there is one.
    Take,
    /// Leaves, and comes again with the last cursor.
    Reconnect,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        (1..4u32).prop_map(Act::Insert),
        (1..9u32).prop_map(Act::Beside),
        Just(Act::Take),
        Just(Act::Take),
        Just(Act::Reconnect),
    ]
}

/// A client of a stream: where it begins, and what it got.
struct Client<'a> {
    asked: Asked<'a>,
    by_grade: bool,
    size: usize,
    seen: Vec<u32>,
}

impl Client<'_> {
    /// Grades are equal by threes and rise with the numbers.
    fn grade(id: u32) -> u32 {
        id / 3
    }

    async fn subscribe(&self) -> Subscription {
        let last = self.seen.last().copied().unwrap_or(0);
        let by_id = format!("{{initial_value: {{id: {last}}}}}");
        let cursor = if self.by_grade {
            format!("[{{initial_value: {{grade: {}}}}}, {by_id}]", Self::grade(last))
        } else {
            by_id
        };
        let size = self.size;
        let query =
            format!("subscription {{ event_stream(batch_size: {size}, cursor: {cursor}) {{ id grade }} }}");
        self.asked.subscribe(&query, "").await
    }

    async fn take(&mut self, stream: &mut Subscription) {
        let batch = ids(stream).await;
        assert!((1..=self.size).contains(&batch.len()), "{batch:?}");
        self.seen.extend(batch);
    }
}

/// Does `acts`, then reads on until all rows came.
async fn replay(asked: Asked<'_>, beside: &dyn Fn(&str), acts: &[Act], (by_grade, size): (bool, usize)) {
    beside("DELETE FROM mark; DELETE FROM event");
    let mut client = Client { asked, by_grade, size, seen: Vec::new() };
    let mut stream = client.subscribe().await;
    let mut rows = 0;
    for act in acts {
        match act {
            Act::Insert(count) => {
                for id in rows + 1..=rows + count {
                    asked.insert(id, Client::grade(id)).await;
                }
                rows += count;
            }
            Act::Beside(count) => {
                let values =
                    (rows + 1..=rows + count).map(|id| format!("({id}, {}, 'n')", Client::grade(id)));
                beside(&format!("INSERT INTO event VALUES {}", values.collect::<Vec<_>>().join(", ")));
                rows += count;
            }
            Act::Take if client.seen.len() < rows as usize => client.take(&mut stream).await,
            Act::Take => {}
            Act::Reconnect => stream = client.subscribe().await,
        }
    }
    while client.seen.len() < rows as usize {
        client.take(&mut stream).await;
    }
    assert_eq!(client.seen, (1..=rows).collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]
    #[test]
    fn every_row_comes_once_in_order(acts in proptest::collection::vec(act(), 1..24), by_grade: bool, size in 1..5usize) {
        let Served { engine, beside, .. } = &serve(TABLES);
        run(async {
            let live = &LiveQueries::of(engine, LiveSettings::STANDARD);
            let run = |sql: &str| beside.execute_batch(sql).unwrap();
            replay(Asked { engine, live }, &run, &acts, (by_grade, size)).await;
        });
    }
}

#[test]
fn every_row_of_postgresql_comes_once_in_order() {
    let mut runner =
        proptest::test_runner::TestRunner::new(ProptestConfig { cases: 12, ..ProptestConfig::default() });
    let acts = (proptest::collection::vec(act(), 1..24), any::<bool>(), 1..5usize);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let served = runtime.block_on(serve_postgres(database(TABLES)));
    let settings = LiveSettings { poll: Duration::from_millis(20), ..LiveSettings::STANDARD };
    let live = LiveQueries::of(&served.engine, settings);
    let asked = Asked { engine: &served.engine, live: &live };
    let run = |sql: &str| drop(served.database.run(sql));
    let tested = runner.run(&acts, |(acts, by_grade, size)| {
        runtime.block_on(replay(asked, &run, &acts, (by_grade, size)));
        Ok(())
    });
    tested.unwrap();
}

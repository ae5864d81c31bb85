//! Reads on a real PostgreSQL: keys of many types, one snapshot, long lists, statements that are stopped.

use crate::hasura_kit::{serve, serve_with};
use crate::postgres_kit::hand::soon;
use crate::postgres_kit::{chinook, database};
use std::sync::Arc;
use weir_engine::engine::Body;
use weir_postgres::Settings;
use weir_relational::dialect::flavour::Flavour;

/// Parents whose children name them by keys of another spelling, and by no key.
const KEYS: &str = r#"
CREATE EXTENSION citext;
CREATE TABLE amount (key numeric PRIMARY KEY, name text NOT NULL);
INSERT INTO amount VALUES (1.0, 'one'), (2.50, 'two and a half');
CREATE TABLE share (id int4 PRIMARY KEY, amount_key numeric REFERENCES amount);
INSERT INTO share VALUES (1, 1), (2, 1.00), (3, 1.0), (4, 2.5), (5, NULL);
CREATE TABLE word (key citext PRIMARY KEY);
INSERT INTO word VALUES ('Alpha'), ('beta');
CREATE TABLE said (id int4 PRIMARY KEY, word_key citext REFERENCES word);
INSERT INTO said VALUES (1, 'ALPHA'), (2, 'alpha'), (3, 'Beta'), (4, NULL);
CREATE TABLE wide (key int8 PRIMARY KEY, name text NOT NULL);
INSERT INTO wide VALUES (1, 'one'), (9007199254740993, 'big');
CREATE TABLE narrow (id int4 PRIMARY KEY, wide_key int4 REFERENCES wide);
INSERT INTO narrow VALUES (1, 1), (2, 1), (3, NULL);
CREATE TABLE length (key interval PRIMARY KEY);
INSERT INTO length VALUES ('1 day');
CREATE TABLE trip (id int4 PRIMARY KEY, length_key interval REFERENCES length);
INSERT INTO trip VALUES (1, '24:00:00'), (2, '1 day');
CREATE TABLE moment (key timestamptz PRIMARY KEY);
INSERT INTO moment VALUES ('2024-02-29 12:00:00.000001+02'), ('infinity');
CREATE TABLE event (id int4 PRIMARY KEY, moment_key timestamptz REFERENCES moment);
INSERT INTO event VALUES (1, '2024-02-29 10:00:00.000001+00'), (2, 'infinity');
CREATE TABLE unit (id int4 PRIMARY KEY, code text UNIQUE, area int4, UNIQUE (code, area));
INSERT INTO unit VALUES (1, 'a', 1), (2, NULL, 1), (3, 'b', NULL), (4, 'é"', 2);
CREATE TABLE part (id uuid PRIMARY KEY, unit_code text REFERENCES unit (code));
INSERT INTO part VALUES ('00000000-0000-0000-0000-000000000001', 'a'), ('00000000-0000-0000-0000-000000000002', 'a'),
    ('00000000-0000-0000-0000-000000000003', 'é"'), ('00000000-0000-0000-0000-000000000004', NULL);
CREATE TABLE screw (id int4 PRIMARY KEY, part_id uuid NOT NULL REFERENCES part, code text, area int4,
    FOREIGN KEY (code, area) REFERENCES unit (code, area));
INSERT INTO screw VALUES (1, '00000000-0000-0000-0000-000000000001', 'a', 1), (2, '00000000-0000-0000-0000-000000000001', 'a', NULL),
    (3, '00000000-0000-0000-0000-000000000003', NULL, 1), (4, '00000000-0000-0000-0000-000000000003', 'é"', 2);
"#;

const FLAVOURS: &[Flavour] = &[Flavour::Postgres, Flavour::Yugabyte, Flavour::Citus, Flavour::Cockroach];
/// Without the one where nulls have another place by default, which its statements rely on.
const SAME_NULLS: &[Flavour] = &[Flavour::Postgres, Flavour::Yugabyte, Flavour::Citus];

/// Asks the flavours' statements of a database made by `sql`.
async fn check(sql: &str, flavours: &[Flavour], asked: &[(&str, &str)]) {
    for &flavour in flavours {
        let served = serve_with(database(sql), &["public"], |it| it.flavour = Some(flavour)).await;
        for (query, expected) in asked {
            let answer = served.ask(query).await;
            assert_eq!(answer, format!(r#"{{"data":{expected}}}"#), "{flavour:?} {query}");
        }
    }
}

#[tokio::test]
async fn keys_find_each_other_as_the_database_compares_them() {
    check(
        KEYS,
        FLAVOURS,
        &[
            (
                "{ share(order_by: {id: asc}) { amount_key amount { name } } }",
                r#"{"share":[{"amount_key":1,"amount":{"name":"one"}},{"amount_key":1.00,"amount":{"name":"one"}},{"amount_key":1.0,"amount":{"name":"one"}},{"amount_key":2.5,"amount":{"name":"two and a half"}},{"amount_key":null,"amount":null}]}"#,
            ),
            (
                "{ amount(order_by: {key: asc}) { shares(order_by: {id: asc}) { id } first: shares(order_by: {id: desc}, limit: 1) { id } shares_aggregate { aggregate { count } } } }",
                r#"{"amount":[{"shares":[{"id":1},{"id":2},{"id":3}],"first":[{"id":3}],"shares_aggregate":{"aggregate":{"count":3}}},{"shares":[{"id":4}],"first":[{"id":4}],"shares_aggregate":{"aggregate":{"count":1}}}]}"#,
            ),
            (
                "{ share(order_by: {id: asc}) { amount { shares_aggregate { aggregate { count } } shares(limit: 1, order_by: {id: asc}) { id } } } }",
                r#"{"share":[{"amount":{"shares_aggregate":{"aggregate":{"count":3}},"shares":[{"id":1}]}},{"amount":{"shares_aggregate":{"aggregate":{"count":3}},"shares":[{"id":1}]}},{"amount":{"shares_aggregate":{"aggregate":{"count":3}},"shares":[{"id":1}]}},{"amount":{"shares_aggregate":{"aggregate":{"count":1}},"shares":[{"id":4}]}},{"amount":null}]}"#,
            ),
            (
                "{ said(order_by: {id: asc}) { word_key word { key } } word(order_by: {key: asc}) { saids(order_by: {id: asc}) { id } } }",
                r#"{"said":[{"word_key":"ALPHA","word":{"key":"Alpha"}},{"word_key":"alpha","word":{"key":"Alpha"}},{"word_key":"Beta","word":{"key":"beta"}},{"word_key":null,"word":null}],"word":[{"saids":[{"id":1},{"id":2}]},{"saids":[{"id":3}]}]}"#,
            ),
            (
                "{ narrow(order_by: {id: asc}) { wide { name narrows(order_by: {id: asc}) { id } } } wide(order_by: {key: asc}) { narrows(order_by: {id: desc}) { id } } }",
                r#"{"narrow":[{"wide":{"name":"one","narrows":[{"id":1},{"id":2}]}},{"wide":{"name":"one","narrows":[{"id":1},{"id":2}]}},{"wide":null}],"wide":[{"narrows":[{"id":2},{"id":1}]},{"narrows":[]}]}"#,
            ),
            (
                "{ trip(order_by: {id: asc}) { length_key length { key trips(order_by: {id: asc}) { id } } } }",
                r#"{"trip":[{"length_key":"24:00:00","length":{"key":"1 day","trips":[{"id":1},{"id":2}]}},{"length_key":"1 day","length":{"key":"1 day","trips":[{"id":1},{"id":2}]}}]}"#,
            ),
            (
                "{ event(order_by: {id: asc}) { moment { key events { id } } } }",
                r#"{"event":[{"moment":{"key":"2024-02-29T10:00:00.000001+00:00","events":[{"id":1}]}},{"moment":{"key":"infinity","events":[{"id":2}]}}]}"#,
            ),
        ],
    )
    .await;
}

/// Texts that are equal and differ: keys of one spelling, named by others.
const FOLDED: &str = r#"
CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE tag (key text COLLATE folded PRIMARY KEY, name text NOT NULL);
INSERT INTO tag VALUES ('Rock', 'rock'), ('Jazz', 'jazz');
CREATE TABLE song (id int4 PRIMARY KEY, tag_key text COLLATE folded REFERENCES tag);
INSERT INTO song VALUES (1, 'rock'), (2, 'ROCK'), (3, 'Rock'), (4, 'jazz'), (5, NULL);
CREATE TABLE shelf (id int4 PRIMARY KEY, tag_key text COLLATE folded NOT NULL REFERENCES tag);
INSERT INTO shelf VALUES (1, 'rOCK'), (2, 'JAZZ'), (3, 'rOcK');
"#;

#[tokio::test]
async fn texts_that_are_equal_but_spelled_otherwise_find_each_other() {
    check(
        FOLDED,
        FLAVOURS,
        &[
            (
                "{ song(order_by: {id: asc}) { tag_key tag { name } } }",
                r#"{"song":[{"tag_key":"rock","tag":{"name":"rock"}},{"tag_key":"ROCK","tag":{"name":"rock"}},{"tag_key":"Rock","tag":{"name":"rock"}},{"tag_key":"jazz","tag":{"name":"jazz"}},{"tag_key":null,"tag":null}]}"#,
            ),
            (
                "{ tag(order_by: {name: asc}) { songs(order_by: {id: asc}) { id } first: songs(order_by: {id: desc}, limit: 1) { id } songs_aggregate { aggregate { count } } } }",
                r#"{"tag":[{"songs":[{"id":4}],"first":[{"id":4}],"songs_aggregate":{"aggregate":{"count":1}}},{"songs":[{"id":1},{"id":2},{"id":3}],"first":[{"id":3}],"songs_aggregate":{"aggregate":{"count":3}}}]}"#,
            ),
            (
                "{ shelf(order_by: {id: asc}) { tag { songs_aggregate { aggregate { count } } songs(limit: 1, order_by: {id: asc}) { id tag { shelves(order_by: {id: asc}) { id } } } } } }",
                concat!(
                    r#"{"shelf":[{"tag":{"songs_aggregate":{"aggregate":{"count":3}},"songs":[{"id":1,"tag":{"shelves":[{"id":1},{"id":3}]}}]}},"#,
                    r#"{"tag":{"songs_aggregate":{"aggregate":{"count":1}},"songs":[{"id":4,"tag":{"shelves":[{"id":2}]}}]}},"#,
                    r#"{"tag":{"songs_aggregate":{"aggregate":{"count":3}},"songs":[{"id":1,"tag":{"shelves":[{"id":1},{"id":3}]}}]}}]}"#
                ),
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_parent_with_a_key_that_is_null_has_nothing_below_it() {
    check(
        KEYS,
        FLAVOURS,
        &[
            (
                "{ unit(order_by: {id: asc}) { parts(order_by: {id: asc}) { id screws(order_by: {id: asc}) { id } } parts_aggregate { aggregate { count max { id } } nodes { id } } } }",
                concat!(
                    r#"{"unit":[{"parts":[{"id":"00000000-0000-0000-0000-000000000001","screws":[{"id":1},{"id":2}]},{"id":"00000000-0000-0000-0000-000000000002","screws":[]}],"#,
                    r#""parts_aggregate":{"aggregate":{"count":2,"max":{"id":"00000000-0000-0000-0000-000000000002"}},"nodes":[{"id":"00000000-0000-0000-0000-000000000001"},{"id":"00000000-0000-0000-0000-000000000002"}]}},"#,
                    r#"{"parts":[],"parts_aggregate":{"aggregate":{"count":0,"max":{"id":null}},"nodes":[]}},"#,
                    r#"{"parts":[],"parts_aggregate":{"aggregate":{"count":0,"max":{"id":null}},"nodes":[]}},"#,
                    r#"{"parts":[{"id":"00000000-0000-0000-0000-000000000003","screws":[{"id":3},{"id":4}]}],"parts_aggregate":{"aggregate":{"count":1,"max":{"id":"00000000-0000-0000-0000-000000000003"}},"nodes":[{"id":"00000000-0000-0000-0000-000000000003"}]}}]}"#
                ),
            ),
            (
                "{ screw(order_by: {id: asc}) { unit { id } } unit(order_by: {id: asc}) { screws { id } screws_aggregate(limit: 5) { aggregate { count } } } }",
                r#"{"screw":[{"unit":{"id":1}},{"unit":null},{"unit":null},{"unit":{"id":4}}],"unit":[{"screws":[{"id":1}],"screws_aggregate":{"aggregate":{"count":1}}},{"screws":[],"screws_aggregate":{"aggregate":{"count":0}}},{"screws":[],"screws_aggregate":{"aggregate":{"count":0}}},{"screws":[{"id":4}],"screws_aggregate":{"aggregate":{"count":1}}}]}"#,
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_null_where_the_catalog_said_none_can_be_bubbles() {
    let served = serve(database(KEYS)).await;
    served
        .database
        .run("ALTER TABLE amount ALTER name DROP NOT NULL; UPDATE amount SET name = NULL WHERE key = 1");
    let answer =
        served.ask("{ share(order_by: {id: asc}, limit: 2, offset: 2) { id amount { name } } }").await;
    assert!(
        answer.contains(
            r#""data":{"share":[{"id":3,"amount":null},{"id":4,"amount":{"name":"two and a half"}}]}"#
        ),
        "{answer}"
    );
    assert!(answer.contains("Cannot return null for non-nullable field amount.name."), "{answer}");
    assert!(answer.contains(r#""path":["share",0,"amount","name"]"#), "{answer}");
    let long = served.ask("{ amount(order_by: {key: asc}) { name } }").await;
    assert!(long.contains(r#""data":null"#) && long.contains(r#""path":["amount",0,"name"]"#), "{long}");
}

#[tokio::test]
async fn connections_that_forgot_their_statements_are_not_noticed() {
    let served = serve(database(
        "CREATE TABLE a (id int4 PRIMARY KEY); INSERT INTO a VALUES (1);
         CREATE FUNCTION forget() RETURNS int4 LANGUAGE plpgsql VOLATILE AS $$ BEGIN
             EXECUTE 'DEALLOCATE ALL'; RETURN 1; END $$;
         CREATE VIEW forgetting AS SELECT forget() AS id",
    ))
    .await;
    let cases = [
        ("{ forgetting(limit: 1) { id } }", "{ a_by_pk(id: 1) { id } }", r#"{"a_by_pk":{"id":1}}"#),
        ("{ forgetting { id } }", "{ a { id } }", r#"{"a":[{"id":1}]}"#),
        (
            "{ forgetting { id } }",
            "mutation { delete_a(where: {id: {_eq: 9}}) { affected_rows } }",
            r#"{"delete_a":{"affected_rows":0}}"#,
        ),
    ];
    for (forget, query, expected) in cases {
        let expected = format!(r#"{{"data":{expected}}}"#);
        for _ in 0..2 {
            assert_eq!(served.ask(query).await, expected);
            assert_eq!(served.ask(forget).await, r#"{"data":{"forgetting":[{"id":1}]}}"#);
            assert_eq!(served.ask(query).await, expected, "after {forget}");
        }
    }
}

#[tokio::test]
async fn pages_are_each_parents_own() {
    check(
        "CREATE TABLE team (id int4 PRIMARY KEY, name text);
         CREATE TABLE player (id int4 PRIMARY KEY, team_id int4 REFERENCES team, score int4, kind text);
         INSERT INTO team VALUES (1, 'x'), (2, 'y'), (3, 'none');
         INSERT INTO player VALUES (1, 1, 5, 'a'), (2, 1, 5, 'a'), (3, 1, 9, 'b'), (4, 2, 1, 'a'), (5, 2, NULL, 'b'), (6, 2, 3, 'b');",
        SAME_NULLS,
        &[
            (
                "{ team(order_by: {id: asc}) { best: players(order_by: [{score: desc_nulls_last}, {id: asc}], limit: 2) { i: id } rest: players(order_by: [{score: desc_nulls_last}, {id: asc}], offset: 2) { i: id } mid: players(order_by: [{score: asc}, {id: desc}], offset: 1, limit: 1) { i: id } none: players(limit: 0) { id } } }",
                r#"{"team":[{"best":[{"i":3},{"i":1}],"rest":[{"i":2}],"mid":[{"i":1}],"none":[]},{"best":[{"i":6},{"i":4}],"rest":[{"i":5}],"mid":[{"i":6}],"none":[]},{"best":[],"rest":[],"mid":[],"none":[]}]}"#,
            ),
            (
                "{ team(order_by: {id: asc}) { players(distinct_on: kind, order_by: [{kind: desc}, {id: desc}], limit: 1) { id } all: players(distinct_on: kind, order_by: [{kind: asc}, {score: asc}, {id: asc}]) { id } two: players_aggregate(order_by: {id: desc}, limit: 2) { aggregate { count sum { score } } nodes { id } } } }",
                r#"{"team":[{"players":[{"id":3}],"all":[{"id":1},{"id":3}],"two":{"aggregate":{"count":2,"sum":{"score":14}},"nodes":[{"id":3},{"id":2}]}},{"players":[{"id":6}],"all":[{"id":4},{"id":6}],"two":{"aggregate":{"count":2,"sum":{"score":3}},"nodes":[{"id":6},{"id":5}]}},{"players":[],"all":[],"two":{"aggregate":{"count":0,"sum":{"score":null}},"nodes":[]}}]}"#,
            ),
            (
                "{ byMax: team(order_by: {players_aggregate: {max: {score: desc_nulls_last}}}) { id } byCount: team(order_by: [{players_aggregate: {count: asc}}, {id: desc}]) { id } player(order_by: [{team: {name: desc}}, {score: asc_nulls_first}, {id: asc}]) { id } }",
                r#"{"byMax":[{"id":1},{"id":2},{"id":3}],"byCount":[{"id":3},{"id":2},{"id":1}],"player":[{"id":5},{"id":4},{"id":6},{"id":1},{"id":2},{"id":3}]}"#,
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn all_levels_of_a_query_are_of_one_moment() {
    let served = Arc::new(
        serve(database(
            "CREATE TABLE bank (id int4 PRIMARY KEY, total int8 NOT NULL);
             CREATE TABLE account (id int4 PRIMARY KEY, bank_id int4 NOT NULL REFERENCES bank, balance int8 NOT NULL);
             INSERT INTO bank VALUES (1, 300), (2, 300);
             INSERT INTO account SELECT i, 1 + i % 2, 100 FROM generate_series(1, 6) AS i;",
        ))
        .await,
    );
    let mut hand = served.hand().await;
    let writer = async {
        for at in 0..150 {
            let from = at % 6 + 1;
            let to = (at * 5 + 1) % 6 + 1;
            hand.run(&format!(
                "WITH a AS (UPDATE account SET balance = balance + CASE id WHEN {to} THEN 7 ELSE -7 END \
                 WHERE id IN ({from}, {to}) AND {from} <> {to} RETURNING id, bank_id), \
                 b AS (UPDATE bank SET total = total + CASE bank.id WHEN (SELECT bank_id FROM a WHERE id = {to}) THEN 7 ELSE -7 END \
                 WHERE {from} % 2 <> {to} % 2) SELECT 1"
            ))
            .await;
        }
    };
    let reader = async {
        for _ in 0..50 {
            let query = "{ bank { total accounts { balance } accounts_aggregate { aggregate { sum { balance } } } } account_aggregate { aggregate { sum { balance } } } }";
            let answer: serde_json::Value = serde_json::from_str(&served.ask(query).await).unwrap();
            let data = &answer["data"];
            for bank in data["bank"].as_array().unwrap() {
                let sum: i64 = bank["accounts"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|it| it["balance"].as_i64().unwrap())
                    .sum();
                assert_eq!(bank["total"], sum, "{answer}");
                assert_eq!(bank["accounts_aggregate"]["aggregate"]["sum"]["balance"], sum, "{answer}");
            }
            assert_eq!(data["account_aggregate"]["aggregate"]["sum"]["balance"], 600, "{answer}");
        }
    };
    tokio::join!(writer, reader);
}

#[test]
fn runtimes_come_and_go_while_others_read() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let served = runtime().block_on(serve(chinook()));
    let query = "{ Album_by_pk(AlbumId: 1) { Title } Album(limit: 1, order_by: {AlbumId: asc}) { AlbumId } }";
    let expected = r#"{"data":{"Album_by_pk":{"Title":"For Those About To Rock We Salute You"},"Album":[{"AlbumId":1}]}}"#;
    let change =
        r#"mutation { update_Album_by_pk(pk_columns: {AlbumId: 2}, _set: {Title: "x"}) { AlbumId } }"#;
    let changed = r#"{"data":{"update_Album_by_pk":{"AlbumId":2}}}"#;
    for _ in 0..3 {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    runtime().block_on(async {
                        for _ in 0..5 {
                            assert_eq!(served.ask(query).await, expected);
                            assert_eq!(served.ask(change).await, changed);
                            assert_eq!(served.ask("{ Genre { GenreId } }").await.len(), 386);
                        }
                    });
                });
            }
        });
    }
}

/// A view whose rows wait for a lock that a hand may hold.
const WAITING: &str = "
CREATE TABLE door (id int4 PRIMARY KEY);
INSERT INTO door VALUES (1);
CREATE FUNCTION wait() RETURNS int4 LANGUAGE plpgsql VOLATILE AS $$ BEGIN
    PERFORM pg_advisory_xact_lock_shared(7);
    RETURN 1;
END $$;
CREATE VIEW waiting AS SELECT wait() AS id;
CREATE TABLE line (id int4 PRIMARY KEY, words text NOT NULL);
INSERT INTO line SELECT i, repeat(chr(97 + i % 26), 1000) FROM generate_series(1, 30000) AS i;
";

#[tokio::test]
async fn a_request_that_nobody_waits_for_is_stopped_on_the_server_and_its_neighbour_is_not() {
    let served = serve_with(database(WAITING), &["public"], |it| {
        it.limits.lanes = Some(1);
        it.limits.session_lock_timeout = std::time::Duration::from_secs(60);
    })
    .await;
    let mut hand = served.hand().await;
    let mut beside = served.hand().await;
    hand.run("SELECT pg_advisory_lock(7)::text").await;
    {
        let neighbour = served.ask("{ waiting { a: id } }");
        tokio::pin!(neighbour);
        let stopped = async {
            tokio::select! {
                _ = served.body("{ waiting { b: id } }", "", soon()) => panic!("it waits"),
                () = beside.until_blocked(2) => {}
            }
            beside.until_blocked(1).await;
            hand.run("SELECT pg_advisory_unlock(7)::text").await;
        };
        let (answer, ()) = tokio::join!(&mut neighbour, stopped);
        assert_eq!(answer, r#"{"data":{"waiting":[{"a":1}]}}"#);
    }
    beside.until_blocked(0).await;
}

#[tokio::test]
async fn a_deadline_ends_the_statement_too() {
    serve(database(WAITING)).await.ends_at_its_deadline("{ waiting { id } }").await;
}

#[tokio::test]
async fn a_long_list_is_sent_as_it_comes_and_waits_for_its_reader() {
    let served = serve(database(WAITING)).await;
    let mut beside = served.hand().await;
    let Body::Stream { head, mut rest } =
        served.body("{ line(order_by: {id: asc}) { id words } }", "", soon()).await
    else {
        panic!("30 MB are streamed")
    };
    // The reader stands still, so the server has to.
    let writing = "SELECT count(*)::text FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'ClientWrite'";
    beside.until(writing, "1").await;
    let mut all = head;
    let mut longest = all.len();
    while let Some(chunk) = rest.recv().await {
        let chunk = chunk.unwrap();
        longest = longest.max(chunk.len());
        all.extend(chunk);
    }
    let json: serde_json::Value = serde_json::from_slice(&all).unwrap();
    let lines = json["data"]["line"].as_array().unwrap();
    assert_eq!(lines.len(), 30000);
    assert!(
        lines
            .iter()
            .enumerate()
            .all(|(at, it)| it["id"] == at + 1 && it["words"].as_str().unwrap().len() == 1000)
    );
    assert!(longest < 1 << 20, "{longest}");
}

#[tokio::test]
async fn a_backend_that_dies_in_the_middle_cuts_the_answer_off() {
    let served = serve(database(WAITING)).await;
    let mut beside = served.hand().await;
    let Body::Stream { mut rest, .. } = served.body("{ line { id words } }", "", soon()).await else {
        panic!("30 MB are streamed")
    };
    let kill = "SELECT count(pg_terminate_backend(pid))::text FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'ClientWrite'";
    beside.until(kill, "1").await;
    let mut cut = false;
    while let Some(chunk) = rest.recv().await {
        cut = chunk.is_err();
        if cut {
            break;
        }
    }
    assert!(cut, "the end of the answer is no end");
    assert_eq!(served.ask("{ door { id } }").await, r#"{"data":{"door":[{"id":1}]}}"#);
}

#[tokio::test]
async fn a_reader_that_leaves_ends_the_stream_on_the_server() {
    let served = serve(database(WAITING)).await;
    let mut beside = served.hand().await;
    let body = served.body("{ line { id words } }", "", soon()).await;
    let running = "SELECT count(*)::text FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()";
    beside.until(running, "1").await;
    assert!(matches!(body, Body::Stream { .. }));
    drop(body);
    beside.until(running, "0").await;
}

#[tokio::test]
async fn columns_that_the_role_may_not_read_are_neither_served_nor_read() {
    for &flavour in FLAVOURS {
        let sql = "CREATE TABLE team (id int4 PRIMARY KEY, name text NOT NULL, budget int4);
            CREATE TABLE player (id int4 PRIMARY KEY, team_id int4 NOT NULL REFERENCES team, wage int4, goals int4);
            INSERT INTO team VALUES (1, 'a', 10), (2, 'b', 20);
            INSERT INTO player VALUES (1, 1, 5, 3), (2, 1, 6, 4), (3, 2, 7, 1);
            DO $$ BEGIN CREATE ROLE looker LOGIN PASSWORD 'x'; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
            GRANT SELECT (id, name) ON team TO looker; GRANT SELECT (id, team_id, goals) ON player TO looker;
            GRANT INSERT, UPDATE, DELETE ON player TO looker";
        let database = database(sql);
        let url = database.url();
        let host = url.split_once('@').unwrap().1;
        let looker = Settings::parse(&format!("postgres://looker:x@{host}"), |_| None).unwrap();
        let served = serve_with(database, &["public"], |it| {
            *it = looker;
            it.flavour = Some(flavour);
        })
        .await;
        for (query, expected) in [
            (
                "{ team(order_by: {id: asc}) { name players(order_by: {id: asc}, limit: 1) { goals } players_aggregate(limit: 1, order_by: {goals: desc}) { aggregate { count sum { goals } } } } }",
                r#"{"team":[{"name":"a","players":[{"goals":3}],"players_aggregate":{"aggregate":{"count":1,"sum":{"goals":4}}}},{"name":"b","players":[{"goals":1}],"players_aggregate":{"aggregate":{"count":1,"sum":{"goals":1}}}}]}"#,
            ),
            (
                "{ player_aggregate(distinct_on: [team_id], order_by: [{team_id: asc}, {goals: asc}], limit: 5) { aggregate { count max { goals } } } }",
                r#"{"player_aggregate":{"aggregate":{"count":2,"max":{"goals":3}}}}"#,
            ),
            (
                "mutation { update_player_by_pk(pk_columns: {id: 3}, _inc: {goals: 1}) { goals team { name } } }",
                r#"{"update_player_by_pk":{"goals":2,"team":{"name":"b"}}}"#,
            ),
        ] {
            assert_eq!(served.ask(query).await, format!(r#"{{"data":{expected}}}"#), "{flavour:?} {query}");
        }
        assert!(served.ask("{ player { wage } }").await.contains("Cannot query field"));
    }
}

#[tokio::test]
async fn a_condition_through_as_many_relationships_as_may_be_is_planned_before_its_time_is_over() {
    let served = serve(chinook()).await;
    let tracks = vec!["{Tracks: {TrackId: {_gt: 0}}}"; 100].join(" ");
    let query = format!(
        "{{ Album(where: {{_and: [{tracks}]}}, limit: 1, order_by: {{AlbumId: asc}}) {{ AlbumId }} }}"
    );
    assert_eq!(served.ask(&query).await, r#"{"data":{"Album":[{"AlbumId":1}]}}"#);
}

#[tokio::test]
async fn a_column_whose_type_is_changed_and_changed_back_is_read_again() {
    let sql = "CREATE TABLE thing (id int4 PRIMARY KEY, size int4 NOT NULL); INSERT INTO thing VALUES (1, 2)";
    let served = serve(database(sql)).await;
    let queries = [
        ("{ thing(limit: 1) { size } }", r#"{"thing":[{"size":2}]}"#),
        ("{ thing_by_pk(id: 1) { size } }", r#"{"thing_by_pk":{"size":2}}"#),
        ("{ thing { size } }", r#"{"thing":[{"size":2}]}"#),
        ("{ a: thing { size } b: thing { size } }", r#"{"a":[{"size":2}],"b":[{"size":2}]}"#),
        (
            "mutation { delete_thing(where: {id: {_lt: 0}}) { returning { size } } }",
            r#"{"delete_thing":{"returning":[]}}"#,
        ),
    ];
    let is_told = |it: &str| it.contains("SCHEMA_CHANGED");
    let before = "{ thing_by_pk(id: 1) { before: size } }";
    assert_eq!(served.ask(before).await, r#"{"data":{"thing_by_pk":{"before":2}}}"#);
    served.database.run("ALTER TABLE thing ALTER size TYPE text");
    for query in queries.iter().map(|it| it.0).chain([before]) {
        for _ in 0..3 {
            let answer = served.ask(query).await;
            assert!(is_told(&answer), "{query}: {answer}");
        }
    }
    served.database.run("ALTER TABLE thing ALTER size TYPE int4 USING size::int4");
    let deadline = soon();
    for (query, expected) in queries.into_iter().chain([(before, r#"{"thing_by_pk":{"before":2}}"#)]) {
        let expected = format!(r#"{{"data":{expected}}}"#);
        loop {
            let answer = served.ask(query).await;
            if answer == expected {
                break;
            }
            assert!(is_told(&answer), "{query}: {answer}");
            assert!(std::time::Instant::now() < deadline, "{query}: {answer}");
        }
    }
}

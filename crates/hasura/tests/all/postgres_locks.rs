//! A request that waits for a locked or slow table of a real PostgreSQL does not hold up requests for other tables.

use crate::hasura_kit::{Served, serve_with};
use crate::postgres_kit::database;
use futures_util::future::join_all;
use std::time::{Duration, Instant};
use weir_engine::engine::Body;
use weir_postgres::Settings;

/// A table to be locked, one beside it, and a view that is slow until `door` has a row.
const TABLES: &str = "
CREATE TABLE shut (id int4 PRIMARY KEY, n int4 NOT NULL DEFAULT 0);
CREATE TABLE part (id int4 PRIMARY KEY, shut_id int4 NOT NULL REFERENCES shut);
CREATE TABLE free (id int4 PRIMARY KEY, n int4 NOT NULL DEFAULT 0);
INSERT INTO shut SELECT i FROM generate_series(1, 100) AS i;
INSERT INTO part SELECT i, i FROM generate_series(1, 100) AS i;
INSERT INTO free SELECT i FROM generate_series(1, 100) AS i;
CREATE TABLE door (id int4 PRIMARY KEY);
CREATE FUNCTION pass() RETURNS int4 LANGUAGE plpgsql VOLATILE AS $$ BEGIN
    LOOP
        EXIT WHEN EXISTS (SELECT FROM door);
        PERFORM pg_sleep(0.005);
    END LOOP;
    RETURN 1;
END $$;
CREATE VIEW slow AS SELECT id, pass() AS passed FROM free;
";

async fn served(tune: impl FnOnce(&mut Settings)) -> Served {
    serve_with(database(TABLES), &["public"], |it| {
        it.limits.lanes = Some(1);
        // Connecting may take as long as the machine likes: who is kept waiting by the table waits until the deadline.
        it.limits.wait_max = Duration::from_secs(60);
        tune(it);
    })
    .await
}

/// Different reads of the locked table, with the answers that they have at last.
fn reads() -> Vec<(String, String)> {
    let read = |at: usize| match at % 4 {
        0 => (
            format!("{{ shut_by_pk(id: {at}) {{ a{at}: n }} }}"),
            match at {
                0 => r#"{"data":{"shut_by_pk":null}}"#.to_owned(),
                _ => format!(r#"{{"data":{{"shut_by_pk":{{"a{at}":0}}}}}}"#),
            },
        ),
        1 => (
            format!("{{ shut_aggregate {{ aggregate {{ a{at}: count }} }} }}"),
            format!(r#"{{"data":{{"shut_aggregate":{{"aggregate":{{"a{at}":100}}}}}}}}"#),
        ),
        2 => (
            format!("{{ shut(where: {{id: {{_lt: 2}}}}) {{ a{at}: n }} }}"),
            format!(r#"{{"data":{{"shut":[{{"a{at}":0}}]}}}}"#),
        ),
        _ => (
            format!("{{ part(where: {{id: {{_lt: 2}}}}) {{ a{at}: shut {{ id }} }} }}"),
            format!(r#"{{"data":{{"part":[{{"a{at}":{{"id":1}}}}]}}}}"#),
        ),
    };
    (0..60).map(read).collect()
}

/// Different mutations of the locked table, one row each.
fn mutations() -> Vec<String> {
    let mutation = |at: usize| match at % 3 {
        0 => format!("mutation {{ insert_shut_one(object: {{id: {}}}) {{ a{at}: id }} }}", 1000 + at),
        1 => format!(
            "mutation {{ insert_shut(objects: [{{id: {0}}}, {{id: {1}}}]) {{ a{at}: affected_rows }} }}",
            1000 + at,
            2000 + at
        ),
        _ => format!(
            "mutation {{ update_shut(where: {{id: {{_eq: {}}}}}, _inc: {{n: 1}}) {{ a{at}: affected_rows }} }}",
            at % 100 + 1
        ),
    };
    (0..60).map(mutation).collect()
}

/// All kinds of requests for the table beside it are answered.
async fn ask_beside(served: &Served) {
    for n in 1..=20 {
        let change = "mutation { update_free_by_pk(pk_columns: {id: 1}, _inc: {n: 1}) { n } }";
        assert_eq!(served.ask(change).await, format!(r#"{{"data":{{"update_free_by_pk":{{"n":{n}}}}}}}"#));
        let two = "mutation { a: update_free_by_pk(pk_columns: {id: 2}, _inc: {n: 1}) { n } b: delete_free(where: {id: {_lt: 0}}) { affected_rows } }";
        let expected = format!(r#"{{"data":{{"a":{{"n":{n}}},"b":{{"affected_rows":0}}}}}}"#);
        assert_eq!(served.ask(two).await, expected);
        let short = "{ free_by_pk(id: 3) { n } }";
        assert_eq!(served.ask(short).await, r#"{"data":{"free_by_pk":{"n":0}}}"#);
        let long = "{ free(where: {id: {_lt: 5, _gt: 3}}) { n } }";
        assert_eq!(served.ask(long).await, r#"{"data":{"free":[{"n":0}]}}"#);
    }
}

#[tokio::test]
async fn reads_of_a_locked_table_keep_nobody_waiting_who_asks_for_another() {
    let served = served(|_| {}).await;
    let mut hand = served.hand().await;
    hand.run("BEGIN").await;
    hand.run("LOCK TABLE shut IN ACCESS EXCLUSIVE MODE").await;
    let reads = reads();
    let others = async {
        ask_beside(&served).await;
        hand.run("COMMIT").await;
    };
    let asked = join_all(reads.iter().map(|it| served.ask(&it.0)));
    let (answers, ()) = tokio::join!(asked, others);
    let expected: Vec<&str> = reads.iter().map(|it| it.1.as_str()).collect();
    assert_eq!(answers, expected);
    assert_eq!(served.ask(&reads[0].0).await, reads[0].1);
}

async fn check_mutations(tune: impl FnOnce(&mut Settings)) {
    let served = served(tune).await;
    let mut hand = served.hand().await;
    hand.run("BEGIN").await;
    hand.run("LOCK TABLE shut IN ACCESS EXCLUSIVE MODE").await;
    let mutations = mutations();
    let others = async {
        ask_beside(&served).await;
        hand.run("COMMIT").await;
    };
    let asked = join_all(mutations.iter().map(|it| served.ask(it)));
    let (answers, ()) = tokio::join!(asked, others);
    let failed: Vec<_> = answers.iter().filter(|it| it.contains("errors")).collect();
    assert!(failed.is_empty(), "{failed:?}");
    // Each once: 20 rows, 20 pairs of rows, 20 changes.
    let counts = "SELECT count(*) FILTER (WHERE id >= 1000), sum(n) FROM shut";
    assert_eq!(served.database.run(counts), "60|20\n");
}

#[tokio::test]
async fn mutations_of_a_locked_table_keep_nobody_waiting_who_changes_another() {
    check_mutations(|_| {}).await;
}

#[tokio::test]
async fn mutations_that_share_commits_go_on_beside_a_locked_table() {
    check_mutations(|it| it.batch_mutations = true).await;
}

/// Different short reads of the slow view.
fn slow_reads() -> Vec<String> {
    (0..30).map(|at| format!("{{ slow(limit: 1, order_by: {{id: asc}}) {{ a{at}: id passed }} }}")).collect()
}

#[tokio::test]
async fn reads_of_a_slow_table_keep_nobody_waiting_who_asks_for_another() {
    let served = served(|_| {}).await;
    let reads = slow_reads();
    let others = async {
        ask_beside(&served).await;
        served.database.run("INSERT INTO door VALUES (1)");
    };
    let (answers, ()) = tokio::join!(join_all(reads.iter().map(|it| served.ask(it))), others);
    let expected: Vec<String> =
        (0..30).map(|at| format!(r#"{{"data":{{"slow":[{{"a{at}":1,"passed":1}}]}}}}"#)).collect();
    assert_eq!(answers, expected);
}

#[tokio::test]
async fn who_waits_behind_reads_that_became_slow_is_told_within_the_pools_limit() {
    let served = served(|it| it.limits.wait_max = Duration::from_millis(400)).await;
    let reads = slow_reads();
    served.database.run("INSERT INTO door VALUES (1)");
    for read in &reads {
        assert!(served.ask(read).await.contains(r#""passed":1"#));
    }
    served.database.run("DELETE FROM door");
    let others = async {
        for _ in 0..20 {
            let answer = served.ask("{ free_by_pk(id: 3) { n } }").await;
            let is_answered = answer == r#"{"data":{"free_by_pk":{"n":0}}}"#;
            assert!(is_answered || answer.contains("POOL_TIMEOUT"), "{answer}");
        }
        served.database.run("INSERT INTO door VALUES (1)");
    };
    let (answers, ()) = tokio::join!(join_all(reads.iter().map(|it| served.ask(it))), others);
    let is_told = |it: &&String| it.contains(r#""passed":1"#) || it.contains("POOL_TIMEOUT");
    assert_eq!(answers.iter().filter(is_told).count(), reads.len(), "{answers:?}");
}

/// The answers to requests whose statements wait for a table beyond `statement_s`.
async fn check_bounded(tune: impl FnOnce(&mut Settings)) {
    let served = served(|it| {
        it.limits.statement_timeout = Duration::from_millis(300);
        tune(it);
    })
    .await;
    let mut hand = served.hand().await;
    hand.run("BEGIN").await;
    hand.run("LOCK TABLE shut IN ACCESS EXCLUSIVE MODE").await;
    // The request itself may take for as long as the test.
    let later = Instant::now() + Duration::from_secs(3600);
    for (query, field) in [
        ("{ shut_by_pk(id: 1) { n } }", r#"{"shut_by_pk":null}"#),
        ("{ shut_aggregate { aggregate { count } } }", "null"),
        ("{ shut { n } }", "null"),
        ("{ part(order_by: {id: asc}) { id shut { n } } }", "null"),
        ("{ shut { id } free { id part: n } free_aggregate { aggregate { count } } }", "null"),
        ("mutation { insert_shut_one(object: {id: 1000}) { id } }", r#"{"insert_shut_one":null}"#),
        (
            "mutation { insert_shut(objects: [{id: 1000}, {id: 1001}]) { affected_rows } }",
            r#"{"insert_shut":null}"#,
        ),
        (
            "mutation { update_free(where: {}, _inc: {n: 1}) { affected_rows } delete_shut(where: {}) { affected_rows } }",
            r#"{"update_free":null,"delete_shut":null}"#,
        ),
    ] {
        let Body::Whole(answer) = served.body(query, "", later).await else {
            panic!("{query}: nothing came")
        };
        let answer = String::from_utf8(answer).unwrap();
        let code = r#""code":"SOURCE_TIMEOUT""#;
        assert!(
            answer.contains(code) && answer.contains("The source did not answer in time."),
            "{query}: {answer}"
        );
        assert!(answer.contains(&format!(r#""data":{field}"#)), "{query}: {answer}");
    }
    hand.run("COMMIT").await;
    let counts = "SELECT count(*), sum(shut.n), sum(free.n) FROM shut JOIN free USING (id)";
    assert_eq!(served.database.run(counts), "100|0|0\n");
    assert_eq!(served.ask("{ shut_by_pk(id: 1) { n } }").await, r#"{"data":{"shut_by_pk":{"n":0}}}"#);
}

#[tokio::test]
async fn a_statement_works_no_longer_than_a_statement_may_whatever_asks_it() {
    check_bounded(|_| {}).await;
}

#[tokio::test]
async fn so_does_one_that_shares_commits_or_waits_for_a_lock_from_the_beginning() {
    check_bounded(|it| {
        it.batch_mutations = true;
        it.limits.session_lock_timeout = Duration::ZERO;
    })
    .await;
}

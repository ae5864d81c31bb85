//! Lists with something below them leave a real PostgreSQL in parts: of one state, in bounded memory, only as long as somebody reads.

use crate::hasura_kit::{Served, serve_with};
use crate::postgres_kit::database;
use crate::postgres_kit::hand::soon;
use std::time::Duration;
use weir_engine::engine::Body;
use weir_engine::source::Protocol;
use weir_relational::dialect::flavour::Flavour;

/// 30 MB in 30,000 lines, ten for each team.
const TEAMS: &str = "
CREATE TABLE team (id int4 PRIMARY KEY, name text NOT NULL);
CREATE TABLE line (id int4 PRIMARY KEY, team_id int4 NOT NULL REFERENCES team, words text NOT NULL);
CREATE INDEX ON line (team_id);
INSERT INTO team SELECT i, 'team ' || i FROM generate_series(1, 3000) AS i;
INSERT INTO line SELECT i, 1 + i % 3000, repeat(chr(97 + i % 26), 1000) FROM generate_series(1, 30000) AS i;
";
const NESTED: &str = "{ team(order_by: {id: asc}) { id lines(order_by: {id: asc}) { id words } } }";
/// Statements of other sessions in progress.
const BUSY: &str = "SELECT count(*)::text FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND state <> 'idle' AND pid <> pg_backend_pid()";

/// The teams, on one session, with answers of statements that may have a fifteenth of the whole.
async fn teams() -> Served {
    serve_with(database(TEAMS), &["public"], |it| {
        it.limits.sessions_max = 1;
        it.limits.wait_max = Duration::from_secs(60);
        it.limits.answer_bytes_max = 2 << 20;
    })
    .await
}

#[tokio::test]
async fn a_nested_list_is_sent_as_it_comes_waits_for_its_reader_and_shows_one_state() {
    let served = teams().await;
    let mut beside = served.hand().await;
    let Body::Stream { head, mut rest } = served.body(NESTED, "", soon()).await else {
        panic!("30 MB are streamed")
    };
    beside.run("DELETE FROM line").await;
    beside.run("UPDATE team SET id = -id").await;
    // The reader stands still, so the server waits in its transaction.
    beside.until(BUSY, "1").await;
    let mut all = head;
    let mut longest = 0;
    while let Some(chunk) = rest.recv().await {
        let chunk = chunk.unwrap();
        longest = longest.max(chunk.len());
        all.extend(chunk);
    }
    let json: serde_json::Value = serde_json::from_slice(&all).unwrap();
    let teams = json["data"]["team"].as_array().unwrap();
    assert_eq!(teams.len(), 3000);
    for (at, team) in (1_u64..).zip(teams) {
        assert_eq!(team["id"], at);
        let lines = team["lines"].as_array().unwrap();
        let ids: Vec<u64> = lines.iter().map(|it| it["id"].as_u64().unwrap()).collect();
        let first = if at == 1 { 3000 } else { at - 1 };
        assert_eq!(ids, (0..10).map(|it| first + it * 3000).collect::<Vec<_>>());
        assert!(lines.iter().all(|it| it["words"].as_str().unwrap().len() == 1000));
    }
    assert!(longest < 2 << 20, "{longest}");
    beside.until(BUSY, "0").await;
    assert_eq!(
        served.ask("{ team(where: {id: {_gt: 0}}) { lines { id } } }").await,
        r#"{"data":{"team":[]}}"#
    );
}

#[tokio::test]
async fn a_reader_that_leaves_gives_the_session_back() {
    let served = teams().await;
    let mut beside = served.hand().await;
    for _ in 0..3 {
        // On the only session there is.
        let body = served.body(NESTED, "", soon()).await;
        assert!(matches!(body, Body::Stream { .. }));
        drop(body);
    }
    beside.until(BUSY, "0").await;
    // The server is at rest before the pool has heard of it.
    let deadline = soon();
    while served.source.counts().sessions_idle != 1 {
        assert!(std::time::Instant::now() < deadline, "the session is not given back");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_backend_that_dies_before_the_end_cuts_the_answer_off() {
    let served = teams().await;
    let mut beside = served.hand().await;
    let Body::Stream { mut rest, .. } = served.body(NESTED, "", soon()).await else {
        panic!("30 MB are streamed")
    };
    let kill = BUSY.replace("count(*)", "count(pg_terminate_backend(pid))");
    beside.until(&kill, "1").await;
    let mut cut = false;
    while let Some(chunk) = rest.recv().await {
        cut = chunk.is_err();
        if cut {
            break;
        }
    }
    assert!(cut, "the end of the answer is no end");
}

#[tokio::test]
async fn a_deadline_ends_what_the_first_part_waits_for() {
    let sql = "CREATE FUNCTION slow(int4) RETURNS int4 LANGUAGE plpgsql VOLATILE AS $$ BEGIN
                   PERFORM pg_advisory_xact_lock_shared(7); RETURN $1;
               END $$;
               CREATE TABLE part (id int4 PRIMARY KEY, team_id int4 NOT NULL REFERENCES team);
               INSERT INTO part VALUES (1, 1);
               CREATE VIEW slow_part AS SELECT slow(id) AS id FROM part;";
    let served = serve_with(database(&format!("{TEAMS}{sql}")), &["public"], |_| {}).await;
    let query = "{ team { id lines(where: {id: {_lt: 0}}) { id } } slow_part { id } }";
    served.ends_at_its_deadline(query).await;
}

#[tokio::test]
async fn answers_in_parts_are_those_of_one_statement() {
    let database = database(TEAMS);
    let query = "{
        several: team(order_by: {id: asc}, where: {id: {_lte: 300}}) {
            id name lines(order_by: {id: desc}, limit: 2) { id team { name } } lines_aggregate { aggregate { count max { id } } }
        }
        just_two_parts: team(order_by: {id: desc}, where: {id: {_lte: 64}}) { lines_aggregate { aggregate { sum { id } } } }
        just_one_part: team(order_by: {id: desc}, where: {id: {_lte: 32}}) { lines(where: {id: {_lt: 3000}}) { id } }
        name: __typename
        again: __typename
        flat: team(where: {id: {_gt: 2900}}, order_by: {id: asc}) { id }
        none: team(where: {id: {_lt: 0}}) { id lines { id } }
        deep: line(where: {id: {_lt: 50}}, order_by: {id: asc}) { id team { lines(where: {id: {_lt: 40}}, order_by: {id: asc}) { id } } }
        count: team_aggregate { aggregate { count } }
        one: team_by_pk(id: 5) { name lines(order_by: {id: asc}) { id } }
        within: team_aggregate(where: {id: {_lt: 4}}) { nodes { id } }
        few: team(limit: 3, order_by: {id: asc}) { lines(order_by: {id: asc}, limit: 1) { id } }
    }";
    let mut answers = Vec::new();
    // The second has no portals.
    for flavour in [Flavour::Postgres, Flavour::Cockroach] {
        let served = serve_with(database.copy(), &["public"], |it| it.flavour = Some(flavour)).await;
        answers.push(served.ask(query).await);
    }
    assert!(answers[0].contains(r#""one":{"name":"team 5","lines":[{"id":4},"#), "{}", answers[0]);
    assert!(
        answers[0].contains(r#""within":[{"id":1}"#) || answers[0].contains(r#""within":{"nodes":[{"id":1}"#)
    );
    assert_eq!(answers[0], answers[1]);
}

#[tokio::test]
async fn an_empty_list_after_what_is_long_is_a_list() {
    let served = teams().await;
    let query = "{ long: line_aggregate(where: {id: {_lte: 500}}) { nodes { words } } none: team(where: {id: {_lt: 0}}) { id } }";
    let answer = served.ask(query).await;
    assert!(
        answer.len() > 500_000 && answer.ends_with(r#"]},"none":[]}}"#),
        "{}",
        &answer[answer.len() - 100..]
    );
}

#[tokio::test]
async fn a_list_under_two_names_is_written_twice() {
    let served = teams().await;
    let list =
        "team(where: {id: {_lte: 2}}, order_by: {id: asc}) { id lines_aggregate { aggregate { count } } }";
    let query = format!(
        "{{ one: {list} kind: __typename other: {list} again: __typename flat: team(where: {{id: {{_eq: 3}}}}) {{ id }} last: team(where: {{id: {{_eq: 3}}}}) {{ id }} }}"
    );
    let rows = r#"[{"id":1,"lines_aggregate":{"aggregate":{"count":10}}},{"id":2,"lines_aggregate":{"aggregate":{"count":10}}}]"#;
    let expected = format!(
        r#"{{"data":{{"one":{rows},"kind":"query_root","other":{rows},"again":"query_root","flat":[{{"id":3}}],"last":[{{"id":3}}]}}}}"#
    );
    assert_eq!(served.ask(&query).await, expected);
    assert_eq!(served.ask_in(Protocol::Hasura, &query, "").await, expected);
}

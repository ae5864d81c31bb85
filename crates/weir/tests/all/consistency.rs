//! Freshness of answers: replicas, positions of the log, and cached answers.

use crate::cluster_kit::Cluster;
use crate::sockets::{ACK, INIT, NEW, begin, hear, say, socket};
use crate::support::{Answer, Folder, Weir, body, until};

const TABLES: &str = "
CREATE TABLE item (id int PRIMARY KEY, n int NOT NULL);
INSERT INTO item VALUES (1, 0);
CREATE VIEW answering AS SELECT pg_is_in_recovery() AS is_replica";

/// A primary and a replica that stands still, behind a Weir with these keys of the source.
fn behind(keys: &str) -> (Cluster, Cluster, Weir) {
    let mut cluster = Cluster::new();
    cluster.start();
    cluster.sql(TABLES);
    let replica = cluster.replica();
    let place = format!("postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable", cluster.port);
    let source = format!(
        "{{name: main, url: '{place}', postgres: {{replicas: ['127.0.0.1:{}'], {keys}}}}}",
        replica.port
    );
    let folder = Folder::new();
    let file = folder.write("weir.yaml", &format!("listen: 127.0.0.1:0\nsources: [{source}]\n"));
    let weir = Weir::by_file(&file, folder);
    (cluster, replica, weir)
}

fn ask(weir: &Weir, headers: &[(&str, &str)], query: &str) -> Answer {
    let answer = weir.post("/graphql", headers, body(query).as_bytes());
    assert_eq!(answer.status, 200, "{answer:?}");
    answer
}

/// The server that answers a request with these headers.
fn is_replica(weir: &Weir, headers: &[(&str, &str)]) -> bool {
    ask(weir, headers, "{ answering(limit: 1) { is_replica } }").text().contains("true")
}

/// Adds 1 and gives the new value and the position.
fn add(weir: &Weir, headers: &[(&str, &str)]) -> (i64, String) {
    let add = "mutation { update_item_by_pk(pk_columns: {id: 1}, _inc: {n: 1}) { n } }";
    let answer = ask(weir, headers, add);
    let position = answer.header("x-weir-position").expect("replicas are named").to_owned();
    (answer.json()["data"]["update_item_by_pk"]["n"].as_i64().expect("it is a number"), position)
}

const SHORT: &str = "{ item(limit: 1) { n } }";
const LONG: &str = "{ item { n } }";
const KEPT: &str = "query @cached(ttl: 60) { item(limit: 1) { n } }";

#[track_caller]
fn check(weir: &Weir, headers: &[(&str, &str)], query: &str, expected: i64) {
    let answer = ask(weir, headers, query);
    assert_eq!(answer.json()["data"]["item"][0]["n"], expected, "{headers:?} {query}");
}

#[test]
fn a_client_that_sends_its_position_back_reads_its_own_writes() {
    let (cluster, replica, weir) = behind("replica_lag_ms_max: 600000");
    until("the replica answers", || is_replica(&weir, &[]));
    replica.sql("SELECT pg_wal_replay_pause()");
    let (n, position) = add(&weir, &[]);
    let strong = ("x-weir-consistency", "strong");
    for query in [SHORT, LONG] {
        check(&weir, &[], query, 0);
        check(&weir, &[("x-weir-position", &position)], query, n);
        check(&weir, &[strong], query, n);
        // Mutations read the present, whatever they are asked for.
        check(&weir, &[("x-weir-consistency", "eventual")], query, 0);
    }
    let (two, later) = add(&weir, &[("x-weir-position", &format!("other=0/7,{position}"))]);
    assert_eq!(two, 2);
    assert!(later.starts_with("other=0/7,main=") && later != position, "{later}");
    // A failed mutation moves no position; an unknown position means the primary.
    let failed = ask(&weir, &[], "mutation { insert_item_one(object: {id: 1, n: 1}) { n } }");
    assert_eq!((failed.code().as_str(), failed.header("x-weir-position")), ("UNIQUE_VIOLATION", None));
    assert!(!is_replica(&weir, &[("x-weir-position", "main=*")]));
    assert!(is_replica(&weir, &[("x-weir-position", "other=FFFFFFFF/FFFFFFFF")]));
    assert!(is_replica(&weir, &[("x-weir-position", "main=0/1")]));
    // A list of requests: the later ones see what the earlier ones did.
    let list = format!(
        "[{},{}]",
        body("mutation { update_item(where: {}, _inc: {n: 1}) { affected_rows } }"),
        body(SHORT)
    );
    let listed = weir.post("/v1/graphql", &[], list.as_bytes());
    assert!(listed.text().ends_with(r#"{"data":{"item":[{"n":3}]}}]"#), "{}", listed.text());
    replica.sql("SELECT pg_wal_replay_resume()");
    until("the replica has it", || is_replica(&weir, &[("x-weir-position", &later)]));
    check(&weir, &[("x-weir-position", &later)], SHORT, 3);
    assert_eq!(cluster.sql("SELECT n FROM item"), "3");
}

#[test]
fn operations_of_a_socket_see_what_the_earlier_ones_did() {
    let (_cluster, replica, weir) = behind("replica_lag_ms_max: 600000");
    until("the replica answers", || is_replica(&weir, &[]));
    replica.sql("SELECT pg_wal_replay_pause()");
    let mut socket = socket(&weir, "/graphql", NEW);
    say(&mut socket, INIT);
    assert_eq!(hear(&mut socket), ACK);
    let mut ask = |query: &str| {
        say(&mut socket, &begin(NEW, "1", &body(query)));
        let answer = hear(&mut socket);
        let end = hear(&mut socket);
        assert!(end.contains("complete"), "{end}");
        answer
    };
    assert!(ask(SHORT).contains(r#""n":0"#));
    assert!(ask("mutation { update_item(where: {}, _inc: {n: 1}) { affected_rows } }").contains("1"));
    assert!(ask(SHORT).contains(r#""n":1"#));
    check(&weir, &[], SHORT, 0);
    replica.sql("SELECT pg_wal_replay_resume()");
}

#[test]
fn answers_that_are_kept_are_read_from_the_primary() {
    let (cluster, replica, weir) = behind("replica_lag_ms_max: 600000");
    until("the replica answers", || is_replica(&weir, &[]));
    check(&weir, &[], KEPT, 0);
    replica.sql("SELECT pg_wal_replay_pause()");
    let (n, position) = add(&weir, &[]);
    // Those who allow older rows leave none behind for others.
    check(&weir, &[("x-weir-consistency", "eventual")], KEPT, 0);
    check(&weir, &[], KEPT, n);
    check(&weir, &[("x-weir-consistency", "eventual")], KEPT, n);
    cluster.sql("UPDATE item SET n = 10");
    check(&weir, &[], KEPT, n);
    check(&weir, &[("x-weir-position", &position)], KEPT, 10);
    check(&weir, &[], KEPT, 10);
    cluster.sql("UPDATE item SET n = 20");
    check(&weir, &[("x-weir-consistency", "strong")], KEPT, 20);
    check(&weir, &[], KEPT, 20);
    replica.sql("SELECT pg_wal_replay_resume()");
}

#[test]
fn older_rows_are_for_those_who_allow_them() {
    let (_cluster, replica, weir) = behind("replica_lag_ms_max: 300, stale_reads_ms_max: 600000");
    let eventual = [("x-weir-consistency", "eventual")];
    until("the replica answers", || is_replica(&weir, &eventual));
    replica.sql("SELECT pg_wal_replay_pause()");
    add(&weir, &[]);
    until("the replica is too old for most", || !is_replica(&weir, &[]));
    assert!(is_replica(&weir, &eventual));
    check(&weir, &eventual, SHORT, 0);
    check(&weir, &[], SHORT, 1);
    replica.sql("SELECT pg_wal_replay_resume()");
}

#[test]
fn what_is_no_consistency_is_refused() {
    let weir = Weir::pets(&[]);
    for (name, value) in [("x-weir-consistency", "Strong"), ("x-weir-position", "here")] {
        for path in ["/graphql", "/v1/graphql"] {
            let answer = weir.post(path, &[(name, value)], body("{ pet { id } }").as_bytes());
            assert_eq!((answer.status, answer.code().as_str()), (400, "BAD_REQUEST"), "{answer:?}");
            assert!(answer.text().contains(name), "{answer:?}");
        }
    }
    let sent = [("x-weir-consistency", "strong"), ("x-weir-position", "main=0/1")];
    let answer = ask(&weir, &sent, "mutation { delete_pet_by_pk(id: 1) { id } }");
    assert_eq!(answer.header("x-weir-position"), None, "nothing but the primary is read");
}

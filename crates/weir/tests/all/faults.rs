//! Guarantees when a PostgreSQL dies and comes back, hangs, falls silent, has no connection left, or fails over to its
//! replica.

use crate::cluster_kit::Cluster;
use crate::support::{Answer, Folder, Weir, body, message, until};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A table, one whose rows take as many seconds to insert as they say, a view whose row never comes, and one that tells who
/// answers.
const TABLES: &str = "
CREATE TABLE pet (id int PRIMARY KEY, name text);
INSERT INTO pet VALUES (1, 'Ada');
CREATE FUNCTION delay() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(NEW.seconds); RETURN NEW; END $$;
CREATE TABLE slow (id int PRIMARY KEY, seconds float8 NOT NULL);
CREATE TRIGGER delay BEFORE INSERT ON slow FOR EACH ROW EXECUTE FUNCTION delay();
CREATE FUNCTION wait() RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(600); RETURN 1; END $$;
CREATE VIEW waiting AS SELECT wait() AS id;
CREATE VIEW answering AS SELECT pg_is_in_recovery() AS is_replica;
GRANT ALL ON ALL TABLES IN SCHEMA public TO bare;
";

const PET: &str = "{ pet_by_pk(id: 1) { name } }";
const ADA: &str = r#"{"data":{"pet_by_pk":{"name":"Ada"}}}"#;
const SLEEPERS: &str = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";

fn cluster() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.start();
    cluster.sql(TABLES);
    cluster
}

/// Serves the database `place`, with keys of the source's block and limits.
fn serving(place: &str, keys: &str, limits: &str) -> Weir {
    let folder = Folder::new();
    let source = format!("{{name: main, url: 'postgres://{place}', postgres: {{{keys}}}}}");
    let yaml = format!("listen: 127.0.0.1:0\nsources: [{source}]\nlimits: {{{limits}}}\n");
    let file = folder.write("weir.yaml", &yaml);
    Weir::by_file(&file, folder)
}

fn place(port: u16) -> String {
    format!("postgres@127.0.0.1:{port}/postgres?sslmode=disable")
}

/// Inserts a row that takes `seconds`.
fn insert(id: u32, seconds: f64) -> String {
    format!("mutation {{ insert_slow_one(object: {{id: {id}, seconds: {seconds}}}) {{ id }} }}")
}

/// The answer to that.
fn insert_answer(id: u32) -> String {
    format!(r#"{{"data":{{"insert_slow_one":{{"id":{id}}}}}}}"#)
}

fn check(answer: &Answer, part: &str) {
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.text().contains(part), "{part} is not in {}", answer.text());
}

/// A refusal for want of connections tells when to come again.
fn check_exhausted(answer: &Answer) {
    check(answer, r#""code":"POOL_TIMEOUT""#);
    assert_eq!(answer.header("retry-after"), Some("1"));
}

#[test]
fn a_server_that_dies_fails_what_it_was_asked_and_is_found_again() {
    let mut cluster = cluster();
    let weir = serving(&place(cluster.port), "", "");
    check(&weir.query(PET), ADA);
    std::thread::scope(|scope| {
        let read = scope.spawn(|| weir.query("{ waiting { id } }"));
        let write = scope.spawn(|| weir.query(&insert(1, 600.0)));
        until("both run", || cluster.sql(SLEEPERS) == "2");
        cluster.signal("-QUIT");
        check(&read.join().expect("it answers"), r#""code":"SOURCE_UNAVAILABLE""#);
        // The commit of a mutation that is new to its connection was not sent yet.
        check(&write.join().expect("it answers"), r#""code":"SOURCE_UNAVAILABLE""#);
    });
    cluster.stop();
    check(&weir.query(PET), r#""code":"SOURCE_UNAVAILABLE""#);
    assert_eq!(weir.get("/readyz", &[]).status, 503);
    cluster.start();
    until("it is found again", || weir.query(PET).text() == ADA);
    check(&weir.query("{ slow { id } }"), r#"{"data":{"slow":[]}}"#);
    let connections = cluster.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'weir'");
    assert!(connections.parse::<usize>().is_ok_and(|it| it < 10), "a storm of {connections} connections");
}

#[test]
fn a_server_that_hangs_holds_nobody_and_is_asked_again_when_it_goes_on() {
    let cluster = cluster();
    let keys = "wait_ms_max: 200, statement_timeout_s: 1";
    let weir = serving(&place(cluster.port), keys, "request_s: 1");
    check(&weir.query(PET), ADA);
    let frozen = cluster.freeze();
    std::thread::scope(|scope| {
        let asked: Vec<_> = (0..8).map(|_| scope.spawn(|| weir.query(PET))).collect();
        for answer in asked {
            check(&answer.join().expect("it answers"), r#""data":{"pet_by_pk":null}"#);
        }
    });
    until("it is not ready", || weir.get("/readyz", &[]).status == 503);
    assert_eq!(weir.get("/livez", &[]).status, 200);
    drop(frozen);
    until("it goes on", || weir.query(PET).text() == ADA);
    until("it is ready", || weir.get("/readyz", &[]).status == 200);
}

/// A way to a server that loses all that connections send from some word on, or all that is sent on those that are there.
struct Way {
    port: u16,
    /// Connections of earlier ages are silent.
    age: Arc<AtomicU32>,
}

impl Way {
    fn to(server: u16, word: &'static [u8]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let age = Arc::new(AtomicU32::new(0));
        let ages = Arc::clone(&age);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                let born = ages.load(Ordering::Relaxed);
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let mut from = from.try_clone().expect("a clone");
                    let mut to = to.try_clone().expect("a clone");
                    let ages = Arc::clone(&ages);
                    std::thread::spawn(move || {
                        let mut bytes = [0; 65536];
                        while let Ok(count @ 1..) = from.read(&mut bytes) {
                            let sent = &bytes[..count];
                            if !word.is_empty() && sent.windows(word.len()).any(|it| it == word) {
                                ages.fetch_add(1, Ordering::Relaxed);
                            }
                            if ages.load(Ordering::Relaxed) == born && to.write_all(sent).is_err() {
                                return;
                            }
                        }
                    });
                }
            }
        });
        Self { port, age }
    }

    /// Existing connections are lost.
    fn fall_silent(&self) {
        self.age.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_network_that_falls_silent_costs_the_connections_that_were_there() {
    let cluster = cluster();
    let way = Way::to(cluster.port, b"");
    let weir = serving(&place(way.port), "statement_timeout_s: 1, lanes: 1", "");
    check(&weir.query(PET), ADA);
    way.fall_silent();
    check(&weir.query(PET), r#""code":"SOURCE_UNAVAILABLE""#);
    check(&weir.query(PET), ADA);
}

#[test]
fn a_mutation_that_is_lost_on_the_way_leaves_a_doubt() {
    let cluster = cluster();
    let way = Way::to(cluster.port, b"lost on the way");
    // One session, so that the statements are known to the one that is lost.
    let weir = serving(&place(way.port), "sessions_max: 1", "request_s: 1");
    // One document with variables: its statements are known to a connection that ran them.
    let pets = |[a, b]: [u32; 2], name: &str| {
        let query = "mutation ($a: Int!, $b: Int!, $n: String!) { a: insert_pet_one(object: {id: $a, name: $n}) { id } \
                     b: insert_pet_one(object: {id: $b, name: $n}) { id } }";
        let request = serde_json::json!({"query": query, "variables": {"a": a, "b": b, "n": name}});
        weir.post("/graphql", &[], request.to_string().as_bytes())
    };
    // The commit of such a mutation goes with it, so nobody knows whether it was taken.
    for ids in [[2, 3], [4, 5]] {
        check(&pets(ids, "taken"), r#"{"data":{"#);
    }
    check(&pets([6, 7], "lost on the way"), r#""code":"WRITE_UNCONFIRMED""#);
    assert_eq!(cluster.sql("SELECT count(*) FROM pet"), "5");
    check(&weir.query(PET), ADA);
}

#[test]
fn a_mutation_at_its_deadline_is_stopped_and_known_not_to_have_happened() {
    let cluster = cluster();
    let weir = serving(&place(cluster.port), "", "request_s: 1");
    check(&weir.query(&insert(1, 600.0)), r#""code":"SOURCE_TIMEOUT""#);
    assert_eq!(cluster.sql(SLEEPERS), "0");
    assert_eq!(cluster.sql("SELECT count(*) FROM slow"), "0");
}

#[test]
fn a_server_without_connections_left_is_told_apart_from_one_that_is_gone() {
    let cluster = cluster();
    cluster.sql("ALTER USER bare CONNECTION LIMIT 1");
    let place = place(cluster.port).replacen("postgres", "bare", 1);
    let weir = serving(&place, "lanes: 1", "");
    until("the catalog's connection has ended", || weir.query(PET).text() == ADA);
    // The lane gives its place to the mutation, and takes it back.
    check(&weir.query(&insert(1, 0.0)), &insert_answer(1));
    check(&weir.query(PET), ADA);
    cluster.sql("ALTER USER bare CONNECTION LIMIT 0");
    cluster.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'bare'");
    let open = || cluster.sql("SELECT count(*) FROM pg_stat_activity WHERE usename = 'bare'");
    until("none is connected", || open() == "0");
    check_exhausted(&weir.query(&insert(2, 0.0)));
    cluster.sql("ALTER USER bare CONNECTION LIMIT -1");
    check(&weir.query(&insert(2, 0.0)), &insert_answer(2));
}

#[test]
fn who_waits_too_long_for_a_connection_is_told_when_to_come_again() {
    let cluster = cluster();
    let weir = serving(&place(cluster.port), "sessions_max: 1, wait_ms_max: 500", "");
    let timeouts = || {
        let metrics = weir.get("/metrics", &[]);
        let line = metrics.text().lines().find_map(|it| it.strip_prefix("weir_pool_timeouts_total "));
        line.and_then(|it| it.parse::<u64>().ok()).expect("it is counted")
    };
    // Connecting is waited for as well, and may take long: both connections are there before any of this matters.
    until("reads are connected", || weir.query(PET).text() == ADA);
    until("writes are connected", || weir.query(&insert(7, 0.0)).text() == insert_answer(7));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| weir.query(&insert(1, 600.0)));
        until("the first runs", || cluster.sql(SLEEPERS) == "1");
        let before = timeouts();
        check_exhausted(&weir.query(&insert(2, 0.0)));
        assert_eq!(timeouts(), before + 1);
        check(&weir.query(PET), ADA);
        cluster.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
        check(&first.join().expect("it answers"), r#""code":"SOURCE_UNAVAILABLE""#);
    });
    until("there is room again", || weir.query(&insert(2, 0.0)).text() == insert_answer(2));
}

#[test]
fn a_slow_read_holds_up_nobody_and_ends_with_its_client() {
    let cluster = cluster();
    let weir = serving(&place(cluster.port), "lanes: 1", "");
    for slow in ["{ waiting(limit: 1) { id } }", "{ waiting { id } }"] {
        let mut client = weir.connect();
        let headers = [("content-type", "application/json")];
        let request = message("POST", "/graphql", &headers, Some(body(slow).as_bytes()));
        client.write_all(&request).expect("it is sent");
        until("it runs", || cluster.sql(SLEEPERS) == "1");
        for _ in 0..20 {
            check(&weir.query(PET), ADA);
        }
        assert_eq!(cluster.sql(SLEEPERS), "1", "{slow} runs still");
        drop(client);
        until("it is stopped", || cluster.sql(SLEEPERS) == "0");
    }
}

const WHO: [&str; 2] = ["{ answering(limit: 1) { is_replica } }", "{ answering { is_replica } }"];

/// Asks, short and long, until the answers come from a replica, or not.
fn await_answers(weir: &Weir, is_replica: bool) {
    let expected = format!(r#"{{"data":{{"answering":[{{"is_replica":{is_replica}}}]}}}}"#);
    for query in WHO {
        until("the right one answers", || {
            let answer = weir.query(query);
            check(&answer, r#"{"data""#);
            answer.text() == expected
        });
    }
}

#[test]
fn queries_go_to_a_replica_that_follows_and_mutations_to_the_primary() {
    let cluster = cluster();
    let mut replica = cluster.replica();
    let keys = format!("replicas: ['127.0.0.1:{}'], replica_lag_ms_max: 500", replica.port);
    let weir = serving(&place(cluster.port), &keys, "");
    await_answers(&weir, true);
    check(&weir.query(&insert(1, 0.0)), &insert_answer(1));
    replica.sql("SELECT pg_wal_replay_pause()");
    check(&weir.query(&insert(2, 0.0)), &insert_answer(2));
    await_answers(&weir, false);
    check(&weir.query("{ slow { id } }"), r#"{"data":{"slow":[{"id":1},{"id":2}]}}"#);
    replica.sql("SELECT pg_wal_replay_resume()");
    await_answers(&weir, true);
    replica.signal("-QUIT");
    for _ in 0..20 {
        check(&weir.query(PET), ADA);
    }
    await_answers(&weir, false);
    replica.stop();
}

#[test]
fn a_replica_that_is_promoted_takes_over() {
    let mut cluster = cluster();
    let replica = cluster.replica();
    let ports = format!("postgres@127.0.0.1:{},127.0.0.1:{}", cluster.port, replica.port);
    let weir = serving(&format!("{ports}/postgres?target_session_attrs=read-write&sslmode=disable"), "", "");
    check(&weir.query(&insert(1, 0.0)), &insert_answer(1));
    until("the replica has it", || replica.sql("SELECT count(*) FROM slow") == "1");
    cluster.signal("-QUIT");
    cluster.stop();
    check(&weir.query(PET), r#""code":"SOURCE_UNAVAILABLE""#);
    replica.sql("SELECT pg_promote()");
    until("it is found", || weir.query(PET).text() == ADA);
    check(&weir.query(&insert(2, 0.0)), &insert_answer(2));
    assert_eq!(replica.sql("SELECT count(*) FROM slow"), "2");
}

//! Servers in front of a PostgreSQL that loses connections or changes its tables while they are asked.

use crate::postgres_kit::{Database, database};
use crate::support::{Answer, Folder, Weir, body, message};
use std::io::{BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Nothing that is waited for takes so long.
const PATIENCE: Duration = Duration::from_secs(30);

/// Tables, and a view whose row never comes.
const TABLES: &str = "
CREATE TABLE pet (id int PRIMARY KEY, name text, age int);
INSERT INTO pet VALUES (1, 'Ada', 3);
CREATE TABLE other (id int PRIMARY KEY);
INSERT INTO other VALUES (7);
CREATE FUNCTION wait() RETURNS int4 LANGUAGE plpgsql VOLATILE AS $$ BEGIN
    PERFORM pg_sleep(600);
    RETURN 1;
END $$;
CREATE VIEW waiting AS SELECT wait() AS id;
";

/// Query over the statements of the other sessions of this database.
fn others(database: &Database, what: &str) -> String {
    let sql = format!(
        "SELECT {what} FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND wait_event = 'PgSleep'"
    );
    database.run(&sql).trim().to_owned()
}

fn check(answer: &Answer, status: u16, part: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert!(answer.text().contains(part), "{part} is not in {}", answer.text());
}

/// Waits for what is not seen at once.
fn until(what: &str, mut seen: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !seen() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn a_backend_that_is_killed_fails_its_own_request_and_no_later_one() {
    let database = database(TABLES);
    let weir = Weir::serving(&database.url());
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| weir.query("{ waiting { id } }"));
        until("it runs", || others(&database, "count(*)") == "1");
        assert_eq!(others(&database, "count(pg_terminate_backend(pid))"), "1");
        check(&asked.join().expect("it answers"), 200, r#""code":"SOURCE_UNAVAILABLE""#);
    });
    check(
        &weir.query("{ pet { name } other { id } }"),
        200,
        r#"{"data":{"pet":[{"name":"Ada"}],"other":[{"id":7}]}}"#,
    );
}

#[test]
fn a_dropped_column_fails_what_asks_for_it_until_the_tables_are_read_again() {
    let database = database(TABLES);
    let weir = Weir::serving(&database.url());
    check(&weir.query("{ pet { name age } }"), 200, r#"{"data":{"pet":[{"name":"Ada","age":3}]}}"#);
    check(&weir.query("{ pet { name } }"), 200, r#"{"data":{"pet":[{"name":"Ada"}]}}"#);
    database.run("ALTER TABLE pet DROP age; ALTER TABLE other ALTER id TYPE text");
    check(&weir.query("{ pet { name age } }"), 200, r#""code":"SCHEMA_CHANGED""#);
    check(&weir.query("{ pet { name } }"), 200, r#"{"data":{"pet":[{"name":"Ada"}]}}"#);
    // As many bytes as a number has, prepared anew by connections that know nothing of the change.
    database.run("UPDATE other SET id = 'abcd'");
    for _ in 0..2 {
        // Comes back when they are gone, or after five seconds.
        database.run("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()");
        for changed in [
            "{ other { id } }",
            "{ other(limit: 1) { id } }",
            "{ other_by_pk(id: 7) { id } }",
            "mutation { update_other(where: {}, _inc: {id: 1}) { returning { id } } }",
        ] {
            check(&weir.query(changed), 200, r#""code":"SCHEMA_CHANGED""#);
        }
    }
    database.run("UPDATE other SET id = '7'");
    check(&weir.post("/v1/reload", &[], b""), 200, r#"{"generation":2}"#);
    check(&weir.query("{ pet { age } }"), 200, "Cannot query field");
    check(&weir.query("{ other { id } }"), 200, r#"{"data":{"other":[{"id":"7"}]}}"#);
}

#[test]
fn two_servers_share_a_database_and_one_that_dies_harms_nobody() {
    let database = database(TABLES);
    let mut one = Weir::serving(&database.url());
    let two = Weir::serving(&database.url());
    let add = "mutation { update_pet_by_pk(pk_columns: {id: 1}, _inc: {age: 1}) { age } }";
    std::thread::scope(|scope| {
        for weir in [&one, &two] {
            scope.spawn(move || (0..20).for_each(|_| check(&weir.query(add), 200, r#"{"data""#)));
        }
    });
    check(&two.query("{ pet { age } }"), 200, r#"{"data":{"pet":[{"age":43}]}}"#);
    one.child.kill().expect("it runs");
    one.child.wait().expect("it ran");
    check(&two.query(add), 200, r#"{"data":{"update_pet_by_pk":{"age":44}}}"#);
}

/// True if the server acknowledges the row before it dies.
fn inserts(address: SocketAddr, id: u32) -> bool {
    let body = body(&format!("mutation {{ insert_other_one(object: {{id: {id}}}) {{ id }} }}"));
    let request = message("POST", "/graphql", &[("content-type", "application/json")], Some(body.as_bytes()));
    let Ok(mut socket) = TcpStream::connect(address) else { return false };
    if socket.write_all(&request).is_err() {
        return false;
    }
    let answer = Answer::read(&mut BufReader::new(socket));
    answer.status == 200 && answer.text() == format!(r#"{{"data":{{"insert_other_one":{{"id":{id}}}}}}}"#)
}

#[test]
fn what_was_said_to_be_in_is_in_when_a_server_that_shares_commits_is_killed() {
    let database = database(TABLES);
    let folder = Folder::new();
    let block = format!("{{name: main, url: {}, postgres: {{batch_mutations: true}}}}", database.url());
    let file = folder.write("weir.yaml", &format!("listen: 127.0.0.1:0\nsources: [{block}]\n"));
    let mut weir = Weir::by_file(&file, folder);
    let address = weir.address;
    let done = AtomicU32::new(0);
    let mut said: Vec<u32> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..8)
            .map(|caller| {
                let done = &done;
                scope.spawn(move || {
                    let ids = (1000..).map(|it| it * 8 + caller);
                    ids.take_while(|&id| inserts(address, id))
                        .inspect(|_| _ = done.fetch_add(1, Ordering::Relaxed))
                        .collect::<Vec<u32>>()
                })
            })
            .collect();
        until("they are at work", || done.load(Ordering::Relaxed) > 200);
        weir.child.kill().expect("it runs");
        callers.into_iter().flat_map(|it| it.join().expect("it ends")).collect()
    });
    let rows = database.run("SELECT id FROM other WHERE id >= 1000 ORDER BY id");
    let rows: Vec<u32> = rows.lines().map(|it| it.parse().expect("a number")).collect();
    said.sort_unstable();
    assert!(said.iter().all(|id| rows.binary_search(id).is_ok()), "{said:?} {rows:?}");
    // Each caller had one more under way at most.
    assert!(rows.len() <= said.len() + 8, "{said:?} {rows:?}");
}

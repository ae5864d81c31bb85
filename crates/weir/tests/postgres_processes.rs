//! Servers in front of a PostgreSQL that loses connections or changes its tables while they are asked.

#[path = "../../sql/tests/postgres_kit/mod.rs"]
mod postgres_kit;
mod support;

use postgres_kit::{Database, database};
use std::time::{Duration, Instant};
use support::{Answer, Weir};

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

/// What is asked about the statements of others in this database.
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
    check(&weir.post("/v1/reload", &[], b""), 200, r#"{"generation":2}"#);
    check(&weir.query("{ pet { age } }"), 200, "Cannot query field");
    check(&weir.query("{ other { id } }"), 200, r#"{"data":{"other":[{"id":"7"}]}}"#);
}

#[test]
fn two_servers_share_a_database_and_one_that_dies_harms_nobody() {
    let database = database(TABLES);
    let (mut one, two) = (Weir::serving(&database.url()), Weir::serving(&database.url()));
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

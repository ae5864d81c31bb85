//! Mutations that share a commit: each is in or out by itself, whatever the others do.

use crate::hasura_kit::{Served, serve_with};
use crate::postgres_kit::database;
use std::time::Duration;

/// Tables, and one whose rows fail, or take long, in the ways that their numbers say.
const TABLES: &str = "
CREATE TABLE thing (id int4 PRIMARY KEY, name text UNIQUE, count int4 NOT NULL DEFAULT 0);
CREATE TABLE part (id int4 PRIMARY KEY, thing_id int4 NOT NULL REFERENCES thing DEFERRABLE INITIALLY DEFERRED);
INSERT INTO thing VALUES (1000, 'one'), (1001, 'other');
CREATE SEQUENCE tries;
CREATE TABLE race (id int4 PRIMARY KEY, lost int4 NOT NULL);
CREATE FUNCTION race() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('tries') <= NEW.lost THEN RAISE 'lost' USING ERRCODE = 'serialization_failure'; END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER race BEFORE INSERT ON race FOR EACH ROW EXECUTE FUNCTION race();
CREATE TABLE nap (id int4 PRIMARY KEY, seconds float8 NOT NULL);
CREATE FUNCTION nap() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_sleep(NEW.seconds);
    RETURN NEW;
END $$;
CREATE TRIGGER nap BEFORE INSERT ON nap FOR EACH ROW EXECUTE FUNCTION nap();
";

/// Bounds that nothing here reaches.
const PATIENCE: Duration = Duration::from_secs(50);

async fn grouped(lock_timeout: Duration, statement_timeout: Duration) -> Served {
    grouped_with(|settings| {
        settings.limits.group_lock_timeout = lock_timeout;
        settings.limits.group_statement_timeout = statement_timeout;
    })
    .await
}

/// As [`grouped`], with all that `tune` changes.
async fn grouped_with(tune: impl FnOnce(&mut weir_postgres::Settings)) -> Served {
    let tuned = |settings: &mut weir_postgres::Settings| {
        settings.batch_mutations = true;
        // Connecting, and what goes before, may take as long as the machine likes.
        settings.limits.wait_max = PATIENCE;
        settings.limits.group_lock_timeout = PATIENCE;
        settings.limits.group_statement_timeout = PATIENCE;
        tune(settings);
    };
    serve_with(database(TABLES), &["public"], tuned).await
}

fn insert(id: u32, name: &str) -> String {
    format!("mutation {{ insert_thing_one(object: {{id: {id}, name: \"{name}\"}}) {{ id name }} }}")
}

fn inserted(id: u32, name: &str) -> String {
    format!(r#"{{"data":{{"insert_thing_one":{{"id":{id},"name":"{name}"}}}}}}"#)
}

/// The answers of those who ask at the same time: all wait before anything is sent, so they go together. They do so in one turn
/// of this task, which nothing interrupts: a task that does much at once is else made to let others go on, the lane's among them.
async fn together(served: &Served, asked: &[String]) -> Vec<String> {
    let all = futures_util::future::join_all(asked.iter().map(|it| served.ask(it)));
    tokio::task::unconstrained(all).await
}

/// Number of rows, and number of transactions that wrote them.
fn rows_and_transactions(served: &Served, table: &str) -> String {
    served.database.run(&format!("SELECT count(*), count(DISTINCT xmin::text) FROM {table} WHERE id < 1000"))
}

#[tokio::test]
async fn mutations_that_wait_together_share_one_transaction() {
    let served = grouped(PATIENCE, PATIENCE).await;
    let asked: Vec<String> = (0..40).map(|id| insert(id, &format!("n{id}"))).collect();
    let expected: Vec<String> = (0..40).map(|id| inserted(id, &format!("n{id}"))).collect();
    assert_eq!(together(&served, &asked).await, expected);
    assert_eq!(rows_and_transactions(&served, "thing"), "40|1\n");
}

#[tokio::test]
async fn more_than_go_at_once_are_several_groups() {
    let served = grouped(PATIENCE, PATIENCE).await;
    let asked: Vec<String> = (0..600).map(|id| insert(id, &format!("n{id}"))).collect();
    together(&served, &asked).await;
    assert_eq!(rows_and_transactions(&served, "thing"), "600|3\n");
}

#[tokio::test]
async fn changes_of_every_kind_go_together_and_see_each_other_in_turn() {
    let served = grouped(PATIENCE, PATIENCE).await;
    let add =
        "mutation { update_thing_by_pk(pk_columns: {id: 1000}, _inc: {count: 1}) { count } }".to_owned();
    let mut asked = vec![add; 20];
    asked.push("mutation { delete_thing(where: {id: {_eq: 1001}}) { affected_rows } }".into());
    asked.push("mutation { insert_thing(objects: [{id: 1, name: \"other\"}]) { affected_rows } }".into());
    let answers = together(&served, &asked).await;
    let mut counts: Vec<String> = answers[..20].to_vec();
    counts.sort_by_key(|it| (it.len(), it.clone()));
    let expected: Vec<String> =
        (1..=20).map(|it| format!(r#"{{"data":{{"update_thing_by_pk":{{"count":{it}}}}}}}"#)).collect();
    assert_eq!(counts, expected);
    assert_eq!(answers[20], r#"{"data":{"delete_thing":{"affected_rows":1}}}"#);
    assert_eq!(answers[21], r#"{"data":{"insert_thing":{"affected_rows":1}}}"#);
    let one = "SELECT count(DISTINCT xmin::text), sum(count) FROM thing";
    assert_eq!(served.database.run(one), "1|20\n");
}

#[tokio::test]
async fn one_that_fails_is_out_alone_and_the_others_are_in() {
    let served = grouped(PATIENCE, PATIENCE).await;
    let mut asked: Vec<String> = (0..21).map(|id| insert(id, &format!("n{id}"))).collect();
    asked[10] = insert(10, "one");
    let mut expected: Vec<String> = (0..21).map(|id| inserted(id, &format!("n{id}"))).collect();
    let answers = together(&served, &asked).await;
    assert!(answers[10].contains(r#""code":"UNIQUE_VIOLATION""#), "{}", answers[10]);
    expected[10] = answers[10].clone();
    assert_eq!(answers, expected);
    assert_eq!(rows_and_transactions(&served, "thing"), "20|20\n");
    // The next group is half as large.
    let asked: Vec<String> = (100..120).map(|id| insert(id, &format!("n{id}"))).collect();
    together(&served, &asked).await;
    let later = "SELECT count(*), count(DISTINCT xmin::text) FROM thing WHERE id BETWEEN 100 AND 999";
    assert_eq!(served.database.run(later), "20|2\n");
}

#[tokio::test]
async fn of_two_that_cannot_both_be_one_is_in() {
    let served = grouped(PATIENCE, PATIENCE).await;
    let answers = together(&served, &[insert(1, "same"), insert(2, "same")]).await;
    let refused = answers.iter().filter(|it| it.contains("UNIQUE_VIOLATION")).count();
    assert_eq!(refused, 1, "{answers:?}");
    assert_eq!(rows_and_transactions(&served, "thing"), "1|1\n");
}

#[tokio::test]
async fn a_constraint_that_is_checked_at_the_commit_puts_its_own_row_out() {
    let served = grouped(PATIENCE, PATIENCE).await;
    let part = "mutation { insert_part_one(object: {id: 1, thing_id: 77}) { id } }".to_owned();
    let answers = together(&served, &[insert(1, "a"), part, insert(2, "b")]).await;
    assert!(answers[1].contains(r#""code":"FOREIGN_KEY_VIOLATION""#), "{}", answers[1]);
    assert_eq!([&*answers[0], &*answers[2]], [inserted(1, "a"), inserted(2, "b")]);
    assert_eq!(served.database.run("SELECT count(*) FROM part"), "0\n");
}

#[tokio::test]
async fn a_lost_race_is_run_again() {
    let served = grouped(PATIENCE, PATIENCE).await;
    let race = "mutation { insert_race_one(object: {id: 1, lost: 2}) { lost } }".to_owned();
    let answers = together(&served, &[insert(1, "a"), race, insert(2, "b")]).await;
    assert_eq!(answers[1], r#"{"data":{"insert_race_one":{"lost":2}}}"#);
    assert_eq!([&*answers[0], &*answers[2]], [inserted(1, "a"), inserted(2, "b")]);
    // In company, alone, and alone again.
    assert_eq!(served.database.run("SELECT last_value FROM tries"), "3\n");
}

#[tokio::test]
async fn one_that_waits_for_a_lock_keeps_nobody_waiting() {
    let served = grouped(Duration::from_millis(20), PATIENCE).await;
    let mut hand = served.hand().await;
    let mut beside = served.hand().await;
    hand.run("BEGIN").await;
    hand.run("UPDATE thing SET count = 7 WHERE id = 1000").await;
    let update = "mutation { update_thing_by_pk(pk_columns: {id: 1000}, _inc: {count: 1}) { count } }";
    let asked = [insert(1, "a"), insert(2, "b")];
    let others = async {
        let answers = together(&served, &asked).await;
        beside.until_blocked(1).await;
        hand.run("COMMIT").await;
        answers
    };
    let (updated, answers) = tokio::join!(served.ask(update), others);
    assert_eq!(updated, r#"{"data":{"update_thing_by_pk":{"count":8}}}"#);
    assert_eq!(answers, [inserted(1, "a"), inserted(2, "b")]);
}

#[tokio::test]
async fn one_that_works_for_long_goes_alone_from_then_on() {
    let served = grouped(PATIENCE, Duration::from_millis(50)).await;
    let nap = |id: u32| {
        format!(
            "mutation ($id: Int!) {{ insert_nap_one(object: {{id: $id, seconds: 0.1}}) {{ id }} }}|{{\"id\": {id}}}"
        )
    };
    let ask = async |asked: String| {
        let (query, variables) = asked.split_once('|').unwrap();
        served.ask_with(query, variables).await
    };
    for id in 1..=5 {
        assert_eq!(ask(nap(id)).await, format!(r#"{{"data":{{"insert_nap_one":{{"id":{id}}}}}}}"#));
    }
    assert_eq!(served.source.counts().groups, 3, "the others did not try");
}

#[tokio::test]
async fn a_backend_that_is_ended_leaves_nothing_of_the_group_and_says_so() {
    let served = grouped(PATIENCE, PATIENCE).await;
    let mut beside = served.hand().await;
    let nap = "mutation { insert_nap_one(object: {id: 1, seconds: 600}) { id } }".to_owned();
    let asked = [insert(1, "a"), nap, insert(2, "b")];
    let ended = async {
        let sleeping = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";
        beside.until(&format!("SELECT count(*)::text {sleeping}"), "1").await;
        beside.run(&format!("SELECT pg_terminate_backend(pid)::text {sleeping}")).await;
    };
    let (answers, ()) = tokio::join!(together(&served, &asked), ended);
    for answer in answers {
        assert!(answer.contains(r#""code":"SOURCE_UNAVAILABLE""#), "{answer}");
    }
    assert_eq!(rows_and_transactions(&served, "thing"), "0|0\n");
    assert_eq!(served.ask(&insert(3, "c")).await, inserted(3, "c"));
}

#[tokio::test]
async fn several_statements_and_levels_below_go_alone() {
    let served = grouped(PATIENCE, PATIENCE).await;
    let two = "mutation { a: insert_thing_one(object: {id: 1, name: \"a\"}) { id } b: insert_thing_one(object: {id: 2, name: \"b\"}) { id } }";
    served.ask(two).await;
    let below = "mutation { insert_part_one(object: {id: 1, thing_id: 1}) { thing { name } } }";
    assert_eq!(served.ask(below).await, r#"{"data":{"insert_part_one":{"thing":{"name":"a"}}}}"#);
    assert_eq!(served.source.counts().groups, 0);
}

#[tokio::test]
async fn an_answer_that_is_too_large_to_be_kept_is_its_askers_alone() {
    let served = grouped_with(|settings| settings.limits.answer_bytes_max = 20_000).await;
    // The long text is a variable: an operation of its length is planned on another thread, and may come too late for the group.
    let insert = "mutation ($id: Int!, $name: String!) { insert_thing_one(object: {id: $id, name: $name}) { id name } }";
    let long = "x".repeat(110_000);
    let variables =
        [(0, "a"), (1, &*long), (2, "c")].map(|(id, name)| format!(r#"{{"id": {id}, "name": "{name}"}}"#));
    let all = futures_util::future::join_all(variables.iter().map(|it| served.ask_with(insert, it)));
    let answers = tokio::task::unconstrained(all).await;
    assert_eq!([&answers[0], &answers[2]], [&inserted(0, "a"), &inserted(2, "c")]);
    assert!(answers[1].contains("WRITE_UNANSWERED"), "{} bytes", answers[1].len());
    assert_eq!(rows_and_transactions(&served, "thing"), "3|1\n");
}

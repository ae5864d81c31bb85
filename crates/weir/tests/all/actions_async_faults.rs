//! Asynchronous actions when processes end, are reloaded, share a state, or lose it: each call is made, and once.

use crate::actions::SECRET;
use crate::actions_async::{
    Handlers, State, ask_as, await_result, begin_slow, body_of, on_both, read, serve, serving, store,
    write_project,
};
use crate::cluster_kit::Cluster;
use crate::postgres_kit::database;
use crate::support::{Folder, Weir, body, until};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Longest wait for a database that is back: a statement that it lost has thirty seconds.
const RECOVERY_MAX: Duration = Duration::from_secs(90);

/// Stores calls and makes none.
const OFF: (&str, &str) = ("HASURA_GRAPHQL_ASYNC_ACTIONS_FETCH_INTERVAL", "0");

/// Starts a server again in the folder of one that has ended.
fn restart(before: Weir, handlers: &Handlers, variables: &[(&str, &str)]) -> Weir {
    let folder = Folder::new();
    std::fs::remove_dir(&folder.0).expect("it is empty");
    std::fs::rename(&before.folder().0, &folder.0).expect("it is moved");
    drop(before);
    Weir::run(&mut serving(&folder, handlers, variables), folder)
}

fn kill(weir: &mut Weir) {
    weir.child.kill().expect("it is killed");
    weir.child.wait().expect("it ends");
}

#[test]
fn a_call_that_was_stored_before_a_kill_is_made_after_it() {
    on_both(|state| {
        let handlers = Handlers::start();
        let mut weir = serve(&state, &handlers, &[OFF]);
        let id = store(&weir, "settle", 5);
        kill(&mut weir);
        assert_eq!(handlers.calls("/settle").len(), 0);
        let weir = restart(weir, &handlers, &[]);
        await_result(&weir, "settle", &id, "R-5");
        assert_eq!(handlers.calls("/settle").len(), 1);
    });
}

#[test]
fn a_call_that_was_in_flight_at_a_kill_is_made_again_when_its_time_is_over() {
    on_both(|state| {
        let handlers = Handlers::start();
        let mut weir = serve(&state, &handlers, &[]);
        let id = begin_slow(&weir, &handlers, 5);
        kill(&mut weir);
        handlers.door.open();
        // It may be in work in another process until its timeout and a minute are over.
        let weir = restart(weir, &handlers, &[]);
        let settled = store(&weir, "settle", 6);
        await_result(&weir, "settle", &settled, "R-6");
        assert_eq!(handlers.calls("/slow").len(), 1);
        let mut weir = weir;
        kill(&mut weir);
        let earlier = match state {
            State::File => "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-125 seconds')",
            State::Postgres(_) => "now() - interval '125 seconds'",
        };
        state.run(
            weir.folder(),
            &format!("UPDATE LOG SET weir_taken_at = {earlier} WHERE status = 'processing' RETURNING status"),
        );
        let weir = restart(weir, &handlers, &[]);
        await_result(&weir, "slow", &id, "R-5");
        assert_eq!(handlers.calls("/slow").len(), 2);
        assert!(weir.log().contains("calls that ended with their server are made again"), "{}", weir.log());
    });
}

#[test]
fn a_call_in_flight_at_a_stop_is_given_back() {
    on_both(|state| {
        let handlers = Handlers::start();
        let mut weir = serve(&state, &handlers, &[("HASURA_GRAPHQL_GRACEFUL_SHUTDOWN_TIMEOUT", "0")]);
        let id = begin_slow(&weir, &handlers, 5);
        weir.signal("-TERM");
        assert!(weir.child.wait().expect("it ends").success());
        assert_eq!(state.run(weir.folder(), "SELECT status FROM LOG"), ["created"]);
        handlers.door.open();
        let weir = restart(weir, &handlers, &[]);
        await_result(&weir, "slow", &id, "R-5");
        assert_eq!(handlers.calls("/slow").len(), 2);
    });
}

#[test]
fn a_stop_waits_for_calls_in_flight() {
    let handlers = Handlers::start();
    let mut weir = serve(&State::File, &handlers, &[]);
    let id = begin_slow(&weir, &handlers, 5);
    weir.signal("-TERM");
    until("it is ending", || weir.log().contains("draining"));
    handlers.door.open();
    assert!(weir.child.wait().expect("it ends").success());
    assert_eq!(State::File.run(weir.folder(), "SELECT status FROM LOG"), ["completed"]);
    let weir = restart(weir, &handlers, &[]);
    await_result(&weir, "slow", &id, "R-5");
    assert_eq!(handlers.calls("/slow").len(), 1);
}

#[test]
fn servers_with_one_state_share_its_calls() {
    let state = State::Postgres(database("SELECT 1"));
    let handlers = Handlers::start();
    let stores_only = serve(&state, &handlers, &[OFF]);
    let one = serve(&state, &handlers, &[("HASURA_GRAPHQL_ASYNC_ACTIONS_FETCH_BATCH_SIZE", "3")]);
    let two = serve(&state, &handlers, &[("HASURA_GRAPHQL_ASYNC_ACTIONS_FETCH_BATCH_SIZE", "3")]);
    let ids: Vec<String> =
        (0..60).map(|n| store([&stores_only, &one, &two][n % 3], "slow", 100 + n as i64)).collect();
    until("both make calls", || handlers.calls("/slow").len() == 6);
    handlers.door.open();
    for (n, id) in ids.iter().enumerate() {
        await_result(&stores_only, "slow", id, &format!("R-{}", 100 + n));
    }
    let calls = handlers.calls("/slow");
    let different: BTreeSet<i64> = calls.iter().filter_map(|it| body_of(it)["input"]["n"].as_i64()).collect();
    assert_eq!((calls.len(), different.len()), (60, 60));
}

#[test]
fn calls_in_flight_outlive_a_reload_and_later_ones_follow_the_new_metadata() {
    let handlers = Handlers::start();
    let weir = serve(&State::File, &handlers, &[]);
    let id = begin_slow(&weir, &handlers, 5);
    let file = weir.folder().file("metadata/actions.yaml");
    let yaml = std::fs::read_to_string(&file).expect("it is read");
    let moved = yaml.replace("{{SHOP_URL}}/settle", "{{SHOP_URL}}/elsewhere");
    std::fs::write(&file, moved).expect("it is written");
    until("a call goes to the new handler", || {
        let settled = store(&weir, "settle", 6);
        await_result(&weir, "settle", &settled, "R-6");
        !handlers.calls("/elsewhere").is_empty()
    });
    assert_eq!(read(&weir, "slow", &id)["output"], serde_json::Value::Null);
    handlers.door.open();
    await_result(&weir, "slow", &id, "R-5");
    assert_eq!(handlers.calls("/slow").len(), 1);
}

#[test]
fn an_outcome_is_recorded_when_the_database_is_back() {
    let mut cluster = Cluster::new();
    cluster.start();
    let handlers = Handlers::start();
    let folder = write_project(
        &State::File,
        &format!("state: postgres://postgres@127.0.0.1:{}/postgres\n", cluster.port),
    );
    let weir = Weir::run(&mut serving(&folder, &handlers, &[]), folder);
    let id = begin_slow(&weir, &handlers, 5);
    cluster.signal("-KILL");
    cluster.stop();
    let refused = ask_as(&weir, "user", "4", "mutation { settle(n: 1) }");
    assert_eq!(
        refused["errors"][0]["message"], "the log of asynchronous actions cannot be used",
        "{refused}"
    );
    handlers.door.open();
    until("it cannot be recorded", || weir.log().contains("is not recorded yet"));
    cluster.start();
    let begun = Instant::now();
    while read(&weir, "slow", &id)["output"]["number"] != "R-5" {
        assert!(begun.elapsed() < RECOVERY_MAX, "{}", weir.log());
        std::thread::yield_now();
    }
    let settled = store(&weir, "settle", 6);
    await_result(&weir, "settle", &settled, "R-6");
    assert_eq!(handlers.calls("/slow").len(), 1);
}

const FOREIGN: &str = "CREATE SCHEMA hdb_catalog;
CREATE TABLE hdb_catalog.hdb_cron_events (id text PRIMARY KEY, trigger_name text, scheduled_time timestamptz, status text, tries int, next_retry_at timestamptz, created_at timestamp);
CREATE TABLE hdb_catalog.hdb_action_log (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), action_name text, input_payload jsonb NOT NULL,
  request_headers jsonb NOT NULL, session_variables jsonb NOT NULL, response_payload jsonb, errors jsonb,
  created_at timestamptz NOT NULL DEFAULT now(), response_received_at timestamptz, status text NOT NULL);
INSERT INTO hdb_catalog.hdb_action_log (action_name, input_payload, request_headers, session_variables, status)
  VALUES ('settle', '{\"n\": 9}', '{}', '{\"x-hasura-role\": \"user\"}', 'created')";

#[test]
fn the_calls_of_another_server_wait_for_a_take_over() {
    let state = State::Postgres(database(FOREIGN));
    let handlers = Handlers::start();
    let weir = serve(&state, &handlers, &[]);
    let words = "calls of asynchronous actions wait, as `hdb_catalog` is another server's; when that server is gone, take them over by \
                 `weir events take-over`, or `events: take_over` in weir.yaml";
    until("the operator is told", || weir.log().contains(words));
    let refused = ask_as(&weir, "user", "4", "mutation { settle(n: 1) }");
    assert_eq!(refused["errors"][0]["message"], words, "{refused}");
    assert_eq!(state.run(weir.folder(), "SELECT status FROM LOG"), ["created"]);
    assert_eq!(handlers.calls("/settle").len(), 0);
    let folder = write_project(&state, "events: take_over\n");
    let weir = Weir::run(&mut serving(&folder, &handlers, &[]), folder);
    until("it is made", || state.run(weir.folder(), "SELECT status FROM LOG") == ["completed"]);
    assert_eq!(body_of(&handlers.calls("/settle")[0])["input"]["n"], 9);
}

#[test]
fn without_events_there_are_no_asynchronous_actions() {
    let handlers = Handlers::start();
    let folder = write_project(&State::File, "events: off\n");
    let checked = crate::support::command()
        .arg("check")
        .arg(folder.file("weir.yaml"))
        .env("SHOP_URL", "http://127.0.0.1:9")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(said.contains("there is no database for the calls of asynchronous actions"), "{said}");
    let weir = Weir::run(&mut serving(&folder, &handlers, &[]), folder);
    let answer = weir.post("/v1/graphql", &[SECRET], body("{ __typename }").as_bytes());
    assert_eq!(answer.text(), r#"{"data":{"__typename":"query_root"}}"#);
}

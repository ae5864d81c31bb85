//! Scheduled events on both databases: stored ahead, delivered by one server, retried, told.

use crate::postgres_kit::release::on_each_release;
use crate::schedule_kit::{
    ManualClock, Place, Receiver, answer, at, calls, events, scheduler, states, trigger, work,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use weir_events::state::{NewOneOffEvent, OneOffEvents, Ownership};

/// Tests that run on PostgreSQL and on SQLite.
macro_rules! on_both {
    ($($name:ident,)*) => {
        mod postgres {
            use super::on_each_release;
            on_each_release!(async $($name,)*);
            $(async fn $name() { super::$name(super::Place::postgres()).await })*
        }
        mod sqlite {
            $(#[tokio::test] async fn $name() { super::$name(super::Place::sqlite()).await })*
        }
    };
}

on_both!(
    events_are_stored_ahead_and_delivered_at_their_time,
    failures_are_retried_and_retry_after_goes_on,
    an_event_is_dead_after_its_tolerance,
    a_restart_neither_doubles_nor_loses_an_event,
    a_clock_that_jumps_neither_doubles_nor_loses_an_event,
    one_of_two_servers_delivers,
    changed_and_deleted_triggers_lose_their_events_ahead,
    transforms_change_calls_and_their_log,
    one_off_events_are_delivered_and_resolved_then,
    a_long_stop_is_made_up_for,
);

fn minutely(url: &str, more: &str) -> String {
    format!("name: tick\nschedule: '* * * * *'\nwebhook: '{url}/{{{{PATH_PART}}}}'\n{more}")
}

async fn events_are_stored_ahead_and_delivered_at_their_time(place: Place) {
    let receiver = Receiver::start(&[answer(200, "X-Seen: yes\r\n")]).await;
    let clock = ManualClock::new("2026-01-01T00:00:30Z");
    let database = place.open();
    let runner = scheduler(&database, &clock, "a");
    work(&runner).await;
    assert_eq!(database.look().await, Ok(Ownership::Absent), "without triggers nothing is made");
    let headers = "headers: [{name: X-Key, value: k}, {name: X-Env, value_from_env: PATH_PART}, {name: content-type, value: text/plain}]";
    runner.use_triggers(vec![trigger(&minutely(
        &receiver.url,
        &format!("payload: {{a: 1.50}}\ncomment: each minute\n{headers}"),
    ))]);
    work(&runner).await;
    let ahead = events(&database, Some("tick")).await;
    assert_eq!((ahead.len(), &ahead[0]["scheduled_time"]), (100, &json!("2026-01-01T00:01:00.000000Z")));
    assert!(receiver.bodies().is_empty());
    clock.set("2026-01-01T00:01:00Z");
    work(&runner).await;
    work(&runner).await;
    let (head, body) = receiver.requests().pop().expect("it was called");
    let event = &events(&database, Some("tick")).await[0];
    let expected = json!({ "id": event["id"], "name": "tick", "scheduled_time": "2026-01-01T00:01:00Z", "payload": { "a": 1.50 }, "comment": "each minute" });
    assert_eq!(body, expected);
    for line in ["POST /nightly HTTP/1.1", "content-type: application/json", "x-key: k", "x-env: nightly"] {
        assert!(head.contains(line), "{line} is missing in {head}");
    }
    assert_eq!((&event["status"], &event["tries"]), (&json!("delivered"), &json!(1)));
    let call = calls(&database, Some("tick")).await.pop().expect("it was logged");
    assert_eq!((&call["status"], &call["event_id"]), (&json!(200), &event["id"]));
    assert_eq!((&call["request"]["version"], &call["request"]["payload"]), (&json!("1"), &expected));
    let logged = call["request"]["headers"].as_array().expect("it is a list");
    assert!(logged.contains(&json!({ "name": "X-Env", "value_from_env": "PATH_PART" })));
    assert_eq!(
        (&call["response"]["type"], &call["response"]["data"]["body"]),
        (&json!("webhook_response"), &json!("ok"))
    );
}

async fn failures_are_retried_and_retry_after_goes_on(place: Place) {
    let answers = [
        answer(500, ""),
        answer(302, ""),
        answer(503, "Retry-After: 120\r\n"),
        answer(503, "Retry-After: Wed, 21 Oct 2026 07:28:00 GMT\r\n"),
        answer(200, ""),
    ];
    let receiver = Receiver::start(&answers).await;
    let clock = ManualClock::new("2026-01-01T00:00:30Z");
    let database = place.open();
    let runner = scheduler(&database, &clock, "a");
    let daily = format!(
        "name: tick\nschedule: '1 0 * * *'\nwebhook: '{}'\nretry_conf: {{num_retries: 2, retry_interval_seconds: 20}}",
        receiver.url
    );
    runner.use_triggers(vec![trigger(&daily)]);
    work(&runner).await;
    let state = async || states(&events(&database, Some("tick")).await).pop().map(|it| (it.1, it.2));
    let told = |status: &str, tries| Some((status.to_owned(), tries));
    clock.set("2026-01-01T00:01:00Z");
    work(&runner).await;
    assert_eq!(state().await, told("scheduled", 1));
    clock.pass(Duration::from_secs(19));
    work(&runner).await;
    assert_eq!(state().await, told("scheduled", 1), "the pause is not over");
    clock.pass(Duration::from_secs(1));
    work(&runner).await;
    assert_eq!(state().await, told("scheduled", 2), "a redirect is a failure");
    clock.pass(Duration::from_secs(20));
    work(&runner).await;
    assert_eq!(state().await, told("scheduled", 3), "the tries are used up, but the receiver asks for more");
    let event = &events(&database, Some("tick")).await[0];
    assert_eq!(event["next_retry_at"], json!("2026-01-01T00:03:40.000000Z"));
    clock.pass(Duration::from_secs(120));
    work(&runner).await;
    assert_eq!(state().await, told("error", 4), "a date is no number of seconds");
    assert_eq!((receiver.bodies().len(), calls(&database, Some("tick")).await.len()), (4, 4));
}

async fn an_event_is_dead_after_its_tolerance(place: Place) {
    let receiver = Receiver::start(&[answer(200, "")]).await;
    let clock = ManualClock::new("2026-01-01T00:30:00Z");
    let database = place.open();
    let runner = scheduler(&database, &clock, "a");
    let hourly = format!(
        "name: tick\nschedule: '@hourly'\nwebhook: '{}'\nretry_conf: {{tolerance_seconds: 10800}}",
        receiver.url
    );
    runner.use_triggers(vec![trigger(&hourly)]);
    work(&runner).await;
    clock.set("2026-01-01T05:30:00Z");
    work(&runner).await;
    let found = states(&events(&database, Some("tick")).await);
    let found: Vec<(&str, &str, i64)> = found.iter().map(|it| (&it.0[11..16], it.1.as_str(), it.2)).collect();
    let expected = [
        ("01:00", "dead", 0),
        ("02:00", "dead", 0),
        ("03:00", "delivered", 1),
        ("04:00", "delivered", 1),
        ("05:00", "delivered", 1),
    ];
    assert_eq!(found, expected);
    assert_eq!(receiver.bodies().len(), 3);
}

async fn a_restart_neither_doubles_nor_loses_an_event(place: Place) {
    let receiver = Receiver::start(&[answer(200, "")]).await;
    let clock = ManualClock::new("2026-01-01T00:00:30Z");
    let database = place.open();
    let triggers = || vec![trigger(&minutely(&receiver.url, ""))];
    let first = scheduler(&database, &clock, "a");
    first.use_triggers(triggers());
    work(&first).await;
    clock.set("2026-01-01T00:02:00Z");
    // Two events are taken into work, and the server is gone before their outcome is recorded.
    first.step().await.expect("the state is there");
    drop(first);
    let after = scheduler(&place.open(), &clock, "b");
    after.use_triggers(triggers());
    database.release_lease("a").await.expect("the state is there");
    clock.set("2026-01-01T00:10:30Z");
    work(&after).await;
    work(&after).await;
    let found = states(&events(&database, Some("tick")).await);
    assert_eq!(found.len(), 10, "each missed minute once: {found:?}");
    assert!(found.iter().all(|it| it.1 == "delivered"), "{found:?}");
    let ids: std::collections::HashSet<String> =
        receiver.bodies().iter().map(|it| it["id"].to_string()).collect();
    assert_eq!(ids.len(), 10);
}

async fn a_clock_that_jumps_neither_doubles_nor_loses_an_event(place: Place) {
    let receiver = Receiver::start(&[answer(200, "")]).await;
    let clock = ManualClock::new("2026-01-01T00:00:30Z");
    let database = place.open();
    let runner = scheduler(&database, &clock, "a");
    runner.use_triggers(vec![trigger(&minutely(&receiver.url, ""))]);
    work(&runner).await;
    let times = |bodies: Vec<Value>| -> Vec<String> {
        bodies.iter().map(|it| it["scheduled_time"].as_str().unwrap_or_default()[11..16].to_owned()).collect()
    };
    clock.set("2026-01-01T00:02:00Z");
    work(&runner).await;
    let mut heard = times(receiver.bodies());
    heard.sort();
    assert_eq!(heard, ["00:01", "00:02"]);
    clock.set("2025-12-31T20:00:00Z");
    for _ in 0..3 {
        work(&runner).await;
        clock.pass(Duration::from_secs(3600));
    }
    assert!(receiver.bodies().is_empty(), "the times that are over come no second time");
    clock.set("2026-01-01T00:03:00Z");
    work(&runner).await;
    assert_eq!(times(receiver.bodies()), ["00:03"]);
    clock.set("2026-01-01T02:03:00Z");
    work(&runner).await;
    work(&runner).await;
    assert_eq!(receiver.bodies().len(), 120, "all minutes of a jump within the tolerance");
}

async fn one_of_two_servers_delivers(place: Place) {
    let receiver = Receiver::start(&[answer(200, "")]).await;
    let clock = ManualClock::new("2026-01-01T00:00:30Z");
    let servers = ["a", "b"].map(|owner| scheduler(&place.open(), &clock, owner));
    for server in &servers {
        server.use_triggers(vec![trigger(&minutely(&receiver.url, ""))]);
        work(server).await;
    }
    let database = place.open();
    assert_eq!(events(&database, Some("tick")).await.len(), 100);
    for minute in 1..=5 {
        clock.set(&format!("2026-01-01T00:0{minute}:00Z"));
        let [one, other] = &servers;
        tokio::join!(work(one), work(other));
    }
    assert_eq!(receiver.bodies().len(), 5);
    let [one, other] = servers;
    one.stop(Duration::from_secs(60)).await;
    clock.set("2026-01-01T00:06:00Z");
    work(&other).await;
    assert_eq!(receiver.bodies().len(), 1, "the lease was given back");
}

async fn changed_and_deleted_triggers_lose_their_events_ahead(place: Place) {
    let receiver = Receiver::start(&[answer(200, "")]).await;
    let clock = ManualClock::new("2026-01-01T00:00:30Z");
    let database = place.open();
    let runner = scheduler(&database, &clock, "a");
    runner.use_triggers(vec![trigger(&minutely(&receiver.url, ""))]);
    work(&runner).await;
    clock.set("2026-01-01T00:01:00Z");
    work(&runner).await;
    clock.set("2026-01-01T00:01:30Z");
    let hourly = minutely(&receiver.url, "").replace("* * * * *", "0 * * * *");
    runner.use_triggers(vec![trigger(&hourly)]);
    work(&runner).await;
    let found = events(&database, Some("tick")).await;
    assert_eq!((found.len(), found[0]["status"].as_str()), (101, Some("delivered")));
    assert_eq!(found[1]["scheduled_time"], json!("2026-01-01T01:00:00.000000Z"));
    runner.use_triggers(vec![trigger(
        &hourly.replace("name: tick", "name: other").replace("0 * * * *", "0 0 31 2 *"),
    )]);
    work(&runner).await;
    assert_eq!(events(&database, Some("tick")).await.len(), 1, "what was delivered stays");
    assert_eq!(events(&database, Some("other")).await.len(), 0, "a date that never comes");
}

async fn transforms_change_calls_and_their_log(place: Place) {
    let receiver = Receiver::start(&[answer(200, "")]).await;
    let clock = ManualClock::new("2026-01-01T00:00:30Z");
    let database = place.open();
    let runner = scheduler(&database, &clock, "a");
    let transform = r#"request_transform: {"version":2,"method":"PUT","url":"{{$base_url}}/v2","body":{"action":"transform","template":"{\"name\": $body.name}"}}
response_transform: {"body":"{\"status\": $response.status, \"name\": $request.body.body.name}"}
payload: {ok: true}"#;
    runner.use_triggers(vec![trigger(&minutely(&receiver.url, transform))]);
    work(&runner).await;
    clock.set("2026-01-01T00:01:00Z");
    work(&runner).await;
    let (head, body) = receiver.requests().pop().expect("it was called");
    assert!(head.starts_with("PUT /nightly/v2 HTTP/1.1"), "{head}");
    assert_eq!(body, json!({ "name": "tick" }));
    let call = calls(&database, Some("tick")).await.pop().expect("it was logged");
    assert_eq!(call["response"]["data"]["body"], json!(r#"{"status":200,"name":"tick"}"#));
    assert_eq!(call["request"]["payload"], json!({ "name": "tick" }));
    let failing = r#"request_transform: {"body":"{{$body.nothing}}"}
retry_conf: {num_retries: 3}"#;
    runner.use_triggers(vec![trigger(&minutely(&receiver.url, failing))]);
    clock.set("2026-01-01T00:02:00Z");
    work(&runner).await;
    assert!(receiver.bodies().is_empty());
    let found = states(&events(&database, Some("tick")).await);
    assert_eq!(found[1].1, "error", "it would fail again");
    assert_eq!(calls(&database, Some("tick")).await.len(), 1, "nobody was called");
    let failing = r#"response_transform: {"body":"{{$body.nothing}}"}"#;
    runner.use_triggers(vec![trigger(&minutely(&receiver.url, failing))]);
    clock.set("2026-01-01T00:03:00Z");
    work(&runner).await;
    let call = calls(&database, Some("tick")).await.into_iter().find(|it| it["status"] == 500);
    let message = call.expect("it counts as a failure")["response"]["data"]["message"].to_string();
    assert!(message.contains("Type Error"), "{message}");
}

fn one_off(webhook: &str, time: &str, retry: &str) -> NewOneOffEvent {
    NewOneOffEvent {
        webhook: json!(webhook).to_string(),
        scheduled_time: at(time),
        retry_conf: retry.to_owned(),
        payload: Some(r#"{"n":1.50}"#.to_owned()),
        headers: r#"[{"name":"X-Env","value_from_env":"PATH_PART"}]"#.to_owned(),
        comment: None,
    }
}

async fn one_off_events_are_delivered_and_resolved_then(place: Place) {
    let receiver = Receiver::start(&[answer(200, "")]).await;
    let clock = ManualClock::new("2026-01-01T00:00:00Z");
    let database = place.open();
    database.prepare(false).await.expect("the tables are made");
    let store = OneOffEvents::new(Arc::clone(&database));
    let insert = async |event| store.insert(event, at("2026-01-01T00:00:00Z")).await.expect("it is stored");
    let url = format!("{}/{{{{PATH_PART}}}}", receiver.url);
    let past = insert(one_off(&url, "2025-12-31T23:59:00Z", "{}")).await;
    insert(one_off(&url, "2025-12-31T10:00:00Z", "{}")).await;
    let later = insert(one_off(&url, "2026-01-01T01:00:00Z", "{}")).await;
    insert(one_off("{{GONE}}/a", "2025-12-31T23:59:30Z", r#"{"num_retries":1}"#)).await;
    let runner = scheduler(&database, &clock, "a");
    work(&runner).await;
    let (head, body) = receiver.requests().pop().expect("it was called");
    assert!(head.starts_with("POST /nightly HTTP/1.1") && head.contains("x-env: nightly"), "{head}");
    let expected = json!({ "id": past, "scheduled_time": "2025-12-31T23:59:00Z", "created_at": "2026-01-01T00:00:00Z", "payload": { "n": 1.50 } });
    assert_eq!(body, expected);
    let found = events(&database, None).await;
    let states: Vec<(&str, i64)> = found
        .iter()
        .map(|it| (it["status"].as_str().unwrap_or_default(), it["tries"].as_i64().unwrap_or(-1)))
        .collect();
    assert_eq!(states, [("dead", 0), ("delivered", 1), ("scheduled", 1), ("scheduled", 0)]);
    let failed =
        calls(&database, None).await.into_iter().find(|it| it["status"].is_null()).expect("it was logged");
    let message = "Error creating the request. The value for environment variables not found: GONE";
    assert_eq!(failed["response"]["data"]["message"], json!(message));
    assert_eq!(found[1]["webhook_conf"], json!(url));
    clock.set("2026-01-01T00:00:10Z");
    work(&runner).await;
    assert_eq!(events(&database, None).await[2]["status"], json!("error"));
    assert_eq!(store.delete(&later).await, Ok(true));
    assert_eq!(store.delete(&later).await, Ok(false));
    clock.set("2026-01-01T01:00:00Z");
    work(&runner).await;
    assert!(receiver.bodies().is_empty());
}

async fn a_long_stop_is_made_up_for(place: Place) {
    let receiver = Receiver::start(&[answer(200, "")]).await;
    let clock = ManualClock::new("2026-01-01T00:00:30Z");
    let database = place.open();
    let runner = scheduler(&database, &clock, "a");
    runner.use_triggers(vec![trigger(&minutely(&receiver.url, "retry_conf: {tolerance_seconds: 600}"))]);
    work(&runner).await;
    clock.set("2026-03-01T00:00:00Z");
    work(&runner).await;
    work(&runner).await;
    assert_eq!(receiver.bodies().len(), 11, "the minutes within the tolerance");
    let found = events(&database, Some("tick")).await;
    let dead = found.iter().filter(|it| it["status"] == "dead").count();
    assert_eq!((dead, found.len()), (100, 211), "what nobody would be called for is not stored");
}

mod foreign {
    use super::*;
    use crate::postgres_kit::database;

    on_each_release!(async tables_of_another_server_wait_for_the_operator,);

    async fn tables_of_another_server_wait_for_the_operator() {
        let sql = "CREATE SCHEMA hdb_catalog; CREATE TABLE hdb_catalog.hdb_cron_events (id text PRIMARY KEY, trigger_name text NOT NULL, \
                   scheduled_time timestamptz NOT NULL, status text NOT NULL DEFAULT 'scheduled', tries integer NOT NULL DEFAULT 0, \
                   created_at timestamp DEFAULT now(), next_retry_at timestamptz); \
                   INSERT INTO hdb_catalog.hdb_cron_events VALUES ('one', 'tick', '2026-01-01T00:01:00Z')";
        let place = Place::Postgres(database(sql));
        let receiver = Receiver::start(&[answer(200, "")]).await;
        let clock = ManualClock::new("2026-01-01T00:01:30Z");
        let state = place.open();
        let runner = scheduler(&state, &clock, "a");
        runner.use_triggers(vec![trigger(&minutely(&receiver.url, ""))]);
        assert_eq!(runner.step().await, Ok(None));
        assert!(receiver.bodies().is_empty());
        assert_eq!(state.prepare(true).await, Ok(Ownership::Own));
        work(&runner).await;
        let bodies = receiver.bodies();
        assert_eq!((bodies.len(), &bodies[0]["id"]), (1, &json!("one")), "the event that waited there");
    }
}

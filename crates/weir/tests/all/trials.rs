//! A trial beside a running Hasura: its logs are read, nothing of it is changed, and an operator is told what waits until he takes it over.

use crate::events_kit::{Receiver, SECRET, SHOP, Store, check_refusal, run, trigger, write_shop};
use crate::postgres_kit::database;
use crate::support::{Folder, Weir, body, until};
use serde_json::{Value, json};

/// The schema of a Hasura v2 whose metadata is in the database of its source, with an event, a one-off event and a call that wait.
const HASURA: &str = "CREATE SCHEMA hdb_catalog;
CREATE TABLE hdb_catalog.hdb_version (hasura_uuid uuid DEFAULT gen_random_uuid() PRIMARY KEY, version text NOT NULL, upgraded_on timestamptz NOT NULL, cli_state jsonb NOT NULL DEFAULT '{}', console_state jsonb NOT NULL DEFAULT '{}');
CREATE TABLE hdb_catalog.hdb_source_catalog_version (version text NOT NULL, upgraded_on timestamptz NOT NULL);
INSERT INTO hdb_catalog.hdb_source_catalog_version VALUES ('3', now());
CREATE TABLE hdb_catalog.event_log (id text DEFAULT gen_random_uuid()::text PRIMARY KEY, schema_name text NOT NULL, table_name text NOT NULL, trigger_name text NOT NULL, payload jsonb NOT NULL,
  delivered boolean NOT NULL DEFAULT false, error boolean NOT NULL DEFAULT false, tries integer NOT NULL DEFAULT 0, created_at timestamp DEFAULT now(), locked timestamptz, next_retry_at timestamp, archived boolean NOT NULL DEFAULT false);
CREATE TABLE hdb_catalog.event_invocation_logs (id text DEFAULT gen_random_uuid()::text PRIMARY KEY, trigger_name text, event_id text, status integer, request json, response json, created_at timestamp DEFAULT now());
CREATE TABLE hdb_catalog.hdb_cron_events (id text DEFAULT gen_random_uuid()::text PRIMARY KEY, trigger_name text NOT NULL, scheduled_time timestamptz NOT NULL, status text NOT NULL DEFAULT 'scheduled', tries integer NOT NULL DEFAULT 0, created_at timestamptz DEFAULT now(), next_retry_at timestamptz);
CREATE TABLE hdb_catalog.hdb_cron_event_invocation_logs (id text DEFAULT gen_random_uuid()::text PRIMARY KEY, event_id text REFERENCES hdb_catalog.hdb_cron_events (id), status integer, request json, response json, created_at timestamptz DEFAULT now());
CREATE TABLE hdb_catalog.hdb_scheduled_events (id text DEFAULT gen_random_uuid()::text PRIMARY KEY, webhook_conf json NOT NULL, scheduled_time timestamptz NOT NULL, retry_conf json, payload json, header_conf json, status text NOT NULL DEFAULT 'scheduled', tries integer NOT NULL DEFAULT 0, created_at timestamptz DEFAULT now(), next_retry_at timestamptz, comment text);
CREATE TABLE hdb_catalog.hdb_scheduled_event_invocation_logs (id text DEFAULT gen_random_uuid()::text PRIMARY KEY, event_id text REFERENCES hdb_catalog.hdb_scheduled_events (id), status integer, request json, response json, created_at timestamptz DEFAULT now());
CREATE TABLE hdb_catalog.hdb_action_log (id uuid DEFAULT gen_random_uuid() PRIMARY KEY, action_name text, input_payload jsonb NOT NULL, request_headers jsonb NOT NULL, session_variables jsonb NOT NULL, response_payload jsonb, errors jsonb, created_at timestamptz NOT NULL DEFAULT now(), response_received_at timestamptz, status text NOT NULL);
INSERT INTO hdb_catalog.event_log (id, schema_name, table_name, trigger_name, payload, delivered, created_at) VALUES ('old', 'public', 'orders', 'told', '{\"op\": \"INSERT\"}', true, '2024-01-01');
INSERT INTO hdb_catalog.event_log (id, schema_name, table_name, trigger_name, payload) VALUES ('new', 'public', 'orders', 'told', '{\"op\": \"INSERT\", \"data\": {\"old\": null, \"new\": {\"id\": 7}}}');
INSERT INTO hdb_catalog.event_invocation_logs (trigger_name, event_id, status, request, response) VALUES ('told', 'old', 200, '{}', '{}');
INSERT INTO hdb_catalog.hdb_cron_events (id, trigger_name, scheduled_time, status) VALUES ('tick', 'yearly', '2024-01-01', 'delivered');
INSERT INTO hdb_catalog.hdb_cron_event_invocation_logs (event_id, status, request, response) VALUES ('tick', 200, '{}', '{}');";

/// One more of each that waits, whose receivers are `{url}`.
const WAITING: &str = "INSERT INTO hdb_catalog.hdb_scheduled_events (id, webhook_conf, scheduled_time, retry_conf) VALUES ('once', '\"{url}/once\"', now(), '{\"num_retries\": 0, \"retry_interval_seconds\": 10, \"timeout_seconds\": 60, \"tolerance_seconds\": 21600}');
INSERT INTO hdb_catalog.hdb_action_log (action_name, input_payload, request_headers, session_variables, status) VALUES ('settle', '{}', '{}', '{\"x-hasura-role\": \"admin\"}', 'created')";

/// All that the schema holds but rows.
const SHAPE: &str = "SELECT string_agg(table_name || '.' || column_name, ' ' ORDER BY 1) FROM information_schema.columns WHERE table_schema = 'hdb_catalog'";

const TAIL: &str = "; when that server is gone, take them over by `weir events take-over`, or `events: take_over` in weir.yaml";

/// A project over `store` with an event trigger, a cron trigger and an asynchronous action.
fn write_project(store: &Store, receiver: &Receiver) -> Folder {
    let folder = Folder::new();
    write_shop(&folder, store, &json!([trigger("told", &receiver.url("/told"))]));
    let cron = json!([{ "name": "yearly", "webhook": receiver.url("/yearly"), "schedule": "@yearly", "include_in_metadata": true }]);
    let action = json!({ "name": "settle", "definition": { "kind": "asynchronous", "handler": receiver.url("/settle") } });
    let sdl = "type Mutation { settle: Receipt } type Receipt { number: String }";
    for (name, text) in [
        ("cron_triggers.yaml", cron.to_string()),
        (
            "actions.yaml",
            json!({ "actions": [action], "custom_types": { "objects": [{ "name": "Receipt" }] } })
                .to_string(),
        ),
        ("actions.graphql", sdl.to_owned()),
    ] {
        std::fs::write(folder.file("metadata").join(name), text).expect("it is written");
    }
    let text = "listen: 127.0.0.1:0\nthreads: 1\nadmin_secret: hush\nmetadata: metadata\n";
    folder.write("weir.yaml", text);
    folder
}

fn run_weir(folder: &Folder, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = crate::support::command();
    let output = command.args(arguments).arg(folder.file("weir.yaml")).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code(), said)
}

/// The names or ids in a list of an answer.
fn pluck<'v>(list: &'v Value, key: &str) -> Vec<&'v str> {
    list.as_array().expect("a list").iter().filter_map(|it| it[key].as_str()).collect()
}

/// Lists that another server's tables give.
fn check_lists(weir: &Weir) {
    let logs = run(weir, "pg_get_event_logs", json!({ "name": "told" }));
    assert_eq!(pluck(&logs, "id"), ["new", "old"]);
    let pending = run(weir, "pg_get_event_logs", json!({ "name": "told", "status": "pending" }));
    assert_eq!(pluck(&pending, "id"), ["new"]);
    let calls = run(weir, "pg_get_event_invocation_logs", json!({ "name": "told" }));
    assert_eq!(pluck(&calls, "event_id"), ["old"]);
    let event = run(weir, "pg_get_event_by_id", json!({ "event_id": "old" }));
    assert_eq!(
        (&event["event"]["id"], pluck(&event["invocations"], "event_id")),
        (&json!("old"), vec!["old"])
    );
    let ticks = run(weir, "get_scheduled_events", json!({ "type": "cron", "trigger_name": "yearly" }));
    assert_eq!(pluck(&ticks["events"], "id"), ["tick"]);
    let calls =
        run(weir, "get_scheduled_event_invocations", json!({ "type": "cron", "trigger_name": "yearly" }));
    assert_eq!(pluck(&calls["invocations"], "event_id"), ["tick"]);
    let once = run(weir, "get_scheduled_events", json!({ "type": "one_off", "get_rows_count": true }));
    assert_eq!((pluck(&once["events"], "id"), &once["count"]), (vec!["once"], &json!(1)));
    let calls = run(weir, "get_scheduled_event_invocations", json!({ "type": "one_off" }));
    assert_eq!(calls, json!({ "invocations": [] }));
}

/// Commands and mutations that would change another server's tables.
fn check_refusals(weir: &Weir) {
    let waits =
        format!("scheduled events and asynchronous actions wait, as `hdb_catalog` is another server's{TAIL}");
    for (name, args) in [
        ("create_scheduled_event", json!({ "webhook": "http://a", "schedule_at": "2020-01-01T00:00:00Z" })),
        ("delete_scheduled_event", json!({ "type": "one_off", "event_id": "once" })),
    ] {
        check_refusal(weir, name, args, "not-supported", &waits);
    }
    let settled = weir.post("/v1/graphql", &[SECRET], body("mutation { settle }").as_bytes()).json();
    let waits = format!("calls of asynchronous actions wait, as `hdb_catalog` is another server's{TAIL}");
    assert_eq!(settled["errors"][0]["message"], waits, "{settled}");
}

#[test]
fn logs_of_a_hasura_are_read_and_what_waits_is_told_until_it_is_taken_over() {
    let receiver = Receiver::start();
    let store = Store::Postgres(database(&format!("{SHOP}; {HASURA}")));
    store.run(&WAITING.replace("{url}", &receiver.url("")));
    let shape = store.texts(SHAPE);
    let folder = write_project(&store, &receiver);
    let (code, said) = run_weir(&folder, &["check"]);
    for line in [
        format!(
            "events: source `default`: event triggers wait, as `hdb_catalog` is another server's: 1 trigger to make, 1 pending event to deliver{TAIL}\n"
        ),
        format!(
            "state: scheduled events and asynchronous actions wait, as `hdb_catalog` is another server's: 1 one-off event and 1 stored call to deliver{TAIL}\n"
        ),
    ] {
        assert!(code == Some(0) && said.contains(&line), "{said}");
    }
    assert!(said.contains("\nreport: waits: 1 event trigger, 1 action, 1 cron trigger\n"), "{said}");
    let whole = said.lines().find(|it| it.starts_with("report: served whole: ")).expect("a line");
    assert!(["trigger", "action"].iter().all(|it| !whole.contains(it)), "{whole}");
    let file = folder.file("weir.yaml");
    let weir = Weir::start(&["serve", file.to_str().expect("it is UTF-8")], folder);
    for subject in ["event triggers", "scheduled events", "calls of asynchronous actions"] {
        let words = format!("{subject} wait, as `hdb_catalog` is another server's");
        until(&words, || weir.log().contains(&words));
    }
    check_lists(&weir);
    check_refusals(&weir);
    assert_eq!(store.texts(SHAPE), shape);
    assert!(weir.get("/healthz?strict=true", &[]).text().starts_with("OK"), "what waits is consistent");
    assert!(["/told", "/once", "/settle"].iter().all(|it| receiver.calls(it).is_empty()));
    let (_, said) = run_weir(weir.folder(), &["events", "take-over"]);
    let expected = "source `default`: taken over with 1 pending event\nstate: taken over with 1 one-off event and 1 stored call\n";
    assert_eq!(said, expected);
    for path in ["/told", "/once", "/settle"] {
        receiver.wait(path, 1);
    }
    let (_, said) = run_weir(weir.folder(), &["check"]);
    assert!(!said.contains(" wait, as ") && !said.contains("report: waits"), "{said}");
}

#[test]
fn a_catalog_without_logs_has_none_and_stays_as_it_is() {
    let receiver = Receiver::start();
    let version = "CREATE SCHEMA hdb_catalog; CREATE TABLE hdb_catalog.hdb_version (hasura_uuid uuid PRIMARY KEY, version text NOT NULL)";
    let store = Store::Postgres(database(&format!("{SHOP}; {version}")));
    let shape = store.texts(SHAPE);
    let folder = write_project(&store, &receiver);
    let file = folder.file("weir.yaml");
    let weir = Weir::start(&["serve", file.to_str().expect("it is UTF-8")], folder);
    until("it says what waits", || weir.log().contains("event triggers wait, as"));
    for name in ["pg_get_event_logs", "pg_get_event_invocation_logs"] {
        assert_eq!(run(&weir, name, json!({ "name": "told" })), json!([]));
    }
    let unknown = "event id x does not exist";
    check_refusal(&weir, "pg_get_event_by_id", json!({ "event_id": "x" }), "not-exists", unknown);
    let events = run(&weir, "get_scheduled_events", json!({ "type": "one_off", "get_rows_count": true }));
    assert_eq!(events, json!({ "events": [], "count": 0 }));
    let calls = run(&weir, "get_scheduled_event_invocations", json!({ "type": "cron" }));
    assert_eq!(calls, json!({ "invocations": [] }));
    check_refusals(&weir);
    assert_eq!(store.texts(SHAPE), shape);
}

//! Scheduled triggers of a served project: commands, one-off events that arrive, and what a check tells.

use crate::support::{Folder, Weir, command, until};
use crate::upstream_kit::{Upstream, answers};
use serde_json::{Value, json};

const SECRET: (&str, &str) = ("x-hasura-admin-secret", "hush");

const DATABASES: &str = "- name: default
  kind: sqlite
  configuration:
    connection_info: {database_url: sqlite:../pets.db}
  tables:
  - table: pet
";

/// Triggers of the project: one that runs, one that exports leave out, and three that do not run.
const TRIGGERS: &str = "- name: nightly
  webhook: '{{HOOKS_URL}}/nightly'
  schedule: 0 0 29 2 *
  include_in_metadata: true
  payload: {rate: 1.50}
  retry_conf: {num_retries: 3}
  headers:
  - {name: X-Key, value_from_env: HOOKS_KEY}
- name: hidden
  webhook: http://127.0.0.1:9
  schedule: '@yearly'
  include_in_metadata: false
- name: lost
  webhook: '{{GONE_A}}/{{GONE_B}}'
  schedule: '@daily'
  include_in_metadata: true
- name: odd
  webhook: http://127.0.0.1:9
  schedule: 0 0 * * sun-sat
  include_in_metadata: true
- name: torn
  webhook: http://127.0.0.1:9
  schedule: '@daily'
  include_in_metadata: true
  request_transform: {version: 2, body: {action: transform, template: '{{$body.a b}}'}}
";

fn project(url: &str) -> (Folder, std::process::Command) {
    let folder = Folder::new();
    folder.pets();
    let files = [
        ("version.yaml", "version: 3\n"),
        ("databases/databases.yaml", DATABASES),
        ("cron_triggers.yaml", TRIGGERS),
    ];
    for (name, text) in files {
        let path = folder.file("metadata").join(name);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it can be made");
        std::fs::write(path, text).expect("it can be written");
    }
    folder.write("weir.yaml", "listen: 127.0.0.1:0\nadmin_secret: hush\nmetadata: metadata\n");
    let mut command = command();
    command.env("HOOKS_URL", url).env("HOOKS_KEY", "k1");
    (folder, command)
}

fn serve(url: &str) -> Weir {
    let (folder, mut command) = project(url);
    command.arg("serve").arg(folder.file("weir.yaml"));
    Weir::run(&mut command, folder)
}

fn run(weir: &Weir, name: &str, args: &Value) -> Value {
    let text = json!({ "type": name, "args": args }).to_string();
    weir.post("/v1/metadata", &[SECRET], text.as_bytes()).json()
}

#[test]
fn a_one_off_event_arrives_and_is_logged() {
    let upstream = Upstream::start(answers("- {ask: POST /once, text: thanks}"));
    let weir = serve(&format!("http://{}", upstream.address));
    let nothing = run(&weir, "get_scheduled_events", &json!({ "type": "one_off" }));
    assert_eq!(nothing, json!({ "events": [] }));
    let args = json!({
        "webhook": "{{HOOKS_URL}}/once",
        "schedule_at": "2020-01-01T00:00:00Z",
        "payload": { "n": 1 },
        "headers": [{ "name": "X-Key", "value_from_env": "HOOKS_KEY" }],
        "retry_conf": { "tolerance_seconds": 4_000_000_000_u32 },
        "comment": "once",
        // Taken and not kept, as in Hasura.
        "request_transform": { "version": 2, "body": { "action": "transform", "template": "{{1}}" } },
    });
    let made = run(&weir, "create_scheduled_event", &args);
    assert_eq!(made["message"], json!("success"), "{made}");
    let events = || run(&weir, "get_scheduled_events", &json!({ "type": "one_off", "get_rows_count": true }));
    until("the event is delivered", || events()["events"][0]["status"] == "delivered");
    let asked = upstream.take_requests().pop().expect("it was called");
    let body: Value = serde_json::from_str(&asked.body).expect("it is JSON");
    assert_eq!(
        (&body["id"], &body["payload"], &body["comment"]),
        (&made["event_id"], &json!({ "n": 1 }), &json!("once"))
    );
    assert!(asked.headers.iter().any(|it| it.0 == "x-key" && it.1 == "k1"), "{asked:?}");
    assert_eq!(events()["count"], json!(1));
    let calls = run(
        &weir,
        "get_scheduled_event_invocations",
        &json!({ "type": "one_off", "event_id": made["event_id"] }),
    );
    assert_eq!(calls["invocations"][0]["response"]["data"]["body"], json!("thanks"));
    let delete = json!({ "type": "one_off", "event_id": made["event_id"] });
    assert_eq!(run(&weir, "delete_scheduled_event", &delete), json!({ "message": "success" }));
    assert_eq!(run(&weir, "delete_scheduled_event", &delete)["code"], json!("not-found"));
    for (args, message) in [
        (json!({ "schedule_at": "2020-01-01T00:00:00Z" }), "key \"webhook\" not found"),
        (
            json!({ "webhook": "http://a", "schedule_at": "2020-01-01" }),
            "`2020-01-01` is no date and time of ISO 8601 with a zone",
        ),
    ] {
        assert_eq!(run(&weir, "create_scheduled_event", &args)["error"], json!(message));
    }
}

#[test]
fn cron_triggers_are_made_stored_ahead_and_deleted() {
    let weir = serve("http://127.0.0.1:9");
    let events =
        |name: &str| run(&weir, "get_scheduled_events", &json!({ "type": "cron", "trigger_name": name }));
    until("events are stored ahead", || {
        events("nightly")["events"].as_array().is_some_and(|it| it.len() == 100)
    });
    let next = &events("nightly")["events"][0];
    assert_eq!((&next["status"], &next["trigger_name"]), (&json!("scheduled"), &json!("nightly")));
    let trigger = json!({ "name": "x", "webhook": "http://127.0.0.1:9", "schedule": "0 0 1 1 *", "include_in_metadata": true });
    assert_eq!(run(&weir, "create_cron_trigger", &trigger), json!({ "message": "success" }));
    until("events are stored ahead", || events("x")["events"].as_array().is_some_and(|it| it.len() == 100));
    let again = run(&weir, "create_cron_trigger", &trigger);
    assert_eq!(
        (&again["code"], &again["error"]),
        (&json!("already-exists"), &json!("cron trigger with name: x already exists"))
    );
    let mut replaced = trigger.clone();
    replaced["replace"] = json!(true);
    replaced["schedule"] = json!("0 0 31 2 *");
    assert_eq!(run(&weir, "create_cron_trigger", &replaced), json!({ "message": "success" }));
    until("events of the old schedule are gone", || events("x") == json!({ "events": [] }));
    let triggers = run(&weir, "get_cron_triggers", &json!({}));
    let made = triggers["cron_triggers"].as_array().and_then(|it| it.iter().find(|it| it["name"] == "x"));
    let retry = json!({ "num_retries": 0, "retry_interval_seconds": 10, "timeout_seconds": 60, "tolerance_seconds": 21600 });
    assert_eq!(made.expect("it is listed")["retry_conf"], retry);
    assert_eq!(run(&weir, "delete_cron_trigger", &json!({ "name": "x" })), json!({ "message": "success" }));
    let gone = run(&weir, "delete_cron_trigger", &json!({ "name": "x" }));
    assert_eq!(
        (&gone["code"], &gone["error"]),
        (&json!("not-exists"), &json!("cron trigger with name: x does not exist"))
    );
    replaced["schedule"] = json!("* * * *");
    let refused = run(&weir, "create_cron_trigger", &replaced);
    assert!(
        refused["error"].as_str().is_some_and(|it| it.contains("the schedule is no cron expression")),
        "{refused}"
    );
}

#[test]
fn a_reload_by_changed_files_moves_the_state_and_serves_on() {
    let weir = serve("http://127.0.0.1:9");
    let count = |name: &str| {
        let shown = run(&weir, "get_scheduled_events", &json!({ "type": "cron", "trigger_name": name }));
        shown["events"].as_array().map_or(0, Vec::len)
    };
    until("events are stored ahead", || count("nightly") == 100);
    let yaml = "listen: 127.0.0.1:0\nadmin_secret: hush\nmetadata: metadata\nstate: sqlite:other.db\n";
    weir.folder().write("weir.yaml", yaml);
    let later =
        "- {name: later, webhook: 'http://127.0.0.1:9', schedule: '@yearly', include_in_metadata: true}\n";
    std::fs::write(weir.folder().file("metadata").join("cron_triggers.yaml"), later)
        .expect("it can be written");
    until("the state is another file", || weir.folder().file("other.db").exists() && count("later") == 100);
    assert_eq!(count("nightly"), 0);
}

#[test]
fn hidden_triggers_are_not_exported_and_survive_a_replacement() {
    let weir = serve("http://127.0.0.1:9");
    let exported = run(&weir, "export_metadata", &json!({}));
    let names: Vec<&str> = exported["cron_triggers"]
        .as_array()
        .expect("it has triggers")
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    assert_eq!(names, ["lost", "nightly", "odd", "torn"]);
    let mut next = exported.clone();
    next["cron_triggers"].as_array_mut().expect("it has triggers").retain(|it| it["name"] == "nightly");
    let replaced = run(&weir, "replace_metadata", &next);
    assert_eq!(replaced, json!({ "message": "success" }), "{replaced}");
    let triggers = run(&weir, "get_cron_triggers", &json!({}));
    assert_eq!(triggers["cron_triggers"].as_array().map(Vec::len), Some(2), "{triggers}");
}

#[test]
fn a_check_tells_triggers_that_do_not_run() {
    let (folder, mut command) = project("http://127.0.0.1:9");
    let checked = command.arg("check").arg(folder.file("weir.yaml")).output().expect("it runs");
    let said =
        format!("{}{}", String::from_utf8_lossy(&checked.stdout), String::from_utf8_lossy(&checked.stderr));
    for part in [
        "cron_triggers.yaml:13:3: [2]: Inconsistent object: in cron trigger \"lost\": Value for environment variables not found: GONE_A, GONE_B",
        "[3]: Inconsistent object: in cron trigger \"odd\": the schedule is no cron expression of five fields",
        "[4]: Inconsistent object: in cron trigger \"torn\": request transform validation failed: in `body`: Parse Error at line 1, column ",
    ] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    assert!(!said.contains("not supported"), "{said}");
    assert_eq!(checked.status.code(), Some(1));
    let one = &TRIGGERS[..TRIGGERS.find("- name: lost").expect("it is there")];
    std::fs::write(folder.file("metadata").join("cron_triggers.yaml"), one).expect("it can be written");
    let checked = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(
        checked.status.success()
            && said.contains("schedules and asynchronous actions run in one process only"),
        "{said}"
    );
}

#[test]
fn a_transform_is_tried_without_a_call() {
    let weir = serve("http://127.0.0.1:9");
    let args = json!({ "webhook_url": "{{A}}/b", "env": { "A": "http://shop" }, "body": { "n": 1 }, "request_transform": { "url": "{{$base_url}}/{{$body.n}}" } });
    let shown = run(&weir, "test_webhook_transform", &args);
    assert_eq!(
        shown,
        json!({ "webhook_url": "http://shop/b/1", "method": "POST", "headers": [], "body": { "n": 1 } })
    );
    let missing = json!({ "webhook_url": "{{HOOKS_URL}}/b", "body": 1, "request_transform": {} });
    let refused = run(&weir, "test_webhook_transform", &missing);
    assert_eq!((&refused["code"], &refused["path"]), (&json!("not-found"), &json!("$.args.webhook_url")));
}

#[test]
fn a_default_source_that_takes_no_writes_leaves_the_state_to_a_file() {
    let database = crate::postgres_kit::database("CREATE TABLE pet (id int PRIMARY KEY)");
    database.run(&format!("ALTER DATABASE \"{}\" SET default_transaction_read_only = on", database.name));
    let (folder, mut command) = project("http://127.0.0.1:9");
    let text = DATABASES
        .replace("kind: sqlite", "kind: postgres")
        .replace("sqlite:../pets.db", &database.socket_url());
    std::fs::write(folder.file("metadata/databases/databases.yaml"), text).expect("it can be written");
    let one = &TRIGGERS[..TRIGGERS.find("- name: lost").expect("it is there")];
    std::fs::write(folder.file("metadata/cron_triggers.yaml"), one).expect("it can be written");
    let checked = command.arg("check").arg(folder.file("weir.yaml")).output().expect("it runs");
    let said = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(said.contains("schedules and asynchronous actions run in one process only"), "{said}");
    let mut command = crate::support::command();
    command.env("HOOKS_URL", "http://127.0.0.1:9").env("HOOKS_KEY", "k1");
    let weir = Weir::run(command.arg("serve").arg(folder.file("weir.yaml")), folder);
    let args = json!({ "type": "cron", "trigger_name": "nightly" });
    until("events are stored ahead", || {
        run(&weir, "get_scheduled_events", &args)["events"].as_array().is_some_and(|it| it.len() == 100)
    });
    assert!(weir.folder().file(".metadata.weir-state/state.db").exists());
}

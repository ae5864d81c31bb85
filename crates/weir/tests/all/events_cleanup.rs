//! Old events go by the schedule of their trigger, or by a command.

use crate::events_kit::{Receiver, Store, run, serve_shop, sqlite_shop, trigger};
use crate::postgres_kit::database;
use crate::support::{Folder, Weir, until};
use serde_json::{Value, json};

/// Triggers: one whose events are removed, one whose removal is paused, one whose schedule is none.
fn triggers(receiver: &Receiver, schedules: bool) -> Value {
    let cleanup = |schedule: &str, is_paused: bool| json!({ "schedule": schedule, "batch_size": 2, "clear_older_than": 5, "timeout": 60, "clean_invocation_logs": true, "paused": is_paused });
    let one = |name: &str, schedule: &str, is_paused: bool| {
        let mut made = trigger(name, &receiver.url(&format!("/{name}")));
        if schedules {
            made["cleanup_config"] = cleanup(schedule, is_paused);
        }
        made
    };
    json!([
        one("wrong", "0 0 * * sun-sat", false),
        one("kept", "* * * * *", true),
        one("told", "* * * * *", false)
    ])
}

/// Time so many hours ago, in the log.
fn ago(store: &Store, hours: u32) -> String {
    match store {
        Store::Sqlite(_) => format!("strftime('%Y-%m-%dT%H:%M:%f', 'now', '-{hours} hours')"),
        Store::Postgres(_) => format!("now() AT TIME ZONE 'UTC' - interval '{hours} hours'"),
    }
}

fn cleanups(store: &Store) -> &'static str {
    match store {
        Store::Sqlite(_) => "hdb_event_log_cleanups",
        Store::Postgres(_) => "hdb_catalog.hdb_event_log_cleanups",
    }
}

/// Seven events of each trigger: five old ones that are done, of which one failed, one that waits and is old, and one that is young.
fn fill(store: &Store, receiver: &Receiver) {
    let log = store.log();
    for id in 1..=7 {
        store.run(&format!("INSERT INTO orders (id) VALUES ({id})"));
    }
    receiver.wait("/told", 7);
    receiver.wait("/kept", 7);
    let done = format!("SELECT count(*) FROM {log} WHERE delivered");
    until("all are recorded", || store.texts(&done) == ["21"]);
    let id = match store {
        Store::Sqlite(_) => "json_extract(payload, '$.data.new.id')",
        Store::Postgres(_) => "(payload #>> '{data,new,id}')::int",
    };
    store.run(&format!("UPDATE {log} SET created_at = {} WHERE {id} < 7", ago(store, 6)));
    store.run(&format!("UPDATE {log} SET delivered = false, error = true WHERE {id} = 1"));
    store.run(&format!(
        "UPDATE {log} SET delivered = false, next_retry_at = {} WHERE {id} = 6",
        ago(store, 0).replace("- interval '0 hours'", "+ interval '9 hours'").replace("-0 hours", "+9 hours")
    ));
}

fn count(store: &Store, table: &str, trigger: &str) -> String {
    store.texts(&format!("SELECT count(*) FROM {table} WHERE trigger_name = '{trigger}'")).concat()
}

fn notes(store: &Store) -> Vec<String> {
    let sql = format!(
        "SELECT trigger_name || ' ' || status || ' ' || coalesce(deleted_event_logs, -1) || ' ' || coalesce(deleted_event_invocation_logs, -1) \
         FROM {} ORDER BY scheduled_at",
        cleanups(store)
    );
    store.texts(&sql)
}

/// Old events are removed while `servers` serve.
fn check(folder: Folder, store: &Store, start: impl Fn(Value, Folder) -> Vec<Weir>) {
    let receiver = Receiver::start();
    let before = serve_shop(folder, store, &triggers(&receiver, false), "");
    fill(store, &receiver);
    drop(before);
    for (id, hours) in [("lost", 3), ("old", 24 * 31)] {
        store.run(&format!(
            "INSERT INTO {} (id, trigger_name, scheduled_at, status) VALUES ('{id}', 'told', {}, 'scheduled')",
            cleanups(store),
            ago(store, hours)
        ));
    }
    let servers = start(triggers(&receiver, true), Folder::new());
    until("the cleanup has ended", || notes(store).iter().any(|it| it.starts_with("told completed")));
    // Of several servers one does it, and those whose server is gone are told.
    let first: Vec<String> = notes(store).into_iter().take(2).collect();
    assert_eq!(first, ["told dead -1 -1", "told completed 5 5"]);
    assert_eq!(
        (count(store, store.log(), "told"), count(store, store.calls(), "told")),
        ("2".into(), "2".into())
    );
    assert_eq!(
        (count(store, store.log(), "kept"), count(store, store.calls(), "kept")),
        ("7".into(), "7".into())
    );
    assert_eq!(count(store, store.log(), "wrong"), "7");
    assert!(notes(store).iter().all(|it| it.starts_with("told ")));
    let weir = &servers[0];
    until("it is told", || {
        weir.log().contains("old events are not removed: the schedule is no cron expression")
    });
    let args =
        json!({ "event_trigger_name": "kept", "source": "default", "clear_older_than": 5, "batch_size": 2 });
    // Hasura's free edition: `Event log cleanup feature is enterprise edition only`.
    assert_eq!(run(weir, "cleanup_event_trigger_logs", args), json!({ "message": "success" }));
    assert_eq!(
        (count(store, store.log(), "kept"), count(store, store.calls(), "kept")),
        ("2".into(), "7".into())
    );
}

#[test]
fn old_events_of_a_file_are_removed_by_schedule() {
    let folder = Folder::new();
    let kept = Folder::new();
    let store = sqlite_shop(&kept);
    check(folder, &store, |triggers, folder| vec![serve_shop(folder, &store, &triggers, "")]);
}

#[test]
fn old_events_on_postgresql_are_removed_by_one_of_two_servers() {
    let store = Store::Postgres(database(crate::events_kit::SHOP));
    check(Folder::new(), &store, |triggers, folder| {
        let first = serve_shop(folder, &store, &triggers, "");
        vec![first, serve_shop(Folder::new(), &store, &triggers, "")]
    });
}

#[test]
fn cleanups_are_paused_and_resumed_by_commands() {
    let kept = Folder::new();
    let store = sqlite_shop(&kept);
    let receiver = Receiver::start();
    let weir = serve_shop(Folder::new(), &store, &triggers(&receiver, true), "");
    // Of the triggers by their names: kept, told, wrong.
    let paused = || {
        let exported = run(&weir, "export_metadata", json!({}));
        let tables = exported["sources"][0]["tables"].as_array().expect("a list");
        let orders = tables.iter().find(|it| it["table"]["name"] == "orders").expect("it is tracked");
        let triggers = orders["event_triggers"].as_array().expect("a list");
        triggers.iter().map(|it| it["cleanup_config"]["paused"] == true).collect::<Vec<bool>>()
    };
    assert_eq!(paused(), [true, false, false]);
    let all = json!({ "event_triggers": { "sources": "*" } });
    run(&weir, "pause_event_trigger_cleanups", all.clone());
    assert_eq!(paused(), [true, true, true]);
    let one = json!({ "event_triggers": [{ "source_name": "default", "event_triggers": ["told"] }] });
    run(&weir, "resume_event_trigger_cleanups", one);
    assert_eq!(paused(), [true, false, true]);
    run(&weir, "resume_event_trigger_cleanups", all);
    assert_eq!(paused(), [false, false, false]);
}

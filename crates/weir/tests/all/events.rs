//! Event triggers as people have them: metadata and commands in, calls out, on both databases.

use crate::events_kit::{
    Receiver, SECRET, SHOP, SUCCESS, Store, check_refusal, command, run, serve_shop, serve_shop_with,
    sqlite_shop, trigger, write_shop,
};
use crate::postgres_kit::database;
use crate::support::{Folder, Weir, body, until};
use serde_json::{Value, json};
use std::time::Duration;

/// Runs `test` with a shop in a file, and in PostgreSQL.
fn on_both(test: impl Fn(Folder, Store)) {
    let folder = Folder::new();
    let store = sqlite_shop(&folder);
    test(folder, store);
    test(Folder::new(), Store::Postgres(database(SHOP)));
}

fn mutate(weir: &Weir, query: &str) {
    let answer = weir.post("/v1/graphql", &[SECRET], body(query).as_bytes());
    assert!(!answer.text().contains("errors"), "{}", answer.text());
}

/// A call for a change of an order.
fn check_call(call: &crate::events_kit::Call, op: &str, old: &Value, new: &Value) {
    let event = &call.body["event"];
    assert_eq!((event["op"].as_str(), &event["data"]["old"], &event["data"]["new"]), (Some(op), old, new));
    assert_eq!(call.body["trigger"], json!({ "name": "order_told" }));
    assert_eq!(call.body["table"]["name"], "orders");
    assert_eq!(call.body["delivery_info"], json!({ "max_retries": 0, "current_retry": 0 }));
    assert_eq!(call.body["id"].as_str().map(str::len), Some(36));
    assert!(call.body["created_at"].as_str().is_some_and(|it| it.contains('T') && !it.ends_with('Z')));
    assert_eq!(call.headers["x-key"], "k");
    assert_eq!(call.headers["content-type"], "application/json");
    assert!(call.headers["user-agent"].starts_with("hasura-graphql-engine/v2."));
}

/// The rows of the log about the last event.
fn check_log(weir: &Weir) {
    let logs = run(weir, "pg_get_event_logs", json!({ "name": "order_told", "limit": 2 }));
    let logs = logs.as_array().expect("a list");
    assert_eq!((logs.len(), &logs[0]["payload"]["op"]), (2, &json!("DELETE")), "{logs:?}");
    let keys: Vec<&String> = logs[0].as_object().expect("an object").keys().collect();
    assert_eq!(
        keys,
        [
            "id",
            "schema_name",
            "table_name",
            "trigger_name",
            "payload",
            "delivered",
            "error",
            "tries",
            "created_at",
            "locked",
            "next_retry_at",
            "archived"
        ]
    );
    let id = logs[0]["id"].as_str().expect("an id");
    let event = run(weir, "pg_get_event_by_id", json!({ "event_id": id }));
    let call = &event["invocations"][0];
    assert_eq!((&event["event"]["id"], &call["http_status"]), (&json!(id), &json!(200)), "{event}");
    assert_eq!(call["response"]["type"], "webhook_response");
    assert_eq!(call["response"]["data"]["body"], "ok");
    assert_eq!((&call["request"]["version"], &call["request"]["payload"]["id"]), (&json!("2"), &json!(id)));
    let headers = call["request"]["headers"].as_array().expect("a list");
    assert!(headers.contains(&json!({ "name": "X-Key", "value": "k" })), "{headers:?}");
}

#[test]
fn changes_are_told_with_bodies_headers_and_rows_of_the_log() {
    on_both(|folder, store| {
        let receiver = Receiver::start();
        let mut told = trigger("order_told", &receiver.url("/told"));
        told["headers"] =
            json!([{ "name": "X-Key", "value": "k" }, { "name": "Content-Type", "value": "text/plain" }]);
        let weir = serve_shop(folder, &store, &json!([told]), "");
        mutate(&weir, "mutation { insert_orders_one(object: {id: 1, status: \"new\", total: 1.5}) { id } }");
        store.run("UPDATE orders SET status = 'paid'; UPDATE orders SET status = 'paid'; DELETE FROM orders");
        let calls = receiver.wait("/told", 3);
        let row = json!({ "id": 1, "status": "new", "total": 1.5 });
        let mut paid = row.clone();
        paid["status"] = json!("paid");
        for (op, old, new) in
            [("INSERT", &Value::Null, &row), ("UPDATE", &row, &paid), ("DELETE", &paid, &Value::Null)]
        {
            // Calls that left one after the other may arrive in another order.
            let call = calls.iter().find(|it| it.body["event"]["op"] == op).expect("it is told");
            check_call(call, op, old, new);
        }
        until("all are recorded", || {
            store.texts(&format!("SELECT count(*) FROM {} WHERE delivered AND tries = 1", store.log()))
                == ["3"]
        });
        check_log(&weir);
        let calls = run(&weir, "get_event_invocation_logs", json!({ "name": "order_told" }));
        assert_eq!(calls.as_array().map(Vec::len), Some(3));
        assert_eq!(
            run(&weir, "sqlite_get_event_logs", json!({ "name": "order_told", "status": "pending" })),
            json!([])
        );
    });
}

/// Arguments of `create_event_trigger`, with `more`.
fn creation(receiver: &Receiver, more: Value) -> Value {
    let mut args = json!({ "name": "told", "table": "orders", "webhook": receiver.url("/told"), "insert": { "columns": "*" } });
    let members = more.as_object().expect("an object").clone();
    args.as_object_mut().expect("an object").extend(members);
    args
}

#[test]
fn wrong_triggers_are_refused_in_hasura_s_words() {
    on_both(|folder, store| {
        let receiver = Receiver::start();
        let weir = serve_shop(folder, &store, &json!([]), "");
        let refused = |more: Value, code: &str, message: &str| {
            check_refusal(&weir, "pg_create_event_trigger", creation(&receiver, more), code, message);
        };
        let long = "x".repeat(43);
        let none = "atleast one amongst insert/update/delete/enable_manual spec must be provided";
        let both = "only one of webhook or webhook_from_env should be given";
        for (more, message) in [
            (json!({ "name": "1x" }), "only alphanumeric and underscore and hyphens allowed for name"),
            (json!({ "name": long }), "event trigger name can be at most 42 characters"),
            (json!({ "insert": null }), none),
            (json!({ "insert": { "columns": [] } }), "found empty column specification"),
            (json!({ "update": { "columns": "*", "payload": [] } }), "found empty payload specification"),
            (json!({ "webhook_from_env": "A" }), both),
            (json!({ "webhook": null }), "must provide webhook or webhook_from_env"),
        ] {
            refused(more, "parse-failed", message);
        }
        refused(
            json!({ "table": "nobody" }),
            "not-exists",
            "table \"nobody\" does not exist in source: default",
        );
        refused(json!({ "replace": true }), "not-exists", "event trigger \"told\" does not exist");
        for (more, part) in [
            (json!({ "update": { "columns": ["gone"] } }), "column \\\"gone\\\" does not exist"),
            (
                json!({ "webhook": "{{NOWHERE_1}}/a{{NOWHERE_2}}" }),
                "Value for environment variables not found: NOWHERE_1, NOWHERE_2",
            ),
        ] {
            let answer = command(&weir, "pg_create_event_trigger", creation(&receiver, more));
            assert!(answer.status == 400 && answer.text().contains(part), "{}", answer.text());
        }
        run(&weir, "pg_create_event_trigger", creation(&receiver, json!({})));
        refused(json!({}), "already-exists", "Event trigger with name \"told\" already exists");
        let moved = json!({ "table": "notes", "replace": true });
        refused(moved, "not-supported", "cannot replace table or schema for trigger");
        let not_manual = "manual mode is not enabled for event trigger";
        let args = json!({ "name": "told", "payload": 1 });
        check_refusal(&weir, "sqlite_invoke_event_trigger", args, "not-supported", not_manual);
        for (name, args, message) in [
            ("redeliver_event", json!({ "event_id": "nobody" }), "event not found"),
            ("get_event_by_id", json!({ "event_id": "x" }), "event id x does not exist"),
            (
                "pg_invoke_event_trigger",
                json!({ "name": "other", "payload": 1 }),
                "event trigger \"other\" does not exist",
            ),
            ("pg_delete_event_trigger", json!({ "name": "other" }), "event trigger \"other\" does not exist"),
        ] {
            check_refusal(&weir, name, args, "not-exists", message);
        }
        let answer = command(&weir, "get_event_logs", json!({ "name": "told", "status": "all" }));
        assert_eq!((answer.status, answer.json()["code"].as_str()), (400, Some("parse-failed")));
    });
}

#[test]
fn triggers_are_made_replaced_invoked_and_deleted() {
    on_both(|folder, store| {
        let receiver = Receiver::start();
        let weir = serve_shop(folder, &store, &json!([]), "");
        let made = run(&weir, "pg_create_event_trigger", creation(&receiver, json!({})));
        assert_eq!(made.to_string(), SUCCESS);
        store.run("INSERT INTO orders (id) VALUES (1)");
        receiver.wait("/told", 1);
        let exported = run(&weir, "export_metadata", json!({}));
        let expected = json!({
            "name": "told", "definition": { "insert": { "columns": "*" } },
            "retry_conf": { "interval_sec": 10, "num_retries": 0, "timeout_sec": 60 }, "webhook": receiver.url("/told"),
        });
        let tables = exported["sources"][0]["tables"].as_array().expect("a list");
        let orders = tables.iter().find(|it| it["table"]["name"] == "orders").expect("orders are tracked");
        assert_eq!(orders["event_triggers"], json!([expected]));
        let manual = json!({ "replace": true, "enable_manual": true, "insert": null });
        run(&weir, "citus_create_event_trigger", creation(&receiver, manual));
        store.run("INSERT INTO orders (id) VALUES (2)");
        let args = json!({ "name": "told", "payload": { "a": [1.50] } });
        let made = run(&weir, "pg_invoke_event_trigger", args);
        let id = made["event_id"].as_str().expect("an id").to_owned();
        let calls = receiver.wait("/told", 2);
        assert_eq!(calls[1].body["event"]["op"], "MANUAL");
        assert_eq!(calls[1].body["event"]["data"], json!({ "old": null, "new": { "a": [1.5] } }));
        assert_eq!(calls[1].body["id"], json!(id));
        let delivered = format!("SELECT id FROM {} WHERE delivered AND id = '{id}'", store.log());
        until("it is delivered", || store.texts(&delivered).len() == 1);
        run(&weir, "pg_redeliver_event", json!({ "event_id": id }));
        assert_eq!(receiver.wait("/told", 3)[2].body["id"], json!(id));
        assert_eq!(run(&weir, "pg_delete_event_trigger", json!({ "name": "told" })).to_string(), SUCCESS);
        let left = format!("SELECT id FROM {} WHERE NOT archived", store.log());
        until("its events are archived", || store.texts(&left).is_empty());
        store.run("INSERT INTO orders (id) VALUES (3)");
        // An archived event stays unsent, whatever the answer.
        let archived = command(&weir, "pg_redeliver_event", json!({ "event_id": id }));
        run(&weir, "pg_create_event_trigger", creation(&receiver, json!({ "name": "later" })));
        store.run("INSERT INTO orders (id) VALUES (4)");
        assert_eq!(receiver.wait("/told", 4)[3].body["trigger"]["name"], "later", "{}", archived.text());
    });
}

#[test]
fn an_event_in_work_is_not_delivered_again() {
    on_both(|folder, store| {
        let receiver = Receiver::start();
        receiver.hang("/told");
        let weir = serve_shop(folder, &store, &json!([trigger("told", &receiver.url("/told"))]), "");
        store.run("INSERT INTO orders (id) VALUES (1)");
        let id = receiver.wait("/told", 1)[0].body["id"].clone();
        let busy = "event is already being processed";
        check_refusal(&weir, "pg_redeliver_event", json!({ "event_id": id }), "busy", busy);
    });
}

#[test]
fn an_event_with_bytes_that_are_no_text_stops_no_others() {
    let kept = Folder::new();
    let store = sqlite_shop(&kept);
    let receiver = Receiver::start();
    let _weir = serve_shop(Folder::new(), &store, &json!([trigger("told", &receiver.url("/told"))]), "");
    store.run("INSERT INTO orders (id, status) VALUES (1, CAST(x'ff61' AS TEXT)); INSERT INTO orders (id) VALUES (2)");
    let calls = receiver.wait("/told", 2);
    let first = calls.iter().find(|it| it.body["event"]["data"]["new"]["id"] == 1).expect("it is told");
    assert_eq!(first.body["event"]["data"]["new"]["status"], "\u{fffd}a");
}

#[test]
fn a_table_that_another_program_makes_anew_gets_its_triggers_back() {
    let kept = Folder::new();
    let store = sqlite_shop(&kept);
    let receiver = Receiver::start();
    let _weir = serve_shop(Folder::new(), &store, &json!([trigger("told", &receiver.url("/told"))]), "");
    store.run("CREATE TABLE new (id INTEGER PRIMARY KEY, status TEXT, total NUMERIC, more TEXT); DROP TABLE orders; ALTER TABLE new RENAME TO orders");
    let triggers =
        "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'notify_hasura_told_%'";
    until("the triggers are back", || store.texts(triggers) == ["3"]);
    store.run("INSERT INTO orders (id, more) VALUES (1, 'm')");
    assert_eq!(receiver.wait("/told", 1)[0].body["event"]["data"]["new"]["more"], "m");
}

#[test]
fn failures_are_retried_and_a_receiver_is_obeyed() {
    on_both(|folder, store| {
        let receiver = Receiver::start();
        receiver.answer("/twice", &["500 No", "302 Found\r\nlocation: /elsewhere", "200 OK"]);
        receiver.answer("/never", &["404 No"]);
        receiver.answer("/later", &["429 Slow\r\nretry-after: 2", "204 No Content"]);
        let mut twice = trigger("twice", &receiver.url("/twice"));
        twice["retry_conf"]["num_retries"] = json!(2);
        let mut never = trigger("never", &receiver.url("/never"));
        never["retry_conf"]["num_retries"] = json!(1);
        let later = trigger("later", &receiver.url("/later"));
        let weir = serve_shop(folder, &store, &json!([twice, never, later]), "");
        store.run("INSERT INTO orders (id) VALUES (1)");
        let state = |name: &str| {
            let sql = format!(
                "SELECT CASE WHEN delivered THEN 'delivered' WHEN error THEN 'failed' ELSE 'pending' END || ' ' || tries FROM {} WHERE trigger_name = '{name}'",
                store.log()
            );
            store.texts(&sql).concat()
        };
        until("it is delivered at the third call", || state("twice") == "delivered 3");
        until("it has failed", || state("never") == "failed 2");
        until("it is delivered after the pause", || state("later") == "delivered 2");
        let calls = receiver.calls("/later");
        assert!(calls[1].at - calls[0].at >= Duration::from_millis(1900));
        assert_eq!(
            receiver.calls("/twice")[2].body["delivery_info"],
            json!({ "max_retries": 2, "current_retry": 2 })
        );
        assert!(receiver.calls("/elsewhere").is_empty());
        let statuses = store.texts(&format!(
            "SELECT status FROM {} WHERE trigger_name = 'twice' ORDER BY created_at",
            store.calls()
        ));
        assert_eq!(statuses, ["500", "302", "200"]);
        for (name, count) in [("never", 1), ("twice", 0), ("later", 0)] {
            let listed = run(&weir, "get_event_logs", json!({ "name": name, "status": "failed" }));
            assert_eq!(listed.as_array().map(Vec::len), Some(count), "{name}: {listed}");
        }
        let failed = run(&weir, "get_event_invocation_logs", json!({ "name": "never", "limit": 1 }));
        assert_eq!(
            failed[0]["response"],
            json!({ "type": "client_error", "version": "2", "data": { "message": "ok" } })
        );
    });
}

#[test]
fn a_receiver_that_hangs_holds_up_nobody_else() {
    on_both(|folder, store| {
        let receiver = Receiver::start();
        receiver.hang("/hangs");
        let gone = receiver.url("/gone").replace("127.0.0.1", "127.0.0.9");
        let triggers = json!([
            trigger("hangs", &receiver.url("/hangs")),
            trigger("gone", &gone),
            trigger("works", &receiver.url("/works")),
        ]);
        let weir = serve_shop(folder, &store, &triggers, "");
        for id in 0..150 {
            store.run(&format!("INSERT INTO orders (id) VALUES ({id})"));
        }
        let calls = receiver.wait("/works", 150);
        let ids: Vec<u64> =
            calls.iter().filter_map(|it| it.body["event"]["data"]["new"]["id"].as_u64()).collect();
        assert_eq!(ids.len(), 150);
        mutate(&weir, "mutation { insert_notes_one(object: {id: 1}) { id } }");
        weir.signal("-TERM");
    });
}

#[test]
fn ordered_events_of_a_row_wait_for_each_other() {
    on_both(|folder, store| {
        let receiver = Receiver::start();
        receiver.answer("/ordered", &["500 No", "500 No", "200 OK"]);
        let mut ordered = trigger("ordered", &receiver.url("/ordered"));
        ordered["ordered"] = json!(true);
        ordered["retry_conf"]["num_retries"] = json!(5);
        let _weir = serve_shop(folder, &store, &json!([ordered]), "");
        store.run("INSERT INTO orders (id, status) VALUES (1, 'a'); UPDATE orders SET status = 'b'; UPDATE orders SET status = 'c'; DELETE FROM orders");
        let calls = receiver.wait("/ordered", 6);
        let ops: Vec<&str> = calls.iter().filter_map(|it| it.body["event"]["op"].as_str()).collect();
        assert_eq!(ops, ["INSERT", "INSERT", "INSERT", "UPDATE", "UPDATE", "DELETE"]);
        let states: Vec<&Value> =
            calls[3..5].iter().map(|it| &it.body["event"]["data"]["new"]["status"]).collect();
        assert_eq!(states, ["b", "c"]);
    });
}

#[test]
fn first_tries_leave_in_the_order_of_commit_and_a_failed_one_holds_up_none() {
    on_both(|folder, store| {
        let receiver = Receiver::start();
        // One call at a time arrives in the order in which it left.
        receiver.answer("/told", &["200 OK", "500 No", "200 OK"]);
        let mut told = trigger("told", &receiver.url("/told"));
        told["retry_conf"] = json!({ "interval_sec": 2, "num_retries": 1, "timeout_sec": 5 });
        let variables = [("WEIR_EVENTS_HTTP_POOL_SIZE", "1")];
        let _weir = serve_shop_with(folder, &store, &json!([told]), "", &variables);
        for id in 1..=60 {
            store.run(&format!("INSERT INTO orders (id) VALUES ({id})"));
        }
        let calls = receiver.wait("/told", 61);
        let id = |it: &crate::events_kit::Call| it.body["event"]["data"]["new"]["id"].as_i64();
        let is_first = |it: &&crate::events_kit::Call| it.body["delivery_info"]["current_retry"] == 0;
        let first: Vec<i64> = calls.iter().filter(is_first).filter_map(id).collect();
        assert_eq!(first, (1..=60).collect::<Vec<i64>>());
        let again: Vec<i64> = calls.iter().filter(|it| !is_first(it)).filter_map(id).collect();
        assert_eq!(again, [2]);
    });
}

#[test]
fn a_manual_event_has_the_session_of_its_admin() {
    on_both(|folder, store| {
        let receiver = Receiver::start();
        let weir = serve_shop(folder, &store, &json!([trigger("told", &receiver.url("/told"))]), "");
        let body =
            json!({ "type": "pg_invoke_event_trigger", "args": { "name": "told", "payload": { "a": 1 } } });
        let headers = [SECRET, ("X-Hasura-User-Id", "7"), ("X-Hasura-Role", "admin"), ("X-Other", "x")];
        let answer = weir.post("/v1/metadata", &headers, body.to_string().as_bytes());
        assert_eq!(answer.status, 200, "{}", answer.text());
        let event = receiver.wait("/told", 1)[0].body["event"].clone();
        assert_eq!(event["session_variables"], json!({ "x-hasura-role": "admin", "x-hasura-user-id": "7" }));
    });
}

#[test]
fn what_changes_while_no_server_runs_is_told_by_the_next() {
    on_both(|folder, store| {
        let receiver = Receiver::start();
        let triggers = json!([trigger("told", &receiver.url("/told"))]);
        let weir = serve_shop(folder, &store, &triggers, "");
        weir.signal("-KILL");
        let folder = weir.folder().0.clone();
        store.run("INSERT INTO orders (id) VALUES (1)");
        let file = folder.join("weir.yaml");
        let _next = Weir::start(&["serve", file.to_str().expect("it is UTF-8")], Folder::new());
        assert_eq!(receiver.wait("/told", 1)[0].body["event"]["op"], "INSERT");
    });
}

#[test]
fn another_server_s_catalog_waits_for_the_operator() {
    let store = Store::Postgres(database(&format!(
        "{SHOP}; CREATE SCHEMA hdb_catalog; CREATE TABLE hdb_catalog.hdb_source_catalog_version (version text NOT NULL, upgraded_on timestamptz NOT NULL); \
         CREATE TABLE hdb_catalog.event_log (id text PRIMARY KEY DEFAULT gen_random_uuid()::text, schema_name text NOT NULL, table_name text NOT NULL, trigger_name text NOT NULL, payload jsonb NOT NULL, \
         delivered boolean NOT NULL DEFAULT false, error boolean NOT NULL DEFAULT false, tries int NOT NULL DEFAULT 0, created_at timestamp DEFAULT now(), locked timestamptz, next_retry_at timestamp, archived boolean NOT NULL DEFAULT false); \
         INSERT INTO hdb_catalog.event_log (schema_name, table_name, trigger_name, payload) VALUES ('public', 'orders', 'told', '{{\"op\": \"INSERT\", \"data\": {{\"old\": null, \"new\": {{\"id\": 7}}}}}}')"
    )));
    let receiver = Receiver::start();
    let folder = Folder::new();
    let triggers = json!([trigger("told", &receiver.url("/told"))]);
    write_shop(&folder, &store, &triggers);
    let words = "event triggers wait, as `hdb_catalog` is another server's: 1 trigger to make, 1 pending event to deliver";
    let check = |folder: &Folder| {
        let output = crate::support::command()
            .args(["check", "--metadata", "metadata"])
            .current_dir(folder.file(""))
            .output()
            .expect("it runs");
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    };
    let said = check(&folder);
    assert!(said.contains(words), "{said}");
    let weir = serve_shop(folder, &store, &triggers, "");
    until("it says so", || weir.log().contains(words));
    store.run("INSERT INTO orders (id) VALUES (8)");
    assert_eq!(store.texts("SELECT count(*) FROM hdb_catalog.event_log"), ["1"]);
    let output = crate::support::command()
        .args(["events", "take-over", "--metadata", "metadata"])
        .current_dir(weir.folder().file(""))
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(said, "source `default`: taken over with 1 pending event\n", "{output:?}");
    assert_eq!(receiver.wait("/told", 1)[0].body["event"]["data"]["new"]["id"], 7);
    store.run("INSERT INTO orders (id) VALUES (9)");
    assert_eq!(receiver.wait("/told", 2)[1].body["event"]["data"]["new"]["id"], 9);
}

#[test]
fn a_copied_file_waits_for_the_operator() {
    let receiver = Receiver::start();
    let folder = Folder::new();
    let store = sqlite_shop(&folder);
    let triggers = json!([trigger("told", &receiver.url("/told"))]);
    let weir = serve_shop(folder, &store, &triggers, "");
    store.run("INSERT INTO orders (id) VALUES (1)");
    receiver.wait("/told", 1);
    until("it is recorded", || store.texts("SELECT id FROM hdb_event_log WHERE delivered = 1").len() == 1);
    // Servers take their folders with them.
    let kept = Folder::new();
    let copy = Store::Sqlite(kept.file("shop.db"));
    store.run(&format!("VACUUM INTO '{}'", kept.file("shop.db").display()));
    copy.run("INSERT INTO orders (id) VALUES (2)");
    drop(weir);
    let weir = serve_shop(Folder::new(), &copy, &triggers, "");
    let words = "event triggers wait, as the file is a copy: 1 pending event may have been delivered";
    until("it says so", || weir.log().contains(words));
    assert_eq!(receiver.calls("/told").len(), 1);
    drop(weir);
    let _weir = serve_shop(Folder::new(), &copy, &triggers, "events: take_over\n");
    receiver.wait("/told", 2);
}

#[test]
fn a_role_that_may_not_make_the_schema_is_told_what_it_needs() {
    let database = database(SHOP);
    let role = format!("clerk_{}", std::process::id());
    database.run(&format!("CREATE ROLE {role} LOGIN; GRANT ALL ON orders TO {role}"));
    let folder = Folder::new();
    let store = Store::Postgres(database);
    write_shop(&folder, &store, &json!([trigger("told", "http://127.0.0.1:1/told")]));
    let file = folder.file("metadata/databases/databases.yaml");
    let text = std::fs::read_to_string(&file).expect("it is there");
    std::fs::write(&file, text.replace("postgres://postgres@", &format!("postgres://{role}@")))
        .expect("it is written");
    let mut command = crate::support::command();
    let output = command.args(["check", "--metadata", "metadata"]).current_dir(folder.file("")).output();
    let output = output.expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("its changes are not captured") && said.contains("GRANT CREATE ON DATABASE"),
        "{said}"
    );
    store.run(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

#[test]
fn events_that_are_off_change_no_database() {
    on_both(|folder, store| {
        let receiver = Receiver::start();
        let weir =
            serve_shop(folder, &store, &json!([trigger("told", &receiver.url("/told"))]), "events: off\n");
        until("it says so", || weir.log().contains("to be done: make notify_hasura_told_DELETE"));
        store.run("INSERT INTO orders (id) VALUES (1)");
        let schema = run(&weir, "pg_get_source_tables", json!({})).to_string();
        assert!(!schema.contains("hdb_"), "{schema}");
    });
}

#[test]
fn a_source_without_event_triggers_is_asked_nothing() {
    let store = Store::Postgres(database(SHOP));
    let mut weir = serve_shop(Folder::new(), &store, &json!([]), "");
    mutate(&weir, "mutation { insert_notes_one(object: {id: 1}) { id } }");
    let receiver = Receiver::start();
    run(&weir, "pg_create_event_trigger", creation(&receiver, json!({})));
    store.run("INSERT INTO orders (id) VALUES (1)");
    receiver.wait("/told", 1);
    let recorded = "SELECT count(*) FROM hdb_catalog.event_log WHERE delivered";
    until("it is recorded", || store.texts(recorded) == ["1"]);
    weir.signal("-TERM");
    assert!(weir.child.wait().expect("it ends").success());
    assert!(!weir.log().contains("WARN weir_events"), "{}", weir.log());
}

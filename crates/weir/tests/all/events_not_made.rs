//! Event triggers that their databases refuse: whoever asks for the state of the metadata is told, until it is mended.

use crate::events_kit::{
    Receiver, SECRET, SHOP, SUCCESS, Store, check_refusal, command, run, trigger, write_shop,
};
use crate::postgres_kit::database;
use crate::postgres_kit::hand::Hand;
use crate::support::{Folder, Weir, until};
use serde_json::{Value, json};

/// Orders are a view, whose rows others write.
const VIEW: &str = "CREATE TABLE lines (id INTEGER PRIMARY KEY, status TEXT, total NUMERIC); CREATE VIEW orders AS SELECT * FROM lines; \
                    CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)";
/// Orders have no key.
const KEYLESS: &str = "CREATE TABLE orders (id INTEGER, status TEXT, total NUMERIC); CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)";

/// Runs `test` with the tables of `sql` in a file, and in PostgreSQL.
fn on_both(sql: &str, test: impl Fn(&Store)) {
    let kept = Folder::new();
    let path = kept.file("shop.db");
    rusqlite::Connection::open(&path).expect("it is made").execute_batch(sql).expect("tables are made");
    test(&Store::Sqlite(path));
    test(&Store::Postgres(database(sql)));
}

/// A server of the shop in `folder`, where metadata is.
fn serve(folder: Folder) -> Weir {
    let text = "listen: 127.0.0.1:0\nthreads: 1\nadmin_secret: hush\nmetadata: metadata\n";
    let file = folder.write("weir.yaml", text);
    Weir::start(&["serve", file.to_str().expect("it is UTF-8")], folder)
}

/// Output and exit code of `weir check`.
fn check(folder: &Folder) -> (Option<i32>, String) {
    let mut command = crate::support::command();
    let output = command.args(["check", "--metadata", "metadata"]).current_dir(folder.file("")).output();
    let output = output.expect("it runs");
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), said)
}

/// The shop over `store`, whose orders have `triggers`.
fn write(store: &Store, triggers: &Value) -> Folder {
    let folder = Folder::new();
    write_shop(&folder, store, triggers);
    folder
}

/// Arguments of `create_event_trigger` for orders.
fn creation(name: &str, receiver: &Receiver) -> Value {
    json!({ "name": name, "table": "orders", "webhook": receiver.url("/told"), "insert": { "columns": "*" } })
}

/// All that `weir` says of a trigger that is not made, because of `reason`.
fn check_told(weir: &Weir, reason: &str) {
    let state = run(weir, "get_inconsistent_metadata", json!({}));
    let object = &state["inconsistent_objects"][0];
    assert_eq!(
        (&state["is_consistent"], &object["type"]),
        (&json!(false), &json!("event_trigger")),
        "{state}"
    );
    assert_eq!(object["name"], "event_trigger told in table orders in source default");
    assert!(object["reason"].as_str().is_some_and(|it| it.contains(reason)), "{object}");
    let reloaded = run(weir, "reload_metadata", json!({}));
    assert_eq!(reloaded["inconsistent_objects"], state["inconsistent_objects"], "{reloaded}");
    let metadata = json!({ "is_consistent": false, "inconsistent_objects": 1, "unsupported": 0 });
    assert_eq!(weir.get("/readyz", &[]).json()["metadata"], metadata);
    until("its sources answer", || weir.get("/readyz", &[]).status == 200);
    assert_eq!(weir.get("/healthz", &[]).text(), "WARN: inconsistent objects in schema\n");
    let strict = weir.get("/healthz?strict=true", &[]);
    assert_eq!((strict.status, strict.text()), (500, "ERROR: inconsistent objects in schema\n"));
}

fn await_mended(weir: &Weir) {
    until("it is consistent", || weir.get("/healthz?strict=true", &[]).text() == "OK\n");
    let state = run(weir, "get_inconsistent_metadata", json!({}));
    assert_eq!(state, json!({ "is_consistent": true, "inconsistent_objects": [] }));
}

#[test]
fn a_trigger_on_a_view_is_not_served() {
    on_both(VIEW, |store| {
        let receiver = Receiver::start();
        let folder = write(store, &json!([trigger("told", &receiver.url("/told"))]));
        let words = "\"orders\" is no table, and only rows of tables fire triggers: put the event trigger on the tables that it reads";
        let (code, said) = check(&folder);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("report: not served: 1\n") && said.contains(words), "{said}");
        let weir = serve(folder);
        check_told(&weir, words);
        let answer = command(&weir, "pg_create_event_trigger", creation("other", &receiver));
        assert!(answer.status == 400 && answer.text().contains("is no table"), "{}", answer.text());
        assert_eq!(run(&weir, "drop_inconsistent_metadata", json!({})).to_string(), SUCCESS);
        await_mended(&weir);
    });
}

#[test]
fn a_trigger_that_a_table_does_not_fit_is_told_until_it_does() {
    on_both(KEYLESS, |store| {
        let receiver = Receiver::start();
        let mut told = trigger("told", &receiver.url("/told"));
        told["ordered"] = json!(true);
        let folder = write(store, &json!([told]));
        let (code, said) = check(&folder);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("report: not served: 1\n") && said.contains("needs a primary key"), "{said}");
        let weir = serve(folder);
        check_told(&weir, "`ordered` needs a primary key");
        let mut document = run(&weir, "export_metadata", json!({}));
        let refused = command(&weir, "replace_metadata", document.clone());
        assert!(
            refused.status == 400 && refused.text().contains("needs a primary key"),
            "{}",
            refused.text()
        );
        store.run(
            "DROP TABLE orders; CREATE TABLE orders (id INTEGER PRIMARY KEY, status TEXT, total NUMERIC)",
        );
        await_mended(&weir);
        store.run("INSERT INTO orders (id) VALUES (1)");
        receiver.wait("/told", 1);
        // Another trigger of the kind, which leaves with the others that are not made.
        store.run("DROP TABLE notes; CREATE TABLE notes (id INTEGER, text TEXT)");
        let mut other = trigger("other", &receiver.url("/told"));
        other["ordered"] = json!(true);
        let tables = document["sources"][0]["tables"].as_array_mut().expect("a list");
        let notes = tables.iter_mut().find(|it| it["table"]["name"] == "notes").expect("they are tracked");
        notes["event_triggers"] = json!([other]);
        let args = json!({ "metadata": document, "allow_inconsistent_metadata": true });
        let body = json!({ "type": "replace_metadata", "version": 2, "args": args }).to_string();
        let replaced = weir.post("/v1/metadata", &[SECRET], body.as_bytes()).json();
        assert_eq!(
            replaced["inconsistent_objects"][0]["name"],
            "event_trigger other in table notes in source default",
            "{replaced}"
        );
        assert_eq!(run(&weir, "drop_inconsistent_metadata", json!({})).to_string(), SUCCESS);
        await_mended(&weir);
        let text = run(&weir, "export_metadata", json!({})).to_string();
        assert!(text.contains("told") && !text.contains("other"), "{text}");
    });
}

/// A role for the shop in a database.
struct Clerk {
    name: &'static str,
    database: String,
    store: Store,
}

impl Clerk {
    /// The role `name`, which no other test has, with `rights`.
    fn new(name: &'static str, rights: &str) -> Self {
        let database = database(SHOP);
        let clerk = Self { name, database: database.name.clone(), store: Store::Postgres(database) };
        clerk.grant(
            "CREATE ROLE {role} LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON orders, notes TO {role}",
        );
        clerk.grant(rights);
        clerk
    }

    /// Runs SQL as the owner; `{role}` is the role.
    fn grant(&self, sql: &str) {
        self.store.run(&sql.replace("{role}", self.name).replace("{database}", &self.database));
    }

    /// Metadata by which the role serves.
    fn write(&self, triggers: &Value) -> Folder {
        let folder = Folder::new();
        write_shop(&folder, &self.store, triggers);
        let file = folder.file("metadata/databases/databases.yaml");
        let text = std::fs::read_to_string(&file).expect("it is there");
        let text = text.replace("postgres://postgres@", &format!("postgres://{}@", self.name));
        std::fs::write(&file, text).expect("it is written");
        folder
    }
}

#[test]
fn a_right_that_is_missing_is_told_until_it_is_granted() {
    for (name, rights, reason, mended) in [
        (
            "clerk_schema",
            "GRANT TRIGGER ON orders TO {role}",
            "GRANT CREATE ON DATABASE",
            "GRANT CREATE ON DATABASE \"{database}\" TO {role}",
        ),
        (
            "clerk_own_schema",
            "GRANT TRIGGER ON orders TO {role}",
            "make the schema and give it to the role",
            "CREATE SCHEMA hdb_catalog AUTHORIZATION {role}",
        ),
        (
            "clerk_trigger",
            "GRANT CREATE ON DATABASE \"{database}\" TO {role}",
            "the role may not make triggers on \\\"orders\\\": GRANT TRIGGER ON the table to it",
            "GRANT TRIGGER ON orders TO {role}",
        ),
    ] {
        let receiver = Receiver::start();
        let clerk = Clerk::new(name, rights);
        let folder = clerk.write(&json!([trigger("told", &receiver.url("/told"))]));
        let reason = reason.replace("\\\"", "\"");
        let (code, said) = check(&folder);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("report: not served: 1\n") && said.contains(&reason), "{said}");
        let weir = serve(folder);
        check_told(&weir, &reason);
        let log = weir.log();
        assert!(log.contains("event trigger `told` cannot be made"), "{log}");
        clerk.grant(mended);
        await_mended(&weir);
        clerk.store.run("INSERT INTO orders (id) VALUES (1)");
        receiver.wait("/told", 1);
        drop(weir);
    }
}

#[test]
fn a_trigger_whose_right_is_missing_is_not_created() {
    let receiver = Receiver::start();
    let clerk = Clerk::new("clerk_command", "GRANT CREATE ON DATABASE \"{database}\" TO {role}");
    let folder = clerk.write(&json!([]));
    let weir = serve(folder);
    let told = creation("told", &receiver);
    let reason = "the role may not make triggers on \"orders\": GRANT TRIGGER ON the table to it";
    check_refusal(&weir, "pg_create_event_trigger", told.clone(), "unexpected", reason);
    await_mended(&weir);
    clerk.grant("GRANT TRIGGER ON orders TO {role}");
    assert_eq!(run(&weir, "pg_create_event_trigger", told).to_string(), SUCCESS);
    await_mended(&weir);
}

/// A trigger of inserts, whose failed calls are repeated much later.
fn patient_trigger(name: &str, url: &str) -> Value {
    let mut patient = trigger(name, url);
    patient["retry_conf"] = json!({ "interval_sec": 600, "num_retries": 5, "timeout_sec": 5 });
    patient["definition"] = json!({ "insert": { "columns": "*" } });
    patient
}

#[test]
fn a_trigger_whose_table_is_locked_is_kept_and_made_later() {
    let receiver = Receiver::start();
    receiver.answer("/told", &["500 Internal Server Error"]);
    let database = database(SHOP);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime starts");
    let mut hand = runtime.block_on(Hand::new(&database));
    let store = Store::Postgres(database);
    let weir = serve(write(&store, &json!([patient_trigger("told", &receiver.url("/told"))])));
    await_mended(&weir);
    store.run("INSERT INTO orders (id) VALUES (1)");
    receiver.wait("/told", 1);
    runtime.block_on(hand.run("BEGIN"));
    runtime.block_on(hand.run("INSERT INTO orders (id) VALUES (2)"));
    let mut document = run(&weir, "export_metadata", json!({}));
    let tables = document["sources"][0]["tables"].as_array_mut().expect("a list");
    let orders = tables.iter_mut().find(|it| it["table"]["name"] == "orders").expect("they are tracked");
    orders["event_triggers"][0]["definition"]["update"] = json!({ "columns": "*" });
    let mut second = patient_trigger("second", &receiver.url("/second"));
    second["definition"] = json!({ "insert": { "columns": "*" } });
    let notes = tables.iter_mut().find(|it| it["table"]["name"] == "notes").expect("they are tracked");
    notes["event_triggers"] = json!([second]);
    run(&weir, "replace_metadata", document);
    let state = run(&weir, "get_inconsistent_metadata", json!({}));
    let objects = state["inconsistent_objects"].as_array().expect("a list");
    assert_eq!(objects.len(), 1, "the other table is not locked: {state}");
    let reason = objects[0]["reason"].as_str().expect("a text");
    assert!(reason.contains("locked by another transaction; tried again every 5 s"), "{reason}");
    assert_eq!(run(&weir, "drop_inconsistent_metadata", json!({})).to_string(), SUCCESS);
    let kept = run(&weir, "export_metadata", json!({})).to_string();
    assert!(kept.contains("\"told\"") && kept.contains("\"second\""), "{kept}");
    let pending = store
        .texts("SELECT archived::text FROM hdb_catalog.event_log WHERE trigger_name = 'told' AND NOT error");
    assert_eq!(pending, ["false"]);
    let words = "its table is locked by another transaction";
    check_refusal(&weir, "pg_create_event_trigger", creation("third", &receiver), "unexpected", words);
    runtime.block_on(hand.run("COMMIT"));
    await_mended(&weir);
    store.run("UPDATE orders SET status = 'new' WHERE id = 1");
    let told = store.texts(
        "SELECT payload ->> 'op' FROM hdb_catalog.event_log WHERE trigger_name = 'told' ORDER BY weir_seq",
    );
    assert_eq!(told, ["INSERT", "INSERT", "UPDATE"]);
}

#[test]
fn schedules_whose_right_is_missing_are_not_served() {
    let receiver = Receiver::start();
    let clerk = Clerk::new("clerk_schedule", "SELECT 1");
    let folder = clerk.write(&json!([]));
    let cron = json!([{ "name": "yearly", "webhook": receiver.url("/yearly"), "schedule": "0 0 1 1 *", "include_in_metadata": true }]);
    folder.write("metadata/cron_triggers.yaml", &cron.to_string());
    let (code, said) = check(&folder);
    assert_eq!(code, Some(1), "{said}");
    let words =
        "the role may not make the tables of the state in the schema `hdb_catalog`: GRANT CREATE ON DATABASE";
    assert!(said.contains("report: not served: 1\n") && said.contains(words), "{said}");
    clerk.grant("GRANT CREATE ON DATABASE \"{database}\" TO {role}");
    let (code, said) = check(&folder);
    assert!(code == Some(0) && said.contains("1 cron trigger"), "{said}");
}

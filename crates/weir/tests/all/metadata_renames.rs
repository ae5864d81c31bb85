//! SQL of an admin that changes names: what the metadata may follow and what it must not.

use crate::metadata_edits::{FLEET, SECRET, ask, by_file, document, send, serve_metadata, track_fleet};
use crate::postgres_kit::database;
use crate::support::{Answer, Folder, Weir};
use serde_json::{Value, json};

fn run_sql(weir: &Weir, args: &Value) -> Answer {
    weir.post("/v2/query", &[SECRET], json!({ "type": "run_sql", "args": args }).to_string().as_bytes())
}

/// Drops what roles may read, and gives its name to what they may not.
fn names_of_something_gone_are_refused(weir: &Weir) {
    track_fleet(weir);
    let made = "ALTER TABLE boat ADD COLUMN secret TEXT DEFAULT 'hush'; \
                CREATE TABLE vault (id INTEGER PRIMARY KEY, name TEXT, boat_id INTEGER); INSERT INTO vault VALUES (7, 'gold', 1)";
    assert_eq!(run_sql(weir, &json!({ "sql": made })).status, 200);
    let column = "ALTER TABLE boat DROP COLUMN name; ALTER TABLE boat RENAME COLUMN secret TO name";
    let table = "DROP TABLE crew; ALTER TABLE vault RENAME TO crew";
    let before = document(weir);
    for (sql, name) in [
        (column, r#"column "name" of table "boat""#),
        (table, r#"table "crew""#),
        (
            "ALTER TABLE boat RENAME COLUMN name TO old; ALTER TABLE boat RENAME COLUMN secret TO name; \
             ALTER TABLE boat DROP COLUMN old",
            r#"column "name" of table "boat""#,
        ),
    ] {
        for cascade in [false, true] {
            let refused = run_sql(weir, &json!({ "sql": sql, "cascade": cascade }));
            let error = refused.json();
            assert_eq!((refused.status, &error["code"]), (400, &json!("dependency-error")), "{sql}: {error}");
            let message = error["error"].as_str().unwrap_or_default();
            assert!(message.starts_with("nothing was run") && message.contains(name), "{sql}: {message}");
        }
    }
    assert_eq!(document(weir), before);
    let read = "{ boat { name } }";
    assert_eq!(ask(weir, "sailor", read), r#"{"data":{"boat":[{"name":"Argo"}]}}"#);
    // Statements that cannot be undone leave nobody the name.
    let done = run_sql(weir, &json!({ "sql": column, "no_transaction": true }));
    assert_eq!(done.status, 200, "{}", done.text());
    let answer = ask(weir, "sailor", read);
    assert!(answer.contains("errors") && !answer.contains("hush"), "{answer}");
    let told = document(weir).to_string();
    assert!(told.contains(r#""name (dropped)""#), "{told}");
    let done = run_sql(weir, &json!({ "sql": format!("{table}; COMMIT"), "cascade": true }));
    assert_eq!(done.status, 200, "{}", done.text());
    let answer = ask(weir, "sailor", "{ crew { name } }");
    assert!(answer.contains("errors") && !answer.contains("gold"), "{answer}");
    let told = document(weir).to_string();
    assert!(!told.contains("crew (dropped)"), "{told}");
}

#[test]
fn a_name_of_something_gone_is_refused_on_a_file() {
    names_of_something_gone_are_refused(&by_file());
}

#[test]
fn a_name_of_something_gone_is_refused_on_a_server() {
    let database = database(FLEET);
    names_of_something_gone_are_refused(&serve_metadata(&database.url(), "postgres", Folder::new()));
}

#[test]
fn names_that_were_rolled_back_are_not_followed() {
    let weir = by_file();
    track_fleet(&weir);
    let before = document(&weir);
    for (sql, is_stepwise, status) in [
        ("SAVEPOINT a; ALTER TABLE boat RENAME TO ship; ROLLBACK TO a; RELEASE a", false, 200),
        ("BEGIN; ALTER TABLE boat RENAME TO ship; ROLLBACK", true, 200),
        ("BEGIN; ALTER TABLE boat RENAME TO ship; SELECT * FROM nowhere", true, 400),
        (
            "SAVEPOINT a; ALTER TABLE boat RENAME COLUMN name TO x; ALTER TABLE boat RENAME COLUMN id TO name; \
             ALTER TABLE boat RENAME COLUMN x TO id; ROLLBACK TO a",
            false,
            200,
        ),
        (
            "ALTER TABLE crew RENAME TO old_crew; DROP TABLE old_crew; \
             CREATE TABLE crew (id INTEGER PRIMARY KEY, name TEXT, boat_id INTEGER REFERENCES BOAT (id))",
            false,
            200,
        ),
    ] {
        let done = run_sql(&weir, &json!({ "sql": sql, "no_transaction": is_stepwise }));
        assert_eq!(done.status, status, "{sql}: {}", done.text());
        assert_eq!(document(&weir), before, "{sql}");
    }
    // Statements before a savepoint stand; a key may name its table in another case.
    let sql = "ALTER TABLE boat RENAME COLUMN name TO called; SAVEPOINT a; ALTER TABLE boat RENAME COLUMN called TO x; ROLLBACK TO a";
    let done = run_sql(&weir, &json!({ "sql": sql }));
    assert_eq!(done.status, 200, "{}", done.text());
    let text = document(&weir)["sources"][0]["tables"].to_string();
    for part in [r#"["id","called"]"#, r#"{"boat":{"called":{"_neq":"none"}}}"#] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

/// Serves a fleet whose metadata has a key that Weir leaves out.
fn serve_partial() -> Weir {
    let weir = by_file();
    track_fleet(&weir);
    let file = weir.folder().file("metadata/databases/databases.yaml");
    let text = std::fs::read_to_string(&file).expect("it is there");
    let partial = text.replace("  kind: sqlite", "  kind: sqlite\n  unknown_key: 1");
    std::fs::write(&file, partial).expect("it is written");
    let done = send(&weir, &json!({ "type": "reload_metadata", "args": {} }));
    assert_eq!(done.status, 200, "{}", done.text());
    weir
}

#[test]
fn names_that_cannot_be_followed_are_told() {
    let weir = serve_partial();
    let sql = "ALTER TABLE boat RENAME COLUMN name TO called";
    let told = run_sql(&weir, &json!({ "sql": sql }));
    let message = told.json()["error"].as_str().unwrap_or_default().to_owned();
    assert!(
        message.starts_with("the statements were run, but the metadata does not follow"),
        "{}",
        told.text()
    );
    assert_eq!(run_sql(&weir, &json!({ "sql": "SELECT called FROM boat" })).status, 200);
    let text = document(&weir)["sources"][0]["tables"].to_string();
    assert!(text.contains(r#"["id","name"]"#), "{text}");
}

#[test]
fn a_cascade_that_could_not_be_written_runs_nothing() {
    let weir = serve_partial();
    let args = json!({ "sql": "ALTER TABLE crew DROP COLUMN name", "cascade": true });
    let refused = run_sql(&weir, &args);
    assert_eq!(
        (refused.status, &refused.json()["code"]),
        (400, &json!("not-supported")),
        "{}",
        refused.text()
    );
    assert_eq!(run_sql(&weir, &json!({ "sql": "SELECT name FROM crew" })).status, 200);
}

//! The session of the database and native queries, as operators meet them: commands of the metadata API, `run_sql`, a role of the database by
//! a token, and what an export keeps.

use crate::postgres_kit::database;
use crate::support::{Answer, Folder, Weir, body, command};
use serde_json::{Value, json};

const SECRET: (&str, &str) = ("x-hasura-admin-secret", "hush");
const SUCCESS: &str = r#"{"message":"success"}"#;

/// Boats, and who wrote them by the words of `session`.
fn tables(session: &str, function: &str) -> String {
    format!(
        "CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE audit (boat INTEGER, session TEXT); {function} \
         INSERT INTO boat VALUES (1, 'Argo'), (2, 'Ran'); {session}"
    )
}

const POSTGRES: (&str, &str) = (
    "CREATE TRIGGER audit AFTER UPDATE ON boat FOR EACH ROW EXECUTE FUNCTION audit();",
    "CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO audit VALUES (NEW.id, current_setting('hasura.user', true)); \
     RETURN NEW; END $$;",
);
const SQLITE: (&str, &str) = (
    "CREATE TRIGGER audit AFTER UPDATE ON boat BEGIN INSERT INTO audit VALUES (NEW.id, (SELECT value FROM hdb_session)); END;",
    "CREATE TABLE hdb_session (value TEXT);",
);

fn serve(url: &str, kind: &str, folder: Folder) -> Weir {
    let root = folder.file("metadata");
    std::fs::create_dir_all(root.join("databases")).expect("a folder can be made");
    std::fs::write(root.join("version.yaml"), "version: 3\n").expect("it is written");
    let sources = format!(
        "- name: default\n  kind: {kind}\n  configuration:\n    connection_info: {{database_url: \"{url}\"}}\n  tables:\n  - table: boat\n  - table: audit\n"
    );
    std::fs::write(root.join("databases/databases.yaml"), sources).expect("it is written");
    let file = folder.write("weir.yaml", "listen: 127.0.0.1:0\nadmin_secret: hush\nmetadata: metadata\n");
    Weir::by_file(&file, folder)
}

fn on_sqlite() -> Weir {
    let folder = Folder::new();
    let connection = rusqlite::Connection::open(folder.file("fleet.db")).expect("SQLite makes a file");
    connection.execute_batch(&tables(SQLITE.0, SQLITE.1)).expect("the statements are right");
    serve("sqlite:../fleet.db", "sqlite", folder)
}

fn on_postgres() -> (Weir, crate::postgres_kit::Database) {
    let database = database(&tables(POSTGRES.0, POSTGRES.1));
    (serve(&database.socket_url(), "postgres", Folder::new()), database)
}

fn send(weir: &Weir, path: &str, name: &str, args: Value) -> Answer {
    weir.post(path, &[SECRET], json!({ "type": name, "args": args }).to_string().as_bytes())
}

fn run(weir: &Weir, name: &str, args: Value) {
    let answer = send(weir, "/v1/metadata", name, args);
    assert_eq!((answer.status, answer.text()), (200, SUCCESS), "{name}");
}

fn refused(weir: &Weir, name: &str, args: Value) -> (String, String) {
    let answer = send(weir, "/v1/metadata", name, args);
    let error = answer.json();
    assert_eq!(answer.status, 400, "{name}: {error}");
    let text = |it: &str| error[it].as_str().unwrap_or_default().to_owned();
    (text("code"), text("error"))
}

fn ask(weir: &Weir, role: &str, query: &str) -> Value {
    weir.post("/v1/graphql", &[SECRET, ("x-hasura-role", role)], body(query).as_bytes()).json()
}

/// Those who wrote, by the audit.
fn writers(weir: &Weir) -> Vec<String> {
    let rows = ask(weir, "admin", "{ audit { session } }");
    let rows = rows["data"]["audit"].as_array().cloned().unwrap_or_default();
    rows.iter().map(|it| it["session"].as_str().unwrap_or("nobody").to_owned()).collect()
}

fn check_writers(weir: &Weir) {
    ask(
        weir,
        "admin",
        "mutation { update_boat(where: {id: {_eq: 1}}, _set: {name: \"Argos\"}) { affected_rows } }",
    );
    let sql = json!({ "source": "default", "sql": "UPDATE boat SET name = 'Rans' WHERE id = 2" });
    assert_eq!(send(weir, "/v2/query", "run_sql", sql).status, 200);
    let admin = r#"{"x-hasura-role":"admin"}"#;
    assert_eq!(writers(weir), [admin, admin]);
}

#[test]
fn triggers_know_who_writes_by_a_mutation_and_by_run_sql() {
    check_writers(&on_sqlite());
    let (weir, _database) = on_postgres();
    check_writers(&weir);
}

/// Builds a native query up by commands, and takes it apart.
fn check_commands(weir: &Weir) {
    let fields = json!([
        { "name": "id", "type": { "nullable": false, "scalar": "integer" } },
        { "name": "name", "nullable": true, "type": "text" },
    ]);
    let model = json!({ "source": "default", "name": "late_boat", "fields": fields });
    let query = json!({ "source": "default", "root_field_name": "late_boats", "returns": "late_boat",
        "arguments": { "above": { "nullable": false, "type": "integer" } }, "array_relationships": [], "object_relationships": [],
        "code": "SELECT id, name FROM boat WHERE id > {{above}}" });
    let (code, message) = refused(weir, "pg_track_native_query", query.clone());
    assert_eq!((code.as_str(), message.as_str()), ("not-found", "Logical model 'late_boat' not found."));
    run(weir, "pg_track_logical_model", model.clone());
    run(weir, "pg_track_native_query", query.clone());
    let (code, message) = refused(weir, "pg_track_native_query", query.clone());
    assert_eq!(
        (code.as_str(), message.as_str()),
        ("already-tracked", "Native query 'late_boats' is already tracked.")
    );
    let boats = "{ late_boats(args: {above: 1}) { id } }";
    let found = json!({ "data": { "late_boats": [{ "id": 2 }] } });
    assert_eq!(ask(weir, "admin", boats), found);
    assert!(ask(weir, "clerk", boats).get("errors").is_some());
    let permission = json!({ "source": "default", "name": "late_boat", "role": "clerk",
        "permission": { "columns": ["id"], "filter": { "id": { "_gt": 0 } } } });
    run(weir, "pg_create_logical_model_select_permission", permission.clone());
    assert_eq!(ask(weir, "clerk", boats), found);
    assert!(ask(weir, "clerk", "{ late_boats(args: {above: 1}) { name } }").get("errors").is_some());
    // A fault of the database's part is refused, too.
    let missing = json!({ "source": "default", "root_field_name": "wrong", "returns": "late_boat", "code": "SELECT 1 AS id" });
    let (_, message) = refused(weir, "pg_track_native_query", missing);
    assert!(
        message.contains("Failed to validate query: Column named 'name' is not returned from the query."),
        "{message}"
    );
    check_export(weir, &model, &query, &permission);
    let (code, message) =
        refused(weir, "pg_untrack_logical_model", json!({ "source": "default", "name": "late_boat" }));
    assert_eq!(code, "constraint-violation");
    assert_eq!(message, "Custom type 'late_boat' still being used by native query 'late_boats'.");
    let of_role = json!({ "source": "default", "name": "late_boat", "role": "clerk" });
    run(weir, "pg_drop_logical_model_select_permission", of_role);
    assert!(ask(weir, "clerk", boats).get("errors").is_some());
    run(weir, "pg_untrack_native_query", json!({ "source": "default", "root_field_name": "late_boats" }));
    run(weir, "pg_untrack_logical_model", json!({ "source": "default", "name": "late_boat" }));
    assert!(ask(weir, "admin", boats).get("errors").is_some());
}

/// An export has the entries as they were sent.
fn check_export(weir: &Weir, model: &Value, query: &Value, permission: &Value) {
    let without_source = |it: &Value| {
        let mut it = it.clone();
        it.as_object_mut().expect("it is an object").remove("source");
        it
    };
    let mut model = without_source(model);
    model["select_permissions"] = json!([{ "role": "clerk", "permission": permission["permission"] }]);
    let exported = send(weir, "/v1/metadata", "export_metadata", json!({})).json();
    let source = &exported["sources"][0];
    assert_eq!(source["native_queries"], json!([without_source(query)]));
    assert_eq!(source["logical_models"], json!([model]));
    let queries = send(weir, "/v1/metadata", "pg_get_native_query", json!({ "source": "default" })).json();
    assert_eq!(queries, source["native_queries"]);
    let models = send(weir, "/v1/metadata", "pg_get_logical_model", json!({ "source": "default" })).json();
    assert_eq!(models, source["logical_models"]);
}

#[test]
fn native_queries_are_tracked_by_commands() {
    check_commands(&on_sqlite());
    let (weir, _database) = on_postgres();
    check_commands(&weir);
}

#[test]
fn a_stored_procedure_is_told_and_never_run() {
    let folder = Folder::new();
    rusqlite::Connection::open(folder.file("fleet.db")).expect("SQLite makes a file");
    let document = json!({ "version": 3, "sources": [{ "name": "default", "kind": "sqlite", "tables": [],
        "configuration": { "connection_info": { "database_url": "sqlite:fleet.db" } },
        "stored_procedures": [{ "stored_procedure": "tidy", "returns": "m", "arguments": {} }] }] });
    let file = folder.write("metadata.json", &document.to_string());
    let checked = command().arg("check").arg("--metadata").arg(&file).output().expect("it runs");
    let told = String::from_utf8_lossy(&checked.stderr);
    assert!(
        told.contains("stored procedure is not supported: only SQL Server has those that are tracked"),
        "{told}"
    );
    assert_eq!(checked.status.code(), Some(1));
}

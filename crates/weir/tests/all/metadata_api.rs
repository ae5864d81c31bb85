//! The metadata API over real sockets: documents exported and replaced, SQL on both databases, who may, what tools ask.

use crate::postgres_kit::database;
use crate::support::{Answer, Folder, Weir, until};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

const SECRET: (&str, &str) = ("x-hasura-admin-secret", "hush");

/// A document that tracks these tables of the pets.
fn document(tables: &str) -> String {
    format!(
        r#"{{"version":3,"sources":[{{"name":"default","kind":"sqlite","configuration":{{"connection_info":{{"database_url":"sqlite:../pets.db"}}}},"tables":[{tables}]}}]}}"#
    )
}

const PET: &str = r#"{"table":"pet"}"#;
const ANIMAL: &str = r#"{"table":"pet","configuration":{"custom_name":"animal"},"select_permissions":[{"role":"user","permission":{"columns":["id"],"filter":{"id":{"_lt":3}}}}]}"#;

/// Serves the pets by a folder of metadata with the table `pet`.
fn serve_metadata() -> (Weir, PathBuf) {
    serve_metadata_of("sqlite", "sqlite:../pets.db")
}

/// Serves the pets in the database at `url`.
fn serve_metadata_of(kind: &str, url: &str) -> (Weir, PathBuf) {
    let folder = Folder::new();
    folder.pets();
    let root = folder.file("metadata");
    std::fs::create_dir_all(root.join("databases")).expect("a folder can be made");
    std::fs::write(root.join("version.yaml"), "version: 3\n").expect("it is written");
    std::fs::write(root.join("README.md"), "mine").expect("it is written");
    let sources = format!(
        "- name: default\n  kind: {kind}\n  configuration:\n    connection_info: {{database_url: '{url}'}}\n  tables:\n  - table: pet\n"
    );
    std::fs::write(root.join("databases/databases.yaml"), sources).expect("it is written");
    let file = folder.write("weir.yaml", "listen: 127.0.0.1:0\nadmin_secret: hush\nmetadata: metadata\n");
    (Weir::by_file(&file, folder), root)
}

fn send(weir: &Weir, path: &str, body: &str) -> Answer {
    weir.post(path, &[SECRET], body.as_bytes())
}

/// Runs a command at `/v1/metadata`.
fn command(weir: &Weir, name: &str, args: &str) -> Answer {
    send(weir, "/v1/metadata", &format!(r#"{{"type":"{name}","args":{args}}}"#))
}

fn check(answer: &Answer, status: u16, expected: &str) {
    assert_eq!((answer.status, answer.text()), (status, expected));
}

fn pets(weir: &Weir, query: &str) -> String {
    weir.post("/v1/graphql", &[SECRET], crate::support::body(query).as_bytes()).text().to_owned()
}

const SUCCESS: &str = r#"{"message":"success"}"#;
const ADA: &str = r#"{"data":{"animal_by_pk":{"name":"Ada"}}}"#;

#[test]
fn a_document_is_exported_replaced_and_written_back() {
    let (weir, root) = serve_metadata();
    let before = command(&weir, "export_metadata", "{}");
    assert_eq!(
        (before.status, &before.json()["sources"][0]["tables"][0]["table"]),
        (200, &json!("pet")),
        "{}",
        before.text()
    );
    let export = |weir: &Weir| {
        send(weir, "/v1/metadata", r#"{"type":"export_metadata","version":2,"args":{}}"#).json()
    };
    let first = export(&weir);
    assert!(first["resource_version"].is_u64() && first["metadata"] == before.json());
    check(&command(&weir, "replace_metadata", &document(ANIMAL)), 200, SUCCESS);
    assert_eq!(pets(&weir, "{ animal_by_pk(id: 1) { name } }"), ADA);
    let second = export(&weir);
    assert_eq!(second["metadata"]["sources"][0]["tables"][0]["configuration"]["custom_name"], "animal");
    assert_ne!(first["resource_version"], second["resource_version"]);
    let written =
        std::fs::read_to_string(root.join("databases/default/tables/pet.yaml")).expect("it is written");
    assert!(written.contains("custom_name: animal"), "{written}");
    assert_eq!(std::fs::read_to_string(root.join("README.md")).expect("it stays"), "mine");
    let stale = format!(
        r#"{{"type":"replace_metadata","resource_version":{},"args":{}}}"#,
        first["resource_version"],
        document(PET)
    );
    let conflict = send(&weir, "/v1/metadata", &stale);
    assert_eq!(
        (conflict.status, conflict.json()["code"].as_str()),
        (409, Some("conflict")),
        "{}",
        conflict.text()
    );
    let user = [SECRET, ("x-hasura-role", "user")];
    let seen = weir.post("/v1/graphql", &user, br#"{"query":"{ animal { id } }"}"#);
    assert_eq!(seen.text(), r#"{"data":{"animal":[{"id":1},{"id":2}]}}"#);
    check(&command(&weir, "clear_metadata", "{}"), 200, SUCCESS);
    assert!(!pets(&weir, "{ animal_by_pk(id: 1) { name } }").contains("Ada"));
}

#[test]
fn a_document_without_sources_keeps_the_connection_of_the_default_source() {
    check_kept_connection("sqlite", "sqlite:../pets.db");
    let pets = database(
        "CREATE TABLE pet (id int4 PRIMARY KEY, name text NOT NULL); INSERT INTO pet VALUES (1, 'Ada')",
    );
    check_kept_connection("postgres", &pets.url());
}

fn check_kept_connection(kind: &str, url: &str) {
    let (weir, root) = serve_metadata_of(kind, url);
    let connection = command(&weir, "export_metadata", "{}").json()["sources"][0]["configuration"].clone();
    assert!(connection["connection_info"]["database_url"].is_string(), "{connection}");
    let ada = "{ pet_by_pk(id: 1) { name } }";
    // As the command line sends it in a new project; it says 2 for the answer that names what is inconsistent.
    let apply = r#"{"type":"replace_metadata","version":2,"args":{"allow_inconsistent_metadata":true,"metadata":{"version":null}}}"#;
    let tables = r#"{"type":"replace_metadata","args":{"version":2,"tables":[{"table":"pet"}]}}"#;
    let nothing = r#"{"type":"replace_metadata","args":{"version":2,"tables":[]}}"#;
    let first = r#"{"type":"replace_metadata","args":{"version":1,"tables":[{"table":"pet"}]}}"#;
    let clear = r#"{"type":"clear_metadata","args":{}}"#;
    let consistent = r#"{"is_consistent":true,"inconsistent_objects":[]}"#;
    for (sent, answer, tables_left) in [
        (tables, SUCCESS, 1),
        (apply, consistent, 0),
        (first, SUCCESS, 1),
        (nothing, SUCCESS, 0),
        (tables, SUCCESS, 1),
        (clear, SUCCESS, 0),
        (clear, SUCCESS, 0),
        (tables, SUCCESS, 1),
    ] {
        check(&send(&weir, "/v1/metadata", sent), 200, answer);
        let sources = command(&weir, "export_metadata", "{}").json()["sources"].clone();
        assert_eq!((&sources[0]["name"], &sources[0]["kind"]), (&json!("default"), &json!(kind)), "{sent}");
        assert_eq!(sources[0]["configuration"], connection, "{sent}");
        let tables = sources[0]["tables"].as_array().map_or(0, Vec::len);
        assert_eq!((sources.as_array().map(Vec::len), tables), (Some(1), tables_left), "{sent}");
        assert_eq!(pets(&weir, ada).contains("Ada"), tables_left == 1, "{sent}");
        let written = std::fs::read_to_string(root.join("databases/databases.yaml")).expect("it is there");
        assert!(written.contains(url), "{sent}: {written}");
    }
}

#[test]
fn a_document_without_sources_is_refused_where_no_default_source_is() {
    let (weir, _) = serve_metadata();
    let other = document(PET).replace("\"default\"", "\"other\"");
    check(&command(&weir, "replace_metadata", &other), 200, SUCCESS);
    for args in [
        r#"{"allow_inconsistent_metadata":true,"metadata":{"version":null}}"#,
        r#"{"version":2,"tables":[]}"#,
    ] {
        let refused = command(&weir, "replace_metadata", args);
        let words = "cannot import metadata without sources since no default source is defined";
        let told = refused.json();
        assert_eq!(
            (refused.status, &told["code"], &told["error"]),
            (400, &json!("not-supported"), &json!(words))
        );
        assert!(pets(&weir, "{ pet_by_pk(id: 1) { name } }").contains("Ada"));
    }
    check(&command(&weir, "clear_metadata", "{}"), 200, SUCCESS);
    assert_eq!(command(&weir, "export_metadata", "{}").json()["sources"], json!([]));
}

#[test]
fn a_broken_change_leaves_everything() {
    let (weir, root) = serve_metadata();
    check(&command(&weir, "replace_metadata", &document(ANIMAL)), 200, SUCCESS);
    let lost = document(&format!("{PET},{{\"table\":\"boat\"}}"));
    let refused = command(&weir, "replace_metadata", &lost);
    let error = refused.json();
    assert_eq!(
        (refused.status, &error["error"], &error["code"]),
        (400, &json!("cannot continue due to inconsistent metadata"), &json!("unexpected"))
    );
    assert_eq!(
        (&error["internal"][0]["type"], error["internal"].as_array().map(Vec::len)),
        (&json!("table"), Some(1)),
        "{error}"
    );
    for args in [
        r#"{"version":3,"sources":[{"name":"default","tables":[],"colour":1}]}"#,
        r#"{"version":4,"sources":[]}"#,
        "[]",
    ] {
        let refused = command(&weir, "replace_metadata", args);
        assert_eq!(
            (refused.status, refused.json()["code"].as_str()),
            (400, Some("parse-failed")),
            "{}",
            refused.text()
        );
    }
    let dry = format!(
        r#"{{"type":"replace_metadata","version":2,"args":{{"metadata":{},"dry_run":true}}}}"#,
        document(PET)
    );
    check(&send(&weir, "/v1/metadata", &dry), 200, r#"{"is_consistent":true,"inconsistent_objects":[]}"#);
    assert_eq!(pets(&weir, "{ animal_by_pk(id: 1) { name } }"), ADA);
    let written =
        std::fs::read_to_string(root.join("databases/default/tables/pet.yaml")).expect("it is there");
    assert!(written.contains("animal"), "{written}");
    let allowed = format!(
        r#"{{"type":"replace_metadata","version":2,"args":{{"metadata":{lost},"allow_inconsistent_metadata":true}}}}"#
    );
    let allowed = send(&weir, "/v1/metadata", &allowed).json();
    assert_eq!(allowed["is_consistent"], false, "{allowed}");
    let told = command(&weir, "get_inconsistent_metadata", "{}").json();
    assert_eq!(told, allowed);
    assert!(told["inconsistent_objects"][0]["name"].as_str().is_some_and(|it| it.contains("boat")), "{told}");
    let reloaded = command(&weir, "reload_metadata", "{}").json();
    assert_eq!(
        (&reloaded["message"], &reloaded["is_consistent"]),
        (&json!("success"), &json!(false)),
        "{reloaded}"
    );
    assert_eq!(weir.get("/healthz", &[]).status, 200);
    check(&weir.get("/healthz?strict=true", &[]), 500, "ERROR: inconsistent objects in schema\n");
}

#[test]
fn lists_of_commands_are_undone_as_a_whole() {
    let (weir, _) = serve_metadata();
    let replace = format!(r#"{{"type":"replace_metadata","args":{}}}"#, document(ANIMAL));
    let failing = format!(r#"[{replace},{{"type":"pg_fly","args":{{}}}}]"#);
    let error = command(&weir, "bulk", &failing);
    check(
        &error,
        501,
        r#"{"error":"unknown metadata command \"fly\" for backend postgres","path":"$.args[1].type","code":"parse-failed"}"#,
    );
    assert!(pets(&weir, "{ pet_by_pk(id: 1) { name } }").contains("Ada"));
    let kept = command(&weir, "bulk_keep_going", &failing);
    assert_eq!(
        (kept.status, &kept.json()[0]["message"], &kept.json()[1]["code"]),
        (200, &json!("success"), &json!("parse-failed"))
    );
    assert_eq!(pets(&weir, "{ animal_by_pk(id: 1) { name } }"), ADA);
    let both = format!(r#"[{replace},{{"type":"get_inconsistent_metadata","args":{{}}}}]"#);
    check(
        &command(&weir, "bulk", &both),
        200,
        &format!(r#"[{SUCCESS},{{"is_consistent":true,"inconsistent_objects":[]}}]"#),
    );
    check(
        &command(&weir, "bulk", "{}"),
        400,
        r#"{"error":"expected a list of commands","path":"$.args","code":"parse-failed"}"#,
    );
    let tracked = command(&weir, "dc_add_agent", "{}");
    assert_eq!((tracked.status, tracked.json()["code"].as_str()), (400, Some("not-supported")));
}

#[test]
fn requests_go_on_while_metadata_is_replaced() {
    let (weir, _) = serve_metadata();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let mut asked = 0;
            while !is_over.load(Ordering::Relaxed) {
                assert_eq!(pets(&weir, "{ __typename }"), r#"{"data":{"__typename":"query_root"}}"#);
                asked += 1;
            }
            asked
        });
        for table in [ANIMAL, PET, ANIMAL, PET] {
            check(&command(&weir, "replace_metadata", &document(table)), 200, SUCCESS);
        }
        is_over.store(true, Ordering::Relaxed);
        assert!(asking.join().expect("every request was answered") > 0);
    });
}

#[test]
fn only_the_admin_may() {
    let (weir, _) = serve_metadata();
    let body = br#"{"type":"export_metadata","args":{}}"#;
    for path in ["/v1/metadata", "/v1/query", "/v2/query"] {
        check(
            &weir.post(path, &[SECRET, ("x-hasura-role", "user")], body),
            400,
            r#"{"error":"restricted access : admin only","path":"$.args","code":"access-denied"}"#,
        );
        assert_eq!(weir.post(path, &[], body).status, 401);
        assert_eq!(weir.get(path, &[SECRET]).status, 405);
    }
    check(
        &weir.get("/v1alpha1/config", &[SECRET, ("x-hasura-role", "user")]),
        400,
        r#"{"error":"You have to be an admin to access this endpoint","path":"$","code":"access-denied"}"#,
    );
}

#[test]
fn without_a_place_metadata_is_read_only() {
    let weir = Weir::with_settings("admin_secret: hush\n");
    let refused = command(&weir, "replace_metadata", &document(PET));
    assert_eq!(
        (refused.status, refused.json()["code"].as_str()),
        (400, Some("not-supported")),
        "{}",
        refused.text()
    );
    check(
        &command(&weir, "get_inconsistent_metadata", "{}"),
        200,
        r#"{"is_consistent":true,"inconsistent_objects":[]}"#,
    );
    check(&send(&weir, "/v1/metadata", "{"), 400, send(&weir, "/v1/metadata", "{").text());
    assert_eq!(send(&weir, "/v1/metadata", "{").json()["code"], "invalid-json");
    assert_eq!(send(&weir, "/v1/metadata", "[]").json()["code"], "parse-failed");
    assert_eq!(send(&weir, "/v1/metadata", "{}").json()["error"], "key \"type\" not found");
}

fn sql(weir: &Weir, args: &Value) -> Answer {
    send(weir, "/v2/query", &json!({ "type": "run_sql", "args": args }).to_string())
}

#[test]
fn sql_runs_on_sqlite() {
    let (weir, _) = serve_metadata();
    check(
        &sql(&weir, &json!({ "sql": "SELECT id, name, NULL AS n FROM pet WHERE id < 3 ORDER BY id" })),
        200,
        r#"{"result_type":"TuplesOk","result":[["id","name","n"],["1","Ada","NULL"],["2","Bob","NULL"]]}"#,
    );
    let done = r#"{"result_type":"CommandOk","result":null}"#;
    check(&sql(&weir, &json!({ "sql": "INSERT INTO pet VALUES (4, 'Dan')" })), 200, done);
    let write = sql(&weir, &json!({ "sql": "DELETE FROM pet", "read_only": true })).json();
    assert_eq!(
        (&write["code"], &write["internal"]["error"]["status_code"]),
        (&json!("postgres-error"), &json!("25006")),
        "{write}"
    );
    let failed = sql(&weir, &json!({ "sql": "DELETE FROM pet; SELECT * FROM nowhere" }));
    assert_eq!((failed.status, &failed.json()["error"]), (400, &json!("query execution failed")));
    assert!(pets(&weir, "{ pet_by_pk(id: 4) { name } }").contains("Dan"), "it was undone");
    check(
        &sql(&weir, &json!({ "sql": "ALTER TABLE pet ADD COLUMN age INTEGER; UPDATE pet SET age = 7" })),
        200,
        done,
    );
    assert_eq!(pets(&weir, "{ pet_by_pk(id: 1) { age } }"), r#"{"data":{"pet_by_pk":{"age":7}}}"#);
    let other = sql(&weir, &json!({ "sql": "SELECT 1", "source": "other" }));
    assert_eq!((other.status, &other.json()["code"]), (400, &json!("not-exists")));
    let attached = sql(&weir, &json!({ "sql": "ATTACH 'other.db' AS o" }));
    assert_eq!(attached.status, 400, "{}", attached.text());
    check(
        &send(&weir, "/v1/query", r#"{"type":"run_sql","args":{"sql":"SELECT 1 AS a"}}"#),
        200,
        r#"{"result_type":"TuplesOk","result":[["a"],["1"]]}"#,
    );
    assert_eq!(command(&weir, "run_sql", r#"{"sql":"SELECT 1"}"#).status, 400);
}

#[test]
fn sql_runs_on_postgres() {
    let database = database(
        "CREATE TABLE boat (id int PRIMARY KEY, name text); INSERT INTO boat VALUES (1, 'Argo'), (2, NULL)",
    );
    let weir = Weir::serving(&database.url());
    let ask = |args: &Value| {
        let body = json!({ "type": "run_sql", "args": args }).to_string();
        weir.post("/v2/query", &[], body.as_bytes())
    };
    check(
        &ask(&json!({ "sql": "SELECT 1; SELECT * FROM boat ORDER BY id" })),
        200,
        r#"{"result_type":"TuplesOk","result":[["id","name"],["1","Argo"],["2","NULL"]]}"#,
    );
    let done = r#"{"result_type":"CommandOk","result":null}"#;
    check(
        &ask(&json!({ "sql": "ALTER TABLE boat ADD COLUMN age int DEFAULT 7", "source": "postgres" })),
        200,
        done,
    );
    let read = weir.post("/v1/graphql", &[], br#"{"query":"{ boat_by_pk(id: 1) { age } }"}"#);
    assert_eq!(read.text(), r#"{"data":{"boat_by_pk":{"age":7}}}"#);
    let failed = ask(&json!({ "sql": "DELETE FROM boat; SELECT * FROM nowhere" })).json();
    assert_eq!(failed["internal"]["error"]["status_code"], "42P01", "{failed}");
    let write = ask(&json!({ "sql": "DELETE FROM boat", "read_only": true })).json();
    assert_eq!(write["internal"]["error"]["status_code"], "25006", "{write}");
    check(
        &ask(&json!({ "sql": "SELECT count(*) FROM boat" })),
        200,
        r#"{"result_type":"TuplesOk","result":[["count"],["2"]]}"#,
    );
    let copy = ask(&json!({ "sql": "COPY boat FROM STDIN" }));
    assert_eq!(copy.status, 400, "{}", copy.text());
}

#[test]
fn tools_get_settings_and_plans() {
    let (weir, _) = serve_metadata();
    check(&command(&weir, "replace_metadata", &document(ANIMAL)), 200, SUCCESS);
    let config = weir.get("/v1alpha1/config", &[SECRET]).json();
    assert_eq!(
        (&config["is_admin_secret_set"], &config["is_jwt_set"], &config["is_allow_list_enabled"]),
        (&json!(true), &json!(false), &json!(false))
    );
    assert!(config["version"].as_str().is_some_and(|it| it.starts_with("v2.")), "{config}");
    let explain = |user: &str| {
        let body = format!(r#"{{"query":{{"query":"{{ animal {{ id }} }}"}}{user}}}"#);
        send(&weir, "/v1/graphql/explain", &body)
    };
    let admin = explain("");
    let user = explain(r#","user":{"x-hasura-role":"user"}"#);
    assert_eq!((admin.status, user.status), (200, 200), "{}", user.text());
    assert!(
        admin.json()[0]["sql"].as_str().is_some_and(|it| it.contains("SELECT"))
            && admin.text() != user.text()
    );
    let nobody = explain(r#","user":{"x-hasura-role":"nobody"}"#);
    assert_eq!(
        (nobody.status, nobody.json()["code"].as_str()),
        (400, Some("validation-failed")),
        "{}",
        nobody.text()
    );
    until("the server goes on", || weir.get("/livez", &[]).status == 200);
}

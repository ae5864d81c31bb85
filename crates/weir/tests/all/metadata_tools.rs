//! Requests of the command line and other tools beside the metadata, over real sockets: the state that is kept for them, dumps, scripts that are no
//! transaction, suggestions, and who may.

use crate::postgres_kit::database;
use crate::support::{Answer, Folder, Weir, command};
use serde_json::{Value, json};
use std::path::PathBuf;

const SECRET: (&str, &str) = ("x-hasura-admin-secret", "hush");
const USER: [(&str, &str); 2] = [SECRET, ("x-hasura-role", "user")];
const YAML: &str = "listen: 127.0.0.1:0\nadmin_secret: hush\nmetadata: metadata\n";

/// A folder with metadata over the pets, and their configuration.
fn folder() -> (Folder, PathBuf) {
    let folder = Folder::new();
    folder.pets();
    std::fs::create_dir_all(folder.file("metadata/databases")).expect("a folder can be made");
    folder.write("metadata/version.yaml", "version: 3\n");
    let sources = "- name: default\n  kind: sqlite\n  configuration:\n    connection_info: {database_url: sqlite:../pets.db}\n  tables:\n  - table: pet\n";
    folder.write("metadata/databases/databases.yaml", sources);
    let file = folder.write("weir.yaml", YAML);
    (folder, file)
}

fn send(weir: &Weir, path: &str, body: &Value) -> Answer {
    weir.post(path, &[SECRET], body.to_string().as_bytes())
}

fn run(weir: &Weir, name: &str, args: Value) -> Answer {
    send(weir, "/v1/metadata", &json!({ "type": name, "args": args }))
}

fn check(answer: &Answer, status: u16, expected: &Value) {
    assert_eq!((answer.status, &answer.json()), (status, expected));
}

fn state(weir: &Weir) -> Value {
    let answer = run(weir, "get_catalog_state", json!({}));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

#[test]
fn a_state_is_kept_whole_whatever_becomes_of_the_metadata() {
    let (folder, file) = folder();
    let weir = Weir::by_file(&file, folder);
    let before = state(&weir);
    assert_eq!((&before["cli_state"], &before["console_state"]), (&json!({}), &json!({})));
    let id = before["id"].as_str().unwrap_or_default();
    assert!(id.len() == 36 && &id[14..15] == "4" && id.split('-').count() == 5, "{id}");
    let version = |weir: &Weir| {
        let export = json!({ "type": "export_metadata", "version": 2, "args": {} });
        send(weir, "/v1/metadata", &export).json()["resource_version"].clone()
    };
    let first = version(&weir);
    // Digits, order and letters are those that were sent.
    let raw =
        r#"{"type":"set_catalog_state","args":{"type":"cli","state":{"b":1.50,"a":{"é":[null,true]}}}}"#;
    let answer = weir.post("/v1/metadata", &[SECRET], raw.as_bytes());
    assert_eq!((answer.status, answer.text()), (200, r#"{"message":"success"}"#));
    let console = run(&weir, "set_catalog_state", json!({ "type": "console", "state": { "c": 1 } }));
    assert_eq!(console.status, 200, "{}", console.text());
    let kept = |weir: &Weir| run(weir, "get_catalog_state", json!({})).text().to_owned();
    let expected = format!(
        r#"{{"id":"{id}","cli_state":{{"b":1.50,"a":{{"é":[null,true]}}}},"console_state":{{"c":1}}}}"#
    );
    assert_eq!((kept(&weir), version(&weir)), (expected.clone(), first));
    // Another server of the metadata, a document that is replaced, one that is cleared, files that are changed.
    let mut second = command();
    let other = Weir::run(second.arg("serve").arg(&file), Folder::new());
    assert_eq!(kept(&other), expected);
    for _ in 0..2 {
        assert_eq!(run(&weir, "clear_metadata", json!({})).status, 200);
        assert_eq!(kept(&weir), expected);
    }
    let replaced = run(&other, "set_catalog_state", json!({ "type": "cli", "state": [7] }));
    assert_eq!(replaced.status, 200, "{}", replaced.text());
    assert_eq!(state(&weir)["cli_state"], json!([7]));
}

/// A move: the migrations that Hasura applied are not run again.
#[test]
fn the_states_of_a_hasura_count_until_others_are_set() {
    let server = database(
        r#"CREATE SCHEMA hdb_catalog; CREATE TABLE hdb_catalog.hdb_version (cli_state jsonb NOT NULL, console_state jsonb NOT NULL);
        INSERT INTO hdb_catalog.hdb_version VALUES ('{"migrations": {"default": {"1": false}}}', '{"onboarded": true}')"#,
    );
    let (folder, file) = folder();
    let sources = format!(
        "- name: default\n  kind: postgres\n  configuration:\n    connection_info: {{database_url: \"{}\"}}\n  tables: []\n",
        server.socket_url()
    );
    folder.write("metadata/databases/databases.yaml", &sources);
    let weir = Weir::by_file(&file, folder);
    let kept = state(&weir);
    assert_eq!(kept["cli_state"], json!({ "migrations": { "default": { "1": false } } }), "{kept}");
    assert_eq!(kept["console_state"], json!({ "onboarded": true }), "{kept}");
    let own = json!({ "migrations": { "default": { "1": false, "2": false } } });
    check(
        &run(&weir, "set_catalog_state", json!({ "type": "cli", "state": own })),
        200,
        &json!({ "message": "success" }),
    );
    let kept = state(&weir);
    assert_eq!((&kept["cli_state"], &kept["console_state"]), (&own, &json!({ "onboarded": true })));
}

#[test]
fn a_state_that_is_none_is_refused() {
    let (folder, file) = folder();
    let weir = Weir::by_file(&file, folder);
    for (args, path) in [
        (json!({ "type": "cli" }), "$.args"),
        (json!({ "state": {} }), "$.args"),
        (json!({ "type": "door", "state": {} }), "$.args.type"),
        (json!({ "type": 7, "state": {} }), "$.args.type"),
    ] {
        let refused = run(&weir, "set_catalog_state", args.clone());
        let told = refused.json();
        assert_eq!(
            (refused.status, &told["code"], &told["path"]),
            (400, &json!("parse-failed"), &json!(path)),
            "{args}"
        );
    }
    let user = weir.post("/v1/metadata", &USER, br#"{"type":"get_catalog_state","args":{}}"#);
    assert_eq!((user.status, user.json()["code"].as_str()), (400, Some("access-denied")));
    let query = send(&weir, "/v2/query", &json!({ "type": "get_catalog_state", "args": {} }));
    assert_eq!(query.status, 501, "{}", query.text());
    // Without metadata there is no place for a state.
    let bare = Weir::with_settings("admin_secret: hush\n");
    let nowhere = run(&bare, "get_catalog_state", json!({}));
    assert_eq!((nowhere.status, nowhere.json()["code"].as_str()), (400, Some("not-supported")));
}

fn dump(weir: &Weir, headers: &[(&str, &str)], body: &Value) -> Answer {
    weir.post("/v1alpha1/pg_dump", headers, body.to_string().as_bytes())
}

#[test]
fn a_dump_runs_again() {
    let sql = "CREATE TABLE boat (id int PRIMARY KEY, name text); INSERT INTO boat VALUES (1, E'two\\nlines\\n-- none'), (2, NULL);
        CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$
-- kept

SELECT 1 $$";
    let from = database(sql);
    let to = database("SELECT 1");
    let serve = |url: &str| {
        let folder = Folder::new();
        let yaml = format!(
            "listen: 127.0.0.1:0\nadmin_secret: hush\nsources: [{{name: default, url: \"{url}\"}}]\n"
        );
        let file = folder.write("weir.yaml", &yaml);
        Weir::by_file(&file, folder)
    };
    let weir = serve(&from.url());
    let other = serve(&to.url());
    let body = json!({ "opts": ["-O", "-x", "--inserts", "--schema=public"], "clean_output": true, "source": "default" });
    let made = dump(&weir, &[SECRET], &body);
    assert_eq!((made.status, made.header("content-type")), (200, Some("application/sql; charset=utf-8")));
    assert!(
        !made.text().contains("SET lock_timeout") && made.text().contains("-- kept\n\nSELECT 1"),
        "{}",
        made.text()
    );
    let script = json!({ "type": "run_sql", "args": { "sql": made.text() } });
    let done = send(&other, "/v2/query", &script);
    assert_eq!(done.status, 200, "{}", done.text());
    let read = json!({ "type": "run_sql", "args": { "sql": "SELECT *, f() FROM boat ORDER BY id" } });
    let rows = send(&other, "/v2/query", &read);
    check(
        &rows,
        200,
        &json!({ "result_type": "TuplesOk", "result": [["id", "name", "f"], ["1", "two\nlines\n-- none", "1"], ["2", "NULL", "1"]] }),
    );
    let whole = dump(&weir, &[SECRET], &json!({ "opts": ["-s"] }));
    assert!(
        whole.text().contains("SET lock_timeout = 0;") && whole.text().contains("-- Name: boat;"),
        "{}",
        whole.text()
    );
}

#[test]
fn a_dump_is_the_admin_s_and_takes_options_of_a_list() {
    let (folder, file) = folder();
    let weir = Weir::by_file(&file, folder);
    let plain = json!({ "opts": ["--schema-only"], "clean_output": true });
    let user = dump(&weir, &USER, &plain);
    assert_eq!((user.status, user.json()["error"].as_str()), (400, Some("restricted access : admin only")));
    assert_eq!(dump(&weir, &[], &plain).status, 401);
    assert_eq!(weir.get("/v1alpha1/pg_dump", &[SECRET]).status, 405);
    for (body, code) in [
        (plain, "not-supported"),
        (json!({ "opts": ["--file=/tmp/x"] }), "not-supported"),
        (json!({ "opts": ["-f", "/tmp/x"] }), "not-supported"),
        (json!({ "opts": ["--schema-only"], "source": "other" }), "not-exists"),
        (json!({ "opts": "--schema-only" }), "parse-failed"),
        (json!({ "opts": [7] }), "parse-failed"),
        (json!([]), "parse-failed"),
    ] {
        let refused = dump(&weir, &[SECRET], &body);
        assert_eq!((refused.status, refused.json()["code"].as_str()), (400, Some(code)), "{body}");
    }
}

#[test]
fn statements_without_a_transaction_stand_alone() {
    let ask = |weir: &Weir, sql: &str, is_stepwise: bool| {
        let args = json!({ "sql": sql, "no_transaction": is_stepwise });
        send(weir, "/v2/query", &json!({ "type": "run_sql", "args": args }))
    };
    let table = database("CREATE TABLE boat (id int)");
    let server = Weir::serving(&table.url());
    let script = "CREATE INDEX CONCURRENTLY i ON boat (id); INSERT INTO boat VALUES (1); DO $$ BEGIN PERFORM 1; END $$; SELECT ';' AS s";
    let refused = ask(&server, script, false).json();
    assert_eq!(
        (&refused["internal"]["error"]["status_code"], &refused["path"]),
        (&json!("25001"), &json!("$"))
    );
    check(&ask(&server, script, true), 200, &json!({ "result_type": "TuplesOk", "result": [["s"], [";"]] }));
    let (folder, file) = folder();
    let file = Weir::by_file(&file, folder);
    for (weir, row) in
        [(&server, "INSERT INTO boat VALUES (7)"), (&file, "INSERT INTO pet VALUES (7, 'Gus')")]
    {
        // Statements that were done before another failed stay, unless they are a transaction.
        let failing = format!("{row}; SELECT * FROM nowhere");
        assert_eq!((ask(weir, &failing, false).status, ask(weir, &failing, true).status), (400, 400));
        let table = if row.contains("pet") { "pet" } else { "boat" };
        let count = ask(weir, &format!("SELECT count(*) FROM {table} WHERE id = 7"), false).json();
        assert_eq!(count["result"][1][0], "1", "{row}");
    }
}

#[test]
fn statements_that_stand_are_served_though_a_later_one_failed() {
    let database = database("CREATE TABLE boat (id int PRIMARY KEY); INSERT INTO boat VALUES (1)");
    let weir = Weir::serving(&database.url());
    let script = "ALTER TABLE boat ADD COLUMN age int DEFAULT 7; SELECT * FROM nowhere";
    let args = json!({ "sql": script, "no_transaction": true });
    let failed = send(&weir, "/v2/query", &json!({ "type": "run_sql", "args": args }));
    assert_eq!(failed.status, 400, "{}", failed.text());
    let read = weir.post("/v1/graphql", &[], br#"{"query":"{ boat { age } }"}"#);
    assert_eq!(read.text(), r#"{"data":{"boat":[{"age":7}]}}"#);
}

#[test]
fn the_schema_of_older_projects_is_made_when_it_is_named() {
    let database = database("SELECT 1");
    let weir = Weir::serving(&database.url());
    let ask = |args: Value| send(&weir, "/v2/query", &json!({ "type": "run_sql", "args": args }));
    let create = "CREATE TABLE hdb_catalog.schema_migrations (version bigint primary key)";
    let read_only = ask(json!({ "sql": create, "read_only": true })).json();
    assert_eq!(read_only["internal"]["error"]["status_code"], "25006", "{read_only}");
    // It is not known which of several statements were done.
    let several = ask(json!({ "sql": format!("SELECT 1; {create}") }));
    assert_eq!(several.status, 400, "{}", several.text());
    let done = json!({ "result_type": "CommandOk", "result": null });
    check(&ask(json!({ "sql": create })), 200, &done);
    let other = ask(json!({ "sql": "CREATE TABLE nowhere.t (id int)" })).json();
    assert_eq!(other["internal"]["error"]["status_code"], "3F000", "{other}");
}

#[test]
fn relationships_are_suggested_by_foreign_keys() {
    let tables = "CREATE TABLE harbour (id integer PRIMARY KEY); CREATE TABLE lost (id integer PRIMARY KEY);
        CREATE TABLE boat (id integer PRIMARY KEY, harbour_id integer, lost_id integer REFERENCES lost (id), UNIQUE (harbour_id),
          CONSTRAINT at_harbour FOREIGN KEY (harbour_id) REFERENCES harbour (id));";
    let table = database(tables);
    let folder = Folder::new();
    rusqlite::Connection::open(folder.file("boats.db"))
        .and_then(|it| it.execute_batch(tables))
        .expect("the statements are right");
    let yaml = format!(
        "listen: 127.0.0.1:0\nadmin_secret: hush\nsources:\n- {{name: p, url: \"{}\", tracked_only: true, tables: [{{table: harbour}}, {{table: boat}}], customization: {{type_names: {{prefix: p_}}, root_fields: {{prefix: p_}}}}}}\n\
         - {{name: s, url: \"sqlite:boats.db\", tracked_only: true, tables: [{{table: harbour}}, {{table: boat}}]}}\n",
        table.url()
    );
    let file = folder.write("weir.yaml", &yaml);
    let weir = Weir::by_file(&file, folder);
    let name = |schema: &str, name: &str| match schema {
        "" => json!(name),
        schema => json!({ "schema": schema, "name": name }),
    };
    for (source, schema, command) in
        [("p", "public", "pg_suggest_relationships"), ("s", "", "sqlite_suggest_relationships")]
    {
        let mut key = json!({ "table": name(schema, "boat"), "columns": ["harbour_id"] });
        if source == "p" {
            key["constraint_name"] = json!("at_harbour");
        }
        let target = json!({ "table": name(schema, "harbour"), "columns": ["id"] });
        let expected = json!({ "relationships": [
            { "type": "object", "from": key, "to": target }, { "type": "object", "from": target, "to": key },
        ] });
        check(&run(&weir, command, json!({ "source": source })), 200, &expected);
        let boats = json!({ "source": source, "tables": [name(schema, "boat")] });
        check(&run(&weir, command, boats), 200, &json!({ "relationships": [] }));
    }
}

#[test]
fn a_document_is_checked_for_warnings_and_not_taken_over() {
    let (folder, file) = folder();
    let weir = Weir::by_file(&file, folder);
    let mut document = run(&weir, "export_metadata", json!({})).json();
    check(
        &run(&weir, "check_metadata_warnings", json!({ "metadata": document })),
        200,
        &json!({ "message": "success", "warnings": [] }),
    );
    document["api_limits"] =
        json!({ "rate_limit": { "global": { "max_reqs_per_min": 3, "unique_params": "user" } } });
    document["sources"][0]["tables"][0]["select_permissions"] =
        json!([{ "role": "guest", "permission": { "columns": ["name"], "filter": {} } }]);
    let checked = run(&weir, "check_metadata_warnings", json!({ "metadata": document })).json();
    assert_eq!(checked["message"], "success", "{checked}");
    let warnings = checked["warnings"].as_array().expect("there is a list");
    assert!(warnings.iter().any(|it| it["message"].to_string().contains("unique_params")), "{checked}");
    let kept = run(&weir, "export_metadata", json!({})).text().to_owned();
    assert!(!kept.contains("guest"), "{kept}");
    let broken = run(&weir, "check_metadata_warnings", json!({ "metadata": { "sources": 7 } }));
    assert_eq!((broken.status, broken.json()["code"].as_str()), (400, Some("parse-failed")));
}

#[test]
fn tools_learn_what_is_there() {
    let (folder, file) = folder();
    let weir = Weir::by_file(&file, folder);
    let kinds = run(&weir, "list_source_kinds", json!({})).json();
    assert_eq!(kinds["sources"][0], json!({ "kind": "pg", "builtin": true, "available": true }), "{kinds}");
    let state = run(&weir, "dump_internal_state", json!({})).json();
    assert_eq!(
        (&state["sources"], &state["inconsistent_objects"]),
        (&json!(["default"]), &json!([])),
        "{state}"
    );
    let bulk = json!([{ "type": "get_inconsistent_metadata", "args": {} }]);
    check(
        &run(&weir, "concurrent_bulk", bulk),
        200,
        &json!([{ "is_consistent": true, "inconsistent_objects": [] }]),
    );
    for (name, status, code) in [
        ("get_source_kind_capabilities", 400, "not-supported"),
        ("get_feature_flag", 400, "not-found"),
        ("set_feature_flag", 400, "not-found"),
        ("get_wings", 501, "parse-failed"),
    ] {
        let refused = run(&weir, name, json!({}));
        assert_eq!((refused.status, refused.json()["code"].as_str()), (status, Some(code)), "{name}");
        assert!(!refused.text().contains("backend"), "{}", refused.text());
    }
}

#[test]
fn a_database_tells_its_tables_functions_and_views() {
    let tables = "CREATE TABLE harbour (id integer PRIMARY KEY, name text NOT NULL);
        CREATE TABLE boat (id integer PRIMARY KEY, harbour_id integer, FOREIGN KEY (harbour_id) REFERENCES harbour (id));
        CREATE VIEW names AS SELECT name FROM harbour;";
    let functions = "COMMENT ON TABLE boat IS 'swims'; COMMENT ON COLUMN boat.id IS 'number';
        CREATE FUNCTION boats() RETURNS SETOF boat LANGUAGE sql STABLE AS 'SELECT * FROM boat';
        CREATE FUNCTION seven() RETURNS int LANGUAGE sql AS 'SELECT 7';";
    let server = database(&format!("{tables}{functions}"));
    let folder = Folder::new();
    rusqlite::Connection::open(folder.file("boats.db"))
        .and_then(|it| it.execute_batch(tables))
        .expect("the statements are right");
    let yaml = format!(
        "listen: 127.0.0.1:0\nadmin_secret: hush\nsources:\n- {{name: p, url: \"{}\", tracked_only: true, tables: [{{table: harbour}}], customization: {{type_names: {{prefix: p_}}, root_fields: {{prefix: p_}}}}}}\n\
         - {{name: s, url: \"sqlite:boats.db\", tracked_only: true, tables: [{{table: harbour}}]}}\n",
        server.url()
    );
    let file = folder.write("weir.yaml", &yaml);
    let weir = Weir::by_file(&file, folder);
    for (source, prefix, schema) in [("p", "pg_", "public"), ("s", "sqlite_", "main"), ("s", "", "main")] {
        let is_server = source == "p";
        let name = |name: &str| json!({ "schema": schema, "name": name });
        let ask = |verb: &str, args: Value| run(&weir, &format!("{prefix}{verb}"), args);
        let all = [name("boat"), name("harbour"), name("names")];
        check(&ask("get_source_tables", json!({ "source": source })), 200, &json!(all));
        let functions = [json!({ "name": name("boats"), "volatility": "STABLE" })];
        let expected = json!({
            "tables": all.map(|it| json!({ "name": it })),
            "functions": if is_server { functions.as_slice() } else { &[] },
        });
        check(&ask("get_source_trackables", json!({ "source": source })), 200, &expected);
        // A table that is not tracked, by both forms of its name.
        for table in [json!("boat"), name("boat")] {
            let answer = ask("get_table_info", json!({ "source": source, "table": table }));
            let told = answer.json();
            assert_eq!((answer.status, &told["name"], &told["type"]), (200, &name("boat"), &json!("table")));
            let comments = if is_server { json!(["swims", "number"]) } else { json!([null, null]) };
            assert_eq!(json!([told["description"], told["columns"][0]["description"]]), comments);
            let second = json!({ "name": "harbour_id", "type": if is_server { "integer" } else { "INTEGER" }, "nullable": true, "insertable": true, "updatable": true });
            assert_eq!((&told["columns"][1], &told["primary_key"]), (&second, &json!(["id"])));
            let keys: Vec<&Value> =
                told["foreign_keys"].as_object().into_iter().flat_map(|it| it.values()).collect();
            assert_eq!(
                keys,
                [&json!({ "foreign_table": name("harbour"), "column_mapping": { "harbour_id": "id" } })]
            );
        }
        let view = ask("get_viewdef", json!({ "source": source, "view": name("names") }));
        assert!(view.status == 200 && view.text().contains("FROM harbour"), "{}", view.text());
        for (verb, args, code) in [
            ("get_table_info", json!({ "source": source, "table": "boot" }), "not-exists"),
            ("get_table_info", json!({ "source": source, "table": 7 }), "parse-failed"),
            ("get_viewdef", json!({ "source": source, "view": "boat" }), "not-exists"),
            ("get_source_trackables", json!({ "source": "nowhere" }), "not-exists"),
        ] {
            let refused = ask(verb, args.clone());
            assert_eq!((refused.status, refused.json()["code"].as_str()), (400, Some(code)), "{verb} {args}");
        }
    }
}

#[test]
fn values_of_an_enum_table_that_came_later_are_read_and_taken_after_a_reload() {
    let database = database(
        "CREATE TABLE kind (value text PRIMARY KEY, comment text); INSERT INTO kind VALUES ('sail', NULL);
         CREATE TABLE boat (id int PRIMARY KEY, kind text REFERENCES kind (value)); INSERT INTO boat VALUES (1, 'sail')",
    );
    let folder = Folder::new();
    let yaml = format!(
        "listen: 127.0.0.1:0\nadmin_secret: hush\nsources: [{{name: default, url: \"{}\", tables: [{{table: kind, is_enum: true}}, {{table: boat}}]}}]\n",
        database.url()
    );
    let file = folder.write("weir.yaml", &yaml);
    let weir = Weir::by_file(&file, folder);
    let ask = |query: &str| {
        let body = json!({ "query": query }).to_string();
        weir.post("/v1/graphql", &[SECRET], body.as_bytes()).text().to_owned()
    };
    let all = "{ boat { kind } }";
    let one = "{ boat(where: {kind: {_eq: oar}}) { id } }";
    let add = "mutation { insert_boat_one(object: {id: 3, kind: oar}) { kind } }";
    let sql = "INSERT INTO kind VALUES ('oar', NULL); INSERT INTO boat VALUES (2, 'oar')";
    let done = send(&weir, "/v2/query", &json!({ "type": "run_sql", "args": { "sql": sql } }));
    assert_eq!(done.status, 200, "{}", done.text());
    // A stored value is given as it stands; who names the value is refused until the rows of the enum table are read again.
    assert_eq!(ask(all), r#"{"data":{"boat":[{"kind":"sail"},{"kind":"oar"}]}}"#);
    for query in [one, add] {
        let refused = ask(query);
        assert!(refused.contains("validation-failed") && refused.contains("oar"), "{refused}");
    }
    assert_eq!(run(&weir, "reload_metadata", json!({})).status, 200);
    assert_eq!(ask(one), r#"{"data":{"boat":[{"id":2}]}}"#);
    assert_eq!(ask(add), r#"{"data":{"insert_boat_one":{"kind":"oar"}}}"#);
}

#[test]
fn a_table_without_columns_is_tracked_and_shown_when_it_has_some() {
    let database =
        database("CREATE TABLE bare (); CREATE TABLE boat (id int PRIMARY KEY); INSERT INTO boat VALUES (1)");
    let folder = Folder::new();
    std::fs::create_dir_all(folder.file("metadata/databases")).expect("a folder can be made");
    folder.write("metadata/version.yaml", "version: 3\n");
    let sources = format!(
        "- name: default\n  kind: postgres\n  configuration:\n    connection_info: {{database_url: \"{}\"}}\n  tables:\n  - table: {{schema: public, name: boat}}\n",
        database.url()
    );
    folder.write("metadata/databases/databases.yaml", &sources);
    let file = folder.write("weir.yaml", YAML);
    let weir = Weir::by_file(&file, folder);
    let done = run(&weir, "pg_track_table", json!({ "table": { "schema": "public", "name": "bare" } }));
    assert_eq!((done.status, done.text()), (200, r#"{"message":"success"}"#));
    let state = run(&weir, "get_inconsistent_metadata", json!({})).json();
    assert_eq!(state["is_consistent"], true, "{state}");
    let ask = |query: &str| {
        let body = json!({ "query": query }).to_string();
        weir.post("/v1/graphql", &[SECRET], body.as_bytes()).text().to_owned()
    };
    assert_eq!(ask("{ boat { id } }"), r#"{"data":{"boat":[{"id":1}]}}"#);
    assert!(ask("{ bare { __typename } }").contains("field 'bare' not found in type: 'query_root'"));
    let sql = json!({ "sql": "ALTER TABLE bare ADD COLUMN id int PRIMARY KEY; INSERT INTO bare VALUES (7)" });
    assert_eq!(send(&weir, "/v2/query", &json!({ "type": "run_sql", "args": sql })).status, 200);
    assert_eq!(ask("{ bare { id } }"), r#"{"data":{"bare":[{"id":7}]}}"#);
}

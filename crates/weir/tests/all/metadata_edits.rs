//! Commands of the metadata API about single entries, as Hasura's console and tools send them: on both databases, alone and in lists.

use crate::postgres_kit::database;
use crate::support::{Answer, Folder, Weir, body};
use serde_json::{Value, json};

pub(crate) const SECRET: (&str, &str) = ("x-hasura-admin-secret", "hush");
const SUCCESS: &str = r#"{"message":"success"}"#;

pub(crate) const FLEET: &str = "CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT); \
                     CREATE TABLE crew (id INTEGER PRIMARY KEY, name TEXT, boat_id INTEGER REFERENCES boat (id)); \
                     INSERT INTO boat VALUES (1, 'Argo'), (2, 'Skidbladnir'); INSERT INTO crew VALUES (1, 'Ada', 1), (2, 'Bob', 1), (3, 'Cyd', 2)";

/// Serves a database without a tracked table.
pub(crate) fn serve_metadata(url: &str, kind: &str, folder: Folder) -> Weir {
    let root = folder.file("metadata");
    std::fs::create_dir_all(root.join("databases")).expect("a folder can be made");
    std::fs::write(root.join("version.yaml"), "version: 3\n").expect("it is written");
    let sources = format!(
        "- name: default\n  kind: {kind}\n  configuration:\n    connection_info: {{database_url: \"{url}\"}}\n  tables: []\n"
    );
    std::fs::write(root.join("databases/databases.yaml"), sources).expect("it is written");
    let file = folder.write("weir.yaml", "listen: 127.0.0.1:0\nadmin_secret: hush\nmetadata: metadata\n");
    Weir::by_file(&file, folder)
}

pub(crate) fn by_file() -> Weir {
    let folder = Folder::new();
    let connection = rusqlite::Connection::open(folder.file("fleet.db")).expect("SQLite makes a file");
    connection.execute_batch(FLEET).expect("the statements are right");
    serve_metadata("sqlite:../fleet.db", "sqlite", folder)
}

pub(crate) fn send(weir: &Weir, command: &Value) -> Answer {
    weir.post("/v1/metadata", &[SECRET], command.to_string().as_bytes())
}

fn run(weir: &Weir, name: &str, args: Value) {
    let answer = send(weir, &json!({ "type": name, "args": args }));
    assert_eq!((answer.status, answer.text()), (200, SUCCESS), "{name}");
}

/// Runs a command that is refused with this status, code, path and part of the message.
fn check_refusal(weir: &Weir, name: &str, args: Value, expected: (u16, &str, &str, &str)) -> Value {
    let before = document(weir);
    let answer = send(weir, &json!({ "type": name, "args": args }));
    let error = answer.json();
    let (status, code, path, part) = expected;
    assert_eq!(
        (answer.status, error["code"].as_str(), error["path"].as_str()),
        (status, Some(code), Some(path)),
        "{name}: {error}"
    );
    assert!(error["error"].as_str().is_some_and(|it| it.contains(part)), "{name}: {error}");
    assert_eq!(document(weir), before, "{name}");
    error
}

pub(crate) fn document(weir: &Weir) -> Value {
    send(weir, &json!({ "type": "export_metadata", "args": {} })).json()
}

pub(crate) fn ask(weir: &Weir, role: &str, query: &str) -> String {
    weir.post("/v1/graphql", &[SECRET, ("x-hasura-role", role)], body(query).as_bytes()).text().to_owned()
}

/// Builds up what a console would, entry by entry, and takes it apart.
fn are_edited(weir: &Weir) {
    let boat = json!({ "schema": "public", "name": "boat" });
    run(weir, "pg_track_table", json!({ "source": "default", "table": boat }));
    run(weir, "pg_track_tables", json!({ "tables": [{ "source": "default", "table": "crew" }] }));
    let crews = json!({ "table": boat, "name": "crews", "source": "default",
        "using": { "foreign_key_constraint_on": { "table": "crew", "column": "boat_id" } } });
    run(weir, "pg_create_array_relationship", crews.clone());
    let object =
        json!({ "table": "crew", "name": "boat", "using": { "foreign_key_constraint_on": "boat_id" } });
    run(weir, "pg_create_object_relationship", object);
    let names = json!({ "table": "crew", "configuration": { "custom_name": "hand" } });
    run(weir, "pg_set_table_customization", names);
    assert_eq!(
        ask(
            weir,
            "admin",
            "{ boat(where: {id: {_eq: 1}}) { crews(order_by: {id: asc}) { name boat { id } } } }"
        ),
        r#"{"data":{"boat":[{"crews":[{"name":"Ada","boat":{"id":1}},{"name":"Bob","boat":{"id":1}}]}]}}"#
    );
    let select = json!({ "table": boat, "role": "sailor", "permission": { "columns": ["id"], "filter": { "crews": { "name": { "_eq": "X-Hasura-Name" } } } } });
    run(weir, "pg_create_select_permission", select.clone());
    let seen = |weir: &Weir| {
        let headers = [SECRET, ("x-hasura-role", "sailor"), ("x-hasura-name", "Cyd")];
        weir.post("/v1/graphql", &headers, body("{ boat { id } }").as_bytes()).text().to_owned()
    };
    assert_eq!(seen(weir), r#"{"data":{"boat":[{"id":2}]}}"#);
    // A condition comes back to the relationship behind a foreign key, whose target the database alone knows.
    let behind = json!({ "table": "crew", "role": "sailor", "permission": { "columns": ["name"], "filter": { "boat": { "crews": { "name": { "_eq": "X-Hasura-Name" } } } } } });
    run(weir, "pg_create_select_permission", behind);
    run(weir, "pg_rename_relationship", json!({ "table": boat, "name": "crews", "new_name": "hands" }));
    assert_eq!(seen(weir), r#"{"data":{"boat":[{"id":2}]}}"#);
    let kept = document(weir)["sources"][0]["tables"].to_string();
    assert!(kept.contains(r#"{"boat":{"hands":{"name":{"_eq":"X-Hasura-Name"}}}}"#), "{kept}");
    are_refused(weir);
    // Dependent entries go too, except the table itself.
    run(weir, "pg_untrack_table", json!({ "table": "crew", "cascade": true }));
    let left = &document(weir)["sources"][0]["tables"];
    assert_eq!(*left, json!([{ "table": boat }]), "{left}");
}

fn are_refused(weir: &Weir) {
    let args = "$.args";
    check_refusal(
        weir,
        "pg_track_table",
        json!({ "table": "boat" }),
        (400, "already-tracked", args, "already tracked: \"boat\""),
    );
    check_refusal(weir, "pg_track_table", json!({ "table": "port" }), (400, "not-exists", args, "port"));
    let lost = json!({ "table": "boat", "name": "x", "using": { "foreign_key_constraint_on": "name" } });
    let error = check_refusal(
        weir,
        "pg_create_object_relationship",
        lost,
        (400, "constraint-error", args, "in table \"boat\": in relationship \"x\""),
    );
    assert_eq!(error["internal"][0]["type"], "object_relation", "{error}");
    let select =
        json!({ "table": "boat", "role": "mate", "permission": { "columns": ["gone"], "filter": {} } });
    check_refusal(
        weir,
        "pg_create_select_permission",
        select,
        (400, "invalid-configuration", args, "role \"mate\""),
    );
    check_refusal(
        weir,
        "pg_drop_relationship",
        json!({ "table": "boat", "relationship": "hands" }),
        (400, "dependency-error", args, "select_permission sailor in table boat"),
    );
    let missing = "select permission on \"boat\" for role \"mate\" does not exist";
    let mate = json!({ "table": "boat", "role": "mate" });
    check_refusal(weir, "pg_drop_select_permission", mate, (400, "permission-denied", args, missing));
    let shape = json!({ "table": "boat", "role": "mate", "permission": { "columns": 7, "filter": {} } });
    check_refusal(
        weir,
        "pg_create_select_permission",
        shape,
        (400, "parse-failed", "$.args.permission.columns", "columns are"),
    );
    let unknown = check_refusal(
        weir,
        "pg_fly",
        json!({}),
        (501, "parse-failed", "$.type", "unknown metadata command \"fly\""),
    );
    assert!(unknown.get("internal").is_none());
}

#[test]
fn entries_of_a_file_are_edited_one_by_one() {
    are_edited(&by_file());
}

#[test]
fn entries_of_a_server_are_edited_one_by_one() {
    let database = database(&FLEET.replace("INTEGER", "int"));
    let weir = serve_metadata(&database.url(), "postgres", Folder::new());
    are_edited(&weir);
    database.run("CREATE FUNCTION label(boat) RETURNS text LANGUAGE sql STABLE AS $$ SELECT upper($1.name) $$; \
                  CREATE FUNCTION found(word text) RETURNS SETOF boat LANGUAGE sql STABLE AS $$ SELECT * FROM boat WHERE name = word $$");
    let field = json!({ "table": "boat", "name": "label", "definition": { "function": { "schema": "public", "name": "label" } } });
    run(&weir, "pg_add_computed_field", field);
    run(&weir, "pg_track_function", json!({ "function": "found", "source": "default" }));
    run(&weir, "pg_create_function_permission", json!({ "function": "found", "role": "sailor" }));
    assert_eq!(
        ask(&weir, "admin", "{ found(args: {word: \"Argo\"}) { label } }"),
        r#"{"data":{"found":[{"label":"ARGO"}]}}"#
    );
    check_refusal(
        &weir,
        "pg_track_function",
        json!({ "function": "lost" }),
        (400, "invalid-configuration", "$.args", "lost"),
    );
    run(&weir, "pg_drop_computed_field", json!({ "table": "boat", "name": "label" }));
    run(&weir, "pg_untrack_function", json!({ "function": "found" }));
    let tables = send(&weir, &json!({ "type": "pg_get_source_tables", "args": { "source": "default" } }));
    assert_eq!(
        tables.json(),
        json!([{ "schema": "public", "name": "boat" }, { "schema": "public", "name": "crew" }])
    );
}

#[test]
fn collections_endpoints_and_roles_are_edited() {
    let weir = by_file();
    run(&weir, "pg_track_table", json!("boat"));
    let queries =
        json!([{ "name": "one", "query": "query one($id: Int!) { boat_by_pk(id: $id) { name } }" }]);
    run(&weir, "create_query_collection", json!({ "name": "saved", "definition": { "queries": queries } }));
    let endpoint = |query: &str| {
        let stored = json!({ "collection_name": "saved", "query_name": query });
        json!({ "name": query, "url": format!("{query}/:id"), "methods": ["GET"], "definition": { "query": stored }, "comment": null })
    };
    run(&weir, "create_rest_endpoint", endpoint("one"));
    assert_eq!(weir.get("/api/rest/one/1", &[SECRET]).text(), r#"{"boat_by_pk":{"name":"Argo"}}"#);
    check_refusal(
        &weir,
        "create_rest_endpoint",
        endpoint("two"),
        (400, "invalid-configuration", "$.args", "does not exist in the collection"),
    );
    // A path that another endpoint answers, too.
    let ambiguous = |url: &str, method: &str| json!({ "name": "more", "url": url, "methods": [method], "definition": endpoint("one")["definition"] });
    for url in ["one/:name", ":table/1"] {
        let words = "Ambiguous URL paths: one/:id and ";
        let expected = (400, "conflict", "$.args", words);
        check_refusal(&weir, "create_rest_endpoint", ambiguous(url, "GET"), expected);
    }
    for (url, method) in [("one/:name", "POST"), ("one/:name/more", "GET"), ("two/:name", "GET")] {
        run(&weir, "create_rest_endpoint", ambiguous(url, method));
        run(&weir, "drop_rest_endpoint", json!({ "name": "more" }));
    }
    let query = json!({ "collection_name": "saved", "query_name": "one" });
    check_refusal(
        &weir,
        "drop_query_from_collection",
        query,
        (400, "dependency-error", "$.args", "rest_endpoint one"),
    );
    run(&weir, "add_collection_to_allowlist", json!({ "collection": "saved" }));
    let again =
        send(&weir, &json!({ "type": "add_collection_to_allowlist", "args": { "collection": "saved" } }));
    assert_eq!(again.text(), r#"{"message":"collection \"saved\" already exists in the allowlist"}"#);
    let wrong = json!({ "collection_name": "saved", "query_name": "bad", "query": "query bad { nothing }" });
    check_refusal(
        &weir,
        "add_query_to_collection",
        wrong,
        (400, "invalid-configuration", "$.args", "nothing"),
    );
    check_refusal(
        &weir,
        "add_inherited_role",
        json!({ "role_name": "both", "role_set": ["nobody"] }),
        (400, "invalid-configuration", "$.args", "the role \"nobody\""),
    );
    run(&weir, "drop_query_collection", json!({ "collection": "saved", "cascade": true }));
    let left = document(&weir);
    assert!(left.get("rest_endpoints").is_none() && left.get("allowlist").is_none(), "{left}");
}

#[test]
fn lists_are_one_change_or_go_on() {
    let weir = by_file();
    let track =
        |table: &str| json!({ "type": "pg_track_table", "args": { "source": "default", "table": table } });
    let bulk = |kind: &str, commands: Value| {
        send(&weir, &json!({ "type": kind, "source": "default", "args": commands }))
    };
    let before = document(&weir);
    for kind in ["bulk", "bulk_atomic"] {
        let failed = bulk(kind, json!([track("boat"), track("boat")]));
        let error = failed.json();
        assert_eq!((failed.status, error["path"].as_str()), (400, Some("$.args[1].args")), "{error}");
        assert_eq!(document(&weir), before);
    }
    // The second makes the first whole.
    let both = bulk(
        "bulk",
        json!([
            { "type": "pg_create_select_permission", "args": { "table": "boat", "role": "a", "permission": { "columns": "*", "filter": {} } } },
        ]),
    );
    assert_eq!(both.status, 400, "{}", both.text());
    let both = bulk("bulk", json!([track("boat"), track("crew")]));
    assert_eq!((both.status, both.text()), (200, r#"[{"message":"success"},{"message":"success"}]"#));
    let going = bulk(
        "bulk_keep_going",
        json!([track("boat"), { "type": "pg_untrack_table", "args": { "table": "crew" } }]),
    );
    let answers = going.json();
    assert_eq!(
        (going.status, &answers[0]["code"], &answers[1]["message"]),
        (200, &json!("already-tracked"), &json!("success"))
    );
}

#[test]
fn a_stale_version_changes_nothing() {
    let weir = by_file();
    let exported = send(&weir, &json!({ "type": "export_metadata", "version": 2, "args": {} })).json();
    let track = |table: &str, version: &Value| {
        send(
            &weir,
            &json!({ "type": "pg_track_table", "resource_version": version, "args": { "table": table } }),
        )
    };
    let first = track("boat", &exported["resource_version"]);
    assert_eq!((first.status, first.text()), (200, SUCCESS));
    let stale = track("crew", &exported["resource_version"]);
    assert_eq!((stale.status, stale.json()["code"].as_str()), (409, Some("conflict")), "{}", stale.text());
}

#[test]
fn inconsistent_entries_are_dropped_alone() {
    let weir = by_file();
    let broken = json!({ "version": 3, "sources": [{ "name": "default", "kind": "sqlite",
        "configuration": { "connection_info": { "database_url": "sqlite:../fleet.db" } },
        "tables": [
            { "table": "boat", "is_enum": true,
              "array_relationships": [
                { "name": "crews", "using": { "foreign_key_constraint_on": { "table": "crew", "column": "boat_id" } } },
                { "name": "sails", "using": { "foreign_key_constraint_on": { "table": "sail", "column": "boat_id" } } }],
              "select_permissions": [
                { "role": "a", "permission": { "columns": ["id"], "filter": {} } },
                { "role": "b", "permission": { "columns": ["gone"], "filter": {} } }] },
            { "table": "sail" },
            { "table": "crew" }] }],
        "query_collections": [{ "name": "saved", "definition": { "queries": [
            { "name": "good", "query": "query good { boat { id } }" }, { "name": "bad", "query": "query bad { sail { id } }" }] } }],
        "rest_endpoints": [
            { "name": "good", "url": "good", "methods": ["GET"], "definition": { "query": { "collection_name": "saved", "query_name": "good" } } },
            { "name": "bad", "url": "bad", "methods": ["GET"], "definition": { "query": { "collection_name": "saved", "query_name": "gone" } } }],
        "inherited_roles": [{ "role_name": "both", "role_set": ["a", "nobody"] }, { "role_name": "one", "role_set": ["a"] }],
    });
    let args = json!({ "metadata": broken, "allow_inconsistent_metadata": true });
    let told = send(&weir, &json!({ "type": "replace_metadata", "version": 2, "args": args })).json();
    let kinds: Vec<&str> = told["inconsistent_objects"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|it| it["type"].as_str())
        .collect();
    for kind in [
        "table",
        "array_relation",
        "select_permission",
        "query_collections",
        "rest_endpoint",
        "inherited_role",
    ] {
        assert!(kinds.contains(&kind), "{kind} is not in {told}");
    }
    run(&weir, "drop_inconsistent_metadata", json!({}));
    let state = send(&weir, &json!({ "type": "get_inconsistent_metadata", "args": {} }));
    assert_eq!(state.text(), r#"{"is_consistent":true,"inconsistent_objects":[]}"#);
    let left = document(&weir);
    assert_eq!(
        left["sources"][0]["tables"],
        json!([{ "table": "boat",
            "array_relationships": [{ "name": "crews", "using": { "foreign_key_constraint_on": { "table": "crew", "column": "boat_id" } } }],
            "select_permissions": [{ "role": "a", "permission": { "columns": ["id"], "filter": {} } }] }, { "table": "crew" }])
    );
    let names = |key: &str, name: &str| {
        left[key].as_array().map(|it| it.iter().map(|it| it[name].clone()).collect::<Vec<_>>())
    };
    assert_eq!(names("rest_endpoints", "name"), Some(vec![json!("good")]));
    assert_eq!(names("inherited_roles", "role_name"), Some(vec![json!("one")]));
    assert_eq!(left["query_collections"][0]["definition"]["queries"][0]["name"], "good");
    assert_eq!(left["query_collections"][0]["definition"]["queries"].as_array().map(Vec::len), Some(1));
}

#[test]
fn statements_that_cascade_take_their_entries_along() {
    let weir = by_file();
    let track = |table: &str| run(&weir, "pg_track_table", json!({ "table": table }));
    ["boat", "crew"].into_iter().for_each(track);
    let select =
        json!({ "table": "crew", "role": "sailor", "permission": { "columns": ["name"], "filter": {} } });
    run(&weir, "pg_create_select_permission", select);
    let sql = |sql: &str, cascade: bool| {
        let command = json!({ "type": "run_sql", "args": { "sql": sql, "cascade": cascade, "check_metadata_consistency": true } });
        weir.post("/v2/query", &[SECRET], command.to_string().as_bytes())
    };
    // A new name is followed; what goes takes its entries along.
    let done = sql("ALTER TABLE crew RENAME COLUMN name TO called", true);
    assert_eq!(done.status, 200, "{}", done.text());
    let columns = |weir: &Weir| {
        document(weir)["sources"][0]["tables"][1]["select_permissions"][0]["permission"]["columns"].clone()
    };
    assert_eq!(columns(&weir), json!(["called"]));
    let done = sql("ALTER TABLE crew DROP COLUMN called", true);
    assert_eq!(done.status, 200, "{}", done.text());
    assert_eq!(document(&weir)["sources"][0]["tables"], json!([{ "table": "boat" }, { "table": "crew" }]));
    let done = sql("DROP TABLE crew", false);
    assert_eq!(done.status, 200, "{}", done.text());
    let state = send(&weir, &json!({ "type": "get_inconsistent_metadata", "args": {} })).json();
    assert_eq!(
        (&state["is_consistent"], &state["inconsistent_objects"][0]["type"]),
        (&json!(false), &json!("table"))
    );
}

/// Tracks the fleet with relationships in both directions, and permissions whose conditions follow them.
pub(crate) fn track_fleet(weir: &Weir) {
    let permission = |table: &str, permission: Value| json!({ "table": table, "role": "sailor", "permission": permission });
    ["boat", "crew"].into_iter().for_each(|table| run(weir, "pg_track_table", json!({ "table": table })));
    let using = json!({ "foreign_key_constraint_on": { "table": "crew", "column": "boat_id" } });
    run(weir, "pg_create_array_relationship", json!({ "table": "boat", "name": "crews", "using": using }));
    let using = json!({ "foreign_key_constraint_on": "boat_id" });
    run(weir, "pg_create_object_relationship", json!({ "table": "crew", "name": "boat", "using": using }));
    let filter = json!({ "crews": { "boat": { "name": { "_eq": "Argo" } } } });
    run(
        weir,
        "pg_create_select_permission",
        permission("boat", json!({ "columns": ["id", "name"], "filter": filter })),
    );
    let filter = json!({ "boat": { "name": { "_neq": "none" } } });
    run(
        weir,
        "pg_create_select_permission",
        permission("crew", json!({ "columns": ["name"], "filter": filter })),
    );
}

/// Runs SQL that renames tables and columns, and checks that the entries follow and serve on.
fn renames_are_followed(weir: &Weir) {
    track_fleet(weir);
    let sql = |sql: &str, is_checked: Option<bool>| {
        let args = json!({ "sql": sql, "check_metadata_consistency": is_checked });
        let done = weir.post(
            "/v2/query",
            &[SECRET],
            json!({ "type": "run_sql", "args": args }).to_string().as_bytes(),
        );
        assert_eq!(done.status, 200, "{sql}: {}", done.text());
    };
    let script = "ALTER TABLE boat RENAME COLUMN name TO called; ALTER TABLE boat RENAME TO ship; \
                  ALTER TABLE crew RENAME COLUMN boat_id TO ship_id; ALTER TABLE ship RENAME COLUMN called TO title; \
                  CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT); DROP TABLE boat";
    sql(script, None);
    let state = send(weir, &json!({ "type": "get_inconsistent_metadata", "args": {} }));
    assert_eq!(state.text(), r#"{"is_consistent":true,"inconsistent_objects":[]}"#);
    let text = document(weir)["sources"][0]["tables"].to_string();
    for part in [
        r#""ship_id""#,
        r#"{"crews":{"boat":{"title":{"_eq":"Argo"}}}}"#,
        r#"{"boat":{"title":{"_neq":"none"}}}"#,
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(!text.contains("boat_id"), "{text}");
    assert_eq!(
        ask(weir, "sailor", "{ ship { title crews(order_by: {name: asc}) { name } } }"),
        r#"{"data":{"ship":[{"title":"Argo","crews":[{"name":"Ada"},{"name":"Bob"}]}]}}"#
    );
    // A table that takes the place of another is no rename of the other; a migration leaves the metadata to its project.
    sql("ALTER TABLE crew RENAME COLUMN name TO called", Some(false));
    let state = send(weir, &json!({ "type": "get_inconsistent_metadata", "args": {} })).json();
    assert_eq!(state["inconsistent_objects"][0]["type"], "select_permission", "{state}");
    sql("ALTER TABLE crew RENAME COLUMN called TO name", Some(false));
    sql(
        "CREATE TABLE fresh (id INTEGER PRIMARY KEY, name TEXT, ship_id INTEGER REFERENCES ship (id)); \
         DROP TABLE crew; ALTER TABLE fresh RENAME TO crew",
        None,
    );
    assert!(document(weir)["sources"][0]["tables"].to_string().contains(r#""crew""#));
    let state = send(weir, &json!({ "type": "get_inconsistent_metadata", "args": {} }));
    assert_eq!(state.text(), r#"{"is_consistent":true,"inconsistent_objects":[]}"#);
}

#[test]
fn entries_follow_renamed_tables_and_columns_of_a_file() {
    renames_are_followed(&by_file());
}

#[test]
fn entries_follow_renamed_tables_and_columns_of_a_server() {
    let database = database(FLEET);
    renames_are_followed(&serve_metadata(&database.url(), "postgres", Folder::new()));
}

#[test]
fn a_role_is_made_of_roles_of_several_sources() {
    let folder = Folder::new();
    folder.pets();
    let connection = rusqlite::Connection::open(folder.file("fleet.db")).expect("SQLite makes a file");
    connection.execute_batch(FLEET).expect("the statements are right");
    let of = |table: &str, role: &str| {
        format!(
            "tables: [{{table: {table}, select_permissions: [{{role: {role}, permission: {{columns: [id], filter: {{}}}}}}]}}]"
        )
    };
    let yaml = format!(
        "listen: 127.0.0.1:0\nadmin_secret: hush\ninherited_roles: [{{role_name: both, role_set: [a, b]}}, {{role_name: none, role_set: [c]}}]\nsources:\n\
         - {{name: pets, url: pets.db, tracked_only: true, {}}}\n- {{name: fleet, url: fleet.db, tracked_only: true, {}}}\n",
        of("pet", "a"),
        of("boat", "b")
    );
    let file = folder.write("weir.yaml", &yaml);
    let weir = Weir::by_file(&file, folder);
    assert_eq!(
        ask(&weir, "both", "{ pet(limit: 1) { id } boat(limit: 1) { id } }"),
        r#"{"data":{"pet":[{"id":1}],"boat":[{"id":1}]}}"#
    );
    assert_eq!(weir.log().matches("the role \"c\"").count(), 1, "{}", weir.log());
}

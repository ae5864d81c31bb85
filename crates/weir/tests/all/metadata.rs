//! Databases served by Hasura's metadata: only what is tracked, under its names; what is wrong is told with its place.

use crate::postgres_kit::database;
use crate::support::{Answer, Folder, Weir, body, command};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

/// Nothing that is waited for takes so long.
const PATIENCE: Duration = Duration::from_secs(30);

const VERSION: (&str, &str) = ("version.yaml", "version: 3\n");

/// Makes a folder of metadata within `folder`.
fn write(folder: &Folder, files: &[(&str, &str)]) -> PathBuf {
    let root = folder.file("metadata");
    for (name, text) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it can be made");
        std::fs::write(path, text).expect("it can be written");
    }
    root
}

fn check(answer: &Answer, part: &str) {
    assert!(answer.text().contains(part), "{part} is not in {}", answer.text());
}

fn weir(folder: &Folder, arguments: &[&str]) -> Output {
    command().args(arguments).current_dir(folder.file("")).output().expect("it runs")
}

fn words(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Metadata of the pets in `pets.db`.
fn pets(tables: &str) -> String {
    format!(
        "- name: default\n  kind: sqlite\n  configuration:\n    connection_info: {{database_url: sqlite:../pets.db}}\n  tables:\n{tables}"
    )
}

/// A weir.yaml beside the folder of metadata.
fn serve(folder: Folder) -> Weir {
    let file = folder.write("weir.yaml", "listen: 127.0.0.1:0\nmetadata: metadata\n");
    Weir::by_file(&file, folder)
}

#[test]
fn only_what_is_tracked_is_served_and_nothing_that_nobody_asked_for() {
    let folder = Folder::new();
    folder.pets();
    let tables = "  - \"!include pet.yaml\"\n";
    let pet = "table: pet\nconfiguration:\n  custom_name: animal\n  column_config: {name: {custom_name: called}}\n\
               select_permissions:\n- role: user\n  permission: {columns: [id], filter: {id: {_eq: X-Hasura-User-Id}}}\n";
    write(&folder, &[VERSION, ("databases/databases.yaml", &pets(tables)), ("databases/pet.yaml", pet)]);
    let weir = serve(folder);
    check(&weir.query("{ animal_by_pk(id: 1) { called } }"), r#"{"data":{"animal_by_pk":{"called":"Ada"}}}"#);
    check(&weir.query("{ pet { id } }"), "Cannot query field");
    check(&weir.query("{ animal_group_by(by: []) { key { id } } }"), "Cannot query field");
    check(&weir.query("{ __type(name: \"animal_group\") { name } }"), r#"{"data":{"__type":null}}"#);
    check(
        &weir.get("/readyz", &[]),
        r#""metadata":{"is_consistent":true,"inconsistent_objects":0,"unsupported":0}"#,
    );
    let refused = weir.post("/v1/graphql", &[("x-hasura-role", "user")], br#"{"query":"{ animal { id } }"}"#);
    assert!(!refused.text().contains("\"data\""), "{}", refused.text());
}

#[test]
fn an_admin_who_tries_a_role_is_told_what_the_role_lacks() {
    let folder = Folder::new();
    folder.pets();
    let pet = "  - table: pet\n    select_permissions:\n    - role: user\n      permission: {columns: [id], filter: {}}\n";
    write(&folder, &[VERSION, ("databases/databases.yaml", &pets(pet))]);
    let settings =
        "listen: 127.0.0.1:0\nmetadata: metadata\nadmin_secret: hush\nauth: {unauthorized_role: user}\n";
    let file = folder.write("weir.yaml", settings);
    let weir = Weir::by_file(&file, folder);
    let ask = |path: &str, headers: &[(&str, &str)], query: &str| {
        weir.post(path, headers, crate::support::body(query).as_bytes()).text().to_owned()
    };
    let secret = ("x-weir-admin-secret", "hush");
    let role = ("x-hasura-role", "user");
    let name = "{ pet { name } }";
    let hint = "the admin's role is answered";
    let tried = ask("/graphql", &[secret, role], name);
    assert!(tried.contains("Cannot query field") && tried.contains(hint), "{tried}");
    // A field that nobody has is nobody's lack; a caller without the secret learns nothing; Hasura's answers stay.
    for (path, headers, query) in [
        ("/graphql", &[secret, role][..], "{ pet { nothing } }"),
        ("/graphql", &[secret], "{ pet { nothing } }"),
        ("/graphql", &[], name),
        ("/graphql", &[role], name),
        ("/v1/graphql", &[secret, role], name),
    ] {
        let told = ask(path, headers, query);
        assert!(told.contains("errors") && !told.contains(hint), "{path} {headers:?}: {told}");
    }
}

#[test]
fn what_does_not_resolve_is_left_out_and_told_and_the_rest_serves() {
    let folder = Folder::new();
    folder.pets();
    let tables = "  - table: pet\n    object_relationships:\n    - name: owner\n      using: {foreign_key_constraint_on: owner_id}\n\
                  \x20   event_triggers: [{name: t, definition: {}}]\n  - table: boat\n";
    let root = write(
        &folder,
        &[VERSION, ("databases/databases.yaml", &pets(tables)), ("actions.yaml", "actions: [{name: a}]\n")],
    );
    let output = weir(&folder, &["check", "--metadata", "metadata"]);
    let said = words(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in [
        "metadata/databases/databases.yaml:8:7: [0].tables[0].object_relationships[0]: Inconsistent object: in table \"pet\": in relationship \"owner\": ",
        "[0].tables[1].table: Inconsistent object: no such table/view exists in source: \"boat\"",
        "in event trigger \"t\": atleast one amongst insert/update/delete/enable_manual spec must be provided",
        "metadata/actions.yaml:1:11: [0]: Inconsistent object: in action \"a\"; key \"definition\" not found",
    ] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    assert!(root.is_dir());
    let weir = serve(folder);
    check(&weir.query("{ pet_by_pk(id: 1) { name } }"), r#"{"data":{"pet_by_pk":{"name":"Ada"}}}"#);
    check(
        &weir.get("/readyz", &[]),
        r#""metadata":{"is_consistent":false,"inconsistent_objects":4,"unsupported":0}"#,
    );
    check(&weir.get("/healthz", &[]), "WARN: inconsistent objects in schema");
}

#[test]
fn a_check_of_metadata_ends_with_a_report() {
    let folder = Folder::new();
    folder.pets();
    let tables = "  - table: pet\n    select_permissions:\n    - {role: a, permission: {columns: [id], filter: {}}}\n    - {role: b, permission: {columns: [lost], filter: {}}}\n\
                  \x20 - \"!include lost.yaml\"\n";
    write(
        &folder,
        &[
            VERSION,
            ("databases/databases.yaml", &pets(tables)),
            ("metrics_config.yaml", "analyze_query_variables: true\n"),
        ],
    );
    let output = weir(&folder, &["check", "--metadata", "metadata"]);
    assert_eq!(output.status.code(), Some(1));
    let report = String::from_utf8_lossy(&output.stdout);
    let [whole, differs, metrics, not_served, first, second] = &report.lines().collect::<Vec<_>>()[..] else {
        panic!("{report}")
    };
    assert_eq!(*whole, "report: served whole: 1 source, 1 table, 1 permission");
    assert_eq!((*differs, *not_served), ("report: differs: 1", "report: not served: 2"));
    assert!(
        metrics.contains("`metrics_config` has no effect") && metrics.ends_with("docs/metadata.md"),
        "{metrics}"
    );
    assert!(first.contains("lost.yaml cannot be read"), "{first}");
    assert!(second.contains("in permission for role \"b\""), "{second}");

    write(&folder, &[("databases/databases.yaml", &pets("  - table: pet\n"))]);
    let output = weir(&folder, &["check", "--metadata", "metadata"]);
    let report = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{report}");
    assert!(report.ends_with("report: not served: nothing\n"), "{report}");
}

#[test]
fn updates_that_hasura_lets_out_of_their_filter_are_told_by_name() {
    let folder = Folder::new();
    folder.pets();
    let update = |role: &str, columns: &str, more: &str| {
        format!(
            "    - role: {role}\n      permission: {{columns: [{columns}], filter: {{name: {{_eq: Ada}}}}{more}}}\n"
        )
    };
    let tables = [
        "  - table: pet\n    update_permissions:\n".to_owned(),
        update("a", "name", ""),
        update("b", "name", ", check: null"),
        update("c", "name", ", check: {}"),
        update("d", "id", ""),
    ];
    write(&folder, &[VERSION, ("databases/databases.yaml", &pets(&tables.concat()))]);
    let output = weir(&folder, &["check", "--metadata", "metadata"]);
    let said = words(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let told = "warning: source `default`: `pet`: update permission of a, b: a row has to fulfil the filter after the update too";
    assert!(said.contains(told), "{said}");
}

#[test]
fn what_does_not_fit_is_left_out_and_the_rest_is_served() {
    let folder = Folder::new();
    folder.pets();
    let tables = "  - table: pet\n    colour: red\n    select_permissions:\n    - {role: a, permission: {columns: [id], filter: {}, \
                  rows: 7}}\n    - {role: b, permission: {columns: [id], filter: {}}}\n  - table: [lost]\n";
    let collections = "- name: known\n  definition: {queries: [{name: broken, query: \"{ pet { id \"}, {name: whole, query: \"query whole { pet { id } }\"}]}\n";
    let endpoint = |name: &str| {
        format!(
            "- {{name: {name}, url: {name}, methods: [GET], definition: {{query: {{collection_name: known, query_name: {name}}}}}}}\n"
        )
    };
    write(
        &folder,
        &[
            VERSION,
            ("databases/databases.yaml", &pets(tables)),
            ("backend_configs.yaml", "dataconnector: {athena: {uri: \"http://here\"}}\n"),
            ("query_collections.yaml", collections),
            ("rest_endpoints.yaml", &format!("{}{}", endpoint("broken"), endpoint("whole"))),
        ],
    );
    let output = weir(&folder, &["check", "--metadata", "metadata"]);
    let said = words(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in [
        "warning: metadata/databases/databases.yaml:7:5: [0].tables[0].colour: unexpected keys when parsing TableMetadata: colour",
        "in permission for role \"a\": unknown key `rows`",
        "error: metadata/databases/databases.yaml:11:12: [0].tables[1].table",
        "`backend_configs` has no effect",
        "in query \"broken\": it is no GraphQL",
        "query with name \"broken\" does not exist in the collection \"known\"",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    let weir = serve(folder);
    let ask =
        |role: &str| weir.post("/graphql", &[("x-hasura-role", role)], body("{ pet { id } }").as_bytes());
    check(&ask("b"), "\"id\":1");
    check(&ask("a"), "errors");
    check(&weir.get("/api/rest/whole", &[]), "\"id\":1");
    assert_eq!(weir.get("/api/rest/broken", &[]).status, 404);
    // A change would write the files without what was left out.
    let untrack = r#"{"type": "pg_untrack_table", "args": {"source": "default", "table": "pet"}}"#;
    let refused = weir.post("/v1/metadata", &[], untrack.as_bytes());
    check(&refused, "a change would remove them");
}

#[test]
fn a_change_of_the_folder_is_taken_over_and_a_broken_one_is_not() {
    let folder = Folder::new();
    folder.pets();
    let root = write(
        &folder,
        &[
            VERSION,
            ("databases/databases.yaml", &pets("  - \"!include pet.yaml\"\n")),
            ("databases/pet.yaml", "table: pet\n"),
        ],
    );
    let weir = serve(folder);
    let pet = root.join("databases/pet.yaml");
    let until = |path: &str, query: Option<&str>, part: &str| {
        let begun = Instant::now();
        loop {
            let answer = query.map_or_else(|| weir.get(path, &[]), |it| weir.query(it));
            if answer.text().contains(part) {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "{part} never comes, only {}; {}", answer.text(), weir.log());
            std::thread::yield_now();
        }
    };
    std::fs::write(&pet, "table: pet\nconfiguration: {custom_name: animal}\n").expect("it can be written");
    until("", Some("{ animal_by_pk(id: 1) { name } }"), "Ada");
    std::fs::write(&pet, "table: pet\nconfiguration: [\n").expect("it can be written");
    until("/healthz", None, "WARN: the configuration could not be taken over");
    check(&weir.query("{ animal_by_pk(id: 1) { name } }"), "Ada");
    // The folder has a file that it did not have.
    std::fs::write(root.join("databases/other.yaml"), "table: pet\n").expect("it can be written");
    std::fs::write(&pet, "\"!include other.yaml\"\n").expect("it can be written");
    until("", Some("{ pet_by_pk(id: 1) { name } }"), "Ada");
    std::fs::write(root.join("databases/other.yaml"), "table: pet\nconfiguration: {custom_name: beast}\n")
        .expect("it can be written");
    until("", Some("{ beast_by_pk(id: 1) { name } }"), "Ada");
}

#[test]
fn a_file_that_was_broken_at_the_start_keeps_no_change_from_being_taken_over() {
    let folder = Folder::new();
    folder.pets();
    let root = write(
        &folder,
        &[
            VERSION,
            ("databases/databases.yaml", &pets("  - \"!include pet.yaml\"\n  - \"!include broken.yaml\"\n")),
            ("databases/pet.yaml", "table: pet\n"),
            ("databases/broken.yaml", "table: [\n"),
        ],
    );
    let weir = serve(folder);
    check(&weir.query("{ pet_by_pk(id: 1) { name } }"), "Ada");
    std::fs::write(root.join("databases/pet.yaml"), "table: pet\nconfiguration: {custom_name: animal}\n")
        .expect("it can be written");
    check(&weir.post("/v1/reload", &[], b""), "{\"generation\":");
    check(&weir.query("{ animal_by_pk(id: 1) { name } }"), "Ada");
}

#[test]
fn postgres_is_served_by_its_metadata() {
    let database = database(
        "CREATE SCHEMA port; CREATE TABLE port.harbour (code text PRIMARY KEY); \
         CREATE TABLE boat (id int PRIMARY KEY, name text, code text REFERENCES port.harbour); CREATE TABLE hidden (id int PRIMARY KEY); \
         CREATE FUNCTION label(boat) RETURNS text LANGUAGE sql STABLE AS $$ SELECT upper($1.name) $$; \
         CREATE FUNCTION found(word text) RETURNS SETOF boat LANGUAGE sql STABLE AS $$ SELECT * FROM boat WHERE name = word $$; \
         INSERT INTO port.harbour VALUES ('HH'); INSERT INTO boat VALUES (7, 'Ada', 'HH')",
    );
    let folder = Folder::new();
    let text = format!(
        r#"{{"resource_version": 5, "metadata": {{"version": 3, "sources": [{{"name": "default", "kind": "pg",
        "configuration": {{"connection_info": {{"database_url": "{}", "pool_settings": {{"max_connections": 4}}}}}},
        "tables": [
          {{"table": "boat", "object_relationships": [{{"name": "harbour", "using": {{"foreign_key_constraint_on": "code"}}}}],
            "computed_fields": [{{"name": "label", "definition": {{"function": "label"}}}}],
            "configuration": {{"custom_root_fields": {{"select_by_pk": "one"}}}}}},
          {{"table": {{"schema": "port", "name": "harbour"}}, "array_relationships": [{{"name": "boats", "using":
            {{"foreign_key_constraint_on": {{"table": "boat", "column": "code"}}}}}}]}}],
        "functions": [{{"function": "found"}}]}}]}}}}"#,
        database.url()
    );
    let file = folder.write("metadata.json", &text);
    let configuration = folder.write("weir.yaml", "listen: 127.0.0.1:0\nmetadata: metadata.json\n");
    let exported = weir(&folder, &["metadata", "export", "--metadata", "metadata.json", "--to", "again"]);
    assert!(exported.status.success(), "{}", words(&exported));
    let read = |path: &Path| {
        let document = weir_metadata::read::path(path).expect("it is read").document;
        weir_metadata::export::json(&document).expect("it can be written")
    };
    assert_eq!(read(&folder.file("again")), read(&file));
    let weir = Weir::by_file(&configuration, folder);
    let query = "{ one(id: 7) { label harbour { code boats { name } } } found(args: {word: \"Ada\"}) { id } port_harbour { code } }";
    check(
        &weir.query(query),
        r#"{"data":{"one":{"label":"ADA","harbour":{"code":"HH","boats":[{"name":"Ada"}]}},"found":[{"id":7}],"port_harbour":[{"code":"HH"}]}}"#,
    );
    check(&weir.query("{ hidden { id } }"), "Cannot query field");
}

#[test]
fn a_database_without_metadata_is_exported_and_served_alike() {
    let folder = Folder::new();
    let chinook = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/chinook/chinook.sql");
    let sql = std::fs::read_to_string(chinook).expect("the sample is there");
    let connection = rusqlite::Connection::open(folder.file("chinook.db")).expect("it can be made");
    connection.execute_batch(&sql).expect("it is sound");
    drop(connection);
    folder.write("weir.yaml", "sources: [{name: chinook, url: chinook.db, group_by: false}]\n");
    let exported = weir(&folder, &["metadata", "export", "--to", "out"]);
    assert!(exported.status.success(), "{}", words(&exported));
    let text = std::fs::read_to_string(folder.file("out/databases/databases.yaml")).expect("it is there");
    // Paths of exports are relative to where they were made.
    let text = text.replace("sqlite:chinook.db", &format!("sqlite:{}", folder.file("chinook.db").display()));
    std::fs::write(folder.file("out/databases/databases.yaml"), text).expect("it can be written");
    let [before, after] = [["schema", "weir.yaml"], ["schema", "out"]].map(|it| words(&weir(&folder, &it)));
    assert!(before.contains("type Album "), "{before}");
    let lines = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(lines(&before), lines(&after));
}

#[test]
fn the_convention_of_a_source_names_what_is_asked_and_written() {
    let folder = Folder::new();
    folder.pets();
    let tables = "  - table: pet\n    configuration: {column_config: {name: {custom_name: nick_name}}}\n  customization: {naming_convention: graphql-default}\n";
    write(&folder, &[VERSION, ("databases/databases.yaml", &pets(tables))]);
    let weir = serve(folder);
    let insert = "mutation { insertPetOne(object: {id: 70, nick_name: \"Zoe\"}, onConflict: {constraint: pet_pkey, updateColumns: [nick_name]}) { nick_name } \
                  updatePetMany(updates: [{where: {id: {_eq: 70}}, _set: {nick_name: \"Zia\"}}]) { affectedRows } }";
    check(
        &weir.query(insert),
        r#"{"data":{"insertPetOne":{"nick_name":"Zoe"},"updatePetMany":[{"affectedRows":1}]}}"#,
    );
    let read = "{ pet(orderBy: {id: DESC_NULLS_LAST}, limit: 1, where: {nick_name: {_isNull: false}}) { id __typename } petByPk(id: 70) { nick_name } }";
    check(
        &weir.query(read),
        r#"{"data":{"pet":[{"id":70,"__typename":"Pet"}],"petByPk":{"nick_name":"Zia"}}}"#,
    );
}

const FLEET: &str = "CREATE TABLE kind (name TEXT PRIMARY KEY, comment TEXT); INSERT INTO kind VALUES ('sail', 'by wind'), ('Motor', NULL); \
                     CREATE TABLE boat (id INTEGER PRIMARY KEY, kind TEXT NOT NULL REFERENCES kind (name)); INSERT INTO boat VALUES (1, 'sail')";

/// Metadata of [`FLEET`] at `url` by the other convention.
fn capitals(url: &str, kind: &str) -> String {
    format!(
        "- name: default\n  kind: {kind}\n  configuration:\n    connection_info: {{database_url: \"{url}\"}}\n  tables:\n  - table: {{schema: public, name: kind}}\n    \
         is_enum: true\n  - table: {{schema: public, name: boat}}\n    object_relationships:\n    - name: sort\n      using: {{foreign_key_constraint_on: kind}}\n    \
         select_permissions:\n    - role: user\n      permission: {{columns: '*', filter: {{kind: {{_eq: Motor}}}}}}\n"
    )
}

/// Values of an enum table go in and out in capitals, and are stored as they are.
fn are_in_capitals(weir: &Weir) {
    let write = "mutation($k: KindEnum!) { insertBoat(objects: [{id: 2, kind: MOTOR}, {id: 3, kind: $k}]) { returning { id kind } } \
                 updateBoatByPk(pkColumns: {id: 3}, _set: {kind: MOTOR}) { kind sort { name } } }";
    let body = serde_json::json!({ "query": write, "variables": { "k": "SAIL" } }).to_string();
    let written = weir.post("/graphql", &[], body.as_bytes());
    check(
        &written,
        r#"{"data":{"insertBoat":{"returning":[{"id":2,"kind":"MOTOR"},{"id":3,"kind":"SAIL"}]},"updateBoatByPk":{"kind":"MOTOR","sort":{"name":"Motor"}}}}"#,
    );
    let read = "query($in: [KindEnum!]) { all: boat(orderBy: {id: ASC}) { kind } boat(where: {kind: {_in: $in}}, orderBy: {id: ASC}) { id } \
                boatAggregate(where: {kind: {_neq: SAIL}}) { aggregate { count } nodes { kind } } kind(orderBy: {name: ASC}) { name } }";
    let body = serde_json::json!({ "query": read, "variables": { "in": ["SAIL"] } }).to_string();
    let found = weir.post("/v1/graphql", &[], body.as_bytes());
    check(&found, r#""all":[{"kind":"SAIL"},{"kind":"MOTOR"},{"kind":"MOTOR"}],"boat":[{"id":1}]"#);
    check(&found, r#""boatAggregate":{"aggregate":{"count":2},"nodes":[{"kind":"MOTOR"},{"kind":"MOTOR"}]}"#);
    check(&found, r#"{"name":"Motor"}"#);
    check(
        &weir.post(
            "/graphql",
            &[("x-hasura-role", "user")],
            br#"{"query":"{ boat(orderBy: {id: ASC}) { id kind } }"}"#,
        ),
        r#"{"data":{"boat":[{"id":2,"kind":"MOTOR"},{"id":3,"kind":"MOTOR"}]}}"#,
    );
    check(&weir.query("{ boat(where: {kind: {_eq: sail}}) { id } }"), "\"errors\"");
}

#[test]
fn values_of_an_enum_table_are_in_capitals_by_the_convention_of_the_server() {
    let folder = Folder::new();
    let connection = rusqlite::Connection::open(folder.file("fleet.db")).expect("SQLite makes a file");
    connection.execute_batch(FLEET).expect("the statements are right");
    write(&folder, &[VERSION, ("databases/databases.yaml", &capitals("sqlite:../fleet.db", "sqlite"))]);
    let yaml = "listen: 127.0.0.1:0\nmetadata: metadata\nnaming_convention: graphql-default\n";
    let file = folder.write("weir.yaml", yaml);
    are_in_capitals(&Weir::by_file(&file, folder));
}

#[test]
fn values_of_an_enum_table_of_a_server_are_in_capitals_by_hasura_s_variables() {
    let database = database(&FLEET.replace("INTEGER", "int"));
    let folder = Folder::new();
    write(&folder, &[VERSION, ("databases/databases.yaml", &capitals(&database.url(), "postgres"))]);
    let mut command = command();
    command.args(["serve", "--listen", "127.0.0.1:0"]).current_dir(folder.file(""));
    command.env("HASURA_GRAPHQL_METADATA_DIR", "metadata");
    command.env("HASURA_GRAPHQL_DEFAULT_NAMING_CONVENTION", "graphql-default");
    command.env("HASURA_GRAPHQL_EXPERIMENTAL_FEATURES", "naming_convention");
    command.env("HASURA_GRAPHQL_READ_ONLY", "true");
    let weir = Weir::run(&mut command, folder);
    are_in_capitals(&weir);
    assert!(weir.log().contains("HASURA_GRAPHQL_READ_ONLY has no effect"), "{}", weir.log());
}

#[test]
fn metadata_made_for_postgres_names_tables_in_conditions_on_sqlite() {
    let folder = Folder::new();
    folder.pets();
    let filter = "{_exists: {_table: {schema: public, name: pet}, _where: {name: {_eq: Cyd}}}}";
    let tables = format!(
        "  - table: {{schema: public, name: pet}}\n    select_permissions:\n    - role: user\n      permission: {{columns: '*', filter: {filter}}}\n"
    );
    let text = pets(&tables).replace("kind: sqlite", "kind: postgres");
    write(&folder, &[VERSION, ("databases/databases.yaml", &text)]);
    let yaml = "listen: 127.0.0.1:0\nmetadata: metadata\nadmin_secret: hush\nsources: [{name: default, url: pets.db}]\n";
    let file = folder.write("weir.yaml", yaml);
    let weir = Weir::by_file(&file, folder);
    let user = [("x-hasura-admin-secret", "hush"), ("x-hasura-role", "user")];
    check(
        &weir.post("/graphql", &user, br#"{"query":"{ pet { id } }"}"#),
        r#"{"data":{"pet":[{"id":1},{"id":2},{"id":3}]}}"#,
    );
}

#[test]
fn what_cannot_be_reached_keeps_nothing_else_from_being_checked() {
    let folder = Folder::new();
    folder.pets();
    let text = format!(
        "{}- name: away\n  kind: postgres\n  configuration:\n    connection_info: {{database_url: \"postgres://ada@127.0.0.1:1/d\"}}\n  tables:\n  - table: boat\n    \
         array_relationships:\n    - name: crews\n      using: {{foreign_key_constraint_on: {{table: crew, column: boat_id}}}}\n    event_triggers: [{{name: t}}]\n",
        pets(
            "  - table: pet\n    object_relationships: [{name: owner, using: {foreign_key_constraint_on: owner_id}}]\n"
        )
    );
    let roles = ("inherited_roles.yaml", "- role_name: both\n  role_set: [nobody]\n");
    write(&folder, &[VERSION, ("databases/databases.yaml", &text), roles]);
    let output = command()
        .args(["check", "--metadata", "metadata"])
        .env("HASURA_GRAPHQL_JWT_SECRET", "{\"type\": \"hush\"}")
        .current_dir(folder.file(""))
        .output()
        .expect("it runs");
    let said = words(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in [
        "error: HASURA_GRAPHQL_JWT_SECRET is no configuration as",
        "in table \"pet\": in relationship \"owner\": ",
        "source `away`: ",
        "not checked: whether the database has what the entries of `away` name",
        "array_relationships[0]: the table `crew` is not tracked",
        "in event trigger \"t\": key \"definition\" not found",
        "the role \"nobody\", of which it is made, is in no permission",
    ] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    assert!(!said.contains("hush"), "{said}");
    let both = String::from_utf8_lossy(&output.stderr).matches("the role \"nobody\"").count();
    assert_eq!(both, 1, "{said}");
}

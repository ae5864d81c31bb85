//! A schema of PostgreSQL that is called as SQLite's own: its tables are not those of `public`, under whatever command.

use crate::metadata_edits::{SECRET, send, serve_metadata};
use crate::postgres_kit::database;
use crate::support::{Folder, Weir, body, command};
use serde_json::{Value, json};

const TABLES: &str = "CREATE SCHEMA main;
    CREATE TABLE main.boat (id int PRIMARY KEY, of_main text);
    CREATE TABLE main.crew (id int PRIMARY KEY, boat_id int CONSTRAINT in_main REFERENCES main.boat (id));
    CREATE VIEW main.names AS SELECT of_main FROM main.boat;
    CREATE TABLE boat (id int PRIMARY KEY, of_public text);
    CREATE TABLE crew (id int PRIMARY KEY, boat_id int CONSTRAINT in_public REFERENCES boat (id));
    CREATE VIEW names AS SELECT of_public FROM boat;
    INSERT INTO main.boat VALUES (1, 'm'); INSERT INTO boat VALUES (2, 'p');";

fn run(weir: &Weir, name: &str, args: Value) -> Value {
    let answer = send(weir, &json!({ "type": name, "args": args }));
    assert_eq!(answer.status, 200, "{name}: {}", answer.text());
    answer.json()
}

#[test]
fn tables_of_a_schema_called_main_are_told_from_those_of_public() {
    let server = database(TABLES);
    let weir = serve_metadata(&server.url(), "postgres", Folder::new());
    let of_main = |name: &str| json!({ "schema": "main", "name": name });
    let of_public = |name: &str| json!({ "schema": "public", "name": name });
    for name in ["boat", "crew"] {
        run(&weir, "pg_track_table", json!({ "table": of_main(name) }));
    }
    let suggested =
        |weir: &Weir| run(weir, "pg_suggest_relationships", json!({}))["relationships"].to_string();
    assert!(
        suggested(&weir).contains("in_main") && !suggested(&weir).contains("in_public"),
        "{}",
        suggested(&weir)
    );
    for name in ["boat", "crew"] {
        run(&weir, "pg_track_table", json!({ "table": of_public(name) }));
    }
    assert!(
        suggested(&weir).contains("in_main") && suggested(&weir).contains("in_public"),
        "{}",
        suggested(&weir)
    );
    let answer =
        weir.post("/v1/graphql", &[SECRET], body("{ boat { of_public } main_boat { of_main } }").as_bytes());
    assert_eq!(answer.text(), r#"{"data":{"boat":[{"of_public":"p"}],"main_boat":[{"of_main":"m"}]}}"#);
    for (table, view, column) in [
        (json!("boat"), json!("names"), "of_public"),
        (of_public("boat"), of_public("names"), "of_public"),
        (of_main("boat"), of_main("names"), "of_main"),
    ] {
        let told = run(&weir, "pg_get_table_info", json!({ "table": table })).to_string();
        assert!(told.contains(&format!("\"{column}\"")), "{told}");
        let told = run(&weir, "pg_get_viewdef", json!({ "view": view })).to_string();
        assert!(told.contains(column), "{told}");
    }
}

/// Schema of the API, its lines in order.
fn print_api(folder: &Folder, place: &str, env: &str) -> Vec<String> {
    let output =
        command().args(["schema", place]).env("WEIR_DEFAULT_URL", env).current_dir(folder.file("")).output();
    let output = output.expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut lines: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn an_export_of_a_schema_called_main_is_served_alike() {
    let server = database(TABLES);
    let folder = Folder::new();
    let yaml = format!(
        "sources:\n- {{name: default, url: \"{}\", group_by: false, postgres: {{schemas: [public, main]}}}}\n",
        server.url()
    );
    folder.write("weir.yaml", &yaml);
    let exported = command()
        .args(["metadata", "export", "--to", "out"])
        .current_dir(folder.file(""))
        .output()
        .expect("it runs");
    assert!(exported.status.success(), "{}", String::from_utf8_lossy(&exported.stderr));
    let before = print_api(&folder, "weir.yaml", "");
    assert!(before.iter().any(|it| it.starts_with("type main_boat")), "{before:?}");
    assert_eq!(before, print_api(&folder, "out", &server.url()));
}

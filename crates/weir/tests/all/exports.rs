//! Exports of metadata of which a part could not be read, and the words of a check about such parts.

use crate::support::{Answer, Folder, Weir, command};
use serde_json::{Value, json};
use std::process::Output;

const SECRET: (&str, &str) = ("x-hasura-admin-secret", "hush");

const DATABASES: &str = "- name: default
  kind: sqlite
  configuration:
    connection_info: {database_url: sqlite:../pets.db}
  tables: \"!include default/tables/tables.yaml\"
";

const PET: &str = "table: pet
select_permissions:
- {role: user, permission: {columns: [id], filter: {}}}
- {role: broken, permission: {columns: [id], filter: {}, why: not}}
colour: red
";

/// A project of the pets, with further files.
fn project(more: &[(&str, &str)]) -> Folder {
    let folder = Folder::new();
    folder.pets();
    folder.write("weir.yaml", "listen: 127.0.0.1:0\nadmin_secret: hush\nmetadata: metadata\n");
    let files = [
        ("version.yaml", "version: 3\n"),
        ("databases/databases.yaml", DATABASES),
        ("databases/default/tables/tables.yaml", "- \"!include pet.yaml\"\n"),
        ("databases/default/tables/pet.yaml", PET),
    ];
    for (name, text) in files.iter().chain(more) {
        let path = folder.file("metadata").join(name);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it can be made");
        std::fs::write(path, text).expect("it can be written");
    }
    folder
}

fn serve(folder: Folder) -> Weir {
    let file = folder.file("weir.yaml");
    Weir::by_file(&file, folder)
}

fn send(weir: &Weir, path: &str, body: &Value) -> Answer {
    weir.post(path, &[SECRET], body.to_string().as_bytes())
}

fn export(weir: &Weir) -> Value {
    send(weir, "/v1/metadata", &json!({ "type": "export_metadata", "args": {} })).json()
}

fn run(folder: &Folder, arguments: &[&str]) -> Output {
    command().args(arguments).current_dir(folder.file("")).output().expect("it runs")
}

fn words(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn an_export_has_what_is_left_out() {
    let weir = serve(project(&[]));
    let exported = export(&weir);
    let table = &exported["sources"][0]["tables"][0];
    assert_eq!(table["colour"], "red", "{exported}");
    let broken = json!({ "role": "broken", "permission": { "columns": ["id"], "filter": {}, "why": "not" } });
    assert_eq!(table["select_permissions"][0], broken, "{exported}");
    // A list of commands that fails gives back the metadata as it was.
    let emptied =
        json!({ "type": "replace_metadata", "args": { "metadata": { "version": 3, "sources": [] } } });
    let failing = json!({ "type": "fly", "args": {} });
    let failed = send(&weir, "/v1/metadata", &json!({ "type": "bulk", "args": [emptied, failing] }));
    assert_eq!(failed.status, 501, "{}", failed.text());
    assert_eq!(export(&weir), exported);
    let written = std::fs::read_to_string(weir.folder().file("metadata/databases/default/tables/pet.yaml"));
    assert!(written.is_ok_and(|it| it.contains("why: not") && it.contains("colour: red")));
    let read =
        weir.post("/v1/graphql", &[SECRET, ("x-hasura-role", "user")], br#"{"query":"{ pet { id } }"}"#);
    assert!(read.text().starts_with(r#"{"data""#), "{}", read.text());
}

#[test]
fn files_that_cannot_be_read_are_named_by_each_export() {
    let folder = project(&[
        ("databases/default/tables/tables.yaml", "- \"!include pet.yaml\"\n- \"!include torn.yaml\"\n"),
        ("databases/default/tables/torn.yaml", "table: [\n"),
    ]);
    let done = run(&folder, &["metadata", "export", "--to", "again"]);
    let said = words(&done);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(
        said.contains("error: not exported, as it cannot be read: ") && said.contains("torn.yaml:"),
        "{said}"
    );
    assert!(folder.file("again/databases/default/tables/pet.yaml").exists());
    let weir = serve(folder);
    let bare = json!({ "type": "export_metadata", "args": {} });
    let refused = send(&weir, "/v1/metadata", &bare);
    assert_eq!(refused.status, 400, "{}", refused.text());
    let message = refused.json()["error"].to_string();
    assert!(message.contains("torn.yaml:") && message.contains("mend them"), "{message}");
    // The command line reads the version before each command, and the console wants a document.
    let versioned = json!({ "type": "export_metadata", "version": 2, "args": {} });
    for (path, body) in [("/v1/query", &bare), ("/v1/metadata", &versioned)] {
        let answer = send(&weir, path, body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let unread = answer.json()["unread_files"].to_string();
        assert!(unread.contains("torn.yaml:"), "{path}: {unread}");
    }
    let dropped = send(&weir, "/v1/metadata", &json!({ "type": "drop_inconsistent_metadata", "args": {} }));
    assert_eq!(dropped.status, 400, "{}", dropped.text());
    assert!(dropped.json()["error"].to_string().contains("torn.yaml:"), "{}", dropped.text());
}

#[test]
fn a_source_of_another_kind_does_not_count_as_served() {
    let other =
        format!("{DATABASES}- name: old\n  kind: mssql\n  tables:\n  - table: {{schema: dbo, name: bill}}\n");
    let folder = project(&[
        ("databases/databases.yaml", &other),
        ("databases/default/tables/pet.yaml", "table: pet\n"),
    ]);
    let checked = run(&folder, &["check"]);
    let said = words(&checked);
    assert!(said.contains("report: served whole: 1 source, 1 table\n"), "{said}");
    assert!(said.contains("sources of kind `mssql` are not supported"), "{said}");
}

#[test]
fn what_is_wrong_with_actions_has_its_place_and_name() {
    let yaml = |more: &str| {
        format!(
            "actions:\n- name: a\n  definition: {{handler: 'http://h'}}\ncustom_types:\n  objects: [{{name: Out{more}}}]\n"
        )
    };
    let sdl = "type Query {\n  a(x: Nothing): Out\n}\ntype Out {\n  id: Int\n}\n";
    let check = |yaml: &str, sdl: &str, part: &str| {
        let folder = project(&[("actions.yaml", yaml), ("actions.graphql", sdl)]);
        let said = words(&run(&folder, &["check"]));
        assert!(said.contains(part), "{part} is not in {said}");
    };
    check(&yaml(""), sdl, "metadata/actions.graphql:2:8: ");
    check(
        &yaml(""),
        &sdl.replace("x: Nothing", "x: Int").replace("): Out", "): In"),
        "metadata/actions.graphql:2:",
    );
    check(&yaml(""), &sdl.replace("id: Int", "id: Nothing"), "metadata/actions.graphql:4:1");
    let related = yaml(
        ", relationships: [{name: pet, type: object, source: gone, remote_table: pet, field_mapping: {id: id}}]",
    );
    let named = "in object type \"Out\": in relationship \"pet\": source with name \"gone\" does not exist";
    check(&related, &sdl.replace("x: Nothing", "x: Int"), named);
}

#[test]
fn the_cause_of_a_model_is_told_once() {
    let models = "  logical_models:\n  - {name: odd, fields: [{name: id, type: {logical_model: other}}]}\n  \
                  native_queries:\n  - {root_field_name: odds, returns: odd, code: SELECT 1 AS id}\n";
    let folder = project(&[("databases/databases.yaml", &format!("{DATABASES}{models}"))]);
    let said = words(&run(&folder, &["check"]));
    assert!(said.contains("in native query \"odds\": its logical model 'odd' is left out"), "{said}");
    assert!(said.contains("in logical model \"odd\": the field `id` holds rows of another model"), "{said}");
}

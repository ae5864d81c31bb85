//! Documents of which a part could not be read, exported with that part; and folders, written as they were.

use crate::folders::Folder;
use std::path::{Path, PathBuf};
use weir_metadata::export::Export;
use weir_metadata::{Loaded, read};

const WHOLE: &str = r#"{"version":3,"sources":[
  {"name":"default","kind":"postgres","tables":[
    {"table":{"name":"boat","schema":"public"},
     "object_relationships":[{"name":"harbour","using":{"foreign_key_constraint_on":"harbour_id"}}],
     "select_permissions":[
       {"role":"guest","permission":{"columns":["id"],"filter":{"id":{"_eq":1}}}},
       {"role":"sailor","permission":{"columns":["id"],"filter":{}}}]},
    {"table":{"name":"crew","schema":"public"}}],
   "functions":[{"function":{"name":"search","schema":"public"},"permissions":[{"role":"sailor"}]}]}],
 "remote_schemas":[{"name":"weather","definition":{"url":"http://w/graphql"}}],
 "actions":[{"name":"pay","definition":{"handler":"http://h","output_type":"Receipt","type":"mutation","kind":"synchronous"}}],
 "custom_types":{"objects":[{"name":"Receipt","fields":[{"name":"id","type":"Int"}]}]},
 "cron_triggers":[{"name":"nightly","webhook":"http://h","schedule":"0 0 * * *","include_in_metadata":true}],
 "query_collections":[{"name":"known","definition":{"queries":[{"name":"a","query":"{ a }"}]}}],
 "allowlist":[{"collection":"known"}],
 "rest_endpoints":[{"name":"a","url":"a","methods":["GET"],"definition":{"query":{"collection_name":"known","query_name":"a"}}}],
 "inherited_roles":[{"role_name":"captain","role_set":["sailor","guest"]}]}"#;

fn load(name: &str, text: &str) -> Loaded {
    let folder = Folder::new(&format!("exports-{name}"), &[("m.json", text)]);
    read::path(&folder.0.join("m.json")).expect("the rest is read")
}

fn export(loaded: &Loaded) -> Export {
    Export::of(&loaded.document, &loaded.aside).expect("it is written")
}

/// A document's members; lists of entries stand by name in exports, as in the documents here.
fn members(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("it is JSON")
}

#[test]
fn an_entry_that_could_not_be_read_is_exported_as_it_was() {
    let changes = [
        (
            "unknown-key",
            r#""foreign_key_constraint_on":"harbour_id"}"#,
            r#""foreign_key_constraint_on":"harbour_id"},"why":[1,{"b":null}]"#,
        ),
        ("permission", r#"["id"],"filter":{}"#, r#"7,"filter":{},"more":{}"#),
        ("both-permissions", r#"{"columns":["id"],"filter":{"id":{"_eq":1}}}},"#, r#"{"filters":1}},"#),
        ("relationship", r#"{"foreign_key_constraint_on":"harbour_id"}"#, r#"{"foreign_key":"harbour_id"}"#),
        ("table", r#"{"name":"crew","schema":"public"}"#, r#"{"name":"crew","schema":7}"#),
        ("twice", r#"{"role":"sailor","permission":{"#, r#"{"role":"guest","permission":{"#),
        (
            "function-permission",
            r#""permissions":[{"role":"sailor"}]"#,
            r#""permissions":[{"role":"admin"}]"#,
        ),
        ("remote", r#"{"url":"http://w/graphql"}"#, r#"{"uri":"http://w/graphql","url":"http://w"}"#),
        ("action", r#""output_type":"Receipt","#, r#""output_type":"Receipt","more":1,"#),
        ("types", r#"{"name":"id","type":"Int"}"#, r#"{"name":"id","type":["Int"]}"#),
        ("cron", r#""schedule":"0 0 * * *","#, ""),
        ("collection", r#""query":"{ a }""#, r#""query":["{ a }"]"#),
        ("allowed", r#"{"collection":"known"}"#, r#"{"collection":4}"#),
        ("endpoint", r#""methods":["GET"],"#, r#""methods":"GET","#),
        ("role", r#""role_set":["sailor","guest"]"#, r#""role_set":"sailor""#),
        ("section", r#""cron_triggers""#, r#""later":{"a":[]},"cron_triggers""#),
    ];
    for (name, old, new) in changes {
        assert!(WHOLE.contains(old), "{name}");
        let text = WHOLE.replacen(old, new, 1);
        let loaded = load(name, &text);
        assert!(loaded.is_partial, "{name}");
        let written = export(&loaded).json().expect("it is JSON");
        let (found, expected) = (members(&written), members(&text));
        assert_eq!(found, expected, "{name}");
        // The YAML and the folder hold it, too, and are read in the same way.
        let told = |it: &Loaded| -> Vec<String> {
            let left_out = it.left_out.iter().map(|it| format!("{}: {}", it.name, it.reason));
            let mut told: Vec<String> =
                left_out.chain(it.unknown.iter().map(|it| it.message.clone())).collect();
            told.sort();
            told
        };
        let folder = Folder::new(&format!("exports-again-{name}"), &[("m.yaml", &export(&loaded).yaml())]);
        export(&loaded).folder().iter().for_each(|it| folder.write(&it.0, &it.1));
        let file = read::path(&folder.0.join("m.yaml")).expect("the rest is read");
        std::fs::remove_file(folder.0.join("m.yaml")).expect("it is there");
        assert_eq!((told(&file), file.document), (told(&loaded), loaded.document.clone()), "{name}");
        if name != "section" {
            let again = folder.load().expect("the rest is read");
            assert_eq!((told(&again), again.document), (told(&loaded), loaded.document.clone()), "{name}");
        }
    }
}

#[test]
fn what_one_file_of_actions_lacks_is_exported() {
    let yaml = "actions:\n- {name: a, definition: {handler: http://h}}\n- {name: lost, definition: {handler: http://l}}\n\
                custom_types:\n  objects: [{name: Order}, {name: Gone, relationships: []}]\n";
    let sdl = "type Mutation { a(n: Int): Order  bare(x: Int): Int }\ntype Order { id: Int }";
    let files = [
        ("version.yaml", "version: 3\n"),
        ("databases/databases.yaml", "[]\n"),
        ("actions.yaml", yaml),
        ("actions.graphql", sdl),
    ];
    let loaded = Folder::new("exports-actions", &files).load().expect("the rest is read");
    let written = members(&export(&loaded).json().expect("it is JSON"));
    assert_eq!(
        written["actions"],
        serde_json::json!([
            { "name": "a", "definition": { "handler": "http://h", "output_type": "Order", "type": "mutation", "kind": "synchronous", "arguments": [{ "name": "n", "type": "Int" }] } },
            { "name": "bare", "definition": { "output_type": "Int", "type": "mutation", "arguments": [{ "name": "x", "type": "Int" }] } },
            { "name": "lost", "definition": { "handler": "http://l" } },
        ])
    );
    let names: Vec<_> =
        written["custom_types"]["objects"].as_array().into_iter().flatten().map(|it| &it["name"]).collect();
    assert_eq!(names, ["Order", "Gone"]);
    // Without SDL the one file has everything.
    let files = export(&loaded).folder();
    let text = |name: &str| files.iter().find(|it| it.0 == Path::new(name)).map(|it| it.1.as_str());
    let yaml = text("actions.yaml").expect("it is written");
    assert!(
        ["name: bare", "name: lost", "name: Gone", "output_type: Order"].iter().all(|it| yaml.contains(it)),
        "{yaml}"
    );
    assert_eq!(text("actions.graphql"), None);
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let files = [
        ("version.yaml", "version: 3\n"),
        ("databases/databases.yaml", "[]\n"),
        ("actions.yaml", "actions:\n- {name: a, definition: {handler: http://h}}\n"),
        ("actions.graphql", "type Mutation { a: Int"),
        ("allow_list.yaml", "- collection: {"),
    ];
    let loaded = Folder::new("exports-broken", &files).load().expect("the rest is read");
    let mut names: Vec<&str> = loaded.broken.iter().filter_map(|it| it.0.file_name()?.to_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["actions.graphql", "allow_list.yaml"]);
    assert!(loaded.broken.iter().all(|it| it.1.contains(":1:")), "{:?}", loaded.broken);
    let written = members(&export(&loaded).json().expect("it is JSON"));
    assert_eq!(
        written["actions"],
        serde_json::json!([{ "name": "a", "definition": { "handler": "http://h" } }])
    );
}

/// Files of `folder`, by their paths below it.
fn files(folder: &Path, below: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder.join(below)).expect("it is there").flatten() {
        let path = below.join(entry.file_name());
        if entry.path().is_dir() { files(folder, &path, found) } else { found.push(path) }
    }
    found.sort();
}

/// Files that differ from those that are written, with the reason.
const EXCEPTIONS: [(&str, &str, &str); 3] = [
    ("session", "public_account.yaml", "it has a member that is null, and exports leave those out"),
    (
        "actions-without-sdl",
        "actions.yaml",
        "the project has types in this file, and the command line writes SDL",
    ),
    ("actions-without-sdl", "actions.graphql", "the same: the project has no such file"),
];

/// `actions.yaml` of a project without actions.
const NO_ACTIONS: &str =
    "actions: []\ncustom_types:\n  enums: []\n  input_objects: []\n  objects: []\n  scalars: []\n";

/// Adds what differs between the project in `folder` and what is written of it to `faults`.
fn compare_project(folder: &Path, faults: &mut Vec<String>) {
    let loaded = read::path(folder).expect("it is metadata");
    let written = export(&loaded).folder();
    let mut known = Vec::new();
    files(folder, Path::new(""), &mut known);
    let is_exception = |name: &Path| {
        EXCEPTIONS.iter().any(|it| folder.iter().any(|part| part == it.0) && name.ends_with(it.1))
    };
    let is_empty = |text: &str| ["[]\n", "{}\n", "disabled_for_roles: []\n", "", NO_ACTIONS].contains(&text);
    for (name, text) in &written {
        let before = std::fs::read_to_string(folder.join(name)).ok();
        // The example leaves empty files out.
        let is_left_out = before.is_none() && folder.ends_with("store/metadata") && is_empty(text);
        if before.as_deref() != Some(text) && !is_left_out && !is_exception(name) {
            let before = before.unwrap_or_else(|| "nothing".to_owned());
            faults.push(format!("{}/{}:\n{text}instead of\n{before}", folder.display(), name.display()));
        }
    }
    known.retain(|name| written.iter().all(|it| it.0 != *name));
    faults.extend(known.iter().map(|it| format!("{}/{} is not written", folder.display(), it.display())));
}

#[test]
fn each_file_of_a_project_is_written_as_it_was() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let projects = std::fs::read_dir(root.join("tests/projects")).expect("it is there").flatten();
    let mut folders: Vec<PathBuf> =
        projects.map(|it| it.path().join("metadata")).filter(|it| it.is_dir()).collect();
    folders.push(root.join("examples/store/metadata"));
    folders.sort();
    assert!(folders.len() >= 14, "{folders:?}");
    let mut faults = Vec::new();
    folders.iter().for_each(|it| compare_project(it, &mut faults));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

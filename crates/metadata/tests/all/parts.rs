//! Documents of files of which a part does not fit: it is left out, and the rest is read.

use crate::folders::Folder;
use proptest::prelude::*;
use std::path::Path;
use weir_metadata::check::{KindCount, count_served};
use weir_metadata::document::logical_model::FieldType;
use weir_metadata::document::native_query::Returns;
use weir_metadata::document::source::DatabaseUrl;
use weir_metadata::document::table::{ForeignKeyOn, RootFieldEntry};
use weir_metadata::places::render_path;
use weir_metadata::{Json, Loaded, Step, export, read};

const WHOLE: &str = r#"version: 3
sources:
- name: default
  kind: postgres
  tables:
  - table: {schema: public, name: boat}
    object_relationships:
    - {name: harbour, using: {foreign_key_constraint_on: harbour_id}}
    select_permissions:
    - {role: sailor, permission: {columns: [id], filter: {}}}
    - {role: guest, permission: {columns: [id], filter: {id: {_eq: 1}}}}
    insert_permissions:
    - {role: sailor, permission: {columns: [id], check: {}}}
  - table: crew
  functions:
  - {function: search, permissions: [{role: sailor}]}
inherited_roles:
- {role_name: captain, role_set: [sailor, guest]}
query_collections:
- name: known
  definition: {queries: [{name: a, query: "{ a }"}, {name: b, query: "{ b }"}]}
allowlist:
- {collection: known}
rest_endpoints:
- {name: a, url: a, methods: [GET], definition: {query: {collection_name: known, query_name: a}}}
"#;

fn load(text: &str) -> Result<Loaded, String> {
    let name =
        format!("parts-{:?}", std::thread::current().id()).replace(|it: char| !it.is_alphanumeric(), "_");
    let folder = Folder::new(&name, &[("m.yaml", text)]);
    read::path(&folder.0.join("m.yaml")).map_err(|faults| faults.iter().map(|it| format!("{it}\n")).collect())
}

/// The names of what is left out, and the messages of what is unknown, if `old` of the whole document is `new`.
fn lacks(old: &str, new: &str) -> (Vec<String>, Vec<String>) {
    assert!(WHOLE.contains(old), "{old}");
    let loaded = load(&WHOLE.replacen(old, new, 1)).expect("the rest is read");
    let left_out = loaded.left_out.iter().map(|it| it.name.clone()).collect();
    (left_out, loaded.unknown.iter().map(|it| it.message.clone()).collect())
}

#[test]
fn an_entry_with_two_faults_is_left_out_once_and_alone() {
    let trigger =
        |name: &str, more: &str| format!("{{name: {name}, definition: {{insert: {{columns: '*'}}}}{more}}}");
    let triggers = [
        "{name: first, definition: {}}".to_owned(),
        trigger("second", ", webhook: w"),
        trigger("second", ", webhook: x"),
        trigger("2nd", ", webhook: w, webhook_from_env: W"),
        trigger("last", ", webhook: w"),
    ];
    let table = format!("  - {{table: crew, event_triggers: [{}]}}\n", triggers.join(", "));
    let loaded = load(&WHOLE.replace("  - table: crew\n", &table)).expect("the rest is read");
    let left_out: Vec<String> =
        loaded.left_out.iter().map(|it| format!("{}: {}", it.name, it.reason)).collect();
    let of = |name: &str, reason: &str| {
        format!(
            "event_trigger {name} in table crew in source default: Inconsistent object: in table \"crew\": in event trigger \"{name}\": {reason}"
        )
    };
    let duplicate = "multiple declarations exist for the following event triggers: second";
    let nothing = "atleast one amongst insert/update/delete/enable_manual spec must be provided";
    let misnamed = "only alphanumeric and underscore and hyphens allowed for name";
    assert_eq!(left_out, [of("2nd", misnamed), of("second", duplicate), of("first", nothing)]);
    let kept = loaded.document.sources[0].tables[1].event_triggers.iter();
    let kept: Vec<_> = kept.map(|it| (it.name.as_str(), it.webhook.as_deref())).collect();
    assert_eq!(kept, [("second", Some("w")), ("last", Some("w"))]);
}

#[test]
fn the_smallest_entry_around_a_wrong_value_is_left_out() {
    for (old, new, name) in [
        (
            "columns: [id], filter: {}",
            "columns: 7, filter: {}",
            "select_permission sailor in table boat in source default",
        ),
        ("role: guest, ", "role: admin, ", "select_permission admin in table boat in source default"),
        ("role: guest, ", "role: sailor, ", "select_permission sailor in table boat in source default"),
        ("check: {}", "chek: {}", "insert_permission sailor in table boat in source default"),
        ("using: {foreign", "using: {foreing", "object_relation harbour in table boat in source default"),
        ("- table: crew", "- table: 7", "table [1] in source default"),
        ("- table: crew", "- table: [crew]", "table [1] in source default"),
        ("- table: crew", "- table: {schema: public, name: boat}", "table boat in source default"),
        ("{function: search", "{function: 4", "function [0] in source default"),
        (
            "{role: sailor}]",
            "{role: 4}]",
            "function_permission  permission in function search in source default",
        ),
        ("role_set: [sailor, guest]", "role_set: 5", "inherited_role captain"),
        ("query: \"{ b }\"", "quarry: \"{ b }\"", "query_collections known"),
        ("methods: [GET]", "methods: []", "rest_endpoint a"),
        ("{collection: known}", "{collection: known, scope: {global: false}}", "allowlist known"),
        ("name: default", "nam: default", "source "),
    ] {
        let (left_out, _) = lacks(old, new);
        assert_eq!(left_out, [name], "{new}");
    }
}

#[test]
fn a_list_is_no_object_of_its_items() {
    let (left_out, _) = lacks("permission: {columns: [id], filter: {}}", "permission: [[id], {}]");
    assert_eq!(left_out, ["select_permission sailor in table boat in source default"]);
}

#[test]
fn a_list_is_none_of_the_objects_that_an_entry_may_be() {
    fn refuses<T: serde::de::DeserializeOwned + std::fmt::Debug>(list: &str, object: &str) {
        assert!(serde_json::from_str::<T>(list).is_err(), "{list}");
        serde_json::from_str::<T>(object).expect(object);
    }
    refuses::<RootFieldEntry>(r#"["comment", "name"]"#, r#"{"name": "boats"}"#);
    refuses::<ForeignKeyOn>(r#"[["boat_id"], "crew"]"#, r#"{"table": "crew", "column": "boat_id"}"#);
    refuses::<DatabaseUrl>(r#"["URL"]"#, r#"{"from_env": "URL"}"#);
    refuses::<FieldType>(r#"["integer"]"#, r#"{"scalar": "integer"}"#);
    refuses::<Returns>("[[]]", r#"{"fields": []}"#);
}

#[test]
fn tables_whose_names_have_dots_differ() {
    let tables = "  - table: {schema: a.b, name: c}\n  - table: {schema: a, name: b.c, nam: d}\n  - table: {schema: a, name: b.c}\n  - table: {schema: a, name: b.c}\n";
    let loaded = load(&WHOLE.replace("  - table: crew\n", tables)).expect("the rest is read");
    let left_out: Vec<&str> = loaded.left_out.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(left_out.len(), 2, "{left_out:?}");
    assert!(left_out.iter().all(|it| *it == "table a.\"b.c\" in source default"), "{left_out:?}");
    let names: Vec<_> = loaded.document.sources[0].tables.iter().map(|it| it.table.parts()).collect();
    assert_eq!(names, [("public", "boat"), ("a.b", "c"), ("a", "b.c")]);
}

#[test]
fn an_unknown_key_is_told_and_its_entry_served() {
    for (old, new) in [
        ("- table: crew", "- table: crew\n    colour: red"),
        ("kind: postgres", "kind: postgres\n  colour: red"),
        ("version: 3", "version: 3\ncolour: red"),
        ("name: harbour, ", "name: harbour, colour: red, "),
        ("role_name: captain, ", "role_name: captain, colour: red, "),
    ] {
        let (left_out, unknown) = lacks(old, new);
        assert_eq!(left_out, Vec::<String>::new(), "{new}");
        assert!(matches!(&unknown[..], [only] if only.contains("`colour`")), "{new}: {unknown:?}");
    }
}

#[test]
fn an_unknown_key_of_a_permission_takes_the_permission() {
    for new in ["filter: {}, rows: 7}", "filter: {}}, rows: 7"] {
        let (left_out, unknown) = lacks("filter: {}}", new);
        assert_eq!(left_out, ["select_permission sailor in table boat in source default"], "{new}");
        assert_eq!(unknown, Vec::<String>::new(), "{new}");
    }
}

#[test]
fn an_unknown_key_of_many_entries_is_told_of_each() {
    let table = |at: usize| format!("  - table: t{at}\n    colour: red\n");
    let tables: String = (0..2000).map(table).collect();
    let loaded =
        load(&format!("version: 3\nsources:\n- name: default\n  tables:\n{tables}")).expect("it is read");
    assert_eq!((loaded.unknown.len(), loaded.document.sources[0].tables.len()), (2000, 2000));
    assert!(
        loaded.unknown[1999].place.ends_with("m.yaml:4004:5: sources[0].tables[1999].colour"),
        "{}",
        loaded.unknown[1999].place
    );
}

#[test]
fn entries_that_are_served_whole_are_counted_without_the_others() {
    let text = WHOLE.replacen("- table: crew", "- table: crew\n    colour: red", 1).replacen(
        "role: guest, ",
        "role: admin, ",
        1,
    );
    let loaded = load(&text).expect("it is read");
    let count = |not_served: &[Vec<Step>]| {
        let different: Vec<_> = loaded.unknown.iter().map(|it| it.path.clone()).collect();
        let counts = count_served(&loaded.places, not_served, &different);
        let words =
            |it: &KindCount| format!("{} {}", it.entries, if it.entries == 1 { it.one } else { it.many });
        counts.iter().map(words).collect::<Vec<_>>().join(", ")
    };
    // The guest's permission is left out, and `crew` has a key that means nothing.
    assert_eq!(
        count(&[]),
        "1 source, 1 table, 1 relationship, 3 permissions, 1 function, 2 saved queries, 1 entry of the allow list, 1 REST endpoint, \
         1 inherited role"
    );
    let boat: Vec<Step> = vec!["sources".into(), 0.into(), "tables".into(), 0.into()];
    assert_eq!(
        count(&[boat, vec!["inherited_roles".into(), 0.into()]]),
        "1 source, 1 permission, 1 function, 2 saved queries, 1 entry of the allow list, 1 REST endpoint"
    );
}

#[test]
fn the_path_of_an_unknown_key_follows_entries_that_are_left_out() {
    let tables = "  - table: 7\n  - table: a\n    colour: red\n  - table: 8\n    colour: red\n";
    let loaded =
        load(&format!("version: 3\nsources:\n- name: default\n  tables:\n{tables}")).expect("it is read");
    let paths: Vec<String> = loaded.unknown.iter().map(|it| render_path(&it.path)).collect();
    assert_eq!(paths, ["sources[0].tables[0]", ""]);
}

#[test]
fn a_source_of_another_kind_keeps_its_members() {
    let text = "version: 3\nsources:\n- name: documents\n  kind: mongo\n  configuration: {value: {connection: here, size: 1.50}}\n\
                \x20 tables:\n  - table: [boats]\n    logical_model: boat\n";
    let loaded = load(text).expect("it is read");
    assert_eq!((loaded.left_out.len(), loaded.unknown.len()), (0, 0), "{:?}", loaded.left_out);
    let written = export::json(&loaded.document).expect("it is JSON");
    let again: serde_json::Value = serde_json::from_str(&written).expect("it is JSON");
    assert_eq!(again["sources"][0]["tables"][0]["table"][0], "boats", "{written}");
    assert!(written.contains("1.50"), "{written}");
    let read =
        read::text(&written, Path::new("m.json")).expect("a document that a program sends may have it too");
    assert_eq!(read.document, loaded.document);
}

#[test]
fn a_document_that_a_program_sends_fits_as_a_whole() {
    let broken = WHOLE.replacen("- table: crew", "- table: crew\n    colour: red", 1);
    assert!(read::text(&broken, Path::new("m.yaml")).is_err());
}

/// All keys and values of the document at which something can be put.
fn spots(text: &str) -> Vec<usize> {
    text.match_indices(": ").map(|it| it.0 + 2).collect()
}

/// The roles with a permission on each table, with the permission.
fn granted(loaded: &Loaded) -> Vec<(String, String)> {
    let tables = loaded.document.sources.iter().flat_map(|it| &it.tables);
    let selects = tables.flat_map(|table| {
        table
            .select_permissions
            .iter()
            .map(move |it| (format!("{:?} {}", table.table.parts(), it.role), format!("{:?}", it.permission)))
    });
    selects.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever is written anywhere in place of a value, a role gets what the whole document gives it, or less.
    #[test]
    fn nobody_gets_more_by_a_mistake(at in 0_usize..1000, put in prop::sample::select(vec!["7", "[]", "{a: 1}", "x", "null", "{}", "true"])) {
        let spots = spots(WHOLE);
        let spot = spots[at % spots.len()];
        let end = spot + WHOLE[spot..].find([',', '}', ']', '\n']).unwrap_or(0);
        let text = format!("{}{put}{}", &WHOLE[..spot], &WHOLE[end..]);
        let whole = granted(&load(WHOLE).expect("it is read"));
        // A text that is no YAML is refused as a whole.
        if let Ok(loaded) = load(&text) {
            let left_out = !loaded.left_out.is_empty() || !loaded.unknown.is_empty();
            for (who, permission) in granted(&loaded) {
                let is_known = whole.iter().any(|it| it.1 == permission);
                // The value may be a permission of its own: a role, columns or a filter that fit.
                prop_assert!(is_known || !left_out, "{who} {permission}\n{text}");
            }
        }
    }
}

#[test]
fn members_of_conditions_are_left_to_the_model() {
    let loaded = load(&WHOLE.replacen("filter: {}", "filter: {colour: {_eq: 1}}", 1)).expect("it is read");
    assert_eq!(loaded.left_out, []);
    let filter = &loaded.document.sources[0].tables[0].select_permissions[0].permission.filter;
    assert!(matches!(filter, Json::Object(members) if members.0.len() == 1));
}

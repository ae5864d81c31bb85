//! Commands that change single entries, and the documents they give.

use std::path::Path;
use weir_metadata::edit::{Edited, KeyBefore, Refused, is_edit, remove_paths};
use weir_metadata::{Metadata, Step, export, read};

const FLEET: &str = r#"{"version":3,"sources":[{"name":"default","kind":"postgres","configuration":{"connection_info":{"database_url":"postgres://h/d"}},
    "tables":[{"table":{"schema":"public","name":"boat"},
        "array_relationships":[{"name":"crews","using":{"foreign_key_constraint_on":{"table":"crew","column":"boat_id"}}}],
        "select_permissions":[{"role":"sailor","permission":{"columns":["id"],"filter":{"_or":[{"crews":{"id":{"_eq":1.50}}},{"id":{"_gt":9}}]}}}]},
      {"table":"crew"}]}],
    "query_collections":[{"name":"saved","definition":{"queries":[{"name":"all","query":"query all { boat { id } }"}]}}],
    "allowlist":[{"collection":"saved"}]}"#;

fn document(text: &str) -> Metadata {
    read::text(text, Path::new("m.json")).expect("it is metadata").document
}

fn edit(before: &Metadata, name: &str, args: &str) -> Result<Edited, Refused> {
    weir_metadata::edit::edit(before, name, args, &[])
}

fn fleet() -> Metadata {
    document(FLEET)
}

/// The JSON of `document` without white space between its tokens.
fn json(document: &Metadata) -> String {
    let text = export::json(document).expect("it can be written");
    text.lines().map(str::trim_start).collect::<String>().replace("\": ", "\":")
}

/// Runs `name` and looks for `part` in the new document.
fn gives(before: &Metadata, name: &str, args: &str, part: &str) -> Metadata {
    let edited = edit(before, name, args).unwrap_or_else(|refused| panic!("{name} {args}: {refused:?}"));
    let text = json(&edited.document);
    assert!(text.contains(part), "{name}: {part} is not in {text}");
    assert_eq!(json(&document(&text)), text);
    edited.document
}

/// Runs `name`, which is refused with `code`, `path` and `message`.
fn refuses(before: &Metadata, name: &str, args: &str, expected: [&str; 3]) {
    let refused = edit(before, name, args).expect_err(name);
    let [code, path, message] = expected;
    assert_eq!((refused.code, refused.path.as_str()), (code, path), "{name}: {refused:?}");
    assert!(refused.message.contains(message), "{name}: {}", refused.message);
}

#[test]
fn a_command_finds_its_table_by_both_parts_of_the_name() {
    let before = document(
        r#"{"version":3,"sources":[{"name":"default","kind":"postgres","tables":[{"table":{"schema":"a.b","name":"c"}},{"table":{"schema":"a","name":"b.c"}}]}]}"#,
    );
    let args = r#"{"source":"default","table":{"schema":"a","name":"b.c"}}"#;
    let after = gives(&before, "pg_untrack_table", args, r#""schema":"a.b""#);
    assert_eq!(after.sources[0].tables.len(), 1);
    let missing = r#"{"source":"default","table":{"schema":"a","name":"b.c"}}"#;
    refuses(&after, "pg_untrack_table", missing, ["already-untracked", "args", r#"a."b.c""#]);
}

#[test]
fn relationships_follow_the_new_name_of_a_source() {
    let target = r#"{"to_source":{"field_mapping":{"id":"id"},"relationship_type":"object","source":"default","table":"boat"}}"#;
    let related = document(&format!(
        r#"{{"version":3,"sources":[{{"name":"default","tables":[]}},{{"name":"b","tables":[{{"table":"t","remote_relationships":[{{"name":"r","definition":{target}}}]}}]}}],
           "remote_schemas":[{{"name":"s","definition":{{"url":"http://s"}},"remote_relationships":[{{"type_name":"T","relationships":[{{"name":"r","definition":{target}}}]}}]}}],
           "custom_types":{{"objects":[{{"name":"O","fields":[],"relationships":[{{"name":"r","type":"object","remote_table":"boat","field_mapping":{{"id":"id"}}}}]}}]}}}}"#
    ));
    let renamed =
        gives(&related, "rename_source", r#"{"name":"default","new_name":"fleet"}"#, r#""name":"fleet""#);
    let text = json(&renamed);
    assert_eq!((text.matches(r#""source":"fleet""#).count(), text.contains("default")), (3, false), "{text}");
}

#[test]
fn tables_are_tracked_named_and_untracked() {
    let fleet = fleet();
    for args in [r#""port""#, r#"{"table":"port"}"#] {
        gives(&fleet, "pg_track_table", args, r#"{"table":"crew"},{"table":"port"}"#);
    }
    gives(&fleet, "track_table", r#"{"name":"port"}"#, r#"{"table":{"name":"port"}}"#);
    gives(
        &fleet,
        "pg_track_table",
        r#"{"source":"default","table":{"schema":"s","name":"port"},"configuration":{"custom_name":"haven"}}"#,
        r#"{"table":{"name":"port","schema":"s"},"configuration":{"custom_name":"haven"}}"#,
    );
    gives(
        &fleet,
        "pg_track_tables",
        r#"{"tables":[{"table":"a"},{"table":"b"}]}"#,
        r#"{"table":"a"},{"table":"b"}"#,
    );
    gives(
        &fleet,
        "pg_set_table_customization",
        r#"{"table":"crew","configuration":{"custom_name":"hands"}}"#,
        r#"{"table":"crew","configuration":{"custom_name":"hands"}}"#,
    );
    gives(
        &fleet,
        "pg_set_table_is_enum",
        r#"{"table":"crew","is_enum":true}"#,
        r#"{"table":"crew","is_enum":true}"#,
    );
    let untracked =
        edit(&fleet, "pg_untrack_table", r#"{"table":"crew","cascade":true}"#).expect("it is there");
    assert_eq!((untracked.cascade, untracked.document.sources[0].tables.len()), (Some(true), 1));
}

#[test]
fn commands_about_tables_that_do_not_fit_are_refused() {
    let fleet = fleet();
    for (name, args, expected) in [
        (
            "pg_track_table",
            r#"{"table":"boat"}"#,
            ["already-tracked", "args", "view/table already tracked: \"boat\""],
        ),
        (
            "pg_untrack_table",
            r#"{"table":"port"}"#,
            ["already-untracked", "args", "view/table already untracked: \"port\""],
        ),
        (
            "pg_track_table",
            r#"{"source":"x","table":"a"}"#,
            ["not-exists", "args", "source with name \"x\" does not exist"],
        ),
        ("pg_track_table", r#"{"table":7}"#, ["parse-failed", "args.table", "a table: its name"]),
        ("pg_track_table", r#"{}"#, ["parse-failed", "args", "key \"table\" not found"]),
        (
            "pg_track_table",
            r#"{"table":"a","configuration":{"colour":1}}"#,
            ["parse-failed", "args.configuration", "unknown key `colour`"],
        ),
        (
            "pg_set_table_is_enum",
            r#"{"table":"x","is_enum":true}"#,
            ["not-exists", "args", "table \"x\" does not exist"],
        ),
        (
            "pg_track_tables",
            r#"{"tables":[{"table":"a"},{"table":"crew"}]}"#,
            ["already-tracked", "args.tables[1]", "already tracked: \"crew\""],
        ),
    ] {
        refuses(&fleet, name, args, expected);
    }
}

#[test]
fn permissions_keep_their_digits_and_are_dropped_alone() {
    let fleet = fleet();
    let select = r#"{"source":"default","table":"crew","role":"sailor","permission":{"columns":"*","filter":{"pay":{"_lt":12345678901234567890.50}}},"comment":"c"}"#;
    let with = gives(&fleet, "pg_create_select_permission", select, r#"{"_lt":12345678901234567890.50}"#);
    refuses(
        &with,
        "pg_create_select_permission",
        select,
        [
            "already-exists",
            "args",
            "select permission already defined on table \"crew\" with role \"sailor\"",
        ],
    );
    for kind in ["insert", "update", "delete"] {
        let permission = match kind {
            "insert" => r#"{"check":{}}"#,
            "update" => r#"{"columns":["id"],"filter":{},"check":null}"#,
            _ => r#"{"filter":{}}"#,
        };
        let args = format!(r#"{{"table":"crew","role":"mate","permission":{permission}}}"#);
        let part = format!(r#""{kind}_permissions":[{{"role":"mate""#);
        let with = gives(&with, &format!("pg_create_{kind}_permission"), &args, &part);
        let said = r#"{"table":"crew","role":"mate","type":"KIND","comment":"why"}"#.replace("KIND", kind);
        let with = gives(&with, "pg_set_permission_comment", &said, r#""comment":"why""#);
        let drop = format!("pg_drop_{kind}_permission");
        let without = edit(&with, &drop, r#"{"table":"crew","role":"mate"}"#).expect("it is there").document;
        assert!(!json(&without).contains("mate"));
        let message = format!("{kind} permission on \"crew\" for role \"mate\" does not exist");
        refuses(
            &without,
            &drop,
            r#"{"table":"crew","role":"mate"}"#,
            ["permission-denied", "args", &message],
        );
    }
    refuses(
        &fleet,
        "pg_create_select_permission",
        &select.replace("sailor", "admin"),
        ["validation-failed", "args", "cannot define permission for admin role"],
    );
    refuses(
        &fleet,
        "pg_create_select_permission",
        &select.replace("\"filter\"", "\"where\""),
        ["parse-failed", "args.permission", "unknown key `where`"],
    );
}

#[test]
fn relationships_and_computed_fields_come_and_go() {
    let fleet = fleet();
    let object = r#"{"table":"crew","name":"boat","using":{"foreign_key_constraint_on":"boat_id"}}"#;
    let with =
        gives(&fleet, "pg_create_object_relationship", object, r#""object_relationships":[{"name":"boat""#);
    refuses(
        &with,
        "pg_create_array_relationship",
        object,
        ["already-exists", "args", "\"boat\" already exists"],
    );
    let renamed = gives(
        &with,
        "pg_rename_relationship",
        r#"{"table":"boat","name":"crews","new_name":"hands"}"#,
        r#"{"_or":[{"hands":{"id":{"_eq":1.50}}},{"id":{"_gt":9}}]}"#,
    );
    assert_eq!(renamed.sources[0].tables[0].array_relationships[0].name, "hands");
    let dropped = edit(&renamed, "pg_drop_relationship", r#"{"table":"boat","relationship":"hands"}"#);
    let dropped = dropped.expect("it is there");
    assert_eq!(
        (dropped.cascade, dropped.document.sources[0].tables[0].array_relationships.len()),
        (Some(false), 0)
    );
    refuses(
        &dropped.document,
        "pg_drop_relationship",
        r#"{"table":"boat","relationship":"hands"}"#,
        ["not-exists", "args", "relationship \"hands\" does not exist"],
    );
    let field = r#"{"table":"boat","name":"label","definition":{"function":"label"},"comment":"c"}"#;
    let with = gives(&fleet, "pg_add_computed_field", field, r#""computed_fields":[{"name":"label""#);
    refuses(&with, "pg_add_computed_field", field, ["already-exists", "args", "\"label\" already exists"]);
    let without = edit(&with, "pg_drop_computed_field", r#"{"table":"boat","name":"label"}"#);
    assert_eq!(without.expect("it is there").document, fleet);
}

#[test]
fn functions_and_their_permissions() {
    let fleet = fleet();
    let with = gives(
        &fleet,
        "pg_track_function",
        r#"{"function":{"schema":"public","name":"found"},"configuration":{"exposed_as":"query"}}"#,
        r#""functions":[{"function":{"name":"found","schema":"public"},"configuration":{"exposed_as":"query"}}]"#,
    );
    refuses(
        &with,
        "pg_track_function",
        r#""found""#,
        ["already-tracked", "args", "function already tracked: \"found\""],
    );
    let role = r#"{"function":"found","role":"sailor"}"#;
    let granted = gives(&with, "pg_create_function_permission", role, r#""permissions":[{"role":"sailor"}]"#);
    refuses(
        &granted,
        "pg_create_function_permission",
        role,
        ["already-exists", "args", "already exists for function"],
    );
    assert_eq!(edit(&granted, "pg_drop_function_permission", role).expect("it is there").document, with);
    refuses(
        &with,
        "pg_drop_function_permission",
        role,
        ["not-exists", "args", "does not exist for function \"found\""],
    );
    assert_eq!(
        edit(&with, "pg_untrack_function", r#"{"function":"found"}"#).expect("it is there").document,
        fleet
    );
}

#[test]
fn collections_lists_roles_and_endpoints() {
    let fleet = fleet();
    let query = r#"{"collection_name":"saved","query_name":"one","query":"query one { boat { id } }"}"#;
    let with = gives(&fleet, "add_query_to_collection", query, r#""name":"one""#);
    refuses(
        &with,
        "add_query_to_collection",
        query,
        ["already-exists", "args", "query with name \"one\" already exists"],
    );
    let endpoint = r#"{"name":"one","url":"one","methods":["GET"],"definition":{"query":{"collection_name":"saved","query_name":"one"}}}"#;
    let with = gives(&with, "create_rest_endpoint", endpoint, r#""name":"one","url":"one"}]"#);
    refuses(
        &with,
        "create_rest_endpoint",
        endpoint,
        ["already-exists", "args", "Endpoint with name: one already exists"],
    );
}

#[test]
fn collections_are_renamed_allowed_and_dropped() {
    let fleet = fleet();
    let endpoint = r#"{"name":"one","url":"one","methods":["GET"],"definition":{"query":{"collection_name":"saved","query_name":"all"}}}"#;
    let with = gives(&fleet, "create_rest_endpoint", endpoint, r#""name":"one","url":"one"}]"#);
    let renamed = gives(
        &with,
        "rename_query_collection",
        r#"{"name":"saved","new_name":"kept"}"#,
        r#""allowlist":[{"collection":"kept"}]"#,
    );
    assert_eq!(renamed.rest_endpoints[0].definition.query.collection_name, "kept");
    refuses(
        &fleet,
        "drop_query_collection",
        r#"{"collection":"saved"}"#,
        ["dependency-error", "args", "is present in the allowlist"],
    );
    let dropped = edit(&fleet, "drop_query_collection", r#"{"collection":"saved","cascade":true}"#);
    let dropped = dropped.expect("it is there").document;
    assert!(dropped.query_collections.is_empty() && dropped.allowlist.is_empty());
    refuses(
        &dropped,
        "add_collection_to_allowlist",
        r#"{"collection":"saved"}"#,
        ["not-exists", "args", "does not exist"],
    );
    let again =
        edit(&fleet, "add_collection_to_allowlist", r#"{"collection":"saved"}"#).expect("it is no error");
    assert_eq!(again.document, fleet);
    assert_eq!(again.message.as_deref(), Some("collection \"saved\" already exists in the allowlist"));
    gives(
        &fleet,
        "update_scope_of_collection_in_allowlist",
        r#"{"collection":"saved","scope":{"global":false,"roles":["sailor"]}}"#,
        r#""scope":{"global":false,"roles":["sailor"]}"#,
    );
    let role = r#"{"role_name":"both","role_set":["sailor","mate"]}"#;
    let with = gives(&fleet, "add_inherited_role", role, r#""inherited_roles":[{"role_name":"both""#);
    assert_eq!(
        edit(&with, "drop_inherited_role", r#"{"role_name":"both"}"#).expect("it is there").document,
        fleet
    );
    gives(
        &fleet,
        "set_graphql_schema_introspection_options",
        r#"{"disabled_for_roles":["sailor"]}"#,
        r#""disabled_for_roles":["sailor"]"#,
    );
}

#[test]
fn sources_come_with_the_kind_of_the_command() {
    let fleet = fleet();
    let source = r#"{"name":"other","configuration":{"connection_info":{"database_url":{"from_env":"URL"}}},"customization":{"root_fields":{"prefix":"o_"}}}"#;
    let with = gives(&fleet, "sqlite_add_source", source, r#"{"name":"other","kind":"sqlite""#);
    refuses(
        &with,
        "pg_add_source",
        source,
        ["already-exists", "args", "source with name \"other\" already exists"],
    );
    let replaced =
        source.replace("URL", "NEW").replace("\"name\"", "\"replace_configuration\":true,\"name\"");
    gives(&with, "pg_add_source", &replaced, r#"{"from_env":"NEW"}"#);
    gives(&with, "rename_source", r#"{"name":"other","new_name":"else"}"#, r#""name":"else""#);
    assert_eq!(edit(&with, "pg_drop_source", r#"{"name":"other"}"#).expect("it is there").document, fleet);
    for name in
        ["track_table", "pg_track_table", "cockroach_track_table", "citus_add_source", "add_inherited_role"]
    {
        assert!(is_edit(name), "{name}");
    }
    for name in ["mssql_track_table", "pg_fly", "pg_add_inherited_role", "run_sql", "export_metadata"] {
        assert!(!is_edit(name), "{name}");
    }
}

#[test]
fn entries_are_removed_beside_a_source_of_another_kind() {
    let text = r#"{"version":3,"sources":[
        {"name":"big","kind":"bigquery","configuration":{"service_account":{"from_env":"A"},"datasets":["d"]},"tables":[{"table":{"dataset":"d","name":"t"},"more":1}],"service_account":"s"},
        {"name":"own","kind":"sqlite","tables":[{"table":"a"},{"table":"b"}],"configuration":{"connection_info":{"database_url":"a.db"}}}]}"#;
    let mixed = document(text);
    let path = ["sources", "1", "tables", "0"];
    let path = path.map(|it| it.parse::<usize>().map_or_else(|_| Step::from(it), Step::from)).to_vec();
    let left = json(&remove_paths(&mixed, &[path]).expect("it is a document"));
    assert!(left.contains("\"service_account\":\"s\"") && left.contains("\"more\":1"), "{left}");
    assert!(!left.contains("\"table\":\"a\"") && left.contains("\"table\":\"b\""), "{left}");
}

#[test]
fn entries_are_removed_by_their_places() {
    let fleet = fleet();
    let path = |text: &str| -> Vec<Step> {
        text.split('.').map(|it| it.parse::<usize>().map_or_else(|_| Step::from(it), Step::from)).collect()
    };
    let paths = ["sources.0.tables.0.select_permissions.0", "sources.0.tables.1", "allowlist.0", "sources.4"];
    let left = remove_paths(&fleet, &paths.map(path)).expect("it is a document");
    let text = json(&left);
    assert!(text.contains("crews") && !text.contains("sailor") && !text.contains("allowlist"), "{text}");
    assert_eq!(left.sources[0].tables.len(), 1);
    assert!(remove_paths(&fleet, &[path("sources.0.name")]).is_err());
}

#[test]
fn a_renamed_relationship_is_followed_behind_foreign_keys() {
    let fleet = fleet();
    let object = r#"{"table":"crew","name":"boat","using":{"foreign_key_constraint_on":"boat_id"}}"#;
    let with =
        gives(&fleet, "pg_create_object_relationship", object, r#""object_relationships":[{"name":"boat""#);
    let select = r#"{"table":"crew","role":"cook","permission":{"columns":["id"],
        "filter":{"boat":{"crews":{"boat":{"crews":{"id":{"_eq":1}}}}}}}}"#;
    let with = gives(&with, "pg_create_select_permission", select, r#""role":"cook""#);
    let key = |target: &str| KeyBefore {
        table: ("public".into(), "crew".into()),
        columns: ["boat_id".to_owned()].into(),
        target: ("public".into(), target.into()),
    };
    let rename = r#"{"table":"boat","name":"crews","new_name":"hands"}"#;
    let filter_after = |keys: &[KeyBefore]| {
        let edited = weir_metadata::edit::edit(&with, "pg_rename_relationship", rename, keys);
        let text = json(&edited.expect("it is there").document);
        let (_, filter) = text.split_once(r#"{"boat":{"#).expect("the filter is kept");
        filter.split_once("_eq").expect("it has a condition").0.to_owned()
    };
    assert_eq!(filter_after(&[key("boat")]), r#""hands":{"boat":{"hands":{"id":{""#);
    assert_eq!(filter_after(&[key("crew")]), r#""crews":{"boat":{"crews":{"id":{""#);
    assert_eq!(filter_after(&[key("boat"), key("crew")]), r#""crews":{"boat":{"crews":{"id":{""#);
}

//! Shapes of documents, and the words for those that are wrong.

use std::path::Path;
use std::sync::Arc;
use weir_metadata::check::find_unsupported;
use weir_metadata::{Loaded, read};

fn load(text: &str) -> Result<Loaded, String> {
    let lines = |faults: Vec<weir_metadata::Fault>| {
        faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    read::text(text, Path::new("metadata.yaml")).map_err(lines)
}

fn check(text: &str, expected: &str) {
    match load(text) {
        Ok(_) => panic!("{text} is read"),
        Err(words) => assert_eq!(words, expected, "{text}"),
    }
}

/// A document with one table that has `keys` too.
fn table(keys: &str) -> String {
    format!("version: 3\nsources:\n- name: a\n  tables:\n  - table: boat\n{keys}")
}

#[test]
fn an_unknown_key_has_its_place_and_hasura_s_words() {
    check(
        &table("    colour: 1\n"),
        "metadata.yaml:6:5: sources[0].tables[0]: unexpected keys when parsing TableMetadata: colour; unknown key `colour`; \
         known here: table, is_enum, configuration, object_relationships, array_relationships, computed_fields, remote_relationships, \
         insert_permissions, select_permissions, update_permissions, delete_permissions, event_triggers, apollo_federation_config, \
         logical_model",
    );
    check(
        &table("    configuration: {custom_nam: b}\n"),
        "metadata.yaml:6:21: sources[0].tables[0].configuration: unknown key `custom_nam`; did you mean `custom_name`?",
    );
    check(
        "version: 3\nsources: []\nactons: []\n",
        "metadata.yaml:3:1: unknown key `actons`; did you mean `actions`?",
    );
}

#[test]
fn a_wrong_type_has_its_place() {
    check(
        &table("    is_enum: maybe\n"),
        "metadata.yaml:6:14: sources[0].tables[0].is_enum: a boolean is expected, and this is the string `maybe`",
    );
    check(
        &table("    select_permissions:\n    - role: a\n      permission: {columns: id, filter: {}}\n"),
        "metadata.yaml:8:29: sources[0].tables[0].select_permissions[0].permission.columns: columns are '*' or a list of names",
    );
    check(
        &table(
            "    select_permissions:\n    - role: a\n      permission: {columns: '*', filter: {}, limit: -1}\n",
        ),
        "metadata.yaml:8:53: sources[0].tables[0].select_permissions[0].permission.limit: unexpected negative value",
    );
    check(
        &table("    select_permissions: [{role: a, permission: {columns: '*'}}]\n"),
        "metadata.yaml:6:48: sources[0].tables[0].select_permissions[0].permission: key \"filter\" not found",
    );
    check("[1]", "metadata.yaml:1:1: metadata is an object, and this is a list");
    check(
        "version: 4\nsources: []\n",
        "metadata.yaml:1:10: unexpected metadata version from storage: it has to be 3, 2 or 1",
    );
    check("sources: []\n", "metadata.yaml:1:1: `version` is missing: it is 3 for metadata with `sources`");
}

#[test]
fn duplicates_and_admins_are_told_all_at_once() {
    check(
        &table(
            "  - table: {schema: public, name: boat}\n    delete_permissions:\n    - {role: admin, permission: {filter: {}}}\n\
             \x20   - {role: a, permission: {filter: {}}}\n    - {role: a, permission: {filter: {}}}\n",
        ),
        "metadata.yaml:6:5: sources[0].tables[1]: multiple declarations exist for the following tables: public.boat\n\
         metadata.yaml:10:7: sources[0].tables[1].delete_permissions[2]: multiple declarations exist for the following delete permissions: a\n\
         metadata.yaml:8:8: sources[0].tables[1].delete_permissions[0].role: cannot define permission for admin role",
    );
    check(
        &table("    object_relationships:\n    - name: h\n      using: {}\n"),
        "metadata.yaml:8:7: sources[0].tables[0].object_relationships[0].using: how rows are related is missing: say \
         `foreign_key_constraint_on` or `manual_configuration`",
    );
    let manual = "manual_configuration: {column_mapping: {}}";
    let key = "foreign_key_constraint_on: {table: boat";
    for (using, path, message) in [
        (
            format!("foreign_key_constraint_on: a, {manual}"),
            "using",
            "both `foreign_key_constraint_on` and `manual_configuration` say how rows are related: remove one",
        ),
        (
            manual.to_owned(),
            "using.manual_configuration",
            "where the rows are is missing: say `remote_table` or `remote_native_query`",
        ),
        (
            format!("{key}}}"),
            "using.foreign_key_constraint_on",
            "the column of the foreign key is missing: say `column`, or `columns` for several",
        ),
        (
            format!("{key}, column: a, columns: [a]}}"),
            "using.foreign_key_constraint_on",
            "both `column` and `columns` say which columns the foreign key has: remove one",
        ),
    ] {
        let text = table(&format!("    object_relationships:\n    - name: h\n      using: {{{using}}}\n"));
        let told = load(&text).expect_err("it is wrong");
        assert!(told.ends_with(&format!("object_relationships[0].{path}: {message}")), "{told}");
    }
    check("{\"version\": 3, \"version\": 3}", "metadata.yaml:1:16: the key `version` stands twice");
}

#[test]
fn what_is_not_honoured_is_listed_with_its_places() {
    let text = table(
        "    insert_permissions:\n    - role: a\n      permission: {check: {}, validate_input: {type: http}}\n",
    );
    let loaded = load(&text).unwrap();
    let found = find_unsupported(&loaded.document);
    let lines: Vec<String> =
        found.iter().map(|it| loaded.places.fault(&it.path, it.message.as_str()).to_string()).collect();
    assert_eq!(
        lines,
        [
            "metadata.yaml:8:31: sources[0].tables[0].insert_permissions[0].permission.validate_input: `validate_input` is not \
             supported, and the role `a` does not get this permission without it: write the rule as `check`, or as a \
             constraint of the database",
        ]
    );
}

#[test]
fn rates_of_the_api_count_by_addresses_and_session_variables() {
    let told = |limits: &str| {
        let loaded = load(&format!("{}api_limits: {{{limits}}}\n", table(""))).unwrap();
        let found = find_unsupported(&loaded.document);
        found
            .iter()
            .map(|it| loaded.places.fault(&it.path, it.message.as_str()).to_string())
            .collect::<Vec<_>>()
    };
    let rate = |params: &str| {
        format!(
            "depth_limit: {{global: 7}}, rate_limit: {{global: {{max_reqs_per_min: 10, unique_params: {params}}}}}"
        )
    };
    for params in ["IP", "ip", "null", "[X-Hasura-User-Id, x-hasura-org-id]", "[]", "[IP]"] {
        assert_eq!(told(&rate(params)), [""; 0], "{params}");
    }
    for params in ["7", "user", "[x-hasura-user-id, authorization]", "{a: 1}"] {
        let told = told(&rate(params));
        assert!(
            told.len() == 1
                && told[0].contains("api_limits.rate_limit.global.unique_params: `unique_params` is"),
            "{told:?}"
        );
    }
    let of_role =
        "rate_limit: {global: {max_reqs_per_min: 1}, per_role: {a: {max_reqs_per_min: 1, unique_params: b}}}";
    assert!(
        told(of_role)[0].contains("api_limits.rate_limit.per_role.a.unique_params"),
        "{:?}",
        told(of_role)
    );
    assert_eq!(told(&format!("disabled: true, {}", rate("7"))), [""; 0]);
}

#[test]
fn conditions_keep_their_order_their_digits_and_their_nulls() {
    let text = table(
        "    select_permissions:\n    - role: a\n      permission:\n        columns: [id]\n        filter: {z: {_eq: 12345678901234567890.50}, a: {_eq: null}, 1: {_in: [\"007\", 007]}}\n",
    );
    let loaded = load(&text).unwrap();
    let filter = &loaded.document.sources[0].tables[0].select_permissions[0].permission.filter;
    assert_eq!(
        serde_json::to_string(filter).unwrap(),
        r#"{"z":{"_eq":12345678901234567890.50},"a":{"_eq":null},"1":{"_in":["007","007"]}}"#
    );
}

#[test]
fn equal_permissions_of_a_list_are_one() {
    let rule = "permission: {columns: [id], filter: {id: {_eq: 1}}}";
    let other = "permission: {columns: [id], filter: {id: {_eq: 2}}}";
    let text = table(&format!(
        "    select_permissions: [{{role: a, {rule}}}, {{role: b, {other}}}, {{role: c, {rule}}}]\n"
    ));
    let loaded = load(&text).unwrap();
    let rules = &loaded.document.sources[0].tables[0].select_permissions;
    assert!(Arc::ptr_eq(&rules[0].permission, &rules[2].permission));
    assert!(rules[0].permission != rules[1].permission);
}

#[test]
fn columns_of_a_long_line_are_counted_in_characters() {
    let role = "{\"role\": \"é\", \"permission\": {\"columns\": \"*\", \"filter\": {}}}, ";
    let head = "{\"version\": 3, \"sources\": [{\"name\": \"a\", \"tables\": [{\"table\": \"boat\", \"delete_permissions\": [], \"select_permissions\": [";
    let roles: String = (0..3).map(|it| role.replace('é', &"é".repeat(it + 1))).collect();
    let text = format!("{head}{roles}{{\"role\": \"x\\u00e9\", \"permissions\": 1}}]}}]}}]}}");
    let at = text.find("\"permissions\"").unwrap();
    let column = text[..at].chars().count() + 1;
    check(
        &text,
        &format!(
            "metadata.yaml:1:{column}: sources[0].tables[0].select_permissions[3]: unknown key `permissions`; did you mean `permission`?"
        ),
    );
}

#[test]
fn older_versions_and_exports_with_an_envelope_are_read() {
    for text in [
        r#"{"version": 2, "tables": [{"table": "boat"}]}"#,
        r#"{"tables": [{"table": "boat"}]}"#,
        r#"{"resource_version": 7, "metadata": {"version": 3, "sources": [{"name": "default", "kind": "pg", "tables": [{"table": "boat"}]}]}}"#,
    ] {
        let loaded = load(text).unwrap_or_else(|words| panic!("{text}: {words}"));
        let source = &loaded.document.sources[0];
        assert_eq!((source.name.as_str(), source.tables.len()), ("default", 1), "{text}");
    }
}

#[test]
fn functions_of_version_1_are_names() {
    for (version, is_read) in [("1", true), ("null", true), ("2", false)] {
        let text = format!(
            r#"{{"version": {version}, "functions": ["f", {{"schema": "app", "name": "g"}}, {{"function": "h"}}]}}"#
        );
        let loaded = load(&text);
        assert_eq!(loaded.is_ok(), is_read, "{text}");
        let Ok(loaded) = loaded else { continue };
        assert!(loaded.lacks_sources);
        let functions = &loaded.document.sources[0].functions;
        let names: Vec<_> = functions.iter().map(|it| it.function.parts()).collect();
        assert_eq!(names, [("", "f"), ("app", "g"), ("", "h")]);
    }
}

#[test]
fn yaml_that_would_grow_without_end_is_refused() {
    let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for level in 1..9 {
        let below = level - 1;
        let items = vec![format!("*a{below}"); 10].join(",");
        bomb.push_str(&format!("a{level}: &a{level} [{items}]\n"));
    }
    let words = load(&bomb).unwrap_err();
    assert!(words.contains("the metadata has more than"), "{words}");
    let deep = format!("{}{}", "[".repeat(400), "]".repeat(400));
    for text in [format!("{{\"a\": {deep}}}"), format!("a: {deep}\n")] {
        let words = load(&text).unwrap_err();
        assert!(words.contains("nested") || words.contains("YAML"), "{words}");
    }
}

#[test]
fn a_merge_has_no_quotes_and_a_key_may() {
    let merged = |text: &str| {
        let text = format!("version: 3\nsources: []\nmetrics_config: {{a: [&a {{b: 1}}, {text}]}}\n");
        let loaded = load(&text).unwrap_or_else(|words| panic!("{text}: {words}"));
        serde_json::to_string(&loaded.document.metrics_config).expect("it is JSON")
    };
    assert_eq!(merged("{<<: *a, c: 2}"), r#"{"a":[{"b":1},{"c":2,"b":1}]}"#);
    assert_eq!(merged(r#"{"<<": null, '<<x': 2}"#), r#"{"a":[{"b":1},{"<<":null,"<<x":2}]}"#);
}

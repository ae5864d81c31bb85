//! Tables and columns with other names in their database, followed into a document.

use std::path::Path;
use weir_metadata::edit::{KeyBefore, SchemaRenames, TableKey};
use weir_metadata::{Metadata, export, read};

const DOCUMENT: &str = r#"{"version":3,"sources":[
  {"name":"default","kind":"postgres","tables":[
    {"table":{"name":"boat","schema":"public"},
     "configuration":{"column_config":{"name":{"custom_name":"called"}},"custom_column_names":{"name":"called"}},
     "object_relationships":[{"name":"port","using":{"foreign_key_constraint_on":"port_id"}}],
     "array_relationships":[
       {"name":"crews","using":{"foreign_key_constraint_on":{"column":"boat_id","table":{"name":"crew","schema":"public"}}}},
       {"name":"hands","using":{"manual_configuration":{"column_mapping":{"name":"boat_id"},"insertion_order":null,"remote_table":{"name":"crew","schema":"public"}}}}],
     "remote_relationships":[
       {"name":"fees","definition":{"to_source":{"field_mapping":{"name":"boat"},"relationship_type":"array","source":"other","table":"fee"}}},
       {"name":"weather","definition":{"to_remote_schema":{"lhs_fields":["name"],"remote_field":{"at":{"arguments":{"place":"$name","far":["$name","name"]}}},"remote_schema":"w"}}}],
     "insert_permissions":[{"role":"a","permission":{"check":{"_not":{"name":{"_cne":["$","name"]}}},"set":{"name":"x-hasura-name"},"columns":["id","name"]}}],
     "select_permissions":[{"role":"a","permission":{"columns":["id","name"],"filter":{"_and":[
        {"port":{"name":{"_eq":"name"}}},{"crews":{"boat_id":{"_ceq":["$","name"]},"name":{"_ceq":"name"}}},
        {"_exists":{"_table":{"name":"crew","schema":"public"},"_where":{"boat_id":{"_ceq":"name"}}}}]}}}],
     "event_triggers":[{"name":"t","definition":{"update":{"columns":["name"],"payload":["id","name"]}},"retry_conf":{"interval_sec":1,"num_retries":0,"timeout_sec":60},"webhook":"http://h"}]},
    {"table":{"name":"crew","schema":"public"},"delete_permissions":[{"role":"a","permission":{"filter":{"boat_id":{"_eq":1},"name":{"_eq":"name"}}}}]},
    {"table":{"name":"port","schema":"public"}}]},
  {"name":"other","kind":"postgres","tables":[
    {"table":"boat","select_permissions":[{"role":"a","permission":{"columns":["name"],"filter":{}}}],
     "remote_relationships":[{"name":"ship","definition":{"to_source":{"field_mapping":{"name":"name"},"relationship_type":"object","source":"default","table":{"name":"boat","schema":"public"}}}}]}]}],
  "custom_types":{"objects":[{"name":"O","fields":[{"name":"id","type":"Int"}],"relationships":[{"name":"b","type":"object","source":"default","remote_table":{"name":"boat","schema":"public"},"field_mapping":{"id":"name"}}]}]}}"#;

fn key(name: &str) -> TableKey {
    ("public".to_owned(), name.to_owned())
}

fn load(text: &str) -> Metadata {
    read::text(text, Path::new("m.json")).expect("it is metadata").document
}

fn json(document: &Metadata) -> String {
    export::json(document).expect("it can be written")
}

#[test]
fn columns_are_followed_to_wherever_they_are_named() {
    let mut document = load(DOCUMENT);
    let port = KeyBefore { table: key("boat"), columns: ["port_id".to_owned()].into(), target: key("port") };
    let columns =
        [(("boat", "name"), "title"), (("crew", "boat_id"), "ship_id"), (("port", "name"), "harbour")];
    let columns = columns.map(|((table, old), new)| ((key(table), old.to_owned()), new.to_owned()));
    SchemaRenames { columns: columns.into(), keys: vec![port], ..SchemaRenames::default() }
        .follow(&mut document, "default");
    let mut expected = DOCUMENT.replace("boat_id", "ship_id");
    for (old, new) in [
        (r#""column_config":{"name""#, r#""column_config":{"title""#),
        (r#""custom_column_names":{"name""#, r#""custom_column_names":{"title""#),
        (r#""column_mapping":{"name""#, r#""column_mapping":{"title""#),
        (r#""field_mapping":{"name":"boat"}"#, r#""field_mapping":{"title":"boat"}"#),
        (r#""lhs_fields":["name"]"#, r#""lhs_fields":["title"]"#),
        (r#""place":"$name","far":["$name","name"]"#, r#""place":"$title","far":["$title","name"]"#),
        (r#"{"name":{"_cne":["$","name"]}}"#, r#"{"title":{"_cne":["$","title"]}}"#),
        (r#""set":{"name""#, r#""set":{"title""#),
        (r#""columns":["id","name"]"#, r#""columns":["id","title"]"#),
        (r#"{"port":{"name":"#, r#"{"port":{"harbour":"#),
        (r#"{"ship_id":{"_ceq":["$","name"]}"#, r#"{"ship_id":{"_ceq":["$","title"]}"#),
        (r#""columns":["name"],"payload":["id","name"]"#, r#""columns":["title"],"payload":["id","title"]"#),
        (r#""field_mapping":{"name":"name"}"#, r#""field_mapping":{"name":"title"}"#),
        (r#""field_mapping":{"id":"name"}"#, r#""field_mapping":{"id":"title"}"#),
    ] {
        assert!(expected.contains(old), "{old}");
        expected = expected.replace(old, new);
    }
    assert_eq!(json(&document), json(&load(&expected)));
}

/// The document after a rename of `port.name`, where keys of `boat.port_id` lead to `targets`.
fn follow_by_keys(targets: &[&str]) -> String {
    let mut document = load(DOCUMENT);
    let by_port = |target: &&str| KeyBefore {
        table: key("boat"),
        columns: ["port_id".to_owned()].into(),
        target: key(target),
    };
    let columns = [((key("port"), "name".to_owned()), "harbour".to_owned())];
    let keys = targets.iter().map(by_port).collect();
    SchemaRenames { columns: columns.into(), keys, ..SchemaRenames::default() }
        .follow(&mut document, "default");
    json(&document).to_string()
}

#[test]
fn a_relationship_over_two_keys_is_followed_where_both_lead_to_one_table() {
    let untouched = json(&load(DOCUMENT)).to_string();
    assert_eq!(follow_by_keys(&["port", "quay"]), untouched);
    assert_ne!(follow_by_keys(&["port"]), untouched);
    assert_eq!(follow_by_keys(&["port", "port"]), follow_by_keys(&["port"]));
}

#[test]
fn tables_are_followed_and_those_of_other_sources_are_not() {
    let mut document = load(DOCUMENT);
    let moved = ("fleet".to_owned(), "ship".to_owned());
    let tables = [(key("boat"), moved), (key("crew"), key("boat"))].into();
    SchemaRenames { tables, ..SchemaRenames::default() }.follow(&mut document, "default");
    let expected = DOCUMENT
        .replace(r#"{"name":"boat","schema":"public"}"#, r#"{"name":"ship","schema":"fleet"}"#)
        .replace(r#"{"name":"crew","schema":"public"}"#, r#"{"name":"boat","schema":"public"}"#);
    assert_eq!(json(&document), json(&load(&expected)));
}

#[test]
fn entries_of_something_gone_do_not_pass_to_what_takes_its_name() {
    let of = |table: &str, column: &str| (key(table), column.to_owned());
    let document = load(DOCUMENT);
    let columns = SchemaRenames {
        columns: [(of("boat", "secret"), "name".to_owned())].into(),
        dropped_columns: [of("boat", "name")].into(),
        ..SchemaRenames::default()
    };
    assert_eq!(columns.list_taken(&document, "default"), [r#"column "name" of table "boat""#]);
    let mut next = document.clone();
    columns.follow(&mut next, "default");
    let text: String = json(&next).split_whitespace().collect();
    assert!(text.contains(r#""columns":["id","name(dropped)"]"#), "{text}");
    assert!(!text.contains(r#""columns":["id","name"]"#), "{text}");
    let tables = SchemaRenames {
        tables: [(key("other"), key("boat"))].into(),
        dropped_tables: [key("boat")].into(),
        ..SchemaRenames::default()
    };
    assert_eq!(tables.list_taken(&document, "default"), [r#"table "boat""#]);
    let mut next = document.clone();
    tables.follow(&mut next, "default");
    let expected = DOCUMENT.replace(r#"{"name":"boat","schema""#, r#"{"name":"boat (dropped)","schema""#);
    assert_eq!(json(&next), json(&load(&expected)));
    // An entry that the database did not know before is no entry of what gets its name, if that has one.
    let both = SchemaRenames { tables: [(key("crew"), key("boat"))].into(), ..SchemaRenames::default() };
    assert_eq!(both.list_taken(&document, "default"), [r#"table "boat""#]);
    // A name that only the metadata has comes back, and two that swap their names are known.
    let back = SchemaRenames { tables: [(key("lost"), key("boat"))].into(), ..SchemaRenames::default() };
    let swapped = SchemaRenames {
        tables: [(key("crew"), key("boat")), (key("boat"), key("crew"))].into(),
        ..SchemaRenames::default()
    };
    let unnamed = SchemaRenames {
        tables: [(key("boat"), key("ship"))].into(),
        dropped_tables: [key("ship")].into(),
        ..SchemaRenames::default()
    };
    for step in [back, swapped, unnamed] {
        assert_eq!(step.list_taken(&document, "default"), [""; 0]);
    }
}

//! The order of an exported document, as Hasura has it: lists by name, members of conditions and values by key. Tools write files of
//! an export, so the order has to be the same each time.
//!
//! **Invariant:** nothing but order changes, and no order that has a meaning: columns, queries and roles of a list stay as they are.

use crate::document::Metadata;
use crate::document::permission::PermissionEntry;
use crate::document::source::SourceKind;
use crate::json::{Json, Members};
use crate::tree::{Node, Value};
use std::sync::Arc;

/// A list, and the key of the text by which its entries stand.
type SortedList = (&'static str, &'static str);

const OF_DOCUMENT: [SortedList; 8] = [
    ("sources", "name"),
    ("remote_schemas", "name"),
    ("cron_triggers", "name"),
    ("actions", "name"),
    ("query_collections", "name"),
    ("allowlist", "collection"),
    ("rest_endpoints", "name"),
    ("inherited_roles", "role_name"),
];

/// Lists of a source, with those of their entries.
const OF_SOURCE: [(SortedList, &[SortedList]); 4] = [
    (("tables", "table"), &OF_TABLE),
    (("functions", "function"), &[("permissions", "role")]),
    (("logical_models", "name"), &[("select_permissions", "role")]),
    (("native_queries", "root_field_name"), &[]),
];

const OF_TABLE: [SortedList; 9] = [
    ("object_relationships", "name"),
    ("array_relationships", "name"),
    ("computed_fields", "name"),
    ("remote_relationships", "name"),
    ("event_triggers", "name"),
    ("insert_permissions", "role"),
    ("select_permissions", "role"),
    ("update_permissions", "role"),
    ("delete_permissions", "role"),
];

/// Puts the entries of the lists of `root`, a document, in their order. Sources of kinds that are not served stay as they are.
pub(super) fn sort_lists(root: &mut Node) {
    OF_DOCUMENT.iter().for_each(|(list, key)| sort_list(root, list, key));
    for source in items_mut(root, "sources") {
        let is_served = match source.get("kind").map(|it| &it.value) {
            Some(Value::Text(kind)) => !matches!(SourceKind::from(kind.to_string()), SourceKind::Other(_)),
            _ => true,
        };
        for ((list, key), below) in OF_SOURCE.iter().filter(|_| is_served) {
            sort_list(source, list, key);
            for entry in items_mut(source, list) {
                below.iter().for_each(|(list, key)| sort_list(entry, list, key));
            }
        }
    }
}

fn items_mut<'n>(node: &'n mut Node, list: &str) -> &'n mut [Node] {
    let Value::Object(members) = &mut node.value else { return &mut [] };
    match members.iter_mut().find(|it| &*it.key == list).map(|it| &mut it.node.value) {
        Some(Value::List(items)) => items,
        _ => &mut [],
    }
}

fn sort_list(node: &mut Node, list: &str, key: &str) {
    items_mut(node, list).sort_by(|a, b| name_of(a, key).cmp(&name_of(b, key)));
}

/// Schema and name; a name without a schema is one of `public`, where there are schemas.
fn name_of<'n>(entry: &'n Node, key: &str) -> (&'n str, &'n str) {
    let text = |node: Option<&'n Node>| match node.map(|it| &it.value) {
        Some(Value::Text(text)) => &**text,
        _ => "",
    };
    let name = entry.get(key);
    let schema = text(name.and_then(|it| it.get("schema")));
    let schema = if schema.is_empty() { "public" } else { schema };
    match name.and_then(|it| it.get("name")) {
        Some(own) => (schema, text(Some(own))),
        None => ("public", text(name)),
    }
}

/// Puts the members of conditions and of values that permissions set in the order of their keys.
pub(super) fn order_conditions(document: &mut Metadata) {
    for table in document.sources.iter_mut().flat_map(|it| &mut it.tables) {
        table.each_condition(|it| !is_by_key(it), order_members);
        order_sets(&mut table.insert_permissions, |it| &mut it.set);
        order_sets(&mut table.update_permissions, |it| &mut it.set);
    }
}

/// Orders the values that permissions set.
fn order_sets<P: Clone>(list: &mut [PermissionEntry<P>], set: impl Fn(&mut P) -> &mut Members) {
    for entry in list {
        set(Arc::make_mut(&mut entry.permission)).0.sort_by(|a, b| a.0.cmp(&b.0));
    }
}

/// True if the members of all objects in `json` stand in the order of their keys.
fn is_by_key(json: &Json) -> bool {
    match json {
        Json::List(items) => items.iter().all(is_by_key),
        Json::Object(Members(members)) => {
            members.is_sorted_by(|a, b| a.0 <= b.0) && members.iter().all(|it| is_by_key(&it.1))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => true,
    }
}

fn order_members(json: &mut Json) {
    match json {
        Json::List(items) => items.iter_mut().for_each(order_members),
        Json::Object(Members(members)) => {
            members.sort_by(|a, b| a.0.cmp(&b.0));
            members.iter_mut().for_each(|it| order_members(&mut it.1));
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::{export, read};
    use std::path::Path;

    #[test]
    fn lists_stand_by_name_and_conditions_by_key() {
        let text = r#"{"version":3,"network":{},"custom_types":{"enums":[]},"sources":[{"name":"b","tables":[]},{"configuration":{"connection_info":{"use_prepared_statements":true,"database_url":"u"}},"name":"a","kind":"postgres","tables":[
            {"table":{"schema":"s","name":"a"}},
            {"table":{"schema":"public","name":"c"},"object_relationships":[{"name":"y","using":{"manual_configuration":{"remote_table":"b","column_mapping":{"z":"a","b":"c"}}}},{"name":"x","using":{"foreign_key_constraint_on":"b"}}],
             "select_permissions":[{"role":"z","permission":{"filter":{"b":{"_gt":1,"_eq":2},"_and":[{"z":{},"a":{}}]},"columns":["z","a"]}},{"role":"a","permission":{"columns":[],"filter":{}}}],
             "update_permissions":[{"role":"a","permission":{"columns":[],"set":{"z":1,"a":2},"filter":{}}}]},
            {"table":"b"}]}]}"#;
        let document = read::text(text, Path::new("m.json")).expect("it is metadata").document;
        let compact: String = export::json(&document).expect("it is written").split_whitespace().collect();
        let tables = concat!(
            r#"{"table":"b"},"#,
            r#"{"table":{"name":"c","schema":"public"},"object_relationships":[{"name":"x","using":{"foreign_key_constraint_on":"b"}},{"name":"y","using":{"manual_configuration":{"column_mapping":{"b":"c","z":"a"},"insertion_order":null,"remote_table":"b"}}}],"#,
            r#""select_permissions":[{"role":"a","permission":{"columns":[],"filter":{}}},{"role":"z","permission":{"columns":["z","a"],"filter":{"_and":[{"a":{},"z":{}}],"b":{"_eq":2,"_gt":1}}}}],"#,
            r#""update_permissions":[{"role":"a","permission":{"columns":[],"filter":{},"check":null,"set":{"a":2,"z":1}}}]},"#,
            r#"{"table":{"name":"a","schema":"s"}}"#
        );
        let info = r#"{"connection_info":{"database_url":"u","use_prepared_statements":true}}"#;
        let expected = format!(
            r#"{{"version":3,"sources":[{{"name":"a","kind":"postgres","tables":[{tables}],"configuration":{info}}},{{"name":"b","kind":"postgres","tables":[]}}]}}"#
        );
        assert_eq!(compact, expected);
        let again = read::text(&compact, Path::new("m.json")).expect("it is metadata").document;
        assert_eq!(
            export::json(&again).expect("it is written").split_whitespace().collect::<String>(),
            expected
        );
    }
}

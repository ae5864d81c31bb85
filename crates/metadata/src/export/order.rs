//! The order of an exported document, as Hasura has it: lists by name, members of conditions and values by key. Tools write files of
//! an export, so the order has to be the same each time.
//!
//! **Invariant:** nothing but order changes, and no order that has a meaning: columns, queries and roles of a list stay as they are.

use crate::document::Metadata;
use crate::document::permission::PermissionEntry;
use crate::document::source::SourceEntry;
use crate::document::table::{TableEntry, TableName};
use crate::json::{Json, Members};
use std::sync::Arc;

/// `document` in the order in which it is exported.
pub fn to_export_order(document: &Metadata) -> Metadata {
    let mut document = document.clone();
    document.sources.sort_by(|a, b| a.name.cmp(&b.name));
    document.sources.iter_mut().for_each(order_source);
    document.remote_schemas.sort_by(|a, b| a.name.cmp(&b.name));
    document.cron_triggers.sort_by(|a, b| a.name.cmp(&b.name));
    document.actions.sort_by(|a, b| a.name.cmp(&b.name));
    document.query_collections.sort_by(|a, b| a.name.cmp(&b.name));
    document.allowlist.sort_by(|a, b| a.collection.cmp(&b.collection));
    document.rest_endpoints.sort_by(|a, b| a.name.cmp(&b.name));
    document.inherited_roles.sort_by(|a, b| a.role_name.cmp(&b.role_name));
    document
}

fn order_source(source: &mut SourceEntry) {
    source.tables.sort_by(|a, b| key_of(&a.table).cmp(&key_of(&b.table)));
    source.functions.sort_by(|a, b| key_of(&a.function).cmp(&key_of(&b.function)));
    source.functions.iter_mut().for_each(|it| it.permissions.sort_by(|a, b| a.role.cmp(&b.role)));
    source.tables.iter_mut().for_each(order_table);
    source.logical_models.sort_by(|a, b| a.name.cmp(&b.name));
    source.logical_models.iter_mut().for_each(|it| by_role(&mut it.select_permissions));
    source.native_queries.sort_by(|a, b| a.root_field_name.cmp(&b.root_field_name));
}

fn order_table(table: &mut TableEntry) {
    table.object_relationships.sort_by(|a, b| a.name.cmp(&b.name));
    table.array_relationships.sort_by(|a, b| a.name.cmp(&b.name));
    table.computed_fields.sort_by(|a, b| a.name.cmp(&b.name));
    table.remote_relationships.sort_by(|a, b| a.name.cmp(&b.name));
    table.event_triggers.sort_by(|a, b| a.name.cmp(&b.name));
    by_role(&mut table.insert_permissions);
    by_role(&mut table.select_permissions);
    by_role(&mut table.update_permissions);
    by_role(&mut table.delete_permissions);
    table.each_condition(|it| !is_by_key(it), order_members);
    order_sets(&mut table.insert_permissions, |it| &mut it.set);
    order_sets(&mut table.update_permissions, |it| &mut it.set);
}

fn by_role<P>(list: &mut [PermissionEntry<P>]) {
    list.sort_by(|a, b| a.role.cmp(&b.role));
}

/// Orders the values that permissions set.
fn order_sets<P: Clone>(list: &mut [PermissionEntry<P>], set: impl Fn(&mut P) -> &mut Members) {
    for entry in list {
        set(Arc::make_mut(&mut entry.permission)).0.sort_by(|a, b| a.0.cmp(&b.0));
    }
}

/// Schema and name; a name without a schema is one of `public`, where there are schemas.
fn key_of(table: &TableName) -> (&str, &str) {
    match table.parts() {
        ("", name) => ("public", name),
        parts => parts,
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
    use super::*;
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
        assert_eq!(to_export_order(&to_export_order(&document)), to_export_order(&document));
    }
}

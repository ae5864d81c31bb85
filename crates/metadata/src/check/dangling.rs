//! References that no database is needed for: tables that are not tracked, roles that nobody has.

use super::{Found, Walk, qualified_name};
use crate::document::Metadata;
use crate::document::source::{SourceEntry, SourceKind};
use crate::document::table::{ForeignKeyOn, RelationshipEntry, TableEntry, TableName};
use crate::json::Json;
use std::collections::HashSet;

/// Tables that `source` names and does not track; paths begin at the source.
pub fn dangling(source: &SourceEntry) -> Vec<Found> {
    let is_public = source.kind != SourceKind::Sqlite;
    let tracked: HashSet<String> =
        source.tables.iter().map(|it| qualified_name(&it.table, is_public)).collect();
    let is_tracked = |table: &TableName| tracked.contains(&qualified_name(table, is_public));
    let mut walk = Walk::default();
    walk.each("tables", &source.tables, |walk, table| {
        for (key, list) in [
            ("object_relationships", &table.object_relationships),
            ("array_relationships", &table.array_relationships),
        ] {
            walk.each(key, list, |walk, it| {
                if let Some(target) = target(it).filter(|it| !is_tracked(it)) {
                    walk.wrong(untracked_table_message(target));
                }
            });
        }
        permissions(walk, table, &is_tracked);
    });
    walk.found
}

/// The table that a relationship names.
fn target(entry: &RelationshipEntry) -> Option<&TableName> {
    let by_hand = || entry.using.manual_configuration.as_ref()?.remote_table.as_ref();
    match &entry.using.foreign_key_constraint_on {
        Some(ForeignKeyOn::Remote(key)) => Some(&key.table),
        Some(ForeignKeyOn::Column(_) | ForeignKeyOn::Columns(_)) => None,
        None => by_hand(),
    }
}

fn untracked_table_message(table: &TableName) -> String {
    let (schema, name) = table.parts();
    let dot = if schema.is_empty() { "" } else { "." };
    format!("the table `{schema}{dot}{name}` is not tracked")
}

/// The tables of `_exists` in the conditions of `table`.
fn permissions(walk: &mut Walk, table: &TableEntry, is_tracked: &impl Fn(&TableName) -> bool) {
    let look = |walk: &mut Walk, condition: &Json| {
        let mut named = Vec::new();
        exists(condition, &mut named);
        named.iter().filter(|it| !is_tracked(it)).for_each(|it| walk.wrong(untracked_table_message(it)));
    };
    walk.each("select_permissions", &table.select_permissions, |walk, it| look(walk, &it.permission.filter));
    walk.each("insert_permissions", &table.insert_permissions, |walk, it| look(walk, &it.permission.check));
    walk.each("delete_permissions", &table.delete_permissions, |walk, it| look(walk, &it.permission.filter));
    walk.each("update_permissions", &table.update_permissions, |walk, it| {
        look(walk, &it.permission.filter);
        it.permission.check.iter().for_each(|it| look(walk, it));
    });
}

/// Appends the tables that `_exists` names in a condition.
fn exists(condition: &Json, named: &mut Vec<TableName>) {
    match condition {
        Json::List(items) => items.iter().for_each(|it| exists(it, named)),
        Json::Object(members) => {
            for (key, value) in &members.0 {
                match &**key {
                    "_table" | "$table" => named.extend(TableName::of_json(value)),
                    _ => exists(value, named),
                }
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => {}
    }
}

/// Finds inherited roles whose parent roles have no permission in any source.
pub fn dangling_roles(document: &Metadata) -> Vec<Found> {
    let tables = document.sources.iter().flat_map(|it| &it.tables).flat_map(TableEntry::roles);
    let models = document.sources.iter().flat_map(|it| &it.logical_models);
    let models = models.flat_map(|it| &it.select_permissions).map(|it| it.role.as_str());
    let functions = document.sources.iter().flat_map(|it| &it.functions).flat_map(|it| &it.permissions);
    let inherited = document.inherited_roles.iter().map(|it| it.role_name.as_str());
    let actions = document.actions.iter().flat_map(|it| &it.permissions).map(|it| it.role.as_str());
    let functions = functions.map(|it| it.role.as_str());
    let known: HashSet<&str> =
        tables.chain(models).chain(functions).chain(actions).chain(inherited).collect();
    let mut walk = Walk::default();
    walk.each("inherited_roles", &document.inherited_roles, |walk, it| {
        for role in it.role_set.iter().filter(|it| !known.contains(it.as_str())) {
            walk.wrong(format!("the role \"{role}\", of which it is made, is in no permission"));
        }
    });
    walk.found
}

//! Checks of a document that the types of its entries cannot make, and entries that Weir does not honour.

use crate::document::Metadata;
use crate::document::permission::PermissionEntry;
use crate::document::remote_relationship::{RemoteRelationshipEntry, RemoteTarget, remote_field_steps};
use crate::document::remote_schema::RemoteSchemaEntry;
use crate::document::source::{SourceEntry, SourceKind};
use crate::document::table::{
    ForeignKeyOn, RelationshipEntry, RootFieldEntries, RootFieldEntry, TableEntry, TableName,
};
use crate::document::table_name::join_parts;
use crate::json::Json;
use crate::places::Step;
use std::collections::HashSet;
use std::hash::Hash;

mod actions;
mod dangling;
mod differences;
mod served;
mod unsupported;

pub use dangling::{dangling, dangling_roles};
pub use differences::find_differences;
pub use served::{KindCount, count_entries, count_served};
pub(crate) use unsupported::find_unknown_params;
pub use unsupported::{Unsupported, find_unsupported};

/// Path of an entry, and the message about it.
pub type Found = (Vec<Step>, String);

/// A walk over a document that collects faults.
#[derive(Default)]
struct Walk {
    path: Vec<Step>,
    found: Vec<Found>,
}

impl Walk {
    /// Runs `inside` below `steps`.
    fn walk_below<const N: usize>(&mut self, steps: [Step; N], inside: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.extend(steps);
        inside(self);
        self.path.truncate(length);
    }

    fn wrong(&mut self, message: impl Into<String>) {
        self.found.push((self.path.clone(), message.into()));
    }

    fn into_unsupported(self) -> Vec<Unsupported> {
        self.found.into_iter().map(|(path, message)| Unsupported { path, message }).collect()
    }

    /// Every item of the list `key`.
    fn each<T>(&mut self, key: &str, items: &[T], mut inside: impl FnMut(&mut Self, &T)) {
        for (at, item) in items.iter().enumerate() {
            self.walk_below([key.into(), at.into()], |walk| inside(walk, item));
        }
    }

    /// No two items of the list `key` may have the same name.
    fn unique<T, N: Hash + Eq + std::fmt::Display>(
        &mut self,
        key: &str,
        items: &[T],
        name: impl Fn(&T) -> N,
        what: &str,
    ) {
        let mut seen = HashSet::new();
        self.each(key, items, |walk, item| {
            let name = name(item);
            if seen.contains(&name) {
                walk.wrong(format!("multiple declarations exist for the following {what}: {name}"));
            }
            seen.insert(name);
        });
    }
}

/// Faults of the document's shape.
pub fn faults(document: &Metadata) -> Vec<Found> {
    let mut walk = Walk::default();
    walk.unique("sources", &document.sources, |it| it.name.clone(), "sources");
    walk.each("sources", &document.sources, source);
    actions::check_actions(&mut walk, document);
    walk.unique("cron_triggers", &document.cron_triggers, |it| it.name.clone(), "cron triggers");
    walk.unique("remote_schemas", &document.remote_schemas, |it| it.name.clone(), "remote schemas");
    walk.each("remote_schemas", &document.remote_schemas, remote_schema);
    walk.unique("inherited_roles", &document.inherited_roles, |it| it.role_name.clone(), "inherited roles");
    walk.each("inherited_roles", &document.inherited_roles, |walk, it| {
        if it.role_set.iter().chain([&it.role_name]).any(|it| it == "admin") {
            walk.wrong("the role admin can neither inherit nor be inherited");
        }
        walk.unique("role_set", &it.role_set, Clone::clone, "roles");
    });
    walk.unique("query_collections", &document.query_collections, |it| it.name.clone(), "query collections");
    walk.each("query_collections", &document.query_collections, |walk, it| {
        let queries = &it.definition.queries;
        walk.walk_below(["definition".into()], |walk| {
            walk.unique("queries", queries, |it| it.name.clone(), "queries")
        });
    });
    walk.unique("allowlist", &document.allowlist, |it| it.collection.clone(), "allowlist entries");
    walk.each("allowlist", &document.allowlist, |walk, it| {
        let scope = it.scope.as_ref().map(|it| (it.global, it.roles.as_deref()));
        walk.walk_below(["scope".into()], |walk| match scope {
            Some((true, Some(_))) => walk.wrong("roles not allowed when global is true"),
            Some((false, None | Some([]))) => walk.wrong("roles cannot be empty when global is false"),
            Some((false, Some(roles))) => walk.unique("roles", roles, Clone::clone, "roles"),
            Some((true, None)) | None => {}
        });
    });
    walk.unique("rest_endpoints", &document.rest_endpoints, |it| it.name.clone(), "REST endpoints");
    walk.each("rest_endpoints", &document.rest_endpoints, |walk, it| {
        if it.methods.is_empty() {
            walk.walk_below(["methods".into()], |walk| walk.wrong("an endpoint needs at least one method"));
        }
        if it.url.starts_with('/') {
            walk.walk_below(["url".into()], |walk| {
                walk.wrong("an URL of an endpoint begins without a slash")
            });
        }
    });
    let introspection = &document.graphql_schema_introspection;
    walk.walk_below(["graphql_schema_introspection".into()], |walk| {
        walk.unique("disabled_for_roles", &introspection.disabled_for_roles, Clone::clone, "roles");
    });
    walk.found
}

/// Faults within entries of tables, and unsupported parts of them, with paths from the source that has them. Two entries for one
/// table are no fault here.
pub fn member_faults(tables: &[TableEntry]) -> Vec<Found> {
    let mut walk = Walk::default();
    walk.each("tables", tables, |walk, it| {
        members(walk, it);
        unsupported::table(walk, it);
    });
    walk.found
}

fn source(walk: &mut Walk, source: &SourceEntry) {
    tables(walk, &source.tables, source.kind != SourceKind::Sqlite);
    let is_public = source.kind != SourceKind::Sqlite;
    walk.unique("logical_models", &source.logical_models, |it| it.name.clone(), "logical models");
    walk.each("logical_models", &source.logical_models, |walk, it| {
        walk.unique("fields", &it.fields, |it| it.name.clone(), "fields");
        permissions(walk, "select_permissions", &it.select_permissions);
    });
    walk.unique("native_queries", &source.native_queries, |it| it.root_field_name.clone(), "native queries");
    walk.each("native_queries", &source.native_queries, |walk, it| {
        for (key, list) in [
            ("object_relationships", it.object_relationships.as_deref()),
            ("array_relationships", it.array_relationships.as_deref()),
        ] {
            walk.each(key, list.unwrap_or_default(), relationship);
        }
        let relationships: Vec<&str> = it.relationships().map(|it| it.1.name.as_str()).collect();
        walk.unique("relationships", &relationships, |it| (*it).to_owned(), "relationships");
    });
    walk.unique("functions", &source.functions, |it| qualified_name(&it.function, is_public), "functions");
    walk.each("functions", &source.functions, |walk, it| {
        walk.unique("permissions", &it.permissions, |it| it.role.clone(), "function permissions");
        walk.each("permissions", &it.permissions, |walk, it| not_admin(walk, &it.role));
    });
}

/// `public.boat`, or `boat` where there are no schemas.
fn qualified_name(name: &TableName, is_public_implied: bool) -> String {
    match name.parts() {
        ("", name) if is_public_implied => join_parts("public", name),
        (schema, name) => join_parts(schema, name),
    }
}

fn tables(walk: &mut Walk, tables: &[TableEntry], is_public_implied: bool) {
    walk.unique("tables", tables, |it| qualified_name(&it.table, is_public_implied), "tables");
    walk.each("tables", tables, members);
    unique_event_triggers(walk, tables);
}

/// Names of event triggers are unique in their source.
fn unique_event_triggers(walk: &mut Walk, tables: &[TableEntry]) {
    let mut seen = HashSet::new();
    walk.each("tables", tables, |walk, table| {
        walk.each("event_triggers", &table.event_triggers, |walk, it| {
            if !seen.insert(it.name.clone()) {
                walk.wrong(format!(
                    "multiple declarations exist for the following event triggers: {}",
                    it.name
                ));
            }
        });
    });
}

fn members(walk: &mut Walk, it: &TableEntry) {
    for (key, list) in
        [("object_relationships", &it.object_relationships), ("array_relationships", &it.array_relationships)]
    {
        walk.unique(key, list, |it| it.name.clone(), "relationships");
        walk.each(key, list, relationship);
    }
    walk.unique("computed_fields", &it.computed_fields, |it| it.name.clone(), "computed fields");
    walk.each("event_triggers", &it.event_triggers, |walk, it| {
        for (path, message) in it.find_faults() {
            let length = walk.path.len();
            walk.path.extend(path.iter().map(|it| Step::from(*it)));
            walk.wrong(message);
            walk.path.truncate(length);
        }
    });
    let remote = &it.remote_relationships;
    walk.unique("remote_relationships", remote, |it| it.name.clone(), "remote relationships");
    walk.each("remote_relationships", remote, remote_relationship);
    permissions(walk, "insert_permissions", &it.insert_permissions);
    permissions(walk, "select_permissions", &it.select_permissions);
    permissions(walk, "update_permissions", &it.update_permissions);
    permissions(walk, "delete_permissions", &it.delete_permissions);
    walk.walk_below(["configuration".into(), "custom_root_fields".into()], |walk| {
        root_fields(walk, &it.configuration.custom_root_fields);
    });
}

fn relationship(walk: &mut Walk, entry: &RelationshipEntry) {
    walk.walk_below(["using".into()], |walk| {
        match (&entry.using.foreign_key_constraint_on, &entry.using.manual_configuration) {
            (None, None) => walk.wrong(
                "how rows are related is missing: say `foreign_key_constraint_on` or `manual_configuration`",
            ),
            (Some(_), Some(_)) => walk.wrong(
                "both `foreign_key_constraint_on` and `manual_configuration` say how rows are related: remove one",
            ),
            (Some(ForeignKeyOn::Remote(key)), None) if key.column.is_empty() == key.columns.is_empty() => {
                let message = if key.column.is_empty() {
                    "the column of the foreign key is missing: say `column`, or `columns` for several"
                } else {
                    "both `column` and `columns` say which columns the foreign key has: remove one"
                };
                walk.walk_below(["foreign_key_constraint_on".into()], |walk| walk.wrong(message));
            }
            (None, Some(manual)) if manual.remote_table.is_some() == manual.remote_native_query.is_some() => {
                let message = if manual.remote_table.is_some() {
                    "both `remote_table` and `remote_native_query` say where the rows are: remove one"
                } else {
                    "where the rows are is missing: say `remote_table` or `remote_native_query`"
                };
                walk.walk_below(["manual_configuration".into()], |walk| walk.wrong(message));
            }
            (Some(_), None) | (None, Some(_)) => {}
        }
    });
}

fn remote_schema(walk: &mut Walk, entry: &RemoteSchemaEntry) {
    if let Err(message) = entry.definition.address() {
        walk.walk_below(["definition".into()], |walk| walk.wrong(message));
    }
    walk.unique("permissions", &entry.permissions, |it| it.role.clone(), "remote schema permissions");
    walk.each("permissions", &entry.permissions, |walk, it| not_admin(walk, &it.role));
    let types = &entry.remote_relationships;
    walk.unique("remote_relationships", types, |it| it.type_name.clone(), "types");
    walk.each("remote_relationships", types, |walk, it| {
        walk.unique("relationships", &it.relationships, |it| it.name.clone(), "remote relationships");
        walk.each("relationships", &it.relationships, remote_relationship);
    });
}

fn remote_relationship(walk: &mut Walk, entry: &RemoteRelationshipEntry) {
    walk.walk_below(["definition".into()], |walk| match entry.definition.target() {
        Err(message) => walk.wrong(message),
        Ok(RemoteTarget::Source(source)) if source.field_mapping.is_empty() => {
            walk.walk_below(["to_source".into(), "field_mapping".into()], |walk| {
                walk.wrong("a relationship needs at least one field")
            });
        }
        Ok(RemoteTarget::Source(_)) => {}
        Ok(RemoteTarget::RemoteSchema { remote_field, .. }) => {
            if let Err(message) = remote_field_steps(remote_field) {
                walk.wrong(message);
            }
        }
    });
}

fn permissions<P>(walk: &mut Walk, key: &str, entries: &[PermissionEntry<P>]) {
    let what = key.replace('_', " ");
    walk.unique(key, entries, |it| it.role.clone(), &what);
    walk.each(key, entries, |walk, it| not_admin(walk, &it.role));
}

fn not_admin(walk: &mut Walk, role: &str) {
    match role {
        "admin" => {
            walk.walk_below(["role".into()], |walk| walk.wrong("cannot define permission for admin role"))
        }
        "" => walk.walk_below(["role".into()], |walk| walk.wrong("a role needs a name")),
        _ => {}
    }
}

fn root_fields(walk: &mut Walk, fields: &RootFieldEntries) {
    let all = [
        ("select", &fields.select),
        ("select_by_pk", &fields.select_by_pk),
        ("select_aggregate", &fields.select_aggregate),
        ("select_group_by", &fields.select_group_by),
        ("select_stream", &fields.select_stream),
        ("insert", &fields.insert),
        ("insert_one", &fields.insert_one),
        ("update", &fields.update),
        ("update_by_pk", &fields.update_by_pk),
        ("update_many", &fields.update_many),
        ("delete", &fields.delete),
        ("delete_by_pk", &fields.delete_by_pk),
    ];
    let mut seen = HashSet::new();
    for (key, field) in all {
        let name = match field {
            Some(RootFieldEntry::Name(name)) => Some(name),
            Some(RootFieldEntry::Full(full)) => full.name.as_ref(),
            None => None,
        };
        if name.is_some_and(|it| !seen.insert(it)) {
            let name = name.map_or("", String::as_str);
            walk.walk_below([key.into()], |walk| {
                walk.wrong(format!("the following custom root field names are duplicated: {name}"));
            });
        }
    }
}

/// The text under `key` of an entry that is kept as JSON; empty if there is none.
fn text_member(entry: &Json, key: &str) -> String {
    entry.get(key).and_then(Json::text).unwrap_or_default().to_owned()
}

/// True if the block says anything.
fn has_members(block: &Json) -> bool {
    *block != Json::Object(crate::json::Members::default())
}

//! Permissions of roles by what the database grants them, where its own policies choose the rows.
//!
//! **Invariant:** a permission is there exactly where a grant is; those of the metadata have no effect beside them.

use std::collections::BTreeMap;
use std::sync::Arc;
use weir_engine::caller::ADMIN;
use weir_metadata::document::permission::{
    Columns, DeletePermission, InsertPermission, PermissionEntry, SelectPermission, UpdatePermission,
};
use weir_metadata::document::table::{QualifiedName, TableEntry, TableName};
use weir_metadata::json::{Json, Members};
use weir_postgres::introspect::grants::RoleGrant;
use weir_relational::catalog::{Catalog, TableId};

/// The entries with the permissions that `grants` give, instead of their own. Tables without an entry get one if `tracks_all`.
pub(crate) fn grant_entries(
    entries: &[TableEntry],
    grants: &[RoleGrant],
    catalog: &Catalog,
    tracks_all: bool,
) -> Vec<TableEntry> {
    let mut by_table: BTreeMap<TableId, Vec<&RoleGrant>> = BTreeMap::new();
    for grant in grants.iter().filter(|it| it.role != ADMIN) {
        if let Some(table) = catalog.find(&grant.schema, &grant.table) {
            by_table.entry(table).or_default().push(grant);
        }
    }
    let mut granted: Vec<TableEntry> = Vec::with_capacity(entries.len());
    for entry in entries {
        let (schema, name) = entry.table.parts();
        let grants = catalog.find(schema, name).and_then(|it| by_table.remove(&it)).unwrap_or_default();
        granted.push(with_grants(entry.clone(), &grants));
    }
    if tracks_all {
        for (table, grants) in by_table {
            let table = catalog.table(table);
            let name = QualifiedName { name: table.name.clone(), schema: table.schema.clone() };
            granted.push(with_grants(TableEntry::new(TableName::Qualified(name)), &grants));
        }
    }
    granted
}

fn with_grants(entry: TableEntry, grants: &[&RoleGrant]) -> TableEntry {
    let every = || Json::Object(Members::default());
    let listed = |names: &[String]| Columns::Listed(names.to_vec());
    let select = |it: &RoleGrant| SelectPermission {
        columns: listed(&it.select),
        computed_fields: Vec::new(),
        filter: every(),
        limit: None,
        allow_aggregations: true,
        query_root_fields: None,
        subscription_root_fields: None,
    };
    let insert = |it: &RoleGrant| InsertPermission {
        check: every(),
        set: Members::default(),
        columns: listed(&it.insert),
        backend_only: false,
        computed_fields: Vec::new(),
        validate_input: None,
    };
    let update = |it: &RoleGrant| UpdatePermission {
        columns: listed(&it.update),
        filter: every(),
        // The rows may leave the filter, which is none.
        check: Some(every()),
        set: Members::default(),
        backend_only: false,
        computed_fields: Vec::new(),
        validate_input: None,
    };
    let delete = |_: &RoleGrant| DeletePermission {
        filter: every(),
        backend_only: false,
        computed_fields: Vec::new(),
        validate_input: None,
    };
    TableEntry {
        select_permissions: list(grants, |it| !it.select.is_empty(), select),
        insert_permissions: list(grants, |it| !it.insert.is_empty(), insert),
        update_permissions: list(grants, |it| !it.update.is_empty(), update),
        // Rows are found by columns that may be read.
        delete_permissions: list(grants, |it| it.delete, delete),
        ..entry
    }
}

/// The permissions of the grants that `holds` is true of.
fn list<P>(
    grants: &[&RoleGrant],
    holds: impl Fn(&RoleGrant) -> bool,
    permission: impl Fn(&RoleGrant) -> P,
) -> Vec<PermissionEntry<P>> {
    let granted = grants.iter().filter(|it| holds(it));
    granted
        .map(|it| PermissionEntry {
            role: it.role.clone(),
            permission: Arc::new(permission(it)),
            comment: None,
        })
        .collect()
}

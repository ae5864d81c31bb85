//! Commands about permissions of tables.

use super::arguments::Arguments;
use super::lookup::{already_exists, display_name, table};
use super::{Command, Done, Outcome, Refused};
use crate::document::Metadata;
use crate::document::permission::PermissionEntry;
use crate::document::table::TableEntry;
use serde::de::DeserializeOwned;

/// The command called `verb`, without the prefix of a kind of database.
pub(super) fn command(verb: &str) -> Option<Command> {
    Some(match verb {
        "create_insert_permission" => {
            |document, args| create(document, args, "insert", |it| &mut it.insert_permissions)
        }
        "create_select_permission" => {
            |document, args| create(document, args, "select", |it| &mut it.select_permissions)
        }
        "create_update_permission" => {
            |document, args| create(document, args, "update", |it| &mut it.update_permissions)
        }
        "create_delete_permission" => {
            |document, args| create(document, args, "delete", |it| &mut it.delete_permissions)
        }
        "drop_insert_permission" => {
            |document, args| remove(document, args, "insert", |it| &mut it.insert_permissions)
        }
        "drop_select_permission" => {
            |document, args| remove(document, args, "select", |it| &mut it.select_permissions)
        }
        "drop_update_permission" => {
            |document, args| remove(document, args, "update", |it| &mut it.update_permissions)
        }
        "drop_delete_permission" => {
            |document, args| remove(document, args, "delete", |it| &mut it.delete_permissions)
        }
        "set_permission_comment" => set_comment,
        _ => return None,
    })
}

/// Refuses roles that have no permissions of their own.
pub(super) fn check_role(role: &str) -> Result<(), Refused> {
    match role {
        "admin" => Err(Refused::new("validation-failed", "cannot define permission for admin role")),
        "" => Err(Refused::new("parse-failed", "a role needs a name")),
        _ => Ok(()),
    }
}

fn create<P: DeserializeOwned>(
    document: &mut Metadata,
    args: &mut Arguments,
    kind: &str,
    list: fn(&mut TableEntry) -> &mut Vec<PermissionEntry<P>>,
) -> Done {
    let known = table(document, args)?;
    let entry: PermissionEntry<P> = args.only(&["role", "permission", "comment"])?;
    check_role(&entry.role)?;
    let name = display_name(&known.table);
    let permissions = list(known);
    if permissions.iter().any(|it| it.role == entry.role) {
        let role = &entry.role;
        let message = format!("{kind} permission already defined on table \"{name}\" with role \"{role}\"");
        return Err(already_exists(message));
    }
    permissions.push(entry);
    Ok(Outcome::default())
}

/// The permission of `role` among those that `list` gives.
fn position<P>(
    table: &mut TableEntry,
    role: &str,
    kind: &str,
    list: fn(&mut TableEntry) -> &mut Vec<PermissionEntry<P>>,
) -> Result<usize, Refused> {
    let name = display_name(&table.table);
    let message = format!("{kind} permission on \"{name}\" for role \"{role}\" does not exist");
    list(table)
        .iter()
        .position(|it| it.role == role)
        .ok_or_else(|| Refused::new("permission-denied", message))
}

fn remove<P>(
    document: &mut Metadata,
    args: &mut Arguments,
    kind: &str,
    list: fn(&mut TableEntry) -> &mut Vec<PermissionEntry<P>>,
) -> Done {
    let role: String = args.need("role")?;
    let known = table(document, args)?;
    let at = position(known, &role, kind, list)?;
    list(known).remove(at);
    Ok(Outcome { cascade: Some(false), message: None })
}

fn set_comment(document: &mut Metadata, args: &mut Arguments) -> Done {
    fn set<P>(
        table: &mut TableEntry,
        role: &str,
        kind: &str,
        comment: Option<String>,
        list: fn(&mut TableEntry) -> &mut Vec<PermissionEntry<P>>,
    ) -> Result<(), Refused> {
        let at = position(table, role, kind, list)?;
        list(table)[at].comment = comment;
        Ok(())
    }
    let role: String = args.need("role")?;
    let kind: String = args.need("type")?;
    let comment = args.read("comment")?;
    let known = table(document, args)?;
    match &*kind {
        "insert" => set(known, &role, &kind, comment, |it| &mut it.insert_permissions)?,
        "select" => set(known, &role, &kind, comment, |it| &mut it.select_permissions)?,
        "update" => set(known, &role, &kind, comment, |it| &mut it.update_permissions)?,
        "delete" => set(known, &role, &kind, comment, |it| &mut it.delete_permissions)?,
        other => {
            let message = format!("`{other}` is none of: insert, select, update, delete");
            return Err(Refused { path: "args.type".into(), ..Refused::new("parse-failed", message) });
        }
    }
    Ok(Outcome::default())
}

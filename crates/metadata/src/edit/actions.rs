//! Commands about actions and their types.

use super::arguments::Arguments;
use super::lookup::{already_exists, not_there, take_out};
use super::permissions::check_role;
use super::{Command, Done, Outcome, Refused};
use crate::document::Metadata;
use crate::document::action::{ActionDefinition, ActionEntry, ActionPermission};

/// The command called `name`.
pub(super) fn command(name: &str) -> Option<Command> {
    Some(match name {
        "create_action" => create_action,
        "update_action" => update_action,
        "drop_action" => drop_action,
        "create_action_permission" => create_permission,
        "drop_action_permission" => drop_permission,
        "set_custom_types" => set_custom_types,
        _ => return None,
    })
}

/// The action called `name`.
fn find_action<'d>(document: &'d mut Metadata, name: &str) -> Result<&'d mut ActionEntry, Refused> {
    let found = document.actions.iter_mut().find(|it| it.name == name);
    found.ok_or_else(|| missing_action(name))
}

fn missing_action(name: &str) -> Refused {
    not_there(format!("action with name \"{name}\" does not exist"))
}

fn create_action(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("name")?;
    if document.actions.iter().any(|it| it.name == name) {
        return Err(already_exists(format!("action with name \"{name}\" already exists")));
    }
    let definition: ActionDefinition = args.need("definition")?;
    let comment = args.read("comment")?;
    document.actions.push(ActionEntry { name, definition, comment, permissions: Vec::new() });
    Ok(Outcome::default())
}

fn update_action(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("name")?;
    let action = find_action(document, &name)?;
    action.definition = args.need("definition")?;
    action.comment = args.read("comment")?;
    Ok(Outcome::default())
}

fn drop_action(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("name")?;
    // The log of an asynchronous action is no part of the document.
    let _: Option<bool> = args.read("clear_data")?;
    take_out(&mut document.actions, |it| it.name == name, || missing_action(&name))?;
    Ok(Outcome { cascade: Some(false), message: None })
}

fn create_permission(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("action")?;
    let permission: ActionPermission = args.only(&["role", "comment", "definition"])?;
    check_role(&permission.role)?;
    let permissions = &mut find_action(document, &name)?.permissions;
    if permissions.iter().any(|it| it.role == permission.role) {
        let role = &permission.role;
        let message = format!("permission for role \"{role}\" is already defined on \"{name}\"");
        return Err(already_exists(message));
    }
    permissions.push(permission);
    Ok(Outcome::default())
}

fn drop_permission(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("action")?;
    let role: String = args.need("role")?;
    let permissions = &mut find_action(document, &name)?.permissions;
    let missing = || not_there(format!("permission for role: \"{role}\" is not defined on \"{name}\""));
    take_out(permissions, |it| it.role == role, missing)?;
    Ok(Outcome { cascade: Some(false), message: None })
}

fn set_custom_types(document: &mut Metadata, args: &mut Arguments) -> Done {
    document.custom_types = args.rest()?;
    Ok(Outcome::default())
}

//! Commands about remote schemas, their permissions, and relationships to and from them.

use super::arguments::Arguments;
use super::lookup::{already_exists, not_there, table, take_out};
use super::permissions::check_role;
use super::{Command, Done, Outcome, Refused};
use crate::document::Metadata;
use crate::document::remote_relationship::RemoteRelationshipEntry;
use crate::document::remote_schema::{
    RemoteSchemaDefinition, RemoteSchemaEntry, RemoteSchemaPermission, TypeRelationships,
};

/// The command called `name`.
pub(super) fn command(name: &str) -> Option<Command> {
    Some(match name {
        "add_remote_schema" => add,
        "update_remote_schema" => update,
        "remove_remote_schema" => remove,
        "add_remote_schema_permissions" => add_permission,
        "drop_remote_schema_permissions" => drop_permission,
        "create_remote_schema_remote_relationship" => create_of_type,
        "update_remote_schema_remote_relationship" => update_of_type,
        "delete_remote_schema_remote_relationship" => delete_of_type,
        _ => return None,
    })
}

/// The command about a table called `verb`, without the prefix of a kind of database.
pub(super) fn command_of_table(verb: &str) -> Option<Command> {
    Some(match verb {
        "create_remote_relationship" => create_of_table,
        "update_remote_relationship" => update_of_table,
        "delete_remote_relationship" => delete_of_table,
        _ => return None,
    })
}

fn find<'d>(document: &'d mut Metadata, name: &str) -> Result<&'d mut RemoteSchemaEntry, Refused> {
    let found = document.remote_schemas.iter_mut().find(|it| it.name == name);
    found.ok_or_else(|| missing(name))
}

fn missing(name: &str) -> Refused {
    not_there(format!("remote schema with name \"{name}\" does not exist"))
}

/// Takes the definition, whose address has to be there.
fn definition(args: &mut Arguments) -> Result<RemoteSchemaDefinition, Refused> {
    let definition: RemoteSchemaDefinition = args.need("definition")?;
    definition.address().map_err(|message| Refused {
        path: "args.definition".into(),
        ..Refused::new("parse-failed", message)
    })?;
    Ok(definition)
}

fn add(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("name")?;
    if document.remote_schemas.iter().any(|it| it.name == name) {
        return Err(already_exists(format!("remote schema with name \"{name}\" already exists")));
    }
    let definition = definition(args)?;
    let comment = args.read("comment")?;
    let (permissions, remote_relationships) = (Vec::new(), Vec::new());
    document.remote_schemas.push(RemoteSchemaEntry {
        name,
        definition,
        comment,
        permissions,
        remote_relationships,
    });
    Ok(Outcome::default())
}

fn update(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("name")?;
    let entry = find(document, &name)?;
    entry.definition = definition(args)?;
    entry.comment = args.read("comment")?;
    Ok(Outcome::default())
}

fn remove(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("name")?;
    take_out(&mut document.remote_schemas, |it| it.name == name, || missing(&name))?;
    Ok(Outcome { cascade: Some(false), message: None })
}

fn add_permission(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("remote_schema")?;
    let permission: RemoteSchemaPermission = args.only(&["role", "definition", "comment"])?;
    check_role(&permission.role)?;
    let permissions = &mut find(document, &name)?.permissions;
    if permissions.iter().any(|it| it.role == permission.role) {
        let role = &permission.role;
        let message =
            format!("permissions for role: \"{role}\" for remote schema: \"{name}\" already exists");
        return Err(already_exists(message));
    }
    permissions.push(permission);
    Ok(Outcome::default())
}

fn drop_permission(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("remote_schema")?;
    let role: String = args.need("role")?;
    let permissions = &mut find(document, &name)?.permissions;
    let missing = || {
        let message =
            format!("permissions for role: \"{role}\" for remote schema: \"{name}\" does not exist");
        not_there(message)
    };
    take_out(permissions, |it| it.role == role, missing)?;
    Ok(Outcome { cascade: Some(false), message: None })
}

/// Takes a relationship, which has exactly one target.
fn relationship(args: &mut Arguments) -> Result<RemoteRelationshipEntry, Refused> {
    let entry: RemoteRelationshipEntry = args.only(&["name", "definition"])?;
    let wrong =
        |message: &str| Refused { path: "args.definition".into(), ..Refused::new("parse-failed", message) };
    entry.definition.target().map_err(wrong)?;
    Ok(entry)
}

fn create(list: &mut Vec<RemoteRelationshipEntry>, entry: RemoteRelationshipEntry, on: &str) -> Done {
    if list.iter().any(|it| it.name == entry.name) {
        let name = &entry.name;
        return Err(already_exists(format!("field with name \"{name}\" already exists in {on}")));
    }
    list.push(entry);
    Ok(Outcome::default())
}

fn replace(list: &mut [RemoteRelationshipEntry], entry: RemoteRelationshipEntry) -> Done {
    let name = entry.name.clone();
    let found = list.iter_mut().find(|it| it.name == name).ok_or_else(|| missing_relationship(&name))?;
    *found = entry;
    Ok(Outcome::default())
}

fn delete(list: &mut Vec<RemoteRelationshipEntry>, name: &str) -> Done {
    take_out(list, |it| it.name == name, || missing_relationship(name))?;
    Ok(Outcome { cascade: Some(false), message: None })
}

fn missing_relationship(name: &str) -> Refused {
    not_there(format!("remote relationship with name \"{name}\" does not exist"))
}

fn create_of_table(document: &mut Metadata, args: &mut Arguments) -> Done {
    let known = table(document, args)?;
    let table_name = format!("table \"{}\"", super::lookup::display_name(&known.table));
    create(&mut known.remote_relationships, relationship(args)?, &table_name)
}

fn update_of_table(document: &mut Metadata, args: &mut Arguments) -> Done {
    let known = table(document, args)?;
    replace(&mut known.remote_relationships, relationship(args)?)
}

fn delete_of_table(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("name")?;
    delete(&mut table(document, args)?.remote_relationships, &name)
}

/// The relationships of the type that a command is about; `makes` an entry for them where there is none.
fn of_type<'d>(
    document: &'d mut Metadata,
    args: &mut Arguments,
    makes: bool,
) -> Result<&'d mut Vec<RemoteRelationshipEntry>, Refused> {
    let name: String = args.need("remote_schema")?;
    let type_name: String = args.need("type_name")?;
    let types = &mut find(document, &name)?.remote_relationships;
    let at = match types.iter().position(|it| it.type_name == type_name) {
        Some(at) => at,
        None if makes => {
            types.push(TypeRelationships { type_name, relationships: Vec::new() });
            types.len() - 1
        }
        None => return Err(not_there(format!("type \"{type_name}\" has no remote relationships"))),
    };
    Ok(&mut types[at].relationships)
}

fn create_of_type(document: &mut Metadata, args: &mut Arguments) -> Done {
    let list = of_type(document, args, true)?;
    create(list, relationship(args)?, "the type")
}

fn update_of_type(document: &mut Metadata, args: &mut Arguments) -> Done {
    let list = of_type(document, args, false)?;
    replace(list, relationship(args)?)
}

fn delete_of_type(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("name")?;
    let done = delete(of_type(document, args, false)?, &name)?;
    for schema in &mut document.remote_schemas {
        schema.remote_relationships.retain(|it| !it.relationships.is_empty());
    }
    Ok(done)
}

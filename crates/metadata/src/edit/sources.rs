//! Commands about sources, tables, relationships and functions.

use super::arguments::Arguments;
use super::lookup::{already_exists, display_name, not_there, source, table, take_out};
use super::{Command, Done, Outcome, Refused, permissions, rename};
use crate::document::Metadata;
use crate::document::function::{FunctionConfiguration, FunctionEntry};
use crate::document::permission::FunctionPermission;
use crate::document::source::{SourceEntry, SourceKind};
use crate::document::table::{ComputedFieldEntry, Configuration, RelationshipEntry, TableEntry, TableName};

/// The command called `verb`, without the prefix of a kind of database.
pub(super) fn command(verb: &str) -> Option<Command> {
    Some(match verb {
        "add_source" => add_source,
        "update_source" => update_source,
        "drop_source" => drop_source,
        "rename_source" => rename_source,
        "track_table" | "add_existing_table_or_view" => track_table,
        "track_tables" => |document, args| each(document, args, track_table),
        "untrack_table" => untrack_table,
        "untrack_tables" => |document, args| each(document, args, untrack_table),
        "set_table_customization" => set_table_customization,
        "set_table_custom_fields" => set_table_custom_fields,
        "set_table_is_enum" => set_table_is_enum,
        "set_apollo_federation_config" => set_apollo_federation_config,
        "create_object_relationship" => |document, args| create_relationship(document, args, Side::Object),
        "create_array_relationship" => |document, args| create_relationship(document, args, Side::Array),
        "drop_relationship" => drop_relationship,
        "rename_relationship" => rename_relationship,
        "set_relationship_comment" => set_relationship_comment,
        "add_computed_field" => add_computed_field,
        "drop_computed_field" => drop_computed_field,
        "track_function" => track_function,
        "untrack_function" => untrack_function,
        "set_function_customization" => set_function_customization,
        "create_function_permission" => create_function_permission,
        "drop_function_permission" => drop_function_permission,
        _ => return None,
    })
}

/// Runs `command` for each of `tables`.
fn each(document: &mut Metadata, args: &mut Arguments, command: Command) -> Done {
    let mut outcome = Outcome::default();
    for (at, mut own) in args.list("tables")?.into_iter().enumerate() {
        let done = command(document, &mut own);
        outcome = done.map_err(|it| {
            let path = it.path.strip_prefix("args").unwrap_or_default();
            Refused { path: format!("args.tables[{at}]{path}"), ..it }
        })?;
    }
    Ok(outcome)
}

fn add_source(document: &mut Metadata, args: &mut Arguments) -> Done {
    let replaces = args.flag("replace_configuration")?;
    let kind = SourceKind::from(args.kind.to_owned());
    let entry = SourceEntry {
        kind,
        configuration: Some(args.need("configuration")?),
        customization: args.read("customization")?.unwrap_or_default(),
        query_tags: args.read("query_tags")?,
        health_check: args.read("health_check")?,
        ..SourceEntry::new(args.need("name")?)
    };
    match document.sources.iter_mut().find(|it| it.name == entry.name) {
        None => document.sources.push(entry),
        Some(known) if replaces => {
            let SourceEntry { configuration, customization, query_tags, health_check, .. } = entry;
            *known = SourceEntry { configuration, customization, query_tags, health_check, ..known.clone() };
        }
        Some(known) => {
            return Err(already_exists(format!("source with name \"{}\" already exists", known.name)));
        }
    }
    Ok(Outcome::default())
}

fn update_source(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("name")?;
    let known = source(document, &name)?;
    if let Some(configuration) = args.read("configuration")? {
        known.configuration = Some(configuration);
    }
    if let Some(customization) = args.read("customization")? {
        known.customization = customization;
    }
    if let Some(check) = args.read("health_check")? {
        known.health_check = Some(check);
    }
    if let Some(tags) = args.read("query_tags")? {
        known.query_tags = Some(tags);
    }
    Ok(Outcome::default())
}

fn drop_source(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("name")?;
    let cascade: bool = args.flag("cascade")?;
    source(document, &name)?;
    document.sources.retain(|it| it.name != name);
    Ok(Outcome { cascade: Some(cascade), message: None })
}

fn rename_source(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("name")?;
    let new: String = args.need("new_name")?;
    if document.sources.iter().any(|it| it.name == new) {
        return Err(already_exists(format!("source with name \"{new}\" already exists")));
    }
    source(document, &name)?.name.clone_from(&new);
    let targets = document.remote_targets_mut().map(|it| &mut it.source);
    targets.filter(|it| **it == name).for_each(|it| it.clone_from(&new));
    let objects = document.custom_types.objects.iter_mut();
    let of_types = objects.flat_map(|it| &mut it.relationships).map(|it| &mut it.source);
    of_types.filter(|it| **it == name).for_each(|it| it.clone_from(&new));
    Ok(Outcome::default())
}

fn track_table(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.source()?;
    let table: TableName = args.take_table_name("table")?;
    let known = source(document, &name)?;
    if known.tables.iter().any(|it| display_name(&it.table) == display_name(&table)) {
        let message = format!("view/table already tracked: \"{}\"", display_name(&table));
        return Err(Refused::new("already-tracked", message));
    }
    let is_enum = args.flag("is_enum")?;
    let configuration = args.read("configuration")?.unwrap_or_default();
    let apollo_federation_config = args.read("apollo_federation_config")?;
    known.tables.push(TableEntry {
        is_enum,
        configuration,
        apollo_federation_config,
        ..TableEntry::new(table)
    });
    Ok(Outcome::default())
}

fn untrack_table(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.source()?;
    let table: TableName = args.take_table_name("table")?;
    let cascade = args.flag("cascade")?;
    let tables = &mut source(document, &name)?.tables;
    let missing = || {
        Refused::new(
            "already-untracked",
            format!("view/table already untracked: \"{}\"", display_name(&table)),
        )
    };
    take_out(tables, |it| display_name(&it.table) == display_name(&table), missing)?;
    Ok(Outcome { cascade: Some(cascade), message: None })
}

fn set_table_customization(document: &mut Metadata, args: &mut Arguments) -> Done {
    let configuration: Configuration = args.read("configuration")?.unwrap_or_default();
    table(document, args)?.configuration = configuration;
    Ok(Outcome::default())
}

/// The form of version 1: both keys stand beside the table.
fn set_table_custom_fields(document: &mut Metadata, args: &mut Arguments) -> Done {
    let custom_root_fields = args.read("custom_root_fields")?.unwrap_or_default();
    let custom_column_names = args.read("custom_column_names")?.unwrap_or_default();
    let known = &mut table(document, args)?.configuration;
    *known = Configuration { custom_root_fields, custom_column_names, ..known.clone() };
    Ok(Outcome::default())
}

fn set_table_is_enum(document: &mut Metadata, args: &mut Arguments) -> Done {
    let is_enum = args.need("is_enum")?;
    table(document, args)?.is_enum = is_enum;
    Ok(Outcome::default())
}

fn set_apollo_federation_config(document: &mut Metadata, args: &mut Arguments) -> Done {
    let apollo_federation_config = args.read("apollo_federation_config")?;
    table(document, args)?.apollo_federation_config = apollo_federation_config;
    Ok(Outcome::default())
}

/// Sides of relationships.
#[derive(Clone, Copy)]
enum Side {
    Object,
    Array,
}

/// Refuses a name that a member of the table has.
fn check_free(table: &TableEntry, name: &str) -> Result<(), Refused> {
    let mut relationships = table.object_relationships.iter().chain(&table.array_relationships);
    if relationships.any(|it| it.name == name) || table.computed_fields.iter().any(|it| it.name == name) {
        let message =
            format!("field with name \"{name}\" already exists in table \"{}\"", display_name(&table.table));
        return Err(already_exists(message));
    }
    Ok(())
}

fn create_relationship(document: &mut Metadata, args: &mut Arguments, side: Side) -> Done {
    let known = table(document, args)?;
    let entry: RelationshipEntry = args.only(&["name", "using", "comment"])?;
    check_free(known, &entry.name)?;
    match side {
        Side::Object => known.object_relationships.push(entry),
        Side::Array => known.array_relationships.push(entry),
    }
    Ok(Outcome::default())
}

/// The relationship `name` of a table.
fn relationship<'t>(table: &'t mut TableEntry, name: &str) -> Result<&'t mut RelationshipEntry, Refused> {
    let missing = not_there(format!("relationship \"{name}\" does not exist"));
    let mut all = table.object_relationships.iter_mut().chain(&mut table.array_relationships);
    all.find(|it| it.name == name).ok_or(missing)
}

fn drop_relationship(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("relationship")?;
    let cascade: bool = args.flag("cascade")?;
    let known = table(document, args)?;
    relationship(known, &name)?;
    known.object_relationships.retain(|it| it.name != name);
    known.array_relationships.retain(|it| it.name != name);
    Ok(Outcome { cascade: Some(cascade), message: None })
}

fn rename_relationship(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("name")?;
    let new: String = args.need("new_name")?;
    let of = args.source()?;
    let of_table: TableName = args.need("table")?;
    let of = source(document, &of)?;
    let at = of.tables.iter().position(|it| display_name(&it.table) == display_name(&of_table));
    let at = at.ok_or_else(|| not_there(format!("table \"{}\" does not exist", display_name(&of_table))))?;
    check_free(&of.tables[at], &new)?;
    relationship(&mut of.tables[at], &name)?;
    rename::relationship(&mut of.tables, args.keys, at, &name, &new);
    relationship(&mut of.tables[at], &name)?.name = new;
    Ok(Outcome::default())
}

fn set_relationship_comment(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("name")?;
    let comment = args.read("comment")?;
    relationship(table(document, args)?, &name)?.comment = comment;
    Ok(Outcome::default())
}

fn add_computed_field(document: &mut Metadata, args: &mut Arguments) -> Done {
    let known = table(document, args)?;
    let entry: ComputedFieldEntry = args.only(&["name", "definition", "comment"])?;
    check_free(known, &entry.name)?;
    known.computed_fields.push(entry);
    Ok(Outcome::default())
}

fn drop_computed_field(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.need("name")?;
    let cascade: bool = args.flag("cascade")?;
    let known = table(document, args)?;
    let missing = || not_there(format!("computed field \"{name}\" does not exist"));
    take_out(&mut known.computed_fields, |it| it.name == name, missing)?;
    Ok(Outcome { cascade: Some(cascade), message: None })
}

fn track_function(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name: String = args.source()?;
    let function: TableName = args.take_table_name("function")?;
    let configuration = args.read("configuration")?.unwrap_or_default();
    let comment = args.read("comment")?;
    let functions = &mut source(document, &name)?.functions;
    if functions.iter().any(|it| display_name(&it.function) == display_name(&function)) {
        let message = format!("function already tracked: \"{}\"", display_name(&function));
        return Err(Refused::new("already-tracked", message));
    }
    functions.push(FunctionEntry { function, configuration, permissions: Vec::new(), comment });
    Ok(Outcome::default())
}

/// The functions of the source that a command is about, and the name of the one that is meant.
fn functions<'d>(
    document: &'d mut Metadata,
    args: &mut Arguments,
) -> Result<(&'d mut Vec<FunctionEntry>, TableName), Refused> {
    let name: String = args.source()?;
    let function: TableName = args.take_table_name("function")?;
    Ok((&mut source(document, &name)?.functions, function))
}

fn untrack_function(document: &mut Metadata, args: &mut Arguments) -> Done {
    let cascade = args.flag("cascade")?;
    let (functions, name) = functions(document, args)?;
    let missing = || {
        Refused::new("already-untracked", format!("function already untracked: \"{}\"", display_name(&name)))
    };
    take_out(functions, |it| display_name(&it.function) == display_name(&name), missing)?;
    Ok(Outcome { cascade: Some(cascade), message: None })
}

/// The function that a command is about.
fn function<'d>(document: &'d mut Metadata, args: &mut Arguments) -> Result<&'d mut FunctionEntry, Refused> {
    let (functions, name) = functions(document, args)?;
    let found = functions.iter_mut().find(|it| display_name(&it.function) == display_name(&name));
    found.ok_or_else(|| not_there(format!("function \"{}\" does not exist", display_name(&name))))
}

fn set_function_customization(document: &mut Metadata, args: &mut Arguments) -> Done {
    let configuration: FunctionConfiguration = args.read("configuration")?.unwrap_or_default();
    function(document, args)?.configuration = configuration;
    Ok(Outcome::default())
}

fn create_function_permission(document: &mut Metadata, args: &mut Arguments) -> Done {
    let role: String = args.need("role")?;
    permissions::check_role(&role)?;
    let known = function(document, args)?;
    if known.permissions.iter().any(|it| it.role == role) {
        let name = display_name(&known.function);
        let message = format!("permission of role \"{role}\" already exists for function \"{name}\"");
        return Err(already_exists(message));
    }
    known.permissions.push(FunctionPermission { role });
    Ok(Outcome::default())
}

fn drop_function_permission(document: &mut Metadata, args: &mut Arguments) -> Done {
    let role: String = args.need("role")?;
    let known = function(document, args)?;
    let name = display_name(&known.function);
    let missing =
        || not_there(format!("permission of role \"{role}\" does not exist for function \"{name}\""));
    take_out(&mut known.permissions, |it| it.role == role, missing)?;
    Ok(Outcome { cascade: Some(false), message: None })
}

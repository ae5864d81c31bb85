//! Commands about native queries and logical models.

use super::arguments::Arguments;
use super::lookup::{not_there, source, take_out};
use super::{Command, Done, Outcome, Refused, permissions};
use crate::document::Metadata;
use crate::document::logical_model::LogicalModelEntry;
use crate::document::native_query::{NativeQueryEntry, Returns};
use crate::document::permission::{PermissionEntry, SelectPermission};

/// The command called `verb`, without the prefix of a kind of database.
pub(super) fn command(verb: &str) -> Option<Command> {
    Some(match verb {
        "track_native_query" => track_native_query,
        "untrack_native_query" => untrack_native_query,
        "track_logical_model" => track_logical_model,
        "untrack_logical_model" => untrack_logical_model,
        "create_logical_model_select_permission" => create_permission,
        "drop_logical_model_select_permission" => drop_permission,
        _ => return None,
    })
}

fn track_native_query(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name = args.source()?;
    let entry: NativeQueryEntry = args.rest()?;
    let known = source(document, &name)?;
    let root = &entry.root_field_name;
    if known.native_queries.iter().any(|it| it.root_field_name == *root) {
        return Err(Refused::new("already-tracked", format!("Native query '{root}' is already tracked.")));
    }
    entry.parts().map_err(|message| Refused::new("invalid-configuration", message))?;
    if let Returns::Model(model) = &entry.returns
        && known.logical_models.iter().all(|it| it.name != *model)
    {
        return Err(Refused::new("not-found", format!("Logical model '{model}' not found.")));
    }
    known.native_queries.push(entry);
    Ok(Outcome::default())
}

fn untrack_native_query(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name = args.source()?;
    let root: String = args.need("root_field_name")?;
    let missing = || Refused::new("not-found", format!("Native query '{root}' not found."));
    take_out(&mut source(document, &name)?.native_queries, |it| it.root_field_name == root, missing)?;
    Ok(Outcome { cascade: Some(false), message: None })
}

fn track_logical_model(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name = args.source()?;
    let entry: LogicalModelEntry = args.rest()?;
    let models = &mut source(document, &name)?.logical_models;
    if models.iter().any(|it| it.name == entry.name) {
        let message = format!("Logical model '{}' is already tracked.", entry.name);
        return Err(Refused::new("already-tracked", message));
    }
    models.push(entry);
    Ok(Outcome::default())
}

fn untrack_logical_model(document: &mut Metadata, args: &mut Arguments) -> Done {
    let name = args.source()?;
    let model: String = args.need("name")?;
    let known = source(document, &name)?;
    let uses = |it: &&NativeQueryEntry| matches!(&it.returns, Returns::Model(used) if *used == model);
    if let Some(native) = known.native_queries.iter().find(uses) {
        let message =
            format!("Custom type '{model}' still being used by native query '{}'.", native.root_field_name);
        return Err(Refused::new("constraint-violation", message));
    }
    let missing = || Refused::new("not-found", format!("Logical model '{model}' not found."));
    take_out(&mut known.logical_models, |it| it.name == model, missing)?;
    Ok(Outcome { cascade: Some(false), message: None })
}

/// The logical model that a command is about.
fn model<'d>(document: &'d mut Metadata, args: &mut Arguments) -> Result<&'d mut LogicalModelEntry, Refused> {
    let source_name = args.source()?;
    let name: String = args.need("name")?;
    let found = source(document, &source_name)?.logical_models.iter_mut().find(|it| it.name == name);
    found.ok_or_else(|| Refused::new("not-found", format!("Logical model '{name}' not found.")))
}

fn create_permission(document: &mut Metadata, args: &mut Arguments) -> Done {
    let known = model(document, args)?;
    let entry: PermissionEntry<SelectPermission> = args.only(&["role", "permission", "comment"])?;
    permissions::check_role(&entry.role)?;
    if known.select_permissions.iter().any(|it| it.role == entry.role) {
        let message = format!(
            "select permission already defined on logical model \"{}\" with role \"{}\"",
            known.name, entry.role
        );
        return Err(super::lookup::already_exists(message));
    }
    known.select_permissions.push(entry);
    Ok(Outcome::default())
}

fn drop_permission(document: &mut Metadata, args: &mut Arguments) -> Done {
    let role: String = args.need("role")?;
    let known = model(document, args)?;
    let message = format!("select permission on \"{}\" for role \"{role}\" does not exist", known.name);
    take_out(&mut known.select_permissions, |it| it.role == role, || not_there(message))?;
    Ok(Outcome { cascade: Some(false), message: None })
}

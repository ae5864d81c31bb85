//! Errors of one action, in Hasura's words.

use super::type_table::{NamedType, TypeTable};
use super::{OtherNames, root_name};
use std::collections::HashSet;
use weir_metadata::Step;
use weir_metadata::document::action::{ActionEntry, ActionOperation};
use weir_metadata::document::custom_types::ObjectType;

/// Something that does not fit: steps from the action to it, and the reason.
pub(super) type ActionFault = (Vec<Step>, String);

/// Checks the types of `action`, and that its names are no other source's.
/// # Errors
/// The first thing that does not fit.
pub(super) fn check(
    action: &ActionEntry,
    types: &TypeTable,
    others: &OtherNames,
    has_log: bool,
) -> Result<(), ActionFault> {
    let of_all = |reason: String| (Vec::new(), reason);
    if action.definition.is_asynchronous() && !has_log {
        return Err(of_all("there is no database for the calls of asynchronous actions: name one by `state` in weir.yaml, and leave `events` on".to_owned()));
    }
    check_arguments(action, types)?;
    let output = &action.definition.output_type.name;
    match types.find(output) {
        Some(NamedType::Object(object)) => check_relationships(action, object, types).map_err(of_all)?,
        Some(it) if it.is_scalar() => {}
        Some(_) | None => {
            let reason =
                format!("the type: \"{output}\" is not an object or scalar type defined in custom types");
            return Err((vec!["definition".into(), "output_type".into()], reason));
        }
    }
    check_root_fields(action, others).map_err(of_all)?;
    check_type_names(action, types, others).map_err(of_all)
}

fn check_arguments(action: &ActionEntry, types: &TypeTable) -> Result<(), ActionFault> {
    let mut seen = HashSet::new();
    for (at, argument) in action.definition.arguments.iter().enumerate() {
        let wrong = |member: &str, reason: String| {
            Err((vec!["definition".into(), "arguments".into(), at.into(), member.into()], reason))
        };
        let name = &argument.name;
        if !weir_metadata::names::is_name(name) {
            return wrong("name", format!("\"{name}\" is not a valid GraphQL identifier"));
        }
        if !seen.insert(name) {
            return wrong("name", format!("the argument \"{name}\" is defined more than once"));
        }
        match types.find(&argument.ty.name) {
            Some(NamedType::Object(_)) | None => {
                let ty = &argument.ty.name;
                let reason = format!(
                    "the type: \"{ty}\" is not defined in custom types or it is not a scalar/enum/input_object"
                );
                return wrong("type", reason);
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn quote_all<'n>(names: impl Iterator<Item = &'n str>) -> Option<String> {
    let quoted: Vec<String> = names.map(|it| format!("\"{it}\"")).collect();
    (!quoted.is_empty()).then(|| quoted.join(", "))
}

/// Relationships stand on scalars and enums; those of asynchronous actions exclude objects within the answer.
fn check_relationships(action: &ActionEntry, object: &ObjectType, types: &TypeTable) -> Result<(), String> {
    let is_object = |name: &str| {
        let field = object.fields.iter().find(|it| it.name == name);
        field.is_some_and(|it| matches!(types.find(&it.ty.name), Some(NamedType::Object(_))))
    };
    let nested =
        object.relationships.iter().filter(|it| it.field_mapping.0.iter().any(|it| is_object(&it.0)));
    if let Some(names) = quote_all(nested.map(|it| it.name.as_str())) {
        return Err(format!("Relationships cannot be defined with nested object fields: {names}"));
    }
    if action.definition.is_asynchronous() && !object.relationships.is_empty() {
        let objects = object.fields.iter().map(|it| it.name.as_str()).filter(|it| is_object(it));
        if let Some(names) = quote_all(objects) {
            return Err(format!("Async action relations cannot be used with object fields: {names}"));
        }
    }
    Ok(())
}

fn check_root_fields(action: &ActionEntry, others: &OtherNames) -> Result<(), String> {
    let name = &action.name;
    let conflict = |operation| {
        format!(
            "Encountered conflicting definitions in the selection set for '{}' for fields: ['{name}']. Fields must not be \
             defined more than once across all sources.",
            root_name(operation)
        )
    };
    let (in_query, in_mutation) = match action.definition.operation {
        ActionOperation::Query => (true, false),
        ActionOperation::Mutation => (action.definition.is_asynchronous(), true),
    };
    if in_mutation && others.mutation_fields.contains(name) {
        return Err(conflict(ActionOperation::Mutation));
    }
    if in_query && others.query_fields.contains(name) {
        return Err(conflict(ActionOperation::Query));
    }
    Ok(())
}

/// No type that the action reaches may have the name of another source's type.
fn check_type_names(action: &ActionEntry, types: &TypeTable, others: &OtherNames) -> Result<(), String> {
    let definition = &action.definition;
    let mut open: Vec<&str> = definition.arguments.iter().map(|it| it.ty.name.as_str()).collect();
    open.push(&definition.output_type.name);
    let mut seen = HashSet::new();
    let is_taken = |it: &str| others.types.contains(it);
    if definition.is_asynchronous() && is_taken(&action.name) {
        return Err(type_conflict(&action.name));
    }
    while let Some(name) = open.pop() {
        if !seen.insert(name) {
            continue;
        }
        match types.find(name) {
            Some(NamedType::BuiltIn | NamedType::OfDatabase(_)) | None => continue,
            Some(NamedType::Object(it)) => open.extend(it.fields.iter().map(|it| it.ty.name.as_str())),
            Some(NamedType::Input(it)) => open.extend(it.fields.iter().map(|it| it.ty.name.as_str())),
            Some(NamedType::Scalar(_) | NamedType::Enum(_)) => {}
        }
        if is_taken(name) {
            return Err(type_conflict(name));
        }
        if definition.is_asynchronous() && name == action.name {
            return Err(type_conflict(name));
        }
    }
    Ok(())
}

fn type_conflict(name: &str) -> String {
    format!(
        "Found conflicting definitions for GraphQL type \"{name}\": another source has a type of this name"
    )
}

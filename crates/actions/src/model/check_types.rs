//! Errors of custom types, in Hasura's words. One error keeps all custom types out.

use super::type_table::{NamedType, TypeTable, is_built_in};
use std::collections::HashSet;
use weir_metadata::Step;
use weir_metadata::document::custom_types::{CustomTypes, EnumType, InputObjectType, ObjectType};
use weir_metadata::document::type_text::TypeText;
use weir_metadata::names::is_name;

/// All errors of `types`, and the path of the type that the first one is about, from the document.
pub(super) fn find_errors(types: &CustomTypes, table: &TypeTable) -> (Vec<Step>, Vec<String>) {
    let mut errors = Vec::new();
    check_names(types, &mut errors);
    let mut path = vec!["custom_types".into()];
    let mut begin = |list: &str, at: usize, errors: &[String]| {
        // Errors of names are about several types.
        if errors.is_empty() {
            path = vec!["custom_types".into(), list.into(), at.into()];
        }
    };
    for (at, input) in types.input_objects.iter().enumerate() {
        begin("input_objects", at, &errors);
        check_input(input, table, &mut errors);
    }
    for (at, object) in types.objects.iter().enumerate() {
        begin("objects", at, &errors);
        check_object(object, table, &mut errors);
    }
    for (at, of) in types.enums.iter().enumerate() {
        begin("enums", at, &errors);
        check_enum(of, &mut errors);
    }
    (path, errors)
}

/// The reason why types with `errors` are not served.
pub(super) fn reason(errors: &[String]) -> String {
    let start = "validation for the given custom types failed";
    match errors {
        [only] => format!("{start} because {only}"),
        several => {
            let lines: String = several.iter().map(|it| format!(" \u{2022} {it}\n")).collect();
            format!("{start} for the following reasons:\n{lines}")
        }
    }
}

/// `"a", "b"` of the names that stand more than once.
fn duplicates<'n>(names: impl Iterator<Item = &'n str>) -> Option<String> {
    let mut seen = HashSet::new();
    let mut twice: Vec<&str> = names.filter(|it| !seen.insert(*it)).collect();
    twice.sort_unstable();
    twice.dedup();
    let quoted: Vec<String> = twice.iter().map(|it| format!("\"{it}\"")).collect();
    (!quoted.is_empty()).then(|| quoted.join(", "))
}

fn check_names(types: &CustomTypes, errors: &mut Vec<String>) {
    let inputs = types.input_objects.iter().map(|it| it.name.as_str());
    let all = inputs
        .chain(types.objects.iter().map(|it| it.name.as_str()))
        .chain(types.scalars.iter().map(|it| it.name.as_str()))
        .chain(types.enums.iter().map(|it| it.name.as_str()));
    let names: Vec<&str> = all.collect();
    let built_in: Vec<&str> = names.iter().copied().filter(|it| is_built_in(it)).collect();
    if let Some(twice) = duplicates(names.iter().copied().chain(built_in)) {
        errors.push(format!("duplicate type names: {twice}"));
    }
    check_identifiers(names.into_iter(), errors);
}

fn check_identifiers<'n>(names: impl Iterator<Item = &'n str>, errors: &mut Vec<String>) {
    errors.extend(
        names.filter(|it| !is_name(it)).map(|it| format!("\"{it}\" is not a valid GraphQL identifier")),
    );
}

fn check_input(input: &InputObjectType, table: &TypeTable, errors: &mut Vec<String>) {
    let name = &input.name;
    let fields = || input.fields.iter().map(|it| it.name.as_str());
    check_identifiers(fields(), errors);
    if let Some(twice) = duplicates(fields()) {
        errors.push(format!(
            "the following field names are duplicated in input object type \"{name}\": {twice}"
        ));
    }
    if input.fields.is_empty() {
        errors.push(format!("the input object type \"{name}\" has no fields"));
    }
    for field in &input.fields {
        match table.find(&field.ty.name) {
            Some(NamedType::Object(_)) | None => {
                errors.push(missing_type(&field.ty, &field.name, &format!("input object type \"{name}\"")));
            }
            Some(_) => {}
        }
    }
}

fn missing_type(ty: &TypeText, field: &str, of: &str) -> String {
    format!("the type \"{}\" for field \"{field}\" in {of} does not exist", ty.name)
}

fn check_object(object: &ObjectType, table: &TypeTable, errors: &mut Vec<String>) {
    let name = &object.name;
    let fields = object.fields.iter().map(|it| it.name.as_str());
    let names = || fields.clone().chain(object.relationships.iter().map(|it| it.name.as_str()));
    check_identifiers(names(), errors);
    if let Some(twice) = duplicates(names()) {
        errors.push(format!("the following field names are duplicated in object type \"{name}\": {twice}"));
    }
    if object.fields.is_empty() {
        errors.push(format!("the object type \"{name}\" has no fields"));
    }
    for field in &object.fields {
        if field.arguments.is_some() {
            let own = &field.name;
            errors.push(format!(
                "the field \"{own}\" in object type \"{name}\" has arguments, which are not supported"
            ));
        }
        match table.find(&field.ty.name) {
            Some(NamedType::Input(_)) | None => {
                errors.push(missing_type(&field.ty, &field.name, &format!("object type \"{name}\"")));
            }
            Some(_) => {}
        }
    }
    check_relationships(object, errors);
}

fn check_relationships(object: &ObjectType, errors: &mut Vec<String>) {
    let name = &object.name;
    for relationship in &object.relationships {
        let own = &relationship.name;
        for (mapped, column) in &relationship.field_mapping.0 {
            let of = format!("for relationship \"{own}\" in object type \"{name}\"");
            match object.fields.iter().find(|it| *it.name == **mapped) {
                None => errors.push(format!("the field \"{mapped}\" {of} does not exist")),
                Some(field) if field.ty.wraps.is_list() => {
                    errors.push(format!("the type of the field \"{mapped}\" {of} is a list"));
                }
                Some(_) if column.text().is_none() => {
                    errors.push(format!("the column of the field \"{mapped}\" {of} is no text"));
                }
                Some(_) => {}
            }
        }
        if relationship.field_mapping.is_empty() {
            errors.push(format!("the relationship \"{own}\" in object type \"{name}\" maps no fields"));
        }
    }
    let mut sources: Vec<&str> = object.relationships.iter().map(|it| it.source.as_str()).collect();
    sources.sort_unstable();
    sources.dedup();
    if sources.len() > 1 {
        errors.push(format!("the object \"{name}\" has relationships refers to multiple sources"));
    }
}

fn check_enum(of: &EnumType, errors: &mut Vec<String>) {
    let name = &of.name;
    let values = || of.values.iter().map(|it| it.value.as_str());
    if let Some(twice) = duplicates(values()) {
        errors.push(format!("the enum type \"{name}\" has duplicate values: {twice}"));
    }
    if of.values.is_empty() {
        errors.push(format!("the enum type \"{name}\" has no values"));
    }
    let is_value = |it: &str| is_name(it) && !["true", "false", "null"].contains(&it);
    errors.extend(
        values().filter(|it| !is_value(it)).map(|it| format!("\"{it}\" is not a valid GraphQL enum value")),
    );
}

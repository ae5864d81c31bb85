//! Compares objects and interfaces with the interfaces they implement.
//!
//! Source: GraphQL specification, sections 3.6 and 3.7, IsValidImplementation.

use super::{Check, is_required};
use crate::ids::{FieldId, TypeId};
use crate::type_system::{Schema, TypeKind, TypeRef};

pub(super) fn check(check: &mut Check<'_>, id: TypeId) {
    let schema = check.schema;
    let ty = schema.ty(id);
    if ty.interfaces.len == 0 {
        return;
    }
    check.new_set();
    let mut sound = Vec::new();
    for at in ty.interfaces.range() {
        let interface = schema.type_lists[at];
        let name = schema.str(ty.name);
        let interface_name = schema.type_name(interface);
        let message = if schema.ty(interface).kind != TypeKind::Interface {
            format!("Type {name} must only implement Interface types, it cannot implement {interface_name}.")
        } else if interface == id {
            format!("Type {name} cannot implement itself because it would create a circular reference.")
        } else if !check.put(interface) {
            format!("Type {name} can only implement {interface_name} once.")
        } else {
            sound.push((interface, at));
            continue;
        };
        let spans = check.places.of_list(at);
        check.report(spans, message);
    }
    for &(interface, at) in &sound {
        ancestors(check, id, interface, at);
    }
    for &(interface, _) in &sound {
        for at in schema.ty(interface).fields.range() {
            field(check, id, FieldId(at as u32));
        }
    }
}

/// Checks that a type implements all interfaces of its interfaces. The set holds the interfaces of `id`.
fn ancestors(check: &mut Check<'_>, id: TypeId, interface: TypeId, at: usize) {
    let schema = check.schema;
    let name = schema.type_name(id);
    let interface_name = schema.type_name(interface);
    for &ancestor in &schema.type_lists[schema.ty(interface).interfaces.range()] {
        let message = if ancestor == id {
            format!(
                "Type {name} cannot implement {interface_name} because it would create a circular reference."
            )
        } else if !check.is_marked(ancestor) && schema.ty(ancestor).kind == TypeKind::Interface {
            let ancestor = schema.type_name(ancestor);
            format!("Type {name} must implement {ancestor} because it is implemented by {interface_name}.")
        } else {
            continue;
        };
        let spans = check.places.of_list(at);
        check.report(spans, message);
    }
}

/// Compares the field `wanted` of an interface with what `id` has.
fn field(check: &mut Check<'_>, id: TypeId, wanted: FieldId) {
    let schema = check.schema;
    let wanted_field = schema.field(wanted);
    let name = schema.str(wanted_field.name);
    let ty = schema.type_name(id);
    let interface = schema.type_name(wanted_field.parent);
    let Some(found) = schema.field_by_name(id, name) else {
        let mut spans = check.places.of_type(id);
        spans.extend(check.places.of_field(wanted));
        let message = format!("Interface field {interface}.{name} expected but {ty} does not provide it.");
        check.report(spans, message);
        return;
    };
    let found_field = schema.field(found);
    let spans = |check: &Check<'_>| {
        let mut spans = check.places.of_field(found);
        spans.extend(check.places.of_field(wanted));
        spans
    };
    if !is_subtype(schema, found_field.ty, wanted_field.ty) {
        let wanted = schema.type_text(wanted_field.ty);
        let found = schema.type_text(found_field.ty);
        let places = spans(check);
        check.report(
            places,
            format!(
                "Interface field {interface}.{name} expects type {wanted} but {ty}.{name} is type {found}."
            ),
        );
    }
    arguments(check, wanted, found);
    if found_field.deprecated.is_some() && wanted_field.deprecated.is_none() {
        let places = spans(check);
        let message = format!(
            "Interface field {interface}.{name} is not deprecated, so implementation field {ty}.{name} must not be \
             deprecated."
        );
        check.report(places, message);
    }
}

fn arguments(check: &mut Check<'_>, wanted: FieldId, found: FieldId) {
    let schema = check.schema;
    let wanted_field = schema.field(wanted);
    let found_field = schema.field(found);
    let name = schema.str(wanted_field.name);
    let ty = schema.type_name(found_field.parent);
    let interface = schema.type_name(wanted_field.parent);
    for id in schema.arguments(wanted) {
        let argument = schema.input_name(id);
        let Some(own) = schema.input_by_name(found_field.arguments, argument) else {
            let mut spans = check.places.of_field(found);
            spans.extend(check.places.of_input(id));
            check.report(
                spans,
                format!(
                    "Interface field argument {interface}.{name}({argument}:) expected but {ty}.{name} does not \
                     provide it."
                ),
            );
            continue;
        };
        let wanted_ty = schema.input(id).ty;
        let own_ty = schema.input(own).ty;
        if wanted_ty != own_ty {
            let mut spans = check.places.of_input(own);
            spans.extend(check.places.of_input(id));
            let wanted_ty = schema.type_text(wanted_ty);
            let own_ty = schema.type_text(own_ty);
            check.report(
                spans,
                format!(
                    "Interface field argument {interface}.{name}({argument}:) expects type {wanted_ty} but \
                     {ty}.{name}({argument}:) is type {own_ty}."
                ),
            );
        }
    }
    for id in schema.arguments(found) {
        let argument = schema.input_name(id);
        if is_required(schema.input(id)) && schema.input_by_name(wanted_field.arguments, argument).is_none() {
            let mut spans = check.places.of_input(id);
            spans.extend(check.places.of_field(wanted));
            check.report(
                spans,
                format!(
                    "Object field {ty}.{name} includes required argument {argument} that is missing from the \
                     Interface field {interface}.{name}."
                ),
            );
        }
    }
}

/// True if a field of type `found` satisfies a field of type `wanted`.
fn is_subtype(schema: &Schema, mut found: TypeRef, mut wanted: TypeRef) -> bool {
    loop {
        if wanted.is_non_null() && !found.is_non_null() {
            return false;
        }
        match (found.item(), wanted.item()) {
            (Some(found_item), Some(wanted_item)) => (found, wanted) = (found_item, wanted_item),
            (None, None) => break,
            (Some(_), None) | (None, Some(_)) => return false,
        }
    }
    if found.base == wanted.base {
        return true;
    }
    match schema.ty(wanted.base).kind {
        TypeKind::Union => schema.possible_types(wanted.base).contains(&found.base),
        TypeKind::Interface => {
            schema.type_lists[schema.ty(found.base).interfaces.range()].contains(&wanted.base)
        }
        TypeKind::Scalar(_) | TypeKind::Object | TypeKind::Enum | TypeKind::Input { .. } => false,
    }
}

//! The walk over one literal: holds it against its type, resolves object fields, notes variables.
//!
//! **Invariant:** every value below is visited, also where its type is not known, so that no use of a variable is missed.
//!
//! **Cost:** one visit per value on a stack in the heap, none allocated for scalars.

use super::rules;
use crate::ids::{InputId, TypeId};
use crate::syntax::ast::{self, Argument, List, ObjectField, ValueId, ValueKind};
use crate::type_system::{ScalarReader, TypeKind, TypeRef};
use crate::validate::rule_context::{Context, Expected, Use};

/// Checks `value` in a place that takes `ty` (`None`: not known) and may have a default of its own.
pub(super) fn check(cx: &mut Context<'_>, value: ValueId, ty: Option<TypeRef>, has_default: bool) {
    let first = Expected { value, ty, has_default, one_of: None };
    if let ValueKind::List(_) | ValueKind::Object(_) = cx.document.value(value).kind {
        let mut stack = std::mem::take(&mut cx.values);
        stack.clear();
        stack.push(first);
        while let Some(next) = stack.pop() {
            one(cx, next, &mut stack);
            if cx.is_full() {
                break;
            }
        }
        cx.values = stack;
    } else {
        one(cx, first, &mut Vec::new());
    }
}

/// The values of arguments whose owner or name is not known.
pub(super) fn unknown_arguments(cx: &mut Context<'_>, list: List<Argument>) {
    for argument in cx.document.list(list) {
        check(cx, argument.value, None, false);
    }
}

/// Checks one value and puts those directly below it on `stack`.
fn one(cx: &mut Context<'_>, place: Expected, stack: &mut Vec<Expected>) {
    let value = *cx.document.value(place.value);
    match value.kind {
        ValueKind::Variable(name) => {
            let name = cx.variables.number(cx.document.str(name));
            cx.tables.values[place.value.0 as usize] = name;
            let Expected { value, ty: expected, has_default, one_of } = place;
            cx.uses.push(Use { value, name, expected, has_default, one_of });
        }
        ValueKind::List(items) => list(cx, place, items, stack),
        ValueKind::Object(fields) => object(cx, place, fields, stack),
        ValueKind::Null => {
            if place.ty.is_some_and(TypeRef::is_non_null) && cx.checks_values() {
                rules::value_rules::values_of_correct_type::null(cx, place.value, place.ty);
            }
        }
        ValueKind::Int
        | ValueKind::Float
        | ValueKind::String { .. }
        | ValueKind::Block
        | ValueKind::Boolean(_)
        | ValueKind::Enum => {
            if let Some(ty) = place.ty {
                leaf(cx, place.value, ty);
            }
        }
    }
}

/// A single value where `ty`, a type or lists of it, is expected: it stands for a list of one.
fn leaf(cx: &mut Context<'_>, value: ValueId, ty: TypeRef) {
    if !cx.checks_values() {
        return;
    }
    match cx.schema.ty(ty.base).kind {
        TypeKind::Scalar(reader) => rules::value_rules::values_of_correct_type::scalar(cx, value, ty, reader),
        TypeKind::Enum => rules::value_rules::values_of_correct_type::enumeration(cx, value, ty),
        TypeKind::Input { .. } => rules::value_rules::values_of_correct_type::not_an_object(cx, value, ty),
        TypeKind::Object | TypeKind::Interface | TypeKind::Union => {}
    }
}

/// A list or an object where `ty` is expected, whose base is neither.
fn container(cx: &mut Context<'_>, value: ValueId, ty: TypeRef) {
    leaf(cx, value, ty);
    let is_json = cx.schema.ty(ty.base).kind == TypeKind::Scalar(ScalarReader::Json);
    if is_json && !cx.document.variables.is_empty() {
        cx.tables.json.push((value, ty.base));
    }
}

fn list(cx: &mut Context<'_>, place: Expected, items: List<ast::Value>, stack: &mut Vec<Expected>) {
    let item = place.ty.and_then(TypeRef::item);
    if let (Some(ty), None) = (place.ty, item) {
        container(cx, place.value, ty);
    }
    let below =
        |value: usize| Expected { value: ValueId(value as u32), ty: item, has_default: false, one_of: None };
    stack.extend(items.range().rev().map(below));
}

fn object(cx: &mut Context<'_>, place: Expected, fields: List<ObjectField>, stack: &mut Vec<Expected>) {
    let base = place.ty.map(|ty| ty.base);
    let input = base.filter(|&base| matches!(cx.schema.ty(base).kind, TypeKind::Input { .. }));
    if let (None, Some(ty)) = (input, place.ty) {
        container(cx, place.value, ty);
    }
    rules::value_rules::input_object_field_uniqueness::object(cx, fields);
    let one_of = input.filter(|&base| cx.schema.ty(base).kind == TypeKind::Input { one_of: true });
    let before = stack.len();
    let mut hint = 0;
    for (at, field) in fields.range().zip(cx.document.list(fields)) {
        let id = input.and_then(|base| find_input(cx, base, cx.document.str(field.name), &mut hint));
        let mut below = Expected { value: field.value, ty: None, has_default: false, one_of };
        match (id, input) {
            (Some(id), _) => {
                cx.tables.object_fields[at] = id.0;
                let definition = cx.schema.input(id);
                below.ty = Some(definition.ty);
                below.has_default = definition.default.is_some();
            }
            (None, Some(base)) if cx.checks_values() => {
                rules::value_rules::input_object_field_names::report_unknown(cx, field, base, place.value);
                if cx.is_full() {
                    return;
                }
            }
            (None, Some(_) | None) => {}
        }
        stack.push(below);
    }
    stack[before..].reverse();
    if !cx.checks_values() {
        return;
    }
    if let Some(base) = input {
        rules::value_rules::input_object_required_fields::object(cx, place.value, fields, base);
    }
    if let Some(base) = one_of {
        rules::value_rules::one_of_input_objects::object(cx, place.value, fields, base);
    }
}

/// The field `name` of input object `base`. Clients mostly write fields in the order of the schema, so the one after
/// the one found last (`hint`) is tried first, if the caller sees it.
fn find_input(cx: &Context<'_>, base: TypeId, name: &str, hint: &mut u32) -> Option<InputId> {
    let run = cx.schema.ty(base).members;
    let next = InputId(run.start + *hint);
    let is_next = *hint < run.len && cx.schema.input_name(next) == name && cx.schema.has_input(next);
    let id = if is_next { next } else { cx.schema.input_by_name(run, name)? };
    *hint = id.0 - run.start + 1;
    Some(id)
}

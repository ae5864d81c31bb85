//! Derived data of a finished schema: possible types and indexes over names.
//!
//! **Cost:** linear in the schema; one hash per field, and per input and enum value of long lists. Short lists of
//! inputs and enum values are searched in turn, which is faster than hashing and needs no memory.

use super::complaints::Complaints;
use super::sdl_places::Places;
use crate::error::{Code, Error};
use crate::ids::{EnumValueId, FieldId, InputId, TypeId};
use crate::span::Span;
use crate::type_system::{Run, SCANNED_MAX, Schema, Str, TypeKind, hash_name};

/// Fills [`crate::type_system::Type::possible`] of interfaces and objects; unions have theirs from their definition.
pub(super) fn possible_types(schema: &mut Schema) {
    let mut counts = vec![0_u32; schema.types.len()];
    let each = |schema: &Schema, visit: &mut dyn FnMut(TypeId, TypeId)| {
        for (at, ty) in schema.types.iter().enumerate() {
            if ty.kind == TypeKind::Object {
                let object = TypeId(at as u32);
                visit(object, object);
                for &interface in &schema.type_lists[ty.interfaces.range()] {
                    if schema.ty(interface).kind == TypeKind::Interface {
                        visit(interface, object);
                    }
                }
            }
        }
    };
    each(schema, &mut |place, _| counts[place.index()] += 1);
    let mut next = schema.type_lists.len() as u32;
    for (at, &count) in counts.iter().enumerate() {
        if schema.types[at].kind != TypeKind::Union {
            schema.types[at].possible = Run { start: next, len: 0 };
            next += count;
        }
    }
    let mut lists = std::mem::take(&mut schema.type_lists);
    lists.resize(next as usize, TypeId(0));
    let mut filled = vec![0_u32; schema.types.len()];
    // The lists of interfaces are needed while the table is being filled.
    schema.type_lists = lists.clone();
    each(schema, &mut |place, object| {
        let run = schema.ty(place).possible;
        lists[(run.start + filled[place.index()]) as usize] = object;
        filled[place.index()] += 1;
    });
    schema.type_lists = lists;
    for (ty, filled) in schema.types.iter_mut().zip(filled) {
        if ty.kind != TypeKind::Union {
            ty.possible.len = filled;
        }
    }
}

/// Fills [`Schema::demanding`].
pub(super) fn index_demanding_types(schema: &mut Schema) {
    let demands = |ty: &crate::type_system::Type| match ty.kind {
        TypeKind::Input { .. } => schema
            .inputs
            .range(ty.members.range())
            .any(|input| input.default.is_some() || input.ty.is_non_null()),
        TypeKind::Scalar(_) | TypeKind::Object | TypeKind::Interface | TypeKind::Union | TypeKind::Enum => {
            false
        }
    };
    schema.demanding = schema.types.iter().map(demands).collect();
}

/// Makes the indexes over names and reports names that are there twice.
pub(super) fn names(schema: &mut Schema, places: &Places, errors: &mut Complaints) {
    fields(schema, places, errors);
    reserve(schema);
    for at in 0..schema.types.len() {
        let ty = schema.types[at];
        match ty.kind {
            TypeKind::Enum => enum_values(schema, TypeId(at as u32), places, errors),
            TypeKind::Input { .. } => inputs(schema, ty.members, &mut |schema, first, second| {
                let ty = schema.str(ty.name);
                let input = schema.input_name(second);
                errors.push(twice(
                    format!("Field \"{ty}.{input}\" can only be defined once."),
                    places.of_input(first),
                    places.of_input(second),
                ));
            }),
            TypeKind::Scalar(_) | TypeKind::Object | TypeKind::Interface | TypeKind::Union => {}
        }
    }
    for at in 0..schema.fields.len() {
        let field = schema.fields[at];
        inputs(schema, field.arguments, &mut |schema, first, second| {
            let ty = schema.type_name(field.parent);
            let name = schema.str(field.name);
            let message =
                format!("Argument \"{ty}.{name}({}:)\" can only be defined once.", schema.input_name(second));
            errors.push(twice(message, places.of_input(first), places.of_input(second)));
        });
    }
    for at in 0..schema.directives.len() {
        let directive = schema.directives[at];
        inputs(schema, directive.arguments, &mut |schema, first, second| {
            let name = schema.str(directive.name);
            let message =
                format!("Argument \"@{name}({}:)\" can only be defined once.", schema.input_name(second));
            errors.push(twice(message, places.of_input(first), places.of_input(second)));
        });
    }
}

/// Makes room in the indexes at once, as growing would hash every name anew.
fn reserve(schema: &mut Schema) {
    let mut inputs = 0;
    let mut enum_values = 0;
    let count = |run: Run, count: &mut usize| {
        if run.len > SCANNED_MAX {
            *count += run.len as usize;
        }
    };
    for ty in &schema.types {
        match ty.kind {
            TypeKind::Enum => count(ty.members, &mut enum_values),
            TypeKind::Input { .. } => count(ty.members, &mut inputs),
            TypeKind::Scalar(_) | TypeKind::Object | TypeKind::Interface | TypeKind::Union => {}
        }
    }
    for field in &schema.fields {
        count(field.arguments, &mut inputs);
    }
    schema.input_names.reserve(inputs, |it| it.0.into());
    schema.enum_value_names.reserve(enum_values, |it| it.0.into());
}

fn twice(message: String, first: Vec<Span>, mut second: Vec<Span>) -> Error {
    second.extend(first);
    Error { message, spans: second, code: Code::Schema }
}

fn fields(schema: &mut Schema, places: &Places, errors: &mut Complaints) {
    let Schema { types, fields, text, field_names, .. } = schema;
    field_names.reserve(fields.len(), |_| 0);
    for ty in types.iter() {
        for at in ty.fields.range() {
            let id = FieldId(at as u32);
            let field = &fields[at];
            let name = field.name.of(text);
            let hash = hash_name(field.parent.0, name);
            let same = |&other: &FieldId| {
                let other = &fields[other.index()];
                other.parent == field.parent && other.name.is(text, name)
            };
            if let Some(&first) = field_names.find(hash, same) {
                let message = format!("Field \"{}.{name}\" can only be defined once.", ty.name.of(text));
                errors.push(twice(message, places.of_field(first), places.of_field(id)));
                continue;
            }
            field_names.insert_unique(hash, id, |&id| {
                let field = &fields[id.index()];
                hash_name(field.parent.0, field.name.of(text))
            });
        }
    }
}

fn inputs(schema: &mut Schema, run: Run, on_twice: &mut dyn FnMut(&Schema, InputId, InputId)) {
    if run.len < 2 {
        return;
    }
    if run.len <= SCANNED_MAX {
        return few_inputs(schema, run, on_twice);
    }
    for at in run.range() {
        let id = InputId(at as u32);
        let name = schema.input_name(id);
        let hash = hash_name(run.start, name);
        let first = schema.input_names.find(hash, |it| it.0 == run.start && schema.input_name(it.1) == name);
        if let Some(&(_, first)) = first {
            on_twice(schema, first, id);
            continue;
        }
        let Schema { inputs, text, input_names, .. } = schema;
        input_names.insert_unique(hash, (run.start, id), |it| {
            hash_name(it.0, inputs.get(it.1.index()).name.of(text))
        });
    }
}

/// Compares the names of a short list with each other.
fn few_inputs(schema: &Schema, run: Run, on_twice: &mut dyn FnMut(&Schema, InputId, InputId)) {
    let mut names = [Str::default(); SCANNED_MAX as usize];
    for (at, input) in schema.inputs.range(run.range()).enumerate() {
        let is_same = |other: &Str| are_equal(schema, *other, input.name);
        if let Some(first) = names[..at].iter().position(is_same) {
            on_twice(schema, InputId(run.start + first as u32), InputId(run.start + at as u32));
        }
        names[at] = input.name;
    }
}

/// True if two names are equal. Those of one list are often of one length and differ at their ends.
fn are_equal(schema: &Schema, one: Str, other: Str) -> bool {
    let last = |it: Str| schema.texts().get((it.start + it.len) as usize - usize::from(it.len > 0));
    one.len == other.len
        && (one.start == other.start || last(one) == last(other) && schema.str(one) == schema.str(other))
}

fn enum_values(schema: &mut Schema, ty: TypeId, places: &Places, errors: &mut Complaints) {
    let run = schema.ty(ty).members;
    for at in run.range() {
        let id = EnumValueId(at as u32);
        let name = schema.str(schema.enum_values[at].name);
        let first = if run.len <= SCANNED_MAX {
            (run.start..id.0).map(EnumValueId).find(|&it| schema.str(schema.enum_value(it).name) == name)
        } else {
            schema.enum_value_by_name(ty, name)
        };
        if let Some(first) = first {
            let message = format!("Enum value \"{}.{name}\" can only be defined once.", schema.type_name(ty));
            errors.push(twice(message, places.of_enum_value(first), places.of_enum_value(id)));
        } else if run.len > SCANNED_MAX {
            let hash = hash_name(ty.0, name);
            let Schema { enum_values, text, enum_value_names, .. } = schema;
            enum_value_names.insert_unique(hash, id, |&id| {
                let value = &enum_values[id.index()];
                hash_name(value.parent.0, value.name.of(text))
            });
        }
    }
}

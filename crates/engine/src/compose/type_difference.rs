//! Comparison of an enum or input that two sources define.
//!
//! Enums are by their values and inputs by their fields, with types and defaults; order and descriptions are not looked at.
//! Types of fields are compared by name only: their members are compared when the types themselves are.
//!
//! **Cost:** each member of the one is looked up by name among those of the other.

use weir_language::schema::{EnumValueId, InputId, Run, Schema, TypeId, TypeKind};

/// A type in its schema.
#[derive(Clone, Copy)]
pub(super) struct TypeIn<'s> {
    pub(super) schema: &'s Schema,
    pub(super) ty: TypeId,
}

/// The places within the type of `other` of what `one` has, in its order.
/// # Errors
/// The members' order in the other type.
pub(super) fn members(one: TypeIn<'_>, other: TypeIn<'_>) -> Result<Vec<u32>, String> {
    let mine = one.schema.ty(one.ty);
    let theirs = other.schema.ty(other.ty);
    let place = match mine.kind {
        TypeKind::Enum => value,
        TypeKind::Input { .. } => input,
        TypeKind::Scalar(_) | TypeKind::Object | TypeKind::Interface | TypeKind::Union => {
            return Err("only scalars, enums and inputs can be shared".into());
        }
    };
    if mine.kind != theirs.kind {
        return Err("they are of two kinds".into());
    }
    let places = mine.members.range().map(|at| place(one.schema, at as u32, other));
    let places = places.collect::<Result<Vec<u32>, String>>()?;
    // Names are unique within a type, so what is more over there is missing here.
    let more = theirs.members.range().find_map(|at| place(other.schema, at as u32, one).err());
    more.map_or(Ok(places), Err)
}

fn value(one: &Schema, at: u32, other: TypeIn<'_>) -> Result<u32, String> {
    let TypeIn { schema: other, ty } = other;
    let name = one.str(one.enum_value(EnumValueId(at)).name);
    let found = other.enum_value_by_name(ty, name).ok_or_else(|| format!("one has no value `{name}`"))?;
    Ok(found.0 - other.ty(ty).members.start)
}

fn input(one: &Schema, at: u32, other: TypeIn<'_>) -> Result<u32, String> {
    same_input(one, at, other.schema, other.schema.ty(other.ty).members)
}

/// The place among the inputs `run` of `other` of the input `at`.
/// # Errors
/// There is none that is the same.
pub(super) fn same_input(one: &Schema, at: u32, other: &Schema, run: Run) -> Result<u32, String> {
    let name = one.input_name(InputId(at));
    let mine = one.input(InputId(at));
    let found = other.input_by_name(run, name).ok_or_else(|| format!("one has no field `{name}`"))?;
    let theirs = other.input(found);
    let base = one.type_name(mine.ty.base);
    let their_base = other.type_name(theirs.ty.base);
    if base != their_base || mine.ty.wraps != theirs.ty.wraps {
        return Err(format!("their fields `{name}` are of two types"));
    }
    if mine.default.map(|it| one.str(it.literal)) != theirs.default.map(|it| other.str(it.literal)) {
        return Err(format!("their fields `{name}` have two defaults"));
    }
    Ok(found.0 - run.start)
}

//! Objects, interfaces and unions that two sources define in the same way: one type of the graph, whose fields the first source owns
//! and both answer.
//!
//! Fields are compared by name, type and arguments; interfaces and members of unions by name. Order and descriptions are not looked at.

use super::type_difference::{TypeIn, same_input};
use crate::source::Ids;
use weir_language::schema::{FieldId, Schema, TypeId, TypeKind, TypeRef};

/// Gives `ids`, of the source of `own`, the places that `theirs` has for the fields of `other`.
/// # Errors
/// How the types differ.
pub(super) fn share(own: TypeIn<'_>, ids: &mut Ids, other: TypeIn<'_>, theirs: &Ids) -> Result<(), String> {
    let pairs = pair_fields(own, other)?;
    for (mine, their) in pairs {
        put(&mut ids.fields, &theirs.fields, mine.0, their.0);
        let (mine, their) = (own.schema.field(mine), other.schema.field(their));
        for at in mine.arguments.range() {
            let place = same_input(own.schema, at as u32, other.schema, their.arguments)?;
            put(&mut ids.inputs, &theirs.inputs, at as u32, their.arguments.start + place);
        }
    }
    Ok(())
}

/// Notes `mine` at the graph's place of `their`.
fn put(table: &mut Vec<u32>, theirs: &[u32], mine: u32, their: u32) {
    let Some(graph) = theirs.iter().rposition(|it| *it == their) else { return };
    if table.len() <= graph {
        table.resize(graph + 1, u32::MAX);
    }
    table[graph] = mine;
}

/// The fields of `own`, each with its twin.
fn pair_fields(own: TypeIn<'_>, other: TypeIn<'_>) -> Result<Vec<(FieldId, FieldId)>, String> {
    let (mine, theirs) = (own.schema.ty(own.ty), other.schema.ty(other.ty));
    if mine.kind != theirs.kind {
        return Err("they are of two kinds".into());
    }
    if names(own.schema, mine.interfaces.range()) != names(other.schema, theirs.interfaces.range()) {
        return Err("they implement different interfaces".into());
    }
    let have_same_members =
        || names(own.schema, mine.possible.range()) == names(other.schema, theirs.possible.range());
    if mine.kind == TypeKind::Union && !have_same_members() {
        return Err("they have different members".into());
    }
    let mut pairs = Vec::new();
    for at in mine.fields.range() {
        let field = FieldId(at as u32);
        let name = own.schema.field_name(field);
        let twin = other.schema.field_by_name(other.ty, name);
        let twin = twin.ok_or_else(|| format!("one has no field `{name}`"))?;
        same_field((own.schema, field), (other.schema, twin))?;
        pairs.push((field, twin));
    }
    // Names are unique within a type, so what is more over there is missing here.
    let more = theirs.fields.range().map(|it| other.schema.field_name(FieldId(it as u32)));
    match more.into_iter().find(|it| own.schema.field_by_name(own.ty, it).is_none()) {
        Some(name) => Err(format!("one has no field `{name}`")),
        None => Ok(pairs),
    }
}

fn names(schema: &Schema, range: std::ops::Range<usize>) -> Vec<&str> {
    let mut names: Vec<&str> =
        schema.type_lists[range].iter().map(|it: &TypeId| schema.type_name(*it)).collect();
    names.sort_unstable();
    names
}

fn same_field((one, mine): (&Schema, FieldId), (other, theirs): (&Schema, FieldId)) -> Result<(), String> {
    let name = one.field_name(mine);
    let is_same = |mine: TypeRef, theirs: TypeRef| {
        mine.wraps == theirs.wraps && one.type_name(mine.base) == other.type_name(theirs.base)
    };
    let (mine, theirs) = (one.field(mine), other.field(theirs));
    if !is_same(mine.ty, theirs.ty) {
        return Err(format!("their fields `{name}` are of two types"));
    }
    for at in mine.arguments.range() {
        same_input(one, at as u32, other, theirs.arguments)?;
    }
    if mine.arguments.len != theirs.arguments.len {
        return Err(format!("their fields `{name}` have different arguments"));
    }
    Ok(())
}

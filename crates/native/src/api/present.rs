//! Inputs and operations of each type: those that are not empty, and that need no empty input.
//!
//! Inputs may need each other in a circle: an input that nothing else fills is empty in the end, so this is the least
//! solution.

use crate::model::{Field, FieldKind, Model, Scalar, TypeId, TypeKind};

/// Inputs and operations of a type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Present {
    /// `TRef`.
    pub(super) reference: bool,
    /// `TOrder`.
    pub(super) order: bool,
    /// `TOrderable`.
    pub(super) orderable: bool,
    pub(super) get: bool,
    pub(super) query: bool,
    pub(super) aggregate: bool,
    pub(super) password: bool,
    pub(super) add: bool,
    pub(super) update: bool,
    pub(super) delete: bool,
}

/// Inputs and operations of each type of `model`.
pub(super) fn present(model: &Model) -> Vec<Present> {
    let mut all = vec![Present::default(); model.types.len()];
    loop {
        let before = all.clone();
        for id in model.type_ids() {
            all[id.index()].reference = has_reference(model, &before, id);
            all[id.index()].orderable = model.fields_of(id).any(|(_, field)| is_orderable(field));
            all[id.index()].order = all[id.index()].orderable || orders_through(model, &before, id);
        }
        if before == all {
            break;
        }
    }
    for id in model.type_ids() {
        operations(model, &mut all, id);
    }
    all
}

fn operations(model: &Model, all: &mut [Present], id: TypeId) {
    let ty = model.ty(id);
    if ty.kind == TypeKind::Union {
        return;
    }
    let named = model.id_of(id).is_some() || model.keys_of(id).next().is_some();
    let can_be_given = |field: &Field| field.kind != FieldKind::Id && is_input(all, field);
    let patch = ty.secret.is_some() || model.fields_of(id).any(|(_, field)| can_be_given(field));
    let required = |field: &Field| field.is_required && field.kind != FieldKind::Id;
    let complete = model.fields_of(id).all(|(_, field)| !required(field) || can_be_given(field));
    let generate = ty.generate;
    let it = Present {
        get: generate.get && named,
        query: generate.query,
        aggregate: generate.aggregate,
        password: generate.password && named && ty.secret.is_some(),
        add: generate.add && ty.kind == TypeKind::Object && patch && complete,
        update: generate.update && patch,
        delete: generate.delete,
        ..all[id.index()]
    };
    all[id.index()] = it;
}

/// True if an input can have the field.
pub(super) fn is_input(present: &[Present], field: &Field) -> bool {
    match field.kind {
        FieldKind::Id | FieldKind::Scalar(_) | FieldKind::Enum(_) => true,
        FieldKind::Edge { to, .. } => present[to.index()].reference,
    }
}

/// True if a field of `id` is in its reference. An interface's reference has only keys, because it creates no objects.
pub(super) fn is_in_reference(model: &Model, present: &[Present], field: &Field) -> bool {
    match model.ty(field.owner).kind {
        TypeKind::Interface => field.kind == FieldKind::Id || field.key.is_some(),
        TypeKind::Object | TypeKind::Union => is_input(present, field),
    }
}

fn has_reference(model: &Model, present: &[Present], id: TypeId) -> bool {
    let ty = model.ty(id);
    match ty.kind {
        TypeKind::Union => ty.members.iter().any(|member| present[member.index()].reference),
        TypeKind::Object | TypeKind::Interface => {
            let secret = ty.kind == TypeKind::Object && ty.secret.is_some();
            secret || model.fields_of(id).any(|(_, field)| is_in_reference(model, present, field))
        }
    }
}

/// True if objects can be ordered by `field`.
pub(super) fn is_orderable(field: &Field) -> bool {
    let FieldKind::Scalar(scalar) = field.kind else { return false };
    let ordered = match scalar {
        Scalar::String | Scalar::Int | Scalar::Int64 | Scalar::Float | Scalar::DateTime => true,
        Scalar::Boolean | Scalar::Point | Scalar::Polygon | Scalar::MultiPolygon => false,
    };
    ordered && !field.is_list
}

/// The type by whose fields `field` can be ordered.
pub(super) fn ordered_through(field: &Field) -> Option<TypeId> {
    match field.kind {
        FieldKind::Edge { to, .. } if !field.is_list => Some(to),
        FieldKind::Id | FieldKind::Scalar(_) | FieldKind::Enum(_) | FieldKind::Edge { .. } => None,
    }
}

fn orders_through(model: &Model, present: &[Present], id: TypeId) -> bool {
    model.fields_of(id).filter_map(|(_, field)| ordered_through(field)).any(|to| present[to.index()].order)
}

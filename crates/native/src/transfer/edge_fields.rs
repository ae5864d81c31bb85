//! Fields and types as files and the table of deferred edges name them, and the other sides of edges.

use crate::model::{FieldId, FieldKind, TypeId, TypeKind};
use crate::store::Types;

/// Name of a field in the table of deferred edges.
pub(crate) fn field_name(types: &Types, id: FieldId) -> String {
    let field = types.model.field(id);
    format!("{}.{}", types.model.ty(field.owner).name, field.name)
}

/// True if an edge is its own other side.
pub(crate) fn is_mutual(types: &Types, field: FieldId) -> bool {
    let of = types.model.field(field);
    match of.kind {
        FieldKind::Edge { inverse: Some(other), .. } => other == field || of.inherited_from == Some(other),
        FieldKind::Edge { inverse: None, .. } | FieldKind::Id | FieldKind::Scalar(_) | FieldKind::Enum(_) => {
            false
        }
    }
}

/// The type an edge leads to.
pub(crate) fn target_type(types: &Types, field: FieldId) -> Option<TypeId> {
    match types.model.field(field).kind {
        FieldKind::Edge { to, .. } => Some(to),
        FieldKind::Id | FieldKind::Scalar(_) | FieldKind::Enum(_) => None,
    }
}

/// The types that Dgraph says an object has: its own, and its interfaces.
pub(crate) fn kinds(types: &Types, ty: TypeId) -> Vec<&str> {
    let model = &types.model;
    let it = model.ty(ty);
    let interfaces = it.interfaces.iter().map(|it| model.ty(*it)).filter(|it| it.kind == TypeKind::Interface);
    interfaces.map(|it| it.name.as_str()).chain([it.name.as_str()]).collect()
}

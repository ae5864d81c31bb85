//! Checks what sources add to types of others: that there is such a type, and that it has the keys.

use super::{ComposeError, extended};
use crate::source::{Ids, NodeId, Place, Source};
use std::sync::Arc;
use weir_language::schema::{FieldId, Schema, TypeId, TypeKind};

/// What is wrong with the types that sources extend: no other source has them.
pub(super) fn find_types(sources: &[Arc<dyn Source>]) -> Vec<ComposeError> {
    let mut errors = Vec::new();
    for source in sources {
        for &stub in extended(source) {
            let name = source.schema().type_name(stub);
            let is_home = |other: &&Arc<dyn Source>| {
                let schema = other.schema();
                let found = schema.type_by_name(name).filter(|it| !extended(other).contains(it));
                found.is_some_and(|it| schema.ty(it).kind == TypeKind::Object)
            };
            if sources.iter().find(is_home).is_none() {
                let fields = source.schema().ty(stub).fields.range().map(|it| FieldId(it as u32));
                errors.extend(fields.map(|it| {
                    wrong(source, (stub, it), "no other source has an object type of that name".to_owned())
                }));
            }
        }
    }
    errors
}

/// The fields of the graph that sources add to types of others, ascending; what is wrong with their keys goes to `errors`.
pub(super) fn check(
    schema: &Schema,
    sources: &[Arc<dyn Source>],
    ids: &[Ids],
    errors: &mut Vec<ComposeError>,
) -> Vec<FieldId> {
    let mut extensions = Vec::new();
    for (source, ids) in sources.iter().zip(ids) {
        for &stub in extended(source) {
            let Some(on) = schema.type_by_name(source.schema().type_name(stub)) else { continue };
            let stub_fields = source.schema().ty(stub).fields.range();
            let graph = |own: usize| ids.fields.iter().position(|&it| it == own as u32);
            extensions.extend(stub_fields.clone().filter_map(graph).map(|it| FieldId(it as u32)));
            for field in stub_fields.map(|it| FieldId(it as u32)) {
                if let Err(reason) = keys(schema, on, source, field) {
                    errors.push(wrong(source, (stub, field), reason));
                }
            }
        }
    }
    extensions.sort_unstable();
    extensions
}

/// Whether type `on` has the keys of `field`, which `source` adds to it.
fn keys(schema: &Schema, on: TypeId, source: &Arc<dyn Source>, field: FieldId) -> Result<(), String> {
    let parts = source.parts().ok_or("the source has no parts")?;
    let Place::Apart(part) = parts.place(NodeId::ROOT, field) else {
        return Err("it is not asked by keys".into());
    };
    let ty = schema.type_name(on);
    for key in parts.part(part).keys {
        let found = schema.field_by_name(on, key).ok_or_else(|| format!("`{ty}` has no field `{key}`"))?;
        let found = schema.field(found).ty;
        let is_leaf = matches!(schema.ty(found.base).kind, TypeKind::Scalar(_) | TypeKind::Enum);
        if !is_leaf || found.wraps.is_list() {
            return Err(format!("`{ty}.{key}` is no single scalar"));
        }
    }
    Ok(())
}

fn wrong(source: &Arc<dyn Source>, (ty, field): (TypeId, FieldId), reason: String) -> ComposeError {
    let schema = source.schema();
    let place = format!("{}.{}", schema.type_name(ty), schema.field_name(field));
    ComposeError::Extension { place, source: source.name().into(), reason }
}

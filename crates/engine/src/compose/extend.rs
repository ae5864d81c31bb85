//! Checks what sources add to types of others: that there is such a type, and that it has the keys.

use super::{ComposeError, Join, Joined, Owner, extended_types};
use crate::source::{FieldResolution, Ids, NodeId, Source};
use std::sync::Arc;
use weir_language::schema::{FieldId, Schema, TypeId, TypeKind};

/// Reports extended types that no other source has.
pub(super) fn find_types(sources: &[Arc<dyn Source>]) -> Vec<ComposeError> {
    let mut errors = Vec::new();
    for source in sources {
        for &stub in extended_types(source) {
            let name = source.schema().type_name(stub);
            let is_home = |other: &&Arc<dyn Source>| {
                let schema = other.schema();
                let found = schema.type_by_name(name).filter(|it| !extended_types(other).contains(it));
                found.is_some_and(|it| schema.ty(it).kind == TypeKind::Object)
            };
            if sources.iter().find(is_home).is_none() {
                let fields = source.schema().ty(stub).fields.range().map(|it| FieldId(it as u32));
                errors.extend(fields.map(|it| {
                    extension_error(
                        source,
                        (stub, it),
                        "no other source has an object type of that name".to_owned(),
                    )
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
        for &stub in extended_types(source) {
            let Some(on) = schema.type_by_name(source.schema().type_name(stub)) else { continue };
            let stub_fields = source.schema().ty(stub).fields.range();
            let graph = |own: usize| ids.fields.iter().position(|&it| it == own as u32);
            extensions.extend(stub_fields.clone().filter_map(graph).map(|it| FieldId(it as u32)));
            for field in stub_fields.map(|it| FieldId(it as u32)) {
                if let Err(reason) = keys(schema, on, source, field) {
                    errors.push(extension_error(source, (stub, field), reason));
                }
            }
        }
    }
    extensions.sort_unstable();
    extensions
}

/// The names of the keys of `field`, which `source` adds to a type of another; `None`: it is not asked by keys.
fn keys_of(source: &Arc<dyn Source>, field: FieldId) -> Option<&[Box<str>]> {
    let parts = source.field_resolver()?;
    match parts.resolution(NodeId::ROOT, field) {
        FieldResolution::Separate(part) => Some(parts.separate_fetch(part).keys),
        FieldResolution::Inline(_) => None,
    }
}

/// The names of the keys of `field`, which `source` adds to a type of another.
pub(super) fn key_names(source: &Arc<dyn Source>, field: FieldId) -> impl Iterator<Item = &str> {
    keys_of(source, field).unwrap_or_default().iter().map(|it| &**it)
}

/// Checks that type `on` has the keys of `field`, which `source` adds to it.
fn keys(schema: &Schema, on: TypeId, source: &Arc<dyn Source>, field: FieldId) -> Result<(), String> {
    let ty = schema.type_name(on);
    for key in keys_of(source, field).ok_or("it is not asked by keys")? {
        let found = schema.field_by_name(on, key).ok_or_else(|| format!("`{ty}` has no field `{key}`"))?;
        let found = schema.field(found).ty;
        let is_leaf = matches!(schema.ty(found.base).kind, TypeKind::Scalar(_) | TypeKind::Enum);
        if !is_leaf || found.wraps.is_list() {
            return Err(format!("`{ty}.{key}` is no single scalar"));
        }
    }
    Ok(())
}

/// Errors of keys that other sources or joins answer: such keys do not come with their objects.
pub(super) fn check_owners<'j>(
    schema: &Schema,
    sources: &[Arc<dyn Source>],
    (owners, extensions): (&[Owner], &[FieldId]),
    joins: impl Iterator<Item = (&'j Join, &'j Joined)>,
) -> Vec<ComposeError> {
    let late = |keys: &[FieldId]| {
        let is_late = |key: &&FieldId| {
            extensions.binary_search(key).is_ok() || matches!(owners[key.index()], Owner::Join(_))
        };
        let key = *keys.iter().find(is_late)?;
        let ty = schema.type_name(schema.field(key).parent);
        let name = schema.field_name(key);
        Some(format!(
            "`{ty}.{name}` is answered by another source, so it cannot be a key: name a field that `{ty}` has of its own source"
        ))
    };
    let of_joins = joins.filter_map(|(join, joined)| {
        let place = format!("{}.{}", join.on, join.name);
        late(&joined.keys).map(|reason| ComposeError::Join { place, reason })
    });
    let mut errors: Vec<ComposeError> = of_joins.collect();
    for source in sources {
        let own = source.schema();
        for &stub in extended_types(source) {
            let on = schema.type_by_name(own.type_name(stub));
            for field in own.ty(stub).fields.range().map(|it| FieldId(it as u32)) {
                let key = |name: &str| schema.field_by_name(on?, name);
                let keys: Vec<FieldId> = key_names(source, field).filter_map(key).collect();
                errors.extend(late(&keys).map(|reason| extension_error(source, (stub, field), reason)));
            }
        }
    }
    errors
}

fn extension_error(source: &Arc<dyn Source>, (ty, field): (TypeId, FieldId), reason: String) -> ComposeError {
    let schema = source.schema();
    let place = format!("{}.{}", schema.type_name(ty), schema.field_name(field));
    ComposeError::Extension { place, source: source.name().into(), reason }
}

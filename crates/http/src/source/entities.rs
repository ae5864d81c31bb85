//! Lookups of entities for a graph that is a subgraph: the query fields with `entity: true`.

use crate::sdl::Mapping;
use weir_engine::source::{EntityKey, EntityLookup, KeyForm};
use weir_language::schema::{ScalarReader, TypeKind};

/// The lookups of `mapping`. A field with an argument that can be no part of a key has none.
pub(super) fn entity_lookups(mapping: &Mapping) -> Vec<EntityLookup> {
    let schema = &mapping.schema;
    let lookup = |field| {
        let of = schema.field(field);
        let keys = schema.arguments(field).map(|argument| {
            let input = schema.input(argument);
            let form = match schema.ty(input.ty.base).kind {
                _ if input.ty.wraps.is_list() => None,
                TypeKind::Scalar(ScalarReader::Int) => Some(KeyForm::Int(32)),
                TypeKind::Scalar(ScalarReader::BigInt) => Some(KeyForm::Int(64)),
                TypeKind::Scalar(ScalarReader::Boolean) => Some(KeyForm::Boolean),
                TypeKind::Scalar(ScalarReader::String) => Some(KeyForm::Text),
                TypeKind::Scalar(ScalarReader::Id) => Some(KeyForm::Id),
                _ => None,
            }?;
            let name = schema.input_name(argument);
            Some(EntityKey { field: name.into(), argument: name.into(), form })
        });
        let keys: Vec<EntityKey> = keys.collect::<Option<_>>()?;
        let on = schema.type_name(of.ty.base).into();
        (!keys.is_empty()).then(|| EntityLookup { on, target: schema.field_name(field).into(), keys })
    };
    mapping.entity_fields.iter().filter_map(|it| lookup(*it)).collect()
}

//! Lookups of entities for a graph that is a subgraph: the query fields with `entity: true`, and the types with a `@connect`.

use crate::sdl::{ConnectorId, Mapping};
use weir_engine::source::{EntityKey, EntityLookup, KeyForm};
use weir_language::schema::{FieldId, ScalarReader, TypeId, TypeKind, TypeRef};

/// The lookups of `mapping`. A type that is asked in batches is asked so; of the others a query field says which objects are not there.
/// A connector has no lookup if one of its arguments has a type that no key can have.
pub(super) fn entity_lookups(mapping: &Mapping) -> Vec<EntityLookup> {
    let is_batch = |it: &&(TypeId, ConnectorId, _)| mapping.connector(it.1).batch_max.is_some();
    let has_field =
        |ty: TypeId| mapping.entity_fields.iter().any(|it| mapping.schema.field(*it).ty.base == ty);
    let nodes = mapping.entity_nodes.iter().filter(|it| is_batch(it) || !has_field(it.0));
    let types: Vec<EntityLookup> = nodes.filter_map(|it| of_type(mapping, it.0, it.1)).collect();
    let is_left = |it: &EntityLookup| types.iter().all(|other| other.on != it.on);
    let fields: Vec<EntityLookup> =
        mapping.entity_fields.iter().filter_map(|it| of_field(mapping, *it)).filter(is_left).collect();
    types.into_iter().chain(fields).collect()
}

fn of_field(mapping: &Mapping, field: FieldId) -> Option<EntityLookup> {
    let schema = &mapping.schema;
    let of = schema.field(field);
    let keys = schema.arguments(field).map(|argument| {
        let name = schema.input_name(argument);
        let form = key_form(mapping, schema.input(argument).ty)?;
        Some(EntityKey { field: name.into(), argument: name.into(), form })
    });
    let keys: Vec<EntityKey> = keys.collect::<Option<_>>()?;
    let on = schema.type_name(of.ty.base).into();
    let target = Some(schema.field_name(field).into());
    (!keys.is_empty()).then_some(EntityLookup { on, target, keys })
}

fn of_type(mapping: &Mapping, ty: TypeId, connector: ConnectorId) -> Option<EntityLookup> {
    let keys = mapping.connector(connector).keys.iter().map(|key| {
        let form = key_form(mapping, mapping.schema.field(key.field?).ty)?;
        Some(EntityKey { field: key.name.clone(), argument: key.name.clone(), form })
    });
    let on = mapping.schema.type_name(ty).into();
    Some(EntityLookup { on, target: None, keys: keys.collect::<Option<_>>()? })
}

/// The values that a key of type `ty` takes.
fn key_form(mapping: &Mapping, ty: TypeRef) -> Option<KeyForm> {
    match mapping.schema.ty(ty.base).kind {
        _ if ty.wraps.is_list() => None,
        TypeKind::Scalar(ScalarReader::Int) => Some(KeyForm::Int(32)),
        TypeKind::Scalar(ScalarReader::BigInt) => Some(KeyForm::Int(64)),
        TypeKind::Scalar(ScalarReader::Boolean) => Some(KeyForm::Boolean),
        TypeKind::Scalar(ScalarReader::String) => Some(KeyForm::Text),
        TypeKind::Scalar(ScalarReader::Id) => Some(KeyForm::Id),
        TypeKind::Scalar(
            ScalarReader::Float
            | ScalarReader::Decimal
            | ScalarReader::Text
            | ScalarReader::Moment
            | ScalarReader::Json,
        )
        | TypeKind::Object
        | TypeKind::Interface
        | TypeKind::Union
        | TypeKind::Enum
        | TypeKind::Input { .. } => None,
    }
}

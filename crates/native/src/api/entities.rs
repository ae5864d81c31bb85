//! Lookups of objects for a graph that is a subgraph: `getDish` by `id`, and by each `@id`.

use super::meaning::{Api, FieldMeaning};
use crate::model::{FieldId, FieldKind, Scalar, TypeKind};
use weir_engine::source::{EntityKey, EntityLookup, KeyForm};

/// The lookups of all types of `api` whose objects can be read by a key.
pub(super) fn entity_lookups(api: &Api) -> Vec<EntityLookup> {
    let mut lookups = Vec::new();
    for field in api.schema.ty(api.schema.query).fields.range() {
        let field = weir_language::schema::FieldId(field as u32);
        let FieldMeaning::Get(id) = api.field(field) else { continue };
        let ty = api.model.ty(id);
        if ty.kind != TypeKind::Object {
            continue;
        }
        for key in api.model.id_of(id).into_iter().chain(api.model.keys_of(id)) {
            let name = api.model.field(key).name.as_str();
            let Some(form) = key_form(api, key) else { continue };
            let key = EntityKey { field: name.into(), argument: name.into(), form };
            let target = Some(api.schema.field_name(field).into());
            lookups.push(EntityLookup { on: ty.name.as_str().into(), target, keys: vec![key] });
        }
    }
    lookups
}

/// The values of a key; those of other fields have several texts for one value.
fn key_form(api: &Api, key: FieldId) -> Option<KeyForm> {
    match api.model.field(key).kind {
        FieldKind::Id => Some(KeyForm::Number),
        FieldKind::Scalar(Scalar::String) => Some(KeyForm::Text),
        FieldKind::Scalar(Scalar::Int) => Some(KeyForm::Int(32)),
        FieldKind::Scalar(Scalar::Int64) => Some(KeyForm::Int(64)),
        FieldKind::Scalar(
            Scalar::Float
            | Scalar::Boolean
            | Scalar::DateTime
            | Scalar::Point
            | Scalar::Polygon
            | Scalar::MultiPolygon,
        )
        | FieldKind::Enum(_)
        | FieldKind::Edge { .. } => None,
    }
}

//! Makes the whole API of a model.

use super::core::Core;
use super::entities::entity_lookups;
use super::meaning::{Api, EnumMeaning, FieldMeaning, InputMeaning};
use crate::model::{Model, TypeKind};
use std::sync::Arc;
use weir_language::error::Error;
use weir_language::schema::Wording;

/// Generates schema and meanings of `model`.
///
/// ```
/// let read = weir_native::sdl::read("type Dish { id: ID!, name: String! @search(by: [term]) }").unwrap();
/// let api = weir_native::api::generate(read.model).unwrap();
/// assert!(api.schema.field_by_name(api.schema.query, "queryDish").is_some());
/// ```
///
/// # Errors
/// The schema is unsound. The reader of types sees to it that this does not happen.
pub fn generate(model: Model) -> Result<Api, Vec<Error>> {
    let mut core = Core::new(&model);
    core.roots();
    for id in model.type_ids() {
        match model.ty(id).kind {
            TypeKind::Object | TypeKind::Interface => {
                core.object(id);
                core.aggregate_result(id);
                core.payloads(id);
                core.filter(id);
                core.order(id);
                core.inputs(id);
            }
            TypeKind::Union => core.union(id),
        }
    }
    core.enums();
    core.scalars();
    core.directives();
    let Core { b, mut fields, mut inputs, mut enum_values, objects, .. } = core;
    let mut schema = b.build()?;
    schema.wording = Wording::Dgraph;
    let schema = Arc::new(schema);
    fields.resize(schema.fields.len(), FieldMeaning::None);
    inputs.resize(schema.inputs.len(), InputMeaning::None);
    enum_values.resize(schema.enum_values.len(), EnumMeaning::None);
    let mut types = vec![None; schema.types.len()];
    for (id, ty) in model.type_ids().zip(objects) {
        types[ty.index()] = Some(id);
    }
    let mut api = Api { schema, model, fields, inputs, enum_values, types, entity_lookups: Vec::new() };
    api.entity_lookups = entity_lookups(&api);
    Ok(api)
}

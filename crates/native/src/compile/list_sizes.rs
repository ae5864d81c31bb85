//! Sizes of the lists of native types: by `first`, and by the objects that a mutation adds.

use crate::api::meaning::{Api, FieldMeaning, InputMeaning};
use weir_engine::demand::ListSize;
use weir_language::schema::FieldId;

/// Items of a list of a geo value that nothing limits, such as the points of a ring.
const GEO_ITEMS: u64 = 10;

/// The size of the list of `field`, or of the list below it; `None`: there is none.
pub(super) fn list_size(api: &Api, field: FieldId) -> Option<ListSize> {
    let schema = &api.schema;
    let ty = schema.field(field).ty;
    let meaning = |it: FieldId| api.fields[it.index()];
    let input = |it: &weir_language::schema::InputId| api.inputs[it.index()];
    if ty.wraps.is_list() {
        let slicing = schema.arguments(field).filter(|it| input(it) == InputMeaning::First);
        let slicing = slicing.map(|it| schema.input_name(it).into()).collect();
        let assumed = matches!(meaning(field), FieldMeaning::Geo(_)).then_some(GEO_ITEMS);
        return Some(ListSize { assumed, slicing, ..ListSize::default() });
    }
    // An add returns the objects of its input; an update and a delete return any number.
    let FieldMeaning::Add(_) = meaning(field) else { return None };
    let slicing = schema.arguments(field).filter(|it| matches!(input(it), InputMeaning::Input(_)));
    let payload = schema.ty(ty.base).fields.range().map(|it| FieldId(it as u32));
    let sized = payload.filter(|it| matches!(meaning(*it), FieldMeaning::PayloadObjects(_)));
    Some(ListSize {
        slicing: slicing.map(|it| schema.input_name(it).into()).collect(),
        sized: sized.map(|it| schema.field_name(it).into()).collect(),
        ..ListSize::default()
    })
}

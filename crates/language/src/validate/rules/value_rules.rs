//! Rules about values. Source: GraphQL specification, section 5.6.

pub(in crate::validate) mod input_object_field_names;
pub(in crate::validate) mod input_object_field_uniqueness;
pub(in crate::validate) mod input_object_required_fields;
pub(in crate::validate) mod one_of_input_objects;
pub(in crate::validate) mod values_of_correct_type;

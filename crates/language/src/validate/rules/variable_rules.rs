//! Rules about variables. Source: GraphQL specification, section 5.8.

pub(in crate::validate) mod all_variable_usages_are_allowed;
pub(in crate::validate) mod all_variable_uses_defined;
pub(in crate::validate) mod all_variables_used;
pub(in crate::validate) mod variable_uniqueness;
pub(in crate::validate) mod variables_are_input_types;

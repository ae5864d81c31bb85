//! Rules about operations. Source: GraphQL specification, section 5.2.

pub(in crate::validate) mod executable_definitions;
pub(in crate::validate) mod lone_anonymous_operation;
pub(in crate::validate) mod operation_name_uniqueness;
pub(in crate::validate) mod operation_type_existence;
pub(in crate::validate) mod single_root_field;

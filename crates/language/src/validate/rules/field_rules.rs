//! Rules about fields. Source: GraphQL specification, section 5.3.

pub(in crate::validate) mod field_selection_merging;
pub(in crate::validate) mod field_selections;
pub(in crate::validate) mod leaf_field_selections;

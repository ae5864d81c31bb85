//! Rules about fragments. Source: GraphQL specification, section 5.5.

pub(in crate::validate) mod fragment_name_uniqueness;
pub(in crate::validate) mod fragment_spread_is_possible;
pub(in crate::validate) mod fragment_spread_target_defined;
pub(in crate::validate) mod fragment_spread_type_existence;
pub(in crate::validate) mod fragment_spreads_must_not_form_cycles;
pub(in crate::validate) mod fragments_must_be_used;
pub(in crate::validate) mod fragments_on_composite_types;

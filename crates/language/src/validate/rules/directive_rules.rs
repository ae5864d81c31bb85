//! Rules about directives. Source: GraphQL specification, section 5.7.

pub(in crate::validate) mod directives_are_defined;
pub(in crate::validate) mod directives_are_in_valid_locations;
pub(in crate::validate) mod directives_are_unique_per_location;
pub(in crate::validate) mod incremental_delivery;

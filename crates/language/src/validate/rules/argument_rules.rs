//! Rules about arguments. Source: GraphQL specification, section 5.4.

pub(in crate::validate) mod argument_names;
pub(in crate::validate) mod argument_uniqueness;
pub(in crate::validate) mod required_arguments;

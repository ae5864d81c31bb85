//! JSON Schema of arguments and answers, as a caller sees them.

mod input_schema;
mod output_schema;
mod scalar_schema;

pub(super) use input_schema::variables_schema;
pub(super) use output_schema::data_schema;
pub(super) use scalar_schema::into_object;

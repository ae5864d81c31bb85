//! Values on their way to PostgreSQL, and those that come from it.

pub(crate) mod bind;
mod decimal;
pub mod decode;
mod geojson;
pub mod json_literal;
pub(crate) mod key_text;
mod labels;

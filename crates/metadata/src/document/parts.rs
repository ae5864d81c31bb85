//! Parts that several kinds of entries have.

pub(crate) mod object;
pub mod table_name;
pub mod type_text;
pub mod webhook;

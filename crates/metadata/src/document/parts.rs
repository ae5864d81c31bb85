//! Parts that several kinds of entries have.

pub mod table_name;
pub mod type_text;
pub mod webhook;

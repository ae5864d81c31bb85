//! Types of a schema that come from Rust: their definitions for code-first schemas, custom scalars and enums, files.

pub(crate) mod any_input;
pub(crate) mod code_first;
pub(crate) mod custom_scalar;
pub(crate) mod type_definitions;
pub(crate) mod typed;
pub(crate) mod uploads;

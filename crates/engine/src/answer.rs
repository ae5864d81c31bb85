//! Data types of answers: output plans, rows, errors and response bytes.
//!
//! Sources, plans and execution all speak of these; nothing here knows them.

pub mod chunk;
pub mod field_error;
pub(crate) mod offsets;
pub mod output_plan;
pub mod response;
pub(crate) mod response_cache;
pub mod rows;
pub mod size_hint;
pub mod unread;
pub mod write;

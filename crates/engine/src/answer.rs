//! What an answer is made of: its output plan, rows and errors, and the bytes that they become.
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

//! Descriptions of services as other tools know them, turned into types to edit.

mod names;
pub mod openapi;

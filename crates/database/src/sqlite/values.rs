//! Values on their way to SQLite, and those that are stored in it.

pub(crate) mod bind;
mod cast;
mod json_path;
pub(crate) mod stored_value;

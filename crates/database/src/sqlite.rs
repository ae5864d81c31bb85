//! The driver of SQLite: reads are stepped in process over the connections of `weir-sqlite`, and written while stepping.

mod change_feed;
mod driver;
pub mod errors;
mod fetch;
mod file;
mod prepared;
mod program;
mod runs;
pub mod source;
mod values;
mod write_fetch;

pub use file::SqliteFile;
pub use source::{SharedWriter, SqliteOpenError, SqliteSource};

//! The driver of SQLite: reads are stepped in process over the connections of `weir-sqlite`, and written while stepping.

mod bind;
mod cast;
mod change_feed;
mod driver;
pub mod errors;
mod fetch;
mod file;
mod json_path;
mod prepared;
mod program;
mod row_source;
mod run;
mod run_failure;
mod sink;
pub mod source;
mod value;
mod write;
mod write_fetch;

pub use file::SqliteFile;
pub use source::{SqliteOpenError, SqliteSource};

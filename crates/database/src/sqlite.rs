//! The driver of SQLite: reads are stepped in process over the connections of `weir-sqlite`, and written while stepping.

mod change_feed;
mod driver;
pub mod errors;
mod fetch;
mod file;
mod owned_run;
mod prepared;
mod program;
mod ranged_level;
mod ranges;
mod ready_statement;
mod runs;
pub mod source;
mod values;
mod write_fetch;

pub use file::SqliteFile;
pub use source::{SharedWriter, SqliteOpenError, SqliteSource};

//! The driver of PostgreSQL and the databases that speak its protocol: statements of plans over the client of `weir-postgres`.

mod asked;
mod bind;
mod catalog;
mod change_feed;
mod consistency;
mod contents;
mod decimal;
pub mod decode;
mod decoding;
mod driver;
mod errors;
mod fallible;
mod fetch;
mod geojson;
mod labels;
pub mod literal;
mod outflow;
mod parts;
mod portal;
mod prepared;
mod program;
mod reads;
mod result_set;
mod retry;
mod row_checks;
mod row_source;
pub mod source;
mod text;
mod write;
mod write_fetch;
mod written_rows;

pub use contents::{PostgresContents, PostgresReadError, ReadTables};
pub use errors::source_error;
pub use source::PostgresSource;

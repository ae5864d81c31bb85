//! The driver of PostgreSQL and the databases that speak its protocol: statements of plans over the client of `weir-postgres`.

mod caller_session;
mod change_feed;
mod consistency;
mod contents;
mod decoding;
mod driver;
mod errors;
mod reading;
mod retry;
pub mod source;
mod statements;
pub mod values;
mod writing;

pub use caller_session::DatabaseRole;
pub use contents::{PostgresContents, PostgresReadError, ReadTables};
pub use errors::source_error;
pub use source::PostgresSource;

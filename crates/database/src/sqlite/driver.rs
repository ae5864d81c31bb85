//! The driver of one SQLite file.

use super::errors::read_only;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use weir_engine::source::{Protocol, SourceError};
use weir_sqlite::connection::Database;
use weir_sqlite::pool::Pool;
use weir_sqlite::writer::Writer;

/// Executes plans on a SQLite database.
#[derive(Debug)]
pub struct SqliteDriver {
    pub(super) database: Arc<Database>,
    pub(super) pool: Pool,
    pub(super) access: WriteAccess,
    /// True during a health check.
    pub(super) asking: Arc<AtomicBool>,
}

/// Access to the file for mutations.
#[derive(Debug)]
pub(super) enum WriteAccess {
    Writer(Writer),
    /// The file can only be read.
    ReadOnly,
    /// The file could not be opened when this was made.
    Unreached,
}

impl SqliteDriver {
    /// The thread that writes; `None`: nothing can be written.
    pub(super) fn writer(&self) -> Option<&Writer> {
        match &self.access {
            WriteAccess::Writer(writer) => Some(writer),
            WriteAccess::ReadOnly | WriteAccess::Unreached => None,
        }
    }

    pub(super) fn writer_for(&self, protocol: Protocol) -> Result<&Writer, SourceError> {
        match &self.access {
            WriteAccess::Writer(writer) => Ok(writer),
            WriteAccess::ReadOnly => Err(read_only(protocol)),
            WriteAccess::Unreached => Err(SourceError::Unavailable("the file could not be opened".into())),
        }
    }
}

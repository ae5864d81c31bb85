//! Why a run ended early.

use crate::exec::output::answer::TooLong;
use crate::frontend::ApiFrontend;
use crate::sqlite::errors::{names_hidden, source_error};
use rusqlite::{Error, ErrorCode};
use weir_engine::source::{FieldError, Protocol, SourceError};

/// Why a run ended early.
#[derive(Debug)]
pub(crate) enum RunFailure {
    /// SQLite failed while answering a field.
    Sqlite(Error, u32),
    /// A value of the request cannot be bound.
    Refused(Box<FieldError>, u32),
    /// Nobody waits for the answer any more.
    Gone,
    /// A null reached the root after bytes had left.
    Late,
}

impl From<TooLong> for RunFailure {
    fn from(error: TooLong) -> Self {
        Self::Refused(Box::new(error.field_error()), error.field)
    }
}

impl RunFailure {
    /// The name of the constraint that was violated, as far as the database says it.
    pub(crate) fn violated_constraint(&self) -> Option<String> {
        match self {
            Self::Sqlite(error, _) => weir_sqlite::error::violated_constraint(error),
            Self::Refused(..) | Self::Gone | Self::Late => None,
        }
    }

    /// Removes the database's message if it names something that callers with these facts may not see.
    pub(crate) fn redact_for(self, facts: &[u64], frontend: &dyn ApiFrontend) -> Self {
        match self {
            Self::Sqlite(Error::SqliteFailure(cause, Some(words)), field)
                if cause.code == ErrorCode::ConstraintViolation
                    && names_hidden(&words, cause.extended_code, facts, frontend) =>
            {
                Self::Sqlite(Error::SqliteFailure(cause, None), field)
            }
            told => told,
        }
    }

    pub(crate) fn into_error(self, protocol: Protocol) -> SourceError {
        match self {
            Self::Sqlite(error, field) => source_error(error, protocol, Some(field)),
            Self::Refused(error, field) => SourceError::Rejected { error: *error, field: Some(field) },
            Self::Gone => SourceError::Timeout,
            Self::Late => SourceError::Broken("a null came too late to be bubbled".into()),
        }
    }
}

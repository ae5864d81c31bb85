//! Errors of PostgreSQL, and their messages for clients: no SQL, no values, no hidden names.
//!
//! Codes are Hasura's in its accent and stable upper-case ones under the specification's. Details are logged only.

use crate::exec::answer::TooLong;
use crate::exec::errors::coded;
use crate::exec::full;
use memchr::memchr;
use std::fmt;
use std::io;
use weir_engine::source::{Accent, SourceError};

/// Why a statement has no answer.
#[derive(Debug)]
pub enum Error {
    /// The server refused it.
    Database {
        /// In the server's words.
        error: Box<DatabaseError>,
        /// The failed statement of the batch, from 0.
        statement: u32,
    },
    /// No answer before the deadline.
    Timeout,
    /// Too many wait already.
    Busy,
    /// The answer is larger than one may be.
    AnswerTooLarge {
        /// The limit.
        bytes_max: usize,
    },
    /// The same of a write that is committed.
    Unanswered {
        /// The limit of an answer.
        bytes_max: usize,
    },
    /// The server cannot be reached, or the connection broke. What was asked did not happen, or only read.
    Unavailable(Box<dyn std::error::Error + Send + Sync>),
    /// The connection broke before a write was confirmed: it may have happened.
    Unconfirmed(Box<dyn std::error::Error + Send + Sync>),
    /// It shared a transaction with others that the server undid: nothing happened, and it can go alone.
    Undone,
    /// The server, or we, broke the protocol.
    Protocol(Box<str>),
}

impl Error {
    /// The connection broke, or cannot be made, for this cause.
    pub(super) fn unavailable(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unavailable(cause.into())
    }

    /// A copy of the failure for a coalesced request.
    pub(super) fn again(&self) -> Self {
        match self {
            Self::Database { error, statement } => {
                Self::Database { error: error.clone(), statement: *statement }
            }
            Self::Timeout => Self::Timeout,
            Self::Busy => Self::Busy,
            Self::AnswerTooLarge { bytes_max } => Self::AnswerTooLarge { bytes_max: *bytes_max },
            Self::Unanswered { bytes_max } => Self::Unanswered { bytes_max: *bytes_max },
            Self::Unavailable(cause) => {
                match (cause.downcast_ref::<DatabaseError>(), cause.downcast_ref::<io::Error>()) {
                    (Some(error), _) => Self::unavailable(error.clone()),
                    // Its kind tells a server that was not reached from one that does not fit.
                    (None, Some(error)) => Self::unavailable(io::Error::new(error.kind(), error.to_string())),
                    (None, None) => Self::unavailable(cause.to_string()),
                }
            }
            Self::Unconfirmed(cause) => Self::Unconfirmed(cause.to_string().into()),
            Self::Undone => Self::Undone,
            Self::Protocol(what) => Self::Protocol(what.clone()),
        }
    }

    /// The SQLSTATE, if the server gave one.
    #[must_use]
    pub fn sqlstate(&self) -> Option<[u8; 5]> {
        match self {
            Self::Database { error, .. } => Some(error.sqlstate),
            Self::Timeout
            | Self::Busy
            | Self::AnswerTooLarge { .. }
            | Self::Unanswered { .. }
            | Self::Unavailable(_)
            | Self::Unconfirmed(_)
            | Self::Undone
            | Self::Protocol(_) => None,
        }
    }

    /// The name of the constraint that is violated, as a configuration calls it. Before version 18 those of columns that
    /// take no null have none, so they are called as there.
    pub(super) fn violated(&self) -> Option<String> {
        let Self::Database { error, .. } = self else { return None };
        match &error.sqlstate {
            b"23502" if error.constraint.is_empty() => {
                Some(format!("{}_{}_not_null", error.table, error.column))
            }
            [b'2', b'3', ..] => Some(error.constraint.to_string()),
            _ => None,
        }
    }

    /// Fix for a refused login; `None` if a retry may help.
    #[must_use]
    pub fn remedy(&self) -> Option<&'static str> {
        let Self::Unavailable(cause) = self else { return None };
        match &cause.downcast_ref::<DatabaseError>()?.sqlstate {
            b"28P01" => Some("correct the user and the password in the URL, or PGUSER and PGPASSWORD"),
            b"28000" => {
                Some("create the role, or let it in from this machine by a line in the server's pg_hba.conf")
            }
            b"3D000" => Some("create the database, or correct its name in the URL"),
            _ => None,
        }
    }

    /// True if a retry of the whole transaction may succeed: serialization failure, deadlock, a connection in an unexpected
    /// state.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self.sqlstate().as_ref(), Some(b"40001" | b"40P01")) || self.is_forgotten()
    }

    /// True for a lock timeout: nothing happened, and a retry with a longer timeout may succeed.
    pub(super) fn is_locked(&self) -> bool {
        self.sqlstate().as_ref() == Some(b"55P03")
    }

    /// True if the server's prepared statements differ from the recorded ones: they were discarded, or belong to another
    /// connection. The connection cannot be used again.
    pub(super) fn is_forgotten(&self) -> bool {
        matches!(self.sqlstate().as_ref(), Some(b"26000" | b"42P05"))
    }
}

/// Names the kind of failure: the server was not reached, it refused, or Weir and it do not fit together.
fn unavailable(cause: &(dyn std::error::Error + Send + Sync + 'static)) -> &'static str {
    if cause.is::<DatabaseError>() {
        return "PostgreSQL refuses the connection";
    }
    match cause.downcast_ref::<io::Error>().map(io::Error::kind) {
        // TLS, the protocol: what the dialer says itself about a server that answered.
        Some(io::ErrorKind::Other | io::ErrorKind::InvalidData) => "PostgreSQL cannot be used",
        Some(_) | None => "PostgreSQL is unavailable",
    }
}

impl fmt::Display for Error {
    /// Words for operators: logs only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database { error, .. } => error.fmt(f),
            Self::Timeout => f.write_str("PostgreSQL did not answer before the deadline"),
            Self::Busy => f.write_str("too many statements or sessions wait already"),
            Self::AnswerTooLarge { bytes_max } => write!(f, "the answer is larger than {bytes_max} bytes"),
            Self::Unanswered { bytes_max } => {
                write!(f, "the answer of a write that is committed is larger than {bytes_max} bytes")
            }
            Self::Unavailable(cause) => write!(f, "{}: {cause}", unavailable(cause.as_ref())),
            Self::Unconfirmed(cause) => {
                write!(f, "the connection broke before a write was confirmed: {cause}")
            }
            Self::Undone => f.write_str("the transaction that was shared with others was undone"),
            Self::Protocol(what) => write!(f, "the protocol was broken: {what}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Database { error, .. } => Some(&**error),
            Self::Unavailable(cause) | Self::Unconfirmed(cause) => Some(&**cause),
            Self::Timeout
            | Self::Busy
            | Self::AnswerTooLarge { .. }
            | Self::Unanswered { .. }
            | Self::Undone
            | Self::Protocol(_) => None,
        }
    }
}

/// The server's error. Absent fields are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatabaseError {
    /// The five letters of the condition.
    pub sqlstate: [u8; 5],
    /// `ERROR`, `FATAL`, `PANIC`.
    pub severity: Box<str>,
    /// Message, in the server's language.
    pub message: Box<str>,
    /// More of it; may hold values.
    pub detail: Box<str>,
    /// Hint.
    pub hint: Box<str>,
    /// Position in the statement's text, from 1.
    pub position: Box<str>,
    /// Schema of the table that is meant.
    pub schema: Box<str>,
    /// The table that is meant.
    pub table: Box<str>,
    /// The column that is meant.
    pub column: Box<str>,
    /// The constraint that is meant.
    pub constraint: Box<str>,
    /// The function of the server that gave up.
    pub routine: Box<str>,
}

impl DatabaseError {
    /// Reads the body of an error or notice: a letter and a text that ends with 0, each; unknown letters are passed over.
    pub(super) fn read(mut body: &[u8]) -> Self {
        let mut error = Self { sqlstate: *b"XX000", ..Self::default() };
        while let Some((&letter, rest)) = body.split_first() {
            let Some(end) = memchr(0, rest) else { break };
            let text: Box<str> = String::from_utf8_lossy(&rest[..end]).into();
            body = &rest[end + 1..];
            match letter {
                b'C' => error.sqlstate = text.as_bytes().try_into().unwrap_or(error.sqlstate),
                // The second is not translated, and newer.
                b'S' if error.severity.is_empty() => error.severity = text,
                b'V' => error.severity = text,
                b'M' => error.message = text,
                b'D' => error.detail = text,
                b'H' => error.hint = text,
                b'P' => error.position = text,
                b's' => error.schema = text,
                b't' => error.table = text,
                b'c' => error.column = text,
                b'n' => error.constraint = text,
                b'R' => error.routine = text,
                _ => {}
            }
        }
        error
    }
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { severity, sqlstate, message, .. } = self;
        write!(f, "{severity} {}: {message}", String::from_utf8_lossy(sqlstate))?;
        [(" detail", &self.detail), (" hint", &self.hint), (" position", &self.position)]
            .iter()
            .filter(|(_, text)| !text.is_empty())
            .try_for_each(|(name, text)| write!(f, ";{name}: {text}"))
    }
}

impl std::error::Error for DatabaseError {}

/// Turns a failure into an answer for the client of `accent`.
///
/// - `field`: place of the member whose statement failed.
/// - `is_tracked`: whether a table (schema, name) stands in the generated schema: only then is it, its columns or its
///   constraints named.
#[must_use]
pub fn source_error(
    error: Error,
    accent: Accent,
    field: Option<u32>,
    is_tracked: &dyn Fn(&str, &str) -> bool,
) -> SourceError {
    match error {
        Error::Database { error, .. } => refused(error, accent, field, is_tracked),
        Error::Timeout => SourceError::Timeout,
        Error::Busy => SourceError::Busy,
        Error::AnswerTooLarge { bytes_max } => {
            let message =
                format!("the answer of the database is larger than {bytes_max} bytes: ask for less at once");
            rejected(accent, field, "LIMIT_RESPONSE", "unexpected", &message)
        }
        Error::Unanswered { bytes_max } => SourceError::Rejected { error: TooLong::done(bytes_max), field },
        Error::Unavailable(cause) => match cause.downcast_ref::<DatabaseError>() {
            Some(error) if &error.sqlstate == b"53300" => SourceError::Busy,
            _ => SourceError::Unavailable(cause),
        },
        Error::Unconfirmed(cause) => unconfirmed(&*cause, accent, field),
        error @ Error::Undone => SourceError::Broken(error.to_string().into()),
        Error::Protocol(what) => SourceError::Broken(what),
    }
}

fn unconfirmed(cause: &dyn fmt::Display, accent: Accent, field: Option<u32>) -> SourceError {
    tracing::error!(%cause, "the connection broke before a write was confirmed");
    rejected(accent, field, "WRITE_UNCONFIRMED", "unexpected", UNCONFIRMED)
}

const UNCONFIRMED: &str = "the connection to the database broke before it confirmed the mutation: look whether it happened before sending it again";
const CHANGED: &str = "the database's tables are no longer as they were read: reload the source";
const TOO_LARGE: &str = "the request makes a statement that is too large for the database";
pub(super) const CONCURRENT: &str = "serialization failure due to concurrent update";
const NO_ARBITER: &str = "there is no unique or exclusion constraint on target column(s)";

fn rejected(
    accent: Accent,
    field: Option<u32>,
    spec: &'static str,
    hasura: &'static str,
    message: &str,
) -> SourceError {
    SourceError::Rejected { error: coded(accent, spec, hasura, message), field }
}

/// Routines of the server that read a value of `ltree`, `lquery`, `ltxtquery`, `tsquery`, `tsvector` or `jsonpath`, and refuse it with
/// the state of a wrong statement.
const VALUE_READERS: &[&str] = &[
    "parse_ltree",
    "parse_lquery",
    "finish_nodeitem",
    "gettoken_query",
    "makepol",
    "gettoken_query_standard",
    "prssyntaxerror",
    "jsonpath_yyerror",
    // PostGIS's, which say that all is an internal error.
    "pg_error",
    "rt_pg_error",
    "LWGEOM_dwithin",
];

/// By SQLSTATE. Source: the manual of PostgreSQL, appendix A.
fn refused(
    error: Box<DatabaseError>,
    accent: Accent,
    field: Option<u32>,
    is_tracked: &dyn Fn(&str, &str) -> bool,
) -> SourceError {
    let said = |spec, hasura, message: &str| rejected(accent, field, spec, hasura, message);
    match &error.sqlstate {
        b"57014" | b"55P03" | b"25P03" | b"57P05" => SourceError::Timeout,
        b"53300" => SourceError::Busy,
        b"53100" => {
            full::report(&error);
            said(full::CODE, "unexpected", full::MESSAGE)
        }
        b"40001" | b"40P01" => said("CONCURRENT_UPDATE", "concurrent-update", CONCURRENT),
        // A distributed database that lost sight of the commit.
        b"40003" | b"08007" => unconfirmed(&error, accent, field),
        b"25006" => said("READ_ONLY", "not-supported", "the database is read-only"),
        b"42P10" => said("CONSTRAINT_VIOLATION", "constraint-error", NO_ARBITER),
        b"21000" => said("CONSTRAINT_VIOLATION", "constraint-violation", &without_values(&error.message)),
        b"44000" => said("CHECK_VIOLATION", "permission-error", "new row violates check option for view"),
        b"428C9" => said("INVALID_VALUE", "data-exception", "a generated column takes no value"),
        [b'2', b'3', ..] => {
            let (spec, hasura, message) = constraint(&error, is_tracked);
            said(spec, hasura, &message)
        }
        [b'2', b'2', ..] => {
            let (spec, hasura) = data_exception(error.sqlstate);
            said(spec, hasura, &without_values(&error.message))
        }
        b"42601" | b"42622" | b"XX000" if VALUE_READERS.contains(&&*error.routine) => {
            said("INVALID_VALUE", "data-exception", &without_values(&error.message))
        }
        [b'5', b'4', ..] => said("LIMIT_STATEMENT", "validation-failed", &too_large(&error, is_tracked)),
        [b'0', b'8', ..] | [b'5', b'3', ..] | [b'5', b'7', b'P', ..] | [b'5', b'8', ..] => {
            SourceError::Unavailable(error)
        }
        state => {
            // Only what is wrong with the server itself is an alarm.
            match state {
                [b'X', b'X', ..] => tracing::error!(%error, "a statement failed within the server"),
                _ => tracing::warn!(%error, "a statement was refused"),
            }
            if is_schema_change(*state, &error.routine) {
                return said("SCHEMA_CHANGED", "unexpected", CHANGED);
            }
            said("DATABASE_ERROR", "unexpected", "database query error")
        }
    }
}

/// A name or type that is no more, or a prepared statement whose columns have other types now.
fn is_schema_change(sqlstate: [u8; 5], routine: &str) -> bool {
    match &sqlstate {
        b"42P01" | b"42703" | b"42883" | b"42804" | b"42704" | b"42725" | b"3F000" => true,
        b"0A000" => routine == "RevalidateCachedQuery",
        _ => false,
    }
}

/// The exceeded limit of the database, by the routine that reported it.
fn too_large(error: &DatabaseError, is_tracked: &dyn Fn(&str, &str) -> bool) -> String {
    let what = match &*error.routine {
        "_bt_check_third_page" | "GinFormTuple" => "a value is too long for an index over it",
        "make_tsvector" => "a text has too many words for an index of words",
        "check_stack_depth" => "the request's conditions are nested too deep for the database",
        _ => return TOO_LARGE.to_owned(),
    };
    match !error.table.is_empty() && is_tracked(&error.schema, &error.table) {
        true => format!("{what}: `{}` of `{}`", error.constraint, error.table),
        false => what.to_owned(),
    }
}

/// Codes of class 22.
fn data_exception(sqlstate: [u8; 5]) -> (&'static str, &'static str) {
    match &sqlstate {
        b"22025" => ("INVALID_PATTERN", "bad-request"),
        b"2201B" | b"22019" | b"2200C" => ("INVALID_PATTERN", "data-exception"),
        b"22021" | b"22P05" => ("INVALID_TEXT", "data-exception"),
        b"2201W" | b"2201X" => ("BAD_USER_INPUT", "data-exception"),
        _ => ("INVALID_VALUE", "data-exception"),
    }
}

/// Spec code, Hasura's code and message of a violated constraint.
fn constraint(
    error: &DatabaseError,
    is_tracked: &dyn Fn(&str, &str) -> bool,
) -> (&'static str, &'static str, String) {
    let (spec, hasura, title, otherwise) = match &error.sqlstate {
        b"23505" => (
            "UNIQUE_VIOLATION",
            "constraint-violation",
            "Uniqueness violation. ",
            "duplicate key value violates unique constraint",
        ),
        b"23503" | b"23001" => (
            "FOREIGN_KEY_VIOLATION",
            "constraint-violation",
            "Foreign key violation. ",
            "a referenced row is missing or still referenced",
        ),
        b"23502" => (
            "NOT_NULL_VIOLATION",
            "constraint-violation",
            "Not-NULL violation. ",
            "null value violates not-null constraint",
        ),
        b"23514" => (
            "CHECK_VIOLATION",
            "permission-error",
            "Check constraint violation. ",
            "new row violates check constraint",
        ),
        b"23P01" => (
            "CONSTRAINT_VIOLATION",
            "constraint-violation",
            "Exclusion violation. ",
            "conflicting key value violates exclusion constraint",
        ),
        _ => ("CONSTRAINT_VIOLATION", "constraint-violation", "", "a constraint is violated"),
    };
    // A failure raised by a function names no table: its words were written for the client.
    let is_named = error.table.is_empty() || is_tracked(&error.schema, &error.table);
    (spec, hasura, format!("{title}{}", if is_named { &error.message } else { otherwise }))
}

/// `message` without what it quotes, as a value of a hidden column may be quoted: `: "…"` or ` "…"`. A value may hold quotes itself,
/// so all goes from the first to the last. A message that begins with one says `a value` instead.
fn without_values(message: &str) -> String {
    let (Some(first), Some(last)) = (message.find('"'), message.rfind('"')) else {
        return message.to_owned();
    };
    let before = &message[..first];
    let before = match before {
        "" => "a value",
        before => before.strip_suffix(": ").unwrap_or_else(|| before.trim_end_matches(' ')),
    };
    [before, &message[last + 1..]].concat()
}

#[cfg(test)]
mod tests;

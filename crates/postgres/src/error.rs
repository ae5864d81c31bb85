//! Errors of PostgreSQL and of connections to it, in words for operators.

use memchr::memchr;
use std::fmt;
use std::io;

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
    /// The answer of a committed write is larger than allowed.
    Unanswered {
        /// The limit of an answer.
        bytes_max: usize,
    },
    /// The server cannot be reached, or the connection broke. What was asked did not happen, or only read.
    Unavailable(Box<dyn std::error::Error + Send + Sync>),
    /// The connection broke before a write was confirmed: it may have happened.
    Unconfirmed(Box<dyn std::error::Error + Send + Sync>),
    /// The server undid a transaction shared with other statements: nothing happened, and the statement can be repeated alone.
    Undone,
    /// The server, or we, broke the protocol.
    Protocol(Box<str>),
}

impl Error {
    /// The connection broke, or cannot be made, for this cause.
    pub fn unavailable(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unavailable(cause.into())
    }

    /// A copy of the failure for a coalesced request.
    pub fn duplicate(&self) -> Self {
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
                    // The kind of the error tells a server that was not reached from one that is incompatible.
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
    pub fn sqlstate(&self) -> Option<[u8; 5]> {
        match self {
            Self::Database { error, .. } => Some(error.sqlstate),
            _ => None,
        }
    }

    /// The name of the constraint that is violated, as a configuration calls it. Before version 18 those of columns that
    /// take no null have none, so they are called as there.
    pub fn violated_constraint(&self) -> Option<String> {
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

    /// True if a retry of the whole transaction may succeed: serialization failure, deadlock, a definition that changed under the
    /// statement, a connection in an unexpected state.
    pub fn is_retryable(&self) -> bool {
        matches!(self.sqlstate().as_ref(), Some(b"40001" | b"40P01"))
            || self.is_forgotten()
            || self.is_overtaken()
    }

    /// True if definitions changed while the server looked at them, or after it had prepared the statement: nothing happened, and the
    /// next attempt finds them as they are.
    pub fn is_overtaken(&self) -> bool {
        matches!(self, Self::Database { error, .. } if error.is_stale_plan() || error.is_out_of_date())
    }

    /// True if the server hung up while the connection was made.
    pub(crate) fn is_hang_up(&self) -> bool {
        let Self::Unavailable(cause) = self else { return false };
        let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        matches!(
            kind,
            Some(io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof)
        )
    }

    /// True if the server, the role or a pooler has too many connections.
    pub(crate) fn is_full(&self) -> bool {
        let Self::Unavailable(cause) = self else { return false };
        let is_full = |it: &DatabaseError| {
            // PgBouncer has no number of its own for it.
            &it.sqlstate == b"53300" || it.message.contains("no more connections allowed")
        };
        cause.downcast_ref::<DatabaseError>().is_some_and(is_full)
    }

    /// True if the server lost a node behind it: nothing happened, and a repeated read may find the node again.
    pub fn is_node_lost(&self) -> bool {
        matches!(self, Self::Database { error, .. } if error.is_node_lost())
    }

    /// True for a lock timeout: nothing happened, and a retry with a longer timeout may succeed.
    pub(crate) fn is_locked(&self) -> bool {
        self.sqlstate().as_ref() == Some(b"55P03")
    }

    /// True if the server's prepared statements differ from the recorded ones: they were discarded, or belong to another
    /// connection. The connection cannot be used again.
    pub(crate) fn is_forgotten(&self) -> bool {
        matches!(self.sqlstate().as_ref(), Some(b"26000" | b"42P05"))
    }
}

/// Names the kind of failure: the server was not reached, it refused, or Weir and it do not fit together.
fn unavailable(cause: &(dyn std::error::Error + Send + Sync + 'static)) -> &'static str {
    if cause.is::<DatabaseError>() {
        return "PostgreSQL refuses the connection";
    }
    match cause.downcast_ref::<io::Error>().map(io::Error::kind) {
        // Errors of TLS or the protocol: the dialer itself reports them about a server that answered.
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
            _ => None,
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
    /// Details of the error; may contain values.
    pub detail: Box<str>,
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
    /// True if the statement that failed is one within a function or trigger of the database's owner.
    pub is_of_function: bool,
}

/// True if `context` is that of a statement within a function: `PL/pgSQL function f() line 1 at …`, `SQL function "f" statement 1`. The
/// names of the languages stand in it in each language of the server.
fn names_function(context: &str) -> bool {
    context.contains("PL/") || context.split(|it: char| !it.is_ascii_alphanumeric()).any(|it| it == "SQL")
}

/// Messages of Citus about its connections to workers, whose state is that of an internal error.
const NODE_LOST: &[&str] = &[
    "failure on connection marked as essential",
    "connection to the remote node",
    "lost connection to",
    "server closed the connection unexpectedly",
    "connection not open",
];

/// Prefixes of messages about an object that was dropped after the statement had found it: types, functions and
/// the like are not locked. The state is that of an internal error.
const OUT_OF_DATE: &[&str] = &["cache lookup failed for ", "could not open relation with OID "];

/// Stands for the routine of the failure of a statement whose result types differ from those planned.
pub const COLUMNS_CHANGED: &str = "ColumnsChanged";

impl DatabaseError {
    /// True if the server cannot run the prepared statement because its result columns changed: the text may still run.
    pub fn is_stale_plan(&self) -> bool {
        &self.sqlstate == b"0A000"
            && (&*self.routine == "RevalidateCachedQuery"
                || self.message.contains("cached plan must not change result type"))
    }

    /// True if an object that the statement had found was dropped before it was used.
    fn is_out_of_date(&self) -> bool {
        &self.sqlstate == b"XX000" && OUT_OF_DATE.iter().any(|it| self.message.starts_with(it))
    }

    /// True if the result columns have other types than when the plan was made.
    pub fn is_type_change(&self) -> bool {
        &self.sqlstate == b"0A000" && &*self.routine == COLUMNS_CHANGED || self.is_stale_plan()
    }

    /// True if the server lost a node behind it.
    pub fn is_node_lost(&self) -> bool {
        &self.sqlstate == b"XX000" && NODE_LOST.iter().any(|it| self.message.contains(it))
    }

    /// True if the server does not know whether it committed.
    pub fn is_ambiguous(&self) -> bool {
        matches!(&self.sqlstate, b"40003" | b"08007")
    }

    /// Reads the body of an error or notice: a letter and a text that ends with 0, each; unknown letters are passed over.
    pub fn read(mut body: &[u8]) -> Self {
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
                b'W' => error.is_of_function |= names_function(&text),
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

//! Messages for clients on failures of PostgreSQL: no SQL, no values, no hidden names.
//!
//! Codes are Hasura's for its protocol, and stable upper-case ones for GraphQL over HTTP. Details are logged only.

mod fetch_errors;
mod refusals;
pub(super) mod shards;

use crate::exec::errors::{check_failed, error_with_code};
use crate::exec::full_disk;
use crate::exec::output::answer::{self, TooLong};
use refusals::{explain_encoding, explain_refusal};
use std::fmt;
use weir_engine::source::{Protocol, SourceError};
use weir_postgres::{DatabaseError, Error};
use weir_relational::dialect::CHECK_FAILED;

/// Turns a failure into an answer for the client of `protocol`.
///
/// - `field`: place of the member whose statement failed.
/// - `is_told`: whether a table (schema, name) stands in the generated schema: only then is it, its columns or its
///   constraints named.
pub fn source_error(
    error: Error,
    protocol: Protocol,
    field: Option<u32>,
    is_told: &dyn Fn(&DatabaseError) -> bool,
) -> SourceError {
    match error {
        Error::Database { error, .. } => map_database_error(error, protocol, field, is_told),
        Error::Timeout => SourceError::Timeout,
        Error::Busy => SourceError::Busy,
        Error::AnswerTooLarge { bytes_max } => {
            let message =
                format!("the answer of the database is larger than {bytes_max} bytes: ask for less at once");
            rejection(protocol, field, "LIMIT_RESPONSE", "unexpected", &message)
        }
        Error::Unanswered { bytes_max } => {
            SourceError::Rejected { error: TooLong::committed_error(bytes_max), field }
        }
        Error::Unavailable(cause) => match cause.downcast_ref::<DatabaseError>() {
            Some(error) if &error.sqlstate == b"53300" => SourceError::Busy,
            _ => SourceError::Unavailable(cause),
        },
        Error::Unconfirmed(cause) => unconfirmed_error(&*cause, field),
        error @ Error::Undone => SourceError::Broken(error.to_string().into()),
        Error::Protocol(what) => SourceError::Broken(what),
    }
}

fn unconfirmed_error(cause: &dyn fmt::Display, field: Option<u32>) -> SourceError {
    tracing::error!(%cause, "the connection broke before a write was confirmed");
    // The engine knows it by this code, and has Hasura's.
    rejection(Protocol::GraphqlOverHttp, field, answer::UNCONFIRMED, "unexpected", UNCONFIRMED)
}

const UNCONFIRMED: &str = "the connection to the database broke before it confirmed the mutation: look whether it happened before sending it again";
const CHANGED: &str = "the database's tables are no longer as they were read: reload the source";
const TOO_LARGE: &str = "the request makes a statement that is too large for the database";
pub(super) const CONCURRENT: &str = "serialization failure due to concurrent update";
const NO_ARBITER: &str = "there is no unique or exclusion constraint on target column(s)";

pub(super) fn rejection(
    protocol: Protocol,
    field: Option<u32>,
    spec: &'static str,
    hasura: &'static str,
    message: &str,
) -> SourceError {
    SourceError::Rejected { error: error_with_code(protocol, spec, hasura, message), field }
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

/// Maps an error of the database by its SQLSTATE. Source: the manual of PostgreSQL, appendix A.
fn map_database_error(
    error: Box<DatabaseError>,
    protocol: Protocol,
    field: Option<u32>,
    is_told: &dyn Fn(&DatabaseError) -> bool,
) -> SourceError {
    let said = |spec, hasura, message: &str| rejection(protocol, field, spec, hasura, message);
    if is_check_failure(&error) {
        return SourceError::Rejected { error: check_failed(protocol), field };
    }
    if error.is_ambiguous() {
        // A distributed database that lost sight of the commit.
        return unconfirmed_error(&error, field);
    }
    match &error.sqlstate {
        b"57014" | b"55P03" | b"25P03" | b"57P05" => SourceError::Timeout,
        b"53300" => SourceError::Busy,
        b"53100" => {
            full_disk::report(&error);
            said(full_disk::CODE, "unexpected", full_disk::MESSAGE)
        }
        b"40001" | b"40P01" => said("CONCURRENT_UPDATE", "concurrent-update", CONCURRENT),
        b"25006" => said("READ_ONLY", "not-supported", "the database is read-only"),
        b"42P10" => said("CONSTRAINT_VIOLATION", "constraint-error", NO_ARBITER),
        b"21000" => said("CONSTRAINT_VIOLATION", "constraint-violation", &without_values(&error.message)),
        b"44000" => said("CHECK_VIOLATION", "permission-error", "new row violates check option for view"),
        b"428C9" => said("INVALID_VALUE", "data-exception", "a generated column takes no value"),
        [b'2', b'3', ..] => {
            let (spec, hasura, message) = constraint(&error, is_told);
            said(spec, hasura, &message)
        }
        [b'2', b'2', ..] => {
            let (spec, hasura) = data_exception(error.sqlstate);
            let words = explain_encoding(&error).unwrap_or_else(|| without_values(&error.message));
            said(spec, hasura, &words)
        }
        b"42601" | b"42622" | b"XX000" if VALUE_READERS.contains(&&*error.routine) => {
            said("INVALID_VALUE", "data-exception", &without_values(&error.message))
        }
        [b'5', b'4', ..] => said("LIMIT_STATEMENT", "validation-failed", &too_large(&error, is_told)),
        [b'0', b'8', ..] | [b'5', b'3', ..] | [b'5', b'7', b'P', ..] | [b'5', b'8', ..] => {
            SourceError::Unavailable(error)
        }
        b"XX000" if error.is_node_lost() => SourceError::Unavailable(error),
        state => {
            // Only a failure of the server itself is logged as an error.
            match state {
                [b'X', b'X', ..] => tracing::error!(%error, "a statement failed within the server"),
                _ => tracing::warn!(%error, "a statement was refused"),
            }
            if is_schema_change(&error) {
                return said("SCHEMA_CHANGED", "unexpected", CHANGED);
            }
            match explain_refusal(&error) {
                Some((spec, hasura, words)) => said(spec, hasura, &words),
                None => said("DATABASE_ERROR", "unexpected", "database query error"),
            }
        }
    }
}

/// True if a written row did not fulfil the check of a permission.
pub(super) fn is_check_failure(error: &DatabaseError) -> bool {
    error.message.contains(CHECK_FAILED)
}

/// True if a name or type no longer exists, or the columns of a prepared statement have other types now.
fn is_schema_change(error: &DatabaseError) -> bool {
    let is_gone = || {
        matches!(&error.sqlstate, b"42P01" | b"42703" | b"42883" | b"42804" | b"42704" | b"42725" | b"3F000")
    };
    // A function of the owner that names what is not there does so whatever the schema of the API is.
    error.is_type_change() || (is_gone() && !error.is_of_function)
}

/// The exceeded limit of the database, by the routine that reported it.
fn too_large(error: &DatabaseError, is_told: &dyn Fn(&DatabaseError) -> bool) -> String {
    let what = match &*error.routine {
        "_bt_check_third_page" | "GinFormTuple" => "a value is too long for an index over it",
        "make_tsvector" => "a text has too many words for an index of words",
        "check_stack_depth" => "the request's conditions are nested too deep for the database",
        _ => return TOO_LARGE.to_owned(),
    };
    if !error.table.is_empty() && is_told(error) {
        format!("{what}: `{}` of `{}`", error.constraint, error.table)
    } else {
        what.to_owned()
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
    is_told: &dyn Fn(&DatabaseError) -> bool,
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
    let is_named = error.table.is_empty() || is_told(error);
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

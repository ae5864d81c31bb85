//! Errors of SQLite, in words for clients: no SQL, no values.
//!
//! Codes are Hasura's for its protocol, and stable upper-case ones for GraphQL over HTTP.

use crate::exec::errors::{check_failed, error_with_code};
use crate::exec::full_disk;
use crate::exec::output::answer;
use crate::exec::pattern_checks::code_of_pattern;
use crate::frontend::ApiFrontend;
use rusqlite::{Error, ErrorCode, ffi};
use weir_engine::source::{Protocol, SourceError};
use weir_sqlite::error::{
    Error as Failed, Lack, constraint_name, find_lack, is_check_complaint, is_pattern_complaint,
    is_too_large, is_value_complaint, pattern_complaint,
};

const DAMAGED: &str = "the database's file is damaged: a copy has to be restored";
const UNCONFIRMED: &str =
    "the disk failed before it confirmed the mutation: look whether it happened before sending it again";
const STOPPED: &str = "the disk failed to keep an earlier change, so no more are made until the database is opened anew; what it has can still be read";
const CHANGED: &str = "the database's tables are no longer as they were read: reload the source";
const TOO_LARGE: &str = "the request makes a statement that is too large for the database";

/// SQLite's words on every violated foreign key.
const KEY_VIOLATED: &str = "FOREIGN KEY constraint failed";
const VIOLATED: &str = "a constraint is violated";
/// Longest message of a trigger that clients receive: it may contain values of rows.
const RAISED_BYTES_MAX: usize = 1024;

/// Turns a failure of SQLite into an answer for the client of `protocol`.
pub fn source_error(error: Error, protocol: Protocol, field: Option<u32>) -> SourceError {
    let rejected = |spec: &'static str, hasura: &'static str, message: &str| SourceError::Rejected {
        error: error_with_code(protocol, spec, hasura, message),
        field,
    };
    if is_check_complaint(&error) {
        return SourceError::Rejected { error: check_failed(protocol), field };
    }
    match &error {
        Error::SqliteFailure(cause, words) => match cause.code {
            ErrorCode::OperationInterrupted => SourceError::Timeout,
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => SourceError::Busy,
            ErrorCode::ConstraintViolation => {
                let (spec, hasura, message) = constraint(cause.extended_code, words.as_deref());
                rejected(spec, hasura, &message)
            }
            ErrorCode::TypeMismatch => rejected("INVALID_VALUE", "data-exception", "datatype mismatch"),
            ErrorCode::TooBig => rejected("INVALID_VALUE", "data-exception", "a text or blob is too long"),
            ErrorCode::ReadOnly => rejected("READ_ONLY", "not-supported", "the database is read-only"),
            ErrorCode::DiskFull => {
                full_disk::report(&error);
                rejected(full_disk::CODE, "unexpected", full_disk::MESSAGE)
            }
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
                tracing::error!(%error, "the database's file is damaged");
                rejected("STORE_DAMAGED", "unexpected", DAMAGED)
            }
            _ => match words.as_deref() {
                Some(words) if is_value_complaint(words) => {
                    rejected("INVALID_VALUE", "data-exception", words)
                }
                Some(words) if is_too_large(words) => {
                    rejected("LIMIT_STATEMENT", "validation-failed", TOO_LARGE)
                }
                // Messages of our own functions come back as text when the statement was run by SQLite.
                Some(words) if is_pattern_complaint(words) => {
                    rejected("INVALID_PATTERN", code_of_pattern(words), words)
                }
                _ if is_of_machine(cause.code) => SourceError::Unavailable(Box::new(error)),
                words => tell_refusal(&error, words.unwrap_or_default(), protocol, field),
            },
        },
        Error::SqlInputError { msg, .. } if is_too_large(msg) => {
            rejected("LIMIT_STATEMENT", "validation-failed", TOO_LARGE)
        }
        Error::SqlInputError { msg, .. } => tell_refusal(&error, msg, protocol, field),
        Error::UserFunctionError(_) => match pattern_complaint(&error) {
            Some(words) => rejected("INVALID_PATTERN", code_of_pattern(words), words),
            None => SourceError::Unavailable(Box::new(error)),
        },
        _ => SourceError::Unavailable(Box::new(error)),
    }
}

/// True for failures of the disk, the memory or the system: they may pass.
const fn is_of_machine(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::OutOfMemory
            | ErrorCode::PermissionDenied
            | ErrorCode::NoLargeFileSupport
            | ErrorCode::FileLockingProtocolFailed
    )
}

/// A statement that SQLite does not take.
fn tell_refusal(error: &Error, words: &str, protocol: Protocol, field: Option<u32>) -> SourceError {
    tracing::warn!(%error, "a statement was refused");
    let (spec, message) = match find_lack(words) {
        Some(Lack::OfPlan) => ("SCHEMA_CHANGED", CHANGED.to_owned()),
        Some(Lack::OfFile(words)) => ("DATABASE_ERROR", words),
        None => ("DATABASE_ERROR", "database query error".to_owned()),
    };
    SourceError::Rejected { error: error_with_code(protocol, spec, "unexpected", message), field }
}

/// Turns a failure of the writer or of a health check into an answer for the client of `protocol`.
pub(super) fn writer_error(error: Failed, protocol: Protocol) -> SourceError {
    match error {
        Failed::Sqlite(error) => source_error(error, protocol, None),
        Failed::Timeout => SourceError::Timeout,
        Failed::Busy => SourceError::Busy,
        Failed::Changed => of_store("SCHEMA_CHANGED", CHANGED, protocol),
        // The engine knows it by this code, and has Hasura's.
        Failed::Unconfirmed => of_store(answer::UNCONFIRMED, UNCONFIRMED, Protocol::GraphqlOverHttp),
        Failed::Stopped => of_store("WRITES_STOPPED", STOPPED, protocol),
        Failed::Thread(cause) => SourceError::Unavailable(cause.into()),
        Failed::Broken(words) => SourceError::Broken(words.into()),
    }
}

fn of_store(spec: &'static str, message: &str, protocol: Protocol) -> SourceError {
    SourceError::Rejected { error: error_with_code(protocol, spec, "unexpected", message), field: None }
}

/// True if the words on a violated constraint name a table or column that callers with these facts do not know.
pub(super) fn names_hidden(words: &str, extended: i32, facts: &[u64], frontend: &dyn ApiFrontend) -> bool {
    let named = words.split_once(": ").and_then(|it| it.1.split(", ").next()?.rsplit_once('.'));
    let Some((table, column)) = named else { return false };
    let column = (extended == ffi::SQLITE_CONSTRAINT_NOTNULL).then_some(column);
    let found = frontend.relations().catalog.find("", table);
    !found.is_some_and(|it| frontend.is_exposed(it, column, facts))
}

/// Spec code, Hasura's code and message of a violated constraint. Of SQLite's words only the
/// names are kept that are in the generated schema too.
fn constraint(extended: i32, words: Option<&str>) -> (&'static str, &'static str, String) {
    let columns = words.and_then(|it| it.split_once(": ")).map(|it| it.1);
    match extended {
        ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_ROWID => {
            // An index over expressions is no constraint of the schema.
            let columns = columns.filter(|it| !it.starts_with("index '"));
            let message = format!(
                "Uniqueness violation. duplicate key value violates unique constraint{}",
                columns.map(|it| format!(" \"{}\"", constraint_name(it, extended))).unwrap_or_default()
            );
            ("UNIQUE_VIOLATION", "constraint-violation", message)
        }
        // RESTRICT is made of a trigger, and has the words of the others.
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY | ffi::SQLITE_CONSTRAINT_TRIGGER
            if extended == ffi::SQLITE_CONSTRAINT_FOREIGNKEY || words == Some(KEY_VIOLATED) =>
        {
            let message = "Foreign key violation. a referenced row is missing or still referenced".into();
            ("FOREIGN_KEY_VIOLATION", "constraint-violation", message)
        }
        ffi::SQLITE_CONSTRAINT_NOTNULL => {
            let column = columns.and_then(|it| it.rsplit('.').next());
            let place = column.map(|it| format!(" in column \"{it}\"")).unwrap_or_default();
            let message = format!("Not-NULL violation. null value{place} violates not-null constraint");
            ("NOT_NULL_VIOLATION", "constraint-violation", message)
        }
        ffi::SQLITE_CONSTRAINT_CHECK => {
            let message = "Check constraint violation. new row violates check constraint".into();
            ("CHECK_VIOLATION", "permission-error", message)
        }
        ffi::SQLITE_CONSTRAINT_DATATYPE => {
            ("INVALID_VALUE", "data-exception", "a value does not fit the type of its column".into())
        }
        // A trigger's own words, which its author wrote for users.
        ffi::SQLITE_CONSTRAINT_TRIGGER => {
            let message = words.map_or(VIOLATED, |it| &it[..it.floor_char_boundary(RAISED_BYTES_MAX)]);
            ("CONSTRAINT_VIOLATION", "constraint-violation", message.to_owned())
        }
        _ => ("CONSTRAINT_VIOLATION", "constraint-violation", VIOLATED.to_owned()),
    }
}

/// The error of a mutation of a database that can only be read.
pub(super) fn read_only(protocol: Protocol) -> SourceError {
    let error = error_with_code(protocol, "READ_ONLY", "not-supported", "the database is read-only");
    SourceError::Rejected { error, field: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    fn check(sql: &str, expected: &str) {
        let connection = Connection::open_in_memory().unwrap();
        let tables = "PRAGMA foreign_keys = on; CREATE TABLE a (x INTEGER PRIMARY KEY, y TEXT UNIQUE NOT NULL, \
             z INT CHECK (z > 0), w INT REFERENCES a (x)); INSERT INTO a VALUES (1, 'one', 1, 1); \
             CREATE TABLE kept (x INT REFERENCES a ON DELETE RESTRICT); INSERT INTO kept VALUES (1); \
             CREATE TABLE b (x INT); CREATE TRIGGER b_in BEFORE INSERT ON b BEGIN SELECT RAISE(ABORT, 'x must be positive') \
             WHERE new.x <= 0; SELECT RAISE(FAIL, 'ä: b.x') WHERE new.x = 7; END; \
             CREATE TABLE c (x INT); CREATE TRIGGER c_in BEFORE INSERT ON c BEGIN SELECT shape(new.x); END;";
        connection.execute_batch(tables).unwrap();
        let error = connection.execute(sql, []).unwrap_err();
        let shown = match source_error(error, Protocol::Hasura, None) {
            SourceError::Rejected { error, .. } => format!("{}: {}", error.code, error.message),
            other => other.to_string(),
        };
        assert_eq!(shown, expected, "{sql}");
    }

    #[test]
    fn violated_constraints_are_told_in_hasuras_words() {
        let unique =
            "constraint-violation: Uniqueness violation. duplicate key value violates unique constraint";
        check("INSERT INTO a VALUES (1, 'two', 1, 1)", &format!("{unique} \"a_pkey\""));
        check("INSERT INTO a VALUES (2, 'one', 1, 1)", &format!("{unique} \"a_y_key\""));
        check(
            "INSERT INTO a VALUES (2, NULL, 1, 1)",
            "constraint-violation: Not-NULL violation. null value in column \"y\" violates not-null constraint",
        );
        check(
            "INSERT INTO a VALUES (2, 'two', 0, 1)",
            "permission-error: Check constraint violation. new row violates check constraint",
        );
        check(
            "INSERT INTO a VALUES (2, 'two', 1, 9)",
            "constraint-violation: Foreign key violation. a referenced row is missing or still referenced",
        );
        check("INSERT INTO a VALUES ('x', 'two', 1, 1)", "data-exception: datatype mismatch");
        check(
            "DELETE FROM a",
            "constraint-violation: Foreign key violation. a referenced row is missing or still referenced",
        );
    }
    #[test]
    fn the_words_of_triggers_and_what_the_file_lacks_are_told() {
        check("INSERT INTO b VALUES (0)", "constraint-violation: x must be positive");
        check("INSERT INTO b VALUES (7)", "constraint-violation: ä: b.x");
        check(
            "INSERT INTO c VALUES (1)",
            "unexpected: the database's file needs the function `shape` of the program that made it",
        );
        check("INSERT INTO gone VALUES (1)", &format!("unexpected: {CHANGED}"));
        check("SELECT missing FROM a", &format!("unexpected: {CHANGED}"));
        check("SELECT 1 +", "unexpected: database query error");
    }
}

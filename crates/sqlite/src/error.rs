//! Failures of SQLite and of the threads that run its statements, in words for operators.

use crate::functions::SUM_COMPLAINTS;
use crate::functions::json_edit;
use crate::functions::pattern::BadPattern;
use rusqlite::ffi;
use std::fmt;
use weir_relational::dialect::CHECK_FAILED;

/// A reason for which a job has no result.
#[derive(Debug)]
pub enum Error {
    /// SQLite refused it.
    Sqlite(rusqlite::Error),
    /// The deadline passed before the work was done.
    Timeout,
    /// Too many wait already.
    Busy,
    /// The tables have another version than the writer was started for. Nothing was written.
    Changed,
    /// The disk did not confirm a commit: it may have happened.
    Unconfirmed,
    /// The disk did not confirm an earlier commit, and nothing is written since.
    Stopped,
    /// No thread can be started.
    Thread(std::io::Error),
    /// A bug in Weir.
    Broken(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(error) => error.fmt(f),
            Self::Timeout => f.write_str("the deadline passed"),
            Self::Busy => f.write_str("too many jobs wait"),
            Self::Changed => f.write_str("the tables were changed"),
            Self::Unconfirmed => f.write_str("the disk did not confirm a commit"),
            Self::Stopped => f.write_str("the disk did not confirm an earlier commit"),
            Self::Thread(cause) => write!(f, "cannot start a thread: {cause}"),
            Self::Broken(words) => f.write_str(words),
        }
    }
}

impl std::error::Error for Error {}

/// True if it is unknown whether the written data is on the disk.
pub(crate) fn is_sync_failure(error: &rusqlite::Error) -> bool {
    let codes = [ffi::SQLITE_IOERR_FSYNC, ffi::SQLITE_IOERR_DIR_FSYNC];
    matches!(error, rusqlite::Error::SqliteFailure(cause, _) if codes.contains(&cause.extended_code))
}

/// True if a written row does not fulfil the check of a permission.
pub fn is_check_complaint(error: &rusqlite::Error) -> bool {
    matches!(error, rusqlite::Error::SqliteFailure(_, Some(words)) if words == CHECK_FAILED)
}

/// The words of a pattern that a function of Weir's refused: the client's error.
pub fn pattern_complaint(error: &rusqlite::Error) -> Option<&str> {
    let rusqlite::Error::UserFunctionError(cause) = error else { return None };
    cause.downcast_ref::<BadPattern>().map(|it| it.0.as_str())
}

/// True if SQLite, or a function of Weir's, reports a value that it cannot take: the client's error.
pub fn is_value_complaint(words: &str) -> bool {
    matches!(words, "integer overflow" | "malformed JSON")
        || json_edit::COMPLAINTS.contains(&words)
        || SUM_COMPLAINTS.contains(&words)
}

/// Failures caused by the file: a statement needs something that this SQLite, or the file itself, lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lack {
    /// A table or column of a plan: the file was changed.
    OfPlan,
    /// Something of the program that made the file, or of another place of the file; words for clients.
    OfFile(String),
}

/// The lack that SQLite's message on a statement reports, if any.
pub fn find_lack(words: &str) -> Option<Lack> {
    let after = |start: &str| words.strip_prefix(start);
    let program = |kind: &str, name: &str| {
        Some(Lack::OfFile(format!(
            "the database's file needs the {kind} `{name}` of the program that made it"
        )))
    };
    if let Some(name) = after("no such collation sequence: ") {
        return program("collation", name);
    }
    let function = after("no such function: ").or_else(|| after("unknown function: "));
    if let Some(name) = function.or_else(|| after("unsafe use of ").filter(|it| it.ends_with("()"))) {
        return program("function", name.trim_end_matches("()"));
    }
    if let Some(name) = after("no such module: ").or_else(|| after("unsafe use of virtual table ")) {
        return program("module", name.trim_matches('"'));
    }
    if words.starts_with("foreign key mismatch") {
        return Some(Lack::OfFile(
            "a foreign key of the database's file refers to columns that are no key".into(),
        ));
    }
    // Statements of plans have no schema before a table; `new` and `old` are the rows of a trigger.
    if words.starts_with("no such table: main.") {
        let words =
            "a foreign key, a trigger or a view of the database's file names a table that is not there";
        return Some(Lack::OfFile(words.into()));
    }
    if let Some(column) = after("no such column: ") {
        let table = column.split_once('.').map_or("", |it| it.0);
        let is_of_trigger = ["new", "old"].iter().any(|it| table.eq_ignore_ascii_case(it));
        let words = "a trigger or a view of the database's file names a column that is not there";
        return Some(if is_of_trigger { Lack::OfFile(words.into()) } else { Lack::OfPlan });
    }
    let is_of_plan = words.starts_with("no such table: ")
        || (words.starts_with("table ") && words.contains(" has no column named "));
    is_of_plan.then_some(Lack::OfPlan)
}

/// True if the statement exceeds a limit of SQLite, which only a request can cause.
pub fn is_too_large(words: &str) -> bool {
    ["Expression tree is too large", "parser stack overflow", "at most 64 tables in a join", "too many"]
        .iter()
        .any(|it| words.starts_with(it))
}

/// True if SQLite reports a pattern that a function of Weir's refused: the client's error.
pub fn is_pattern_complaint(words: &str) -> bool {
    ["LIKE pattern must not", "invalid regular expression", "the pattern ", "a pattern has to be"]
        .iter()
        .any(|it| words.starts_with(it))
}

/// The name of the constraint that `error` violates, as a configuration calls it. SQLite does not say which foreign key.
pub fn violated_constraint(error: &rusqlite::Error) -> Option<String> {
    let rusqlite::Error::SqliteFailure(cause, Some(words)) = error else { return None };
    let what = words.split_once(": ")?.1;
    match cause.extended_code {
        ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_ROWID => {
            let index = what.strip_prefix("index '").and_then(|it| it.strip_suffix('\''));
            Some(index.map_or_else(|| constraint_name(what, cause.extended_code), str::to_owned))
        }
        ffi::SQLITE_CONSTRAINT_NOTNULL => {
            what.split_once('.').map(|(table, column)| format!("{table}_{column}_not_null"))
        }
        ffi::SQLITE_CONSTRAINT_CHECK => Some(what.to_owned()),
        _ => None,
    }
}

/// `Album.AlbumId` of a primary key is `Album_pkey`; of others `Album_AlbumId_key`, as the catalog names them.
pub fn constraint_name(columns: &str, extended: i32) -> String {
    let mut table = "";
    let mut names = Vec::new();
    for column in columns.split(", ") {
        if let Some((of, name)) = column.split_once('.') {
            table = of;
            names.push(name);
        }
    }
    match extended {
        ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_ROWID => format!("{table}_pkey"),
        _ => format!("{table}_{}_key", names.join("_")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    #[test]
    fn what_a_file_needs_is_told() {
        let connection = Connection::open_in_memory().unwrap();
        let tables = "PRAGMA foreign_keys = on; CREATE TABLE a (x INTEGER PRIMARY KEY, y TEXT); \
             CREATE TABLE b (x INT REFERENCES a (y)); CREATE TABLE c (x INT REFERENCES gone (x)); \
             CREATE TABLE d (x INT); CREATE TRIGGER d_in AFTER INSERT ON d BEGIN SELECT shape(new.x); END; \
             CREATE TABLE e (x INT); CREATE TRIGGER e_in AFTER INSERT ON e BEGIN INSERT INTO gone VALUES (1); END; \
             CREATE TABLE f (x INT); CREATE TRIGGER f_in AFTER INSERT ON f BEGIN SELECT new.gone; END;";
        connection.execute_batch(tables).unwrap();
        let of_program = |what: &str| {
            Some(Lack::OfFile(format!("the database's file needs the {what} of the program that made it")))
        };
        let no_key = "a foreign key of the database's file refers to columns that are no key";
        let no_table =
            "a foreign key, a trigger or a view of the database's file names a table that is not there";
        let no_column = "a trigger or a view of the database's file names a column that is not there";
        for (sql, lack) in [
            ("INSERT INTO d VALUES (1)", of_program("function `shape`")),
            ("SELECT x FROM d ORDER BY x COLLATE other", of_program("collation `other`")),
            ("INSERT INTO b VALUES (1)", Some(Lack::OfFile(no_key.into()))),
            ("INSERT INTO c VALUES (1)", Some(Lack::OfFile(no_table.into()))),
            ("INSERT INTO e VALUES (1)", Some(Lack::OfFile(no_table.into()))),
            ("INSERT INTO f VALUES (1)", Some(Lack::OfFile(no_column.into()))),
            ("SELECT t0.\"x\" FROM \"gone\" AS t0", Some(Lack::OfPlan)),
            ("SELECT t0.\"gone\" FROM \"a\" AS t0", Some(Lack::OfPlan)),
            ("DELETE FROM \"d\" AS t0 RETURNING \"d\".\"gone\"", Some(Lack::OfPlan)),
            ("INSERT INTO \"a\" AS t0 (\"gone\") VALUES (1)", Some(Lack::OfPlan)),
            ("UPDATE \"a\" AS t0 SET \"gone\" = 1", Some(Lack::OfPlan)),
            ("SELECT 1 +", None),
        ] {
            let error = connection.execute(sql, []).unwrap_err();
            let words = match &error {
                rusqlite::Error::SqliteFailure(_, Some(words)) => words,
                rusqlite::Error::SqlInputError { msg, .. } => msg,
                other => panic!("{sql}: {other}"),
            };
            assert_eq!(find_lack(words), lack, "{sql}: {words}");
        }
    }

    #[test]
    fn violated_constraints_have_the_names_postgresql_gives() {
        let connection = Connection::open_in_memory().unwrap();
        let tables = "CREATE TABLE a (x INTEGER PRIMARY KEY, y TEXT UNIQUE NOT NULL, z INT, \
             CONSTRAINT positive CHECK (z > 0)); CREATE UNIQUE INDEX folded ON a (lower(y)) WHERE z > 5; \
             INSERT INTO a VALUES (1, 'one', 9);";
        connection.execute_batch(tables).unwrap();
        for (row, name) in [
            ("1, 'two', 1", "a_pkey"),
            ("2, 'one', 1", "a_y_key"),
            ("2, 'ONE', 9", "folded"),
            ("2, NULL, 1", "a_y_not_null"),
            ("2, 'two', 0", "positive"),
        ] {
            let error = connection.execute(&format!("INSERT INTO a VALUES ({row})"), []).unwrap_err();
            assert_eq!(violated_constraint(&error).as_deref(), Some(name), "{row}");
        }
    }
}

//! `run_sql`: SQL of an admin on a configured database.
//!
//! **Invariant:** with `read_only` the database itself refuses to write.

use super::sql_renames::{self, Renaming, SqliteNames, SqliteSteps};
use super::{Done, Work};
use crate::config::Source;
use crate::config::source::address;
use crate::config::source::address::Address;
use crate::generation::{Generation, Turn};
use crate::server::operator::reload;
use crate::server::request::hasura_error::HasuraError;
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Batch, Connection, OpenFlags};
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};
use weir_metadata::edit::SchemaRenames;
use weir_postgres::script::sql_text;
use weir_postgres::script::{self, Manner, ScriptAnswer};
use weir_postgres::{Error, Settings};
use weir_sqlite::session_row::{SessionRow, WriterSession};

/// Timeout of one command.
const PATIENCE: Duration = Duration::from_secs(300);
/// Maximum size of a result, in bytes.
const ROWS_BYTES_MAX: usize = 64 << 20;
/// SQLite instructions between two checks of the timeout.
const INSTRUCTIONS: i32 = 10_000;
/// Keywords of statements that may change the schema.
const CHANGES: [&str; 5] = ["ALTER", "CREATE", "DROP", "REPLACE", "COMMENT"];

/// Schema in which older versions of the command line keep their state. Hasura's server has it in its own database.
const STATE_SCHEMA: &str = "hdb_catalog";

/// Runs `sql` on a source, and takes a changed schema over. Renamed tables and columns are followed into the metadata if `is_followed`.
pub(super) fn run(work: &Work, source: Option<&str>, sql: &str, manner: Manner, is_followed: bool) -> Done {
    let generation = work.live.current();
    let found = database(&generation, source)?;
    let address =
        address::parse(&found.url).map_err(|message| HasuraError::new("unexpected", "$.args", message))?;
    let is_followed =
        is_followed && !manner.is_read_only && found.of_metadata.is_some() && sql_renames::may_rename(sql);
    // The turn is taken behind the statements, which may take long: they hold up no change of the metadata.
    let _alone = is_followed.then(|| work.live.lock_renaming());
    let mut renaming = is_followed.then(|| Renaming::new(&work.live, &found.name));
    let answer = match (&address, &mut renaming) {
        (Address::Sqlite(path), renaming) => sqlite(path, sql, manner, renaming.as_mut()),
        (Address::Postgres(url), Some(renaming)) => postgres_with_names(url, sql, manner, renaming),
        (Address::Postgres(url), None) => postgres_with_state(url, sql, manner),
        (Address::Native(_) | Address::Services(_), _) => {
            let message = format!("source \"{}\" is no database", found.name);
            return Err(HasuraError::new("not-supported", "$.args", message));
        }
    };
    let steps = renaming.map(|it| it.steps).unwrap_or_default();
    // Statements before a failed one may have been committed.
    let is_done = answer.is_ok() || manner.is_stepwise || steps.iter().any(|it| !it.is_empty());
    let taken_over = if is_done && !manner.is_read_only && may_change(sql) {
        take_over(work, &work.live.turn(), &found.name, &steps)
    } else {
        Ok(())
    };
    let answer = answer?;
    taken_over?;
    Ok(script_answer_json(&answer))
}

/// Takes a changed schema over, and follows `steps` into the metadata.
fn take_over(work: &Work, turn: &Turn<'_>, source: &str, steps: &[SchemaRenames]) -> Result<(), HasuraError> {
    let followed = work.follow_renames(turn, source, steps);
    if !matches!(followed, Ok(true)) {
        reload::reload_and_log(turn, &work.metrics).map_err(|message| {
            let message = format!("the statements were run, but the schema cannot be taken over: {message}");
            HasuraError::new("unexpected", "$.args", message)
        })?;
    }
    followed.map(|_| ()).map_err(|error| {
        let message = format!(
            "the statements were run, but the metadata does not follow the renamed tables or columns: {}",
            error.message
        );
        tracing::warn!("{message}");
        HasuraError { message, ..error }
    })
}

/// Runs `sql`, and again with the schema of the command line's state if it lacks only that.
fn postgres_with_state(url: &str, sql: &str, manner: Manner) -> Result<ScriptAnswer, HasuraError> {
    match postgres(url, sql, manner) {
        Err(error) if lacks_state_schema(&error) && !manner.is_read_only && is_single(sql) => {
            postgres(url, &format!("CREATE SCHEMA IF NOT EXISTS {STATE_SCHEMA}"), Manner::default())?;
            postgres(url, sql, manner)
        }
        answer => answer,
    }
}

/// Runs `sql`, and adds the names that it changed to `renaming`.
fn postgres_with_names(
    url: &str,
    sql: &str,
    manner: Manner,
    renaming: &mut Renaming<'_>,
) -> Result<ScriptAnswer, HasuraError> {
    let ask = |sql: &str| {
        let manner = Manner { is_read_only: true, ..Manner::default() };
        postgres(url, sql, manner).map(|it| match it {
            ScriptAnswer::Rows(_, rows) => rows,
            ScriptAnswer::Done => Vec::new(),
        })
    };
    let before = ask(sql_renames::COLUMNS)?;
    let keys = ask(sql_renames::KEYS)?;
    let mut refused = Ok(());
    let answer = if manner.is_stepwise || !script::is_judgeable(sql) {
        postgres_with_state(url, sql, manner)
    } else {
        let mut judge = |after: &[Vec<Option<String>>]| {
            refused = renaming.refuse_taken(&[sql_renames::compare_rows(&before, after, &keys)]);
            refused.is_ok()
        };
        let judged = on_server(url, sql, async |settings, deadline| {
            script::run_judged(&settings, sql, manner, deadline, sql_renames::COLUMNS, &mut judge).await
        });
        judged.map(|it| it.unwrap_or(ScriptAnswer::Done))
    };
    refused?;
    // The statements were run: names that cannot be read now are not followed.
    let after = ask(sql_renames::COLUMNS).unwrap_or_default();
    renaming.steps.push(sql_renames::compare_rows(&before, &after, &keys));
    answer
}

/// Runs a read-only query on the source `name`, in the variant for its kind of database.
pub(in crate::server::operator) fn ask(
    generation: &Generation,
    name: Option<&str>,
    of_postgres: &str,
    of_sqlite: &str,
) -> Result<ScriptAnswer, HasuraError> {
    let found = database(generation, name)?;
    let address = address::parse(&found.url);
    let manner = Manner { is_read_only: true, ..Manner::default() };
    match address.map_err(|message| HasuraError::new("unexpected", "$.args", message))? {
        Address::Sqlite(path) => sqlite(&path, of_sqlite, manner, None),
        Address::Postgres(url) => postgres(&url, of_postgres, manner),
        Address::Native(_) | Address::Services(_) => {
            let message = format!("source \"{}\" is no database", found.name);
            Err(HasuraError::new("not-supported", "$.args", message))
        }
    }
}

/// The schema of tables of `source` that are named without one.
pub(super) fn default_schema(source: &Source) -> &'static str {
    match address::parse(&source.url) {
        Ok(Address::Sqlite(_)) => "main",
        Ok(Address::Postgres(_) | Address::Native(_) | Address::Services(_)) | Err(_) => "public",
    }
}

/// True for the error of a statement that needs the missing schema [`STATE_SCHEMA`].
fn lacks_state_schema(error: &HasuraError) -> bool {
    let told = |it: &str| it.contains("\"3F000\"") && it.contains(STATE_SCHEMA);
    error.internal.as_deref().is_some_and(told)
}

/// True for a single statement, which can be repeated after a failure because nothing was done.
fn is_single(sql: &str) -> bool {
    sql_text::statements(sql).len() == 1
}

/// The database `name`; without a name, `default` or the only one.
pub(super) fn database<'g>(
    generation: &'g Generation,
    name: Option<&str>,
) -> Result<&'g Source, HasuraError> {
    let databases: Vec<&Source> = generation.config.sources.iter().filter(|it| !it.url.is_empty()).collect();
    let found = databases.iter().find(|it| it.name == name.unwrap_or("default"));
    match (found, databases.as_slice()) {
        (Some(found), _) => Ok(*found),
        (None, [only]) if name.is_none() => Ok(*only),
        (None, _) => {
            let message = format!("source with name \"{}\" does not exist", name.unwrap_or("default"));
            Err(HasuraError::new("not-exists", "$.args", message))
        }
    }
}

/// True if `sql` contains a keyword of a schema change. A false positive costs only a reload.
fn may_change(sql: &str) -> bool {
    let mut words = sql.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
    words.any(|word| CHANGES.iter().any(|it| it.eq_ignore_ascii_case(word)))
}

fn script_answer_json(answer: &ScriptAnswer) -> String {
    match answer {
        ScriptAnswer::Done => r#"{"result_type":"CommandOk","result":null}"#.to_owned(),
        ScriptAnswer::Rows(columns, rows) => {
            let text = |it: &Option<String>| it.clone().unwrap_or_else(|| "NULL".to_owned());
            let rows = rows.iter().map(|it| it.iter().map(text).collect::<Vec<_>>());
            let all: Vec<Vec<String>> = std::iter::once(columns.clone()).chain(rows).collect();
            json!({ "result_type": "TuplesOk", "result": all }).to_string()
        }
    }
}

/// Words of an error, with those of the database if it is one of a statement.
pub(in crate::server::operator) fn error_words(error: &HasuraError) -> String {
    let internal =
        error.internal.as_deref().and_then(|it| serde_json::from_str::<serde_json::Value>(it).ok());
    let cause = internal.and_then(|it| it["error"]["message"].as_str().map(str::to_owned));
    cause.unwrap_or_else(|| error.message.clone())
}

/// The database's error for a failed statement.
#[derive(Clone, Copy, Default)]
struct StatementError<'e> {
    status_code: &'e str,
    message: &'e str,
    detail: &'e str,
    hint: &'e str,
}

/// Error of a statement in Hasura's format.
fn statement_error(sql: &str, error: StatementError<'_>) -> HasuraError {
    let StatementError { status_code, message, detail, hint } = error;
    let some = |it: &str| if it.is_empty() { None } else { Some(it.to_owned()) };
    let internal = json!({
        "statement": sql,
        "prepared": false,
        "arguments": [],
        "error": {
            "exec_status": "FatalError",
            "status_code": status_code,
            "message": message,
            "description": some(detail),
            "hint": some(hint),
        },
    });
    HasuraError::new("postgres-error", "$.args", "query execution failed").with_internal(internal.to_string())
}

fn postgres(url: &str, sql: &str, manner: Manner) -> Result<ScriptAnswer, HasuraError> {
    on_server(url, sql, async |settings, deadline| script::run(&settings, sql, manner, deadline).await)
}

/// Waits for `run`, which runs `sql` on the server at `url`.
fn on_server<T>(
    url: &str,
    sql: &str,
    run: impl AsyncFnOnce(Settings, Instant) -> Result<T, Error>,
) -> Result<T, HasuraError> {
    let settings = Settings::parse(url, |name| std::env::var(name).ok());
    let settings = settings.map_err(|it| HasuraError::new("unexpected", "$.args", it.0))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| HasuraError::new("unexpected", "$.args", error.to_string()))?;
    let done = runtime.block_on(run(settings, Instant::now() + PATIENCE));
    done.map_err(|error| match &error {
        Error::Database { error, .. } => {
            let status_code = String::from_utf8_lossy(&error.sqlstate).into_owned();
            let status_code = status_code.as_str();
            let error = StatementError {
                status_code,
                message: &error.message,
                detail: &error.detail,
                hint: &error.hint,
            };
            statement_error(sql, error)
        }
        other => HasuraError::new("unexpected", "$.args", other.to_string()),
    })
}

/// Error of a statement on a file.
fn file_error(sql: &str, error: &rusqlite::Error) -> HasuraError {
    let message = error.to_string();
    let error =
        StatementError { status_code: sqlite_code(error), message: &message, ..StatementError::default() };
    statement_error(sql, error)
}

/// Opens a file for statements in a transaction, unless `manner` wants each alone.
fn open_file(path: &Path, manner: Manner) -> rusqlite::Result<Connection> {
    let access = if manner.is_read_only {
        OpenFlags::SQLITE_OPEN_READ_ONLY
    } else {
        OpenFlags::SQLITE_OPEN_READ_WRITE
    };
    let mut connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    let deadline = Instant::now() + PATIENCE;
    connection.busy_timeout(Duration::from_secs(10))?;
    // `ATTACH` would open other files of this machine.
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.progress_handler(INSTRUCTIONS, Some(move || Instant::now() > deadline))?;
    let setup = match (manner.is_read_only, manner.is_stepwise) {
        (true, _) => "PRAGMA query_only = ON; BEGIN",
        (false, false) => "PRAGMA foreign_keys = ON; BEGIN IMMEDIATE",
        (false, true) => "PRAGMA foreign_keys = ON",
    };
    connection.execute_batch(setup)?;
    Ok(connection)
}

fn sqlite(
    path: &Path,
    sql: &str,
    manner: Manner,
    renaming: Option<&mut Renaming<'_>>,
) -> Result<ScriptAnswer, HasuraError> {
    let fail = |error: rusqlite::Error| file_error(sql, &error);
    let connection = open_file(path, manner).map_err(fail)?;
    // Outside of a transaction of ours others would find the session.
    let session = manner.session.filter(|_| !connection.is_autocommit() && !manner.is_read_only);
    let mut session_row = SessionRow::default();
    let variables = session.as_ref().map(|it| it as &dyn WriterSession);
    session_row.begin(&connection).and_then(|()| session_row.fill(&connection, variables)).map_err(fail)?;
    let mut steps = renaming.as_ref().map(|_| SqliteSteps::begin(&connection)).transpose().map_err(fail)?;
    let mut answer = statements(&connection, sql, steps.as_mut()).map_err(fail);
    if session_row.is_there() && session.is_some() {
        // The script may have dropped the table.
        let emptied = session_row.empty(&connection);
        emptied.map_err(fail)?;
    }
    if let (Ok(_), Some(steps), Some(renaming), false) =
        (&answer, &steps, &renaming, connection.is_autocommit())
    {
        let steps = steps.compose(&connection).map_err(fail)?;
        renaming.refuse_taken(&steps).unwrap_or_else(|error| answer = Err(error));
    }
    let ended = end_transaction(&connection, answer.is_ok());
    if let (Some(steps), Some(renaming)) = (&mut steps, renaming) {
        let composed = steps.forget_undone(&connection).and_then(|()| steps.compose(&connection));
        renaming.steps = composed.map_err(fail)?;
    }
    ended.map_err(fail)?;
    answer?.ok_or_else(|| {
        HasuraError::new("unexpected", "$.args", format!("the rows are longer than {ROWS_BYTES_MAX} bytes"))
    })
}

/// Commits the transaction, or rolls it back; the script may have ended it itself.
fn end_transaction(connection: &Connection, is_committed: bool) -> rusqlite::Result<()> {
    if connection.is_autocommit() {
        return Ok(());
    }
    if is_committed && let Err(error) = connection.execute_batch("COMMIT") {
        return connection.execute_batch("ROLLBACK").and(Err(error));
    }
    if is_committed { Ok(()) } else { connection.execute_batch("ROLLBACK") }
}

/// Runs all statements and returns the rows of the last; `None` if they are too large. Names that a statement changes are added to
/// `steps`.
fn statements(
    connection: &Connection,
    sql: &str,
    mut steps: Option<&mut SqliteSteps>,
) -> rusqlite::Result<Option<ScriptAnswer>> {
    let mut batch = Batch::new(connection, sql);
    let mut last = ScriptAnswer::Done;
    while let Some(mut statement) = batch.next()? {
        let is_rename =
            steps.is_some() && statement.expanded_sql().is_some_and(|it| sql_renames::may_rename(&it));
        let before = is_rename.then(|| SqliteNames::read(connection)).transpose()?;
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let count = columns.len();
        let mut rows = Vec::new();
        let mut bytes = 0;
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            let values: Vec<Option<String>> =
                (0..count).map(|at| row.get_ref(at).map(text)).collect::<rusqlite::Result<_>>()?;
            bytes += values.iter().flatten().map(String::len).sum::<usize>();
            if bytes > ROWS_BYTES_MAX {
                return Ok(None);
            }
            rows.push(values);
        }
        drop(found);
        if let Some(steps) = &mut steps {
            before.map_or(Ok(()), |it| steps.add(connection, &it))?;
            steps.forget_undone(connection)?;
        }
        last = if count == 0 { ScriptAnswer::Done } else { ScriptAnswer::Rows(columns, rows) };
    }
    Ok(Some(last))
}

fn text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(value) => Some(value.to_string()),
        ValueRef::Real(value) => Some(format!("{value:?}")),
        ValueRef::Text(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Blob(bytes) => {
            let digits: String = bytes.iter().map(|it| format!("{it:02x}")).collect();
            Some(format!("\\x{digits}"))
        }
    }
}

/// The PostgreSQL error code closest to an SQLite error.
fn sqlite_code(error: &rusqlite::Error) -> &'static str {
    use rusqlite::ErrorCode::{ConstraintViolation, DatabaseBusy, OperationInterrupted, ReadOnly};
    match error.sqlite_error_code() {
        Some(ConstraintViolation) => "23000",
        Some(ReadOnly) => "25006",
        Some(DatabaseBusy) => "55P03",
        Some(OperationInterrupted) => "57014",
        Some(_) => "42601",
        None => "XX000",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_may_change_the_schema_are_known_by_their_words() {
        for sql in
            ["create table a (b int)", "SELECT 1; ALTER TABLE a RENAME TO b", "COMMENT ON TABLE a IS 'x'"]
        {
            assert!(may_change(sql), "{sql}");
        }
        for sql in ["SELECT created FROM altered", "INSERT INTO a VALUES (1)"] {
            assert!(!may_change(sql), "{sql}");
        }
    }
}

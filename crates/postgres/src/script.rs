//! Runs a text of SQL, of one statement or several, and gives what the last one answers as texts: for operators, not for
//! requests.
//!
//! The text goes in one message of the simple protocol, so that the server makes one transaction of it, unless it says `BEGIN`
//! itself; or statement by statement, each of which is a transaction. Each script has a connection of its own.
//!
//! Source: the manual of PostgreSQL, "Message Flow", "Simple Query".

pub mod describe;
pub mod sql_text;

use crate::address::Settings;
use crate::connect::dial::{Dialer, Kind, ReadVersion};
use crate::error::{DatabaseError, Error};
use crate::protocol::message;
use crate::protocol::rows::{Columns, split};
use crate::protocol::stream::Stream;
use bytes::{Buf, BytesMut};
use postgres_protocol::message::frontend;
use sql_text::{first_word, statements};
use std::borrow::Cow;
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The answer of the last statement of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptAnswer {
    /// Rows, with the names of their columns; `None` is null.
    Rows(Vec<String>, Vec<Vec<Option<String>>>),
    /// The statement returns no rows.
    Done,
}

/// Way to run a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// No statement can write.
    pub is_read_only: bool,
    /// Each statement is a transaction of its own, so those that cannot be part of one can be run.
    pub is_stepwise: bool,
    /// The session variables that triggers and functions read, as JSON.
    pub session: Option<&'static str>,
}

/// Runs `sql` on a server that takes writes.
/// # Errors
/// The server cannot be reached, refuses a statement, or answers too much.
pub async fn run(
    settings: &Settings,
    sql: &str,
    manner: Manner,
    deadline: Instant,
) -> Result<ScriptAnswer, Error> {
    let bytes_max = settings.limits.answer_bytes_max;
    let work = async {
        let (mut stream, mut read) = connect_to_writer(settings).await?;
        if manner.is_read_only {
            let guard = "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY";
            ask(&mut stream, &mut read, guard, bytes_max).await?;
        }
        if !manner.is_stepwise {
            return ask(&mut stream, &mut read, &with_session(sql, manner), bytes_max).await;
        }
        let mut last = ScriptAnswer::Done;
        for statement in statements(sql) {
            last = ask(&mut stream, &mut read, &with_session(statement, manner), bytes_max).await?;
        }
        Ok(last)
    };
    tokio::time::timeout_at(deadline.into(), work).await.unwrap_or(Err(Error::Timeout))
}

/// Tells one transaction from the next.
const BEGUN: &str = "SELECT pg_catalog.now()::text";

/// Runs `sql` as one transaction, and commits it if `judge` accepts the rows of `query` behind it; `None` if it does not.
/// # Errors
/// See [`run`].
pub async fn run_judged(
    settings: &Settings,
    sql: &str,
    manner: Manner,
    deadline: Instant,
    query: &str,
    judge: impl FnOnce(&[Vec<Option<String>>]) -> bool,
) -> Result<Option<ScriptAnswer>, Error> {
    let bytes_max = settings.limits.answer_bytes_max;
    let work = async {
        let (mut stream, mut read) = connect_to_writer(settings).await?;
        ask(&mut stream, &mut read, "BEGIN", bytes_max).await?;
        let begun = ask(&mut stream, &mut read, BEGUN, bytes_max).await?;
        let answer = ask(&mut stream, &mut read, &with_session(sql, manner), bytes_max).await?;
        // A script that ended the transaction itself cannot be undone.
        let is_same = ask(&mut stream, &mut read, BEGUN, bytes_max).await? == begun;
        let is_accepted = match ask(&mut stream, &mut read, query, bytes_max).await? {
            ScriptAnswer::Rows(_, rows) if is_same => judge(&rows),
            _ => true,
        };
        let end = if is_accepted { "COMMIT" } else { "ROLLBACK" };
        ask(&mut stream, &mut read, end, bytes_max).await?;
        Ok(is_accepted.then_some(answer))
    };
    tokio::time::timeout_at(deadline.into(), work).await.unwrap_or(Err(Error::Timeout))
}

/// True if `sql` can be run by [`run_judged`] and could do several things: no single statement that may need to stand alone.
pub fn is_judgeable(sql: &str) -> bool {
    match statements(sql).as_slice() {
        [] => false,
        [only] => first_word(only).eq_ignore_ascii_case("DO") && !ends_itself(only),
        _ => true,
    }
}

/// A session of its own on a server that takes writes.
async fn connect_to_writer(settings: &Settings) -> Result<(Stream, BytesMut), Error> {
    let mut settings = settings.clone();
    settings.replicas.clear();
    let dialer = Dialer::new(settings.clone(), ReadVersion::Present);
    let (connection, _) = dialer.connect(Kind::Session, &settings.hosts, settings.target).await?;
    Ok(connection.into_stream())
}

/// True for a block that ends its transaction itself.
fn ends_itself(sql: &str) -> bool {
    first_word(sql).eq_ignore_ascii_case("DO") && sql.to_ascii_uppercase().contains("COMMIT")
}

/// Statements that change rows, or call functions that do, and may stand in a transaction with others. A procedure may end its own.
const CHANGES: [&str; 8] = ["INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "SELECT", "COPY", "DO"];

/// `sql` behind a statement that tells its transaction the session. The value goes in digits, which no setting of the server reads as
/// anything else. A single statement that may need to stand alone stays so.
fn with_session(sql: &str, manner: Manner) -> Cow<'_, str> {
    let Some(session) = manner.session else { return Cow::Borrowed(sql) };
    let statements = statements(sql);
    let changes = |sql: &str| {
        let word = first_word(sql);
        CHANGES.iter().any(|it| it.eq_ignore_ascii_case(word)) && !ends_itself(sql)
    };
    match statements.as_slice() {
        [] => Cow::Borrowed(sql),
        [only] if !changes(only) => Cow::Borrowed(sql),
        _ => {
            let digits: String = session.bytes().map(|it| format!("{it:02x}")).collect();
            let value = format!("convert_from(decode('{digits}', 'hex'), 'UTF8')");
            Cow::Owned(format!("SELECT set_config('hasura.user', {value}, true); {sql}"))
        }
    }
}

/// Sends one text and reads all that it answers.
pub(crate) async fn ask(
    stream: &mut Stream,
    read: &mut BytesMut,
    sql: &str,
    bytes_max: usize,
) -> Result<ScriptAnswer, Error> {
    let mut out = BytesMut::new();
    frontend::query(sql, &mut out).map_err(Error::unavailable)?;
    stream.write_all(&out.split()).await.map_err(Error::unavailable)?;
    let mut heard = Heard::default();
    let mut bytes = 0;
    loop {
        let Some((tag, body, _)) = split(read) else {
            if stream.read_buf(read).await.map_err(Error::unavailable)? == 0 {
                return Err(Error::Unconfirmed("the server closed the connection".into()));
            }
            if read.len() > bytes_max {
                return Err(Error::AnswerTooLarge { bytes_max });
            }
            continue;
        };
        bytes += if tag == b'D' { body.len() } else { 0 };
        if bytes > bytes_max {
            return Err(Error::AnswerTooLarge { bytes_max });
        }
        if tag == b'G' {
            // The statement wants rows of the client, who has none.
            frontend::copy_fail("COPY FROM STDIN has no rows here", &mut out).map_err(Error::unavailable)?;
        }
        heard.message(tag, body);
        let length = body.len() + 5;
        read.advance(length);
        if tag == b'Z' {
            return heard.end();
        }
        if !out.is_empty() {
            stream.write_all(&out.split()).await.map_err(Error::unavailable)?;
        }
    }
}

/// The parts of the answer that have come.
#[derive(Default)]
struct Heard {
    /// Column names of the statement in flight.
    columns: Option<Vec<String>>,
    rows: Vec<Vec<Option<String>>>,
    last: Option<ScriptAnswer>,
    error: Option<Box<DatabaseError>>,
    /// Number of statements that are through.
    statements: u32,
}

impl Heard {
    fn message(&mut self, tag: u8, body: &[u8]) {
        match tag {
            b'T' => (self.columns, self.rows) = (Some(message::names(body)), Vec::new()),
            b'D' => {
                let text = |it: Option<&[u8]>| it.map(|it| String::from_utf8_lossy(it).into_owned());
                self.rows.push(Columns::new(body.get(2..).unwrap_or_default()).map(text).collect());
            }
            b'C' | b'I' => {
                self.statements += 1;
                self.last = Some(match self.columns.take() {
                    Some(columns) => ScriptAnswer::Rows(columns, std::mem::take(&mut self.rows)),
                    None => ScriptAnswer::Done,
                });
            }
            b'E' => self.error = Some(Box::new(DatabaseError::read(body))),
            // Notices, settings, rows of COPY.
            _ => {}
        }
    }

    fn end(self) -> Result<ScriptAnswer, Error> {
        match self.error {
            Some(error) => Err(Error::Database { error, statement: self.statements }),
            None => Ok(self.last.unwrap_or(ScriptAnswer::Done)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_change_rows_is_told_the_session_and_what_stands_alone_stays_alone() {
        let manner = Manner { session: Some("{'}"), ..Manner::default() };
        let check = |sql: &str, is_told: bool| {
            let told = with_session(sql, manner);
            let start =
                "SELECT set_config('hasura.user', convert_from(decode('7b277d', 'hex'), 'UTF8'), true); ";
            let expected = if is_told { format!("{start}{sql}") } else { sql.to_owned() };
            assert_eq!(told, expected);
            assert_eq!(with_session(sql, Manner::default()), sql);
        };
        for sql in [
            "INSERT INTO a VALUES (1)",
            "delete from a",
            "VACUUM; SELECT 1",
            "DO $$ BEGIN END $$",
            "-- a\nUPDATE a SET b = 1",
        ] {
            check(sql, true);
        }
        for sql in [
            "VACUUM a",
            "CREATE INDEX CONCURRENTLY i ON a (b)",
            "CALL p()",
            "-- nothing",
            "",
            "DO $$ BEGIN COMMIT; END $$",
        ] {
            check(sql, false);
        }
    }

    #[test]
    fn the_last_statement_counts_and_an_error_counts_more() {
        let name: &[u8] = b"\0\x01id\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0";
        let row: &[u8] = b"\0\x02\0\0\0\x017\xff\xff\xff\xff";
        let heard = |messages: &[(u8, &[u8])]| {
            let mut heard = Heard::default();
            messages.iter().for_each(|(tag, body)| heard.message(*tag, body));
            heard.end()
        };
        let rows = ScriptAnswer::Rows(vec!["id".into()], vec![vec![Some("7".into()), None]]);
        let select: [(u8, &[u8]); 3] = [(b'T', name), (b'D', row), (b'C', b"SELECT 1\0")];
        assert_eq!(heard(&select).expect("it is answered"), rows);
        let both = [&[(b'C', &b"CREATE TABLE\0"[..])], &select[..]].concat();
        assert_eq!(heard(&both).expect("it is answered"), rows);
        let both = [&select[..], &[(b'C', &b"DROP TABLE\0"[..])]].concat();
        assert_eq!(heard(&both).expect("it is answered"), ScriptAnswer::Done);
        let failed = [&select[..], &[(b'E', &b"SERROR\0C42601\0Mno\0\0"[..])]].concat();
        assert!(matches!(heard(&failed), Err(Error::Database { statement: 1, .. })));
        assert_eq!(heard(&[(b'I', b"")]).expect("it is answered"), ScriptAnswer::Done);
    }
}

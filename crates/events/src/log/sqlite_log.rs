//! The log in a file of SQLite's, which one server delivers from.
//!
//! Events in work are known to that server alone: `locked` stays null, and after a crash they are pending. Reads have a connection
//! of their own; writes share the transactions of the source's writer, so that they wake no subscriptions.

use super::event::{Browse, LogError, Outcome, PendingEvent, Room, Shown, Status};
use super::rows_json::{CALL, EVENT, Shape, lossy_text, valid_json, write_row};
use super::sqlite_owner::{FileOwner, inode};
use crate::capture::sqlite::{AGAIN, FIRST, has_tables, note_file, noted_inode};
use crate::delivery::Decision;
use rusqlite::{Connection, OptionalExtension, Params, Row, params};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use weir_database::sqlite::SharedWriter;
use weir_sqlite::writer::data_version;

/// Timeout of a write.
const PATIENCE: Duration = Duration::from_secs(30);

/// Columns of [`PendingEvent`].
const PENDING_COLUMNS: &str =
    "id, weir_seq, schema_name, table_name, trigger_name, payload, created_at, tries";
/// True if no event of the same row is before the event `l`.
const IN_ORDER: &str = "(l.weir_key IS NULL OR NOT EXISTS (SELECT 1 FROM hdb_event_log AS o WHERE o.trigger_name = l.trigger_name \
 AND o.weir_key = l.weir_key AND o.weir_seq < l.weir_seq AND o.delivered = 0 AND o.error = 0 AND o.archived = 0))";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileState {
    /// This server may deliver its events.
    Owned,
    /// Another server delivers its events.
    Other,
    /// The file is a copy with pending events, as many as this, and another one's: an operator has to say that they are to be
    /// delivered.
    Copy(u32),
    /// It has no log.
    Empty,
}

struct Shared {
    writer: SharedWriter,
    reader: Option<Connection>,
    owner: FileOwner,
    /// Events in work.
    in_work: HashSet<i64>,
    seen_data: Option<i64>,
    seen_schema: Option<i64>,
}

/// The log in one file.
#[derive(Clone)]
pub struct SqliteLog(Arc<Mutex<Shared>>);

impl std::fmt::Debug for SqliteLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SqliteLog")
    }
}

/// The result of a look at the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileChange {
    /// True if somebody has committed since the look before.
    pub has_data: bool,
    /// True if a definition has changed since the look before, or may have before the first one.
    pub has_schema: bool,
}

impl Shared {
    fn reader(&mut self) -> rusqlite::Result<&Connection> {
        if self.reader.is_none() {
            self.reader = Some(self.writer.database().open_reader()?);
        }
        self.reader.as_ref().ok_or(rusqlite::Error::InvalidQuery)
    }
}

impl SqliteLog {
    /// The log in the file of `writer`. Opens nothing yet.
    pub fn new(writer: SharedWriter) -> Self {
        let owner = FileOwner::new(writer.database().path());
        let shared = Shared {
            writer,
            reader: None,
            owner,
            in_work: HashSet::new(),
            seen_data: None,
            seen_schema: None,
        };
        Self(Arc::new(Mutex::new(shared)))
    }

    /// Writes by `writer` from now on: that of the next generation.
    pub fn use_writer(&self, writer: SharedWriter) {
        self.lock().writer = writer;
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The writer in use.
    pub(super) fn writer(&self) -> SharedWriter {
        self.lock().writer.clone()
    }

    /// Runs `work` on a thread that may wait.
    async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Shared) -> Result<T, LogError> + Send + 'static,
    ) -> Result<T, LogError> {
        let log = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&mut log.lock())).await;
        done.unwrap_or_else(|_| Err(LogError::Unavailable("a bug: reading the log panicked".into())))
    }

    /// Runs `work` in the transaction of the writer.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection) -> Result<T, LogError> + Send + 'static,
    ) -> Result<T, LogError> {
        let failed = |error: weir_sqlite::error::Error| LogError::Unavailable(error.to_string());
        let shared = self.lock().writer.clone();
        let Some(writer) = shared.writer() else {
            return Err(LogError::Unavailable("the file cannot be written".into()));
        };
        writer.submit(Instant::now() + PATIENCE, None::<&str>, failed, work).await
    }

    /// Finds out whether this server may deliver, and takes the right to if nobody has it.
    /// # Errors
    /// The file cannot be read, or no file can be made beside it.
    pub async fn state(&self) -> Result<FileState, LogError> {
        let (state, inode) = self
            .ask(|shared| {
                let words = |error: std::io::Error| LogError::Unavailable(error.to_string());
                let inode = inode(shared.writer.database().path()).map_err(words)?;
                let reader = shared.reader()?;
                if !has_tables(reader)? {
                    return Ok((FileState::Empty, inode));
                }
                if let Some(pending) = count_copied(reader, &inode)? {
                    return Ok((FileState::Copy(pending), inode));
                }
                let is_held = shared.owner.try_hold().map_err(words)?;
                Ok((if is_held { FileState::Owned } else { FileState::Other }, inode))
            })
            .await?;
        if state == FileState::Owned {
            self.note_file(inode).await?;
        }
        Ok(state)
    }

    /// Notes that the pending events are this file's.
    async fn note_file(&self, inode: String) -> Result<(), LogError> {
        let known = self.ask(|shared| Ok(noted_inode(shared.reader()?)?)).await?;
        if known.as_deref() == Some(inode.as_str()) {
            return Ok(());
        }
        self.write(move |connection| Ok(note_file(connection, &inode)?)).await
    }

    /// The number of pending events of a file that is a copy, which wait for an operator.
    /// # Errors
    /// The file cannot be read.
    pub async fn find_copied(&self) -> Result<Option<u32>, LogError> {
        self.ask(|shared| {
            let words = |error: std::io::Error| LogError::Unavailable(error.to_string());
            let inode = inode(shared.writer.database().path()).map_err(words)?;
            let reader = shared.reader()?;
            if has_tables(reader)? { Ok(count_copied(reader, &inode)?) } else { Ok(None) }
        })
        .await
    }

    /// Notes that pending events of a copy are to be delivered.
    /// # Errors
    /// The file cannot be read or written.
    pub async fn take_over(&self) -> Result<(), LogError> {
        let inode = self
            .ask(|shared| {
                let words = |error: std::io::Error| LogError::Unavailable(error.to_string());
                inode(shared.writer.database().path()).map_err(words)
            })
            .await?;
        self.note_file(inode).await
    }

    /// Looks for commits and changed definitions since the look before.
    /// # Errors
    /// The file cannot be read.
    pub async fn look(&self) -> Result<FileChange, LogError> {
        self.ask(|shared| {
            let reader = shared.reader()?;
            let data = data_version(reader)?;
            let has_data = shared.seen_data != Some(data);
            if !has_data {
                return Ok(FileChange::default());
            }
            let reader = shared.reader()?;
            let schema: i64 =
                reader.prepare_cached("PRAGMA schema_version")?.query_row([], |row| row.get(0))?;
            // Nobody knows what was defined anew between the making of triggers and the first look.
            let has_schema = shared.seen_schema != Some(schema);
            shared.seen_data = Some(data);
            shared.seen_schema = Some(schema);
            Ok(FileChange { has_data, has_schema })
        })
        .await
    }

    /// Takes pending events into work: at most `most`.
    /// # Errors
    /// The file cannot be read.
    pub async fn fetch(&self, rooms: Vec<Room>, most: u32) -> Result<Vec<PendingEvent>, LogError> {
        self.ask(move |shared| {
            let taken = u32::try_from(shared.in_work.len()).unwrap_or(u32::MAX);
            let in_work = std::mem::take(&mut shared.in_work);
            let found =
                shared.reader().map_err(LogError::from).and_then(|it| fetch_all(it, &rooms, taken, &in_work));
            shared.in_work = in_work;
            let found = take_by_turns(found?, most as usize);
            shared.in_work.extend(found.iter().map(|it| it.sequence));
            Ok(found)
        })
        .await
    }

    /// Records outcomes.
    /// # Errors
    /// The file cannot be written; nothing is recorded.
    pub async fn record(&self, outcomes: &[Outcome]) -> Result<(), LogError> {
        let own: Arc<[Outcome]> = outcomes.into();
        let written = Arc::clone(&own);
        self.write(move |connection| {
            written.iter().try_for_each(|it| record_one(connection, it)).map_err(LogError::from)
        })
        .await?;
        let mut shared = self.lock();
        shared.in_work.retain(|it| own.iter().all(|done| done.sequence != *it));
        Ok(())
    }

    /// Forgets which events are in work: they are pending.
    pub fn leave(&self) {
        self.lock().in_work.clear();
    }

    /// Makes an event pending again.
    /// # Errors
    /// There is no such event, it is in work, or the file cannot be written.
    pub async fn redeliver(&self, id: &str) -> Result<(), LogError> {
        let id = id.to_owned();
        let wanted = id.clone();
        let sequence = self
            .ask(move |shared| {
                let sql = "SELECT weir_seq FROM hdb_event_log WHERE id = ?1";
                Ok(shared.reader()?.query_row(sql, [wanted], |row| row.get::<_, i64>(0)).optional()?)
            })
            .await?
            .ok_or(LogError::NotFound)?;
        if self.lock().in_work.contains(&sequence) {
            return Err(LogError::Busy);
        }
        self.write(move |connection| {
            let sql = "UPDATE hdb_event_log SET delivered = 0, error = 0, tries = 0, next_retry_at = NULL WHERE weir_seq = ?1";
            connection.execute(sql, [sequence])?;
            Ok(())
        })
        .await
    }

    /// Adds an event, and returns its id.
    /// # Errors
    /// The file cannot be written.
    pub async fn insert(
        &self,
        schema: &str,
        table: &str,
        trigger: &str,
        payload: &str,
    ) -> Result<String, LogError> {
        let values = [schema, table, trigger, payload].map(str::to_owned);
        let id = random_id();
        let made = id.clone();
        self.write(move |connection| {
            let [schema, table, trigger, payload] = &values;
            connection.execute(
                "INSERT INTO hdb_event_log (id, schema_name, table_name, trigger_name, payload, created_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, strftime('%Y-%m-%dT%H:%M:%f', 'now'))",
                params![made, schema, table, trigger, payload],
            )?;
            Ok(())
        })
        .await?;
        Ok(id)
    }

    /// Archives the events of a trigger that is gone.
    /// # Errors
    /// The file cannot be written.
    pub async fn archive(&self, trigger: &str) -> Result<(), LogError> {
        let trigger = trigger.to_owned();
        self.write(move |connection| {
            if has_tables(connection)? {
                let sql = "UPDATE hdb_event_log SET archived = 1 WHERE trigger_name = ?1 AND archived = 0";
                connection.execute(sql, [&trigger])?;
            }
            Ok(())
        })
        .await
    }

    /// Events of a trigger, newest first.
    /// # Errors
    /// The file cannot be read.
    pub async fn events(&self, trigger: &str, status: Status, browse: Browse) -> Result<Shown, LogError> {
        let condition = match status {
            Status::All => "1",
            Status::Pending => "delivered = 0 AND error = 0 AND archived = 0",
            Status::Processed => "(delivered = 1 OR error = 1) AND archived = 0",
            Status::Failed => "error = 1 AND archived = 0",
        };
        let sql = format!(
            "SELECT {} FROM hdb_event_log WHERE trigger_name = ?1 AND {condition} ORDER BY weir_seq DESC LIMIT ?2 OFFSET ?3",
            names(&EVENT)
        );
        self.list(sql, trigger, browse, &EVENT).await
    }

    /// Calls of a trigger, newest first.
    /// # Errors
    /// The file cannot be read.
    pub async fn calls(&self, trigger: &str, browse: Browse) -> Result<Shown, LogError> {
        self.list(list_calls("trigger_name"), trigger, browse, &CALL).await
    }

    async fn list(
        &self,
        sql: String,
        value: &str,
        browse: Browse,
        columns: &'static [(&'static str, Shape)],
    ) -> Result<Shown, LogError> {
        let value = value.to_owned();
        self.ask(move |shared| {
            let reader = shared.reader()?;
            if !has_tables(reader)? {
                return Ok("[]".to_owned());
            }
            write_list(reader, &sql, params![value, browse.limit, browse.offset], columns)
        })
        .await
    }

    /// An event with its calls.
    /// # Errors
    /// There is no such event, or the file cannot be read.
    pub async fn event(&self, id: &str, browse: Browse) -> Result<Shown, LogError> {
        let sql = format!("SELECT {} FROM hdb_event_log WHERE id = ?1 LIMIT ?2 OFFSET ?3", names(&EVENT));
        let found = self.list(sql, id, Browse { limit: 1, offset: 0 }, &EVENT).await?;
        let event = found.trim_start_matches('[').trim_end_matches(']');
        if event.is_empty() {
            return Err(LogError::NotFound);
        }
        let calls = self.list(list_calls("event_id"), id, browse, &CALL).await?;
        Ok(format!("{{\"event\":{event},\"invocations\":{calls}}}"))
    }
}

/// The number of pending events of the file `inode`, if they are noted for another one.
fn count_copied(connection: &Connection, inode: &str) -> rusqlite::Result<Option<u32>> {
    if noted_inode(connection)?.is_none_or(|it| it == inode) {
        return Ok(None);
    }
    let sql = "SELECT count(*) FROM (SELECT 1 FROM hdb_event_log WHERE delivered = 0 AND error = 0 AND archived = 0 LIMIT 10001)";
    let pending: u32 = connection.query_row(sql, [], |row| row.get(0))?;
    Ok(Some(pending).filter(|it| *it > 0))
}

/// A random UUID of version 4.
pub(super) fn random_id() -> String {
    let bits = fastrand::u128(..) & !(0xf << 76) & !(0b11 << 62) | (0x4 << 76) | (0b10 << 62);
    let digits = format!("{bits:032x}");
    format!("{}-{}-{}-{}-{}", &digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..])
}

fn names(columns: &[(&str, Shape)]) -> String {
    columns.iter().map(|it| it.0).collect::<Vec<_>>().join(", ")
}

fn list_calls(column: &str) -> String {
    format!(
        "SELECT id, trigger_name, event_id, status, request, response, created_at FROM hdb_event_invocation_logs \
         WHERE {column} = ?1 ORDER BY created_at DESC, rowid DESC LIMIT ?2 OFFSET ?3"
    )
}

fn write_list(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    columns: &[(&str, Shape)],
) -> Result<Shown, LogError> {
    let mut out = "[".to_owned();
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query(values)?;
    while let Some(row) = rows.next()? {
        if out.len() > 1 {
            out.push(',');
        }
        write_row(row, columns, &mut out)?;
    }
    out.push(']');
    Ok(out)
}

/// The first `most` of `events`, of all triggers by turns; in their order.
fn take_by_turns(events: Vec<PendingEvent>, most: usize) -> Vec<PendingEvent> {
    if events.len() <= most {
        return events;
    }
    let mut places: HashMap<String, usize> = HashMap::new();
    let place = |event: PendingEvent| {
        let place = places.entry(event.trigger.clone()).or_default();
        *place += 1;
        (*place, event)
    };
    let mut placed: Vec<(usize, PendingEvent)> = events.into_iter().map(place).collect();
    placed.sort_by_key(|it| (it.0, it.1.sequence));
    let mut chosen: Vec<PendingEvent> = placed.into_iter().take(most).map(|it| it.1).collect();
    chosen.sort_by_key(|it| it.sequence);
    chosen
}

/// Pending events of all rooms, in their order. `taken` events of `in_work` may stand before others.
fn fetch_all(
    connection: &Connection,
    rooms: &[Room],
    taken: u32,
    in_work: &HashSet<i64>,
) -> Result<Vec<PendingEvent>, LogError> {
    let mut events = Vec::new();
    for room in rooms {
        let order = if room.is_ordered { IN_ORDER } else { "1" };
        let first = format!(
            "SELECT {PENDING_COLUMNS} FROM hdb_event_log AS l WHERE {FIRST} AND trigger_name = ?1 AND {order} ORDER BY weir_seq LIMIT ?2"
        );
        let again = format!(
            "SELECT {PENDING_COLUMNS} FROM hdb_event_log AS l WHERE {AGAIN} AND trigger_name = ?1 AND {order} \
             AND next_retry_at <= strftime('%Y-%m-%dT%H:%M:%f', 'now') ORDER BY next_retry_at LIMIT ?2"
        );
        for (sql, count) in [(first, room.count), (again, room.count / 4 + 1)] {
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map(params![room.trigger, count.saturating_add(taken)], read_event)?;
            let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
            events.extend(rows.into_iter().filter(|it| !in_work.contains(&it.sequence)).take(count as usize));
        }
    }
    events.sort_by_key(|it: &PendingEvent| it.sequence);
    Ok(events)
}

fn read_event(row: &Row<'_>) -> rusqlite::Result<PendingEvent> {
    let text = |at: usize| row.get_ref(at).map(lossy_text);
    Ok(PendingEvent {
        id: text(0)?,
        sequence: row.get(1)?,
        schema: text(2)?,
        table: text(3)?,
        trigger: text(4)?,
        payload: valid_json(text(5)?),
        created_at: text(6)?,
        tries: text(7)?.parse().unwrap_or_default(),
    })
}

fn record_one(connection: &Connection, outcome: &Outcome) -> rusqlite::Result<()> {
    if let Some(row) = &outcome.row {
        let sql = "INSERT INTO hdb_event_invocation_logs (id, trigger_name, event_id, status, request, response, created_at) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, strftime('%Y-%m-%dT%H:%M:%f', 'now'))";
        let values = params![random_id(), outcome.trigger, outcome.id, row.status, row.request, row.response];
        connection.prepare_cached(sql)?.execute(values)?;
    }
    let (delivered, error, pause) = match outcome.decision {
        Decision::Delivered => (1, 0, None),
        Decision::Failed => (0, 1, None),
        Decision::Retry(pause) => (0, 0, Some(format!("+{:.3} seconds", pause.as_secs_f64()))),
    };
    let sql = "UPDATE hdb_event_log SET delivered = ?2, error = ?3, tries = ?4, next_retry_at = \
               CASE WHEN ?5 IS NOT NULL THEN strftime('%Y-%m-%dT%H:%M:%f', 'now', ?5) END WHERE weir_seq = ?1";
    connection.prepare_cached(sql)?.execute(params![
        outcome.sequence,
        delivered,
        error,
        outcome.tries,
        pause
    ])?;
    Ok(())
}

//! The log of a source of PostgreSQL, which several servers deliver from.
//!
//! Each server has a number and says every few seconds that it is alive. Events in work carry its number, and are free again ten
//! seconds after its last word, by the clock of the database.

use super::arrays::{push_array, push_texts};
use super::event::{
    Browse, CleanupEnd, LogError, OldRows, Outcome, PendingEvent, RemovedRows, Room, Shown, Status,
};
use super::postgres_sql as sql;
use crate::delivery::Decision;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use weir_postgres::{Format, Parameters, Pool, Row, Rows, Settings, Statement};

/// Time between two words that the server is alive. Others wait for five of them.
pub const BEAT: Duration = Duration::from_secs(2);
/// Time after its last word in which a server may begin no more work: others are about to take over.
const SILENT_MAX: Duration = Duration::from_secs(8);
/// Timeout of a statement.
const PATIENCE: Duration = Duration::from_secs(30);
/// Maximum number of connections of one log.
const SESSIONS_MAX: u16 = 3;

fn text_statement(text: &str, parameters: usize, columns: usize) -> Arc<Statement> {
    Statement::new(text, vec![0; parameters], vec![Format::Text; columns], Vec::new(), None)
}

macro_rules! statements {
    ($($name:ident: $parameters:literal $columns:literal,)*) => {
        $(static $name: LazyLock<Arc<Statement>> = LazyLock::new(|| text_statement(sql::$name, $parameters, $columns));)*
    };
}

statements! {
    FETCH: 5 8,
    RECORD: 10 0,
    SAY_ALIVE: 1 0,
    RECLAIM: 1 0,
    FORGET: 0 0,
    RELEASE: 1 0,
    LEAVE: 1 0,
    REDELIVER: 1 2,
    INSERT: 4 1,
    ARCHIVE: 1 0,
    LIST: 4 1,
    LIST_CALLS: 3 1,
    EVENT: 1 1,
    CALLS: 3 1,
    CLEAN: 4 2,
    BEGIN_CLEANUP: 2 1,
    END_CLEANUP: 4 0,
}

/// The log of one database.
#[derive(Debug)]
pub struct PostgresLog {
    pool: Arc<Pool>,
    /// Number of this server.
    owner: String,
    seen: std::cell::Cell<Option<Instant>>,
}

impl PostgresLog {
    /// The log of the database with `settings`, for the server `owner`. Connects to nothing yet; used by one runtime only.
    pub fn new(mut settings: Settings, owner: i64) -> Self {
        settings.replicas.clear();
        settings.batch_mutations = false;
        settings.limits.sessions_max = settings.limits.sessions_max.min(SESSIONS_MAX.into());
        Self { pool: Pool::new(settings), owner: owner.to_string(), seen: std::cell::Cell::new(None) }
    }

    /// Runs one statement in a transaction of its own.
    async fn run(&self, statement: &Arc<Statement>, parameters: &Parameters) -> Result<Rows, LogError> {
        Ok(self.pool.change_alone(statement, parameters, None, None, Instant::now() + PATIENCE).await?)
    }

    /// Runs a statement whose parameters are texts.
    async fn run_with(&self, statement: &Arc<Statement>, values: &[&str]) -> Result<Rows, LogError> {
        let mut parameters = Parameters::new();
        values.iter().for_each(|it| parameters.push(it.as_bytes()));
        self.run(statement, &parameters).await
    }

    /// The JSON of a statement that reads; `None` if it has no row, or its table is not there.
    async fn show(&self, statement: &Arc<Statement>, values: &[&str]) -> Result<Option<Shown>, LogError> {
        match self.first(statement, values).await {
            Ok(row) => Ok(row.map(|it| it.concat())),
            Err(LogError::NoTable) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The texts of the first row; `None` without one.
    async fn first(
        &self,
        statement: &Arc<Statement>,
        values: &[&str],
    ) -> Result<Option<Vec<String>>, LogError> {
        let rows = self.run_with(statement, values).await?;
        let row = rows.iter().next();
        Ok(row.map(|it| it.columns().map(text).collect()))
    }

    /// Says that this server is alive, and frees what is left of others.
    /// # Errors
    /// The database cannot be asked.
    pub async fn beat(&self) -> Result<(), LogError> {
        let begun = Instant::now();
        self.run_with(&SAY_ALIVE, &[&self.owner]).await?;
        self.seen.set(Some(begun));
        self.run_with(&RECLAIM, &[&self.owner]).await?;
        self.run_with(&FORGET, &[]).await.map(drop)
    }

    /// True if this server may take events: others know that it is alive.
    pub fn may_fetch(&self) -> bool {
        self.seen.get().is_some_and(|it| it.elapsed() < SILENT_MAX)
    }

    /// Takes pending events into work: at most `most`.
    /// # Errors
    /// The database cannot be asked.
    pub async fn fetch(&self, rooms: &[Room], most: u32) -> Result<Vec<PendingEvent>, LogError> {
        let mut parameters = Parameters::new();
        push_array(&mut parameters, rooms.iter().map(|it| Some(it.trigger.as_str())));
        push_texts(&mut parameters, rooms.iter().map(|it| it.count.to_string()));
        push_texts(&mut parameters, rooms.iter().map(|it| it.is_ordered.to_string()));
        parameters.push(self.owner.as_bytes());
        parameters.push(most.to_string().as_bytes());
        let rows = self.run(&FETCH, &parameters).await?;
        let mut events: Vec<PendingEvent> = rows.iter().map(read_event).collect();
        events.sort_by_key(|it| it.sequence);
        Ok(events)
    }

    /// Records outcomes.
    /// # Errors
    /// The database cannot be asked; nothing is recorded, or all is.
    pub async fn record(&self, outcomes: &[Outcome]) -> Result<(), LogError> {
        let mut parameters = Parameters::new();
        push_array(&mut parameters, outcomes.iter().map(|it| Some(it.id.as_str())));
        push_array(&mut parameters, outcomes.iter().map(|it| Some(state(it.decision))));
        push_texts(&mut parameters, outcomes.iter().map(|it| pause(it.decision).as_secs_f64().to_string()));
        push_texts(&mut parameters, outcomes.iter().map(|it| it.tries.to_string()));
        push_array(&mut parameters, outcomes.iter().map(|it| Some(it.trigger.as_str())));
        push_texts(&mut parameters, outcomes.iter().map(|it| it.row.is_some().to_string()));
        let statuses: Vec<Option<String>> =
            outcomes.iter().map(|it| Some(it.row.as_ref()?.status?.to_string())).collect();
        push_array(&mut parameters, statuses.iter().map(Option::as_deref));
        push_array(&mut parameters, outcomes.iter().map(|it| Some(it.row.as_ref()?.request.as_str())));
        push_array(&mut parameters, outcomes.iter().map(|it| Some(it.row.as_ref()?.response.as_str())));
        parameters.push(self.owner.as_bytes());
        self.run(&RECORD, &parameters).await.map(drop)
    }

    /// Frees all events of this server, which takes no more.
    /// # Errors
    /// The database cannot be asked.
    pub async fn leave(&self) -> Result<(), LogError> {
        self.seen.set(None);
        self.run_with(&RELEASE, &[&self.owner]).await?;
        self.run_with(&LEAVE, &[&self.owner]).await.map(drop)
    }

    /// Makes an event pending again.
    /// # Errors
    /// There is no such event, it is in work, or the database cannot be asked.
    pub async fn redeliver(&self, id: &str) -> Result<(), LogError> {
        let found = self.first(&REDELIVER, &[id]).await?.unwrap_or_default();
        let is = |at: usize| found.get(at).is_some_and(|it| it == "true");
        match (is(0), is(1)) {
            (_, true) => Ok(()),
            (true, false) => Err(LogError::Busy),
            (false, false) => Err(LogError::NotFound),
        }
    }

    /// Adds an event, and returns its id.
    /// # Errors
    /// The database cannot be asked.
    pub async fn insert(
        &self,
        schema: &str,
        table: &str,
        trigger: &str,
        payload: &str,
    ) -> Result<String, LogError> {
        let found = self.first(&INSERT, &[schema, table, trigger, payload]).await?;
        Ok(found.and_then(|it| it.into_iter().next()).unwrap_or_default())
    }

    /// Archives the events of a trigger that is gone.
    /// # Errors
    /// The database cannot be asked.
    pub async fn archive(&self, trigger: &str) -> Result<(), LogError> {
        self.run_with(&ARCHIVE, &[trigger]).await.map(drop)
    }

    /// Events of a trigger.
    /// # Errors
    /// The database cannot be asked.
    pub async fn events(&self, trigger: &str, status: Status, browse: Browse) -> Result<Shown, LogError> {
        let status = match status {
            Status::All => "all",
            Status::Pending => "pending",
            Status::Processed => "processed",
            Status::Failed => "failed",
        };
        let [limit, offset] = [browse.limit, browse.offset].map(|it| it.to_string());
        Ok(self.show(&LIST, &[trigger, status, &limit, &offset]).await?.unwrap_or_else(no_rows))
    }

    /// Calls of a trigger.
    /// # Errors
    /// The database cannot be asked.
    pub async fn calls(&self, trigger: &str, browse: Browse) -> Result<Shown, LogError> {
        let [limit, offset] = [browse.limit, browse.offset].map(|it| it.to_string());
        Ok(self.show(&LIST_CALLS, &[trigger, &limit, &offset]).await?.unwrap_or_else(no_rows))
    }

    /// An event with its calls.
    /// # Errors
    /// There is no such event, or the database cannot be asked.
    pub async fn event(&self, id: &str, browse: Browse) -> Result<Shown, LogError> {
        let event = self.show(&EVENT, &[id]).await?.ok_or(LogError::NotFound)?;
        let [limit, offset] = [browse.limit, browse.offset].map(|it| it.to_string());
        let calls = self.show(&CALLS, &[id, &limit, &offset]).await?.unwrap_or_else(no_rows);
        Ok(format!("{{\"event\":{event},\"invocations\":{calls}}}"))
    }

    /// Removes one batch of old events, by `deadline`.
    /// # Errors
    /// The database cannot be asked, or does not answer in time; nothing is removed then.
    pub async fn clean(&self, old: &OldRows, deadline: Instant) -> Result<RemovedRows, LogError> {
        let mut parameters = Parameters::new();
        parameters.push(old.trigger.as_bytes());
        parameters.push(old.older_than_h.to_string().as_bytes());
        parameters.push(old.batch.to_string().as_bytes());
        parameters.push(old.with_calls.to_string().as_bytes());
        let rows = self.pool.change_alone(&CLEAN, &parameters, None, None, deadline).await?;
        let found: Vec<String> =
            rows.iter().next().map(|it| it.columns().map(text).collect()).unwrap_or_default();
        let number = |at: usize| found.get(at).and_then(|it| it.parse().ok()).unwrap_or_default();
        let events = number(0);
        Ok(RemovedRows { events, calls: number(1), is_all: events < u64::from(old.batch) })
    }

    /// Notes a cleanup at the time `at`, in UTC without a zone, and returns its id; `None` if another server does it.
    /// # Errors
    /// The database cannot be asked.
    pub async fn begin_cleanup(&self, trigger: &str, at: &str) -> Result<Option<String>, LogError> {
        Ok(self.first(&BEGIN_CLEANUP, &[trigger, at]).await?.map(|it| it.concat()))
    }

    /// Notes the end of a cleanup.
    /// # Errors
    /// The database cannot be asked.
    pub async fn end_cleanup(&self, id: &str, end: CleanupEnd, removed: RemovedRows) -> Result<(), LogError> {
        let [events, calls] = [removed.events, removed.calls].map(|it| it.to_string());
        self.run_with(&END_CLEANUP, &[id, &events, &calls, end.word()]).await.map(drop)
    }
}

fn no_rows() -> Shown {
    "[]".to_owned()
}

fn state(decision: Decision) -> &'static str {
    match decision {
        Decision::Delivered => "delivered",
        Decision::Retry(_) => "retry",
        Decision::Failed => "failed",
    }
}

fn pause(decision: Decision) -> Duration {
    match decision {
        Decision::Retry(pause) => pause,
        Decision::Delivered | Decision::Failed => Duration::ZERO,
    }
}

fn text(cell: Option<&[u8]>) -> String {
    String::from_utf8_lossy(cell.unwrap_or_default()).into_owned()
}

fn read_event(row: Row<'_>) -> PendingEvent {
    let mut cells = row.columns().map(text);
    let mut next = || cells.next().unwrap_or_default();
    PendingEvent {
        id: next(),
        sequence: next().parse().unwrap_or_default(),
        schema: next(),
        table: next(),
        trigger: next(),
        payload: next(),
        created_at: next(),
        tries: next().parse().unwrap_or_default(),
    }
}

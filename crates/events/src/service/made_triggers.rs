//! Makes the triggers of a source, or says what would be made.
//!
//! **Invariant:** a database whose events wait for an operator is read alone.

use super::source::{EventDatabase, EventSource, ServiceSettings, SourceReport};
use crate::capture::postgres::CatalogOwner;
use crate::capture::{CaptureDifference, Leftovers, postgres, sqlite};
use crate::dispatch::EventLog;
use crate::log::{FileState, SqliteLog};
use crate::shared_schema::foreign_words;
use crate::trigger::CapturedTrigger;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_database::sqlite::SharedWriter;
use weir_postgres::{Error, Settings};

/// Timeout of making the triggers of a source.
const RECONCILE_MAX: Duration = Duration::from_secs(60);

/// The result of making triggers.
#[derive(Default)]
pub(super) struct Reconciled {
    pub(super) difference: CaptureDifference,
    /// Triggers and events that wait for an operator's take-over, in words.
    pub(super) waits: Option<String>,
    /// True if the database refuses all triggers.
    pub(super) is_refused: bool,
}

impl Reconciled {
    fn waiting(waits: Option<String>) -> Self {
        Self { waits, ..Self::default() }
    }

    /// None of `captured` can be made, because of `reason`.
    fn refused(captured: &[CapturedTrigger], reason: &str) -> Self {
        let failed = captured.iter().map(|it| (it.name.clone(), reason.to_owned())).collect();
        let difference = CaptureDifference { failed, ..CaptureDifference::default() };
        Self { difference, waits: None, is_refused: true }
    }

    /// The result of asking a PostgreSQL, which refuses triggers by words about rights and names (class 42).
    fn of_postgres(asked: Result<Self, Error>, captured: &[CapturedTrigger]) -> Result<Self, String> {
        asked.or_else(|error| match error.sqlstate() {
            Some([b'4', b'2', ..]) => Ok(Self::refused(captured, &error.to_string())),
            Some(_) | None => Err(error.to_string()),
        })
    }
}

fn list_captured(source: &EventSource) -> Vec<CapturedTrigger> {
    source.triggers.iter().map(|it| it.captured.clone()).collect()
}

/// Makes the triggers of `source`, whose log is `log`.
pub(super) async fn reconcile(
    source: &EventSource,
    settings: &ServiceSettings,
    log: &EventLog,
) -> Result<Reconciled, String> {
    let captured = list_captured(source);
    match (&source.database, log) {
        (EventDatabase::Postgres(database, numbers), _) => {
            let asked = reconcile_postgres((database, *numbers), settings, &captured, source.leftovers).await;
            Reconciled::of_postgres(asked, &captured)
        }
        (EventDatabase::Sqlite(_), EventLog::Sqlite(log)) => {
            reconcile_sqlite(log, source, settings, captured).await
        }
        (EventDatabase::Sqlite(_), EventLog::Postgres(_)) => Ok(Reconciled::default()),
    }
}

async fn reconcile_postgres(
    (database, numbers): (&Settings, postgres::WideNumbers),
    settings: &ServiceSettings,
    captured: &[CapturedTrigger],
    leftovers: Leftovers,
) -> Result<Reconciled, Error> {
    let deadline = Instant::now() + RECONCILE_MAX;
    let mut state = postgres::look(database, deadline).await?;
    if !captured.is_empty() && !state.may_make && !state.is_read_only {
        return Ok(Reconciled::refused(captured, RIGHT_WORDS));
    }
    if let CatalogOwner::Other { pending } = state.owner {
        if !settings.takes_over || captured.is_empty() {
            let waits = (!captured.is_empty()).then(|| catalog_words(captured.len(), pending));
            return Ok(Reconciled::waiting(waits));
        }
        postgres::take_over(database, deadline).await?;
        state.owner = CatalogOwner::Weir;
    }
    if state.is_read_only || !settings.captures {
        let plan = postgres::plan(database, captured, numbers, leftovers, deadline).await?;
        return Ok(Reconciled::waiting((!plan.is_empty()).then(|| unmade_words(&plan, state.is_read_only))));
    }
    let made = postgres::reconcile(database, state.owner, captured, numbers, leftovers, deadline).await;
    Ok(Reconciled { difference: made?, ..Reconciled::default() })
}

async fn reconcile_sqlite(
    log: &SqliteLog,
    source: &EventSource,
    settings: &ServiceSettings,
    captured: Vec<CapturedTrigger>,
) -> Result<Reconciled, String> {
    let EventDatabase::Sqlite(writer) = &source.database else { return Ok(Reconciled::default()) };
    let database = Arc::clone(writer.database());
    let leftovers = source.leftovers;
    let captures = settings.captures && writer.writer().is_some();
    let is_read_only = writer.writer().is_none();
    let is_wanted = !captured.is_empty();
    let work = move || {
        if !captures {
            let plan = sqlite::plan(&database.open_reader()?, &captured, leftovers)?;
            return Ok((CaptureDifference::default(), Some(plan)));
        }
        let mut connection = database.open_writer()?;
        sqlite::reconcile(&mut connection, &captured, leftovers).map(|it| (it, None))
    };
    let made = tokio::task::spawn_blocking(work).await.map_err(|_| "making triggers panicked".to_owned())?;
    let (difference, plan) = made.map_err(|error: rusqlite::Error| error.to_string())?;
    if let Some(plan) = plan.filter(|it| !it.is_empty()) {
        let waits = Some(unmade_words(&plan, is_read_only));
        return Ok(Reconciled { waits, difference, is_refused: false });
    }
    if !is_wanted {
        return Ok(Reconciled { difference, ..Reconciled::default() });
    }
    if settings.takes_over && matches!(log.find_copied().await, Ok(Some(_))) {
        log.take_over().await.map_err(|error| error.to_string())?;
    }
    let waits = match log.state().await.map_err(|error| error.to_string())? {
        FileState::Copy(pending) => Some(copy_words(pending)),
        FileState::Owned | FileState::Other | FileState::Empty => None,
    };
    Ok(Reconciled { waits, difference, is_refused: false })
}

/// The state of `source` without a change of its database: triggers to make and to drop, and what waits.
pub(super) async fn preview(source: &EventSource, settings: &ServiceSettings) -> SourceReport {
    let mut report = SourceReport { source: source.name.clone(), ..SourceReport::default() };
    let captured = list_captured(source);
    let found = match &source.database {
        EventDatabase::Postgres(database, numbers) => {
            let asked = preview_postgres((database, *numbers), settings, &captured, source.leftovers).await;
            Reconciled::of_postgres(asked, &captured)
        }
        EventDatabase::Sqlite(writer) => {
            preview_sqlite(writer.clone(), settings, captured, source.leftovers).await
        }
    };
    match found {
        Ok(Reconciled { difference, waits, .. }) => {
            (report.difference, report.waits) = (difference, waits);
        }
        Err(words) => report.error = Some(words),
    }
    report
}

async fn preview_postgres(
    (database, numbers): (&Settings, postgres::WideNumbers),
    settings: &ServiceSettings,
    captured: &[CapturedTrigger],
    leftovers: Leftovers,
) -> Result<Reconciled, Error> {
    let deadline = Instant::now() + RECONCILE_MAX;
    let state = postgres::look(database, deadline).await?;
    if let (CatalogOwner::Other { pending }, false) = (state.owner, settings.takes_over) {
        return Ok(Reconciled::waiting(
            (!captured.is_empty()).then(|| catalog_words(captured.len(), pending)),
        ));
    }
    if captured.is_empty() && state.owner != CatalogOwner::Weir {
        return Ok(Reconciled::default());
    }
    if !state.may_make && !state.is_read_only {
        return Ok(Reconciled::refused(captured, RIGHT_WORDS));
    }
    let difference = postgres::plan(database, captured, numbers, leftovers, deadline).await?;
    let is_unmade = !difference.is_empty() && (state.is_read_only || !settings.captures);
    let waits = is_unmade.then(|| unmade_words(&difference, state.is_read_only));
    Ok(Reconciled { difference, waits, is_refused: false })
}

/// The reason why a role that may not make the schema captures nothing.
const RIGHT_WORDS: &str = "its changes are not captured and no event is delivered, as the role may not make the schema `hdb_catalog`: \
                           GRANT CREATE ON DATABASE to it, or make the schema and give it to the role";

async fn preview_sqlite(
    writer: SharedWriter,
    settings: &ServiceSettings,
    captured: Vec<CapturedTrigger>,
    leftovers: Leftovers,
) -> Result<Reconciled, String> {
    let is_read_only = writer.writer().is_none();
    let reader = writer.database().open_reader().map_err(|error| error.to_string())?;
    let difference = sqlite::plan(&reader, &captured, leftovers).map_err(|error| error.to_string())?;
    let copied = SqliteLog::new(writer).find_copied().await.map_err(|error| error.to_string())?;
    let is_unmade = !difference.is_empty() && (is_read_only || !settings.captures);
    let waits = match copied.filter(|_| !settings.takes_over && !captured.is_empty()) {
        Some(pending) => Some(copy_words(pending)),
        None => is_unmade.then(|| unmade_words(&difference, is_read_only)),
    };
    Ok(Reconciled { difference, waits, is_refused: false })
}

/// Notes that the events of `source` are Weir's from now on; returns a line about it.
pub(super) async fn take_over(source: &EventSource) -> Result<String, String> {
    let name = &source.name;
    let done = match &source.database {
        EventDatabase::Postgres(database, _) => {
            let deadline = Instant::now() + RECONCILE_MAX;
            let state = postgres::look(database, deadline).await.map_err(|error| error.to_string())?;
            let CatalogOwner::Other { pending } = state.owner else {
                return Ok(format!("source `{name}`: nothing waits"));
            };
            postgres::take_over(database, deadline).await.map_err(|error| error.to_string())?;
            pending
        }
        EventDatabase::Sqlite(writer) => {
            let log = SqliteLog::new(writer.clone());
            let Some(pending) = log.find_copied().await.map_err(|error| error.to_string())? else {
                return Ok(format!("source `{name}`: nothing waits"));
            };
            log.take_over().await.map_err(|error| error.to_string())?;
            pending
        }
    };
    Ok(format!("source `{name}`: taken over with {}", count_words(done)))
}

/// The line about a schema that another server made.
fn catalog_words(triggers: usize, pending: u32) -> String {
    let made = if triggers == 1 { "1 trigger".to_owned() } else { format!("{triggers} triggers") };
    foreign_words("event triggers", &format!(": {made} to make, {} to deliver", count_words(pending)))
}

/// The line about a file that is a copy.
fn copy_words(pending: u32) -> String {
    format!(
        "event triggers wait, as the file is a copy: {} may have been delivered from the other one; take them over by `weir events \
         take-over`, or `events: take_over` in weir.yaml",
        count_words(pending)
    )
}

fn count_words(pending: u32) -> String {
    match pending {
        1 => "1 pending event".to_owned(),
        10_001.. => "more than 10,000 pending events".to_owned(),
        count => format!("{count} pending events"),
    }
}

fn unmade_words(plan: &CaptureDifference, is_read_only: bool) -> String {
    let why = if is_read_only { "the database cannot be written" } else { "`events` is `off` in weir.yaml" };
    format!("event triggers wait: {why}; to be done: {}", plan.plan())
}

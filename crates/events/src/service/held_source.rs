//! One source while it is served: its triggers are kept as the metadata says, its events delivered.

use super::cleanup;
use super::source::{EventDatabase, EventSource, ServiceSettings, SourceReport, TriggerSetup};
use crate::capture::postgres::CatalogOwner;
use crate::capture::{CaptureDifference, Leftovers, postgres, sqlite};
use crate::dispatch::{DispatchTools, EventLog, Slots, SourceRunner};
use crate::log::{FileState, PostgresLog, SqliteLog};
use crate::moment::Moment;
use crate::trigger::{CapturedTrigger, NAME_PREFIX};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_database::sqlite::SharedWriter;
use weir_postgres::Settings;

/// Timeout of making the triggers of a source.
const RECONCILE_MAX: Duration = Duration::from_secs(60);
/// Time between two checks of triggers that nothing else caused: other programs change tables.
const CHECK_EVERY: Duration = Duration::from_secs(60);
/// Time between two looks at a source that waits, or could not be reached.
const CHECK_WAITING_EVERY: Duration = Duration::from_secs(5);

thread_local! {
    static SLOTS: RefCell<Option<(u32, Slots)>> = const { RefCell::new(None) };
}

/// The slots of all sources of this thread, of which there are `count`.
pub(super) fn shared_slots(count: u32) -> Slots {
    SLOTS.with(|it| {
        let mut known = it.borrow_mut();
        match &*known {
            Some((of, slots)) if *of == count => slots.clone(),
            Some(_) | None => {
                let slots = Slots::new(count);
                *known = Some((count, slots.clone()));
                slots
            }
        }
    })
}

/// A source.
pub(super) struct HeldSource {
    setup: RefCell<Rc<(EventSource, ServiceSettings)>>,
    runner: Rc<SourceRunner>,
    waits: RefCell<Option<String>>,
    /// Names of the triggers at the last check: one that is gone may have had nothing in the database.
    names: RefCell<BTreeSet<String>>,
    checked_at: Cell<Instant>,
    /// True if the last check failed or found that the source waits.
    is_unsettled: Cell<bool>,
    is_checking: Cell<bool>,
    /// The time up to which cleanups were looked for.
    cleaned_to: Cell<Moment>,
    is_cleaning: Cell<bool>,
    /// The last line about the source, so that it is logged once.
    told: RefCell<Option<String>>,
}

impl HeldSource {
    pub(super) fn new(
        source: &EventSource,
        settings: &ServiceSettings,
        slots: Slots,
        tools: DispatchTools,
    ) -> Rc<Self> {
        let log = match &source.database {
            EventDatabase::Postgres(settings, _) => {
                EventLog::Postgres(PostgresLog::new((**settings).clone(), fastrand::i64(1..)))
            }
            EventDatabase::Sqlite(writer) => EventLog::Sqlite(SqliteLog::new(writer.clone())),
        };
        let runner = SourceRunner::new(&source.name, log, tools, slots, settings.dispatch);
        Rc::new(Self {
            setup: RefCell::new(Rc::new((source.clone(), *settings))),
            runner,
            waits: RefCell::default(),
            names: RefCell::default(),
            checked_at: Cell::new(Instant::now()),
            is_unsettled: Cell::new(false),
            is_checking: Cell::new(false),
            cleaned_to: Cell::new(Moment::from_micros(0)),
            is_cleaning: Cell::new(false),
            told: RefCell::default(),
        })
    }

    /// True if it can serve `source` too, with what it has in work.
    pub(super) fn fits(&self, source: &EventSource, settings: &ServiceSettings) -> bool {
        let setup = self.setup.borrow();
        setup.0.address == source.address
            && (setup.1.slots, setup.1.dispatch) == (settings.slots, settings.dispatch)
    }

    /// Serves `source` from now on.
    pub(super) fn use_setup(&self, source: EventSource, settings: ServiceSettings) {
        if let (EventLog::Sqlite(log), EventDatabase::Sqlite(writer)) = (self.runner.log(), &source.database)
        {
            log.use_writer(writer.clone());
        }
        *self.setup.borrow_mut() = Rc::new((source, settings));
    }

    pub(super) fn runner(&self) -> &Rc<SourceRunner> {
        &self.runner
    }

    /// Changes that wait for an operator.
    pub(super) fn waits(&self) -> Option<String> {
        self.waits.borrow().clone()
    }

    /// The trigger `name`.
    pub(super) fn trigger(&self, name: &str) -> Option<TriggerSetup> {
        self.setup.borrow().0.triggers.iter().find(|it| it.captured.name == name).cloned()
    }

    /// Delivers from now on.
    pub(super) fn start(self: &Rc<Self>) {
        tokio::task::spawn_local(Rc::clone(&self.runner).run());
    }

    /// Checks the triggers and removes old rows if it is time to.
    pub(super) fn maintain(self: Rc<Self>, now: Moment) {
        tokio::task::spawn_local(Rc::clone(&self).clean_due(now));
        let every = if self.is_unsettled.get() { CHECK_WAITING_EVERY } else { CHECK_EVERY };
        let is_due = self.runner.take_schema_change() || self.checked_at.get().elapsed() >= every;
        if is_due && !self.is_checking.get() {
            tokio::task::spawn_local(async move { drop(self.reconcile().await) });
        }
    }

    /// Removes old rows of triggers whose cleanup is due. One cleanup runs at a time.
    async fn clean_due(self: Rc<Self>, now: Moment) {
        if self.is_cleaning.get() {
            return;
        }
        let setup = Rc::clone(&self.setup.borrow());
        let may_clean = setup.1.captures && self.waits.borrow().is_none() && self.runner.is_held();
        if !may_clean {
            return;
        }
        let due = cleanup::find_due(&setup.0.triggers, self.cleaned_to.replace(now), now);
        self.is_cleaning.set(true);
        for cleanup in &due {
            if let Err(error) = cleanup::run(&self.runner, cleanup).await {
                tracing::warn!(source = setup.0.name, %error, "old events are not removed");
            }
        }
        self.is_cleaning.set(false);
    }

    /// Makes the triggers of the database those of the setup, and delivers the events of those that can be.
    pub(super) async fn reconcile(&self) -> SourceReport {
        self.is_checking.set(true);
        let setup = Rc::clone(&self.setup.borrow());
        let (source, settings) = &*setup;
        let mut report = SourceReport { source: source.name.clone(), ..SourceReport::default() };
        let captured: Vec<CapturedTrigger> = source.triggers.iter().map(|it| it.captured.clone()).collect();
        let deadline = Instant::now() + RECONCILE_MAX;
        let made = match &source.database {
            EventDatabase::Postgres(database, numbers) => {
                reconcile_postgres(
                    (database.as_ref(), *numbers),
                    settings,
                    &captured,
                    source.leftovers,
                    deadline,
                )
                .await
            }
            EventDatabase::Sqlite(_) => match self.runner.log() {
                EventLog::Sqlite(log) => reconcile_sqlite(log, source, settings, captured).await,
                EventLog::Postgres(_) => Ok(Reconciled::default()),
            },
        };
        match made {
            Ok(Reconciled { difference, waits }) => {
                self.archive_dropped(source, &difference).await;
                (report.difference, report.waits) = (difference, waits);
            }
            Err(words) => report.error = Some(words),
        }
        self.settle(source, settings, &report);
        report
    }

    /// Delivers what may be delivered after `report`.
    fn settle(&self, source: &EventSource, settings: &ServiceSettings, report: &SourceReport) {
        let delivered = source.triggers.iter().filter_map(|it| it.delivered.clone());
        let may_deliver = settings.delivers && report.waits.is_none();
        // After a failure it stays as it was.
        if report.error.is_none() {
            let has_log = !source.triggers.is_empty() && settings.captures && report.waits.is_none();
            self.runner.use_log(has_log);
        }
        self.runner.use_triggers(if may_deliver { delivered.collect() } else { Vec::new() });
        self.waits.borrow_mut().clone_from(&report.waits);
        self.is_unsettled
            .set(report.waits.is_some() || report.error.is_some() || !report.difference.failed.is_empty());
        self.checked_at.set(Instant::now());
        self.is_checking.set(false);
        self.tell(report);
    }

    /// Logs how the source stands, if that is news.
    fn tell(&self, report: &SourceReport) {
        let source = report.source.as_str();
        if !report.difference.is_empty() {
            tracing::info!(source, "event triggers: {}", report.difference.words());
        }
        let mut line = String::new();
        for (trigger, reason) in &report.difference.failed {
            line.push_str(&format!("event trigger `{trigger}` cannot be made: {reason}; "));
        }
        for (trigger, reason) in &report.difference.warned {
            line.push_str(&format!("event trigger `{trigger}`: {reason}; "));
        }
        line.push_str(report.waits.as_deref().or(report.error.as_deref()).unwrap_or_default());
        let line = line.trim_end_matches("; ").to_owned();
        let is_news = !line.is_empty() && self.told.borrow().as_deref() != Some(line.as_str());
        if is_news {
            tracing::warn!(source, "{line}");
        }
        *self.told.borrow_mut() = Some(line);
    }

    /// Archives the events of triggers that are gone from the metadata.
    async fn archive_dropped(&self, source: &EventSource, difference: &CaptureDifference) {
        let known: BTreeSet<String> = source.triggers.iter().map(|it| it.captured.name.clone()).collect();
        let mut gone: BTreeSet<String> =
            difference.dropped.iter().filter_map(|it| trigger_of(it)).map(str::to_owned).collect();
        if source.leftovers == Leftovers::Drop {
            gone.extend(self.names.replace(known.clone()));
        }
        for name in gone.difference(&known) {
            if let Err(error) = self.runner.log().archive(name).await {
                tracing::warn!(source = source.name, trigger = name, %error, "events of a deleted trigger are not archived");
            }
        }
    }
}

/// The event trigger that `object` is made for.
fn trigger_of(object: &str) -> Option<&str> {
    object.strip_prefix(NAME_PREFIX)?.rsplit_once('_').map(|it| it.0)
}

/// The result of making triggers.
#[derive(Default)]
struct Reconciled {
    difference: CaptureDifference,
    waits: Option<String>,
}

async fn reconcile_postgres(
    (database, numbers): (&Settings, postgres::WideNumbers),
    settings: &ServiceSettings,
    captured: &[CapturedTrigger],
    leftovers: Leftovers,
    deadline: Instant,
) -> Result<Reconciled, String> {
    let words = |error: weir_postgres::Error| error.to_string();
    let mut state = postgres::look(database, deadline).await.map_err(words)?;
    if !captured.is_empty() && !state.may_make && !state.is_read_only {
        return Err(right_words());
    }
    if let CatalogOwner::Other { pending } = state.owner {
        if !settings.takes_over || captured.is_empty() {
            let waits = (!captured.is_empty()).then(|| foreign_words(captured.len(), pending));
            return Ok(Reconciled { waits, ..Reconciled::default() });
        }
        postgres::take_over(database, deadline).await.map_err(words)?;
        state.owner = CatalogOwner::Weir;
    }
    if state.is_read_only || !settings.captures {
        let plan = postgres::plan(database, captured, numbers, leftovers, deadline).await.map_err(words)?;
        let waits = (!plan.is_empty()).then(|| unmade_words(&plan, state.is_read_only));
        return Ok(Reconciled { waits, ..Reconciled::default() });
    }
    let made = postgres::reconcile(database, state.owner, captured, numbers, leftovers, deadline).await;
    Ok(Reconciled { difference: made.map_err(words)?, waits: None })
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
        return Ok(Reconciled { waits, difference });
    }
    if !is_wanted {
        return Ok(Reconciled { waits: None, difference });
    }
    if settings.takes_over && matches!(log.find_copied().await, Ok(Some(_))) {
        log.take_over().await.map_err(|error| error.to_string())?;
    }
    let waits = match log.state().await.map_err(|error| error.to_string())? {
        FileState::Copy(pending) => Some(copy_words(pending)),
        FileState::Owned | FileState::Other | FileState::Empty => None,
    };
    Ok(Reconciled { waits, difference })
}

/// The state of `source` without a change of its database: triggers to make and to drop, and what waits.
pub(super) async fn preview(source: &EventSource, settings: &ServiceSettings) -> SourceReport {
    let mut report = SourceReport { source: source.name.clone(), ..SourceReport::default() };
    let captured: Vec<CapturedTrigger> = source.triggers.iter().map(|it| it.captured.clone()).collect();
    let found = match &source.database {
        EventDatabase::Postgres(database, numbers) => {
            preview_postgres((database.as_ref(), *numbers), settings, &captured, source.leftovers).await
        }
        EventDatabase::Sqlite(writer) => {
            preview_sqlite(writer.clone(), settings, captured, source.leftovers).await
        }
    };
    match found {
        Ok(Reconciled { difference, waits }) => (report.difference, report.waits) = (difference, waits),
        Err(words) => report.error = Some(words),
    }
    report
}

async fn preview_postgres(
    (database, numbers): (&Settings, postgres::WideNumbers),
    settings: &ServiceSettings,
    captured: &[CapturedTrigger],
    leftovers: Leftovers,
) -> Result<Reconciled, String> {
    let words = |error: weir_postgres::Error| error.to_string();
    let deadline = Instant::now() + RECONCILE_MAX;
    let state = postgres::look(database, deadline).await.map_err(words)?;
    if let (CatalogOwner::Other { pending }, false) = (state.owner, settings.takes_over) {
        let waits = (!captured.is_empty()).then(|| foreign_words(captured.len(), pending));
        return Ok(Reconciled { waits, ..Reconciled::default() });
    }
    if captured.is_empty() && state.owner != CatalogOwner::Weir {
        return Ok(Reconciled::default());
    }
    if !state.may_make && !state.is_read_only {
        return Err(right_words());
    }
    let difference = postgres::plan(database, captured, numbers, leftovers, deadline).await.map_err(words)?;
    let is_unmade = !difference.is_empty() && (state.is_read_only || !settings.captures);
    let waits = is_unmade.then(|| unmade_words(&difference, state.is_read_only));
    Ok(Reconciled { difference, waits })
}

/// The reason why a role that may not make the schema captures nothing.
fn right_words() -> String {
    "its changes are not captured and no event is delivered, as the role may not make the schema `hdb_catalog`: \
     GRANT CREATE ON DATABASE to it, or make the schema and give it to the role"
        .into()
}

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
    Ok(Reconciled { difference, waits })
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
fn foreign_words(triggers: usize, pending: u32) -> String {
    let made = if triggers == 1 { "1 trigger".to_owned() } else { format!("{triggers} triggers") };
    format!(
        "event triggers wait, as `hdb_catalog` is another server's: {made} to make, {} to deliver; when that server is gone, take them \
         over by `weir events take-over`, or `events: take_over` in weir.yaml",
        count_words(pending)
    )
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

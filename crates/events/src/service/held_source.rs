//! One source while it is served: its triggers are kept as the metadata says, its events delivered.

use super::cleanup;
use super::made_triggers::{Reconciled, reconcile};
use super::source::{EventDatabase, EventSource, ServiceSettings, SourceReport, TriggerSetup};
use super::unmade_triggers::{TRIED_AGAIN, UnmadeTriggers};
use crate::capture::{CaptureDifference, Leftovers};
use crate::dispatch::{DispatchTools, EventLog, Slots, SourceRunner};
use crate::log::{PostgresLog, SqliteLog};
use crate::moment::Moment;
use crate::trigger::{CapturedTrigger, NAME_PREFIX};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

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

/// Words about a database that takes longer than a reload waits for.
const SILENT: &str = "the database does not answer";

/// A source and the settings of all of them.
type Setup = (EventSource, ServiceSettings);

pub(super) struct HeldSource {
    setup: RefCell<Rc<Setup>>,
    runner: Rc<SourceRunner>,
    unmade: UnmadeTriggers,
    /// The setup of the last check that did not fail.
    settled: RefCell<Option<Rc<Setup>>>,
    /// The triggers that are in the database, by the last check that did not fail.
    made: RefCell<Vec<CapturedTrigger>>,
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
        (tools, unmade): (DispatchTools, UnmadeTriggers),
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
            unmade,
            settled: RefCell::default(),
            made: RefCell::default(),
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
        if self.is_checking.get() {
            // A change during a check is for the next one, so it is not taken.
            return;
        }
        let every = if self.is_unsettled.get() { CHECK_WAITING_EVERY } else { CHECK_EVERY };
        if self.runner.take_schema_change() || self.checked_at.get().elapsed() >= every {
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
        let source = &setup.0;
        let mut report = SourceReport { source: source.name.clone(), ..SourceReport::default() };
        match reconcile(source, &setup.1, self.runner.log()).await {
            // Delivery stays as it was.
            Ok(Reconciled { difference, is_refused: true, .. }) => report.difference = difference,
            Err(words) => report.error = Some(words),
            Ok(Reconciled { difference, waits, is_refused: false }) => {
                self.archive_dropped(source, &difference).await;
                (report.difference, report.waits) = (difference, waits);
                let is_used = !source.triggers.is_empty() && setup.1.captures;
                self.runner.use_log(is_used && report.waits.is_none());
            }
        }
        self.settle(&setup, &report);
        report
    }

    /// Delivers what may be delivered after `report`.
    fn settle(&self, setup: &Rc<Setup>, report: &SourceReport) {
        let (source, settings) = &**setup;
        let delivered = source.triggers.iter().filter_map(|it| it.delivered.clone());
        let may_deliver = settings.delivers && report.waits.is_none();
        self.runner.use_triggers(if may_deliver { delivered.collect() } else { Vec::new() });
        self.waits.borrow_mut().clone_from(&report.waits);
        let CaptureDifference { failed, delayed, kept, .. } = &report.difference;
        let has_failures = [failed, delayed, kept].into_iter().any(|it| !it.is_empty());
        self.is_unsettled.set(report.waits.is_some() || report.error.is_some() || has_failures);
        self.checked_at.set(Instant::now());
        self.is_checking.set(false);
        self.note_made(source, report);
        self.note_unmade(setup, report);
        self.tell(report);
    }

    /// Notes the triggers of `source` that are in its database by `report`, unless that could not be asked.
    fn note_made(&self, source: &EventSource, report: &SourceReport) {
        if report.error.is_some() {
            return;
        }
        let CaptureDifference { failed, delayed, .. } = &report.difference;
        let is_made = |it: &&CapturedTrigger| {
            report.waits.is_none() && !failed.iter().chain(delayed).any(|(name, _)| *name == it.name)
        };
        let captured = source.triggers.iter().map(|it| &it.captured);
        *self.made.borrow_mut() = captured.filter(is_made).cloned().collect();
    }

    /// Notes the triggers that `report` says are not made. A database that cannot be asked has those that it had.
    fn note_unmade(&self, setup: &Rc<Setup>, report: &SourceReport) {
        let is_same = |it: &Rc<Setup>| Rc::ptr_eq(it, setup);
        if !is_same(&self.setup.borrow()) {
            return;
        }
        match &report.error {
            None => {
                self.unmade.replace(&setup.0.name, &report.difference.failed, &report.difference.delayed);
                *self.settled.borrow_mut() = Some(Rc::clone(setup));
            }
            Some(_) if self.settled.borrow().as_ref().is_some_and(is_same) => {}
            Some(words) => self.note_unanswered(&setup.0, words),
        }
    }

    /// Notes that the triggers of `source` that are still to be made wait for its database, because of `words`.
    fn note_unanswered(&self, source: &EventSource, words: &str) {
        let made = self.made.borrow();
        let left = source.triggers.iter().map(|it| &it.captured).filter(|it| !made.contains(it));
        let left: Vec<(String, String)> = left.map(|it| (it.name.clone(), words.to_owned())).collect();
        self.unmade.replace(&source.name, &[], &left);
    }

    /// The report on a database that has not answered yet.
    pub(super) fn report_silence(&self) -> SourceReport {
        let setup = Rc::clone(&self.setup.borrow());
        self.note_unanswered(&setup.0, SILENT);
        let error = Some(SILENT.to_owned());
        SourceReport { source: setup.0.name.clone(), error, ..SourceReport::default() }
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
        for (trigger, reason) in &report.difference.delayed {
            line.push_str(&format!("event trigger `{trigger}` is not made yet: {reason}; {TRIED_AGAIN}; "));
        }
        for (object, reason) in &report.difference.kept {
            line.push_str(&format!("database trigger `{object}` cannot be dropped: {reason}; "));
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

//! The loop of one source.

use super::event_log::EventLog;
use super::slots::{Slot, Slots};
use crate::delivery::{CallTrace, DeliveryTracer, Receiver, RetryPolicy, attempt, read_trace};
use crate::log::{BEAT, LogError, Outcome, PendingEvent, Room};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use weir_webhook::WebhookClient;

/// Pause between two fetches that found less than they had room for.
const GATHER: Duration = Duration::from_millis(8);
/// Longest time without a fetch, in which retries become due.
const QUIET_MAX: Duration = Duration::from_millis(500);
/// Time between two looks whether there is a log by now.
const HOLD_LOOK: Duration = Duration::from_millis(100);
/// Time without events after which looks are rarer.
const QUIET_AFTER: Duration = Duration::from_secs(10);
/// Shortest pause between two looks then.
const QUIET_PAUSE: Duration = Duration::from_millis(100);
/// First and longest pause after a failure of the database.
const FAILURE_PAUSE: Duration = Duration::from_millis(250);
const FAILURE_PAUSE_MAX: Duration = Duration::from_secs(5);
/// Largest number of outcomes that are recorded together.
const RECORDED_MAX: usize = 200;
/// Number of outcomes that wait to be recorded from which on no more events are fetched.
const UNRECORDED_MAX: usize = 300;
/// Full batches in a row of which the log tells.
const FULL_BATCHES_TOLD: u32 = 3;

/// Settings of delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DispatchSettings {
    /// Largest number of events of a fetch.
    pub batch: u32,
    /// Pause between two looks for events.
    pub interval: Duration,
}

/// The client and the tracer that all sources of a service share.
#[derive(Clone, Debug)]
pub struct DispatchTools {
    /// Calls webhooks.
    pub client: Arc<WebhookClient>,
    /// Traces of deliveries.
    pub tracer: Arc<dyn DeliveryTracer>,
}

/// A trigger whose events are delivered.
#[derive(Clone, Debug)]
pub struct DeliveredTrigger {
    pub name: String,
    /// The webhook.
    pub receiver: Arc<Receiver>,
    /// Further attempts.
    pub retry: RetryPolicy,
    /// True if events of a row wait for each other.
    pub is_ordered: bool,
}

/// Calls of one trigger.
#[derive(Clone, Copy, Debug, Default)]
struct TriggerState {
    /// Calls in flight.
    calls: u32,
    /// True if the last call was answered, with whatever status.
    is_answered: bool,
}

/// Delivers the events of one source.
pub struct SourceRunner {
    name: String,
    log: EventLog,
    tools: DispatchTools,
    slots: Slots,
    settings: DispatchSettings,
    triggers: RefCell<Rc<[DeliveredTrigger]>>,
    states: RefCell<HashMap<String, TriggerState>>,
    /// Outcomes that are not being recorded yet.
    unrecorded: RefCell<Vec<Outcome>>,
    /// Events from their fetch to their record.
    in_work: Cell<usize>,
    /// Wakes the recorder.
    has_outcome: Notify,
    /// Wakes the loop.
    wake: Notify,
    is_stopping: Cell<bool>,
    /// True while there is a log to deliver from: a source without triggers has none.
    has_log: Cell<bool>,
    /// True while this server may take events.
    is_held: Cell<bool>,
    has_changed: Cell<bool>,
}

impl SourceRunner {
    /// Delivers the events of the source `name` from `log`, as soon as it is run.
    pub fn new(
        name: &str,
        log: EventLog,
        tools: DispatchTools,
        slots: Slots,
        settings: DispatchSettings,
    ) -> Rc<Self> {
        Rc::new(Self {
            name: name.to_owned(),
            log,
            tools,
            slots,
            settings,
            triggers: RefCell::new(Rc::default()),
            states: RefCell::default(),
            unrecorded: RefCell::default(),
            in_work: Cell::new(0),
            has_outcome: Notify::new(),
            wake: Notify::new(),
            is_stopping: Cell::new(false),
            has_log: Cell::new(false),
            is_held: Cell::new(false),
            has_changed: Cell::new(false),
        })
    }

    pub fn log(&self) -> &EventLog {
        &self.log
    }

    /// Delivers events of these triggers from now on. Calls in flight end as they began.
    pub fn use_triggers(&self, triggers: Vec<DeliveredTrigger>) {
        *self.triggers.borrow_mut() = triggers.into();
        self.wake();
    }

    /// Says whether there is a log that this server may deliver from. Without one nothing is asked of the database.
    pub fn use_log(&self, has_log: bool) {
        self.has_log.set(has_log);
    }

    /// Looks for events at once.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// True once after each change of a definition in the database that was seen.
    pub fn take_schema_change(&self) -> bool {
        self.has_changed.take()
    }

    /// True while this server may take events; of a file one server does.
    pub fn is_held(&self) -> bool {
        self.is_held.get() && !self.is_stopping.get()
    }

    /// Fetches no more; [`Self::run`] ends.
    pub fn stop(&self) {
        self.is_stopping.set(true);
        self.wake();
    }

    /// Waits until all calls are recorded, at most until `deadline`, then frees what is left.
    pub async fn drain(&self, deadline: Instant) {
        while self.in_work.get() > 0 && Instant::now() < deadline {
            sleep(Duration::from_millis(20)).await;
        }
        if !self.needs_log() {
            return;
        }
        if let Err(error) = self.log.leave().await {
            tracing::warn!(source = self.name, %error, "events in work are not freed; others take them later");
        }
    }

    /// Delivers until [`Self::stop`].
    pub async fn run(self: Rc<Self>) {
        let recorder = tokio::task::spawn_local(Rc::clone(&self).record_all());
        let holder = tokio::task::spawn_local(Rc::clone(&self).hold());
        let mut pause = FAILURE_PAUSE;
        let mut full_batches = 0;
        let mut looked_at = Instant::now();
        let mut found_at = Instant::now();
        while !self.is_stopping.get() {
            let rooms = self.rooms();
            if rooms.is_empty() || !self.is_held.get() {
                self.rest(QUIET_MAX).await;
                continue;
            }
            match self.deliver_batch(rooms, &mut looked_at).await {
                Ok(0) => {
                    full_batches = 0;
                    self.rest(choose_rest(self.settings.interval, found_at.elapsed())).await;
                }
                Ok(count) => {
                    found_at = Instant::now();
                    full_batches = if count >= self.settings.batch { full_batches + 1 } else { 0 };
                    if full_batches == FULL_BATCHES_TOLD {
                        tracing::warn!(source = self.name, "events come faster than they are delivered");
                    }
                    if count < self.settings.batch {
                        sleep(GATHER).await;
                    }
                }
                Err(error) => {
                    tracing::warn!(source = self.name, %error, "events cannot be fetched");
                    self.rest(pause).await;
                    pause = (pause * 2).min(FAILURE_PAUSE_MAX);
                    continue;
                }
            }
            pause = FAILURE_PAUSE;
        }
        holder.abort();
        // The recorder goes on while calls are in flight; it ends with the thread.
        drop(recorder);
    }

    /// Waits until something wakes the loop, at most `longest`.
    async fn rest(&self, longest: Duration) {
        // Nobody waking it is the usual case.
        let _ = timeout(longest, self.wake.notified()).await;
    }

    /// True if there is a log, or events of one are in work still.
    fn needs_log(&self) -> bool {
        self.has_log.get() || self.in_work.get() > 0
    }

    /// Keeps the right to deliver.
    async fn hold(self: Rc<Self>) {
        loop {
            if !self.needs_log() {
                self.is_held.set(false);
                sleep(HOLD_LOOK).await;
                continue;
            }
            match self.log.hold().await {
                Ok(is_held) => {
                    if is_held != self.is_held.replace(is_held) {
                        self.wake();
                    }
                }
                Err(error) => {
                    tracing::warn!(source = self.name, %error, "the log of events cannot be reached");
                    if !self.log.may_fetch() {
                        self.is_held.set(false);
                    }
                }
            }
            sleep(BEAT).await;
        }
    }

    /// The room of each trigger, within that of a fetch.
    fn rooms(&self) -> Vec<Room> {
        if self.unrecorded.borrow().len() >= UNRECORDED_MAX {
            return Vec::new();
        }
        let states = self.states.borrow();
        let most = self.slots.free().min(self.settings.batch);
        let room = |it: &DeliveredTrigger| {
            let state = states.get(&it.name).copied().unwrap_or_default();
            let count = self.slots.per_trigger(state.is_answered).saturating_sub(state.calls).min(most);
            (count > 0).then(|| Room { trigger: it.name.clone(), count, is_ordered: it.is_ordered })
        };
        self.triggers.borrow().iter().filter_map(room).collect()
    }

    /// Fetches events and begins their calls; returns their number.
    async fn deliver_batch(
        self: &Rc<Self>,
        rooms: Vec<Room>,
        looked_at: &mut Instant,
    ) -> Result<u32, LogError> {
        let change = self.log.look().await?;
        if change.has_schema {
            self.has_changed.set(true);
        }
        if !change.has_data && looked_at.elapsed() < QUIET_MAX && self.slots.free() > 0 {
            return Ok(0);
        }
        *looked_at = Instant::now();
        let events = self.log.fetch(rooms, self.slots.free().min(self.settings.batch)).await?;
        let count = u32::try_from(events.len()).unwrap_or(u32::MAX);
        self.in_work.set(self.in_work.get() + events.len());
        for event in events {
            self.begin(event).await;
        }
        Ok(count)
    }

    /// Begins the call of an event when there is a slot.
    async fn begin(self: &Rc<Self>, event: PendingEvent) {
        let trigger = self.triggers.borrow().iter().find(|it| it.name == event.trigger).cloned();
        let (Some(trigger), Some(slot)) = (trigger, self.slots.take().await) else {
            self.in_work.set(self.in_work.get().saturating_sub(1));
            return;
        };
        self.states.borrow_mut().entry(event.trigger.clone()).or_default().calls += 1;
        let runner = Rc::clone(self);
        tokio::task::spawn_local(async move { runner.call(event, trigger, slot).await });
    }

    async fn call(self: Rc<Self>, event: PendingEvent, trigger: DeliveredTrigger, slot: Slot) {
        let body = event.body(trigger.retry.retries);
        let trace = CallTrace {
            tracer: &*self.tools.tracer,
            parent: read_trace(&event.payload),
            name: &trigger.name,
        };
        let attempted = attempt(&self.tools.client, &trigger.receiver, body, &trace).await;
        let decision = attempted.decide(event.tries, trigger.retry);
        let outcome = Outcome {
            id: event.id,
            sequence: event.sequence,
            trigger: event.trigger,
            tries: event.tries.saturating_add(1),
            decision,
            row: attempted.row,
        };
        if let Some(state) = self.states.borrow_mut().get_mut(&outcome.trigger) {
            state.calls = state.calls.saturating_sub(1);
            state.is_answered = attempted.is_answered;
        }
        drop(slot);
        self.unrecorded.borrow_mut().push(outcome);
        self.has_outcome.notify_one();
    }

    /// Records outcomes until the thread ends.
    async fn record_all(self: Rc<Self>) {
        loop {
            self.has_outcome.notified().await;
            // A few milliseconds gather the outcomes of calls that ended together.
            sleep(GATHER).await;
            loop {
                let count = self.unrecorded.borrow().len().min(RECORDED_MAX);
                if count == 0 {
                    break;
                }
                let group: Vec<Outcome> = self.unrecorded.borrow_mut().drain(..count).collect();
                self.record_group(&group).await;
            }
        }
    }

    /// Records `group`, however long the database is away.
    async fn record_group(&self, group: &[Outcome]) {
        let mut pause = FAILURE_PAUSE;
        while let Err(error) = self.log.record(group).await {
            tracing::warn!(source = self.name, %error, events = group.len(), "outcomes of events are not recorded yet");
            sleep(pause).await;
            pause = (pause * 2).min(FAILURE_PAUSE_MAX);
        }
        self.in_work.set(self.in_work.get().saturating_sub(group.len()));
        self.wake();
    }
}

/// The pause between two looks, `quiet` after the last event: a source without changes costs its database little.
fn choose_rest(interval: Duration, quiet: Duration) -> Duration {
    if quiet < QUIET_AFTER { interval } else { interval.max(QUIET_PAUSE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_rarer_where_nothing_changes() {
        let interval = Duration::from_millis(25);
        assert_eq!(choose_rest(interval, Duration::from_secs(9)), interval);
        assert_eq!(choose_rest(interval, Duration::from_secs(10)), QUIET_PAUSE);
        let longer = Duration::from_secs(1);
        assert_eq!(choose_rest(longer, Duration::from_secs(10)), longer);
    }
}

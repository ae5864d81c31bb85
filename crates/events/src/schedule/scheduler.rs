//! Stores events of cron triggers ahead, and delivers scheduled events that are due.
//!
//! One of several servers works, the one that holds the lease. Times of events are rows before they come, so that neither a restart
//! nor a jump of the clock makes one twice or forgets one.
//!
//! **Invariant:** an event is taken into work only by the server that holds the lease; at most [`CALLS_MAX`] are in work.

use super::deliver::{Delivered, deliver_cron, deliver_one_off};
use super::triggers::CronTrigger;
use crate::delivery::DeliveryTracer;
use crate::moment::{Clock, Moment};
use crate::shared_schema::foreign_words;
use crate::state::{
    CronEvents, Lease, OneOffEvents, Ownership, StateDatabase, StateError, StoredSchedule, TakenCronEvent,
    TakenOneOffEvent,
};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use weir_webhook::WebhookClient;
use weir_webhook::environment::SharedEnvironment;

/// Number of events that a trigger has ahead at least.
const AHEAD: usize = 100;
/// Maximum number of events that are stored for a trigger at once: after a long stop there are many that were missed.
const STORED_MAX: usize = 2000;
/// Maximum number of events in work.
pub const CALLS_MAX: usize = 100;
/// Time between two looks at the events ahead.
const AHEAD_EVERY: Duration = Duration::from_secs(60);
/// Longest time between two looks for due events, in which the lease is renewed.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// Pause after a failure of the database.
const FAILURE_PAUSE: Duration = Duration::from_secs(5);
/// Time between two looks whether an operator took tables of another server over.
const FOREIGN_PAUSE: Duration = Duration::from_secs(5);

/// Means of a scheduler.
#[derive(Clone)]
pub struct SchedulerSettings {
    /// Name of this server, which no other one has.
    pub owner: String,
    /// The clock of events.
    pub clock: Arc<dyn Clock>,
    /// Calls webhooks.
    pub client: Arc<WebhookClient>,
    /// Traces of deliveries.
    pub tracer: Arc<dyn DeliveryTracer>,
    /// Variables of addresses and headers of one-off events.
    pub environment: SharedEnvironment,
    /// True if events that another server left are delivered, too.
    pub takes_over: bool,
}

impl fmt::Debug for SchedulerSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SchedulerSettings").field("owner", &self.owner).finish_non_exhaustive()
    }
}

/// Delivers scheduled events.
pub struct Scheduler {
    settings: SchedulerSettings,
    database: Arc<StateDatabase>,
    cron: CronEvents,
    one_off: OneOffEvents,
    triggers: Mutex<Arc<[CronTrigger]>>,
    /// The time of the last look at the events ahead; `None` after a change of the triggers.
    looked_ahead: Mutex<Option<Moment>>,
    in_work: Mutex<JoinSet<()>>,
    /// Held during a look, so that a stop begins after it.
    look: tokio::sync::Mutex<()>,
    wake: Arc<Notify>,
    is_stopping: AtomicBool,
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler").field("database", &self.database).finish_non_exhaustive()
    }
}

/// One event in work.
enum Work {
    Cron(Box<CronTrigger>, TakenCronEvent),
    OneOff(TakenOneOffEvent),
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Scheduler {
    /// A scheduler of the events in `database`, without triggers.
    pub fn new(database: Arc<StateDatabase>, settings: SchedulerSettings) -> Arc<Self> {
        Arc::new(Self {
            settings,
            cron: CronEvents::new(Arc::clone(&database)),
            one_off: OneOffEvents::new(Arc::clone(&database)),
            database,
            triggers: Mutex::new(Arc::from([])),
            looked_ahead: Mutex::default(),
            in_work: Mutex::default(),
            look: tokio::sync::Mutex::default(),
            wake: Arc::default(),
            is_stopping: AtomicBool::new(false),
        })
    }

    /// Runs `triggers` from now on, those of the metadata in service.
    pub fn use_triggers(&self, triggers: Vec<CronTrigger>) {
        *lock(&self.triggers) = triggers.into();
        *lock(&self.looked_ahead) = None;
        self.wake.notify_one();
    }

    /// Looks for due events at once: a command stored one.
    pub fn notice(&self) {
        self.wake.notify_one();
    }

    /// Works until [`Self::stop`].
    pub async fn run(self: Arc<Self>) {
        let mut is_told = false;
        let mut has_failed = false;
        while !self.is_stopping.load(Ordering::Acquire) {
            let stepped = self.step().await;
            has_failed &= stepped.is_err();
            let pause = match stepped {
                Ok(Some(pause)) => pause,
                Ok(None) => {
                    if !is_told && self.has_foreign_work().await {
                        tracing::warn!("{}", foreign_words("scheduled events", ""));
                        is_told = true;
                    }
                    FOREIGN_PAUSE
                }
                // Without triggers perhaps no event waits at all.
                Err(_) if lock(&self.triggers).is_empty() => AHEAD_EVERY,
                Err(error) => {
                    if !std::mem::replace(&mut has_failed, true) {
                        tracing::warn!(%error, "scheduled events wait for their database");
                    }
                    FAILURE_PAUSE
                }
            };
            // A time-out is the usual end of the pause.
            let _ = tokio::time::timeout(pause, self.wake.notified()).await;
        }
    }

    /// True if there are triggers, or one-off events that another server left.
    async fn has_foreign_work(&self) -> bool {
        let is_left = async || self.database.count_left_work().await.is_ok_and(|it| it.events > 0);
        !lock(&self.triggers).is_empty() || is_left().await
    }

    /// One look: renews the lease, stores events ahead, and takes due events into work. Returns the time until the next look, `None` if
    /// the events are another server's.
    /// # Errors
    /// The database cannot be asked.
    pub async fn step(self: &Arc<Self>) -> Result<Option<Duration>, StateError> {
        let _look = self.look.lock().await;
        if self.is_stopping.load(Ordering::Acquire) {
            return Ok(Some(LOOK_EVERY));
        }
        let triggers = Arc::clone(&*lock(&self.triggers));
        let ownership = match self.database.look().await? {
            // Nothing is made in a database that needs none.
            Ownership::Absent if triggers.is_empty() => return Ok(Some(AHEAD_EVERY)),
            Ownership::Own => Ownership::Own,
            Ownership::Absent | Ownership::Foreign => self.database.prepare(self.settings.takes_over).await?,
        };
        if ownership == Ownership::Foreign {
            return Ok(None);
        }
        let now = self.settings.clock.now();
        match self.database.take_lease(&self.settings.owner, now).await? {
            Lease::Other => return Ok(Some(LOOK_EVERY)),
            Lease::Renewed => {}
            Lease::Taken => {
                self.cron.free().await?;
                self.one_off.free().await?;
                *lock(&self.looked_ahead) = None;
            }
        }
        let is_complete = self.look_ahead(&triggers, now).await?;
        self.take_due(&triggers, now).await?;
        if is_complete { self.pause(&triggers).await.map(Some) } else { Ok(Some(Duration::ZERO)) }
    }

    /// Stores events ahead, if that was long ago; true if there are enough of them.
    async fn look_ahead(&self, triggers: &[CronTrigger], now: Moment) -> Result<bool, StateError> {
        let last = *lock(&self.looked_ahead);
        let is_recent = |it: Moment| now.since(it).max(it.since(now)) < AHEAD_EVERY;
        if last.is_some_and(is_recent) {
            return Ok(true);
        }
        let stored = self.cron.schedules(now).await?;
        let mut is_complete = true;
        for trigger in triggers {
            let known = stored.iter().find(|it| *it.trigger == *trigger.name);
            is_complete &= self.store_ahead(trigger, known, now).await?;
        }
        for gone in stored.iter().filter(|it| triggers.iter().all(|trigger| *trigger.name != *it.trigger)) {
            self.cron.drop_schedule(&gone.trigger).await?;
        }
        if is_complete {
            *lock(&self.looked_ahead) = Some(now);
        }
        Ok(is_complete)
    }

    /// Stores events of one trigger; false if there are more to store.
    async fn store_ahead(
        &self,
        trigger: &CronTrigger,
        known: Option<&StoredSchedule>,
        now: Moment,
    ) -> Result<bool, StateError> {
        let from = match known {
            Some(known) if known.schedule == *trigger.expression => {
                if known.waiting >= AHEAD {
                    return Ok(true);
                }
                // An event that was missed longer ago than it may be late is not stored to die.
                let in_time = now.before(trigger.tolerance).before(Duration::from_micros(1));
                let earliest = known.since.max(in_time);
                known.last.map_or(earliest, |it| it.max(earliest))
            }
            Some(_) => {
                self.cron.keep_schedule(&trigger.name, &trigger.expression, true, now).await?;
                now
            }
            // Events may wait there from another server.
            None => {
                self.cron.keep_schedule(&trigger.name, &trigger.expression, false, now).await?;
                self.cron.last(&trigger.name).await?.map_or(now, |it| it.max(now))
            }
        };
        let mut times = Vec::new();
        let mut ahead = 0;
        let mut at = from;
        while ahead < AHEAD && times.len() < STORED_MAX {
            let Some(next) = trigger.schedule.next_after(at) else { break };
            ahead += usize::from(next > now);
            times.push(next);
            at = next;
        }
        let is_complete = times.len() < STORED_MAX;
        self.cron.insert(&trigger.name, &times, now).await?;
        Ok(is_complete)
    }

    /// Takes due events into work, as many as there is room for.
    async fn take_due(self: &Arc<Self>, triggers: &[CronTrigger], now: Moment) -> Result<(), StateError> {
        let owner = &self.settings.owner;
        let names: Vec<&str> = triggers.iter().map(|it| &*it.name).collect();
        let room = self.room();
        if room > 0 && !names.is_empty() {
            for event in self.cron.take(&names, room, owner, now).await? {
                if let Some(trigger) = triggers.iter().find(|it| *it.name == *event.trigger) {
                    self.begin(Work::Cron(Box::new(trigger.clone()), event));
                }
            }
        }
        let room = self.room();
        if room > 0 {
            for event in self.one_off.take(room, owner, now).await? {
                self.begin(Work::OneOff(event));
            }
        }
        Ok(())
    }

    /// Number of events that may be taken into work.
    fn room(&self) -> u32 {
        let mut in_work = lock(&self.in_work);
        while in_work.try_join_next().is_some() {}
        u32::try_from(CALLS_MAX.saturating_sub(in_work.len())).unwrap_or_default()
    }

    fn begin(self: &Arc<Self>, work: Work) {
        let scheduler = Arc::clone(self);
        lock(&self.in_work).spawn(async move {
            scheduler.deliver(&work).await;
            scheduler.wake.notify_one();
        });
    }

    /// Delivers an event and records what became of it, however long the database is away.
    async fn deliver(&self, work: &Work) {
        let settings = &self.settings;
        let now = settings.clock.now();
        let tools = (&*settings.client, &*settings.tracer);
        let delivered = match work {
            Work::Cron(trigger, event) => deliver_cron(tools, trigger, event, now).await,
            Work::OneOff(event) => deliver_one_off(tools, event, now, &settings.environment).await,
        };
        while let Err(error) = self.record(work, &delivered).await {
            tracing::warn!(%error, "the outcome of a scheduled event is not recorded yet");
            tokio::time::sleep(FAILURE_PAUSE).await;
        }
    }

    async fn record(&self, work: &Work, delivered: &Delivered) -> Result<(), StateError> {
        let now = self.settings.clock.now();
        let Delivered { outcome, row } = delivered;
        match work {
            Work::Cron(_, event) => self.cron.record(&event.id, *outcome, row.as_ref(), now).await,
            Work::OneOff(event) => self.one_off.record(&event.id, *outcome, row.as_ref(), now).await,
        }
    }

    /// Time until the next event, and at most [`LOOK_EVERY`].
    async fn pause(&self, triggers: &[CronTrigger]) -> Result<Duration, StateError> {
        if self.room() == 0 {
            // The end of a call wakes the loop.
            return Ok(LOOK_EVERY);
        }
        let names: Vec<&str> = triggers.iter().map(|it| &*it.name).collect();
        let cron = if names.is_empty() { None } else { self.cron.next(&names).await? };
        let one_off = self.one_off.next().await?;
        let now = self.settings.clock.now();
        let next = cron.into_iter().chain(one_off).min();
        Ok(next.map_or(LOOK_EVERY, |it| it.since(now).min(LOOK_EVERY)))
    }

    /// Waits until no event is in work.
    pub async fn drain(&self) {
        loop {
            let mut in_work = std::mem::take(&mut *lock(&self.in_work));
            if in_work.is_empty() {
                return;
            }
            while in_work.join_next().await.is_some() {}
        }
    }

    /// Takes no more events, waits up to `grace` for those in work, and gives the rest and the lease back.
    pub async fn stop(&self, grace: Duration) {
        self.is_stopping.store(true, Ordering::Release);
        self.wake.notify_one();
        let drained = async {
            // A look that has begun may still take events into work.
            drop(self.look.lock().await);
            self.drain().await;
        };
        let is_drained = tokio::time::timeout(grace, drained).await.is_ok();
        if let Err(error) = self.give_back(is_drained).await {
            tracing::warn!(%error, "the lease of scheduled events is not given back");
        }
    }

    async fn give_back(&self, is_drained: bool) -> Result<(), StateError> {
        if self.database.look().await? != Ownership::Own {
            return Ok(());
        }
        let now = self.settings.clock.now();
        if self.database.take_lease(&self.settings.owner, now).await? == Lease::Renewed && !is_drained {
            self.cron.free().await?;
            self.one_off.free().await?;
        }
        self.database.release_lease(&self.settings.owner).await
    }
}

//! Scheduled events of a server: a thread that delivers them, fed by the generation in service.

use super::delivery_spans::DeliverySpans;
use crate::config::{Config, Events};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::Runtime;
use weir_events::identifier::random_id;
use weir_events::moment::SystemClock;
use weir_events::schedule::{CronTrigger, Scheduler, SchedulerSettings};
use weir_events::state::{StateAddress, StateDatabase};
use weir_webhook::{WebhookClient, WebhookLimits};

/// Calls the webhooks of scheduled events.
static CLIENT: LazyLock<Arc<WebhookClient>> =
    LazyLock::new(|| Arc::new(WebhookClient::new(WebhookLimits::USUAL)));

/// The state and its scheduler, once a generation has a place for them.
#[derive(Debug, Default)]
pub(crate) struct ScheduleKeeper(Mutex<Option<RunningSchedules>>);

/// Where the state lies, and whether its tables are taken from another server.
#[derive(Debug, PartialEq, Eq)]
struct StatePlace {
    address: StateAddress,
    takes_over: bool,
}

impl StatePlace {
    /// The place by `config`; `None` if there is none, or events are switched off.
    fn of(config: &Config) -> Option<Self> {
        // A generation whose address is wrong is not made.
        let address = config.writable_state().ok().flatten()?;
        (config.events != Events::Off)
            .then_some(Self { address, takes_over: config.events == Events::TakeOver })
    }
}

#[derive(Debug)]
struct RunningSchedules {
    place: StatePlace,
    database: Arc<StateDatabase>,
    scheduler: Arc<Scheduler>,
    runtime: Arc<Runtime>,
    thread: JoinHandle<()>,
}

impl ScheduleKeeper {
    fn lock(&self) -> MutexGuard<'_, Option<RunningSchedules>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `triggers`, the cron triggers of `config`, from now on.
    pub(crate) fn apply(&self, triggers: &[CronTrigger], config: &Config) {
        let place = StatePlace::of(config);
        let mut running = self.lock();
        if running.as_ref().map(|it| &it.place) != place.as_ref() {
            if let Some(before) = running.take() {
                before.stop(Duration::ZERO);
            }
            *running = place.and_then(RunningSchedules::start);
        }
        if let Some(running) = &*running {
            running.scheduler.use_triggers(triggers.to_vec());
        }
    }

    /// The state, and the scheduler that is told of new events; `None` if there is no place for them.
    pub(crate) fn state(&self) -> Option<(Arc<StateDatabase>, Arc<Scheduler>)> {
        self.lock().as_ref().map(|it| (Arc::clone(&it.database), Arc::clone(&it.scheduler)))
    }

    /// Runs `work` on the state's runtime, where its connections live.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let runtime = self.lock().as_ref().map(|it| Arc::clone(&it.runtime))?;
        Some(runtime.block_on(work))
    }

    /// Ends delivery; calls in flight have `grace`.
    pub(crate) fn stop(&self, grace: Duration) {
        if let Some(running) = self.lock().take() {
            running.stop(grace);
        }
    }
}

impl RunningSchedules {
    fn start(place: StatePlace) -> Option<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("weir-schedules")
            .enable_all()
            .build();
        let runtime = match runtime {
            Ok(runtime) => Arc::new(runtime),
            Err(error) => {
                tracing::error!(%error, "scheduled events are not delivered: there is no thread");
                return None;
            }
        };
        let database = Arc::new(StateDatabase::new(place.address.clone()));
        let settings = SchedulerSettings {
            owner: random_id(),
            clock: Arc::new(SystemClock),
            client: Arc::clone(&CLIENT),
            tracer: Arc::new(DeliverySpans),
            environment: Arc::new(|name| std::env::var(name).ok()),
            takes_over: place.takes_over,
        };
        let scheduler = Scheduler::new(Arc::clone(&database), settings);
        let work = Arc::clone(&scheduler).run();
        let of_thread = Arc::clone(&runtime);
        let thread = std::thread::Builder::new().name("weir-schedule".into());
        let thread = thread.spawn(move || of_thread.block_on(work));
        let thread = thread.inspect_err(|error| {
            tracing::error!(%error, "scheduled events are not delivered: there is no thread");
        });
        Some(Self { place, database, scheduler, runtime, thread: thread.ok()? })
    }

    /// Ends delivery, on a thread of its own: a reload may come from a task, which must wait for no runtime.
    fn stop(self, grace: Duration) {
        if std::thread::scope(|scope| scope.spawn(|| self.wait_for_end(grace)).join().is_err()) {
            tracing::error!("a bug: the scheduler does not end");
        }
    }

    fn wait_for_end(self, grace: Duration) {
        self.runtime.block_on(self.scheduler.stop(grace));
        if self.thread.join().is_err() {
            tracing::error!("a bug: the scheduler panicked");
        }
        // Calls that are still in flight end here.
        if let Ok(runtime) = Arc::try_unwrap(self.runtime) {
            runtime.shutdown_background();
        }
    }
}

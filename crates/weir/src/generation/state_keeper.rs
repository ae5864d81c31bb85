//! The state of a server: a thread that delivers scheduled events and makes calls of asynchronous actions, fed by the generation in
//! service.

use super::delivery_spans::DeliverySpans;
use crate::config::{ActionDelivery, Config, Events};
use crate::sources::stored_calls::{CallConnection, StateCalls, StoredCalls};
use futures_util::future::{OptionFuture, join};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::Runtime;
use weir_actions::{CallWorker, WorkerSettings};
use weir_events::identifier::random_id;
use weir_events::moment::SystemClock;
use weir_events::schedule::{CronTrigger, Scheduler, SchedulerSettings};
use weir_events::state::{StateAddress, StateDatabase};
use weir_webhook::{WebhookClient, WebhookLimits};

/// Calls the webhooks of scheduled events.
static CLIENT: LazyLock<Arc<WebhookClient>> =
    LazyLock::new(|| Arc::new(WebhookClient::new(WebhookLimits::USUAL)));

/// The state and who works with it, once a generation has a place for it.
#[derive(Debug, Default)]
pub(crate) struct StateKeeper(Mutex<Option<RunningState>>);

/// Where the state lies, whether its tables are taken from another server, and how calls are made.
#[derive(Debug, PartialEq, Eq)]
struct StatePlace {
    /// The place by the configuration; the file beside the metadata takes its part while that takes no writes.
    address: StateAddress,
    takes_over: bool,
    /// `None` if calls of asynchronous actions are stored alone.
    worker: Option<WorkerSettings>,
}

impl StatePlace {
    /// The place by `config`; `None` if there is none, or events are switched off.
    fn of(config: &Config) -> Option<Self> {
        // A generation whose address is wrong is not made.
        let address = config.state_address().ok().flatten()?;
        let ActionDelivery { interval, batch } = config.action_delivery;
        let is_on = batch > 0 && !interval.is_zero();
        let worker = is_on.then_some(WorkerSettings { interval, calls_max: batch });
        (config.events != Events::Off).then_some(Self {
            address,
            takes_over: config.events == Events::TakeOver,
            worker,
        })
    }
}

/// The runtime of the state's connections. It may be dropped anywhere: calls that are still in flight end then.
#[derive(Debug)]
struct StateRuntime(Option<Runtime>);

impl StateRuntime {
    fn start() -> std::io::Result<Self> {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        runtime.worker_threads(1).thread_name("weir-state").enable_all().build().map(|it| Self(Some(it)))
    }

    fn block_on<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        Some(self.0.as_ref()?.block_on(work))
    }
}

impl Drop for StateRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

#[derive(Debug)]
struct RunningState {
    place: StatePlace,
    database: Arc<StateDatabase>,
    scheduler: Arc<Scheduler>,
    calls: StateCalls,
    worker: Option<Arc<CallWorker>>,
    runtime: Arc<StateRuntime>,
    thread: Option<JoinHandle<()>>,
}

impl StateKeeper {
    fn lock(&self) -> MutexGuard<'_, Option<RunningState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `triggers` and makes the calls of `stored`, the cron triggers and asynchronous actions of `config`, from now on.
    pub(super) fn apply(&self, triggers: &[CronTrigger], stored: Option<&StoredCalls>, config: &Config) {
        let place = StatePlace::of(config);
        let mut running = self.lock();
        if running.as_ref().map(|it| &it.place) != place.as_ref() {
            if let Some(mut before) = running.take() {
                before.stop(Duration::ZERO);
            }
            // The database is asked once whether it takes writes, not at each reload.
            let address = config.writable_state().ok().flatten();
            *running = place.zip(address).and_then(|(place, address)| RunningState::start(place, address));
        }
        if let Some(running) = &*running {
            running.scheduler.use_triggers(triggers.to_vec());
            running.use_actions(stored);
        }
    }

    /// The state, and the scheduler that is told of new events; `None` if there is no place for them.
    pub(crate) fn state(&self) -> Option<(Arc<StateDatabase>, Arc<Scheduler>)> {
        self.lock().as_ref().map(|it| (Arc::clone(&it.database), Arc::clone(&it.scheduler)))
    }

    /// Runs `work` on the state's runtime, where its connections live.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let runtime = self.lock().as_ref().map(|it| Arc::clone(&it.runtime))?;
        runtime.block_on(work)
    }

    /// Ends delivery; calls in flight have `grace`. Requests that are still answered may store calls on.
    pub(super) fn stop(&self, grace: Duration) {
        if let Some(running) = &mut *self.lock() {
            running.stop(grace);
        }
    }
}

impl RunningState {
    fn start(place: StatePlace, address: StateAddress) -> Option<Self> {
        let failed = |error: std::io::Error| {
            tracing::error!(%error, "scheduled events and asynchronous actions wait: there is no thread");
        };
        let runtime = Arc::new(StateRuntime::start().map_err(failed).ok()?);
        let handle = runtime.0.as_ref()?.handle().clone();
        let database = Arc::new(StateDatabase::new(address));
        let settings = SchedulerSettings {
            owner: random_id(),
            clock: Arc::new(SystemClock),
            client: Arc::clone(&CLIENT),
            tracer: Arc::new(DeliverySpans),
            environment: Arc::new(|name| std::env::var(name).ok()),
            takes_over: place.takes_over,
        };
        let scheduler = Scheduler::new(Arc::clone(&database), settings);
        let calls = StateCalls::new(Arc::clone(&database), handle, place.takes_over);
        let worker = place.worker.map(|it| CallWorker::new(Arc::new(calls.clone()), it));
        let runs = OptionFuture::from(worker.clone().map(CallWorker::run));
        let work = join(Arc::clone(&scheduler).run(), runs);
        let of_thread = Arc::clone(&runtime);
        let thread = std::thread::Builder::new().name("weir-state".into());
        let thread = thread
            .spawn(move || {
                of_thread.block_on(work);
            })
            .map_err(failed)
            .ok()?;
        Some(Self { place, database, scheduler, calls, worker, runtime, thread: Some(thread) })
    }

    /// Keeps and makes the calls of `stored`.
    fn use_actions(&self, stored: Option<&StoredCalls>) {
        if let Some(stored) = stored {
            let worker = self.worker.clone();
            stored.log.connect(CallConnection { calls: self.calls.clone(), worker });
        }
        if let Some(worker) = &self.worker {
            worker.use_actions(stored.map(|it| it.actions.clone()));
        }
    }

    /// Ends delivery, on a thread of its own: a reload may come from a task, which must wait for no runtime.
    fn stop(&mut self, grace: Duration) {
        if std::thread::scope(|scope| scope.spawn(|| self.wait_for_end(grace)).join().is_err()) {
            tracing::error!("a bug: the delivery of the state's events does not end");
        }
    }

    fn wait_for_end(&mut self, grace: Duration) {
        let worker = OptionFuture::from(self.worker.as_ref().map(|it| it.stop(grace)));
        self.runtime.block_on(join(self.scheduler.stop(grace), worker));
        if self.thread.take().is_some_and(|it| it.join().is_err()) {
            tracing::error!("a bug: the delivery of the state's events panicked");
        }
    }
}

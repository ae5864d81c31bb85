//! Takes stored calls from the log and makes them, as long as a server runs.
//!
//! Each action has room of its own for calls in flight, and a call that ends makes room at once: a slow handler holds up no other one.
//!
//! **Invariant:** a call that was taken is made once and its outcome recorded, or it is given back; only the end of the process leaves
//! it to [`CallWorker::step`] of a later time.

use crate::actions::Actions;
use crate::asynchronous::{ActionLog, ActionLogError, TakenCall, WantedCalls};
use crate::deliver::{deliver, timeout};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// Time beyond its timeout after which a call counts as lost with its server.
const LOST_AFTER: Duration = Duration::from_secs(60);
/// Time between two looks for lost calls.
const LOST_EVERY: Duration = Duration::from_secs(30);
/// Time without a failure of the log before calls count as lost: others may have outcomes to record.
const QUIET: Duration = Duration::from_secs(60);
/// Pause of a worker without actions.
const IDLE: Duration = Duration::from_secs(60);
/// Shortest pause after a failure of the log.
const FAILURE_PAUSE: Duration = Duration::from_secs(1);

/// The actions of one generation whose calls are stored.
#[derive(Clone)]
pub struct StoredActions(pub(crate) Arc<Actions>);

impl fmt::Debug for StoredActions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.model.asynchronous().map(|it| &it.entry.name)).finish()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerSettings {
    /// Pause between two looks at the log, which others write to as well.
    pub interval: Duration,
    /// Maximum number of calls of one action in flight.
    pub calls_max: u32,
}

/// Makes stored calls.
pub struct CallWorker {
    log: Arc<dyn ActionLog>,
    settings: WorkerSettings,
    actions: Mutex<Option<StoredActions>>,
    calls: Mutex<JoinSet<()>>,
    /// Ids of the calls in flight, with the names of their actions.
    in_flight: Mutex<BTreeMap<String, String>>,
    /// Held during a look, so that a stop begins after it.
    look: tokio::sync::Mutex<()>,
    /// Time of the next look for lost calls.
    lost_at: Mutex<Instant>,
    wake: Notify,
    is_stopping: AtomicBool,
}

impl fmt::Debug for CallWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallWorker").field("settings", &self.settings).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes a call from those in flight, also if it panics.
struct InFlight<'w> {
    worker: &'w CallWorker,
    id: String,
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        lock(&self.worker.in_flight).remove(&self.id);
        self.worker.wake.notify_one();
    }
}

impl CallWorker {
    /// A worker for the calls in `log`, without actions.
    pub fn new(log: Arc<dyn ActionLog>, settings: WorkerSettings) -> Arc<Self> {
        Arc::new(Self {
            log,
            settings,
            actions: Mutex::default(),
            calls: Mutex::default(),
            in_flight: Mutex::default(),
            look: tokio::sync::Mutex::default(),
            lost_at: Mutex::new(Instant::now()),
            wake: Notify::new(),
            is_stopping: AtomicBool::new(false),
        })
    }

    /// Makes calls by the definitions of `actions` from now on, those of the metadata in service.
    pub fn use_actions(&self, actions: Option<StoredActions>) {
        *lock(&self.actions) = actions;
        self.wake.notify_one();
    }

    /// Looks for stored calls at once: there is a new one.
    pub fn notice(&self) {
        self.wake.notify_one();
    }

    /// Works until [`Self::stop`].
    pub async fn run(self: Arc<Self>) {
        let mut has_failed = false;
        while !self.is_stopping.load(Ordering::Acquire) {
            let pause = match self.step().await {
                Ok(()) if lock(&self.actions).is_none() => IDLE,
                Ok(()) => {
                    has_failed = false;
                    self.settings.interval
                }
                Err(error) => {
                    if !std::mem::replace(&mut has_failed, true) {
                        tracing::warn!(%error, "calls of asynchronous actions wait for their database");
                    }
                    *lock(&self.lost_at) = Instant::now() + QUIET;
                    self.settings.interval.max(FAILURE_PAUSE)
                }
            };
            // A time-out is the usual end of the pause.
            let _ = tokio::time::timeout(pause, self.wake.notified()).await;
        }
    }

    /// One look: makes lost calls ready again, and begins those for which there is room.
    /// # Errors
    /// The log cannot be used.
    pub async fn step(self: &Arc<Self>) -> Result<(), ActionLogError> {
        let _look = self.look.lock().await;
        let Some(actions) = lock(&self.actions).clone() else { return Ok(()) };
        if self.is_stopping.load(Ordering::Acquire) {
            return Ok(());
        }
        self.release_lost(&actions.0).await?;
        let wanted = self.find_room(&actions.0);
        if wanted.is_empty() {
            return Ok(());
        }
        for taken in self.log.take(&wanted).await? {
            self.begin(&actions, taken);
        }
        Ok(())
    }

    /// Makes calls ready again that were lost with their servers.
    async fn release_lost(&self, actions: &Actions) -> Result<(), ActionLogError> {
        if Instant::now() < *lock(&self.lost_at) {
            return Ok(());
        }
        for action in actions.model.asynchronous() {
            let name = &action.entry.name;
            let released = self.log.release(name, timeout(action) + LOST_AFTER).await?;
            if released > 0 {
                tracing::warn!(action = %name, calls = released, "calls that ended with their server are made again");
            }
        }
        *lock(&self.lost_at) = Instant::now() + LOST_EVERY;
        Ok(())
    }

    /// The actions with room for more calls.
    fn find_room<'a>(&self, actions: &'a Actions) -> Vec<WantedCalls<'a>> {
        let in_flight = lock(&self.in_flight);
        let mut wanted = Vec::new();
        for action in actions.model.asynchronous() {
            let name = action.entry.name.as_str();
            let own = u32::try_from(in_flight.values().filter(|it| *it == name).count());
            let count = self.settings.calls_max.saturating_sub(own.unwrap_or(u32::MAX));
            if count > 0 {
                wanted.push(WantedCalls { action: name, count });
            }
        }
        wanted
    }

    fn begin(self: &Arc<Self>, actions: &StoredActions, taken: TakenCall) {
        lock(&self.in_flight).insert(taken.id.clone(), taken.call.action.clone());
        let worker = Arc::clone(self);
        let actions = actions.clone();
        let mut calls = lock(&self.calls);
        while calls.try_join_next().is_some() {}
        calls.spawn(async move {
            let _in_flight = InFlight { worker: &worker, id: taken.id.clone() };
            let mut known = actions.0.model.asynchronous();
            if let Some(action) = known.find(|it| it.entry.name == taken.call.action) {
                deliver(&actions.0, action, &*worker.log, taken).await;
            }
        });
    }

    /// Takes no more calls, waits up to `grace` for those in flight, and gives the rest back.
    pub async fn stop(&self, grace: Duration) {
        self.is_stopping.store(true, Ordering::Release);
        self.wake.notify_one();
        // A look that has begun may still take calls.
        drop(self.look.lock().await);
        let mut calls = std::mem::take(&mut *lock(&self.calls));
        let ended = async { while calls.join_next().await.is_some() {} };
        if tokio::time::timeout(grace, ended).await.is_ok() {
            return;
        }
        let left: Vec<String> = lock(&self.in_flight).keys().cloned().collect();
        calls.shutdown().await;
        match self.log.give_back(&left).await {
            Ok(()) => tracing::warn!(calls = left.len(), "calls of asynchronous actions are given back"),
            Err(error) => tracing::warn!(%error, "calls of asynchronous actions are not given back"),
        }
    }
}

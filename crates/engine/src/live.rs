//! Live queries: operations that are run again when their data changes, and whose subscribers get each result that differs.
//!
//! Subscriptions with the same operation, variables and caller's values are one member of the registry, which is read once for all. `member_registry` knows which
//! member depends on which table or row, `runner` reads those whose data changed, on a thread of its own.
//!
//! **Invariant:** a member is indexed before its first read begins, and a change during a read causes one more: the last result is
//! never older than the last reported change. Reads of one member never overlap, so results never go back in time.
//!
//! A stream is a member with one subscription: each read returns the rows behind its position, and begins once the previous batch
//! was taken.
//!
//! **Cost:** nothing for engines without subscribers. A change looks up its tag and key; a result is read once and shared by its subscribers.

mod event_subscription;
mod live_result;
mod member_registry;
mod overview;
mod reread_times;
mod runner;
mod stream_state;
mod subscription;
mod tagged;

pub use live_result::{Cause, Changed, LiveResult};
pub use overview::{LiveGroup, LiveOverview, LivePush, LiveSource};
pub use subscription::Subscription;

use crate::answer::field_error::FieldError;
use crate::caching::tag_versions::{Change, ChangeListener, TagVersions};
use crate::engine::Engine;
use crate::engine::bound_operation::BoundOperation;
use crate::engine::planner::Planner;
use crate::source::{ChangeSink, Coverage, OthersChanges};
use event_subscription::EventSubscription;
use member_registry::{Registry, SourceTraits};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use weir_language::ast::OperationKind;

/// Time after which an unconfirmed change is certainly committed or undone.
const ABANDONED: Duration = Duration::from_secs(2);

/// Limits and intervals of live queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveSettings {
    /// Polling interval of an operation whose source does not report changes.
    pub poll: Duration,
    /// Shortest time between the starts of two reads of an operation; changes in between are merged.
    pub floor: Duration,
    /// Reads in flight.
    pub reads_max: usize,
    /// Subscriptions of the engine.
    pub subscriptions_max: usize,
    /// Bytes of one result.
    pub result_bytes_max: usize,
    /// Time for one read.
    pub read_timeout: Duration,
}

impl LiveSettings {
    /// Default of the library.
    pub const STANDARD: Self = Self {
        poll: Duration::from_secs(1),
        floor: Duration::from_millis(50),
        reads_max: 256,
        subscriptions_max: 100_000,
        result_bytes_max: 8 << 20,
        read_timeout: Duration::from_secs(30),
    };
}

/// Why an operation cannot be subscribed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubscribeError {
    /// A mutation changes data each time it is run.
    Mutation,
    /// `subscriptions_max` subscriptions run.
    Full,
    /// No thread can be started.
    NoThread,
    /// The source does not open its events, or the caller's credential does not hold.
    Refused(FieldError),
}

/// Counts for operators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveState {
    /// Subscriptions.
    pub subscriptions: usize,
    /// Operations that are read for them.
    pub operations: usize,
    /// Reads that ended since the start.
    pub reads: u64,
    /// Results that differed from the one before.
    pub results: u64,
}

/// The live queries of an engine. Dropped, they end.
pub struct LiveQueries {
    shared: Arc<LiveShared>,
}

/// State shared by subscriptions, listeners and the runner.
pub(crate) struct LiveShared {
    planner: Arc<Planner>,
    changes: Arc<TagVersions>,
    settings: LiveSettings,
    registry: Mutex<Registry>,
    /// Wakes the runner.
    wake: Notify,
    /// Subscriptions to events.
    event_streams: AtomicUsize,
}

impl LiveShared {
    fn registry(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Receives changes of this process, by table and row.
impl ChangeListener for LiveShared {
    fn on_change(&self, change: &Change<'_>) {
        if self.registry().mark(change, None, Instant::now()) {
            self.wake.notify_one();
        }
    }

    fn on_unconfirmed_change(&self, change: &Change<'_>) {
        self.registry().mark_later(change, Instant::now() + ABANDONED);
        self.wake.notify_one();
    }

    fn on_unknown_change(&self) {
        self.registry().mark_all(None, Changed::Unknown, Instant::now());
        self.wake.notify_one();
    }
}

/// Receives the changes that the feed of one source reports.
struct FeedSink<'l> {
    shared: &'l LiveShared,
    source: u16,
}

impl FeedSink<'_> {
    fn changed_source(&self) -> Changed {
        let sources = self.shared.planner.graph.sources();
        Changed::Source(sources[usize::from(self.source)].0.name().into())
    }
}

impl ChangeSink for FeedSink<'_> {
    fn notify_change(&self, change: &Change<'_>) {
        if self.shared.registry().mark(change, Some(self.source), Instant::now()) {
            self.shared.wake.notify_one();
        }
    }

    fn notify_source_change(&self) {
        self.shared.registry().mark_all(Some(self.source), self.changed_source(), Instant::now());
        self.shared.wake.notify_one();
    }

    fn set_coverage(&self, coverage: Coverage) {
        let changed = self.changed_source();
        self.shared.registry().set_coverage(self.source, coverage, changed, Instant::now());
        self.shared.wake.notify_one();
    }
}

impl LiveQueries {
    /// None yet. The runner's thread begins with the first subscription.
    pub fn of(engine: &Engine, settings: LiveSettings) -> Self {
        let planner = Arc::clone(&engine.planner);
        let changes = Arc::clone(&engine.responses.changes);
        let sources = planner.graph.sources().len();
        let registry = Mutex::new(Registry::new(sources));
        let wake = Notify::new();
        let event_streams = AtomicUsize::new(0);
        let shared = LiveShared { planner, changes, settings, registry, wake, event_streams };
        Self { shared: Arc::new(shared) }
    }

    /// Subscribes to `operation`, a subscription or a query that its engine bound: its result as soon as it is read, and each time it differs.
    ///
    /// # Errors
    /// See [`SubscribeError`].
    pub fn subscribe(&self, operation: BoundOperation) -> Result<Subscription, SubscribeError> {
        self.begin(operation, None)
    }

    /// Subscribes to `operation` in place of `before`, whose engine may be gone: a stream continues behind the last batch of `before`,
    /// and a live query does not repeat the last result.
    ///
    /// # Errors
    /// See [`SubscribeError`].
    pub fn subscribe_after(
        &self,
        operation: BoundOperation,
        before: &Subscription,
    ) -> Result<Subscription, SubscribeError> {
        self.begin(operation, Some(before))
    }

    fn begin(
        &self,
        operation: BoundOperation,
        before: Option<&Subscription>,
    ) -> Result<Subscription, SubscribeError> {
        if operation.kind() == OperationKind::Mutation {
            return Err(SubscribeError::Mutation);
        }
        if let Some(refusal) = operation.refusal() {
            return Err(SubscribeError::Refused(refusal));
        }
        let shared = &self.shared;
        let events = operation.events(None);
        let mut registry = shared.registry();
        let running = registry.subscriptions() + shared.event_streams.load(Ordering::Relaxed);
        if running >= shared.settings.subscriptions_max {
            return Err(SubscribeError::Full);
        }
        if let Some(opened) = events {
            let events = opened.map_err(SubscribeError::Refused)?;
            let events = EventSubscription::new(events, operation, Arc::clone(shared));
            return Ok(Subscription::of_events(events));
        }
        if !registry.has_runner {
            runner::start(Arc::downgrade(shared)).map_err(|_| SubscribeError::NoThread)?;
            let listener: Weak<dyn ChangeListener> =
                Arc::downgrade(&(Arc::clone(shared) as Arc<dyn ChangeListener>));
            shared.changes.listen(listener);
            registry.has_runner = true;
        }
        let traits = |source: u16| {
            let source = &shared.planner.graph.sources()[usize::from(source)].0;
            let has_lifetimes =
                matches!(source.others_changes(), OthersChanges::Lifetimes | OthersChanges::PassedThrough);
            SourceTraits { has_feed: source.change_feed().is_some(), has_lifetimes }
        };
        let is_stream = operation.is_stream();
        let stream = is_stream.then(|| before.and_then(Subscription::position));
        let joined = registry.join(operation, stream, traits, Instant::now());
        drop(registry);
        shared.wake.notify_one();
        Ok(Subscription::of_reads(joined, is_stream, before, Arc::clone(shared)))
    }

    /// Counts for operators.
    pub fn state(&self) -> LiveState {
        let state = self.shared.registry().state();
        let event_streams = self.shared.event_streams.load(Ordering::Relaxed);
        LiveState { subscriptions: state.subscriptions + event_streams, ..state }
    }
}

impl std::fmt::Debug for LiveQueries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveQueries").field("state", &self.state()).finish_non_exhaustive()
    }
}

impl Drop for LiveQueries {
    fn drop(&mut self) {
        self.shared.registry().close();
        self.shared.wake.notify_one();
    }
}

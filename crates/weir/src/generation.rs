//! A generation: configuration, engine and rules in service at one time; and how it is replaced.
//!
//! A request holds the generation it began with, so a reload drops nothing: the old one goes when its last request does.
//!
//! **Invariant:** only a complete generation is ever put into service; one is made at a time, and nobody changes what it is
//! made of meanwhile.

pub(crate) mod admission;
pub(crate) mod cors_rules;
mod delivery_spans;
pub(crate) mod event_keeper;
pub(crate) mod mirror;
mod origin;
pub(crate) mod readiness;
mod state_keeper;
mod tls;
mod warm_up;

use self::admission::Admission;
use self::cors_rules::CorsRules;
use self::event_keeper::EventKeeper;
use self::mirror::ReadMirror;
use self::readiness::Readiness;
use crate::config::{Config, CostLimits};
use crate::metadata;
use crate::observer::observer;
use crate::operations::{self, SavedOperations};
use crate::relay::RelayGraph;
use crate::session::Authenticator;
use crate::session::native_auth::NativeAuth;
use crate::sources::known_sources::KnownSources;
use crate::sources::native::{AuthSettings, Native};
use crate::sources::remote_watch::{self, WatchedRemote};
use crate::sources::services;
use crate::sources::stored_calls::StoredCalls;
use crate::sources::{self, Down, EventEntry, Findings, Misfit, Opened};
use arc_swap::ArcSwap;
pub use origin::{Origin, Overrides};
use state_keeper::StateKeeper;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use weir_engine::compose::Graph;
use weir_engine::demand::CostRule;
use weir_engine::engine::{Engine, Settings};
use weir_engine::live::LiveQueries;
use weir_engine::observer::Observer;
use weir_events::schedule::CronTrigger;
use weir_events::service::EventSource;
use weir_http::cache::Clock;
use weir_metadata::{Inconsistent, Loaded, Step};
use weir_postgres::Watch;

/// One configuration in service.
pub struct Generation {
    /// Number of the generation, from 1.
    pub number: u64,
    /// The configuration.
    pub config: Config,
    /// The engine.
    pub engine: Engine,
    /// Subscriptions to the engine.
    pub(crate) live: LiveQueries,
    /// Engine of the same database with Relay's API.
    pub(crate) relay: RelayGraph,
    /// Query collections, the allow list and REST endpoints.
    pub(crate) operations: SavedOperations,
    /// Rates of requests, and limits of roles.
    pub(crate) admission: Admission,
    /// Authenticates callers.
    pub(crate) authenticator: Authenticator,
    /// Names of headers with credentials, separated by commas.
    pub(crate) credentials: Box<str>,
    /// Authentication of native sources.
    pub(crate) native_auth: NativeAuth,
    /// Problems of the sources, for the operator.
    pub findings: Findings,
    /// Databases whose schema is watched.
    pub(crate) watches: Vec<Watch>,
    /// Native sources with pending indexes.
    pub(crate) building: Vec<Native>,
    /// Databases with event triggers, or that may have had some.
    pub(crate) events: Vec<EventSource>,
    /// Event triggers of the metadata.
    event_entries: Vec<EventEntry>,
    /// Cron triggers that run.
    pub(crate) cron_triggers: Vec<CronTrigger>,
    /// Asynchronous actions, if there are any.
    pub(crate) stored_calls: Option<StoredCalls>,
    /// Last known contents of the sources.
    known: KnownSources,
    /// Remote schemas.
    pub(crate) remotes: Vec<WatchedRemote>,
    /// True if no source could be opened, so there is nothing to query.
    pub(crate) is_waiting: bool,
    pub(crate) readiness: Readiness,
    pub(crate) dev: bool,
    /// True if every local caller is admin. Requests must then name a local host, which prevents DNS rebinding.
    pub(crate) local_only: bool,
    pub(crate) cors: CorsRules,
    pub(crate) tls: Option<TlsAcceptor>,
    /// Sends a share of the queries to a canary.
    pub(crate) mirror: Option<Arc<ReadMirror>>,
}

impl Generation {
    /// Opens the sources of `config` and creates their engine. Sources that are down are left out.
    /// # Errors
    /// All sources that cannot be opened, and all conflicts between them, for the operator.
    pub fn build(config: Config, number: u64) -> Result<Self, String> {
        Self::build_after(config, number, None)
    }

    /// Like [`Self::build`], after a generation with sources `known`: a source that is down is served from its known contents, with the
    /// permissions of `config`.
    fn build_after(config: Config, number: u64, known: Option<&KnownSources>) -> Result<Self, String> {
        let (graph, mut opened) = sources::graph(&config, known)?;
        let is_waiting = opened.sources.is_empty();
        let findings = std::mem::take(&mut opened.findings);
        for source in &mut opened.events {
            source.is_down = findings.down.iter().any(|it| it.name == source.name);
        }
        let made = Self::of(config, number, graph, findings)?;
        let Opened {
            watches,
            building,
            native_auth: said,
            events,
            event_entries,
            cron_triggers,
            stored_calls,
            known,
            remotes,
            ..
        } = opened;
        let mut native_auth = NativeAuth::default();
        for (name, AuthSettings { line, variables }) in said {
            let added = native_auth.add(&name, line.as_ref(), &variables);
            added.map_err(|message| format!("{name}: {message}"))?;
        }
        let credentials = native_auth.credentials(made.authenticator.credentials());
        let mut made = Self {
            is_waiting,
            watches,
            building,
            credentials,
            native_auth,
            events,
            event_entries,
            cron_triggers,
            stored_calls,
            known,
            remotes,
            ..made
        };
        // All mistakes of the configuration and the metadata were reported with locations, so these are no longer needed.
        made.config.places.forget();
        if let Some(described) = made.config.described.as_mut().and_then(Arc::get_mut) {
            described.loaded.places.forget();
        }
        warm_up::prepare_documents(&mut made);
        Ok(made)
    }

    /// Creates the engine of `graph`, which was built from the sources of `config`.
    pub(crate) fn of(
        config: Config,
        number: u64,
        graph: Graph,
        mut findings: Findings,
    ) -> Result<Self, String> {
        let authenticator = Authenticator::new(&config)?;
        let relay = RelayGraph::new(&config, &graph, settings(&config));
        let settings = settings(&config);
        if let Some(demand) = settings.demand.as_ref().filter(|_| !findings.leaves_out_sources()) {
            let wrong = cost_misfits(&graph, &demand.rules);
            wrong.into_iter().for_each(|it| findings.add_misfit(&config, it));
        }
        let engine = Engine::new(graph, settings).with_tag_versions(services::changes());
        let live = LiveQueries::of(&engine, config.live_settings());
        // If sources are missing, the schema cannot tell whether a query is valid.
        let schema = (!findings.leaves_out_sources()).then(|| Arc::clone(engine.schema()));
        let (operations, misfits) = SavedOperations::new(&config, schema.as_deref())?;
        let (admission, unknown) = Admission::new(&config, &operations, Clock::system())?;
        misfits.into_iter().chain(unknown).for_each(|it| findings.add_misfit(&config, it));
        let tls = config.tls.as_ref().map(tls::acceptor).transpose()?;
        let mirror = config.mirror.as_ref().map(ReadMirror::new).transpose()?.map(Arc::new);
        let local_only = !config.has_secret() && config.is_local();
        let dev = config.is_dev();
        let cors = CorsRules::new(&config.cors, config.is_local());
        let is_waiting = false;
        let readiness = Readiness::default();
        let watches = Vec::new();
        Ok(Self {
            number,
            engine,
            live,
            relay,
            credentials: authenticator.credentials().into(),
            operations,
            admission,
            authenticator,
            native_auth: NativeAuth::default(),
            findings,
            watches,
            building: Vec::new(),
            events: Vec::new(),
            event_entries: Vec::new(),
            cron_triggers: Vec::new(),
            stored_calls: None,
            known: KnownSources::default(),
            remotes: Vec::new(),
            is_waiting,
            readiness,
            dev,
            local_only,
            cors,
            tls,
            mirror,
            config,
        })
    }

    /// Sources that are known server products, with product and version.
    pub(crate) fn products(&self) -> Vec<(String, String)> {
        let sources = self.engine.graph().sources().iter();
        sources.filter_map(|(source, _)| Some((source.name().to_owned(), source.product()?))).collect()
    }

    /// Sources of the metadata that are down.
    pub(crate) fn described_down(&self) -> impl Iterator<Item = &Down> {
        let of_metadata = self.config.sources.iter().filter(|it| it.of_metadata.is_some());
        self.findings.down.iter().filter(move |down| of_metadata.clone().any(|it| it.name == down.name))
    }

    /// True if a source is down, or a remote schema is served as it was told before.
    pub(crate) fn misses_sources(&self) -> bool {
        !self.findings.down.is_empty() || self.stale_remotes().next().is_some()
    }

    /// Remote schemas that are served as they were told before, as inconsistent objects.
    pub(crate) fn stale_remotes(&self) -> impl Iterator<Item = &Inconsistent> {
        self.remotes.iter().filter_map(|it| it.stale.as_ref())
    }

    /// Like [`Self::build`], but every source must be available.
    /// # Errors
    /// See [`Self::build`], and any source that is down.
    pub fn build_whole(config: Config) -> Result<Self, String> {
        let made = Self::build(config, 1)?;
        match made.findings.down.first() {
            Some(down) => Err(down.to_string()),
            None => Ok(made),
        }
    }
}

/// Entries of `limits.cost` that fit nothing.
fn cost_misfits(graph: &Graph, rules: &[CostRule]) -> Vec<Misfit> {
    let wrong = graph.check_cost_rules(rules).into_iter().map(|(at, reason)| {
        let CostRule { place, written, .. } = &rules[at];
        let path: Vec<Step> =
            vec!["limits".into(), "cost".into(), written.as_str().into(), place.as_str().into()];
        let reason = format!("`{place}`: {reason}, so the entry does not count");
        Misfit { is_metadata: false, path, reason, is_served: true }
    });
    wrong.collect()
}

/// Settings of the engine. Suggestions contain only names visible to the caller.
pub(crate) fn settings(config: &Config) -> Settings {
    Settings {
        limits: config.limits.document(),
        conditions_max: config.limits.conditions_max,
        plan_cache_bytes_max: config.cache.plan_bytes_max,
        introspection: true,
        without_introspection: operations::without_introspection(config),
        suggestions: true,
        incremental_delivery: true,
        edition_2026: true,
        unsent_is_null: !config.no_null_unbound_variable_default,
        hold_back_bytes: config.cache.hold_back_bytes,
        responses_bytes_max: config.cache.responses_bytes_max,
        demand: config.limits.cost.as_ref().map(CostLimits::demand),
        observer: Some(Arc::clone(observer()) as Arc<dyn Observer>),
    }
}

/// The generation in service and the origin of the next one.
pub struct Live {
    current: ArcSwap<Generation>,
    origin: Origin,
    numbers: AtomicU64,
    last_failure: Mutex<Option<String>>,
    turns: Mutex<()>,
    renaming: Mutex<()>,
    /// Number of the generation in service.
    serving: watch::Sender<u64>,
    /// Delivery of events, from [`Self::serve_events`] on.
    events: EventKeeper,
    serves_events: AtomicBool,
    /// Scheduled events and calls of asynchronous actions, from [`Self::serve_state`] on.
    state: StateKeeper,
    serves_state: AtomicBool,
}

/// Exclusive right to build the next generation.
pub(crate) struct Turn<'l> {
    live: &'l Live,
    _alone: MutexGuard<'l, ()>,
}

impl Live {
    /// Builds the first generation.
    /// # Errors
    /// See [`Origin::read`] and [`Generation::build`].
    pub fn start(origin: Origin) -> Result<Self, String> {
        let settings = origin.settings()?;
        Self::start_with(origin, settings)
    }

    /// Builds the first generation of `settings`, which were just read from `origin`: a file with the permissions of many tables takes
    /// longer to read than all of them take to serve.
    /// # Errors
    /// See [`Self::start`].
    pub(crate) fn start_with(origin: Origin, settings: Config) -> Result<Self, String> {
        let mut config = settings;
        metadata::join(&mut config)?;
        config.check()?;
        Ok(Self::with_origin(Generation::build(config, 1)?, origin))
    }

    fn with_origin(generation: Generation, origin: Origin) -> Self {
        let serving = watch::Sender::new(generation.number);
        let current = ArcSwap::from_pointee(generation);
        let numbers = AtomicU64::new(1);
        let last_failure = Mutex::new(None);
        let turns = Mutex::new(());
        let events = EventKeeper::default();
        Self {
            current,
            origin,
            numbers,
            last_failure,
            turns,
            renaming: Mutex::new(()),
            serving,
            events,
            serves_events: AtomicBool::new(false),
            state: StateKeeper::default(),
            serves_state: AtomicBool::new(false),
        }
    }

    /// Serves a generation built by a test.
    #[cfg(test)]
    pub(crate) fn of(generation: Generation) -> Self {
        let origin = Origin::Fixed(Box::new(generation.config.clone()));
        Self::with_origin(generation, origin)
    }

    /// The generation in service.
    pub fn current(&self) -> Arc<Generation> {
        self.current.load_full()
    }

    /// The number of the generation in service; the receiver is notified of later ones.
    pub(crate) fn subscribe_generation(&self) -> watch::Receiver<u64> {
        self.serving.subscribe()
    }

    fn put(&self, generation: Generation) {
        let number = generation.number;
        if self.serves_state.load(Ordering::Relaxed) {
            // The first request may store a call already.
            self.apply_state(&generation);
        }
        generation.admission.adjust_counts();
        self.current.store(Arc::new(generation));
        self.serving.send_replace(number);
        if self.serves_events.load(Ordering::Relaxed) {
            self.apply_events();
        }
    }

    fn apply_state(&self, generation: &Generation) {
        let stored = generation.stored_calls.as_ref();
        self.state.apply(&generation.cron_triggers, stored, &generation.config);
    }

    fn apply_events(&self) {
        let current = self.current();
        self.events.apply(&current.events, &current.config);
    }

    /// Keeps the state of this and all later generations: scheduled events, and calls of asynchronous actions.
    pub(crate) fn serve_state(&self) {
        let _turn = self.turn();
        self.serves_state.store(true, Ordering::Relaxed);
        self.apply_state(&self.current());
    }

    /// Captures and delivers the events of this and all later generations.
    pub(crate) fn serve_events(&self) {
        let _turn = self.turn();
        self.serves_events.store(true, Ordering::Relaxed);
        self.apply_events();
    }

    /// Ends the delivery of events.
    pub(crate) fn stop_events(&self) {
        self.serves_events.store(false, Ordering::Relaxed);
        let current = self.current();
        self.serves_state.store(false, Ordering::Relaxed);
        self.state.stop(current.config.event_delivery.stop_max);
        self.events.stop(&current.config);
    }

    /// Scheduled events and calls of asynchronous actions.
    pub(crate) fn state(&self) -> &StateKeeper {
        &self.state
    }

    /// Delivery of events.
    pub(crate) fn events(&self) -> &EventKeeper {
        &self.events
    }

    /// Origin of the configuration.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Waits for the exclusive right to build a generation.
    pub(crate) fn turn(&self) -> Turn<'_> {
        Turn { live: self, _alone: self.turns.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    /// Waits for the exclusive right to run SQL that may rename, so that no rename is followed by two. Others may make generations.
    pub(crate) fn lock_renaming(&self) -> MutexGuard<'_, ()> {
        self.renaming.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Like `Turn::reload`, after waiting for the turn.
    /// # Errors
    /// Reason why there is no new generation; the previous one stays in service.
    pub fn reload(&self) -> Result<u64, String> {
        self.turn().reload()
    }

    /// True if the server of a remote schema tells another schema than the one that is served.
    pub(crate) fn has_changed_remotes(&self) -> bool {
        remote_watch::are_changed(&self.current().remotes)
    }

    /// Retries sources that are down, and serves those that are available again.
    pub fn reload_down_sources(&self) {
        let _turn = self.turn();
        let before = self.current();
        let revives = |made: &Generation| {
            let is_stale = |name: &str| made.remotes.iter().any(|it| it.name == name && it.stale.is_some());
            let stale = before.remotes.iter().filter(|it| it.stale.is_some());
            before.findings.down.iter().any(|it| !made.findings.is_down(&it.name))
                || stale.into_iter().any(|it| !is_stale(&it.name))
        };
        match self.next() {
            Ok(made) if revives(&made) => {
                tracing::info!(generation = made.number, "sources that were down are served");
                self.put(made);
            }
            Ok(_) => {}
            Err(message) => tracing::warn!("sources that were down are not served: {message}"),
        }
    }

    fn next(&self) -> Result<Generation, String> {
        let config = self.origin.read()?;
        self.refuse_broken_files(&config)?;
        self.next_of(config)
    }

    /// Refuses metadata with a file that cannot be read and could be before: it may be half written. One that was broken before keeps
    /// nothing else from being taken over.
    fn refuse_broken_files(&self, config: &Config) -> Result<(), String> {
        let before = self.current();
        let was_broken = |path: &Path| {
            let before = before.config.described.iter().flat_map(|it| &it.loaded.broken);
            before.into_iter().any(|it| it.0 == *path)
        };
        let broken = config.described.iter().flat_map(|it| &it.loaded.broken);
        match broken.into_iter().find(|it| !was_broken(&it.0)) {
            Some((_, reason)) => Err(format!("metadata: {reason}")),
            None => Ok(()),
        }
    }

    fn next_of(&self, config: Config) -> Result<Generation, String> {
        config.check()?;
        let before = self.current();
        if (config.listen, config.admin_listen, config.threads)
            != (before.config.listen, before.config.admin_listen, before.config.threads)
        {
            tracing::warn!("`listen`, `admin_listen` and `threads` change with the next start only");
        }
        if config.tls.is_some() != before.config.tls.is_some() {
            return Err("`tls` cannot be switched on or off without a restart".into());
        }
        let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        let mut made = Generation::build_after(config, number, Some(&before.known))?;
        made.authenticator.keep_keys_of(&before.authenticator);
        made.operations.keep_texts_of(&before.operations);
        made.admission.keep_counts_of(&before.admission);
        Ok(made)
    }

    /// Error of the last reload, if it failed.
    pub fn last_failure(&self) -> Option<String> {
        self.last_failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Turn<'_> {
    /// The generation in service.
    pub(crate) fn current(&self) -> Arc<Generation> {
        self.live.current()
    }

    /// Builds a generation with `loaded` as the metadata at `path`, without serving it.
    /// # Errors
    /// Reason why it cannot be built.
    pub(crate) fn draft(&self, path: &Path, loaded: Loaded) -> Result<Generation, String> {
        let mut config = self.live.origin.settings()?;
        metadata::join_loaded(&mut config, path, loaded)?;
        self.live.next_of(config)
    }

    /// Puts a generation into service; returns its number.
    pub(crate) fn publish(&self, generation: Generation) -> u64 {
        let number = generation.number;
        self.live.put(generation);
        *self.live.last_failure.lock().unwrap_or_else(PoisonError::into_inner) = None;
        number
    }

    /// Reads configuration and sources again, and replaces the generation. A source that is down does not block this, so revoked
    /// permissions end in any case.
    /// # Errors
    /// Reason why there is no new generation; the previous one stays in service.
    pub(crate) fn reload(&self) -> Result<u64, String> {
        let live = self.live;
        let made = live.next();
        let mut failure = live.last_failure.lock().unwrap_or_else(PoisonError::into_inner);
        match made {
            Ok(generation) => {
                let number = generation.number;
                live.put(generation);
                *failure = None;
                Ok(number)
            }
            Err(message) => {
                *failure = Some(message.clone());
                Err(message)
            }
        }
    }
}

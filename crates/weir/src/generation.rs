//! A generation: configuration, engine and rules that serve at one moment; and its replacement by the next one.
//!
//! A request holds the generation it began with, so a reload drops nothing: the old one goes when its last request does.
//!
//! **Invariant:** only a complete generation is ever put into service; one is made at a time, and nobody changes what it is
//! made of meanwhile.

use crate::config::{self, Config};
use crate::known::KnownSources;
use crate::metadata;
use crate::native::{AuthSettings, Native};
use crate::observer::observer;
use crate::operations::{self, SavedOperations};
use crate::relay::RelayGraph;
use crate::server::{CorsRules, Readiness};
use crate::session::Authenticator;
use crate::session::native::NativeAuth;
use crate::sources::{self, Down, Findings, Opened};
use crate::{server, services};
use arc_swap::ArcSwap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use weir_engine::compose::Graph;
use weir_engine::engine::{Engine, Settings};
use weir_engine::live::LiveQueries;
use weir_engine::observer::Observer;
use weir_metadata::Loaded;
use weir_postgres::Watch;

/// One configuration in service.
pub struct Generation {
    /// Counted from 1.
    pub number: u64,
    /// The configuration.
    pub config: Config,
    /// The engine that answers requests.
    pub engine: Engine,
    /// Subscriptions to it.
    pub(crate) live: LiveQueries,
    /// The same database in Relay's form.
    pub(crate) relay: RelayGraph,
    /// Queries that the operator keeps.
    pub(crate) operations: SavedOperations,
    /// Says who calls.
    pub(crate) authenticator: Authenticator,
    /// Headers that say who calls, separated by commas.
    pub(crate) credentials: Box<str>,
    /// Says more of callers of native sources.
    pub(crate) native_auth: NativeAuth,
    /// Parts of the sources that are not served, for the operator.
    pub findings: Findings,
    /// Databases whose schema is watched.
    pub(crate) watches: Vec<Watch>,
    /// Native sources with indexes that are to be built.
    pub(crate) building: Vec<Native>,
    /// Contents of the sources.
    known: KnownSources,
    /// No source could be: there is nothing to ask.
    pub(crate) is_waiting: bool,
    pub(crate) readiness: Readiness,
    pub(crate) dev: bool,
    /// Everyone on this machine is admin, and nobody else may come in by its name.
    pub(crate) local_only: bool,
    pub(crate) cors: CorsRules,
    pub(crate) tls: Option<TlsAcceptor>,
}

impl Generation {
    /// Opens the sources of `config` and makes their engine. Those that are down are left out.
    /// # Errors
    /// All sources that cannot be opened and all conflicts between them, in words for the operator.
    pub fn build(config: Config, number: u64) -> Result<Self, String> {
        Self::build_after(config, number, None)
    }

    /// As [`Self::build`], after a generation whose sources were `known`: of those that are down these contents are served, with the
    /// permissions of `config`.
    fn build_after(config: Config, number: u64, known: Option<&KnownSources>) -> Result<Self, String> {
        let (graph, mut opened) = sources::graph(&config, known)?;
        let is_waiting = opened.sources.is_empty();
        let findings = std::mem::take(&mut opened.findings);
        let made = Self::of(config, number, graph, findings)?;
        let Opened { watches, building, native_auth: said, known, .. } = opened;
        let mut native_auth = NativeAuth::default();
        for (name, AuthSettings { line, variables }) in said {
            let added = native_auth.add(&name, line.as_ref(), &variables);
            added.map_err(|message| format!("{name}: {message}"))?;
        }
        let credentials = native_auth.credentials(made.authenticator.credentials());
        let mut made = Self { is_waiting, watches, building, credentials, native_auth, known, ..made };
        // Everything that is wrong with the metadata has been said with its place.
        if let Some(described) = made.config.described.as_mut().and_then(Arc::get_mut) {
            described.loaded.places.forget();
        }
        Ok(made)
    }

    /// Makes the engine of `graph`, which was made of the sources of `config`.
    pub(crate) fn of(
        config: Config,
        number: u64,
        graph: Graph,
        mut findings: Findings,
    ) -> Result<Self, String> {
        let authenticator = Authenticator::new(&config)?;
        let relay = RelayGraph::new(&config, &graph, settings(&config));
        let engine = Engine::new(graph, settings(&config)).sharing(services::changes());
        let live = LiveQueries::of(&engine, config.live_settings());
        // A schema without a source says nothing of queries that ask it.
        let schema = (!findings.leaves_out_sources()).then(|| Arc::clone(engine.schema()));
        let (operations, misfits) = SavedOperations::new(&config, schema.as_deref())?;
        misfits.into_iter().for_each(|it| findings.misfit(&config, it));
        let tls = config.tls.as_ref().map(server::acceptor).transpose()?;
        let local_only = !config.has_secret() && config.is_local();
        let (dev, cors) = (config.is_dev(), CorsRules::new(&config.cors, config.is_local()));
        let (is_waiting, readiness, watches) = (false, Readiness::default(), Vec::new());
        Ok(Self {
            number,
            engine,
            live,
            relay,
            credentials: authenticator.credentials().into(),
            operations,
            authenticator,
            native_auth: NativeAuth::default(),
            findings,
            watches,
            building: Vec::new(),
            known: KnownSources::default(),
            is_waiting,
            readiness,
            dev,
            local_only,
            cors,
            tls,
            config,
        })
    }

    /// Names of the sources that are servers of a known product, with the product and its version.
    pub(crate) fn products(&self) -> Vec<(String, String)> {
        let sources = self.engine.graph().sources().iter();
        sources.filter_map(|(source, _)| Some((source.name().to_owned(), source.product()?))).collect()
    }

    /// Sources of the metadata that cannot be asked now.
    pub(crate) fn described_down(&self) -> impl Iterator<Item = &Down> {
        let of_metadata = self.config.sources.iter().filter(|it| it.of_metadata.is_some());
        self.findings.down.iter().filter(move |down| of_metadata.clone().any(|it| it.name == down.name))
    }

    /// As [`Self::build`], where all sources have to be there.
    /// # Errors
    /// As [`Self::build`]; a source that is down.
    pub fn build_whole(config: Config) -> Result<Self, String> {
        let made = Self::build(config, 1)?;
        match made.findings.down.first() {
            Some(down) => Err(down.to_string()),
            None => Ok(made),
        }
    }
}

/// The engine's settings. Suggestions name only what their caller sees.
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
        observer: Some(Arc::clone(observer()) as Arc<dyn Observer>),
    }
}

/// The origin of the next generation's configuration.
#[derive(Clone, Debug)]
pub enum Origin {
    /// A file that is read again; the second part is what the command line overrules.
    File(PathBuf, Box<Overrides>),
    /// Nothing but the command line.
    Fixed(Box<Config>),
}

/// Settings of the command line and the environment; they overrule the file.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `--listen`.
    pub listen: Option<config::Listen>,
    /// `--admin-listen`.
    pub admin_listen: Option<config::Listen>,
    /// `--admin-secret`, `WEIR_ADMIN_SECRET`.
    pub admin_secret: Option<config::Secret>,
    /// Authentication, from the environment.
    pub auth: Box<config::AuthOverrides>,
    /// `--dev`.
    pub dev: bool,
    /// `--cors`, as often as it is there.
    pub cors: Vec<String>,
    /// `--metadata`.
    pub metadata: Option<PathBuf>,
    /// Other settings of the environment.
    pub environment: Box<config::Environment>,
}

impl Overrides {
    /// Writes them over `config`.
    pub fn apply(&self, config: &mut Config) {
        if let Some(listen) = self.listen {
            config.listen = listen;
        }
        config.admin_listen = self.admin_listen.or(config.admin_listen);
        self.auth.apply(&mut config.admin_secret, &mut config.auth);
        if let Some(secret) = &self.admin_secret {
            config.admin_secret = Some(secret.clone());
        }
        if self.dev {
            config.dev = Some(true);
        }
        if let Some(metadata) = &self.metadata {
            config.metadata = Some(metadata.clone());
        }
        self.environment.apply(config);
        if !self.cors.is_empty() {
            config.cors.origins = Some(self.cors.clone());
        }
    }
}

impl Origin {
    /// The configuration as it is now.
    /// # Errors
    /// A file that cannot be read or is not valid, with file, line and column.
    pub fn read(&self) -> Result<Config, String> {
        let mut config = self.settings()?;
        metadata::join(&mut config)?;
        Ok(config)
    }

    /// The same without the sources of its metadata.
    /// # Errors
    /// As [`Self::read`].
    pub(crate) fn settings(&self) -> Result<Config, String> {
        match self {
            Self::File(path, overrides) => {
                config::load::file(path, |config| overrides.apply(config)).map_err(|error| error.to_string())
            }
            Self::Fixed(config) => Ok(Config::clone(config)),
        }
    }
}

/// The generation in service, and where the next one comes from.
pub struct Live {
    current: ArcSwap<Generation>,
    origin: Origin,
    numbers: AtomicU64,
    last_failure: Mutex<Option<String>>,
    turns: Mutex<()>,
    /// Number of the generation in service.
    serving: watch::Sender<u64>,
}

/// The right to make the next generation, which one has at a time.
pub(crate) struct Turn<'l> {
    live: &'l Live,
    _alone: MutexGuard<'l, ()>,
}

impl Live {
    /// Puts the first generation into service.
    /// # Errors
    /// As [`Origin::read`] and [`Generation::build`].
    pub fn start(origin: Origin) -> Result<Self, String> {
        let config = origin.read()?;
        config.check()?;
        Ok(Self::with(Generation::build(config, 1)?, origin))
    }

    fn with(generation: Generation, origin: Origin) -> Self {
        let serving = watch::Sender::new(generation.number);
        let current = ArcSwap::from_pointee(generation);
        let (numbers, last_failure, turns) = (AtomicU64::new(1), Mutex::new(None), Mutex::new(()));
        Self { current, origin, numbers, last_failure, turns, serving }
    }

    /// Puts a generation of a test's own making into service.
    #[cfg(test)]
    pub(crate) fn of(generation: Generation) -> Self {
        let origin = Origin::Fixed(Box::new(generation.config.clone()));
        Self::with(generation, origin)
    }

    /// The generation that serves.
    #[must_use]
    pub fn current(&self) -> Arc<Generation> {
        self.current.load_full()
    }

    /// The number of the generation that serves, and word of the next ones.
    pub(crate) fn serving(&self) -> watch::Receiver<u64> {
        self.serving.subscribe()
    }

    fn put(&self, generation: Generation) {
        let number = generation.number;
        self.current.store(Arc::new(generation));
        self.serving.send_replace(number);
    }

    /// The origin of its configuration.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Waits until nobody else makes a generation.
    pub(crate) fn turn(&self) -> Turn<'_> {
        Turn { live: self, _alone: self.turns.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    /// As `Turn::reload`, when it is our turn.
    /// # Errors
    /// Why there is no next generation; the one before serves on.
    pub fn reload(&self) -> Result<u64, String> {
        self.turn().reload()
    }

    /// Tries the sources again that were down, and takes those in that are there now.
    pub fn revive(&self) {
        let _turn = self.turn();
        let before = self.current();
        match self.next() {
            Ok(made) if before.findings.down.iter().any(|it| !made.findings.is_down(&it.name)) => {
                tracing::info!(generation = made.number, "sources that were down are served");
                self.put(made);
            }
            Ok(_) => {}
            Err(message) => tracing::warn!("sources that were down are not served: {message}"),
        }
    }

    fn next(&self) -> Result<Generation, String> {
        self.next_of(self.origin.read()?)
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
        Ok(made)
    }

    /// Why the last reload failed, if it did.
    #[must_use]
    pub fn last_failure(&self) -> Option<String> {
        self.last_failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Turn<'_> {
    /// The generation that serves.
    pub(crate) fn current(&self) -> Arc<Generation> {
        self.live.current()
    }

    /// The next generation with `loaded` as the metadata at `path`. It does not serve yet.
    /// # Errors
    /// The reason for which there is none.
    pub(crate) fn draft(&self, path: &Path, loaded: Loaded) -> Result<Generation, String> {
        let mut config = self.live.origin.settings()?;
        metadata::join_loaded(&mut config, path, loaded)?;
        self.live.next_of(config)
    }

    /// Puts a generation into service, and gives its number.
    pub(crate) fn publish(&self, generation: Generation) -> u64 {
        let number = generation.number;
        self.live.put(generation);
        *self.live.last_failure.lock().unwrap_or_else(PoisonError::into_inner) = None;
        number
    }

    /// Reads the configuration and inspects the sources again, and swaps the result in. A source that is down keeps nothing from being
    /// taken over, so no right stays that the configuration took away.
    /// # Errors
    /// Why there is no next generation; the one before serves on.
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

//! A PostgreSQL database as a source of a graph.

use super::caller_session::SessionSettings;
use super::contents::{PostgresContents, PostgresReadError};
use super::decoding::{Decoding, fed_tables, prospect};
use super::driver::{PostgresDriver, PostgresState};
use super::errors::source_error;
use super::statements::prepared::Prepared;
use super::values::decode::Choices;
use crate::exec::bindings::{Bindings, Refused};
use crate::exec::database_source::DatabaseSource;
use crate::exec::driver::{Driver, PlannedFetch, WrittenMember};
use crate::exec::plans::forms::Planning;
use crate::frontend::ApiFrontend;
use crate::frontend::program::{Answers, BoundStatement, Program};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use weir_engine::observer::DatabaseAddress;
use weir_engine::source::{BoxFuture, ChangeFeed, FetchResult, OthersChanges, Protocol, SourceError};
use weir_postgres::Facts;
use weir_postgres::address::{Host, Settings};
use weir_postgres::bound::ConnectionBound;
use weir_postgres::pool::{Counts, Pool};
use weir_postgres::replication::Prospect;
use weir_relational::catalog::postgres_types::Types;
use weir_relational::dialect::Floats;
use weir_relational::dialect::flavour::Flavour;
use weir_relational::dialect::postgres::Postgres;
use weir_relational::passes::reach::Reach;
use weir_relational::plan::{Judged, Plan};
use weir_relational::sql::assemble::TooWide;

/// Facts about a server when its driver starts.
struct Server {
    types: Types,
    facts: Option<Facts>,
    decoding: Decoding,
}

/// The form of numbers in answers.
struct Numbers {
    /// Numbers of 64 bits and decimals are JSON strings.
    stringify: bool,
    floats: Floats,
}

impl Numbers {
    /// The form for stores of native types.
    const NATIVE: Self = Self { stringify: false, floats: Floats::AsElsewhere };
}

/// A PostgreSQL database as a source of a graph.
pub type PostgresSource = DatabaseSource<PostgresDriver>;

/// Plans made away from the event loop at a time.
static PLANNERS: Semaphore = Semaphore::const_new(2);

impl Driver for PostgresDriver {
    type Prepared = Prepared;

    fn prepare(
        source: &PostgresState,
        plan: Plan,
        parent_keys: Option<u32>,
        streams: bool,
    ) -> Result<Prepared, TooWide> {
        Prepared::new(source, plan, parent_keys, streams)
    }

    fn plan_aside(&self, job: impl FnOnce() -> Result<(), SourceError> + Send + 'static) -> Planning {
        Box::pin(async move {
            let _turn = PLANNERS.acquire().await;
            let planned = tokio::task::spawn_blocking(job).await;
            planned.unwrap_or_else(|_| Err(SourceError::Broken("planning panicked".into())))
        })
    }

    fn judge<'r>(judged: &'r Judged, bindings: &Bindings<'r>) -> Result<(), Refused> {
        super::values::bind::judge(judged, bindings)
    }

    fn read(run: PlannedFetch<'_, Self>, shown: Vec<i64>) -> BoxFuture<'_, Result<FetchResult, SourceError>> {
        Box::pin(super::reading::fetch::read(run, shown))
    }

    fn write(run: PlannedFetch<'_, Self>) -> BoxFuture<'_, Result<FetchResult, SourceError>> {
        Box::pin(async move {
            let done = super::writing::write_fetch::write(&run).await;
            run.fetch.state.driver.note_position(&run, &done).await;
            done
        })
    }

    async fn drive(
        run: &PlannedFetch<'_, Self>,
        member: usize,
        program: Box<dyn Program>,
    ) -> Result<WrittenMember, SourceError> {
        let driven = super::writing::program::drive(run, member, program).await;
        run.fetch.state.driver.note_position(run, &driven).await;
        driven
    }

    async fn ask(
        run: &PlannedFetch<'_, Self>,
        asked: &BoundStatement,
        field: u32,
    ) -> Result<Answers, SourceError> {
        let settings = run.fetch.read_settings(&run.input);
        let reads = run.fetch.reads(&run.input).with_settings(settings.as_deref());
        let values = super::writing::program::parameters(asked);
        let rows = reads
            .read(&super::writing::program::statement(&asked.template), values, run.input.deadline)
            .await;
        let rows = rows.map_err(|error| run.fetch.source_error(error, field, None))?;
        let mut answers = Answers::default();
        super::writing::program::take(&rows, asked.template.width, &mut answers);
        Ok(answers)
    }

    fn health(&self, deadline: Instant) -> BoxFuture<'_, Result<(), SourceError>> {
        Box::pin(async move {
            let ready = self.pool.ready(deadline).await;
            ready.map_err(|error| source_error(error, Protocol::GraphqlOverHttp, None, &|_| false))
        })
    }

    fn database(&self) -> DatabaseAddress {
        let settings = self.pool.settings();
        // Other servers that speak PostgreSQL's protocol have no name of their own in the conventions.
        let system = match self.dialect.flavour {
            Flavour::Cockroach => "cockroachdb",
            Flavour::Postgres | Flavour::Yugabyte | Flavour::Citus => "postgresql",
        };
        let place = settings.hosts.first().map(|it| match it {
            Host::Tcp { name, port } => (name.clone(), Some(*port)),
            Host::Unix(file) => (file.display().to_string(), None),
        });
        let namespace = settings.database.clone();
        let (host, port) = place.map_or((None, None), |it| (Some(it.0), it.1));
        DatabaseAddress { system, namespace, host, port }
    }

    fn product(&self) -> Option<String> {
        let facts = self.pool.facts().or(self.facts)?;
        Some(format!("{} {}", facts.flavour.product(), facts.release).trim_end().to_owned())
    }

    fn session_claims(&self) -> &[&'static str] {
        self.session.claims()
    }

    fn session_headers(&self) -> &[Box<str>] {
        self.session.headers()
    }

    fn change_feed(&self) -> Option<&dyn ChangeFeed> {
        let may_tell = self.decoding.is_wanted() && self.dialect.flavour == Flavour::Postgres;
        may_tell.then_some(self)
    }

    fn others_changes(&self) -> Option<OthersChanges> {
        (self.dialect.flavour == Flavour::Postgres).then(|| self.decoding.others_changes())
    }

    fn gauges(&self) -> Vec<(&'static str, u64)> {
        let Counts { batches, statements, lanes, groups, sessions_idle } = self.pool.counts();
        let idle = sessions_idle as u64;
        let primary = self.pool.connection_bound().primary() as u64;
        vec![
            ("connections at most", primary),
            ("lanes open", lanes as u64),
            ("sessions idle", idle),
            ("batches sent by lanes", batches),
            ("statements in batches", statements),
            ("groups of mutations", groups),
        ]
    }

    fn statements_by_shards(&self) -> Vec<(&'static str, u64)> {
        let counts = self.shards.iter().flatten().map(|it| it.load(Ordering::Relaxed));
        Reach::EVERY.iter().map(|it| it.name()).zip(counts).collect()
    }
}

impl DatabaseSource<PostgresDriver> {
    /// Serves `frontend`, made of the `contents` that the database has or had, as the source `name`. It is not asked: until it can be
    /// reached, requests fail. Numbers of 64 bits and decimals are JSON strings if they are to `stringify`.
    pub fn of(
        name: &str,
        frontend: Arc<dyn ApiFrontend>,
        settings: Settings,
        contents: &PostgresContents,
        stringify: bool,
    ) -> Self {
        let decoding = Decoding::new(&settings, &contents.tables.catalog, contents.prospect.clone());
        let server = Server { types: contents.types.clone(), facts: contents.facts, decoding };
        let numbers = Numbers { stringify, floats: Floats::AsPostgres };
        Self::start(name, frontend, settings, server, numbers)
    }

    /// Serves `frontend`, whose tables the database has in types of PostgreSQL's own, as the source `name`.
    /// # Errors
    /// The database cannot be asked within `patience`.
    pub async fn new(
        name: &str,
        frontend: Arc<dyn ApiFrontend>,
        settings: Settings,
        patience: Duration,
    ) -> Result<Self, PostgresReadError> {
        // A separate pool: its connections belong to the runtime that opened them, which may end after this.
        let pool = Pool::new(settings.clone());
        let deadline = Instant::now() + patience;
        pool.ready(deadline).await.map_err(PostgresReadError)?;
        let catalog = &frontend.relations().catalog;
        let prospect = prospect(&settings, &fed_tables(catalog), &pool, deadline).await;
        let decoding = Decoding::new(&settings, catalog, prospect);
        let server = Server { types: Types::builtin(), facts: pool.facts(), decoding };
        Ok(Self::start(name, frontend, settings, server, Numbers::NATIVE))
    }

    /// Serves a database like [`Self::new`] that cannot be reached now: until it can, requests fail.
    pub fn without_connection(name: &str, frontend: Arc<dyn ApiFrontend>, settings: Settings) -> Self {
        let prospect = Prospect::Nothing("the server is not known yet".into());
        let decoding = Decoding::new(&settings, &frontend.relations().catalog, prospect);
        let server = Server { types: Types::builtin(), facts: None, decoding };
        Self::start(name, frontend, settings, server, Numbers::NATIVE)
    }

    fn start(
        name: &str,
        frontend: Arc<dyn ApiFrontend>,
        mut settings: Settings,
        server: Server,
        numbers: Numbers,
    ) -> Self {
        let Server { types, facts, decoding } = server;
        let Numbers { stringify, floats } = numbers;
        let choices = Choices { utc: facts.is_some_and(|it| it.is_utc), stringify, floats, utf8: true };
        let flavour = facts.map(|it| it.flavour).unwrap_or_default();
        let dialect = Postgres { flavour, types, floats };
        settings.follower_reads = flavour.abilities().follower_reads;
        let shards = frontend.relations().catalog.has_shards().then(Default::default);
        let session = SessionSettings::new(settings.caller.clone());
        let pool = Pool::with_facts(settings, facts);
        let name_of = name.into();
        let driver =
            PostgresDriver { dialect, choices, pool, name: name_of, facts, decoding, session, shards };
        Self::serve(name, frontend, driver)
    }

    /// Connections that it may open.
    pub fn connection_bound(&self) -> ConnectionBound {
        self.state.driver.pool.connection_bound()
    }

    /// The database's flavour.
    pub fn flavour(&self) -> Flavour {
        self.state.driver.dialect.flavour
    }

    /// True if rows of some table are spread over shards.
    pub fn has_shards(&self) -> bool {
        self.state.driver.shards.is_some()
    }

    /// Counters of its connections since it was opened.
    pub fn counts(&self) -> Counts {
        self.state.driver.pool.counts()
    }
}

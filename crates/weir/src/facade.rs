//! The library's front door: an engine over sources, for programs that embed it.

use crate::config::Config;
use crate::config::source::address;
use crate::config::source::address::Target;
use crate::generation::{Live, Origin, settings};
use crate::relay::RelayGraph;
use crate::server::Server;
use crate::session;
use crate::session::native_auth::NativeAuth;
use crate::sources;
use crate::sources::native::AuthSettings;
use crate::sources::services;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::engine::{Body, Engine, Explanation, Request};
use weir_engine::source::{Protocol, Source};
use weir_language::json::{Json, JsonError};

/// Timeout of a request from an embedding program.
const PATIENCE: Duration = Duration::from_secs(30);

/// An engine that answers GraphQL, in this process.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let file = std::env::temp_dir().join(format!("weir-doc-{}.db", std::process::id()));
/// # let database = rusqlite::Connection::open(&file)?;
/// # database.execute_batch("CREATE TABLE IF NOT EXISTS pet (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
/// #     INSERT OR REPLACE INTO pet VALUES (1, 'Ada')")?;
/// # let address = format!("sqlite:{}", file.display());
/// let weir = weir::Weir::open(&address)?;
/// let answer = tokio::runtime::Builder::new_current_thread()
///     .enable_all()
///     .build()?
///     .block_on(weir.execute("query ($id: Int!) { pet_by_pk(id: $id) { name } }", r#"{"id": 1}"#))?;
/// assert_eq!(answer, br#"{"data":{"pet_by_pk":{"name":"Ada"}}}"#);
/// # std::fs::remove_file(&file)?;
/// # Ok(())
/// # }
/// ```
pub struct Weir {
    engine: Engine,
    relay: RelayGraph,
    native_auth: NativeAuth,
}

/// Reason why there is no answer at all. Errors of documents and fields are part of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecuteError {
    /// The variables are not JSON.
    Variables(JsonError),
    /// The variables are JSON, but neither an object nor null.
    VariablesNoObject,
    /// A source failed in the middle of a streamed answer.
    CutOff,
}

impl fmt::Display for ExecuteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variables(error) => write!(f, "the variables are not valid JSON: {error}"),
            Self::VariablesNoObject => f.write_str("the variables are no JSON object"),
            Self::CutOff => f.write_str("a source died in the middle of the answer"),
        }
    }
}

impl std::error::Error for ExecuteError {}

/// Builder of an engine.
#[derive(Default)]
#[must_use = "nothing happens before `build`"]
pub struct Builder {
    config: Config,
    sources: Vec<Arc<dyn Source>>,
}

impl Builder {
    /// Takes limits, cache sizes and sources from `config`.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }
    /// Adds an open source, for example one of your own.
    pub fn source(mut self, source: Arc<dyn Source>) -> Self {
        self.sources.push(source);
        self
    }
    /// Opens the configured sources and merges all into one graph.
    /// # Errors
    /// All sources that cannot be opened, and all conflicts between them.
    pub fn build(mut self) -> Result<Weir, String> {
        self.config.embedded.0.append(&mut self.sources);
        let opened = sources::open_all(&self.config, None)?;
        if let Some(down) = opened.findings.down.first() {
            return Err(down.to_string());
        }
        let graph = sources::compose(
            opened.sources,
            &opened.joins,
            &opened.remote_joins,
            self.config.federation.as_ref(),
        )?;
        let relay = RelayGraph::new(&self.config, &graph, settings(&self.config));
        let mut native_auth = NativeAuth::default();
        for (name, AuthSettings { line, variables }) in opened.native_auth {
            let added = native_auth.add(&name, line.as_ref(), &variables);
            added.map_err(|message| format!("{name}: {message}"))?;
        }
        let engine = Engine::new(graph, settings(&self.config)).with_tag_versions(services::changes());
        Ok(Weir { engine, relay, native_auth })
    }
}

impl Builder {
    /// Opens the sources and serves their graph as the configuration says: on `config.listen`, from threads of the server. A reload
    /// reads the databases and services again and keeps the sources of the program.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use weir::config::{Config, Listen};
    /// use weir_engine::memory::Memory;
    /// # use weir_language::schema::Schema;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let schema = Schema::from_sdl("type Query { answer: Int }").map_err(|_| "an unsound SDL")?;
    /// let source = Memory::new("answers", Arc::new(schema)).field("answer", |_| 42);
    /// let config = Config { listen: Listen("127.0.0.1:0".parse()?), ..Config::default() };
    /// let server = weir::Weir::builder().config(config).source(Arc::new(source)).serve()?;
    /// println!("POST to http://{}/graphql", server.listen());
    /// server.stop()?;
    /// # Ok(())
    /// # }
    /// ```
    /// # Errors
    /// As [`Builder::build`], and an address that cannot be listened on.
    pub fn serve(mut self) -> Result<Server, String> {
        self.config.embedded.0.append(&mut self.sources);
        let live = Live::start(Origin::Fixed(Box::new(self.config)))?;
        Server::start(Arc::new(live))
    }
}

impl Weir {
    /// Starts with an empty configuration.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Opens `sqlite:FILE`, a database file, or the sources of a weir.yaml.
    /// # Errors
    /// See [`Builder::build`].
    pub fn open(target: &str) -> Result<Self, String> {
        let origin = match address::target(target)? {
            Target::Source(address) => Origin::Fixed(Box::new(Config::of(&address))),
            Target::Config(path) => Origin::File(path, Box::default()),
            Target::Metadata(path) => {
                Origin::Fixed(Box::new(Config { metadata: Some(path), ..Config::default() }))
            }
        };
        let config = origin.read()?;
        Self::builder().config(config).build()
    }

    /// Executes `query` as the admin. `variables` is a JSON object; `{}` or empty for none.
    /// # Errors
    /// There is no answer. Errors of documents and fields are part of the answer.
    pub async fn execute(&self, query: &str, variables: &str) -> Result<Vec<u8>, ExecuteError> {
        self.execute_as(query, variables, None, Protocol::GraphqlOverHttp, Instant::now() + PATIENCE).await
    }

    /// Like [`Weir::execute`], with all options.
    /// # Errors
    /// See [`Weir::execute`].
    pub async fn execute_as(
        &self,
        query: &str,
        variables: &str,
        operation_name: Option<&str>,
        protocol: Protocol,
        deadline: Instant,
    ) -> Result<Vec<u8>, ExecuteError> {
        let variables = read(variables)?;
        let variables = variables.as_ref().map(Json::root).filter(|it| !it.is_null());
        let request = Request {
            query,
            operation_name,
            variables,
            protocol,
            queries_only: false,
            increments: None,
            shows_cost: false,
            spent: None,
            headers: &weir_engine::source::NoHeaders,
            deadline,
        };
        match self.engine.execute(request, &self.engine.caller(&session::owner())).await.body {
            Body::Whole(bytes) => Ok(bytes),
            Body::Shared(bytes) => Ok(bytes.into()),
            // Incremental delivery was not requested, so this is a stream of one answer.
            Body::Stream { head: mut all, mut rest } | Body::Increments { first: mut all, mut rest } => {
                while let Some(chunk) = rest.recv().await {
                    all.extend_from_slice(&chunk.map_err(|_| ExecuteError::CutOff)?);
                }
                Ok(all)
            }
        }
    }

    /// The identity of a caller in `role`, or the admin, with the members of the JSON object `claims`: names starting with `x-hasura-` or
    /// `x-weir-` are session variables, all others are claims of a token, for rules of native types and services.
    /// # Errors
    /// `claims` is not such an object.
    pub fn assume(&self, role: Option<&str>, claims: &str) -> Result<Identity, String> {
        let claims = read(claims).map_err(|error| error.to_string().replace("variables", "claims"))?;
        let identity = session::assume_identity(role, claims.as_ref().map(Json::root))?;
        Ok(self.native_auth.with_values(identity))
    }

    /// Plan of `query` with the statements and calls of its sources, without running it.
    /// # Errors
    /// The `{"errors": [...]}` that a client would get.
    pub fn explain(
        &self,
        query: &str,
        variables: &str,
        operation_name: Option<&str>,
        protocol: Protocol,
    ) -> Result<Explanation, Vec<u8>> {
        let variables = read(variables).unwrap_or_default();
        let variables = variables.as_ref().map(Json::root).filter(|it| !it.is_null());
        let deadline = Instant::now() + PATIENCE;
        let request = Request {
            query,
            operation_name,
            variables,
            protocol,
            queries_only: false,
            increments: None,
            shows_cost: false,
            spent: None,
            headers: &weir_engine::source::NoHeaders,
            deadline,
        };
        self.engine.explain(request, &self.engine.caller(&session::owner()))
    }

    /// Engine of the same database with Relay's API, created by the first call.
    /// # Errors
    /// No database has this API, or its names make the schema invalid.
    pub fn relay(&self) -> Result<&Engine, &str> {
        self.relay.engine()
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}

/// Parses the variables, which must be an object.
fn read(variables: &str) -> Result<Option<Json<'_>>, ExecuteError> {
    if variables.trim().is_empty() {
        return Ok(None);
    }
    let tape = Json::parse(variables.as_bytes(), 200).map_err(ExecuteError::Variables)?;
    if tape.root().is_object() || tape.root().is_null() {
        Ok(Some(tape))
    } else {
        Err(ExecuteError::VariablesNoObject)
    }
}

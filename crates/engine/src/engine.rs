//! One request through the engine: look up or make the plan, bind, execute, write.
//!
//! [`Engine::execute`] is the whole story on one screen; each stage is timed into [`Timing`].
//!
//! **Invariant:** an engine has one graph; a new schema generation is a new engine.

use crate::compose::Graph;
use crate::source::{Accent, Caller};
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_language::json::JsonRef;
use weir_language::limits::Limits;
use weir_language::schema::Schema;

/// What an engine needs to know beside its graph.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bounds on documents.
    pub limits: Limits,
    /// Bytes all cached plans may take together.
    pub plan_cache_bytes_max: usize,
    /// Whether callers may introspect.
    pub introspection: bool,
    /// Whether messages may name near misses.
    pub suggestions: bool,
    /// Whether the September 2026 edition's changes hold.
    pub edition_2026: bool,
    /// Answers up to this many bytes are held back whole; longer ones leave in chunks.
    pub hold_back_bytes: usize,
}

/// One request, borrowed from the transport's buffer.
#[derive(Clone, Copy)]
pub struct Request<'r> {
    /// The document.
    pub query: &'r str,
    /// Which operation of it.
    pub operation_name: Option<&'r str>,
    /// The JSON object of variables; `None` where absent or null.
    pub variables: Option<JsonRef<'r>>,
    /// How to speak to the client.
    pub accent: Accent,
    /// GET: only queries may run.
    pub queries_only: bool,
    /// When the first byte has to be out.
    pub deadline: Instant,
}

/// What came of a request, as far as the transport's status depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Executed: there is a `data` member, perhaps null, perhaps with errors beside it.
    Executed,
    /// Refused before anything was executed: only `errors`.
    Refused,
    /// A mutation came by a transport that only takes queries.
    MethodNotAllowed,
}

/// The answer.
#[derive(Debug)]
pub struct Response {
    /// For the transport's status.
    pub outcome: Outcome,
    /// The JSON.
    pub body: Body,
    /// How long each stage took.
    pub timing: Timing,
}

/// The bytes of an answer.
#[derive(Debug)]
pub enum Body {
    /// All of it.
    Whole(Vec<u8>),
    /// What is ready and the channel for the rest. A channel closed by an `Err` means: abort the connection.
    Stream {
        /// First bytes.
        head: Vec<u8>,
        /// Then these.
        rest: tokio::sync::mpsc::Receiver<Result<Vec<u8>, Aborted>>,
    },
}

/// The source died in the middle of a long answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aborted;

/// Time per stage. `plan` stages are zero on a hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Whether the plan was in the cache.
    pub plan_hit: bool,
    /// Lexing and parsing.
    pub parse: Duration,
    /// Validation.
    pub validate: Duration,
    /// Planning and preparing pieces.
    pub plan: Duration,
    /// Coercing variables.
    pub bind: Duration,
    /// Waiting for and writing of the sources' answers.
    pub execute: Duration,
}

/// The engine of one graph.
pub struct Engine {
    graph: Arc<Graph>,
    settings: Settings,
}

impl Engine {
    /// An engine over `graph` with an empty plan cache.
    #[must_use]
    pub fn new(graph: Graph, settings: Settings) -> Self {
        Self { graph: Arc::new(graph), settings }
    }

    /// The graph's schema.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        self.graph.schema()
    }

    /// Answers `request`. Never fails: what goes wrong is in the response.
    pub async fn execute(&self, request: Request<'_>, caller: &Caller) -> Response {
        let _ = (request, caller, &self.settings);
        unreachable!("the planner lands next")
    }

    /// Plans `request` without running it and says what would be asked of the sources.
    /// # Errors
    /// The `{"errors": [...]}` a client would get.
    pub fn explain(&self, request: Request<'_>, caller: &Caller) -> Result<Explanation, Vec<u8>> {
        let _ = (request, caller);
        unreachable!("the planner lands next")
    }
}

/// A plan for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The plan as an indented tree.
    pub plan: String,
    /// Per piece: the source's name and what it would be asked (SQL).
    pub pieces: Vec<(String, String)>,
}

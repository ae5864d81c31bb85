//! A SQLite database as a source of a graph.

use super::connection::{Database, Tuning, reader};
use super::fetch::{ReadFetch, Reading, plan_now};
use super::health::probe;
use super::introspect::{SqliteOptions, enum_values, read};
use super::pool::Pool;
use super::prepared::Prepared;
use super::program::ProgramFetch;
use super::write_fetch::WriteFetch;
use super::writer::Writer;
use crate::api::generate;
use crate::exec::program::Programs;
use crate::frontend::{ApiFrontend, no_foreign_below, tags};
use crate::model::{Model, ModelOptions, RelationshipNames};
use rusqlite::{Connection, ErrorCode};
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::Instant;
use weir_engine::source::{Answer, BoxFuture, Fetch, Piece, PlanError, Source, SourceError, Tag};
use weir_language::ast::OperationKind;
use weir_language::schema::Schema;
use weir_relational::catalog::Warning;
use weir_relational::passes::effects::touched;
use weir_relational::plan::Plan;

/// State shared by the fetches of a source.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) frontend: Arc<dyn ApiFrontend>,
    pub(super) database: Arc<Database>,
    pub(super) pool: Pool,
    /// `None`: the file can only be read.
    pub(super) writer: Option<Writer>,
    renderings: AtomicU64,
}

impl Shared {
    /// Renders `plan` and finds out where it may run.
    pub(super) fn prepare(&self, plan: Plan) -> Prepared {
        self.renderings.fetch_add((plan.levels.len() + plan.changes.len()) as u64, Ordering::Relaxed);
        let reader = reader(&self.database).ok();
        if let Some(reader) = &reader {
            // The run before may have been cancelled.
            reader.watch.set(Some(Instant::now() + self.database.statement_max()), None);
        }
        Prepared::new(self.frontend.relations(), plan, reader.as_ref().map(|it| &it.connection))
    }
}

/// See the module's words.
#[derive(Debug)]
pub struct SqliteSource {
    name: String,
    shared: Arc<Shared>,
    /// True during a health check.
    asking: Arc<AtomicBool>,
}

/// Why a database cannot be served.
#[derive(Debug)]
pub enum OpenError {
    /// SQLite cannot open or read it.
    Sqlite(rusqlite::Error),
    /// No thread can be started.
    Thread(std::io::Error),
    /// The names of the tables make no sound schema.
    Schema(Vec<weir_language::error::Error>),
}

/// Options of a source.
#[derive(Clone, Copy, Debug)]
pub struct Options<'o> {
    /// Options for reading its catalog.
    pub catalog: SqliteOptions,
    /// Exposed tables and their names.
    pub model: ModelOptions<'o>,
    /// Choices for its connections.
    pub tuning: Tuning,
}

impl std::fmt::Display for OpenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(error) => write!(f, "cannot open the database: {error}"),
            Self::Thread(error) => write!(f, "cannot start a thread: {error}"),
            Self::Schema(errors) => {
                let first = errors.first().map_or("", |it| it.message.as_str());
                write!(f, "the generated schema is unsound: {first}")
            }
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Sqlite(error) => Some(error),
            Self::Thread(error) => Some(error),
            Self::Schema(_) => None,
        }
    }
}

impl SqliteSource {
    /// Serves the database in the file `path` as the source `name`. What cannot be served of it stands in the
    /// warnings.
    /// # Errors
    /// The file cannot be read, or makes no sound schema.
    pub fn open(name: &str, path: &Path, options: Options<'_>) -> Result<(Self, Vec<Warning>), OpenError> {
        let database = Database::new(path, options.tuning);
        let reader = reader(&database).map_err(OpenError::Sqlite)?;
        let (catalog, mut warnings) = read(&reader.connection, options.catalog).map_err(OpenError::Sqlite)?;
        let mut values = |table: &weir_relational::catalog::Table| enum_values(&reader.connection, table);
        let (model, more) = Model::build(catalog, options.model, &mut values);
        warnings.extend(more);
        let (api, writer) = std::thread::scope(|scope| {
            // Opening reads the whole schema of the database, while ours is made.
            let writer = std::thread::Builder::new().spawn_scoped(scope, || database.open_writer());
            let api = generate(model);
            let opened = |it: ScopedJoinHandle<'_, _>| it.join().unwrap_or_else(|it| resume_unwind(it));
            (api, writer.map(opened))
        });
        let api = api.map_err(OpenError::Schema)?;
        Ok((Self::serve(name, Arc::new(api), database, writer.map_err(OpenError::Thread)?)?, warnings))
    }

    /// Serves `frontend`, whose tables the database in the file `path` has, as the source `name`.
    /// # Errors
    /// The file cannot be opened, or threads cannot be started.
    pub fn new(
        name: &str,
        frontend: Arc<dyn ApiFrontend>,
        path: &Path,
        tuning: Tuning,
    ) -> Result<Self, OpenError> {
        let database = Database::new(path, tuning);
        reader(&database).map_err(OpenError::Sqlite)?;
        let writer = database.open_writer();
        Self::serve(name, frontend, database, writer)
    }

    fn serve(
        name: &str,
        frontend: Arc<dyn ApiFrontend>,
        database: Arc<Database>,
        writer: rusqlite::Result<Connection>,
    ) -> Result<Self, OpenError> {
        let writer = match writer {
            Ok(connection) => {
                // Programs rely on what the tables mean, not only on their names.
                let kept = frontend.programs().map(Programs::kept);
                let writer = Writer::new(name, connection, database.statement_max(), kept);
                Some(writer.map_err(OpenError::Thread)?)
            }
            // A file or folder that may not be written is still read.
            Err(rusqlite::Error::SqliteFailure(cause, _))
                if matches!(cause.code, ErrorCode::ReadOnly | ErrorCode::CannotOpen) =>
            {
                None
            }
            Err(error) => return Err(OpenError::Sqlite(error)),
        };
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let pool = Pool::new(&format!("sql-{name}"), cores.clamp(2, 8)).map_err(OpenError::Thread)?;
        let shared = Arc::new(Shared { frontend, database, pool, writer, renderings: AtomicU64::new(0) });
        Ok(Self { name: name.to_owned(), shared, asking: Arc::default() })
    }

    /// Rule for relationship names that suits the database's names.
    #[must_use]
    pub fn proposed_names(&self) -> RelationshipNames {
        RelationshipNames::proposed(&self.shared.frontend.relations().catalog)
    }

    /// Number of statements rendered since it was opened.
    #[must_use]
    pub fn renderings(&self) -> u64 {
        self.shared.renderings.load(Ordering::Relaxed)
    }

    /// The tables a fetch shows or may change.
    fn tags(&self, prepared: Option<&Prepared>) -> Vec<Tag> {
        // The rows of a password check are known only when it runs.
        let known = prepared.filter(|it| it.plan.checks.is_empty());
        let catalog = &self.shared.frontend.relations().catalog;
        let tables = known.and_then(|prepared| {
            let read = prepared.statements.iter().flat_map(|it| &it.statement.tables);
            let stated = read.chain(prepared.changes.iter().flat_map(|it| &it.tables)).copied().collect();
            touched(catalog, stated, &prepared.plan.changes)
        });
        tags(catalog, tables)
    }

    fn reading(&self, piece: &Piece<'_>) -> Result<(Arc<Reading>, Vec<Tag>), PlanError> {
        let ask = self.shared.frontend.ask(piece);
        let forms = plan_now(&self.shared, piece.ids, piece.shape, &ask)?;
        let tags = self.tags(forms.fixed().map(|it| &**it));
        let inner = Reading {
            shared: Arc::clone(&self.shared),
            ids: Arc::clone(piece.ids),
            ask,
            rows: piece.answer == Answer::Rows || piece.parent_keys.is_some(),
            streams: piece.answer == Answer::Any { contiguous: true },
            forms,
            answer_bytes: AtomicUsize::new(256),
        };
        Ok((Arc::new(inner), tags))
    }

    /// A run of root fields of a mutation. Children in other sources would need its rows as tables, which are read
    /// while the transaction is still open.
    fn prepare_write(&self, piece: &Piece<'_>) -> Result<Box<dyn Fetch>, PlanError> {
        if piece.answer == Answer::Rows {
            return Err(no_foreign_below(piece));
        }
        let (inner, tags) = self.reading(piece)?;
        if self.shared.frontend.programs().is_some() {
            let tags = self.tags(None);
            return Ok(Box::new(ProgramFetch { inner, tags }));
        }
        Ok(Box::new(WriteFetch { inner, tags }))
    }
}

impl Source for SqliteSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn schema(&self) -> &Arc<Schema> {
        self.shared.frontend.schema()
    }

    fn prepare(&self, piece: &Piece<'_>) -> Result<Box<dyn Fetch>, PlanError> {
        match piece.kind {
            OperationKind::Mutation if piece.parent_keys.is_none() => self.prepare_write(piece),
            OperationKind::Query | OperationKind::Mutation | OperationKind::Subscription => {
                let (inner, tags) = self.reading(piece)?;
                Ok(Box::new(ReadFetch { inner, tags }))
            }
        }
    }

    fn health(&self, deadline: Instant) -> BoxFuture<'_, Result<(), SourceError>> {
        Box::pin(probe(&self.shared.database, &self.asking, deadline))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::connection::readers;
    use std::time::Duration;
    use weir_engine::compose::Graph;
    use weir_engine::engine::{Body, Engine, Request, Settings};
    use weir_engine::source::Caller;
    use weir_language::json::{Json, JsonRef};

    /// Asks on a thread of its own for rows where one of `parts` conditions holds; how many readers that thread had to open.
    fn check(engine: &Arc<Engine>, parts: usize, readers_opened: usize) {
        let any: Vec<String> = (0..parts).map(|at| format!(r#"{{"x": {{"_gt": {at}}}}}"#)).collect();
        let variables = format!(r#"{{"w": {{"x": {{"_eq": 1}}, "_not": {{"_or": [{}]}}}}}}"#, any.join(","));
        let engine = Arc::clone(engine);
        let asked = std::thread::spawn(move || {
            let json = Json::parse(variables.as_bytes(), 400).unwrap();
            let query = "query ($w: a_bool_exp!) { a(where: $w, limit: 1) { x } }";
            let variables = Some(JsonRef { json: &json, at: 0 });
            let deadline = Instant::now() + Duration::from_secs(60);
            let request = Request { variables, ..Request::new(query, deadline) };
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let answer = runtime.block_on(engine.execute(request, &Caller::Admin));
            let Body::Whole(bytes) = answer.body else { panic!("a short answer is whole") };
            (String::from_utf8(bytes).unwrap(), readers())
        });
        let (answer, readers) = asked.join().unwrap();
        assert_eq!(answer, r#"{"data":{"a":[]}}"#);
        assert_eq!(readers, readers_opened, "{parts} parts");
    }

    #[test]
    fn a_large_statement_is_planned_and_run_away_from_the_thread_that_asks() {
        let path = std::env::temp_dir().join(format!("weir-sql-large-{}.db", std::process::id()));
        let beside = Connection::open(&path).unwrap();
        beside.execute_batch("CREATE TABLE a (x INTEGER PRIMARY KEY); INSERT INTO a VALUES (1)").unwrap();
        let options = Options {
            catalog: SqliteOptions::default(),
            model: ModelOptions::default(),
            tuning: Tuning::USUAL,
        };
        let (source, _) = SqliteSource::open("main", &path, options).unwrap();
        let graph = Graph::compose(vec![Arc::new(source) as Arc<dyn Source>], &[]).unwrap();
        let engine = Arc::new(Engine::new(graph, Settings::STANDARD));
        check(&engine, 2, 1);
        check(&engine, 900, 0);
        check(&engine, 900, 0);
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", path.display()));
        }
    }
}

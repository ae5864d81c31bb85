//! A PostgreSQL database as a source of a graph.

use super::address::Settings;
use super::asked::Asked;
use super::catalog;
use super::connection::Facts;
use super::decode::{Choices, Decoder};
use super::error::{Error, source_error};
use super::fetch::{ReadFetch, Reading};
use super::pool::{Counts, Pool};
use super::prepared::{Leaves, Prepared};
use super::program::ProgramFetch;
use super::write_fetch::WriteFetch;
use crate::api::generate;
use crate::exec::forms::Forms;
use crate::frontend::{ApiFrontend, no_foreign_below, tags};
use crate::model::{Model, ModelOptions, RelationshipNames};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use weir_engine::source::{Accent, Answer, BoxFuture, Fetch, Piece, PlanError, Source, SourceError, Tag};
use weir_language::ast::OperationKind;
use weir_language::schema::Schema;
use weir_relational::catalog::postgres_types::Types;
use weir_relational::catalog::{Table, Warning};
use weir_relational::dialect::Floats;
use weir_relational::dialect::postgres::Postgres;
use weir_relational::passes::effects::touched;
use weir_relational::plan::Plan;
use weir_relational::sql::assemble::{Assembly, Parents, TooWide, assemble, assemble_alone};

/// State shared by the fetches of a source.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) frontend: Arc<dyn ApiFrontend>,
    pub(super) dialect: Postgres,
    choices: Choices,
    pub(super) pool: Arc<Pool>,
    renderings: AtomicU64,
}

impl Shared {
    /// Renders `plan`.
    pub(super) fn prepare(
        &self,
        plan: Plan,
        parent_keys: Option<u32>,
        leaves: Leaves,
    ) -> Result<Prepared, TooWide> {
        let prepared = Prepared::new(self, plan, parent_keys, leaves)?;
        let rendered = (prepared.changes.len() + prepared.asked().count()) as u64;
        self.renderings.fetch_add(rendered, Ordering::Relaxed);
        Ok(prepared)
    }

    /// One statement for the levels `tops` and all below them.
    pub(super) fn ask(&self, plan: &Plan, tops: &[u32], parents: Parents<'_>) -> Result<Asked, TooWide> {
        let assembly = assemble(&self.dialect, self.frontend.relations(), plan, tops, parents)?;
        Ok(self.asked(assembly, plan, !matches!(parents, Parents::None), &[]))
    }

    /// A statement for the level `only`, whatever is below it; its columns `keys` are those of what is below.
    pub(super) fn ask_alone(&self, plan: &Plan, only: u32, keys: &[u16]) -> Result<Asked, TooWide> {
        let assembly = assemble_alone(&self.dialect, self.frontend.relations(), plan, only)?;
        Ok(self.asked(assembly, plan, false, keys))
    }

    fn asked(&self, assembly: Assembly, plan: &Plan, has_parents: bool, keys: &[u16]) -> Asked {
        let types = &self.dialect.types;
        Asked::new(assembly, plan.levels.len(), has_parents, types, |at, oid| {
            match keys.iter().any(|it| usize::from(*it) == at) {
                true => self.key_decoder(oid),
                false => self.decoder(oid),
            }
        })
    }

    /// A decoder of what is given to the next statement too.
    pub(super) fn key_decoder(&self, oid: u32) -> Decoder {
        Decoder::of_key(&self.dialect.types, oid, self.choices)
    }

    pub(super) fn decoder(&self, oid: u32) -> Decoder {
        Decoder::new(&self.dialect.types, oid, self.choices)
    }

    /// True if clients may see the table's name.
    pub(super) fn is_tracked(&self, schema: &str, table: &str) -> bool {
        let found = self.frontend.relations().catalog.find(schema, table);
        found.is_some_and(|it| self.frontend.is_exposed(it))
    }
}

/// See the module's words.
#[derive(Debug)]
pub struct PostgresSource {
    name: String,
    shared: Arc<Shared>,
}

/// Options of a source.
#[derive(Clone, Copy, Debug)]
pub struct Options<'o> {
    /// Exposed tables and their names.
    pub model: ModelOptions<'o>,
    /// The schemas that are served.
    pub schemas: &'o [String],
    /// Give numbers of 64 bits and decimals as JSON strings.
    pub stringify: bool,
}

/// Why a database cannot be served.
#[derive(Debug)]
pub enum OpenError {
    /// It cannot be asked.
    Database(Error),
    /// The names of the tables make no sound schema.
    Schema(Vec<weir_language::error::Error>),
}

impl std::fmt::Display for OpenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Database(error) => write!(f, "cannot read the database: {error}"),
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
            Self::Database(error) => Some(error),
            Self::Schema(_) => None,
        }
    }
}

impl PostgresSource {
    /// Reads what the database has and serves it as the source `name`. What cannot be served of it stands in the
    /// warnings.
    /// # Errors
    /// The database cannot be asked within `patience`, or makes no sound schema.
    pub async fn open(
        name: &str,
        settings: Settings,
        options: Options<'_>,
        patience: Duration,
    ) -> Result<(Self, Vec<Warning>), OpenError> {
        // Connections belong to the runtime that made them, which may end when the catalog is read.
        let mut patient = settings.clone();
        patient.limits.session_lock_timeout = Duration::ZERO;
        let pool = Pool::new(patient);
        let deadline = Instant::now() + patience;
        let (catalog, types, mut warnings) =
            catalog::read(&pool, options.schemas, deadline).await.map_err(OpenError::Database)?;
        let enums = catalog::enums(&pool, &catalog, options.model, deadline).await;
        let mut values = |table: &Table| {
            let found = enums.iter().find(|it| it.0 == (table.schema.clone(), table.name.clone()));
            found.map_or_else(|| Err("its values were not read".into()), |it| it.1.clone())
        };
        let (model, more) = Model::build(catalog, options.model, &mut values);
        warnings.extend(more);
        let api = generate(model).map_err(OpenError::Schema)?;
        let numbers = (options.stringify, Floats::AsPostgres);
        let made = Self::serve(name, Arc::new(api), settings, types, pool.facts(), numbers);
        Ok((made, warnings))
    }

    /// Serves `frontend`, whose tables the database has in types of PostgreSQL's own, as the source `name`.
    /// # Errors
    /// The database cannot be asked within `patience`.
    pub async fn new(
        name: &str,
        frontend: Arc<dyn ApiFrontend>,
        settings: Settings,
        patience: Duration,
    ) -> Result<Self, OpenError> {
        // As above.
        let pool = Pool::new(settings.clone());
        pool.ready(Instant::now() + patience).await.map_err(OpenError::Database)?;
        let numbers = (false, Floats::AsElsewhere);
        Ok(Self::serve(name, frontend, settings, Types::builtin(), pool.facts(), numbers))
    }

    fn serve(
        name: &str,
        frontend: Arc<dyn ApiFrontend>,
        settings: Settings,
        types: Types,
        facts: Option<Facts>,
        (stringify, floats): (bool, Floats),
    ) -> Self {
        let choices = Choices { utc: facts.is_some_and(|it| it.is_utc), stringify, floats, utf8: true };
        let flavour = facts.map(|it| it.flavour).unwrap_or_default();
        let dialect = Postgres { flavour, types, floats };
        let renderings = AtomicU64::new(0);
        let pool = Pool::new(settings);
        let shared = Arc::new(Shared { frontend, dialect, choices, pool, renderings });
        Self { name: name.to_owned(), shared }
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

    /// Counters of its connections since it was opened.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.shared.pool.counts()
    }

    /// The tables a fetch shows or may change. A function may read whatever it likes, and what a check asks a program says
    /// only when it runs.
    fn tags(&self, prepared: Option<&Prepared>) -> Vec<Tag> {
        let known = prepared.filter(|it| it.plan.functions.is_empty() && it.plan.checks.is_empty());
        let catalog = &self.shared.frontend.relations().catalog;
        let tables = known.and_then(|prepared| {
            let read = prepared.asked().flat_map(|it| &it.tables);
            let stated = read.chain(prepared.changes.iter().flat_map(|it| &it.tables)).copied().collect();
            touched(catalog, stated, &prepared.plan.changes)
        });
        tags(catalog, tables)
    }

    fn reading(&self, piece: &Piece<'_>) -> Result<(Arc<Reading>, Vec<Tag>), PlanError> {
        let ask = self.shared.frontend.ask(piece);
        let mut reading = Reading {
            shared: Arc::clone(&self.shared),
            ids: Arc::clone(piece.ids),
            rows: piece.answer == Answer::Rows || piece.parent_keys.is_some(),
            leaves: match piece.answer {
                Answer::Any { contiguous: true } if piece.parent_keys.is_none() => Leaves::InParts,
                Answer::Any { .. } | Answer::Rows => Leaves::Whole,
            },
            forms: Forms::many(),
            answer_bytes: AtomicUsize::new(256),
            parent_keys: piece.parent_keys,
            ask,
        };
        if reading.ask.structural.is_empty() {
            reading.forms = Forms::one(reading.prepare(piece.shape, None)?);
        }
        let tags = self.tags(reading.forms.fixed().map(|it| &**it));
        Ok((Arc::new(reading), tags))
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

impl Source for PostgresSource {
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
        Box::pin(async move {
            let ready = self.shared.pool.ready(deadline).await;
            ready.map_err(|error| source_error(error, Accent::Spec, None, &|_, _| false))
        })
    }
}

//! The database of a native source: created from a text of types, migrated, loaded, exported and backed up.
//!
//! The store knows the text it was made with, so that a new one is compared with what is there and not with what somebody
//! remembers. A [`Store`] is for whoever changes tables; requests are answered through `weir-database`'s drivers.
//!
//! **Invariant:** the tables are those of the last version in `weir_versions`; whoever changes them writes a version in
//! the same transaction.

pub mod backup;
pub(crate) mod database;
pub(crate) mod ddl;
mod index_builds;
mod migrate;
pub mod versions;

pub use database::Place;
pub(crate) use index_builds::defer_indexes;
pub use index_builds::{Building, Pace};
pub use migrate::{Plan, Refusal};

use crate::custom::Customs;
use crate::layout::{self, Layout};
use crate::model::Model;
use crate::sdl;
use database::Database;
use versions::Version;
use weir_language::error::Error as SdlError;

/// A text of types, with its model and its layout for a kind of database.
#[derive(Clone, Debug)]
pub struct Types {
    /// The text.
    pub sdl: String,
    /// Model of the text.
    pub model: Model,
    /// Fields that services answer.
    pub customs: Customs,
    /// Layout in the database.
    pub layout: Layout,
    pub kind: layout::Database,
    /// Parts that are accepted but have no effect, or an unexpected one.
    pub warnings: Vec<sdl::Warning>,
}

impl Types {
    /// Reads `sdl` for a store of this kind.
    /// # Errors
    /// All that is wrong with the text.
    pub fn read(sdl: &str, kind: layout::Database) -> Result<Self, Vec<SdlError>> {
        let read = sdl::read(sdl)?;
        let layout = Layout::new(&read.model, kind, kind.store_dialect().schema());
        let customs = read.customs;
        let warnings = read.warnings;
        Ok(Self { sdl: sdl.to_owned(), model: read.model, customs, layout, kind, warnings })
    }

    /// These types with their tables in `schema`, which statements of requests name.
    #[must_use]
    pub fn in_schema(mut self, schema: &str) -> Self {
        for table in &mut self.layout.relations.catalog.tables {
            schema.clone_into(&mut table.schema);
        }
        self
    }
}

/// Why a store cannot be opened or changed.
#[derive(Debug)]
pub enum Error {
    /// The database refused, in its words.
    Database(String),
    /// The store's data does not allow it, in the database's words: a retry does not help.
    Unfit(String),
    /// The server is not there; it may be later.
    Unreachable(String),
    /// The store does not exist.
    Missing,
    /// The database has tables of others.
    Foreign {
        /// Name of such a table.
        table: String,
    },
    /// The store was made by a Weir that this one does not know.
    Format {
        /// Format of the store.
        found: i64,
    },
    /// The text that the store holds cannot be read any more.
    Stored(Vec<SdlError>),
    /// The data does not allow the change.
    Refused(Vec<Refusal>),
    /// Somebody else changed the store meanwhile.
    Changed,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Database(words) | Self::Unfit(words) | Self::Unreachable(words) => f.write_str(words),
            Self::Missing => f.write_str("there is no store yet; `weir migrate` makes it"),
            Self::Foreign { table } => write!(
                f,
                "the database has a table `{table}` that is no store's; name an empty database, or a schema of its own \
                 by `options=-csearch_path=…` in the URL"
            ),
            Self::Format { found } => write!(
                f,
                "the store has format {found}, this Weir knows {}; use the Weir that made it, or a later one",
                versions::FORMAT
            ),
            Self::Stored(errors) => {
                let first = errors.first().map_or("", |it| it.message.as_str());
                write!(f, "the types that the store was made with cannot be read by this Weir: {first}")
            }
            Self::Refused(refusals) => {
                let lines: Vec<String> = refusals.iter().map(ToString::to_string).collect();
                f.write_str(&lines.join("\n"))
            }
            Self::Changed => f.write_str("the store was changed by somebody else meanwhile; try again"),
        }
    }
}

impl std::error::Error for Error {}

/// A store that is open for changes of its tables.
#[derive(Debug)]
pub struct Store {
    pub(crate) database: Database,
    version: Option<Version>,
}

impl Store {
    /// Opens the database at `place`, with or without a store in it.
    /// # Errors
    /// The database cannot be reached, or contains something else.
    pub fn open(place: &Place) -> Result<Self, Error> {
        let mut database = Database::open(place)?;
        let version = versions::current(&mut database)?;
        Ok(Self { database, version })
    }

    /// Opens the store at `place`, which has to be there.
    /// # Errors
    /// Errors of [`Self::open`], and [`Error::Missing`] if there is no store.
    pub fn existing(place: &Place) -> Result<Self, Error> {
        if place.file().is_some_and(|path| !path.exists()) {
            return Err(Error::Missing);
        }
        Self::open(place).and_then(|it| if it.version.is_some() { Ok(it) } else { Err(Error::Missing) })
    }

    /// The current version of the store.
    pub fn version(&self) -> Option<&Version> {
        self.version.as_ref()
    }

    /// The types that the store holds; nothing if there is no store.
    /// # Errors
    /// The stored text cannot be read.
    pub fn types(&self) -> Result<Option<Types>, Error> {
        let Some(version) = &self.version else { return Ok(None) };
        Types::read(&version.sdl, self.database.kind()).map(Some).map_err(Error::Stored)
    }

    /// The schema of the database in which the tables of this store are.
    /// # Errors
    /// The database cannot be asked.
    pub fn schema(&mut self) -> Result<String, Error> {
        let dialect = self.database.dialect();
        let asked = dialect.session_schema().map(|sql| self.database.query_value(sql, &[])).transpose()?;
        let named = asked.map(|it| it.text()).filter(|it| !it.is_empty());
        Ok(named.unwrap_or_else(|| dialect.schema().to_owned()))
    }

    /// Plans the migration to `types`. Data is lost only if `allowed` names it.
    /// # Errors
    /// The database cannot be reached, or does not contain a store.
    pub fn plan(&mut self, types: &Types, allowed: &[String]) -> Result<Plan, Error> {
        let old = self.types()?;
        if old.is_none()
            && let Some(table) = migrate::foreign_table(&mut self.database)?
        {
            return Err(Error::Foreign { table });
        }
        let mut plan = migrate::plan(&mut self.database, old.as_ref(), types, allowed)?;
        let is_earlier = self.version.as_ref().is_some_and(|it| it.format < versions::FORMAT);
        // A read-only store is served in its earlier format.
        if is_earlier && self.database.is_writable()? {
            migrate::remake_words(&mut self.database, types, &mut plan)?;
        }
        Ok(plan)
    }

    /// Applies `plan` in one transaction.
    /// # Errors
    /// The plan has refusals, the database refused, or the store is no longer what the plan was made for.
    pub fn migrate(&mut self, types: &Types, plan: &Plan) -> Result<(), Error> {
        if !plan.refusals.is_empty() {
            return Err(Error::Refused(plan.refusals.clone()));
        }
        if plan.is_nothing {
            return Ok(());
        }
        let before = self.version.as_ref().map_or(0, |it| it.number);
        migrate::apply(&mut self.database, types, plan, before)?;
        self.version = versions::current(&mut self.database)?;
        Ok(())
    }
}

/// Opens the store at `place` and makes or changes it so that it holds `types`.
/// # Errors
/// Errors of [`Store::open`], [`Store::plan`] and [`Store::migrate`].
pub fn open_and_migrate(place: &Place, types: &Types) -> Result<Plan, Error> {
    let mut store = Store::open(place)?;
    let plan = store.plan(types, &[])?;
    store.migrate(types, &plan)?;
    Ok(plan)
}

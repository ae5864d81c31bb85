//! One connection to the database of a store, for work that is not the requests': migrations, bulk loads, exports.
//!
//! All databases look the same from here: a statement with `$1`, `$2`, … in ascending order of first use, values in, values
//! out. It blocks, so it belongs on a thread of its own. [`Place`] is where a database is chosen: by its driver, a
//! `Session`, and by its dialect, which [`Database::kind`] gives.
//!
//! **Invariant:** at most one transaction is open; it is gone when the connection is.

mod postgres;
mod sqlite;

use super::Error;
use crate::layout;
use hashbrown::HashSet;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use weir_postgres::Settings;
use weir_relational::catalog::Column;
use weir_relational::dialect::store::StoreDialect;
use weir_relational::plan::ddl::Definition;
use weir_relational::sql::ddl::render;

pub(super) use sqlite::copy;

/// Address of a store.
#[derive(Clone, Debug)]
pub enum Place {
    /// A file of SQLite's.
    Sqlite(PathBuf),
    /// A database server.
    Postgres(Box<Settings>),
}

impl Place {
    /// The kind of database it is.
    #[must_use]
    pub fn kind(&self) -> layout::Database {
        match self {
            Self::Sqlite(_) => layout::Database::Sqlite,
            Self::Postgres(_) => layout::Database::Postgres,
        }
    }

    /// The file of an embedded database.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Sqlite(path) => Some(path),
            Self::Postgres(_) => None,
        }
    }

    fn open(&self) -> Result<Box<dyn Session>, Error> {
        Ok(match self {
            Self::Sqlite(path) => Box::new(sqlite::open(path)?),
            Self::Postgres(settings) => Box::new(postgres::Postgres::connect(settings)?),
        })
    }

    fn open_exclusively(&self) -> Result<Option<Box<dyn Session>>, Error> {
        match self {
            Self::Sqlite(path) => Ok(sqlite::exclusive(path)?.map(|it| Box::new(it) as Box<dyn Session>)),
            Self::Postgres(_) => self.open().map(Some),
        }
    }
}

/// A value that is bound, or that came back.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Value {
    Null,
    Int(i64),
    Real(f64),
    /// PostgreSQL gives every value so.
    Text(String),
}

impl Value {
    /// The value as an integer; 0 if it is none.
    #[must_use]
    pub fn int(&self) -> i64 {
        match self {
            Self::Int(number) => *number,
            Self::Text(text) => text.parse().unwrap_or_default(),
            Self::Real(number) => *number as i64,
            Self::Null => 0,
        }
    }

    /// The value as text; empty for null.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Int(number) => number.to_string(),
            Self::Text(text) => text.clone(),
            Self::Real(number) => number.to_string(),
            Self::Null => String::new(),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

/// The rows of a statement.
pub type QueryRows = Vec<Vec<Value>>;

/// A value of a bulk load; texts are ranges of [`Bulk::text`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum BulkCell {
    /// None.
    Null,
    /// Whole numbers, and Booleans where those are numbers.
    Int(i64),
    /// Value of a Float.
    Real(f64),
    /// `true` or `false`.
    Bool(bool),
    /// Range in the text: start and end.
    Text(u32, u32),
}

/// Rows of a bulk load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bulk<'b> {
    /// By row: the number of the object.
    pub(crate) ids: &'b [i64],
    /// Row after row.
    pub(crate) cells: &'b [BulkCell],
    /// Number of cells of a row.
    pub(crate) width: usize,
    /// Buffer that texts are ranges of.
    pub(crate) text: &'b str,
}

impl<'b> Bulk<'b> {
    fn row(&self, at: usize) -> &'b [BulkCell] {
        &self.cells[at * self.width..(at + 1) * self.width]
    }

    fn slice(&self, from: u32, to: u32) -> &'b str {
        &self.text[from as usize..to as usize]
    }
}

/// A table that the rows of a bulk load go into. Its first column is the number.
#[derive(Debug)]
pub(crate) struct BulkTable {
    /// Name of the table.
    pub(crate) name: String,
    /// The columns that take values.
    pub(crate) columns: Vec<Column>,
    /// Source of each column's values.
    pub(crate) from: Vec<BulkSource>,
}

/// Source of the values of a column in a bulk load.
#[derive(Debug)]
pub(crate) enum BulkSource {
    /// The number of the object.
    Number,
    /// A cell of the row, by its place.
    Cell(usize),
    /// Text that is equal in all rows.
    Words(String),
}

/// A connection of one database's driver.
trait Session: Debug + Send {
    /// See [`Database::execute`].
    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, Error>;
    /// See [`Database::query`].
    fn query(&mut self, sql: &str, values: &[Value], width: usize) -> Result<QueryRows, Error>;
    /// See [`Database::begin`].
    fn begin(&mut self) -> Result<(), Error>;
    /// See [`Database::commit`].
    fn commit(&mut self) -> Result<(), Error>;
    /// See [`Database::rollback`].
    fn rollback(&mut self);
    /// See [`Database::is_writable`].
    fn is_writable(&mut self) -> Result<bool, Error>;
    /// See [`Database::data_version`].
    fn data_version(&mut self) -> Result<i64, Error>;
    /// See [`Database::file`].
    fn file(&self) -> Option<PathBuf>;
    /// See [`Database::lock_load`].
    fn lock_load(&mut self) -> Result<bool, Error>;
    /// See [`Database::existing`].
    fn existing(&mut self, table: &str, column: &str, ids: &[i64]) -> Result<HashSet<i64>, Error>;
    /// See [`Database::insert`].
    fn insert(
        &mut self,
        tables: &[BulkTable],
        bulk: Bulk<'_>,
        gone: &mut [bool],
    ) -> Result<Vec<(usize, String)>, Error>;
    /// See [`Database::insert_pairs`].
    fn insert_pairs(&mut self, table: &str, names: &str, pairs: &[(i64, i64)]) -> Result<(), Error>;
}

/// A connection to the database of a store.
#[derive(Debug)]
pub struct Database {
    kind: layout::Database,
    session: Box<dyn Session>,
}

impl Database {
    /// Opens the store at `place`; creates a missing file.
    /// # Errors
    /// The database cannot be reached or opened.
    pub fn open(place: &Place) -> Result<Self, Error> {
        Ok(Self { kind: place.kind(), session: place.open()? })
    }

    /// Opens the store at `place` with exclusive use of its file; `None` if somebody else uses it. The store of a database server
    /// can be used by others meanwhile.
    /// # Errors
    /// The store cannot be opened.
    pub(crate) fn exclusive(place: &Place) -> Result<Option<Self>, Error> {
        Ok(place.open_exclusively()?.map(|session| Self { kind: place.kind(), session }))
    }

    /// The kind of database it is.
    #[must_use]
    pub fn kind(&self) -> layout::Database {
        self.kind
    }

    pub(crate) fn dialect(&self) -> &'static dyn StoreDialect {
        self.kind.store_dialect()
    }

    /// Runs a statement and says how many rows it changed.
    /// # Errors
    /// The database refused it.
    pub fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, Error> {
        self.session.execute(sql, values)
    }

    /// Runs the statements of a definition.
    /// # Errors
    /// The database refused one.
    pub(crate) fn define(&mut self, definition: &Definition) -> Result<(), Error> {
        render(self.dialect(), definition).iter().try_for_each(|it| self.execute(it, &[]).map(drop))
    }

    /// The rows of a statement with `width` columns.
    /// # Errors
    /// The database refused it.
    pub fn query(&mut self, sql: &str, values: &[Value], width: usize) -> Result<QueryRows, Error> {
        self.session.query(sql, values, width)
    }

    /// The first column of the first row; null if there is none.
    /// # Errors
    /// The database refused the statement.
    pub fn query_value(&mut self, sql: &str, values: &[Value]) -> Result<Value, Error> {
        let mut rows = self.query(sql, values, 1)?;
        Ok(rows.first_mut().and_then(|row| row.pop()).unwrap_or(Value::Null))
    }

    /// Begins a transaction that excludes other migrations.
    /// # Errors
    /// The transaction cannot be begun.
    pub fn begin(&mut self) -> Result<(), Error> {
        self.session.begin()
    }

    /// Begins a read-only transaction with one snapshot.
    /// # Errors
    /// The transaction cannot be begun.
    pub(crate) fn begin_read(&mut self) -> Result<(), Error> {
        self.execute(self.dialect().begin_reading(), &[]).map(drop)
    }

    /// Commits the transaction durably.
    /// # Errors
    /// The commit failed, and nothing of the transaction is stored.
    pub fn commit(&mut self) -> Result<(), Error> {
        self.session.commit()
    }

    /// Takes the transaction back. One that is gone already is no error.
    pub fn rollback(&mut self) {
        self.session.rollback();
    }

    /// True if this connection may change the store.
    /// # Errors
    /// The database cannot be asked.
    pub(crate) fn is_writable(&mut self) -> Result<bool, Error> {
        self.session.is_writable()
    }

    /// True if the store has a table called `name`.
    /// # Errors
    /// The database cannot be asked.
    pub fn has_table(&mut self, name: &str) -> Result<bool, Error> {
        Ok(self.query_value(self.dialect().has_table(), &[name.into()])?.int() > 0)
    }

    /// A number that differs once another connection has written; always the same where the tables check references.
    /// # Errors
    /// The database cannot be asked.
    pub(crate) fn data_version(&mut self) -> Result<i64, Error> {
        self.session.data_version()
    }

    /// The file of an embedded database.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        self.session.file()
    }

    /// Takes a server's lock of loads, as long as this connection lives; `false` if another has it.
    /// # Errors
    /// The database cannot be asked.
    pub(crate) fn lock_load(&mut self) -> Result<bool, Error> {
        self.session.lock_load()
    }

    /// The numbers of `ids` that a table has.
    /// # Errors
    /// The database refused it.
    pub(crate) fn existing(&mut self, table: &str, column: &str, ids: &[i64]) -> Result<HashSet<i64>, Error> {
        self.session.existing(table, column, ids)
    }

    /// Inserts the rows of `bulk` that are not `gone` into each of `tables`. Rows that break a rule are gone then, from all of
    /// them, and are given with the reason.
    /// # Errors
    /// The database failed.
    pub(crate) fn insert(
        &mut self,
        tables: &[BulkTable],
        bulk: Bulk<'_>,
        gone: &mut [bool],
    ) -> Result<Vec<(usize, String)>, Error> {
        self.session.insert(tables, bulk, gone)
    }

    /// Inserts pairs into `table` with the two columns `names`; those that are there stay.
    /// # Errors
    /// The database refused it.
    pub(crate) fn insert_pairs(
        &mut self,
        table: &str,
        names: &str,
        pairs: &[(i64, i64)],
    ) -> Result<(), Error> {
        self.session.insert_pairs(table, names, pairs)
    }
}

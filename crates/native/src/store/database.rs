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
use std::ops::{Deref, DerefMut};
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
    pub fn kind(&self) -> layout::Database {
        match self {
            Self::Sqlite(_) => layout::Database::Sqlite,
            Self::Postgres(_) => layout::Database::Postgres,
        }
    }

    /// The file of an embedded database.
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
pub(crate) enum Value {
    Null,
    Int(i64),
    Real(f64),
    /// PostgreSQL gives every value so.
    Text(String),
}

impl Value {
    /// The value as an integer; 0 if it is none.
    pub(crate) fn int(&self) -> i64 {
        match self {
            Self::Int(number) => *number,
            Self::Text(text) => text.parse().unwrap_or_default(),
            Self::Real(number) => *number as i64,
            Self::Null => 0,
        }
    }

    /// The value as text; empty for null.
    pub(crate) fn text(&self) -> String {
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
pub(crate) type QueryRows = Vec<Vec<Value>>;

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
pub(crate) trait Session: Debug + Send {
    /// Runs a statement and says how many rows it changed.
    /// # Errors
    /// The database refused it.
    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, Error>;

    /// The rows of a statement with `width` columns.
    /// # Errors
    /// The database refused it.
    fn query(&mut self, sql: &str, values: &[Value], width: usize) -> Result<QueryRows, Error>;

    /// Begins a transaction that excludes other migrations.
    /// # Errors
    /// The transaction cannot be begun.
    fn begin(&mut self) -> Result<(), Error>;

    /// Commits the transaction durably.
    /// # Errors
    /// The commit failed, and nothing of the transaction is stored.
    fn commit(&mut self) -> Result<(), Error>;

    /// Takes the transaction back. One that is gone already is no error.
    fn rollback(&mut self);

    /// True if this connection may change the store.
    /// # Errors
    /// The database cannot be asked.
    fn is_writable(&mut self) -> Result<bool, Error>;

    /// A number that differs once another connection has written; always the same where the tables check references.
    /// # Errors
    /// The database cannot be asked.
    fn data_version(&mut self) -> Result<i64, Error>;

    /// The file of an embedded database.
    fn file(&self) -> Option<PathBuf>;

    /// Takes a server's lock of loads, as long as this connection lives; `false` if another has it.
    /// # Errors
    /// The database cannot be asked.
    fn lock_load(&mut self) -> Result<bool, Error>;

    /// The numbers of `ids` that a table has.
    /// # Errors
    /// The database refused it.
    fn existing(&mut self, table: &str, column: &str, ids: &[i64]) -> Result<HashSet<i64>, Error>;

    /// Inserts the rows of `bulk` that are not `gone` into each of `tables`. Rows that break a rule are gone then, from all of
    /// them, and are given with the reason.
    /// # Errors
    /// The database failed.
    fn insert(
        &mut self,
        tables: &[BulkTable],
        bulk: Bulk<'_>,
        gone: &mut [bool],
    ) -> Result<Vec<(usize, String)>, Error>;

    /// Inserts pairs into `table` with the two columns `names`; those that are there stay.
    /// # Errors
    /// The database refused it.
    fn insert_pairs(&mut self, table: &str, names: &str, pairs: &[(i64, i64)]) -> Result<(), Error>;
}

/// A connection to the database of a store: a driver's session, and what is the same for all drivers.
#[derive(Debug)]
pub(crate) struct Database {
    kind: layout::Database,
    session: Box<dyn Session>,
}

impl Deref for Database {
    type Target = dyn Session;
    fn deref(&self) -> &Self::Target {
        &*self.session
    }
}

impl DerefMut for Database {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.session
    }
}

impl Database {
    /// Opens the store at `place`; creates a missing file.
    /// # Errors
    /// The database cannot be reached or opened.
    pub(crate) fn open(place: &Place) -> Result<Self, Error> {
        Ok(Self { kind: place.kind(), session: place.open()? })
    }

    /// Opens the store at `place` with exclusive use of its file; `None` if somebody else uses it. The store of a database server
    /// can be used by others meanwhile.
    /// # Errors
    /// The store cannot be opened.
    pub(crate) fn exclusive(place: &Place) -> Result<Option<Self>, Error> {
        Ok(place.open_exclusively()?.map(|session| Self { kind: place.kind(), session }))
    }

    pub(crate) fn kind(&self) -> layout::Database {
        self.kind
    }

    pub(crate) fn dialect(&self) -> &'static dyn StoreDialect {
        self.kind.store_dialect()
    }

    /// Runs the statements of a definition.
    /// # Errors
    /// The database refused one.
    pub(crate) fn define(&mut self, definition: &Definition) -> Result<(), Error> {
        render(self.dialect(), definition).iter().try_for_each(|it| self.execute(it, &[]).map(drop))
    }

    /// The first column of the first row; null if there is none.
    /// # Errors
    /// The database refused the statement.
    pub(crate) fn query_value(&mut self, sql: &str, values: &[Value]) -> Result<Value, Error> {
        let mut rows = self.query(sql, values, 1)?;
        Ok(rows.first_mut().and_then(|row| row.pop()).unwrap_or(Value::Null))
    }

    /// Begins a read-only transaction with one snapshot.
    /// # Errors
    /// The transaction cannot be begun.
    pub(crate) fn begin_read(&mut self) -> Result<(), Error> {
        let sql = self.dialect().begin_reading();
        self.execute(sql, &[]).map(drop)
    }

    /// True if the store has a table called `name`.
    /// # Errors
    /// The database cannot be asked.
    pub(crate) fn has_table(&mut self, name: &str) -> Result<bool, Error> {
        Ok(self.query_value(self.dialect().has_table(), &[name.into()])?.int() > 0)
    }
}

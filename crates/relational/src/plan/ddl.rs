//! Definitions: statements that change which tables, views and indexes there are, and copy rows between them.
//!
//! A [`Definition`] names tables and columns by text, as it speaks of tables that are renamed on the way. What differs by
//! database is in the [`StoreDialect`](crate::dialect::store::StoreDialect).
//!
//! **Invariant:** the same definition gives the same statements. Selects and values inside definitions are SQL that all
//! databases read, or were written by the dialect.

use crate::catalog::{self, Catalog, ColumnId, TableId};

/// A change of the tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    /// Creates a table.
    CreateTable(TableDefinition),
    /// Adds a reference, where tables are created without theirs.
    AddReference {
        /// The table that refers.
        table: String,
        reference: Reference,
    },
    AddColumn {
        table: String,
        column: ColumnDefinition,
    },
    /// Removes a table with its dependents.
    DropTable(String),
    /// Renames a table.
    RenameTable {
        /// The old name.
        from: String,
        /// The new name.
        to: String,
    },
    /// Renames a column.
    RenameColumn {
        table: String,
        /// The old name.
        from: String,
        /// The new name.
        to: String,
    },
    /// Creates a view over rows of several tables.
    CreateView {
        name: String,
        /// For each table: its name, and for each column of the view a value and the column's name.
        members: Vec<(String, Vec<(Value, String)>)>,
    },
    /// Removes a view, if it exists.
    DropView(String),
    /// Creates an index. One that is a separate table is empty.
    CreateIndex(Index),
    /// Creates an index like [`Definition::CreateIndex`], without blocking writers; runs outside of transactions.
    CreateIndexBeside(Index),
    /// Recreates the triggers of a separate index, after its table was rewritten.
    RestoreIndex(Index),
    /// Puts all rows into an index that is a separate table.
    FillIndex(Index),
    /// Removes an index, if it exists.
    DropIndex(Index),
    /// Inserts the rows of a select.
    Copy {
        /// The table.
        into: String,
        /// Columns that receive the values.
        columns: Vec<String>,
        select: String,
    },
    /// Creates a table for the session, with the rows of a select.
    SetAside {
        /// The table.
        name: String,
        select: String,
    },
    /// Lets a column that the database fills go on after its greatest value.
    ContinueIdentity {
        table: String,
        column: String,
    },
    /// Looks for rows of a table that refer to nothing, where that was suspended.
    CheckReferences(String),
    /// Creates the source of new numbers, if that is no column.
    CreateNumbers(Numbers),
    /// A change of rows that all databases read.
    Run(String),
}

/// A value in a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Column(String),
    Text(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDefinition {
    /// Name of the table.
    pub name: String,
    /// Columns of the table.
    pub columns: Vec<ColumnDefinition>,
    /// The columns of the primary key, if they are several.
    pub key: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDefinition {
    /// Name of the column.
    pub name: String,
    /// Type in the database's own words.
    pub ty: String,
    /// True for the primary key.
    pub is_key: bool,
    /// May be null.
    pub nullable: bool,
    /// The only value it may have.
    pub only: Option<i64>,
    /// The source of values that are not given.
    pub source: Option<ColumnSource>,
    /// The column it refers to.
    pub reference: Option<Reference>,
}

/// Source of a column's values that are not given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnSource {
    /// The numbers that all tables share.
    Numbers(Numbers),
    /// A counter of the table.
    Identity,
}

/// A reference to another table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The name of the constraint.
    pub name: String,
    /// The columns that refer.
    pub columns: Vec<String>,
    /// The table referred to.
    pub table: String,
    /// Referenced columns.
    pub to: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// Name of the index.
    pub name: String,
    pub table: String,
    /// The column by which a separate index knows a row; `None`: the number of the row.
    pub key: Option<String>,
    pub columns: Vec<String>,
    pub kind: IndexKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexKind {
    /// Equal values and ranges.
    Tree,
    /// Equal texts of any length, by how they begin: PostgreSQL's trees take short ones only.
    Prefix,
    /// A tree of unique values.
    Unique,
    /// Whole words, ignoring case: `term`.
    Terms,
    /// Words by their stems: `fulltext`.
    Fulltext,
    /// Any three letters in a row: `trigram`, `regexp`, `ngram`.
    Trigrams,
    /// Boxes that overlap: geo.
    Boxes,
}

/// The source of new numbers: a sequence, or in databases without sequences a column of a table with one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    pub sequence: &'static str,
    pub table: &'static str,
    /// Column of the table with the next number.
    pub column: &'static str,
}

impl TableDefinition {
    /// The table `id` of a catalog, under `name`. Its numbers come from `numbers`, if they are given.
    pub fn of(catalog: &Catalog, id: TableId, name: &str, numbers: Option<Numbers>) -> Self {
        let table = catalog.table(id);
        let columns = (0..table.columns.len())
            .map(|at| ColumnDefinition::of(catalog, id, ColumnId(at as u32), numbers));
        let key = table.primary_key.as_ref().filter(|key| key.columns.len() > 1);
        let key = key.map(|key| names(table, &key.columns)).unwrap_or_default();
        Self { name: name.to_owned(), columns: columns.collect(), key }
    }
}

impl ColumnDefinition {
    pub fn of(catalog: &Catalog, table: TableId, id: ColumnId, numbers: Option<Numbers>) -> Self {
        let owner = catalog.table(table);
        let column = owner.column(id);
        let is_key = owner.primary_key.as_ref().is_some_and(|key| key.columns == [id]);
        let is_filled = column.has_default || column.generated;
        let own = is_filled.then_some(ColumnSource::Identity);
        let reference = owner.foreign_keys.iter().find(|key| key.columns == [id]);
        Self {
            name: column.name.clone(),
            ty: column.declared.clone(),
            is_key,
            nullable: column.nullable,
            only: None,
            source: numbers.filter(|_| is_key).map(ColumnSource::Numbers).or(own),
            reference: reference.map(|key| Reference::of(catalog, owner, key)),
        }
    }

    /// A column that is not null.
    pub fn not_null(name: &str, ty: &str) -> Self {
        Self { nullable: false, ..Self::optional(name, ty) }
    }

    /// A column that may be null.
    pub fn optional(name: &str, ty: &str) -> Self {
        let name = name.to_owned();
        let ty = ty.to_owned();
        Self { name, ty, is_key: false, nullable: true, only: None, source: None, reference: None }
    }

    /// The column as the primary key.
    #[must_use]
    pub fn key(self) -> Self {
        Self { is_key: true, ..self }
    }
}

impl Reference {
    pub fn of(catalog: &Catalog, owner: &catalog::Table, key: &catalog::ForeignKey) -> Self {
        let target = catalog.table(key.target);
        Self {
            name: key.name.clone(),
            columns: names(owner, &key.columns),
            table: target.name.clone(),
            to: names(target, &key.target_columns),
        }
    }
}

fn names(table: &catalog::Table, columns: &[ColumnId]) -> Vec<String> {
    columns.iter().map(|it| table.column(*it).name.clone()).collect()
}

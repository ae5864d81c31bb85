//! What a database has: tables, columns, keys. The same for every database.
//!
//! **Invariant:** ids are places in the tables of one catalog.

/// The place of a table in [`Catalog::tables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId(pub u32);

/// The place of a column in [`Table::columns`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColumnId(pub u32);

/// All tables that were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    /// In the order of their names.
    pub tables: Vec<Table>,
}

/// A table or view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The database's schema; `main` on SQLite.
    pub schema: String,
    /// Its name in the database.
    pub name: String,
    /// Table or view.
    pub kind: TableKind,
    /// In their order in the database.
    pub columns: Vec<Column>,
    /// The primary key, if there is one.
    pub primary_key: Option<UniqueKey>,
    /// Other unique keys (constraints and, on SQLite, unique indexes without a condition).
    pub unique_keys: Vec<UniqueKey>,
    /// References to other tables.
    pub foreign_keys: Vec<ForeignKey>,
    /// The comment in the database, or empty.
    pub comment: String,
    /// For views: what the database says can be done.
    pub insertable: bool,
    /// As above.
    pub updatable: bool,
    /// As above.
    pub deletable: bool,
}

/// What kind of relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// Rows of its own.
    Table,
    /// A stored query.
    View,
    /// A stored query with stored rows.
    MaterializedView,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name in the database.
    pub name: String,
    /// The type as declared, for messages.
    pub declared: String,
    /// What Weir makes of it.
    pub ty: ColumnType,
    /// May be null.
    pub nullable: bool,
    /// Has a default, or is filled by the database.
    pub has_default: bool,
    /// Computed by the database: cannot be written.
    pub generated: bool,
    /// The comment in the database, or empty.
    pub comment: String,
}

/// A type as Weir knows it. The GraphQL scalar, the reader and the operators follow from it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ColumnType {
    SmallInt,
    Int,
    BigInt,
    Real,
    Double,
    Numeric,
    Money,
    Boolean,
    Text,
    Char,
    CiText,
    Uuid,
    Date,
    Timestamp,
    TimestampTz,
    Time,
    TimeTz,
    Interval,
    Json,
    Jsonb,
    Bytes,
    /// Any other, by the database's name for it.
    Other(String),
}

/// A primary or unique key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniqueKey {
    /// The constraint's name; made up where the database has none.
    pub name: String,
    /// Its columns, in its order.
    pub columns: Vec<ColumnId>,
}

/// A foreign key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    /// The constraint's name; made up where the database has none.
    pub name: String,
    /// This table's columns.
    pub columns: Vec<ColumnId>,
    /// The table referred to.
    pub target: TableId,
    /// Its columns, in the same order.
    pub target_columns: Vec<ColumnId>,
}

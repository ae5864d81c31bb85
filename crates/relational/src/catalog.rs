//! Catalog of a database: tables, columns, keys. The same for every database.
//!
//! **Invariant:** ids are places in the tables of one catalog.

pub mod abilities;
pub mod facts;
pub mod postgres_types;
mod relations;

pub use relations::{
    Callable, FunctionId, Relations, Relationship, RelationshipId, RelationshipKind, Through,
};

/// The place of a table in [`Catalog::tables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId(pub u32);

/// The place of a column in [`Table::columns`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColumnId(pub u32);

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ColumnAt {
    pub table: TableId,
    pub column: ColumnId,
}

/// All tables that were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    /// In the order of their names.
    pub tables: Vec<Table>,
    /// The schema whose tables are named without it: `main` on SQLite, `public` on PostgreSQL.
    pub default_schema: &'static str,
    /// Functions that could be tracked; empty where none was asked for.
    pub functions: Vec<Function>,
    /// Comparison, order and grouping of each type's values.
    pub abilities: abilities::TypeAbilities,
}

/// A table or view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The database's schema; `main` on SQLite.
    pub schema: String,
    /// Name in the database.
    pub name: String,
    /// Table or view.
    pub kind: TableKind,
    /// In their order in the database.
    pub columns: Vec<Column>,
    /// The primary key, if there is one.
    pub primary_key: Option<UniqueKey>,
    /// Other unique keys (constraints and, on SQLite, unique indexes without a condition).
    pub unique_keys: Vec<UniqueKey>,
    /// Keys that an upsert may name.
    pub arbiters: Vec<Arbiter>,
    /// References to other tables.
    pub foreign_keys: Vec<ForeignKey>,
    /// The comment in the database, or empty.
    pub comment: String,
    /// For views: rows can be inserted.
    pub insertable: bool,
    /// For views: rows can be updated.
    pub updatable: bool,
    /// For views: rows can be deleted.
    pub deletable: bool,
    /// About how many rows it has, where the database keeps count.
    pub rows_estimate: Option<u64>,
    /// All columns that the database has are here: the role may read each.
    pub is_whole: bool,
    /// True if a write has further effects: triggers, rules, inheritance.
    pub acts: bool,
    /// True if triggers may change a written row after the statement has returned it.
    pub acts_late: bool,
    /// True if some index of it lacks rows for this database: none may be used.
    pub has_broken_index: bool,
    /// The nodes that hold its rows.
    pub placement: Placement,
}

/// The nodes of a database that hold the rows of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// The node that answers; every table of a database of one node.
    #[default]
    Local,
    /// Every node has all rows.
    Reference,
    /// Each row is on one shard, by the value of a column.
    Sharded {
        /// The distribution column.
        column: ColumnId,
        /// Tables of one colocation keep equal values on one node.
        colocation: u32,
    },
    /// All rows are on one shard, as those of all tables of a schema that is spread as a whole.
    Single {
        /// Tables of one colocation are on one node.
        colocation: u32,
    },
}

/// Kinds of relations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// A table with rows of its own.
    Table,
    /// A stored query.
    View,
    /// A stored query with stored rows.
    MaterializedView,
    /// The rows of statements of the configuration: it is in no database, and only calls give its rows.
    Model,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name in the database.
    pub name: String,
    /// The type as declared, for messages.
    pub declared: String,
    /// The column's type in Weir.
    pub ty: ColumnType,
    /// The number of its type in PostgreSQL's catalog; 0 on SQLite.
    pub oid: u32,
    /// May be null.
    pub nullable: bool,
    /// Has a default, or is filled by the database.
    pub has_default: bool,
    /// The database computes the value; it cannot be written.
    pub generated: bool,
    /// The role may give it a value in a new row.
    pub insertable: bool,
    /// The role may change it.
    pub updatable: bool,
    /// Computed whenever it is read, by an expression that may fail: of a view, or not stored. So is each column of a view that selects
    /// its rows by such an expression.
    pub derived: bool,
    /// Holds texts that can be equal and differ in their bytes: its collation is not deterministic.
    pub folds: bool,
    /// An index finds equal texts by their first [`PREFIX_CHARACTERS`] characters.
    pub by_prefix: bool,
    /// May hold values of other types than its own, as columns of SQLite do outside of `STRICT` tables.
    pub is_loose: bool,
    /// Ways in which it holds equal values.
    pub storage: Storage,
    /// The comment in the database, or empty.
    pub comment: String,
}

/// Ways in which a column holds its values. Where there are several, equal values of the API differ for the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// One form: the database compares values as the API does.
    #[default]
    Exact,
    /// Texts, or bytes that are given as a text of their digits.
    Texts,
    /// Truths as 0 and 1, or as words.
    Truths,
    /// UUIDs as text or as 16 bytes.
    Uuids,
    /// Bytes as such, or as a text.
    Bytes,
    /// Documents as text, as the bytes of a text, or in binary.
    Documents,
    /// Numbers, texts and bytes, all given as text.
    Anything,
}

/// Prefix length of an index on texts that may exceed the row size of a B-tree: at most 2 000 bytes.
pub const PREFIX_CHARACTERS: usize = 500;

/// PostgreSQL's name for the type of questions about paths of labels.
pub const LQUERY: &str = "lquery";
/// PostgreSQL's name for the type of queries about labels in any order.
pub const LTXTQUERY: &str = "ltxtquery";

/// A type as Weir knows it. What follows from it stands in [`facts`].
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
    /// PostgreSQL's paths of labels.
    Ltree,
    /// PostGIS's shapes on a plane.
    Geometry,
    /// PostGIS's shapes on the globe.
    Geography,
    /// PostGIS's grids of numbers.
    Raster,
    /// Labels in an order of their own, by the database's name for it.
    Enum(String),
    /// Fields, by the database's name for it.
    Composite(String),
    /// Many of another, in any number of dimensions; never of an array.
    Array(Box<ColumnType>),
    /// Any other, by the database's name for it.
    Other(String),
}

/// A primary or unique key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniqueKey {
    /// The constraint's name; made up where the database has none.
    pub name: String,
    /// Columns of the key, in the key's order.
    pub columns: Vec<ColumnId>,
}

/// A key that an upsert may name: rows that have it in common are one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arbiter {
    /// The name of its constraint or index; made up where the database has none.
    pub name: String,
    /// Columns in the key's order; for an index over expressions or with a condition, all columns that it reads.
    pub columns: Vec<ColumnId>,
    /// The form in which `ON CONFLICT` names it.
    pub target: ConflictTarget,
}

/// Ways in which a statement says which key a row must not have in common with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConflictTarget {
    /// By the constraint's name where the database supports it, else by its columns.
    Constraint,
    /// By its columns, because an index has no name in a statement.
    Columns,
    /// By the database's text of an index over expressions, with a condition, or with an order of its own.
    Index(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    /// The constraint's name; made up where the database has none.
    pub name: String,
    /// This table's columns.
    pub columns: Vec<ColumnId>,
    /// The table referred to.
    pub target: TableId,
    /// Referenced columns, in the order of `columns`.
    pub target_columns: Vec<ColumnId>,
    /// True if every row satisfies it; one added as `NOT VALID` applies to new rows only.
    pub holds: bool,
    /// True if the database guarantees it in every snapshot. On SQLite each writer decides for itself.
    pub enforced: bool,
    /// Within a transaction a row may break it, until the end.
    pub deferrable: bool,
    /// Action when the referenced row is deleted.
    pub on_delete: Follow,
    /// Action when the referenced key changes.
    pub on_update: Follow,
}

/// Action of a foreign key when the referenced row changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// Nothing: it is refused while there are any.
    Nothing,
    /// Referencing rows are deleted too.
    Delete,
    /// The columns of their key change.
    Update,
}

/// A function of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub schema: String,
    /// Name in the database.
    pub name: String,
    /// Arguments, in order.
    pub arguments: Vec<Argument>,
    /// The number of the type it returns.
    pub returns: u32,
    /// The result's type in Weir, if a column could have it.
    pub ty: Option<ColumnType>,
    /// The table whose rows it returns.
    pub table: Option<TableId>,
    /// True if it returns a set of rows.
    pub is_set: bool,
    /// Volatility of the function, as declared.
    pub volatility: Volatility,
    /// The comment in the database, or empty.
    pub comment: String,
    /// The statement that gives its rows, if it is one of the configuration instead of a function of the database.
    pub code: Option<Box<[CodePart]>>,
}

/// A part of a statement of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodePart {
    /// SQL of its author.
    Text(Box<str>),
    /// The value of the argument at this place.
    Argument(u32),
}

/// An argument of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Name of the argument, or empty.
    pub name: String,
    /// The number of its type.
    pub oid: u32,
    /// The argument's type in Weir.
    pub ty: ColumnType,
    /// The table a row of which it takes, as computed fields do.
    pub table: Option<TableId>,
    /// May be left out.
    pub has_default: bool,
    /// Takes any number of values, as an array.
    pub is_variadic: bool,
}

/// Declared volatility of a PostgreSQL function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Volatility {
    /// The result depends on the arguments alone.
    Immutable,
    /// The result does not change within a statement.
    Stable,
    /// May change data.
    Volatile,
}

/// A row of an enum table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumTableValue {
    /// The value, a valid GraphQL name.
    pub value: String,
    /// Comment of the value, or empty.
    pub comment: String,
}

/// Something that was left out or changed, and why. The rest is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The subject: a table, or a table and its column or relationship.
    pub place: String,
    /// The reason, for the operator.
    pub reason: String,
    /// Place of the cause in the source's configuration; empty if the database is the cause.
    pub entry: Vec<ConfigStep>,
}

/// A step of a path in a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigStep {
    /// A key of a mapping.
    Key(String),
    /// An item of a list, counted from 0.
    Item(usize),
}

impl From<&str> for ConfigStep {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<usize> for ConfigStep {
    fn from(item: usize) -> Self {
        Self::Item(item)
    }
}

impl Warning {
    /// Something about `place` that no entry of a configuration is to blame for.
    pub fn new(place: String, reason: String) -> Self {
        Self { place, reason, entry: Vec::new() }
    }
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`: {}", self.place, self.reason)
    }
}

impl ColumnType {
    /// Element type of an array.
    pub fn element(&self) -> Option<&Self> {
        if let Self::Array(element) = self { Some(element) } else { None }
    }

    /// The database's own name for it or its elements, where there is no other.
    pub fn own_name(&self) -> Option<&str> {
        match self.element().unwrap_or(self) {
            Self::Enum(name) | Self::Composite(name) | Self::Other(name) => Some(name),
            _ => None,
        }
    }
}

impl Catalog {
    /// True if it is of SQLite: the types of other databases have numbers.
    pub fn is_sqlite(&self) -> bool {
        self.tables.iter().flat_map(|it| &it.columns).next().is_none_or(|it| it.oid == 0)
    }

    pub fn table(&self, id: TableId) -> &Table {
        &self.tables[id.0 as usize]
    }
    /// True if types have numbers, as PostgreSQL's own have, whose operators are known.
    pub fn has_numbered_types(&self) -> bool {
        self.tables.iter().flat_map(|it| &it.columns).any(|it| it.oid != 0)
    }
    /// True if rows of some table are on shards.
    pub fn has_shards(&self) -> bool {
        let has_shard =
            |it: &Table| matches!(it.placement, Placement::Sharded { .. } | Placement::Single { .. });
        self.tables.iter().any(has_shard)
    }
    /// The table called `name` in `schema`, or in any if `schema` is empty.
    pub fn find(&self, schema: &str, name: &str) -> Option<TableId> {
        let found = |table: &Table| {
            table.name == name
                && (schema.is_empty() || table.schema == schema)
                && table.kind != TableKind::Model
        };
        self.tables.iter().position(found).map(|at| TableId(at as u32))
    }
}

impl Table {
    pub fn column(&self, id: ColumnId) -> &Column {
        &self.columns[id.0 as usize]
    }
    /// The column called `name`.
    pub fn find(&self, name: &str) -> Option<ColumnId> {
        self.columns.iter().position(|column| column.name == name).map(|at| ColumnId(at as u32))
    }
    /// Lets upserts name the primary key and all unique keys, as constraints.
    pub fn offer_all_keys(&mut self) {
        let keys = self.primary_key.iter().chain(&self.unique_keys);
        let arbiter = |key: &UniqueKey| Arbiter {
            name: key.name.clone(),
            columns: key.columns.clone(),
            target: ConflictTarget::Constraint,
        };
        self.arbiters = keys.map(arbiter).collect();
    }
    /// True if at most one row has the same values in `columns`.
    pub fn is_unique(&self, columns: &[ColumnId]) -> bool {
        let mut keys = self.primary_key.iter().chain(&self.unique_keys);
        keys.any(|key| key.columns.iter().all(|column| columns.contains(column)))
    }
}

//! Tables of a model in a database: a readable table per type, described in `docs/sources/native-store.md`.
//!
//! The catalog is not read from a database but decided here, so that readers, writers, migrations and bulk loads agree
//! on every name.
//!
//! **Invariant:** the same model gives the same layout; `tables` and `all` are parallel to the model's types, `fields` to
//! its fields.

mod columns;
mod edges;
mod indexes;
mod layout_builder;
#[cfg(test)]
mod tests;
mod text_bounds;
mod used_names;

pub(crate) use indexes::comparable_column;
pub use indexes::index_kind;

use crate::model::{FieldId, Model};
use smallvec::SmallVec;
use weir_relational::catalog::{ColumnId, Relations, RelationshipId, TableId};
pub use weir_relational::dialect::Database;
pub use weir_relational::plan::ddl::IndexKind;

/// Columns of one table.
pub(crate) type ColumnIds = SmallVec<[ColumnId; 8]>;

/// Tables, columns and edges of a model.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Every table and view, every edge as a relationship. Names of relationships are those of the fields.
    pub relations: Relations,
    /// By type: an object's table, or the registry (`id`, `type`) of an interface or union.
    pub tables: Vec<TableId>,
    /// By type: the column of the object's number in `tables`.
    pub ids: Vec<ColumnId>,
    /// By type: the registry column of an abstract type with the object type of a row.
    pub kinds: Vec<Option<ColumnId>>,
    /// By type: an interface's view over the rows of all its objects.
    pub all: Vec<Option<View>>,
    /// By type: the column with the hash of its password.
    pub secrets: Vec<Option<ColumnId>>,
    /// By field: where it is stored. For a field of an interface: its columns in the view; the registry has keys only.
    pub fields: Vec<Storage>,
    /// By field: for an edge to an interface, the relationship to its view; `Storage::…::by` leads to the registry.
    pub to_all: Vec<Option<RelationshipId>>,
    /// By field: for an interface's `@id(interface: true)`, its column in the registry.
    pub registry_keys: Vec<Option<ColumnId>>,
    /// By field: maximum bytes of a text, if an index holds whole texts of it.
    pub bytes_max: Vec<Option<usize>>,
    /// Every index but those of primary keys.
    pub indexes: Vec<Index>,
}

impl Layout {
    /// Lays `model` out for `database`, in its schema `schema`.
    pub fn new(model: &Model, database: Database, schema: &str) -> Self {
        layout_builder::build(model, database, schema)
    }

    pub fn index(&self, table: TableId, column: ColumnId, kind: IndexKind) -> Option<&Index> {
        let same = |it: &&Index| it.table == table && it.kind == kind && it.columns.first() == Some(&column);
        self.indexes.iter().find(same)
    }
}

/// The rows of all objects of an interface, by `UNION ALL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The view. Its columns have the names of the interface's fields.
    pub table: TableId,
    /// The number of the object.
    pub id: ColumnId,
    /// The name of its type.
    pub kind: ColumnId,
    /// By member of the interface: for each column of the view, the member's column; `None` for `kind`.
    pub members: Vec<Vec<Option<ColumnId>>>,
}

/// Storage of a field's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// The number of the object itself.
    Id(ColumnId),
    /// A single column, unchanged.
    Column(ColumnId),
    /// A DateTime.
    Instant {
        /// The normalised text, which answers contain.
        text: ColumnId,
        /// Microseconds since 1970 in UTC, used by filters, order and aggregates.
        at: ColumnId,
    },
    #[allow(missing_docs)]
    Point { longitude: ColumnId, latitude: ColumnId },
    /// A Polygon or MultiPolygon.
    Shape {
        /// GeoJSON's `coordinates`.
        text: ColumnId,
        /// The least longitude and latitude, the greatest longitude and latitude.
        bounds: [ColumnId; 4],
    },
    /// Many values, in a table of their own.
    Values {
        table: TableId,
        /// Column with the number of the object.
        owner: ColumnId,
        /// Column with the order of insertion, filled by the database.
        place: ColumnId,
        value: ColumnId,
        /// Column with the microseconds of a DateTime.
        at: Option<ColumnId>,
        /// Relationship from the object's table to the table of values.
        by: RelationshipId,
    },
    /// At most one other object: its number is in a column of ours.
    ToOne {
        /// Our column.
        column: ColumnId,
        /// Relationship to the other's table.
        by: RelationshipId,
    },
    /// At most one other object: it has our number, which is unique there.
    ToOneBack {
        /// The other's table, or the view of its interface.
        table: TableId,
        /// Column with our number.
        column: ColumnId,
        /// Relationship to the other's table.
        by: RelationshipId,
    },
    /// Many others: they have our number.
    ToMany {
        /// The others' table, or the view of their interface.
        table: TableId,
        /// Column with our number.
        column: ColumnId,
        /// Relationship to the others' table.
        by: RelationshipId,
    },
    /// Many others, in a table of pairs.
    Join {
        /// The table of pairs.
        table: TableId,
        /// Column with our number.
        ours: ColumnId,
        /// Column with the number of the other object.
        theirs: ColumnId,
        /// Relationship to the other's table, through the table of pairs.
        by: RelationshipId,
    },
}

impl Storage {
    /// The columns of a single value, in the order in which its parts come: first a text, or a longitude.
    pub(crate) fn columns(&self) -> ColumnIds {
        match *self {
            Self::Column(column) => ColumnIds::from_slice(&[column]),
            Self::Instant { text, at } => ColumnIds::from_slice(&[text, at]),
            Self::Point { longitude, latitude } => ColumnIds::from_slice(&[longitude, latitude]),
            Self::Shape { text, bounds } => [text].into_iter().chain(bounds).collect(),
            _ => ColumnIds::new(),
        }
    }

    /// The column of the one other object's number, if it is in the object's own table.
    pub(crate) fn to_one(self) -> Option<ColumnId> {
        if let Self::ToOne { column, .. } = self { Some(column) } else { None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// Name of the index; for a separate table, the table's name.
    pub name: String,
    pub table: TableId,
    /// The columns, in order.
    pub columns: Vec<ColumnId>,
    pub kind: IndexKind,
    /// The field whose `@search` or `@id` asks for it.
    pub field: Option<FieldId>,
}

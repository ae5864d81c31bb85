//! Relationships between the tables of a catalog, and the functions that plans call.
//!
//! **Invariant:** ids are places in the tables of one [`Relations`].

use super::{Catalog, ColumnId, Function, Placement, TableId};

/// The place of a relationship in [`Relations::relationships`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RelationshipId(pub u32);

/// The place of a function in [`Relations::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// A catalog with the relationships and functions of a front end: the tables that a plan's ids refer to.
#[derive(Clone, Debug, Default)]
pub struct Relations {
    /// The tables and functions of the database.
    pub catalog: Catalog,
    pub relationships: Vec<Relationship>,
    /// The functions that plans call.
    pub functions: Vec<Callable>,
}

/// A function of the catalog, with the arguments that Weir fills itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Callable {
    /// The place of the function in [`Catalog::functions`].
    pub function: u32,
    /// The place of the argument that takes a row; `None`: the function is called without a row.
    pub row: Option<u32>,
    /// The place of the argument that takes the session as JSON.
    pub session: Option<u32>,
}

/// A way from the rows of one table to those of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relationship {
    /// The field's name.
    pub name: String,
    /// Table that has the relationship.
    pub from: TableId,
    /// Table that it leads to.
    pub to: TableId,
    /// Description of the field instead of the usual one; an empty text is none.
    pub comment: Option<String>,
    /// Pairs of columns that are equal: ours, theirs.
    pub on: Vec<(ColumnId, ColumnId)>,
    /// The function of our row that gives theirs, instead of columns that are equal.
    pub call: Option<FunctionId>,
    /// The table of pairs that holds one column of ours beside one of theirs, where rows are not related by themselves:
    /// `on` is then one pair alone.
    pub through: Option<Through>,
    /// To one row or to many.
    pub kind: RelationshipKind,
    /// For nested inserts: true if the related row is inserted first, because its key is stored in ours.
    pub insert_first: bool,
    /// The database sees to it that where our columns are not null the related row is there.
    pub enforced: bool,
    /// Within a transaction it may be otherwise, until the end.
    pub deferrable: bool,
}

/// A table of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Through {
    pub table: TableId,
    pub ours: ColumnId,
    /// Column of the related table.
    pub theirs: ColumnId,
}

/// Number of related rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelationshipKind {
    /// At most one row.
    Object {
        /// True if there always is one: a foreign key of this table whose columns are all NOT NULL.
        certain: bool,
    },
    /// Any number of rows.
    Array,
}

impl Relations {
    pub fn relationship(&self, id: RelationshipId) -> &Relationship {
        &self.relationships[id.0 as usize]
    }

    /// True if the node that has a row has the rows along a relationship too.
    pub fn is_colocated(&self, by: RelationshipId) -> bool {
        let related = self.relationship(by);
        let placement = |table| self.catalog.table(table).placement;
        match (placement(related.from), placement(related.to)) {
            (
                Placement::Sharded { column: ours, colocation },
                Placement::Sharded { column: theirs, colocation: other },
            ) => colocation == other && related.on.contains(&(ours, theirs)),
            (Placement::Single { colocation }, Placement::Single { colocation: other }) => {
                colocation == other
            }
            (
                Placement::Local | Placement::Reference,
                Placement::Sharded { .. } | Placement::Single { .. },
            )
            | (Placement::Sharded { .. } | Placement::Single { .. }, Placement::Local)
            | (Placement::Sharded { .. }, Placement::Single { .. })
            | (Placement::Single { .. }, Placement::Sharded { .. }) => false,
            (_, Placement::Reference) | (Placement::Local | Placement::Reference, Placement::Local) => true,
        }
    }

    /// True if a query of the rows along `by` has to be planned by itself: else the planner of shards joins the tables, and finds that
    /// they are spread in different ways.
    pub fn is_planned_apart(&self, by: RelationshipId) -> bool {
        let related = self.relationship(by);
        let placement = |table| self.catalog.table(table).placement;
        match (placement(related.from), placement(related.to)) {
            (Placement::Sharded { column: ours, .. }, Placement::Sharded { column: theirs, .. }) => {
                related.on.contains(&(ours, theirs)) && !self.is_colocated(by)
            }
            (Placement::Single { .. }, _) | (_, Placement::Single { .. }) => !self.is_colocated(by),
            (
                Placement::Local | Placement::Reference | Placement::Sharded { .. },
                Placement::Local | Placement::Reference | Placement::Sharded { .. },
            ) => false,
        }
    }

    /// The function with this id, and its entry in the catalog.
    pub fn function(&self, id: FunctionId) -> (&Callable, &Function) {
        let callable = &self.functions[id.0 as usize];
        (callable, &self.catalog.functions[callable.function as usize])
    }
}

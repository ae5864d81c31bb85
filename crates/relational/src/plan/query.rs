//! A query over one table: filter, order, page and output columns.

use super::operators::{Aggregation, Cast, Comparison, Statistic};
use super::{Filter, Origin, Parameter, Purpose, Scan};
use crate::catalog::{ColumnId, FunctionId, Relations, RelationshipId, TableId, Through};

/// Select, Filter, Order, Page, Nest over one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The rows.
    pub scan: Scan,
    /// The function that gives its rows instead.
    pub call: Option<Call>,
    /// For a nested query: the column tied to an output column of the parent's row. With `through`, a column of the table of pairs.
    pub nest: Vec<(Tie, u16)>,
    /// The table of pairs, and our column that equals its `theirs`.
    pub through: Option<(Through, ColumnId)>,
    pub filter: Filter,
    /// Keeps one row per value of these columns, the first by `order`.
    pub distinct_on: Vec<ColumnId>,
    pub order: Vec<Order>,
    pub page: Page,
    /// Result of the query.
    pub output: Output,
}

impl Query {
    pub const fn table(&self) -> TableId {
        self.scan.table()
    }

    /// The output columns.
    pub fn columns(&self) -> &[Expr] {
        match &self.output {
            Output::Rows(columns) | Output::Aggregate(columns) | Output::Groups { columns, .. } => columns,
        }
    }

    /// The key of parents in memory that `column` has to equal, if there is one.
    pub fn key_of_parents(&self, column: ColumnId) -> Option<Origin> {
        let mut ties = self.nest.iter().filter(|_| self.through.is_none());
        let tied = ties.find(|it| it.0 == Tie::Column(column)).map(|it| Origin::ParentColumn(it.1));
        tied.or_else(|| compared_key(&self.filter, column))
    }

    /// The query with its order reversed.
    pub fn to_reversed(&self) -> Self {
        Self { order: self.order.iter().map(Order::to_reversed).collect(), ..self.clone() }
    }
}

/// The key of parents in another source that a conjunct of `filter` compares `column` with.
fn compared_key(filter: &Filter, column: ColumnId) -> Option<Origin> {
    match filter {
        Filter::All(parts) => parts.iter().find_map(|it| compared_key(it, column)),
        Filter::Compare {
            of: Expr::Column(of) | Expr::Key(of),
            by: Comparison::Eq | Comparison::In,
            with: Parameter { origin: origin @ Origin::Parent(_), .. },
        } if *of == column => Some(origin.clone()),
        _ => None,
    }
}

/// Relation of rows to their parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tie {
    /// Our column is equal.
    Column(ColumnId),
    /// The function that gives the rows is called with the parent's row.
    Row,
}

/// A call of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub function: FunctionId,
    /// Arguments by their places in the catalog; those that are not here take their defaults. `None` is null.
    pub arguments: Vec<(u32, Option<Parameter>)>,
}

/// The columns of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A row per row of the table.
    Rows(Vec<Expr>),
    /// A single row over all rows that are left after filter and page.
    Aggregate(Vec<Expr>),
    /// A row per group; order and page are the groups'.
    Groups {
        /// Columns of a group.
        by: Vec<ColumnId>,
        /// Result columns.
        columns: Vec<Expr>,
        /// Condition on groups.
        having: Box<Filter>,
    },
}

/// Limit and offset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Maximum number of rows.
    pub limit: Option<Parameter>,
    /// Number of rows to skip.
    pub offset: Option<Parameter>,
    /// Takes the last rows instead of the first, still in their order.
    pub from_end: bool,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A column of the current table.
    Column(ColumnId),
    /// A column of the current table that only ties related rows to this one: a policy hides it from clients, not from joins.
    Key(ColumnId),
    /// A part of a JSON value.
    JsonPath(Box<Expr>, Parameter),
    /// Function of the current row.
    Computed(Call),
    /// The current row as text, to call functions with it later.
    Row,
    /// The transactions that the statement does not see as they run, as PostgreSQL's text of a snapshot: `xmin:xmax:xid,…`. Null where
    /// the database does not tell.
    Snapshot,
    /// `null`.
    Null,
    /// Number of rows; with columns, of those without nulls.
    Count {
        /// Counted columns; empty counts rows.
        columns: Vec<ColumnId>,
        /// Each value once.
        distinct: bool,
    },
    /// A function over a column.
    Function(Aggregation, ColumnId),
    /// The least or greatest point in time, as it was written.
    Instant {
        /// Least or greatest.
        function: Aggregation,
        /// Column of the original text.
        text: ColumnId,
        /// In microseconds since 1970.
        at: ColumnId,
    },
    /// A function that only conditions on related rows know.
    Statistic {
        function: Statistic,
        /// Over these: one or two.
        columns: Vec<ColumnId>,
        /// Each value once.
        distinct: bool,
    },
    /// A value of the related row, or a function over the related rows.
    Related {
        /// The way there.
        by: RelationshipId,
        /// The related rows.
        scan: Scan,
        /// Condition on the related rows.
        filter: Box<Filter>,
        /// Expression over them.
        of: Box<Expr>,
    },
    /// A value as another type.
    Cast(Box<Expr>, Cast),
}

impl Expr {
    /// `of` over the rows along `by` that fulfil `filter`.
    pub fn over_related(relations: &Relations, by: RelationshipId, filter: Filter, of: Self) -> Self {
        let scan = Scan::of(relations.relationship(by).to, Purpose::Value);
        Self::Related { by, scan, filter: Box::new(filter), of: Box::new(of) }
    }
}

/// A term of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Expression to sort by.
    pub of: Expr,
    /// Largest first.
    pub descending: bool,
    /// Nulls before the rest.
    pub nulls_first: bool,
    /// True if the expression can be null.
    pub nullable: bool,
}

impl Order {
    /// The order with directions and places of nulls reversed.
    pub fn to_reversed(&self) -> Self {
        let Self { of, descending, nulls_first, nullable } = self.clone();
        Self { of, descending: !descending, nulls_first: !nulls_first, nullable }
    }
}

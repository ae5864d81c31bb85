//! Conditions on rows.
//!
//! **Invariant:** as of the whole plan: no value of a request, only where it is found.

use super::operators::{Comparison, Measure, Sign};
use super::{Expr, Parameter, Purpose, Query, Scan};
use crate::catalog::{ColumnId, Relations, RelationshipId, TableId};
use crate::values::geometry::Placed;
use crate::values::text_search::Words;

/// A condition on a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    /// All hold; true when empty.
    All(Vec<Filter>),
    /// At least one filter holds; false when empty.
    Any(Vec<Filter>),
    /// The filter does not hold.
    Not(Box<Filter>),
    /// The filter does not hold, or is null because a value is missing.
    NotTrue(Box<Filter>),
    /// The filter holds, tested only on rows that the policies of the scans around it show: it may fail by the row.
    Behind {
        /// The condition.
        filter: Box<Filter>,
        /// True if a cheap part of the condition stands before the policy too, where an index answers it.
        is_halved: bool,
        /// An index that may have answered it does not.
        loses_index: bool,
    },
    /// A column of texts holds one of these names: of types, which need no binding.
    Named {
        of: ColumnId,
        /// Valid names of GraphQL.
        names: Vec<Box<str>>,
    },
    /// A text has words.
    Words {
        /// The column of the row's number, by which indexes apart from the table know it.
        key: ColumnId,
        /// The text.
        of: ColumnId,
        /// The names of such indexes.
        indexes: Vec<Box<str>>,
        /// Language of the words.
        kind: Words,
        /// The words.
        with: Parameter,
    },
    /// The filter holds for each word of a text, to which all [`Filter::Words`] in it refer.
    Each {
        /// The words: [`super::Reader::EachWord`].
        with: Parameter,
        /// Condition on each.
        filter: Box<Filter>,
    },
    /// A place stands to another as is said.
    Place {
        /// The column of the row's number, by which indexes apart from the table know it.
        key: ColumnId,
        /// The names of such indexes; those of all rows, or none.
        indexes: Vec<Box<str>>,
        /// West, south, east and north: its bounds.
        bounds: [ColumnId; 4],
        /// Longitude and latitude, or a text of coordinates.
        of: Vec<ColumnId>,
        /// The relation.
        by: Placed,
        /// The other place, and a distance in metres.
        with: Vec<Parameter>,
    },
    /// A test for null.
    Null {
        /// The value.
        of: Expr,
        /// True if the value has to be null, false if it must not be.
        is: bool,
    },
    /// A test of a value of the request for null.
    Missing {
        /// The value.
        with: Parameter,
        /// An expression of its type.
        like: Expr,
        /// True if the value has to be null, false if it must not be.
        is: bool,
    },
    /// A comparison.
    Compare {
        /// Left side.
        of: Expr,
        /// The operator.
        by: Comparison,
        /// Right side.
        with: Parameter,
    },
    /// A comparison with several values.
    Measure {
        /// Left side.
        of: Expr,
        /// The comparison.
        by: Measure,
        /// The values, in its order.
        with: Vec<Option<Parameter>>,
    },
    /// A comparison with another column. Null as in SQL.
    Columns {
        /// Left side.
        of: Expr,
        /// The comparison.
        by: Sign,
        /// The row that has the column.
        row: RowAt,
        /// Right side.
        with: ColumnId,
    },
    /// The row is one of those that a query over its table gives.
    Among {
        /// The key that identifies a row: output columns of the query.
        key: Vec<ColumnId>,
        /// The query. [`RowAt::Root`] in its condition is the current row.
        query: Box<Query>,
    },
    /// A row in a table fulfils a condition, related to the current row or not.
    Somewhere {
        /// The rows.
        scan: Scan,
        /// Condition on the counted rows.
        filter: Box<Filter>,
    },
    /// A related row fulfils a condition.
    Exists {
        /// The way there.
        by: RelationshipId,
        /// The related rows.
        scan: Scan,
        /// Condition on the counted rows.
        filter: Box<Filter>,
    },
}

/// A pattern with which a condition of a plan compares, to be judged before a row is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The comparison, which says nothing of the kind of `not`.
    pub by: Comparison,
    /// The pattern.
    pub with: Parameter,
    /// The level that is asked with it; `None`: a change.
    pub level: Option<u32>,
}

/// The row of a compared column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowAt {
    /// The current row.
    Here,
    /// The row that the policy restricts, or that [`Filter::Among`] looks for, of this table, however deep in conditions on other
    /// rows.
    Root(TableId),
}

impl Default for Filter {
    fn default() -> Self {
        Self::TRUE
    }
}

impl Filter {
    /// Always true.
    pub const TRUE: Self = Self::All(Vec::new());

    /// The condition that a row along `by` fulfils `filter`.
    pub fn exists(relations: &Relations, by: RelationshipId, filter: Self) -> Self {
        let scan = Scan::of(relations.relationship(by).to, Purpose::Exists);
        Self::Exists { by, scan, filter: Box::new(filter) }
    }

    /// The condition that a row of `table` fulfils `filter`.
    pub fn any_row(table: TableId, filter: Self) -> Self {
        Self::Somewhere { scan: Scan::of(table, Purpose::Exists), filter: Box::new(filter) }
    }

    /// `of` is `with`, or both are null; `None` is null. Never unknown: `nullable` says whether `of` can be null.
    pub fn same(of: Expr, nullable: bool, with: Option<Parameter>) -> Self {
        let Some(with) = with else { return Self::Null { of, is: true } };
        let equal = Self::Compare { of: of.clone(), by: Comparison::Eq, with };
        if nullable { Self::All(vec![equal, Self::Null { of, is: false }]) } else { equal }
    }

    /// The opposite of [`Filter::same`].
    pub fn differs(of: Expr, nullable: bool, with: Option<Parameter>) -> Self {
        let Some(with) = with else { return Self::Null { of, is: false } };
        let unequal = Self::Compare { of: of.clone(), by: Comparison::Neq, with };
        if nullable { Self::Any(vec![unequal, Self::Null { of, is: true }]) } else { unequal }
    }

    /// The conditions that hold together: the filter itself, or the parts of its conjunctions at any depth.
    pub(crate) fn conjuncts(&self) -> Vec<&Self> {
        let mut found = Vec::new();
        let mut open = vec![self];
        while let Some(filter) = open.pop() {
            match filter {
                Self::All(parts) => open.extend(parts.iter().rev()),
                single => found.push(single),
            }
        }
        found
    }

    /// The column and the value, if the filter compares a column with a value by `by`.
    pub(crate) fn as_column_comparison(&self, by: Comparison) -> Option<(ColumnId, &Parameter)> {
        match self {
            Self::Compare { of: Expr::Column(column) | Expr::Key(column), by: operator, with }
                if *operator == by =>
            {
                Some((*column, with))
            }
            _ => None,
        }
    }

    /// True for the empty conjunction.
    pub fn is_true(&self) -> bool {
        matches!(self, Self::All(all) if all.is_empty())
    }
}

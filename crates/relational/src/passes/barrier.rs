//! Puts conditions that may fail by the row behind the policy.
//!
//! A database may ask a client's condition of a row before the policy's, and an error, or a condition that takes very long, would tell
//! of a row that the policy hides. Such a condition becomes [`Filter::Behind`]: it is asked only of rows that the policies around it
//! show. One that cannot fail, or fails by its argument alone, stays as it is, and keeps its index.
//!
//! **Invariant:** a part of a condition is matched here by name, so that a new one stops the build until it says how it can fail.
//!
//! **Cost:** one walk over the conditions of a plan; run once per plan and shape of variables.

use crate::catalog::facts::Failing;
use crate::catalog::{ColumnId, ColumnType, Relations, RelationshipId, TableId};
use crate::plan::operators::Comparison;
use crate::plan::write::Change;
use crate::plan::{Expr, Filter, Output, Parameter, Plan, Query, Reader, RowAt, Scan};

/// Puts the conditions of clients in `plan` behind the policies of their scans.
pub(super) fn raise(plan: &mut Plan, relations: &Relations) {
    let mut barrier = Barrier { relations, is_sqlite: relations.catalog.is_sqlite(), unindexed: 0 };
    for level in &mut plan.levels {
        barrier.query(&mut level.query);
    }
    for change in &mut plan.changes {
        barrier.change(change);
    }
    plan.unindexed = barrier.unindexed;
}

struct Barrier<'r> {
    relations: &'r Relations,
    is_sqlite: bool,
    /// Conditions that were put behind the policy and that an index may have answered.
    unindexed: u32,
}

/// True if a condition around the one at hand, or the scan itself, hides rows.
type IsRestricted = bool;

impl Barrier<'_> {
    fn query(&mut self, query: &mut Query) {
        let table = query.table();
        let is_restricted = query.scan.policy().is_some();
        self.filter(&mut query.filter, table, is_restricted);
        // What follows is asked of rows that are shown.
        for term in &mut query.order {
            self.expr(&mut term.of, false);
        }
        match &mut query.output {
            Output::Rows(columns) | Output::Aggregate(columns) => self.exprs(columns),
            Output::Groups { by: _, columns, having } => {
                self.exprs(columns);
                self.filter(having, table, false);
            }
        }
    }

    fn change(&mut self, change: &mut Change) {
        match change {
            Change::Insert(insert) => {
                if let Some(conflict) = &mut insert.conflict {
                    self.rows(&conflict.scan, &mut conflict.filter, false);
                }
                self.exprs(&mut insert.returning);
            }
            Change::Update(update) => {
                self.rows(&update.scan, &mut update.filter, false);
                self.exprs(&mut update.returning);
            }
            Change::Delete(delete) => {
                self.rows(&delete.scan, &mut delete.filter, false);
                self.exprs(&mut delete.returning);
            }
            Change::Call(query) => self.query(query),
        }
    }

    /// The condition on the rows of `scan`.
    fn rows(&mut self, scan: &Scan, filter: &mut Filter, is_restricted: IsRestricted) {
        self.filter(filter, scan.table(), is_restricted || scan.policy().is_some());
    }

    fn filter(&mut self, filter: &mut Filter, table: TableId, is_restricted: IsRestricted) {
        match filter {
            Filter::All(parts) | Filter::Any(parts) => {
                parts.iter_mut().for_each(|it| self.filter(it, table, is_restricted));
            }
            Filter::Not(part) | Filter::NotTrue(part) | Filter::Each { with: _, filter: part } => {
                self.filter(part, table, is_restricted);
            }
            Filter::Exists { by: _, scan, filter } | Filter::Somewhere { scan, filter } => {
                self.rows(scan, filter, is_restricted);
            }
            // Its rows are looked for whatever the row at hand is.
            Filter::Among { key: _, query } => self.query(query),
            Filter::Null { of, .. }
            | Filter::Compare { of, .. }
            | Filter::Measure { of, .. }
            | Filter::Columns { of, .. } => self.expr(of, is_restricted),
            Filter::Named { .. }
            | Filter::Words { .. }
            | Filter::Place { .. }
            | Filter::Missing { .. }
            | Filter::Behind { .. } => {}
        }
        let is_put = match self.failing(filter, table) {
            Failing::Never | Failing::ByArgument => false,
            Failing::ByPattern | Failing::ByRow => is_restricted,
        };
        if is_put {
            let loses_index = self.loses_index(filter, table);
            self.unindexed += u32::from(loses_index);
            *filter = Filter::Behind { filter: Box::new(std::mem::take(filter)), loses_index };
        }
    }

    fn exprs(&mut self, columns: &mut [Expr]) {
        columns.iter_mut().for_each(|it| self.expr(it, false));
    }

    /// The conditions in a value.
    fn expr(&mut self, of: &mut Expr, is_restricted: IsRestricted) {
        match of {
            Expr::JsonPath(of, _) | Expr::Cast(of, _) => self.expr(of, is_restricted),
            Expr::Related { by: _, scan, filter, of } => {
                self.rows(scan, filter, is_restricted);
                self.expr(of, is_restricted);
            }
            Expr::Column(_)
            | Expr::Key(_)
            | Expr::Computed(_)
            | Expr::Row
            | Expr::Snapshot
            | Expr::Null
            | Expr::Count { .. }
            | Expr::Function(..)
            | Expr::Instant { .. }
            | Expr::Statistic { .. } => {}
        }
    }

    /// How a condition itself can fail, apart from those inside it.
    fn failing(&self, filter: &Filter, table: TableId) -> Failing {
        match filter {
            Filter::Null { of, is: _ } => self.value(of, table),
            Filter::Compare { of, by, with } => {
                let own = match with.reader {
                    // Words in a row are no pattern.
                    Reader::Sequence => Failing::ByArgument,
                    _ => by.failing(self.compared(of, with, table), self.is_sqlite),
                };
                let folds = by.takes_pattern() && self.folds(of, table);
                // PostgreSQL takes no pattern for a collation under which unequal bytes are equal, and no one judges values of other
                // rows beforehand.
                let is_late = folds || with.origin.is_of_row() && own != Failing::Never;
                self.value(of, table).and(if is_late { Failing::ByRow } else { own })
            }
            Filter::Measure { of, by, with: _ } => self.value(of, table).and(by.failing()),
            Filter::Columns { of, by: _, row, with } => {
                let there = match row {
                    RowAt::Here => table,
                    RowAt::Root(root) => *root,
                };
                let (own, other) = (self.value(of, table), self.stored(*with, there));
                own.and(other).and(self.type_of(of, table).map_or(Failing::Never, |it| self.order(it)))
            }
            Filter::Exists { by, .. } => self.way(*by, table),
            Filter::Place { .. } if self.is_sqlite => Failing::Never,
            // The product of two small numbers may be too small for PostgreSQL.
            Filter::Place { .. } => Failing::ByRow,
            // Questions are made of words by us, and texts that are too long for them were refused.
            Filter::Words { .. } => Failing::ByArgument,
            Filter::All(_)
            | Filter::Any(_)
            | Filter::Not(_)
            | Filter::NotTrue(_)
            | Filter::Each { .. }
            | Filter::Somewhere { .. }
            | Filter::Among { .. }
            | Filter::Named { .. }
            | Filter::Missing { .. }
            | Filter::Behind { .. } => Failing::Never,
        }
    }

    /// How reading a value can fail.
    fn value(&self, of: &Expr, table: TableId) -> Failing {
        match of {
            Expr::Column(column) | Expr::Key(column) => self.stored(*column, table),
            // An escape in a key of a document, or no document at all.
            Expr::JsonPath(..) | Expr::Computed(_) => Failing::ByRow,
            Expr::Cast(of, to) => self.value(of, table).and(to.failing()),
            Expr::Count { columns, distinct } => {
                let column = |it: &ColumnId| match distinct {
                    true => self.stored(*it, table).and(self.order(self.column_type(*it, table))),
                    false => self.stored(*it, table),
                };
                columns.iter().map(column).fold(Failing::Never, Failing::and)
            }
            Expr::Function(function, column) => {
                let order = self.order(self.column_type(*column, table));
                function.failing().and(self.stored(*column, table)).and(order)
            }
            Expr::Statistic { function, columns, distinct: _ } => {
                columns.iter().map(|it| self.stored(*it, table)).fold(function.failing(), Failing::and)
            }
            Expr::Related { by, scan, filter: _, of } => {
                self.way(*by, table).and(self.value(of, scan.table()))
            }
            Expr::Instant { .. } | Expr::Row | Expr::Snapshot | Expr::Null => Failing::Never,
        }
    }

    /// How reading a column can fail.
    fn stored(&self, column: ColumnId, table: TableId) -> Failing {
        let is_derived = self.relations.catalog.table(table).column(column).derived;
        if is_derived { Failing::ByRow } else { Failing::Never }
    }

    /// How finding related rows of a row can fail.
    fn way(&self, by: RelationshipId, table: TableId) -> Failing {
        let related = self.relations.relationship(by);
        match related.call {
            Some(_) => Failing::ByRow,
            None => related.on.iter().map(|it| self.stored(it.0, table)).fold(Failing::Never, Failing::and),
        }
    }

    /// How comparing two values of a type can fail. SQLite compares what is stored.
    fn order(&self, ty: &ColumnType) -> Failing {
        if self.is_sqlite { Failing::Never } else { ty.facts().failing }
    }

    /// How comparing `of` with `with` can fail by their type.
    fn compared(&self, of: &Expr, with: &Parameter, table: TableId) -> Failing {
        match (self.type_of(of, table), &with.reader) {
            (Some(ty), _) => self.order(ty),
            (None, Reader::Column(ty) | Reader::Each(ty) | Reader::Gathered { ty, .. }) => self.order(ty),
            (None, _) => Failing::Never,
        }
    }

    fn column_type(&self, column: ColumnId, table: TableId) -> &ColumnType {
        &self.relations.catalog.table(table).column(column).ty
    }

    /// The type of a column.
    fn type_of(&self, of: &Expr, table: TableId) -> Option<&ColumnType> {
        match of {
            Expr::Column(column) | Expr::Key(column) => Some(self.column_type(*column, table)),
            Expr::JsonPath(..)
            | Expr::Computed(_)
            | Expr::Cast(..)
            | Expr::Count { .. }
            | Expr::Function(..)
            | Expr::Statistic { .. }
            | Expr::Related { .. }
            | Expr::Instant { .. }
            | Expr::Row
            | Expr::Snapshot
            | Expr::Null => None,
        }
    }

    /// True if `of` has a collation under which texts with different bytes can be equal.
    fn folds(&self, of: &Expr, table: TableId) -> bool {
        match of {
            Expr::Column(column) | Expr::Key(column) => {
                self.relations.catalog.table(table).column(*column).folds
            }
            Expr::Function(_, column) => self.relations.catalog.table(table).column(*column).folds,
            Expr::Related { scan, of, .. } => self.folds(of, scan.table()),
            // A function gives what it gives, which counts as failing by the row already.
            Expr::JsonPath(..)
            | Expr::Computed(_)
            | Expr::Cast(..)
            | Expr::Count { .. }
            | Expr::Statistic { .. }
            | Expr::Instant { .. }
            | Expr::Row
            | Expr::Snapshot
            | Expr::Null => false,
        }
    }

    /// True if an index may answer a condition that is put behind the policy. Patterns and places stand before it too, in a form
    /// that cannot fail, and SQLite has no index for what fails there.
    fn loses_index(&self, filter: &Filter, table: TableId) -> bool {
        let is_column = |of: &Expr| matches!(of, Expr::Column(_) | Expr::Key(_));
        match filter {
            _ if self.is_sqlite => false,
            Filter::Compare { of, by, .. } => is_column(of) && (keeps_no_index(*by) || self.folds(of, table)),
            Filter::Measure { of, .. } | Filter::Null { of, .. } => is_column(of),
            _ => false,
        }
    }
}

/// True unless the comparison is with a regular expression, which is asked in two parts.
const fn keeps_no_index(by: Comparison) -> bool {
    !matches!(by.failing(Failing::Never, false), Failing::ByPattern)
}

//! Puts conditions that may fail by the row behind the policy.
//!
//! A database may ask a client's condition of a row before the policy's, and an error, or a condition that takes very long, would tell
//! of a row that the policy hides. Such a condition becomes [`Filter::Behind`]: it is asked only of rows that the policies around it
//! show. One that cannot fail, or fails by its argument alone, stays as it is, and keeps its index.
//!
//! So do values that a query sorts and groups by, keys that are computed, and columns that are expressions of views: PostgreSQL makes
//! a join of a policy on other rows, and may compute them below it. The scan is marked ([`Scan::wall`]), so that its policy stays a
//! condition of the row.
//!
//! **Invariant:** a part of a condition is matched here by name, so that a new one stops the build until it says how it can fail.
//!
//! **Cost:** one walk over the conditions of a plan; run once per plan and shape of variables.

use crate::catalog::facts::Failing;
use crate::catalog::{ColumnId, ColumnType, Relations, RelationshipId, TableId, TableKind, Volatility};
use crate::plan::comparison_table::Takes;
use crate::plan::operators::Comparison;
use crate::plan::write::Change;
use crate::plan::{Expr, Filter, Output, Parameter, Plan, Query, Reader, RowAt, Scan, Tie};

/// Puts the conditions of clients in `plan` behind the policies of their scans.
pub(super) fn raise(plan: &mut Plan, relations: &Relations) {
    let is_sqlite = relations.catalog.is_sqlite();
    let mut barrier =
        Barrier { relations, is_sqlite, unindexed: 0, fronts: 0, reads_early: false, is_called: false };
    for level in &mut plan.levels {
        barrier.query(&mut level.query);
    }
    for change in &mut plan.changes {
        barrier.change(change);
    }
    plan.unindexed = barrier.unindexed;
}

/// Maximum number of conditions of a request with a half before the policy: each may run long on a large hidden value.
const FRONTS_MAX: u32 = 16;

struct Barrier<'r> {
    relations: &'r Relations,
    is_sqlite: bool,
    /// Conditions that were put behind the policy and that an index may have answered.
    unindexed: u32,
    /// Conditions with a half before the policy.
    fronts: u32,
    /// The current conditions read a value that a planner may compute below a join, before it tests a policy that became a join.
    reads_early: bool,
    /// The current rows come from a function that PostgreSQL may inline like a view: each column may be an expression.
    is_called: bool,
}

/// True if an enclosing condition, or the scan itself, hides rows.
type IsRestricted = bool;

impl Barrier<'_> {
    fn query(&mut self, query: &mut Query) {
        let is_called = self.is_put_in(query);
        let outer = std::mem::replace(&mut self.is_called, is_called);
        let table = query.table();
        if self.computes_early(query) {
            query.scan.wall();
        }
        let is_restricted = query.scan.policy().is_some();
        if self.condition(&mut query.filter, table, is_restricted) {
            query.scan.wall();
        }
        // The expressions below are computed only for rows that the policy lets through.
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
        self.is_called = outer;
    }

    /// True if the rows of `query` are those of a function that is no call in the plan.
    fn is_put_in(&self, query: &Query) -> bool {
        let function = query.call.as_ref().map(|it| self.relations.function(it.function).1);
        function.is_some_and(|it| it.volatility != Volatility::Volatile)
    }

    fn change(&mut self, change: &mut Change) {
        match change {
            Change::Insert(insert) => {
                if let Some(conflict) = &mut insert.conflict {
                    self.rows(&mut conflict.scan, &mut conflict.filter, false);
                }
                self.exprs(&mut insert.returning);
            }
            Change::Update(update) => {
                self.rows(&mut update.scan, &mut update.filter, false);
                self.exprs(&mut update.returning);
            }
            Change::Delete(delete) => {
                self.rows(&mut delete.scan, &mut delete.filter, false);
                self.exprs(&mut delete.returning);
            }
            Change::Call(query) => self.query(query),
        }
    }

    /// The condition on the rows of `scan`.
    fn rows(&mut self, scan: &mut Scan, filter: &mut Filter, is_restricted: IsRestricted) {
        let outer = std::mem::take(&mut self.is_called);
        if self.condition(filter, scan.table(), is_restricted || scan.policy().is_some()) {
            scan.wall();
        }
        self.is_called = outer;
    }

    /// True if the condition on rows of `table` reads a value of them early.
    fn condition(&mut self, filter: &mut Filter, table: TableId, is_restricted: IsRestricted) -> bool {
        let outer = std::mem::take(&mut self.reads_early);
        self.filter(filter, table, is_restricted);
        std::mem::replace(&mut self.reads_early, outer)
    }

    /// The condition on the rows of `scan` along `by`, by a key that may have to be computed.
    fn rows_along(
        &mut self,
        by: RelationshipId,
        scan: &mut Scan,
        filter: &mut Filter,
        is_restricted: IsRestricted,
    ) {
        let on = &self.relations.relationship(by).on;
        if on.iter().any(|it| self.column_failing(it.1, scan.table()) != Failing::Never) {
            scan.wall();
        }
        self.rows(scan, filter, is_restricted);
    }

    fn filter(&mut self, filter: &mut Filter, table: TableId, is_restricted: IsRestricted) {
        match filter {
            Filter::All(parts) | Filter::Any(parts) => {
                parts.iter_mut().for_each(|it| self.filter(it, table, is_restricted));
            }
            Filter::Not(part) | Filter::NotTrue(part) | Filter::Each { with: _, filter: part } => {
                self.filter(part, table, is_restricted);
            }
            Filter::Exists { by, scan, filter } => self.rows_along(*by, scan, filter, is_restricted),
            Filter::Somewhere { scan, filter } => self.rows(scan, filter, is_restricted),
            // The subquery reads its own rows, independent of the current one.
            Filter::Among { key: _, query } => self.query(query),
            Filter::Null { of, .. }
            | Filter::Compare { of, .. }
            | Filter::Measure { of, .. }
            | Filter::Columns { of, .. } => {
                self.reads_early |= self.is_early(of, table);
                self.expr(of, is_restricted);
            }
            Filter::Named { .. }
            | Filter::Words { .. }
            | Filter::Place { .. }
            | Filter::Missing { .. }
            | Filter::Behind { .. } => {}
        }
        let failing = self.failing(filter, table);
        if is_restricted && matches!(failing, Failing::ByPattern | Failing::ByRow) {
            let is_halved = failing == Failing::ByPattern && self.is_halved(filter, table);
            self.fronts += u32::from(is_halved);
            let loses_index = !is_halved && self.loses_index(filter);
            self.unindexed += u32::from(loses_index);
            *filter = Filter::Behind { filter: Box::new(std::mem::take(filter)), is_halved, loses_index };
        }
    }

    fn exprs(&mut self, columns: &mut [Expr]) {
        columns.iter_mut().for_each(|it| self.expr(it, false));
    }

    /// The conditions in a value.
    fn expr(&mut self, of: &mut Expr, is_restricted: IsRestricted) {
        match of {
            Expr::JsonPath(of, _) | Expr::Cast(of, _) => self.expr(of, is_restricted),
            Expr::Related { by, scan, filter, of } => {
                if self.is_early(of, scan.table()) {
                    scan.wall();
                }
                self.rows_along(*by, scan, filter, is_restricted);
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
                    _ if self.compares_sets_apart(of, *by, table) => Failing::ByRow,
                    _ => by.failing(self.comparison_failing(of, with, table), self.is_sqlite),
                };
                let folds = by.takes() == Takes::Pattern && self.folds(of, table);
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
                let own = self.value(of, table);
                let other = self.column_failing(*with, there);
                own.and(other).and(self.type_of(of, table).map_or(Failing::Never, |it| self.order(it)))
            }
            Filter::Exists { by, .. } => self.relationship_failing(*by, table),
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
            Expr::Column(column) | Expr::Key(column) => self.column_failing(*column, table),
            // An escape in a key of a document, or no document at all.
            Expr::JsonPath(..) | Expr::Computed(_) => Failing::ByRow,
            Expr::Cast(of, to) => self.value(of, table).and(to.failing()),
            Expr::Count { columns, distinct } => {
                let column = |it: &ColumnId| {
                    if *distinct {
                        self.column_failing(*it, table).and(self.order(self.column_type(*it, table)))
                    } else {
                        self.column_failing(*it, table)
                    }
                };
                columns.iter().map(column).fold(Failing::Never, Failing::and)
            }
            Expr::Function(function, column) => {
                let order = self.order(self.column_type(*column, table));
                function.failing().and(self.column_failing(*column, table)).and(order)
            }
            Expr::Statistic { function, columns, distinct: _ } => columns
                .iter()
                .map(|it| self.column_failing(*it, table))
                .fold(function.failing(), Failing::and),
            Expr::Related { by, scan, filter: _, of } => {
                self.relationship_failing(*by, table).and(self.value(of, scan.table()))
            }
            Expr::Instant { .. } | Expr::Row | Expr::Snapshot | Expr::Null => Failing::Never,
        }
    }

    /// How reading `column` can fail.
    fn column_failing(&self, column: ColumnId, table: TableId) -> Failing {
        let is_derived = self.relations.catalog.table(table).column(column).derived;
        if is_derived || self.is_called { Failing::ByRow } else { Failing::Never }
    }

    /// True if a query computes values that may fail before a join that its policy has become: terms of order and groups, keys by
    /// which parents find their rows, and columns that are expressions of a view.
    fn computes_early(&self, query: &Query) -> bool {
        let table = query.table();
        let sorted = |of: &Expr| {
            let order = self.type_of(of, table).map_or(Failing::Never, |it| self.order(it));
            self.value(of, table).and(order) == Failing::ByRow
        };
        let column = |it: &ColumnId| sorted(&Expr::Column(*it));
        let tied =
            |it: &Tie| matches!(it, Tie::Column(it) if self.column_failing(*it, table) == Failing::ByRow);
        let groups: &[ColumnId] = match &query.output {
            Output::Groups { by, .. } => by,
            Output::Rows(_) | Output::Aggregate(_) => &[],
        };
        query.order.iter().any(|it| sorted(&it.of))
            || query.distinct_on.iter().chain(groups).any(column)
            || query.through.is_none() && query.nest.iter().any(|it| tied(&it.0))
            || query.columns().iter().any(|it| self.is_early(it, table))
    }

    /// True if `of` reads a column that is an expression of a view, whose place in a plan is below the joins of the query.
    fn is_early(&self, of: &Expr, table: TableId) -> bool {
        let at = self.relations.catalog.table(table);
        let is_derived = |it: &ColumnId| self.is_called || at.column(*it).derived;
        (self.is_called || at.kind == TableKind::View)
            && match of {
                Expr::Column(it) | Expr::Key(it) | Expr::Function(_, it) => is_derived(it),
                Expr::JsonPath(of, _) | Expr::Cast(of, _) => self.is_early(of, table),
                Expr::Count { columns, .. } | Expr::Statistic { columns, .. } => {
                    columns.iter().any(is_derived)
                }
                Expr::Instant { text, at, .. } => is_derived(text) || is_derived(at),
                Expr::Computed(_) | Expr::Row => self.is_called || at.columns.iter().any(|it| it.derived),
                Expr::Related { by, .. } => {
                    self.relations.relationship(*by).on.iter().any(|it| is_derived(&it.0))
                }
                Expr::Snapshot | Expr::Null => false,
            }
    }

    /// How finding related rows of a row can fail.
    fn relationship_failing(&self, by: RelationshipId, table: TableId) -> Failing {
        let related = self.relations.relationship(by);
        match related.call {
            Some(_) => Failing::ByRow,
            None => {
                let sides = |it: &(ColumnId, ColumnId)| {
                    self.column_failing(it.0, table).and(self.column_failing(it.1, related.to))
                };
                related.on.iter().map(sides).fold(Failing::Never, Failing::and)
            }
        }
    }

    /// How comparing two values of a type can fail. SQLite compares the stored values.
    fn order(&self, ty: &ColumnType) -> Failing {
        if self.is_sqlite { Failing::Never } else { ty.facts().failing }
    }

    /// How comparing `of` with `with` can fail, by their types.
    fn comparison_failing(&self, of: &Expr, with: &Parameter, table: TableId) -> Failing {
        match (self.type_of(of, table), &with.reader) {
            (Some(ty), _) => self.order(ty),
            (None, Reader::Column(ty) | Reader::Each(ty) | Reader::Gathered { ty, .. }) => self.order(ty),
            (None, _) => Failing::Never,
        }
    }

    /// True for a test of sets in arrays that an extension does in place of PostgreSQL.
    fn compares_sets_apart(&self, of: &Expr, by: Comparison, table: TableId) -> bool {
        let is_of_sets = matches!(by, Comparison::Contains | Comparison::ContainedIn);
        let ty = self.type_of(of, table).filter(|_| is_of_sets);
        ty.is_some_and(|it| self.relations.catalog.abilities.of(it).compares_sets_apart())
    }

    fn column_type(&self, column: ColumnId, table: TableId) -> &ColumnType {
        &self.relations.catalog.table(table).column(column).ty
    }

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
            // A function counts as failing by the row already, whatever it returns.
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

    /// True if a condition has a cheap half that may use an index. SQLite has no index for conditions that fail.
    fn is_halved(&self, filter: &Filter, table: TableId) -> bool {
        let Filter::Compare { of, by, with } = filter else { return false };
        let ty = self.type_of(of, table).unwrap_or(&ColumnType::Text);
        let is_stored = match of {
            Expr::Cast(of, _) => matches!(**of, Expr::Column(_) | Expr::Key(_)),
            of => matches!(of, Expr::Column(_) | Expr::Key(_)),
        };
        let is_known = is_stored && !with.origin.is_of_row() && by.notation(ty).is_some();
        is_known && !self.is_sqlite && self.fronts < FRONTS_MAX
    }

    /// True if an index may answer a condition that is put behind the policy. A place stands before it too, in a form that cannot fail,
    /// and SQLite has no index for what fails there.
    fn loses_index(&self, filter: &Filter) -> bool {
        match filter {
            _ if self.is_sqlite => false,
            Filter::Compare { of, .. } | Filter::Measure { of, .. } | Filter::Null { of, .. } => {
                matches!(of, Expr::Column(_) | Expr::Key(_))
            }
            _ => false,
        }
    }
}

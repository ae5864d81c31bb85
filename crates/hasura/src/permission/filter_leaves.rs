//! Decides whether a write can change the rows for which a condition is true.
//!
//! **Invariant:** errs to one side only: a condition that cannot be followed counts as one that can change.

use crate::model::Model;
use weir_relational::catalog::{ColumnId, RelationshipId, TableId};
use weir_relational::plan::{Expr, Filter, RowAt};

/// Columns of one table that a write sets.
pub(super) struct WrittenColumns<'w> {
    pub(super) model: &'w Model,
    pub(super) table: TableId,
    /// Parallel to the table's columns.
    pub(super) columns: &'w [bool],
}

impl WrittenColumns<'_> {
    /// True if `filter`, a condition on rows of the table, can be true before the write and not after it.
    pub(super) fn changes(&self, filter: &Filter) -> bool {
        self.filter(filter, self.table)
    }

    fn filter(&self, filter: &Filter, at: TableId) -> bool {
        match filter {
            Filter::All(parts) | Filter::Any(parts) => parts.iter().any(|it| self.filter(it, at)),
            Filter::Not(part) | Filter::NotTrue(part) | Filter::Behind { filter: part, .. } => {
                self.filter(part, at)
            }
            Filter::Null { of, .. } | Filter::Compare { of, .. } | Filter::Measure { of, .. } => {
                self.expr(of, at)
            }
            Filter::Columns { of, row, with, .. } => {
                let other = match row {
                    RowAt::Here => at,
                    RowAt::Root(root) => *root,
                };
                self.expr(of, at) || self.column(*with, other)
            }
            Filter::Somewhere { scan, filter } => self.filter(filter, scan.table()),
            Filter::Exists { by, filter, .. } => {
                let to = self.model.relations.relationship(*by).to;
                self.writes_key_of(*by) || self.filter(filter, to)
            }
            Filter::Named { .. }
            | Filter::Words { .. }
            | Filter::Each { .. }
            | Filter::Place { .. }
            | Filter::Missing { .. }
            | Filter::Among { .. } => true,
        }
    }

    fn expr(&self, of: &Expr, at: TableId) -> bool {
        match of {
            Expr::Column(column) | Expr::Key(column) => self.column(*column, at),
            Expr::Cast(of, _) | Expr::JsonPath(of, _) => self.expr(of, at),
            _ => true,
        }
    }

    /// The way to related rows: equal columns, of which some may be ours.
    fn writes_key_of(&self, by: RelationshipId) -> bool {
        let way = self.model.relations.relationship(by);
        let is_followed = way.call.is_none() && way.through.is_none();
        !is_followed
            || way
                .on
                .iter()
                .any(|(ours, theirs)| self.column(*ours, way.from) || self.column(*theirs, way.to))
    }

    /// True if the write sets the column, or the database computes it of others.
    fn column(&self, column: ColumnId, at: TableId) -> bool {
        let is_computed = || self.model.relations.catalog.table(at).column(column).generated;
        at == self.table && (self.columns[column.0 as usize] || is_computed())
    }
}

//! Aggregates: `aggregateDish` and `dishesAggregate`, one row each.

use super::rows::ObjectRows;
use super::{Compiler, LevelRow};
use crate::model::FieldId;
use weir_engine::plan::output_plan::OutputField;
use weir_engine::source::PlanError;
use weir_relational::catalog::{ColumnId, Through};
use weir_relational::plan::{Expr, Level, MemberKind, Output, Page, Purpose, Query, Scan, Tie};

impl Compiler<'_> {
    /// One row over all of `rows`.
    pub(super) fn aggregate(
        &mut self,
        field: &OutputField,
        rows: ObjectRows,
        nest: Vec<(Tie, u16)>,
        through: Option<(Through, ColumnId)>,
    ) -> Result<MemberKind, PlanError> {
        let set = self.object(field)?;
        let (at, path) = (self.field, self.keys.join("."));
        let mut row = LevelRow::new(rows.at);
        let members = self.set(set, &mut row)?;
        // Without any right there is no aggregate, where rights to no object at hand give one of no objects.
        let is_denied = nest.is_empty() && self.is_denied(rows.at.ty);
        let output = match is_denied {
            true => Output::Rows(vec![Expr::Column(rows.at.id); row.columns.len().max(1)]),
            false => Output::Aggregate(row.columns),
        };
        let query = Query {
            scan: Scan::of(rows.at.table, Purpose::Aggregate),
            call: None,
            nest,
            through,
            filter: rows.filter,
            distinct_on: Vec::new(),
            order: Vec::new(),
            page: Page::default(),
            output,
        };
        let level = Level { query, members, choice: None, hidden: Vec::new(), by: None, field: at, path };
        Ok(MemberKind::One(self.level(level)))
    }

    /// One row over the objects that an edge of the row at hand leads to.
    pub(super) fn edge_aggregate(
        &mut self,
        field: &OutputField,
        edge: FieldId,
        row: &mut LevelRow,
    ) -> Result<MemberKind, PlanError> {
        let (to, _) = self.target(edge)?;
        let mut rows = self.rows_arguments(field, to)?;
        rows.at = self.native.rows_of(to);
        let (nest, through) = self.hang(edge, &mut rows, row)?;
        self.aggregate(field, rows, nest, through)
    }
}

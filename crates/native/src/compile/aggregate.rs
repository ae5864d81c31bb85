//! Aggregates: `aggregateDish` and `dishesAggregate`, one row each.

use super::row_arguments::ObjectRows;
use super::{Compiler, LevelRow};
use crate::model::FieldId;
use weir_engine::plan::output_plan::OutputField;
use weir_engine::source::PlanError;
use weir_relational::catalog::{ColumnId, Through};
use weir_relational::plan::{Expr, Level, MemberKind, Output, Page, Purpose, Query, Scan, Tie};

impl Compiler<'_> {
    /// Compiles an aggregate over all of `rows`: one row.
    pub(super) fn aggregate(
        &mut self,
        field: &OutputField,
        rows: ObjectRows,
        nest: Vec<(Tie, u16)>,
        through: Option<(Through, ColumnId)>,
    ) -> Result<MemberKind, PlanError> {
        let set = self.object(field)?;
        let at = self.field;
        let path = self.keys.join(".");
        let mut row = LevelRow::new(rows.at);
        let members = self.set(set, &mut row)?;
        // Without any right the aggregate is null; with rights to no object it is an aggregate over no rows.
        let is_denied = nest.is_empty() && self.is_denied(rows.at.ty);
        let output = if is_denied {
            Output::Rows(vec![Expr::Column(rows.at.id); row.columns.len().max(1)])
        } else {
            Output::Aggregate(row.columns)
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

    /// Compiles an aggregate over the objects that an edge of the current row leads to.
    pub(super) fn edge_aggregate(
        &mut self,
        field: &OutputField,
        edge: FieldId,
        row: &mut LevelRow,
    ) -> Result<MemberKind, PlanError> {
        let (to, _) = self.target(edge)?;
        let mut rows = self.rows_arguments(field, to)?;
        rows.at = self.native.rows_of(to);
        let (nest, through) = self.attach_rows(edge, &mut rows, row)?;
        self.aggregate(field, rows, nest, through)
    }
}

//! Edges: from a row to the rows of the objects it refers to.

use super::row_arguments::ObjectRows;
use super::{At, Compiler, LevelRow};
use crate::layout::Storage;
use crate::model::{FieldId, FieldKind};
use weir_engine::plan::output_plan::OutputField;
use weir_engine::source::PlanError;
use weir_relational::catalog::{ColumnId, ColumnType, RelationshipId, Through};
use weir_relational::plan::{Expr, MemberKind, Tie};

/// Ties of rows to those of the level above.
type Hung = (Vec<(Tie, u16)>, Option<(Through, ColumnId)>);

impl Compiler<'_> {
    /// Compiles the objects that an edge of the current row leads to.
    pub(super) fn edge(
        &mut self,
        field: &OutputField,
        edge: FieldId,
        row: &mut LevelRow,
    ) -> Result<MemberKind, PlanError> {
        let (to, is_list) = self.target(edge)?;
        let mut rows = self.rows_arguments(field, to)?;
        let (nest, through) = self.attach_rows(edge, &mut rows, row)?;
        self.rows(field, rows, nest, through, !is_list)
    }

    /// The type an edge leads to, and whether to many.
    pub(super) fn target(&self, edge: FieldId) -> Result<(crate::model::TypeId, bool), PlanError> {
        let of = self.native.api.model.field(edge);
        match of.kind {
            FieldKind::Edge { to, .. } => Ok((to, of.is_list)),
            FieldKind::Id | FieldKind::Scalar(_) | FieldKind::Enum(_) => {
                Err(self.refuse("this field leads to no object"))
            }
        }
    }

    /// Ties `rows` to the current row along `edge`.
    pub(super) fn attach_rows(
        &self,
        edge: FieldId,
        rows: &mut ObjectRows,
        row: &mut LevelRow,
    ) -> Result<Hung, PlanError> {
        let own = Expr::Column(row.at.id);
        match self.native.layout.fields[edge.index()] {
            Storage::ToOne { column, .. } => {
                Ok((vec![(Tie::Column(rows.at.id), row.column(Expr::Column(column)))], None))
            }
            Storage::ToOneBack { table, column, .. } | Storage::ToMany { table, column, .. } => {
                if rows.at.table != table {
                    // The column is the view's.
                    let id = rows.at.id;
                    rows.at = self.native.rows_of(rows.at.ty);
                    for term in &mut rows.order {
                        if term.of == Expr::Column(id) {
                            term.of = Expr::Column(rows.at.id);
                        }
                    }
                }
                Ok((vec![(Tie::Column(column), row.column(own))], None))
            }
            Storage::Join { table, ours, theirs, .. } => {
                let through = Through { table, ours, theirs };
                Ok((vec![(Tie::Column(ours), row.column(own))], Some((through, rows.at.id))))
            }
            _ => Err(self.refuse("this field leads to no object")),
        }
    }

    /// The way along an edge for conditions and orders, and the rows it leads to.
    pub(super) fn relationship_along(&self, edge: FieldId) -> Result<(RelationshipId, At), PlanError> {
        let (to, _) = self.target(edge)?;
        let by = match self.native.layout.fields[edge.index()] {
            Storage::ToOne { by, .. }
            | Storage::ToOneBack { by, .. }
            | Storage::ToMany { by, .. }
            | Storage::Join { by, .. } => by,
            _ => return Err(self.refuse("this field leads to no object")),
        };
        match self.native.layout.to_all[edge.index()] {
            Some(by) => Ok((by, self.native.rows_of(to))),
            None => Ok((by, self.native.registry(to))),
        }
    }

    pub(super) fn column_type(&self, at: At, column: ColumnId) -> ColumnType {
        self.native.layout.relations.catalog.table(at.table).column(column).ty.clone()
    }
}

//! The fields of a row: what its columns and lists become.

use super::row_arguments::ascending;
use super::{Compiler, LevelRow};
use crate::api::meaning::{FieldMeaning, Geo};
use crate::layout::Storage;
use crate::model::{FieldId, FieldKind};
use weir_engine::plan::output_plan::{self, OutputField, SelectionSetId};
use weir_engine::source::PlanError;
use weir_language::schema;
use weir_relational::catalog::ColumnId;
use weir_relational::catalog::facts::Cell;
use weir_relational::plan::operators::Aggregation;
use weir_relational::plan::{
    Expr, Filter, Hidden, Level, MemberKind, Output, Page, Purpose, Query, Run, Scan, Tie,
};

impl<'c> Compiler<'c> {
    /// Compiles a member of the current row.
    pub(super) fn kind(
        &mut self,
        field: &'c OutputField,
        row: &mut LevelRow,
    ) -> Result<MemberKind, PlanError> {
        match self.field_meaning(field) {
            FieldMeaning::Field(of) => self.value(field, of, row),
            FieldMeaning::EdgeAggregate(edge) => self.edge_aggregate(field, edge, row),
            FieldMeaning::Count(ty) => {
                // The least of no numbers is null, as all else of an aggregate without any right.
                let column = if self.is_denied(ty) {
                    row.column(Expr::Function(Aggregation::Min, row.at.id))
                } else {
                    row.column(Expr::Count { columns: Vec::new(), distinct: false })
                };
                Ok(MemberKind::Leaf { column, cell: Cell::Int })
            }
            FieldMeaning::Min(of) => self.function(Aggregation::Min, of, row),
            FieldMeaning::Max(of) => self.function(Aggregation::Max, of, row),
            FieldMeaning::Sum(of) => self.function(Aggregation::Sum, of, row),
            FieldMeaning::Avg(of) => self.function(Aggregation::Avg, of, row),
            _ => Err(self.refuse("this field cannot be answered here")),
        }
    }

    fn value(
        &mut self,
        field: &'c OutputField,
        of: FieldId,
        row: &mut LevelRow,
    ) -> Result<MemberKind, PlanError> {
        match self.native.layout.fields[of.index()] {
            Storage::Id(column) => {
                Ok(MemberKind::Leaf { column: row.column(Expr::Column(column)), cell: Cell::Id })
            }
            Storage::Column(column) | Storage::Instant { text: column, .. } => {
                let cell = self.cell(row.at.table, column);
                Ok(MemberKind::Leaf { column: row.column(Expr::Column(column)), cell })
            }
            Storage::Point { longitude, latitude } => self.point(field, longitude, latitude, row),
            Storage::Shape { text, .. } => {
                let column = row.column(Expr::Column(text));
                Ok(MemberKind::Shape { column, run: self.shape(self.object(field)?)? })
            }
            Storage::Values { .. } => self.values(of, row),
            Storage::ToOne { .. }
            | Storage::ToOneBack { .. }
            | Storage::ToMany { .. }
            | Storage::Join { .. } => self.edge(field, of, row),
        }
    }

    /// The members of a Point, which is there where its longitude is.
    fn point(
        &mut self,
        field: &'c OutputField,
        longitude: ColumnId,
        latitude: ColumnId,
        row: &mut LevelRow,
    ) -> Result<MemberKind, PlanError> {
        let set = self.object(field)?;
        let output = self.output;
        let is_there = row.column(Expr::Column(longitude));
        let mut members = Vec::new();
        for at in output.set(set).range() {
            let of = &output.fields[at];
            self.check_cascade(at as u32)?;
            let kind = match (of.member, self.field_meaning(of)) {
                (output_plan::OutputKind::Constant { .. }, _) => MemberKind::Constant,
                (_, FieldMeaning::Geo(Geo::Longitude)) => {
                    MemberKind::Leaf { column: is_there, cell: Cell::Float }
                }
                _ => MemberKind::Leaf { column: row.column(Expr::Column(latitude)), cell: Cell::Float },
            };
            members.push(weir_database::frontend::member(at as u32, of, kind));
        }
        Ok(MemberKind::Maybe { column: is_there, run: self.store(members) })
    }

    /// The members of a shape, whose coordinates are in one column: a list of polygons, of rings or of points, whose types
    /// nest no deeper.
    fn shape(&mut self, set: SelectionSetId) -> Result<Run, PlanError> {
        let output = self.output;
        let mut members = Vec::new();
        for at in output.set(set).range() {
            let of = &output.fields[at];
            self.check_cascade(at as u32)?;
            let kind = match (of.member, self.field_meaning(of)) {
                (output_plan::OutputKind::Constant { .. }, _) => MemberKind::Constant,
                (_, FieldMeaning::Geo(Geo::Longitude)) => MemberKind::Ordinate(0),
                (_, FieldMeaning::Geo(Geo::Latitude)) => MemberKind::Ordinate(1),
                _ => MemberKind::Items(self.shape(self.object(of)?)?),
            };
            members.push(weir_database::frontend::member(at as u32, of, kind));
        }
        Ok(self.store(members))
    }

    /// A list of values, in the order in which they were added.
    fn values(&mut self, of: FieldId, row: &mut LevelRow) -> Result<MemberKind, PlanError> {
        let Storage::Values { table, owner, place, value, .. } = self.native.layout.fields[of.index()] else {
            return Err(self.refuse("this field is no list"));
        };
        let query = Query {
            scan: Scan::of(table, Purpose::Related),
            call: None,
            nest: vec![(Tie::Column(owner), row.column(Expr::Column(row.at.id)))],
            through: None,
            filter: Filter::TRUE,
            distinct_on: Vec::new(),
            order: vec![ascending(place)],
            page: Page::default(),
            output: Output::Rows(vec![Expr::Column(value)]),
        };
        let path = self.keys.join(".");
        let field = self.field;
        let members = Run::default();
        let level =
            self.level(Level { query, members, choice: None, hidden: Vec::new(), by: None, field, path });
        Ok(MemberKind::Values { level, cell: self.cell(table, value) })
    }

    fn function(
        &mut self,
        function: Aggregation,
        of: FieldId,
        row: &mut LevelRow,
    ) -> Result<MemberKind, PlanError> {
        let column = match self.native.layout.fields[of.index()] {
            Storage::Column(column) | Storage::Id(column) => column,
            Storage::Instant { text, at } => {
                let column = row.column(Expr::Instant { function, text, at });
                return Ok(MemberKind::Leaf { column, cell: self.cell(row.at.table, text) });
            }
            _ => return Err(self.refuse("this field has no least and greatest value")),
        };
        let cell = match (function, self.cell(row.at.table, column)) {
            (Aggregation::Avg, _) => Cell::Float,
            // A sum of 32-bit numbers may need 64 bits. Clients receive it as a number, as from Dgraph.
            (Aggregation::Sum, Cell::Int) => Cell::BigInt,
            (_, cell) => cell,
        };
        Ok(MemberKind::Leaf { column: row.column(Expr::Function(function, column)), cell })
    }

    /// The set below an object field.
    pub(super) fn object(&self, field: &OutputField) -> Result<SelectionSetId, PlanError> {
        match field.member {
            output_plan::OutputKind::Object(set) => Ok(set),
            output_plan::OutputKind::Leaf
            | output_plan::OutputKind::Abstract(_)
            | output_plan::OutputKind::Constant { .. }
            | output_plan::OutputKind::Foreign { .. } => {
                Err(self.refuse("this field needs a selection of an object"))
            }
        }
    }

    /// Values that children in other sources need.
    pub(super) fn hidden(&self, set: SelectionSetId, row: &mut LevelRow) -> Result<Vec<Hidden>, PlanError> {
        let output = self.output;
        output.set(set).hidden.iter().map(|&field| self.hidden_value(field, row)).collect()
    }

    fn hidden_value(&self, field: schema::FieldId, row: &mut LevelRow) -> Result<Hidden, PlanError> {
        let FieldMeaning::Field(of) = self.native.api.field(self.ids.field(field)) else {
            return Err(self.refuse("only values can be joined on"));
        };
        let is_id = self.native.api.model.field(of).kind == FieldKind::Id;
        let storage = self.native.layout.fields[of.index()];
        match storage {
            Storage::Id(column) | Storage::Column(column) | Storage::Instant { text: column, .. } => {
                let cell = if is_id { Cell::Id } else { self.cell(row.at.table, column) };
                Ok(Hidden { column: row.column(Expr::Column(column)), cell })
            }
            _ => Err(self.refuse("only values can be joined on")),
        }
    }
}

//! Aggregates and groups: `t_aggregate { aggregate nodes }` and `t_group_by`.
//!
//! Filter, order and page apply before aggregating, and to `nodes` alike.

use super::select::RowSelection;
use super::{Compiler, Row};
use crate::api::meaning::{FieldMeaning, InputMeaning};
use weir_engine::plan::output_plan::{self, OutputField};
use weir_engine::source::{PlanError, Protocol};
use weir_language::value::Node;
use weir_relational::catalog::facts::Cell;
use weir_relational::catalog::{ColumnId, TableId};
use weir_relational::plan::operators::Aggregation;
use weir_relational::plan::{
    Expr, Filter, Level, MemberKind, Order, Output, Purpose, Query, Scan, Tie, mark_copied,
};

impl Compiler<'_> {
    /// `t_aggregate`: an object of its own whose members are levels under the same parent.
    pub(super) fn aggregates(
        &mut self,
        field: &OutputField,
        table: TableId,
        nest: Vec<(Tie, u16)>,
    ) -> Result<MemberKind, PlanError> {
        let rows = self.lookup_arguments(field)?;
        let output = self.output;
        let set = self.object(field)?;
        let mut members = Vec::new();
        let outer = self.field;
        for at in output.set(set).range() {
            let below = &output.fields[at];
            self.field = at as u32;
            self.keys.push(match below.member {
                output_plan::OutputKind::Constant { .. } => "",
                _ => below.key.name(),
            });
            let kind = match below.member {
                output_plan::OutputKind::Constant { .. } => MemberKind::Constant,
                output_plan::OutputKind::Foreign { .. } => MemberKind::Foreign,
                output_plan::OutputKind::Leaf
                | output_plan::OutputKind::Object(_)
                | output_plan::OutputKind::Abstract(_) => {
                    self.aggregate_member(below, table, &rows, &nest)?
                }
            };
            self.keys.pop();
            members.push(weir_database::frontend::member(at as u32, below, kind));
        }
        mark_copied(&mut members);
        self.field = outer;
        Ok(MemberKind::Inline(self.store(members)))
    }

    fn aggregate_member(
        &mut self,
        field: &OutputField,
        table: TableId,
        rows: &RowSelection,
        nest: &[(Tie, u16)],
    ) -> Result<MemberKind, PlanError> {
        match self.field_meaning(field) {
            FieldMeaning::Nodes(_) => self.rows(field, table, rows.clone(), nest.to_vec(), false),
            FieldMeaning::Aggregate(_) => self.aggregate(field, table, rows.clone(), nest.to_vec()),
            _ => Err(self.refuse("this field cannot be answered here")),
        }
    }

    /// `aggregate`: one row.
    fn aggregate(
        &mut self,
        field: &OutputField,
        table: TableId,
        rows: RowSelection,
        nest: Vec<(Tie, u16)>,
    ) -> Result<MemberKind, PlanError> {
        let set = self.object(field)?;
        let mut row = Row::default();
        let members = self.set(set, &mut row)?;
        let query = Query {
            scan: Scan::of(table, Purpose::Aggregate),
            call: rows.call,
            nest,
            through: None,
            filter: rows.filter,
            distinct_on: rows.distinct_on,
            order: rows.order,
            page: rows.page,
            output: Output::Aggregate(row.columns),
        };
        let level = Level {
            query,
            members,
            choice: None,
            hidden: Vec::new(),
            by: None,
            field: self.field,
            path: self.keys.join("."),
        };
        Ok(MemberKind::One(self.level(level)))
    }

    pub(super) fn count(&mut self, field: &OutputField, row: &mut Row) -> Result<MemberKind, PlanError> {
        let mut columns = Vec::new();
        let mut of = None;
        let mut distinct = false;
        for argument in self.output.arguments(field) {
            let place = self.argument(argument);
            match self.meaning(argument.input) {
                InputMeaning::CountColumns(table) => (of, columns) = (Some(table), self.columns(place)),
                InputMeaning::CountDistinct => distinct = self.inputs.node(place) == Node::Bool(true),
                _ => {}
            }
        }
        self.check_counted(of.filter(|_| distinct), &columns)?;
        let column = row.column(Expr::Count { columns, distinct });
        Ok(MemberKind::Leaf { column, cell: Cell::Int })
    }

    /// Refuses to count different values of `columns` of a table where PostgreSQL has no order to count them by.
    pub(super) fn check_counted(
        &mut self,
        table: Option<TableId>,
        columns: &[ColumnId],
    ) -> Result<(), PlanError> {
        let Some(table) = table else { return Ok(()) };
        self.path.push("columns".into());
        columns.iter().try_for_each(|it| self.check_sorted(table, *it))?;
        self.path.pop();
        Ok(())
    }

    pub(super) fn function(
        &mut self,
        table: TableId,
        function: Aggregation,
        column: ColumnId,
        row: &mut Row,
    ) -> MemberKind {
        let cell = match self.api.column_type(table, column).facts().cell {
            _ if !function.keeps_type() => Cell::Float,
            // Hasura returns the database's value, although its schema declares `Int`.
            Cell::Int if function == Aggregation::Sum && self.protocol == Protocol::Hasura => Cell::BigInt,
            cell => cell,
        };
        MemberKind::Leaf { column: row.column(Expr::Function(function, column)), cell }
    }

    /// `t_group_by`: a row per group.
    pub(super) fn groups(&mut self, field: &OutputField, table: TableId) -> Result<MemberKind, PlanError> {
        let rows = self.rows_arguments(field)?;
        let mut by = Vec::new();
        let mut having = Filter::TRUE;
        for argument in self.output.arguments(field) {
            let place = self.argument(argument);
            match self.meaning(argument.input) {
                InputMeaning::GroupBy(of) => {
                    by = self.columns(place);
                    self.path.push("by".into());
                    by.iter().try_for_each(|it| self.check_told_apart(of, *it))?;
                    self.path.pop();
                }
                InputMeaning::Having(_) if !matches!(self.inputs.node(place), Node::Null | Node::Absent) => {
                    self.path.push("having".into());
                    having = self.condition(place, table)?;
                    self.path.pop();
                }
                _ => {}
            }
        }
        if by.is_empty() {
            return Err(self.refuse("`by` has to name a column"));
        }
        // A column outside the key has no one value in a group, so its order would be any.
        let loose = |term: &Order| matches!(term.of, Expr::Column(column) if !by.contains(&column));
        if rows.order.iter().any(loose) {
            return Err(self.refuse("groups can be ordered by the columns of `by` and by aggregates alone"));
        }
        let set = self.object(field)?;
        let mut row = Row { columns: Vec::new(), groups: Some(by.clone()) };
        let members = self.set(set, &mut row)?;
        let output = Output::Groups { by, columns: row.columns, having: Box::new(having) };
        let query = Query {
            scan: Scan::of(table, Purpose::Aggregate),
            call: None,
            nest: Vec::new(),
            through: None,
            filter: rows.filter,
            distinct_on: Vec::new(),
            order: rows.order,
            page: rows.page,
            output,
        };
        let level = Level {
            query,
            members,
            choice: None,
            hidden: Vec::new(),
            by: None,
            field: self.field,
            path: self.keys.join("."),
        };
        Ok(MemberKind::Many(self.level(level)))
    }
}

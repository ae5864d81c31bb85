//! `t_stream`: the rows behind a position, in the order of a cursor.
//!
//! The position holds the values of the cursor's columns and of the primary key, so that it tells rows with equal values apart. Before the
//! first batch it has the client's values and no key: rows that are equal to them are not shown, as in Hasura.
//!
//! **Invariant:** the plan is the same for all batches; a position is bound like any other value.

use super::{Compiler, Row};
use crate::api::meaning::{EnumMeaning, InputMeaning};
use crate::compile::select::RowSelection;
use weir_database::frontend::input::Place;
use weir_engine::plan::output_plan::OutputField;
use weir_engine::source::PlanError;
use weir_language::value::Node;
use weir_relational::catalog::{ColumnId, TableId};
use weir_relational::plan::{Expr, Filter, MemberKind, Order, Parameter, Reader, StreamRows};

/// The columns of a cursor: their order, and the client's values.
#[derive(Default)]
struct StreamCursor {
    order: Vec<Order>,
    first: Vec<Parameter>,
}

impl<'c> Compiler<'c> {
    /// The rows of a stream.
    pub(super) fn stream(&mut self, field: &'c OutputField, table: TableId) -> Result<MemberKind, PlanError> {
        let mut rows = RowSelection::default();
        let mut cursor = StreamCursor::default();
        for argument in self.output.arguments(field) {
            let place = self.argument(argument);
            self.path.push(self.input_words(argument.input).0.into());
            match self.meaning(argument.input) {
                InputMeaning::BatchSize => {
                    if matches!(self.inputs.node(place), Node::Int(..1)) {
                        return Err(self.refuse("`batch_size` must be at least 1"));
                    }
                    rows.page.limit = Some(self.parameter(place, Reader::BatchSize));
                }
                InputMeaning::StreamCursor(table) => cursor = self.stream_cursor(place, table)?,
                InputMeaning::Where(of) if !matches!(self.inputs.node(place), Node::Null | Node::Absent) => {
                    rows.filter = self.condition(place, of)?;
                }
                _ => {}
            }
            self.path.pop();
        }
        let order = self.stream_order(cursor.order, table);
        let mut terms = self.terms(&order, table)?;
        let behind_position = self.behind_position(&mut terms, &cursor.first);
        rows.filter = if rows.filter.is_true() {
            behind_position
        } else {
            Filter::All(vec![std::mem::take(&mut rows.filter), behind_position])
        };
        let mut row = Row::default();
        for term in &terms {
            row.column(term.of.clone());
        }
        // Rows that are committed late lie behind a stream that descends, whatever it waits for.
        let descends = order.first().is_some_and(|it| it.descending);
        let snapshot = row.column(if descends { Expr::Null } else { Expr::Snapshot });
        let code = self.plan.codes.len() as u32;
        self.plan.stream = Some(StreamRows { code, snapshot });
        self.plan.codes.push(super::cursor_code::cursor(&terms));
        rows.order = order;
        self.rows_with(row, self.object(field)?, table, rows, Vec::new(), false)
    }

    /// The given columns, then those of the primary key that are not among them, so that no two rows are equal.
    fn stream_order(&self, mut order: Vec<Order>, table: TableId) -> Vec<Order> {
        let descending = order.last().is_some_and(|it| it.descending);
        let table = self.api.model.relations.catalog.table(table);
        for &column in table.primary_key.iter().flat_map(|it| &it.columns) {
            let of = Expr::Column(column);
            if order.iter().all(|it| it.of != of) {
                let nullable = table.column(column).nullable;
                order.push(Order { of, descending, nulls_first: descending, nullable });
            }
        }
        order
    }

    fn stream_cursor(&mut self, place: Place, table: TableId) -> Result<StreamCursor, PlanError> {
        let mut cursor = StreamCursor::default();
        for item in self.inputs.items(place) {
            let mut descending = false;
            let mut value = None;
            for (input, place) in self.inputs.members(item) {
                match (self.meaning(input), self.enum_meaning(place)) {
                    (InputMeaning::StreamOrdering, Some(EnumMeaning::Order { descending: it, .. })) => {
                        descending = it;
                    }
                    (InputMeaning::InitialValue, _) => value = Some(place),
                    _ => {}
                }
            }
            if let Some(value) = value {
                self.path.push("initial_value".into());
                self.stream_column(value, table, descending, &mut cursor)?;
                self.path.pop();
            }
        }
        if cursor.order.is_empty() {
            Err(self.refuse("one streaming column field is expected"))
        } else {
            Ok(cursor)
        }
    }

    /// Appends the one column of `initial_value`.
    fn stream_column(
        &mut self,
        value: Place,
        table: TableId,
        descending: bool,
        cursor: &mut StreamCursor,
    ) -> Result<(), PlanError> {
        let members = self.inputs.members(value);
        let mut given = members.iter().filter(|it| !matches!(self.inputs.node(it.1), Node::Absent));
        let (Some(&(input, place)), None) = (given.next(), given.next()) else {
            return Err(self.refuse(if members.is_empty() { "one streaming column field is expected" } else { "multiple column cursors are not supported in one object: give each column by an item of \"cursor\"" }));
        };
        let InputMeaning::Column(_, column) = self.meaning(input) else {
            return Err(self.refuse("one streaming column field is expected"));
        };
        self.path.push(self.input_words(input).0.into());
        let first = self.stream_value(place, table, column)?;
        let of = Expr::Column(column);
        if cursor.order.iter().any(|it| it.of == of) {
            return Err(self.refuse("the column is a cursor already"));
        }
        self.path.pop();
        // Rows without a value for the first column never come; those of the others stand where `order_by` puts them.
        let is_nullable = self.api.model.relations.catalog.table(table).column(column).nullable;
        let nullable = !cursor.order.is_empty() && is_nullable;
        cursor.order.push(Order { of, descending, nulls_first: descending, nullable });
        cursor.first.push(first);
        Ok(())
    }

    /// The client's value for a column of the cursor.
    fn stream_value(&self, place: Place, table: TableId, column: ColumnId) -> Result<Parameter, PlanError> {
        self.check_sorted(table, column)?;
        let ty = self.api.column_type(table, column);
        if ty.element().is_some() {
            return Err(self.refuse("an array cannot be a cursor"));
        }
        if matches!(self.inputs.node(place), Node::Null) {
            return Err(self.refuse("a stream begins behind a value, and null is none"));
        }
        Ok(self.parameter(place, Reader::Column(ty.clone())))
    }
}

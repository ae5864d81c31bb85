//! The arguments of a field of rows: `where`, `order_by`, `distinct_on`, `limit`, `offset`, and primary keys.

use super::Compiler;
use crate::api::meaning::{EnumMeaning, InputMeaning};
use weir_database::frontend::input::Place;
use weir_engine::plan::output_plan::OutputField;
use weir_engine::source::PlanError;
use weir_language::value::Node;
use weir_relational::catalog::{ColumnId, ColumnType, Relations, RelationshipId, TableId};
use weir_relational::passes::bounds::Terms;
use weir_relational::plan::operators::{Aggregation, Comparison};
use weir_relational::plan::{Call, Expr, Filter, Order, Page, Reader};

/// Filter, order and page of a field of rows.
#[derive(Clone, Debug, Default)]
pub(super) struct RowSelection {
    pub(super) call: Option<Call>,
    pub(super) filter: Filter,
    pub(super) distinct_on: Vec<ColumnId>,
    pub(super) order: Vec<Order>,
    pub(super) page: Page,
}

/// Position of an object in an order: the sorted rows, or a part of them.
#[derive(Clone, Copy)]
enum Sorted {
    Columns(TableId),
    /// A function over the columns below.
    Function(Aggregation),
    /// Aggregates over the table.
    Aggregates,
}

impl Compiler<'_> {
    pub(super) fn rows_arguments(&mut self, field: &OutputField) -> Result<RowSelection, PlanError> {
        let mut rows = RowSelection { call: self.call(field)?, ..RowSelection::default() };
        let mut terms = Terms::default();
        for argument in self.output.arguments(field) {
            let place = self.argument(argument);
            let name = self.input_words(argument.input).0;
            if matches!(self.inputs.node(place), Node::Null | Node::Absent) {
                continue;
            }
            self.path.push(name.into());
            match self.meaning(argument.input) {
                InputMeaning::Where(of) => rows.filter = self.condition(place, of)?,
                InputMeaning::OrderBy(of) => self.order(place, Sorted::Columns(of), &mut terms)?,
                InputMeaning::GroupOrderBy(_) => self.order(place, Sorted::Aggregates, &mut terms)?,
                InputMeaning::DistinctOn(of) => {
                    rows.distinct_on = self.columns(place);
                    for &column in &rows.distinct_on {
                        self.check_told_apart(of, column)?;
                    }
                }
                InputMeaning::Limit => rows.page.limit = Some(self.parameter(place, Reader::Limit)),
                InputMeaning::Offset => rows.page.offset = Some(self.parameter(place, Reader::Offset)),
                _ => {}
            }
            self.path.pop();
        }
        rows.order = terms.with_filter(&rows.filter).map_err(|it| self.bounds_error(it))?;
        self.check_distinct_on(&rows)?;
        Ok(rows)
    }

    /// The arguments of a field of rows, and those that name columns: their values are the keys of a join.
    pub(super) fn lookup_arguments(&mut self, field: &OutputField) -> Result<RowSelection, PlanError> {
        let mut rows = self.rows_arguments(field)?;
        let by_keys = self.by_pk_arguments(field)?.filter;
        rows.filter = match (by_keys, rows.filter) {
            (by_keys, Filter::All(all)) if all.is_empty() => by_keys,
            (Filter::All(keys), filter) if keys.is_empty() => filter,
            (Filter::All(keys), filter) => Filter::All(keys.into_iter().chain([filter]).collect()),
            (_, filter) => filter,
        };
        Ok(rows)
    }

    pub(super) fn by_pk_arguments(&mut self, field: &OutputField) -> Result<RowSelection, PlanError> {
        let mut all = Vec::new();
        for argument in self.output.arguments(field) {
            if let InputMeaning::Column(table, column) = self.meaning(argument.input) {
                let name = self.input_words(argument.input).0;
                self.path.push(name.into());
                all.push(self.key_condition(table, column, self.argument(argument))?);
                self.path.pop();
            }
        }
        Ok(RowSelection { filter: Filter::All(all), ..RowSelection::default() })
    }

    /// A column of a key has the value at `place`.
    pub(super) fn key_condition(
        &self,
        table: TableId,
        column: ColumnId,
        place: Place,
    ) -> Result<Filter, PlanError> {
        let ty = self.api.column_type(table, column).clone();
        self.check_comparison(&ty, Comparison::Eq)?;
        let with = self.parameter(place, Reader::Column(ty));
        Ok(Filter::Compare { of: Expr::Column(column), by: Comparison::Eq, with })
    }

    /// Refuses a comparison for which the database has no operator.
    pub(super) fn check_comparison(&self, ty: &ColumnType, by: Comparison) -> Result<(), PlanError> {
        match self.api.model.relations.catalog.missing_operator(ty, by) {
            None => Ok(()),
            Some(operator) => {
                Err(self.refuse(format!("the type `{}` has no operator `{operator}`", ty.display_name())))
            }
        }
    }

    /// A list of columns, chosen by enum values.
    pub(super) fn columns(&self, place: Place) -> Vec<ColumnId> {
        let mut out = Vec::new();
        for item in self.inputs.items(place) {
            if let Some(EnumMeaning::Column(_, column)) = self.enum_meaning(item)
                && !out.contains(&column)
            {
                out.push(column);
            }
        }
        out
    }

    /// The columns of `distinct_on` have to be the first ones of the order, in any sequence.
    fn check_distinct_on(&self, rows: &RowSelection) -> Result<(), PlanError> {
        let first = &rows.order[..rows.order.len().min(rows.distinct_on.len())];
        let fits = |it: &Order| matches!(&it.of, Expr::Column(column) if rows.distinct_on.contains(column));
        if first.iter().all(fits) {
            return Ok(());
        }
        let mut error = self.refuse("\"distinct_on\" columns must match initial \"order_by\" columns");
        error.error.hasura_path = Some(self.hasura_path().into());
        Err(error)
    }

    /// The order of rows, or of groups: their key and aggregates.
    fn order(&mut self, place: Place, sorted: Sorted, out: &mut Terms) -> Result<(), PlanError> {
        for item in self.inputs.items(place) {
            self.order_object(item, sorted, &mut |of| of, true, out)?;
        }
        Ok(())
    }

    /// Refuses `distinct_on` a column whose values PostgreSQL cannot distinguish.
    pub(super) fn check_told_apart(&self, table: TableId, column: ColumnId) -> Result<(), PlanError> {
        let catalog = &self.api.model.relations.catalog;
        let ty = &catalog.table(table).column(column).ty;
        if catalog.abilities.of(ty).groups() {
            Ok(())
        } else {
            Err(self.refuse(format!("values of the type `{}` cannot be told apart", ty.display_name())))
        }
    }

    /// Refuses to sort by a column whose values PostgreSQL can put in no order.
    pub(super) fn check_sorted(&self, table: TableId, column: ColumnId) -> Result<(), PlanError> {
        let catalog = &self.api.model.relations.catalog;
        let ty = &catalog.table(table).column(column).ty;
        if catalog.abilities.of(ty).sorts() {
            Ok(())
        } else {
            Err(self.refuse(format!("values of the type `{}` have no order", ty.display_name())))
        }
    }

    /// Reads an object of an order. `wrap` leads from a value of the current table to one of the sorted rows; unless it is `direct`,
    /// through a related row that may not exist.
    fn order_object(
        &mut self,
        place: Place,
        sorted: Sorted,
        wrap: &mut dyn FnMut(Expr) -> Expr,
        direct: bool,
        out: &mut Terms,
    ) -> Result<(), PlanError> {
        self.enter_nesting()?;
        for (input, value) in self.inputs.members(place) {
            if matches!(self.inputs.node(value), Node::Null | Node::Absent) {
                continue;
            }
            match (self.meaning(input), sorted) {
                (InputMeaning::Column(_, column), Sorted::Columns(table)) => {
                    self.path.push(self.input_words(input).0.into());
                    self.check_sorted(table, column)?;
                    self.path.pop();
                    let nullable =
                        !direct || self.api.model.relations.catalog.table(table).column(column).nullable;
                    self.term(value, wrap(Expr::Column(column)), nullable, out)?;
                }
                (InputMeaning::Column(_, column), Sorted::Function(function)) => {
                    self.term(value, wrap(Expr::Function(function, column)), true, out)?;
                }
                (InputMeaning::Count, Sorted::Aggregates) => {
                    let count = Expr::Count { columns: Vec::new(), distinct: false };
                    self.term(value, wrap(count), !direct, out)?;
                }
                (InputMeaning::Function(function), Sorted::Aggregates) => {
                    self.order_object(value, Sorted::Function(function), wrap, direct, out)?;
                }
                (InputMeaning::GroupKey(table), Sorted::Aggregates) => {
                    self.order_object(value, Sorted::Columns(table), wrap, direct, out)?;
                }
                (InputMeaning::Computed(function), Sorted::Columns(_)) => {
                    let of = self.computed_alone(function);
                    self.term(value, wrap(of), true, out)?;
                }
                (InputMeaning::Related(by), Sorted::Columns(_)) => {
                    let to = self.related_table(by);
                    let relations = &self.api.model.relations;
                    let mut through = |of| through_relationship(relations, by, of, wrap);
                    self.order_object(value, Sorted::Columns(to), &mut through, false, out)?;
                }
                (InputMeaning::RelatedAggregate(by), Sorted::Columns(_)) => {
                    self.related_table(by);
                    let relations = &self.api.model.relations;
                    let mut through = |of| through_relationship(relations, by, of, wrap);
                    self.order_object(value, Sorted::Aggregates, &mut through, direct, out)?;
                }
                _ => return Err(self.refuse("this cannot be sorted by")),
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn term(&self, value: Place, of: Expr, nullable: bool, out: &mut Terms) -> Result<(), PlanError> {
        match self.enum_meaning(value) {
            Some(EnumMeaning::Order { descending, nulls_first }) => {
                let term = Order { of, descending, nulls_first, nullable };
                out.push(term).map_err(|it| self.bounds_error(it))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Counts a level of nesting of filters and orders.
    pub(super) fn enter_nesting(&mut self) -> Result<(), PlanError> {
        self.depth += 1;
        if self.depth > weir_relational::passes::bounds::FILTER_DEPTH_MAX {
            return Err(self.refuse_size("LIMIT_NESTING", "the argument is nested too deeply"));
        }
        Ok(())
    }
}

fn through_relationship(
    relations: &Relations,
    by: RelationshipId,
    of: Expr,
    wrap: &mut dyn FnMut(Expr) -> Expr,
) -> Expr {
    wrap(Expr::over_related(relations, by, Filter::TRUE, of))
}

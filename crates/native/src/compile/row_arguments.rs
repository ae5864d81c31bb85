//! The arguments of a list of objects and of `get…`: filter, order, page, keys.
//!
//! Without an order objects come in that of their numbers, which also tells equal ones apart; missing values are last,
//! whichever way.

use super::{At, Compiler};
use crate::api::meaning::{EnumMeaning, FieldMeaning, InputMeaning};
use crate::layout::Storage;
use crate::model::{FieldId, FieldKind, TypeId};
use weir_database::frontend::input::Place;
use weir_engine::plan::output_plan::OutputField;
use weir_engine::source::PlanError;
use weir_language::value::Node;
use weir_relational::catalog::ColumnId;
use weir_relational::passes::bounds::Terms;
use weir_relational::plan::operators::Comparison;
use weir_relational::plan::{Expr, Filter, Order, Page, Reader};

/// Filter, order and page of a field of objects.
pub(super) struct ObjectRows {
    pub(super) at: At,
    pub(super) filter: Filter,
    pub(super) order: Vec<Order>,
    pub(super) page: Page,
}

impl Compiler<'_> {
    /// `filter`, `order`, `first` and `offset` over objects of `ty`.
    pub(super) fn rows_arguments(
        &mut self,
        field: &OutputField,
        ty: TypeId,
    ) -> Result<ObjectRows, PlanError> {
        let arguments = self.output.arguments(field);
        let needs_fields = arguments.iter().any(|it| {
            let said = !self.is_missing(self.argument(it));
            said && matches!(self.meaning(it.input), InputMeaning::Filter(_) | InputMeaning::Order(_))
        });
        let at = if needs_fields { self.native.rows_of(ty) } else { self.native.registry(ty) };
        let mut rows = ObjectRows { at, filter: Filter::TRUE, order: Vec::new(), page: Page::default() };
        let mut terms = Terms::default();
        let meaning = self.field_meaning(field);
        let is_edge = matches!(meaning, FieldMeaning::Field(_) | FieldMeaning::EdgeAggregate(_));
        let is_aggregate = matches!(meaning, FieldMeaning::Aggregate(_) | FieldMeaning::EdgeAggregate(_));
        for argument in arguments {
            let place = self.argument(argument);
            if self.is_missing(place) {
                continue;
            }
            match self.meaning(argument.input) {
                InputMeaning::Filter(_) if is_edge => rows.filter = self.filter(place, at)?,
                InputMeaning::Filter(_) => rows.filter = self.root_filter(place, at)?,
                InputMeaning::Order(_) => self.order(place, at, &|of| of, true, &mut terms)?,
                InputMeaning::First => self.first(place, &mut rows.page),
                InputMeaning::Offset => rows.page.offset = Some(self.parameter(place, Reader::Skip)),
                _ => {}
            }
        }
        let mut cascaded = Vec::new();
        if !is_aggregate {
            self.apply_cascade(field, at, &mut cascaded)?;
        }
        if !cascaded.is_empty() {
            cascaded.insert(0, rows.filter);
            cascaded.retain(|it| !it.is_true());
            rows.filter = Filter::All(cascaded);
        }
        rows.filter = self.check_bounds(rows.filter)?;
        if rows.page.from_end {
            // The last ones are the last, whatever comes before them.
            rows.page.offset = None;
        }
        terms.push(ascending(at.id)).map_err(|it| self.bounds_error(it))?;
        rows.order = terms.with_filter(&rows.filter).map_err(|it| self.bounds_error(it))?;
        Ok(rows)
    }

    fn first(&self, place: Place, page: &mut Page) {
        let Node::Int(count) = self.inputs.node(place) else { return };
        page.from_end = count < 0;
        page.limit = Some(self.parameter(place, Reader::First));
    }

    /// The keys of `get…`: all that are given have to be the object's, and without any there is none.
    pub(super) fn get_arguments(&mut self, field: &OutputField, ty: TypeId) -> Result<ObjectRows, PlanError> {
        let mut given = Vec::new();
        for argument in self.output.arguments(field) {
            let place = self.argument(argument);
            if let (InputMeaning::Field(key), false) = (self.meaning(argument.input), self.is_missing(place))
            {
                given.push((key, place));
            }
        }
        let layout = &self.native.layout;
        let in_registry = |key: FieldId| {
            layout.registry_keys[key.index()].is_some()
                || matches!(layout.fields[key.index()], Storage::Id(_))
        };
        let all_in_registry = given.iter().all(|it| in_registry(it.0));
        let at = if all_in_registry { self.native.registry(ty) } else { self.native.rows_of(ty) };
        let mut all = Vec::new();
        self.apply_cascade(field, at, &mut all)?;
        let is_named = !given.is_empty();
        for (key, place) in given {
            let (column, reader) = match (layout.fields[key.index()], layout.registry_keys[key.index()]) {
                (Storage::Id(_), _) => (at.id, Reader::Id),
                (_, Some(column)) if all_in_registry && at.kind.is_some() => {
                    (column, Reader::Column(self.column_type(at, column)))
                }
                (Storage::Column(column), _) => (column, Reader::Column(self.column_type(at, column))),
                _ => return Err(self.refuse("this field is no key")),
            };
            let with = self.parameter(place, reader);
            all.push(Filter::Compare { of: Expr::Column(column), by: Comparison::Eq, with });
        }
        let filter = if is_named { Filter::All(all) } else { Filter::Any(Vec::new()) };
        let filter = self.check_bounds(filter)?;
        Ok(ObjectRows { at, filter, order: Vec::new(), page: Page::default() })
    }

    /// An object of an order. `wrap` leads from a value of the rows in `at` to one of the sorted rows.
    fn order(
        &mut self,
        place: Place,
        at: At,
        wrap: &dyn Fn(Expr) -> Expr,
        direct: bool,
        out: &mut Terms,
    ) -> Result<(), PlanError> {
        self.enter_nesting()?;
        let mut is_chosen = false;
        for (input, value) in self.inputs.members(place) {
            if self.is_missing(value) {
                continue;
            }
            match self.meaning(input) {
                // If an order has both `asc` and `desc`, the first one counts.
                meaning @ (InputMeaning::Asc | InputMeaning::Desc) if !is_chosen => {
                    is_chosen = true;
                    let Some(EnumMeaning::Field(field)) = self.enum_meaning(value) else { continue };
                    let Some(column) = self.sort_column(field) else {
                        return Err(self.refuse("this cannot be sorted by"));
                    };
                    let nullable = !direct || self.is_nullable(at.table, column);
                    let descending = meaning == InputMeaning::Desc;
                    let of = wrap(Expr::Column(column));
                    let term = Order { of, descending, nulls_first: false, nullable };
                    out.push(term).map_err(|it| self.bounds_error(it))?;
                }
                InputMeaning::Then => self.order(value, at, wrap, direct, out)?,
                InputMeaning::Field(edge) => {
                    let (by, there) = self.relationship_along(edge)?;
                    let relations = &self.native.layout.relations;
                    let through = |of: Expr| wrap(Expr::over_related(relations, by, Filter::TRUE, of));
                    self.order(value, there, &through, false, out)?;
                }
                _ => {}
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn sort_column(&self, field: FieldId) -> Option<ColumnId> {
        match (self.native.api.model.field(field).kind, self.native.layout.fields[field.index()]) {
            (FieldKind::Edge { .. }, _) => None,
            (_, Storage::Column(column) | Storage::Id(column) | Storage::Instant { at: column, .. }) => {
                Some(column)
            }
            _ => None,
        }
    }
}

/// Ascending order by a column that is never null.
pub(super) const fn ascending(column: ColumnId) -> Order {
    Order { of: Expr::Column(column), descending: false, nulls_first: false, nullable: false }
}

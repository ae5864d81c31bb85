//! `where`, `having` and aggregate predicates: input objects become [`Filter`]s.
//!
//! `{}` is true, `_and: []` true, `_or: []` false; comparing with null is an error, so that a variable that was
//! forgotten does not select everything. Where rows are changed, one that was not sent is an error over both protocols.

use super::Compiler;
use crate::api::meaning::InputMeaning;
use weir_database::frontend::input::Place;
use weir_engine::source::PlanError;
use weir_language::schema::InputId;
use weir_language::value::Node;
use weir_relational::catalog::{ColumnId, ColumnType, RelationshipId, TableId};
use weir_relational::passes::alternatives::Alternatives;
use weir_relational::plan::operators::{Aggregation, Comparison, Measure};
use weir_relational::plan::{Expr, Filter, Parameter, Reader};

/// Levels that a relationship counts for, beside its own: PostgreSQL takes tens of seconds to plan eighty nested ones.
const RELATED_DEPTH: u32 = 2;

impl Compiler<'_> {
    /// A condition that says which rows of `table` a mutation changes: every variable in it has to be sent.
    pub(super) fn filter_of_change(&mut self, place: Place, table: TableId) -> Result<Filter, PlanError> {
        self.changes = true;
        let filter = self.condition(place, table);
        self.changes = false;
        filter
    }

    /// A whole `where` or `having`.
    pub(super) fn condition(&mut self, place: Place, table: TableId) -> Result<Filter, PlanError> {
        let filter = self.filter(place, table)?;
        self.bounds.check(&filter).map_err(|it| self.bounds_error(it))?;
        Ok(filter)
    }

    /// A boolean expression over the rows (or, in `having`, the groups) of `table`.
    fn filter(&mut self, place: Place, table: TableId) -> Result<Filter, PlanError> {
        self.enter_nesting()?;
        let mut all = Vec::new();
        for (input, value) in self.inputs.members(place) {
            if self.is_absent_in_filter(value)? {
                continue;
            }
            self.path.push(self.input_words(input).0.into());
            self.filter_member(input, value, table, &mut all)?;
            self.path.pop();
        }
        self.depth -= 1;
        Ok(if all.len() == 1 { all.remove(0) } else { Filter::All(all) })
    }

    /// True if a variable was not sent and counts as absent.
    pub(super) fn is_absent(&self, value: Place) -> bool {
        self.inputs.node(value) == Node::Absent
    }

    /// Like [`Self::is_absent`]. In the filter of an update or delete an unsent variable is an error.
    fn is_absent_in_filter(&self, value: Place) -> Result<bool, PlanError> {
        match self.is_absent(value) {
            true if self.changes => Err(self.refuse(
                "a variable in the condition of a change was not sent; without it other rows would be changed",
            )),
            absent => Ok(absent),
        }
    }

    fn filter_member(
        &mut self,
        input: InputId,
        value: Place,
        table: TableId,
        all: &mut Vec<Filter>,
    ) -> Result<(), PlanError> {
        if matches!(self.inputs.node(value), Node::Null | Node::Absent) {
            return Err(self.unexpected_null(input));
        }
        match self.meaning(input) {
            InputMeaning::And => self.filters(value, table, &mut |it| all.push(it))?,
            InputMeaning::Or => {
                let mut alternatives = Alternatives::default();
                self.filters(value, table, &mut |it| alternatives.push(it))?;
                all.push(Filter::Any(alternatives.filters()));
            }
            InputMeaning::Not => all.push(Filter::Not(Box::new(self.filter(value, table)?))),
            InputMeaning::Column(of, column) => {
                let ty = self.api.column_type(of, column).clone();
                self.comparisons(value, &Expr::Column(column), &ty, all)?;
            }
            InputMeaning::Computed(function) => {
                let of = self.computed_alone(function);
                let ty = self.computed_type(function);
                self.comparisons(value, &of, &ty, all)?;
            }
            InputMeaning::Related(by) => {
                let to = self.related_table(by);
                self.depth += RELATED_DEPTH;
                let filter = self.filter(value, to)?;
                self.depth -= RELATED_DEPTH;
                all.push(Filter::exists(&self.api.model.relations, by, filter));
            }
            InputMeaning::RelatedAggregate(by) => self.predicates(value, by, all)?,
            InputMeaning::Count => {
                let count = Expr::Count { columns: Vec::new(), distinct: false };
                self.comparisons(value, &count, &ColumnType::BigInt, all)?;
            }
            InputMeaning::Function(function) => self.function_comparisons(value, function, all)?,
            _ => return Err(self.refuse("this condition cannot be tested here")),
        }
        Ok(())
    }

    fn filters(
        &mut self,
        place: Place,
        table: TableId,
        push: &mut dyn FnMut(Filter),
    ) -> Result<(), PlanError> {
        for (at, item) in self.inputs.items(place).into_iter().enumerate() {
            self.path.push(format!("[{at}]"));
            push(self.filter(item, table)?);
            self.path.pop();
        }
        Ok(())
    }

    /// `{sum: {UnitPrice: {_gt: 3}}}` of a `having`.
    fn function_comparisons(
        &mut self,
        place: Place,
        function: Aggregation,
        all: &mut Vec<Filter>,
    ) -> Result<(), PlanError> {
        for (input, value) in self.inputs.members(place) {
            if self.is_absent_in_filter(value)? {
                continue;
            }
            if let InputMeaning::Column(of, column) = self.meaning(input) {
                self.path.push(self.input_words(input).0.into());
                let ty = function_type(function, self.api.column_type(of, column));
                self.comparisons(value, &Expr::Function(function, column), &ty, all)?;
                self.path.pop();
            }
        }
        Ok(())
    }

    /// `{_gt: 1, _lt: 9}` on `of`; below `_cast` on it as another type.
    fn comparisons(
        &mut self,
        place: Place,
        of: &Expr,
        ty: &ColumnType,
        all: &mut Vec<Filter>,
    ) -> Result<(), PlanError> {
        for (input, value) in self.inputs.members(place) {
            if self.is_absent_in_filter(value)? {
                continue;
            }
            self.path.push(self.input_words(input).0.into());
            if matches!(self.inputs.node(value), Node::Null | Node::Absent) {
                return Err(self.unexpected_null(input));
            }
            match self.meaning(input) {
                InputMeaning::Compare(Comparison::IsNull) => {
                    let is = self.inputs.node(value) == Node::Bool(true);
                    all.push(Filter::Null { of: of.clone(), is });
                }
                InputMeaning::Compare(by) => {
                    self.check_comparison(ty, by)?;
                    let with = self.parameter(value, Reader::for_comparison(by, ty));
                    all.push(Filter::Compare { of: of.clone(), by, with });
                }
                // `_cast`, then the type in it.
                InputMeaning::Cast => self.comparisons(value, of, ty, all)?,
                InputMeaning::CastTo(to) => {
                    let of = Expr::Cast(Box::new(of.clone()), to);
                    self.enter_nesting()?;
                    self.comparisons(value, &of, &to.result_type(), all)?;
                    self.depth -= 1;
                }
                InputMeaning::Measure(by) => {
                    let with = self.measure_values(value, by);
                    all.push(Filter::Measure { of: of.clone(), by, with });
                }
                _ => return Err(self.refuse("this comparison is not supported by the database")),
            }
            self.path.pop();
        }
        Ok(())
    }

    /// Values of a comparison that takes several: `{distance: 5, from: …}`.
    fn measure_values(&mut self, place: Place, by: Measure) -> Vec<Option<Parameter>> {
        let types = by.types();
        let mut with = vec![None; types.len()];
        for (input, value) in self.inputs.members(place) {
            if let InputMeaning::Measured(at) = self.meaning(input)
                && !matches!(self.inputs.node(value), Node::Null | Node::Absent)
            {
                self.path.push(self.input_words(input).0.into());
                let ty = types[usize::from(at)].clone();
                with[usize::from(at)] = Some(self.parameter(value, Reader::Column(ty)));
                self.path.pop();
            }
        }
        with
    }

    fn unexpected_null(&self, input: InputId) -> PlanError {
        let ty = self.input_words(input).1;
        self.refuse(if self.takes_object(input) {
            format!("expected an object for type '{ty}', but found null")
        } else {
            format!("unexpected null value for type '{ty}'")
        })
    }

    /// `{count: {predicate: {_gt: 2}, filter: …}}` over related rows.
    fn predicates(
        &mut self,
        place: Place,
        by: RelationshipId,
        all: &mut Vec<Filter>,
    ) -> Result<(), PlanError> {
        for (input, value) in self.inputs.members(place) {
            if self.is_absent_in_filter(value)? {
                continue;
            }
            self.path.push(self.input_words(input).0.into());
            match self.meaning(input) {
                InputMeaning::Count
                | InputMeaning::BoolAnd
                | InputMeaning::BoolOr
                | InputMeaning::Statistic(_) => {
                    self.predicate(input, value, by, all)?;
                }
                _ => return Err(self.refuse("this predicate is not supported")),
            }
            self.path.pop();
        }
        Ok(())
    }

    fn predicate(
        &mut self,
        input: InputId,
        place: Place,
        by: RelationshipId,
        all: &mut Vec<Filter>,
    ) -> Result<(), PlanError> {
        let to = self.related_table(by);
        let mut filter = Filter::TRUE;
        let mut columns = Vec::new();
        let mut distinct = false;
        let mut predicate = None;
        for (member, value) in self.inputs.members(place) {
            if self.is_absent_in_filter(value)?
                || matches!(self.inputs.node(value), Node::Null | Node::Absent)
            {
                continue;
            }
            match self.meaning(member) {
                InputMeaning::Filter(_) => filter = self.filter(value, to)?,
                InputMeaning::CountColumns(_) => columns = self.columns(value),
                InputMeaning::Pair => columns = self.pair(value),
                InputMeaning::CountDistinct => distinct = self.inputs.node(value) == Node::Bool(true),
                InputMeaning::Predicate => predicate = Some(value),
                _ => {}
            }
        }
        self.check_counted(Some(to).filter(|_| distinct), &columns)?;
        let Some(predicate) = predicate else { return Err(self.refuse("`predicate` is needed")) };
        let (of, ty) = match (self.meaning(input), columns.first()) {
            (InputMeaning::BoolAnd, Some(&it)) => (Expr::Function(Aggregation::Min, it), ColumnType::Boolean),
            (InputMeaning::BoolOr, Some(&it)) => (Expr::Function(Aggregation::Max, it), ColumnType::Boolean),
            (InputMeaning::Statistic(function), Some(_)) => {
                (Expr::Statistic { function, columns, distinct }, ColumnType::Double)
            }
            (InputMeaning::BoolAnd | InputMeaning::BoolOr | InputMeaning::Statistic(_), None) => {
                return Err(self.refuse("`arguments` is needed"));
            }
            _ => (Expr::Count { columns, distinct }, ColumnType::BigInt),
        };
        let of = Expr::over_related(&self.api.model.relations, by, filter, of);
        self.path.push("predicate".into());
        self.comparisons(predicate, &of, &ty, all)?;
        self.path.pop();
        Ok(())
    }

    /// `{X: a, Y: b}`: which may be one column twice.
    fn pair(&self, place: Place) -> Vec<ColumnId> {
        let members = self.inputs.members(place);
        members.into_iter().flat_map(|(_, value)| self.columns(value)).collect()
    }
}

/// The type of an aggregate over a column.
fn function_type(function: Aggregation, column: &ColumnType) -> ColumnType {
    if function.keeps_type() { column.clone() } else { ColumnType::Double }
}

//! Filters: `and`, `or`, `not`, `has`, fields and edges become conditions.
//!
//! Fields of one object are all meant; `or` stands beside all the rest together, but for the ids of a root field's filter, which
//! bound all of it. What says nothing, `{}` or `{le: null}`, is left out. A missing value fits no comparison, and so everything
//! that is not one.
//!
//! **Invariant:** an operator on a list is one condition: one item meets it whole. Several operators are several conditions, each
//! of which may be met by another item.

use super::{At, Compiler};
use crate::api::meaning::{EnumMeaning, InputMeaning, Operator};
use crate::layout::Storage;
use crate::model::{FieldId, FieldKind, Scalar};
use smallvec::SmallVec;
use weir_database::frontend::input::Place;
use weir_engine::source::PlanError;
use weir_language::schema::InputId;
use weir_language::value::Node;
use weir_relational::catalog::{ColumnId, ColumnType, RelationshipId};
use weir_relational::passes::alternatives::Alternatives;
use weir_relational::plan::operators::Comparison;
use weir_relational::plan::{Expr, Filter, Reader};

/// Left side of a comparison.
#[derive(Clone, Copy)]
pub(super) struct Compared {
    pub(super) at: At,
    pub(super) field: FieldId,
    /// The compared column: of a DateTime, its microseconds.
    pub(super) column: ColumnId,
    pub(super) is_instant: bool,
}

impl Compiler<'_> {
    /// The condition of a root field's filter: its ids are all that the rest is asked of, an `or` too.
    pub(super) fn root_filter(&mut self, place: Place, at: At) -> Result<Filter, PlanError> {
        let mut all = Vec::new();
        let mut others: SmallVec<[(InputId, Place); 8]> = SmallVec::new();
        for (input, value) in self.inputs.members(place) {
            match self.meaning(input) {
                InputMeaning::Field(field) if self.is_id(field) => {
                    if !self.is_missing(value) {
                        self.field_filter(field, value, at, &mut all)?;
                    }
                }
                _ => others.push((input, value)),
            }
        }
        let rest = self.members_filter(others, at)?;
        if all.is_empty() {
            return Ok(rest);
        }
        all.extend((!rest.is_true()).then_some(rest));
        Ok(conjunction(all))
    }

    fn is_id(&self, field: FieldId) -> bool {
        self.native.api.model.field(field).kind == FieldKind::Id
    }

    /// The condition of a filter over the rows in `at`.
    pub(super) fn filter(&mut self, place: Place, at: At) -> Result<Filter, PlanError> {
        self.members_filter(self.inputs.members(place), at)
    }

    /// The condition of the members of a filter.
    fn members_filter(
        &mut self,
        given: impl IntoIterator<Item = (InputId, Place)>,
        at: At,
    ) -> Result<Filter, PlanError> {
        self.enter_nesting()?;
        let mut all = Vec::new();
        let mut any = Vec::new();
        let mut members = None;
        for (input, value) in given {
            if self.is_missing(value) {
                continue;
            }
            match self.meaning(input) {
                InputMeaning::And => all.extend(self.filters(value, at)?),
                InputMeaning::Or => any = self.filters(value, at)?,
                InputMeaning::Not => {
                    let not = self.filter(value, at)?;
                    if !not.is_true() {
                        all.push(Filter::NotTrue(Box::new(not)));
                    }
                }
                InputMeaning::Has(_) => self.has(value, &mut all)?,
                InputMeaning::Field(field) => self.field_filter(field, value, at, &mut all)?,
                InputMeaning::MemberTypes(_) | InputMeaning::Member(_) => {
                    members.get_or_insert_with(Vec::new).push((input, value));
                }
                _ => return Err(self.refuse("this condition cannot be tested here")),
            }
        }
        if let Some(members) = members {
            all.push(self.union_filter(&members, at)?);
        }
        self.depth -= 1;
        all.retain(|it| !it.is_true());
        if !any.is_empty() {
            let mut alternatives = Alternatives::default();
            let required = (!all.is_empty()).then(|| conjunction(all));
            required.into_iter().chain(any).for_each(|it| alternatives.push(it));
            let mut any = alternatives.filters();
            return Ok(if any.len() == 1 { any.remove(0) } else { Filter::Any(any) });
        }
        Ok(conjunction(all))
    }

    /// The filters of a list that restrict anything.
    fn filters(&mut self, place: Place, at: At) -> Result<Vec<Filter>, PlanError> {
        let mut out = Vec::new();
        for item in self.inputs.items(place) {
            if self.is_missing(item) {
                continue;
            }
            let filter = self.filter(item, at)?;
            if !filter.is_true() {
                out.push(filter);
            }
        }
        Ok(out)
    }

    /// `has: [a, b]`: all these fields have a value.
    fn has(&mut self, place: Place, all: &mut Vec<Filter>) -> Result<(), PlanError> {
        for item in self.inputs.items(place) {
            if let Some(EnumMeaning::Field(field)) = self.enum_meaning(item) {
                all.push(self.is_there(field)?);
            }
        }
        Ok(())
    }

    /// The condition that a row along `by` fulfils `filter`.
    pub(super) fn exists(&self, by: RelationshipId, filter: Filter) -> Filter {
        Filter::exists(&self.native.layout.relations, by, filter)
    }

    /// True for objects that have a value, or an edge with a target.
    pub(super) fn is_there(&self, field: FieldId) -> Result<Filter, PlanError> {
        let filled = |column| Filter::Null { of: Expr::Column(column), is: false };
        Ok(match self.native.layout.fields[field.index()] {
            Storage::Id(_) => Filter::TRUE,
            // An answer must not reveal an object that the caller does not see.
            Storage::ToOne { .. } if self.is_hidden(self.target(field)?.0) => {
                self.exists(self.relationship_along(field)?.0, Filter::TRUE)
            }
            Storage::Column(column)
            | Storage::Instant { text: column, .. }
            | Storage::Point { longitude: column, .. }
            | Storage::Shape { text: column, .. }
            | Storage::ToOne { column, .. } => filled(column),
            Storage::Values { by, .. } => self.exists(by, Filter::TRUE),
            Storage::ToOneBack { .. } | Storage::ToMany { .. } | Storage::Join { .. } => {
                self.exists(self.relationship_along(field)?.0, Filter::TRUE)
            }
        })
    }

    fn field_filter(
        &mut self,
        field: FieldId,
        value: Place,
        at: At,
        all: &mut Vec<Filter>,
    ) -> Result<(), PlanError> {
        let of = self.native.api.model.field(field);
        match (of.kind, self.native.layout.fields[field.index()]) {
            (FieldKind::Id, _) => {
                let with = self.parameter(value, Reader::Ids);
                all.push(Filter::Compare { of: Expr::Column(at.id), by: Comparison::In, with });
            }
            (FieldKind::Edge { .. }, _) => {
                let (by, there) = self.relationship_along(field)?;
                let filter = self.filter(value, there)?;
                if !filter.is_true() {
                    all.push(self.exists(by, filter));
                }
            }
            (_, Storage::Values { table, owner, value: column, at: instant, by, .. }) => {
                let there = At { ty: at.ty, table, id: owner, kind: None };
                let is_instant = instant.is_some();
                let compared = Compared { at: there, field, column: instant.unwrap_or(column), is_instant };
                for filter in self.value_filter(value, compared)? {
                    all.push(match filter {
                        Filter::Null { is: true, .. } => {
                            let any = self.exists(by, Filter::TRUE);
                            Filter::Not(Box::new(any))
                        }
                        filter => self.of_items(filter, by),
                    });
                }
            }
            (_, Storage::Column(column)) => {
                let compared = Compared { at, field, column, is_instant: false };
                all.extend(self.value_filter(value, compared)?);
            }
            (_, Storage::Instant { at: column, .. }) => {
                let compared = Compared { at, field, column, is_instant: true };
                all.extend(self.value_filter(value, compared)?);
            }
            (_, Storage::Point { longitude, latitude }) => {
                let bounds = [longitude, latitude, longitude, latitude];
                self.places(value, at, &[longitude, latitude], bounds, all)?;
            }
            (_, Storage::Shape { text, bounds }) => self.places(value, at, &[text], bounds, all)?,
            _ => return Err(self.refuse("this condition cannot be tested here")),
        }
        Ok(())
    }

    /// The conditions on one value: a Boolean's is the value itself, any other's an object of operators.
    fn value_filter(&mut self, value: Place, of: Compared) -> Result<Vec<Filter>, PlanError> {
        let mut out = Vec::new();
        if self.native.api.model.field(of.field).kind == FieldKind::Scalar(Scalar::Boolean) {
            out.push(self.compare(of, Comparison::Eq, value));
            return Ok(out);
        }
        for (input, operand) in self.inputs.members(value) {
            let InputMeaning::Compare(operator) = self.meaning(input) else { continue };
            match (operator, self.inputs.node(operand)) {
                (_, Node::Absent) => {}
                (Operator::Eq, Node::Null) => {
                    out.push(Filter::Null { of: Expr::Column(of.column), is: true });
                }
                (_, Node::Null) => {}
                _ => self.operator(of, operator, operand, &mut out)?,
            }
        }
        Ok(out)
    }

    fn operator(
        &mut self,
        of: Compared,
        operator: Operator,
        operand: Place,
        out: &mut Vec<Filter>,
    ) -> Result<(), PlanError> {
        let by = match operator {
            Operator::Eq => Comparison::Eq,
            Operator::In => Comparison::In,
            Operator::Le => Comparison::Lte,
            Operator::Lt => Comparison::Lt,
            Operator::Ge => Comparison::Gte,
            Operator::Gt => Comparison::Gt,
            Operator::Between => {
                let mut bounds = Vec::new();
                for (input, bound) in self.inputs.members(operand) {
                    match self.meaning(input) {
                        InputMeaning::Min => bounds.push(self.compare(of, Comparison::Gte, bound)),
                        InputMeaning::Max => bounds.push(self.compare(of, Comparison::Lte, bound)),
                        _ => {}
                    }
                }
                if self.native.api.model.field(of.field).is_list {
                    out.push(Filter::All(bounds))
                } else {
                    out.extend(bounds)
                }
                return Ok(());
            }
            Operator::AllOfTerms
            | Operator::AnyOfTerms
            | Operator::AllOfText
            | Operator::AnyOfText
            | Operator::Regexp
            | Operator::Ngram => {
                out.push(self.search(of, operator, operand)?);
                return Ok(());
            }
            Operator::Near | Operator::Within | Operator::Contains | Operator::Intersects => {
                return Err(self.refuse("only places lie near, within or across others"));
            }
        };
        out.push(self.compare(of, by, operand));
        Ok(())
    }

    fn compare(&self, of: Compared, by: Comparison, operand: Place) -> Filter {
        let ty = || match self.native.api.model.field(of.field).kind {
            FieldKind::Enum(_) => ColumnType::Text,
            _ => self.column_type(of.at, of.column),
        };
        let reader = match (by, of.is_instant) {
            (Comparison::In, true) => Reader::Instants,
            (Comparison::In, false) => Reader::Each(ty()),
            (_, true) => Reader::Instant,
            (_, false) => Reader::Column(ty()),
        };
        Filter::Compare { of: Expr::Column(of.column), by, with: self.parameter(operand, reader) }
    }

    /// `memberTypes` and the filters of members: an object of one of the types that fits the filter of its own.
    fn union_filter(&mut self, members: &[(InputId, Place)], at: At) -> Result<Filter, PlanError> {
        let model = &self.native.api.model;
        let Some(kind) = at.kind else { return Err(self.refuse("this condition cannot be tested here")) };
        let mut types = None;
        let mut filters = Vec::new();
        for &(input, value) in members {
            match self.meaning(input) {
                InputMeaning::MemberTypes(_) => {
                    let named = self.inputs.items(value).into_iter().filter_map(|it| self.enum_meaning(it));
                    let named = named.filter_map(|it| match it {
                        EnumMeaning::Member(ty) => Some(ty),
                        EnumMeaning::None | EnumMeaning::Field(_) | EnumMeaning::Value(..) => None,
                    });
                    types = Some(named.collect::<Vec<_>>());
                }
                InputMeaning::Member(member) => {
                    let filter = self.filter(value, self.native.registry(member))?;
                    filters.push((member, filter));
                }
                _ => {}
            }
        }
        let types = types.unwrap_or_else(|| model.ty(at.ty).members.clone());
        let mut any = Vec::new();
        for member in types {
            let named = Filter::Named { of: kind, names: vec![model.ty(member).name.as_str().into()] };
            let filter = filters.iter().find(|it| it.0 == member).map(|it| it.1.clone());
            any.push(match (filter.filter(|it| !it.is_true()), self.native.to_member(at.ty, member)) {
                (Some(filter), Some(by)) => Filter::All(vec![named, self.exists(by, filter)]),
                _ => named,
            });
        }
        Ok(Filter::Any(any))
    }
}

/// Joins `all` by `and`; a single filter stays as it is.
fn conjunction(mut all: Vec<Filter>) -> Filter {
    if all.len() == 1 { all.remove(0) } else { Filter::All(all) }
}

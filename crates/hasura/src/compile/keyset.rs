//! Conditions on the rows behind or ahead of a cursor.
//!
//! A cursor holds a value for each term of the order. Rows behind it are greater in the first term, or equal in it and greater in the
//! second, and so on: `a > x OR (a = x AND b > y)`. A term that may be null says so with a test of the cursor's value for null, which the
//! plan does not know.

use super::Compiler;
use crate::model::Serves;
use std::sync::Arc;
use weir_database::exec::encoded;
use weir_database::frontend::input::Place;
use weir_engine::source::PlanError;
use weir_language::value::Node;
use weir_relational::catalog::facts::Cell;
use weir_relational::catalog::{ColumnId, ColumnType, TableId};
use weir_relational::plan::operators::{Aggregation, Comparison};
use weir_relational::plan::{
    CursorPath, Encoded, EncodedPart, Expr, Filter, Order, Origin, Parameter, Position, Reader,
};

/// Terms that a cursor may have.
const TERMS_MAX: usize = 32;

/// A term of a total order.
pub(super) struct Term {
    pub(super) of: Expr,
    pub(super) ty: ColumnType,
    /// The format of its values in cursors.
    pub(super) cell: Cell,
    /// The keys of its value in cursors.
    pub(super) path: CursorPath,
    descending: bool,
    nulls_first: bool,
    nullable: bool,
}

impl Term {
    /// True for one of these columns.
    pub(super) fn is_one_of(&self, columns: &[ColumnId]) -> bool {
        matches!(&self.of, Expr::Column(column) if columns.contains(column))
    }

    fn compare(&self, by: Comparison, with: &Parameter) -> Filter {
        Filter::Compare { of: self.of.clone(), by, with: with.clone() }
    }

    fn is_null(&self, is: bool) -> Filter {
        Filter::Null { of: self.of.clone(), is }
    }

    fn is_missing(&self, with: &Parameter, is: bool) -> Filter {
        Filter::Missing { with: with.clone(), like: self.of.clone(), is }
    }

    /// The value is that of the cursor.
    fn same(&self, with: &Parameter) -> Filter {
        let equal = self.compare(Comparison::Eq, with);
        if self.nullable {
            Filter::Any(vec![equal, Filter::All(vec![self.is_null(true), self.is_missing(with, true)])])
        } else {
            equal
        }
    }

    /// The value is behind that of the cursor, or ahead of it.
    fn beside_cursor(&self, with: &Parameter, is_behind: bool) -> Filter {
        let is_greater = is_behind != self.descending;
        let beside = self.compare(if is_greater { Comparison::Gt } else { Comparison::Lt }, with);
        if !self.nullable {
            return beside;
        }
        let are_nulls_beside = is_behind != self.nulls_first;
        let of_null = vec![self.is_null(are_nulls_beside), self.is_missing(with, !are_nulls_beside)];
        Filter::Any(vec![beside, Filter::All(of_null)])
    }

    /// A weaker condition on the first term alone, which an index can serve.
    fn at_or_beside(&self, with: &Parameter, is_behind: bool) -> Option<Filter> {
        let is_greater = is_behind != self.descending;
        let by = if is_greater { Comparison::Gte } else { Comparison::Lte };
        (!self.nullable).then(|| self.compare(by, with))
    }
}

/// A cursor divides the rows of a connection.
pub(super) struct Cut {
    /// The condition on the rows on the wanted side.
    pub(super) shown: Filter,
    /// The condition on all other rows, the cursor's own row among them.
    pub(super) outside: Filter,
    /// The wanted rows are behind the cursor, not ahead of it.
    pub(super) is_behind: bool,
}

impl Compiler<'_> {
    /// The terms of a total order.
    pub(super) fn terms(&self, order: &[Order], table: TableId) -> Result<Vec<Term>, PlanError> {
        if order.len() > TERMS_MAX {
            let message = format!(
                "rows with cursors are sorted by at most {TERMS_MAX} values, the primary key among them"
            );
            return Err(self.refuse_size("LIMIT_CONDITIONS", message));
        }
        let guarded = self.policy.cells(table);
        let mut terms = Vec::with_capacity(order.len());
        for term in order {
            let ty = self.type_of(&term.of, table);
            if ty.element().is_some() {
                return Err(self.refuse("a connection cannot be sorted by an array"));
            }
            let is_hidden =
                matches!(term.of, Expr::Column(it) if guarded.iter().any(|cell| cell.column == it));
            let mut path = Vec::new();
            self.push_path(&term.of, table, &mut path);
            terms.push(Term {
                of: term.of.clone(),
                cell: ty.facts().cell,
                ty,
                path: path.into(),
                descending: term.descending,
                nulls_first: term.nulls_first,
                nullable: term.nullable || is_hidden,
            });
        }
        tell_apart(&mut terms);
        Ok(terms)
    }

    /// The type of a value that rows are sorted by.
    fn type_of(&self, of: &Expr, table: TableId) -> ColumnType {
        match of {
            Expr::Column(column) => self.api.column_type(table, *column).clone(),
            Expr::Function(function, column) => match (self.api.column_type(table, *column), function) {
                (ColumnType::SmallInt | ColumnType::Int, Aggregation::Sum) => ColumnType::BigInt,
                (ColumnType::BigInt, Aggregation::Sum) => ColumnType::Numeric,
                (ty, function) if function.keeps_type() => ty.clone(),
                _ => ColumnType::Numeric,
            },
            Expr::Count { .. } => ColumnType::BigInt,
            Expr::Related { by, of, .. } => self.type_of(of, self.api.model.relations.relationship(*by).to),
            Expr::Computed(call) => self.computed_type(call.function),
            _ => ColumnType::Text,
        }
    }

    /// The keys of a value in cursors: names of the database.
    fn push_path(&self, of: &Expr, table: TableId, out: &mut Vec<Box<str>>) {
        let relations = &self.api.model.relations;
        match of {
            Expr::Column(column) => {
                out.push(relations.catalog.table(table).column(*column).name.as_str().into())
            }
            Expr::Function(function, column) => {
                out.push(function.plan_text().into());
                self.push_path(&Expr::Column(*column), table, out);
            }
            Expr::Count { .. } => out.push("count".into()),
            Expr::Related { by, of, .. } => {
                let related = relations.relationship(*by);
                match **of {
                    Expr::Count { .. } | Expr::Function(..) => {
                        out.push(format!("{}_aggregate", related.name).into());
                    }
                    _ => out.push(related.name.as_str().into()),
                }
                self.push_path(of, related.to, out);
            }
            Expr::Computed(call) => {
                if let Serves::Row { name, .. } = &self.api.model.function(call.function).0.serves {
                    out.push(name.as_str().into());
                }
            }
            _ => {}
        }
    }

    /// Divides the rows at a cursor, the argument `name`, by the first `apart` terms.
    pub(super) fn split_at_cursor(
        &mut self,
        name: &'static str,
        place: Place,
        terms: &[Term],
        apart: usize,
    ) -> Result<Cut, PlanError> {
        self.path.push(name.into());
        let paths: Arc<[CursorPath]> = terms.iter().map(|it| it.path.clone()).collect();
        let text = self.parameter(place, Reader::AsIs);
        let mut values = Vec::with_capacity(terms.len());
        for (at, term) in terms.iter().enumerate() {
            self.check_literal(place, term, &paths, at)?;
            let part =
                EncodedPart::Cursor { paths: Arc::clone(&paths), at: at as u16, nullable: term.nullable };
            let origin = Origin::Encoded(Box::new(Encoded { text: text.origin.clone(), part }));
            values.push(Parameter {
                origin,
                reader: Reader::Column(term.ty.clone()),
                path: text.path.clone(),
            });
        }
        self.path.pop();
        let is_behind = name == "after";
        let terms = &terms[..apart];
        let values = &values[..apart];
        Ok(Cut {
            shown: beside_cursor(terms, values, is_behind, Own::Left),
            outside: beside_cursor(terms, values, !is_behind, Own::Taken),
            is_behind,
        })
    }

    /// The condition on the rows behind the position of a stream, which begins with the values `first` and null for further terms.
    pub(super) fn behind_position(&self, terms: &mut [Term], first: &[Parameter]) -> Filter {
        if let Some(term) = terms.first_mut() {
            // No row without a value is behind one that has a value.
            term.nullable = false;
        }
        let paths: Arc<[CursorPath]> = terms.iter().map(|it| it.path.clone()).collect();
        let value = |(at, term): (usize, &Term)| {
            let given = first.get(at);
            let paths = Arc::clone(&paths);
            let at = at as u16;
            let position = Position { paths, at, first: given.map(|it| it.origin.clone()) };
            Parameter {
                origin: Origin::Position(Box::new(position)),
                reader: Reader::Column(term.ty.clone()),
                path: given.map(|it| it.path.clone()).unwrap_or_default(),
            }
        };
        let values: Vec<Parameter> = terms.iter().enumerate().map(value).collect();
        beside_cursor(terms, &values, true, Own::Left)
    }

    /// Refuses a cursor in the document that lacks the value of a term. One that comes by a variable is read when it is bound.
    fn check_literal(
        &self,
        place: Place,
        term: &Term,
        paths: &[CursorPath],
        at: usize,
    ) -> Result<(), PlanError> {
        let (Place::Literal(_), Node::Text(span)) = (self.inputs.resolve(place), self.inputs.node(place))
        else {
            return Ok(());
        };
        match encoded::cursor_value(self.inputs.text(place, span), paths, at, &term.ty) {
            Some(encoded::EncodedValue::Text(_)) => Ok(()),
            Some(encoded::EncodedValue::Null) if term.nullable => Ok(()),
            Some(encoded::EncodedValue::Null) | None => {
                Err(self.refuse_size("INVALID_CURSOR", encoded::NO_CURSOR))
            }
        }
    }
}

/// Tells if the row of the cursor is one of those beside it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Own {
    Left,
    Taken,
}

/// The condition on the rows behind or ahead of a cursor with these values.
fn beside_cursor(terms: &[Term], values: &[Parameter], is_behind: bool, own: Own) -> Filter {
    let mut filter = None;
    for (term, with) in terms.iter().zip(values).rev() {
        let beside = term.beside_cursor(with, is_behind);
        filter = Some(match (filter, own) {
            (Some(rest), _) => Filter::Any(vec![beside, Filter::All(vec![term.same(with), rest])]),
            (None, Own::Left) => beside,
            (None, Own::Taken) => match term.at_or_beside(with, is_behind) {
                Some(both) => both,
                None => Filter::Any(vec![beside, term.same(with)]),
            },
        });
    }
    let filter = filter.unwrap_or(Filter::TRUE);
    match (terms, values) {
        ([first, _, ..], [with, ..]) => match first.at_or_beside(with, is_behind) {
            Some(bound) => Filter::All(vec![bound, filter]),
            None => filter,
        },
        _ => filter,
    }
}

/// Gives the values other keys, by their places, if the keys of one lead to another: a column may have the name of a relationship.
fn tell_apart(terms: &mut [Term]) {
    let meet = |(at, one): (usize, &Term)| {
        terms.iter().enumerate().any(|(other, it)| other != at && it.path.starts_with(&one.path))
    };
    if terms.iter().enumerate().any(meet) {
        for (at, term) in terms.iter_mut().enumerate() {
            term.path = [at.to_string().into_boxed_str()].into();
        }
    }
}

//! The members of an `_or`: equalities of one column become one list.
//!
//! `id = 1 OR id = 2` asks an index twice and is a statement of its own for each number of members. `id IN (1, 2)` is one bound
//! value, whatever its length.
//!
//! **Cost:** constant per member, but for a look through the columns that have a list.

use crate::catalog::facts::Cell;
use crate::catalog::{ColumnId, ColumnType};
use crate::plan::operators::Comparison;
use crate::plan::{Expr, Filter, Origin, Parameter, Reader};

/// The members so far.
#[derive(Debug, Default)]
pub struct Alternatives {
    filters: Vec<Filter>,
    lists: Vec<List>,
}

/// Equalities of one column.
#[derive(Debug)]
struct List {
    column: ColumnId,
    /// Type of the items.
    ty: ColumnType,
    /// The place of the first in the filters.
    at: usize,
    values: Vec<Parameter>,
}

impl Alternatives {
    /// Adds a member.
    pub fn push(&mut self, filter: Filter) {
        let Some((column, ty, value)) = equality(&filter) else { return self.filters.push(filter) };
        match self.lists.iter_mut().find(|it| it.column == column && it.ty == ty) {
            Some(list) => list.values.push(value.clone()),
            None => {
                let at = self.filters.len();
                let values = vec![value.clone()];
                self.lists.push(List { column, ty, at, values });
                self.filters.push(filter);
            }
        }
    }

    /// The filters, of which at least one has to hold.
    #[must_use]
    pub fn filters(mut self) -> Vec<Filter> {
        for List { column, ty, at, values } in self.lists {
            let [first, _, ..] = values.as_slice() else { continue };
            let origin = first.origin.clone();
            let path = first.path.clone();
            let reader = Reader::Gathered { ty, values: values.into() };
            let with = Parameter { origin, reader, path };
            self.filters[at] = Filter::Compare { of: Expr::Column(column), by: Comparison::In, with };
        }
        self.filters
    }
}

/// The column, the type of the values and the value of an equality that can be an item of a list.
fn equality(filter: &Filter) -> Option<(ColumnId, ColumnType, &Parameter)> {
    let Filter::Compare { of: Expr::Column(column), by, with } = filter else { return None };
    // A key of parents is a column of the statement, or differs from row to row.
    if !matches!(with.origin, Origin::Literal(_) | Origin::Variable(_) | Origin::Inside { .. }) {
        return None;
    }
    let ty = match (by, &with.reader) {
        (Comparison::Eq, Reader::Column(ty)) if is_listed(ty) => ty.clone(),
        (Comparison::Eq, Reader::Instant) | (Comparison::In, Reader::Ids) => ColumnType::BigInt,
        _ => return None,
    };
    Some((*column, ty, with))
}

/// True if the database reads an item of a list exactly as the single value. Floating point numbers in lists are digits.
fn is_listed(ty: &ColumnType) -> bool {
    let is_plain =
        matches!(ty.facts().cell, Cell::Int | Cell::BigInt | Cell::Numeric | Cell::Text | Cell::Uuid);
    is_plain && ty.element().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equal(column: u32, ty: ColumnType, literal: u32) -> Filter {
        let with =
            Parameter { origin: Origin::Literal(literal), reader: Reader::Column(ty), path: "".into() };
        Filter::Compare { of: Expr::Column(ColumnId(column)), by: Comparison::Eq, with }
    }

    /// The members of the `_or` of `filters`: how many values each list has, 1 for what is none.
    fn check(filters: Vec<Filter>, expected: &[usize]) {
        let mut alternatives = Alternatives::default();
        filters.into_iter().for_each(|it| alternatives.push(it));
        let lens = alternatives.filters().into_iter().map(|it| match it {
            Filter::Compare { with: Parameter { reader: Reader::Gathered { values, .. }, .. }, .. } => {
                values.len()
            }
            _ => 1,
        });
        assert_eq!(lens.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn equalities_of_one_column_are_one_list() {
        let int = |column, literal| equal(column, ColumnType::Int, literal);
        check(vec![int(0, 1)], &[1]);
        check(vec![int(0, 1), int(0, 2), int(0, 3)], &[3]);
        check(vec![int(0, 1), int(1, 2), Filter::TRUE, int(0, 3), int(1, 4)], &[2, 2, 1]);
        let array = |it| equal(0, ColumnType::Array(Box::new(ColumnType::Int)), it);
        check(vec![array(1), array(2)], &[1, 1]);
        let float = |it| equal(0, ColumnType::Double, it);
        check(vec![float(1), float(2)], &[1, 1]);
        let mut of_parent = int(0, 1);
        if let Filter::Compare { with, .. } = &mut of_parent {
            with.origin = Origin::ParentColumn(0);
        }
        check(vec![of_parent.clone(), of_parent], &[1, 1]);
    }
}

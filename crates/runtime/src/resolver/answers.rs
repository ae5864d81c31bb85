//! Type-erased values of resolvers: they write themselves or become columns.

use crate::resolve_error::{ACCESS_DENIED, field_error, internal};
use std::any::Any;
use weir_engine::memory::{Answer, Scope, Spot, Writer};
use weir_engine::plan::output_plan::OutputField;
use weir_engine::rows::{Bitmap, CellError, Column};
use weir_engine::source::FieldError;

/// A step that failed as a whole reports at most this many errors.
const FAILED_ERRORS_MAX: usize = 50;

/// Decides for each object whether it is allowed; `None`: objects of an unknown type.
pub(crate) type Judge<'j> = dyn Fn(&[&dyn Any]) -> Option<Vec<bool>> + 'j;

/// Values of one step, one per parent.
pub(crate) trait Answers: Send + Sync {
    /// Their number.
    fn len(&self) -> usize;
    /// Writes `"key":value,` of the value at `row`.
    fn write(&self, row: usize, field: u32, output_field: &OutputField, writer: &mut Writer<'_>) -> bool;
    /// The values as a column.
    fn column(&self, spot: Spot<'_>, scope: Scope<'_>) -> Column;
    /// The value at `row` as a column of one row.
    fn single(&self, row: usize, spot: Spot<'_>, scope: Scope<'_>) -> Column;
    /// Appends `others`. If either side failed as a whole, all values fail.
    fn append(self: Box<Self>, others: Box<dyn Answers>) -> Box<dyn Answers>;
    /// Reorders the values: value `i` becomes the one at `order[i]`. An index beyond the values refuses the field.
    fn reorder(&mut self, order: Vec<u32>);
    /// Removes the items of lists that `judge`, called once for all of them, refuses. `false`: these items cannot be filtered.
    fn filter(&mut self, judge: &Judge<'_>) -> bool;
    /// Code of the error that replaces all values, if the step failed as a whole.
    fn error_code(&self) -> Option<&'static str> {
        None
    }
    /// Downcast support for [`Answers::append`].
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// The value of each row.
enum Order {
    /// Values are in the order of the rows.
    OfRows,
    /// Index of each row's value; a row whose index has no value is refused.
    Places(Vec<u32>),
    /// All these rows have the first value.
    Same(usize),
}

/// Values of type `A`.
pub(crate) struct Held<A> {
    values: Vec<A>,
    order: Order,
}

impl<A> Held<A> {
    /// A value per row.
    pub(crate) fn new(values: Vec<A>) -> Self {
        Self { values, order: Order::OfRows }
    }

    /// One value for all of `rows` rows.
    pub(crate) fn same(value: A, rows: usize) -> Self {
        Self { values: vec![value], order: Order::Same(rows) }
    }

    /// The value of `row`.
    fn value(&self, row: usize) -> Option<&A> {
        match &self.order {
            Order::OfRows => self.values.get(row),
            Order::Places(places) => self.values.get(*places.get(row)? as usize),
            Order::Same(rows) => self.values.first().filter(|_| row < *rows),
        }
    }
}

impl<A: Answer + Send + Sync + 'static> Answers for Held<A> {
    fn len(&self) -> usize {
        match &self.order {
            Order::OfRows => self.values.len(),
            Order::Places(places) => places.len(),
            Order::Same(rows) => *rows,
        }
    }
    fn write(&self, row: usize, field: u32, output_field: &OutputField, writer: &mut Writer<'_>) -> bool {
        match self.value(row) {
            Some(value) => value.write_member(field, output_field, writer),
            None => Failed { error: internal(), rows: 1 }.write(row, field, output_field, writer),
        }
    }
    fn column(&self, spot: Spot<'_>, scope: Scope<'_>) -> Column {
        let values: Vec<Option<&A>> = match &self.order {
            Order::OfRows => self.values.iter().map(Some).collect(),
            Order::Places(places) => places.iter().map(|&at| self.values.get(at as usize)).collect(),
            Order::Same(rows) => vec![self.values.first(); *rows],
        };
        let mut column = A::column(&values, spot, scope);
        if let Order::OfRows | Order::Same(_) = &self.order {
            return column;
        }
        let refused = values.iter().enumerate().filter(|it| it.1.is_none());
        let error = |row| CellError { row, error: refused_error() };
        column.errors.extend(refused.take(FAILED_ERRORS_MAX).map(|it| error(it.0 as u32)));
        column.errors.sort_by_key(|it| it.row);
        column
    }
    fn single(&self, row: usize, spot: Spot<'_>, scope: Scope<'_>) -> Column {
        A::column(&[self.value(row)], spot, scope)
    }
    fn append(mut self: Box<Self>, others: Box<dyn Answers>) -> Box<dyn Answers> {
        let rows = self.len() + others.len();
        match others.into_any().downcast::<Self>() {
            Ok(mut others) => {
                match (&self.order, &others.order) {
                    (Order::OfRows, Order::OfRows) => self.values.append(&mut others.values),
                    // Both come from one resolver, so they have the same value.
                    (Order::Same(_), Order::Same(_)) => self.order = Order::Same(rows),
                    (Order::OfRows | Order::Places(_) | Order::Same(_), _) => {
                        return Box::new(Failed { error: internal(), rows });
                    }
                }
                self
            }
            Err(others) => match others.downcast::<Failed>() {
                Ok(failed) => Box::new(Failed { rows, ..*failed }),
                Err(_) => Box::new(Failed { error: internal(), rows }),
            },
        }
    }
    fn reorder(&mut self, order: Vec<u32>) {
        self.order = Order::Places(match self.order {
            Order::Same(rows) => {
                let place = |at: u32| if (at as usize) < rows { 0 } else { u32::MAX };
                order.into_iter().map(place).collect()
            }
            Order::OfRows | Order::Places(_) => order,
        });
    }
    fn filter(&mut self, judge: &Judge<'_>) -> bool {
        let mut items = Vec::new();
        if !self.values.iter().all(|it| it.items(&mut items)) {
            tracing::error!(
                output_field = std::any::type_name::<A>(),
                "values of this type cannot be filtered"
            );
            return false;
        }
        if items.is_empty() {
            return true;
        }
        let Some(allowed) = judge(&items) else { return false };
        if allowed.contains(&false) {
            let mut allowed = allowed.into_iter();
            self.values.iter_mut().for_each(|it| it.retain(&mut allowed));
        }
        true
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// The error of a field that its guard refuses.
pub(crate) fn refused_error() -> FieldError {
    field_error(ACCESS_DENIED, "Access denied.")
}

/// Rows that all failed with `error`; only the first rows report it.
fn failed_column(error: &FieldError, rows: usize) -> Column {
    let mut nulls = Bitmap::default();
    (0..rows).for_each(|row| nulls.set(row));
    let error = |row| CellError { row: row as u32, error: error.clone() };
    let errors = (0..rows.min(FAILED_ERRORS_MAX)).map(error).collect();
    Column { nulls, errors, ..Column::default() }
}

/// A step without values.
pub(crate) struct Failed {
    pub(crate) error: FieldError,
    pub(crate) rows: usize,
}

impl Answers for Failed {
    fn len(&self) -> usize {
        self.rows
    }
    fn write(&self, _: usize, field: u32, output_field: &OutputField, writer: &mut Writer<'_>) -> bool {
        // Without a value, the position is that of an error: what stands here never writes.
        let failed: Result<bool, FieldError> = Err(self.error.clone());
        failed.write_member(field, output_field, writer)
    }
    fn column(&self, _: Spot<'_>, _: Scope<'_>) -> Column {
        failed_column(&self.error, self.rows)
    }
    fn single(&self, _: usize, _: Spot<'_>, _: Scope<'_>) -> Column {
        failed_column(&self.error, 1)
    }
    fn append(self: Box<Self>, others: Box<dyn Answers>) -> Box<dyn Answers> {
        let rows = self.rows + others.len();
        Box::new(Self { rows, ..*self })
    }
    fn reorder(&mut self, order: Vec<u32>) {
        self.rows = order.len();
    }
    fn filter(&mut self, _: &Judge<'_>) -> bool {
        true
    }
    fn error_code(&self) -> Option<&'static str> {
        Some(self.error.code)
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of `answers`, by row.
    fn rows(answers: Box<dyn Answers>) -> Vec<Option<i32>> {
        let rows = answers.len();
        let held = answers.into_any().downcast::<Held<i32>>().expect("they have values");
        (0..rows).map(|row| held.value(row).copied()).collect()
    }

    #[test]
    fn one_value_for_all_rows_is_joined_and_ordered_as_values_are() {
        let same = || Box::new(Held::same(7, 2)) as Box<dyn Answers>;
        assert_eq!(rows(same()), [Some(7); 2]);
        assert_eq!(rows(same().append(same())), [Some(7); 4]);
        let mut joined = same().append(same());
        joined.reorder(vec![3, u32::MAX, 0]);
        assert_eq!(rows(joined), [Some(7), None, Some(7)]);
        let mut values = Box::new(Held::new(vec![1, 2])).append(Box::new(Held::new(vec![3])));
        values.reorder(vec![2, u32::MAX, 0, 1]);
        assert_eq!(rows(values), [Some(3), None, Some(1), Some(2)]);
        let failed = same().append(Box::new(Held::new(vec![1])));
        assert_eq!((failed.len(), failed.error_code()), (3, Some("INTERNAL")));
    }
}

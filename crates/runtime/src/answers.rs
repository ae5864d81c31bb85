//! Values that resolvers gave, with their type forgotten: they write themselves or become columns.

use crate::error::{ACCESS_DENIED, field_error, internal};
use std::any::Any;
use weir_engine::memory::{Answer, Scope, Spot, Writer};
use weir_engine::plan::output_plan::OutputField;
use weir_engine::rows::{Bitmap, CellError, Column, Data};
use weir_engine::source::FieldError;

/// A step that failed as a whole reports at most this many errors.
const FAILED_ERRORS_MAX: usize = 50;

/// Says of each object whether it is allowed; `None`: it does not know such objects.
pub(crate) type Judge<'j> = dyn Fn(&[&dyn Any]) -> Option<Vec<bool>> + 'j;

/// Values of one step, one per parent.
pub(crate) trait Answers: Send + Sync {
    /// Their number.
    fn len(&self) -> usize;
    /// Writes `"key":value,` of the value at `row`.
    fn write(&self, row: usize, field: u32, of: &OutputField, writer: &mut Writer<'_>) -> bool;
    /// The values as a column.
    fn column(&self, spot: Spot<'_>, scope: Scope<'_>) -> Column;
    /// The same with `others` behind them. Values that failed make all fail.
    fn with(self: Box<Self>, others: Box<dyn Answers>) -> Box<dyn Answers>;
    /// The same in another order: value `i` is the one at `order[i]`. Where there is none, the field is refused.
    fn ordered(&mut self, order: Vec<u32>);
    /// Leaves those items of lists out for which `judge`, which is asked once for all, says no. `false`: it has no say of them.
    fn filter(&mut self, judge: &Judge<'_>) -> bool;
    /// The code of the error that stands for all of them, if they have no values.
    fn failed(&self) -> Option<&'static str> {
        None
    }
    /// For [`Answers::with`].
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// Values of type `A`.
pub(crate) struct Held<A> {
    pub(crate) values: Vec<A>,
    /// Places of the values, if they are not in order.
    pub(crate) order: Option<Vec<u32>>,
}

impl<A: Answer + Send + Sync + 'static> Answers for Held<A> {
    fn len(&self) -> usize {
        self.values.len()
    }
    fn write(&self, row: usize, field: u32, of: &OutputField, writer: &mut Writer<'_>) -> bool {
        match self.values.get(row) {
            Some(value) => value.write_member(field, of, writer),
            None => Failed { error: internal(), rows: 1 }.write(row, field, of, writer),
        }
    }
    fn column(&self, spot: Spot<'_>, scope: Scope<'_>) -> Column {
        let Some(order) = &self.order else {
            let values: Vec<Option<&A>> = self.values.iter().map(Some).collect();
            return A::column(&values, spot, scope);
        };
        let values: Vec<Option<&A>> = order.iter().map(|&at| self.values.get(at as usize)).collect();
        let mut column = A::column(&values, spot, scope);
        let refused = values.iter().enumerate().filter(|it| it.1.is_none());
        let error = |row| CellError { row, error: refused_error() };
        column.errors.extend(refused.take(FAILED_ERRORS_MAX).map(|it| error(it.0 as u32)));
        column.errors.sort_by_key(|it| it.row);
        column
    }
    fn with(mut self: Box<Self>, others: Box<dyn Answers>) -> Box<dyn Answers> {
        let rows = self.len() + others.len();
        match others.into_any().downcast::<Self>() {
            Ok(mut others) => {
                self.values.append(&mut others.values);
                self
            }
            Err(others) => match others.downcast::<Failed>() {
                Ok(failed) => Box::new(Failed { rows, ..*failed }),
                Err(_) => Box::new(Failed { error: internal(), rows }),
            },
        }
    }
    fn ordered(&mut self, order: Vec<u32>) {
        self.order = Some(order);
    }
    fn filter(&mut self, judge: &Judge<'_>) -> bool {
        let mut items = Vec::new();
        if !self.values.iter().all(|it| it.items(&mut items)) {
            tracing::error!(of = std::any::type_name::<A>(), "values of this type cannot be filtered");
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

/// A step without values.
pub(crate) struct Failed {
    pub(crate) error: FieldError,
    pub(crate) rows: usize,
}

impl Answers for Failed {
    fn len(&self) -> usize {
        self.rows
    }
    fn write(&self, _: usize, field: u32, of: &OutputField, writer: &mut Writer<'_>) -> bool {
        // Without a value, the position is that of an error: what stands here never writes.
        let failed: Result<bool, FieldError> = Err(self.error.clone());
        failed.write_member(field, of, writer)
    }
    fn column(&self, _: Spot<'_>, _: Scope<'_>) -> Column {
        let mut nulls = Bitmap::default();
        (0..self.rows).for_each(|row| nulls.set(row));
        let error = |row| CellError { row: row as u32, error: self.error.clone() };
        let errors = (0..self.rows.min(FAILED_ERRORS_MAX)).map(error).collect();
        Column { nulls, data: Data::Empty, errors }
    }
    fn with(self: Box<Self>, others: Box<dyn Answers>) -> Box<dyn Answers> {
        let rows = self.rows + others.len();
        Box::new(Self { rows, ..*self })
    }
    fn ordered(&mut self, order: Vec<u32>) {
        self.rows = order.len();
    }
    fn filter(&mut self, _: &Judge<'_>) -> bool {
        true
    }
    fn failed(&self) -> Option<&'static str> {
        Some(self.error.code)
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

//! Adds parent keys as columns, so that answers need not repeat them.

use crate::selection::inputs::Keys;
use weir_engine::rows::{Column, Data, Texts};

/// Column of key number `at` for `rows` parents.
pub(super) fn column(keys: &Keys<'_>, at: usize, rows: usize) -> Column {
    let Some(from) = keys.columns.get(at) else { return Column::default() };
    let places = keys.start..keys.start + rows;
    let texts = |texts: &Texts| {
        let mut own = Texts::default();
        places.clone().for_each(|row| own.push(texts.find(row).unwrap_or_default()));
        own
    };
    let data = match &from.data {
        Data::Bool(values) => {
            Data::Bool(places.clone().map(|row| values.get(row).copied().unwrap_or(false)).collect())
        }
        Data::Int(values) => {
            Data::Int(places.clone().map(|row| values.get(row).copied().unwrap_or(0)).collect())
        }
        Data::Float(values) => {
            Data::Float(places.clone().map(|row| values.get(row).copied().unwrap_or(0.0)).collect())
        }
        Data::Text(from) => Data::Text(texts(from)),
        Data::Json(from) => Data::Json(texts(from)),
        Data::Empty | Data::List { .. } | Data::Object(_) | Data::Abstract(_) | Data::Foreign(_) => {
            Data::Empty
        }
    };
    let mut column = Column { data, ..Column::default() };
    for (row, place) in places.enumerate() {
        if from.nulls.get(place) || place >= from.len() {
            column.nulls.set(row);
        }
        if from.digits.get(place) {
            column.digits.set(row);
        }
    }
    column
}

//! Typed columns while they are filled, value by value.
//!
//! **Invariant:** a value that is null or does not fit leaves a filler, so that all columns of a table stay equally long.

use crate::catalog::facts::Cell;
use crate::value::Value;
use weir_engine::rows::{Column, Data, Table, Texts, Variants};
use weir_engine::write::out::Out;
use weir_language::schema::TypeId;

/// An empty column for values written as `cell`.
pub(crate) fn leaf_data(cell: Cell) -> Data {
    match cell {
        Cell::Int | Cell::BigInt => Data::Int(Vec::new()),
        Cell::Boolean => Data::Bool(Vec::new()),
        Cell::Text | Cell::Bytes | Cell::Id => Data::Text(Texts::default()),
        // Digits are kept as JSON.
        Cell::Float | Cell::Numeric | Cell::Json => Data::Json(Texts::default()),
    }
}

/// Lists of `items`, none yet.
pub(crate) fn list_of(items: Data) -> Data {
    Data::List { offsets: vec![0], items: Box::new(Column { data: items, ..Column::default() }) }
}

/// Appends a value; what does not fit the column is filled up.
pub(crate) fn push_value(column: &mut Column, at: usize, value: Value<'_>) {
    if value == Value::Null {
        column.nulls.set(at);
        fill_column(column);
        return;
    }
    match (&mut column.data, value) {
        (Data::Int(values), Value::Int(value)) => values.push(value),
        (Data::Bool(values), Value::Bool(value)) => values.push(value),
        (Data::Text(texts), Value::Text(text)) => texts.push(&text),
        // The number of an object: no other is in a column of texts.
        (Data::Text(texts), Value::Int(number)) => texts.push(format!("{number:#x}").as_bytes()),
        (Data::Json(texts), Value::Json(json)) => texts.push(json),
        (Data::Json(texts), Value::Int(value)) => texts.push(value.to_string().as_bytes()),
        (Data::Json(texts), Value::Float(value)) => {
            let mut out = Out::default();
            out.float(value);
            texts.push(out.bytes());
        }
        _ => fill_column(column),
    }
}

/// Appends a row no one will look at.
pub(crate) fn fill(table: &mut Table) {
    table.columns.iter_mut().chain(&mut table.hidden).for_each(fill_column);
    table.rows += 1;
}

/// Appends a row that is an object of none of the types.
pub(crate) fn fill_variant(variants: &mut Variants) {
    variants.types.push(TypeId(0));
    variants.places.push(0);
}

/// Appends a value no one will look at.
pub(crate) fn fill_column(column: &mut Column) {
    match &mut column.data {
        Data::Empty | Data::Foreign(_) => {}
        Data::Abstract(variants) => fill_variant(variants),
        Data::Bool(values) => values.push(false),
        Data::Int(values) => values.push(0),
        Data::Float(values) => values.push(0.0),
        Data::Text(texts) | Data::Json(texts) => texts.push(b""),
        Data::List { offsets, .. } => offsets.extend(offsets.last().copied()),
        Data::Object(table) => fill(table),
    }
}
